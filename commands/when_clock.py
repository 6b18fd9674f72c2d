"""Times of day and zones in the time language: "3pm", "15:30", "at 8", "noon", "EOD", "morning", "Europe/Berlin"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

from mait_code.commands.when_words import WEEKDAYS, quoted
from mait_code.journal.errors import BadInput, Refused
from mait_code.projections.zones import find_zone, load_zone, nominal, to_utc

if TYPE_CHECKING:
    from datetime import tzinfo

    from mait_code.commands.when_words import Words

__all__ = ["DEFAULT", "EOD", "PARTS", "Clock", "later_today", "settle", "take_clock", "take_part", "take_zone"]

DEFAULT = time(9)  # a day without an hour
EOD = time(17)
NIGHT = time(21)
PARTS = {"morning": DEFAULT, "noon": time(12), "afternoon": time(14), "evening": time(18), "night": NIGHT}

# The hours that go with a part of the day: "tonight at 8" is 20:00.
_HOURS_OF = {"morning": (0, 13), "afternoon": (12, 19), "evening": (15, 24), "night": (17, 24)}
_PART_ENDS = {"morning": 12, "afternoon": 18}
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?(am|pm)?(z|[+-][0-9]{2}:?[0-9]{2})?")
_OFFSET = re.compile(r"[+-][0-9]{2}:?[0-9]{2}")
_HOUR = re.compile(r"@?([0-9]{1,2})(am|pm)")
_BARE = re.compile(r"@?([0-9]{1,2})")
_FOUR = re.compile(r"([0-9]{2})([0-9]{2})")
_ZONE = re.compile(r"[a-z_]+(?:/[a-z0-9_+-]+)+")
# What people write for a zone, each of which means several or only half of one (summer time or not).
_SHORT = (
    "acdt acst adt aedt aest akdt akst ast awst bst cdt cest cet cst edt eest eet est hkt hst ict idt ist jst "
    "kst mdt msd msk mst ndt nst nzdt nzst pdt pht pkt pst sast sgt wat west wet wib et ct mt pt"
)
_ABBREVIATIONS = frozenset(_SHORT.split())


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as it was said."""

    time: time
    midnight: bool = False  # "midnight" and 24:00: the end of the day that is named, not its beginning
    bare: bool = False  # an hour with neither am, pm nor a leading zero
    offset: tzinfo | None = None  # said as 18:00+01:00


def take_clock(words: Words) -> Clock | None:
    """The time of day that stands here, passed over. BadInput for one that no clock shows."""
    start = words.at
    at = words.take("at", "@", "by", "around")
    if words.take("end of day", "end of the day", "eod", "close of business", "cob"):
        return Clock(EOD)
    if words.take("noon", "midday"):
        return Clock(PARTS["noon"])
    if words.take("midnight", "24:00"):
        return Clock(time(0), midnight=True)
    clock = _digits(words, at)
    if clock is None:
        words.at = start
    return clock


def _digits(words: Words, at: bool) -> Clock | None:
    word = words.peek()
    full, hour, bare, four = (shape.fullmatch(word) for shape in (_CLOCK, _HOUR, _BARE, _FOUR))
    half = words.peek(1) if words.peek(1) in {"am", "pm"} else ""
    if full:
        words.at += 1 + bool(half and not full.group(4))
        said = full.group(5)
        if said is None and _OFFSET.fullmatch(words.peek()):
            said = words.peek()
            words.at += 1
        offset = None if said is None else _offset(said)
        given = full.group(4) or half
        clock = _clock(word, full.group(1), full.group(2), full.group(3), given)
        return Clock(clock.time, bare=clock.bare and offset is None, offset=offset)
    if hour:
        words.at += 1
        return _clock(word, hour.group(1), half=hour.group(2))
    if bare and half:
        words.at += 2
        return _clock(f"{word} {half}", bare.group(1), half=half)
    if bare and (at or word.startswith("@")):
        words.at += 1
        return _clock(word, bare.group(1))
    if four and at:
        words.at += 1
        return _clock(word, four.group(1), four.group(2))
    return None


def _clock(said: str, hour: str, minute: str | None = None, second: str | None = None, half: str = "") -> Clock:
    number = int(hour)
    if half and not 1 <= number <= 12:
        raise BadInput(f"no clock shows {quoted(said)}: with am and pm the hours are 1 to 12", 'try "3pm" or "15:00"')
    if half:
        number = number % 12 + (12 if half == "pm" else 0)
    try:
        shown = time(number, int(minute or 0), int(second or 0))
    except ValueError:
        raise BadInput(f"no clock shows {quoted(said)}", 'try "3pm" or "15:30"') from None
    return Clock(shown, bare=not half and 1 <= number <= 12 and not hour.startswith("0"))


def _offset(text: str) -> tzinfo:
    if text == "z":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 15 or minutes > 59:
        raise BadInput(f"no place has the offset {text}", 'try "18:00+01:00" or a zone: "18:00 Europe/Berlin"')
    return timezone(timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1))


def take_part(words: Words) -> str:
    """The part of the day that stands here ("morning", "in the evening", "at night"), passed over; "" for none."""
    start = words.at
    words.take("in the", "at", "in", "the")
    for part in ("morning", "afternoon", "evening", "night"):
        if words.take(part):
            return part
    words.at = start
    return ""


def settle(clock: Clock | None, part: str, default: time) -> Clock:
    """The time of day meant by an hour, a part of the day, both or neither. BadInput where it could be either half."""
    if clock is None:
        return Clock(PARTS[part] if part else default)
    first, last = _HOURS_OF.get(part, (0, 24))
    hours = [clock.time.hour]
    if clock.bare and clock.time.hour <= 12:
        hours = [clock.time.hour % 12, clock.time.hour % 12 + 12]
    fits = [hour for hour in hours if first <= hour < last]
    if not fits:
        raise BadInput(f"{clock.time:%H:%M} is not in the {part}", 'say "tomorrow 9am" or "tomorrow evening"')
    if clock.bare and not part:
        if clock.time.hour < 7:
            early, late = (clock.time.replace(hour=hour) for hour in hours)
            raise BadInput(
                f"{clock.time.hour}:{clock.time:%M} could be at night or by day", f"say {early:%H:%M} or {late:%H:%M}"
            )
        return Clock(clock.time)  # 7 to 12 are morning hours and noon
    return Clock(clock.time.replace(hour=fits[0]), clock.midnight, offset=clock.offset)


def later_today(now: datetime, zone: str, text: str, part: str = "") -> time:
    """The hour of a bare "today" or "this evening": its usual one, or when that is past the next full one within it.

    A day has 9:00, 17:00 and 21:00. Refused where it is over, or as good as.
    """
    for hour in [PARTS[part]] if part else [DEFAULT, EOD, NIGHT]:
        if to_utc(nominal(datetime.combine(now.date(), hour)), zone) > now:
            return hour
    if now.hour + 1 < _PART_ENDS.get(part, 24):
        return time(now.hour + 1)
    raise Refused(f"{quoted(text)} is over, or nearly", 'say an hour ("today 23:45") or "tomorrow"')


def take_zone(words: list[str], home: str, now: datetime) -> tuple[list[str], str | None]:
    """The words without the zone among them, and the zone's name, or None where none is named.

    Understood are names of the zone database in any case, UTC, GMT and Z, and the abbreviations that the `home` zone
    itself uses around `now`. BadInput for an unknown name and for other abbreviations: most stand for several zones.
    """
    rest: list[str] = []
    found: str | None = None
    for word in words:
        name = _zone(word, home, now)
        if name is None:
            rest.append(word)
        elif found not in (None, name):
            raise BadInput(f"two zones in one time: {found} and {name}", 'say one of them: "9am Europe/Berlin"')
        else:
            found = name
    return rest, found


def _zone(word: str, home: str, now: datetime) -> str | None:
    if word in {"utc", "gmt", "z"}:
        return "UTC"
    if word in _ABBREVIATIONS:
        here = load_zone(home) or UTC
        if word.upper() in {(now + timedelta(days=days)).astimezone(here).tzname() for days in (0, 91, 182, 273)}:
            return home
        raise BadInput(f"{word.upper()} does not name one time zone", 'name a place: "9am America/New_York"')
    if not _ZONE.fullmatch(word) or all(part in WEEKDAYS for part in word.split("/")):
        return None
    name = find_zone(word)
    if name is None:
        raise BadInput(f"there is no time zone {quoted(word)}", 'zones are named like "Europe/Berlin" or "UTC"')
    return name
