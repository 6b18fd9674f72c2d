"""The time language of reminders: what "friday EOD", "in 2 weeks" or "every monday 9am" mean at a given moment.

The grammar here is small and its own (docs/how-to/reminders.md lists it). What it does not know goes to dateparser,
which is imported only then. Three rules decide where a phrase leaves room:

- A day without an hour means 9:00; a time that names no date means the first one ahead. A length of time in hours or
  minutes is elapsed time, one in days or longer is counted on the calendar.
- A phrase with two readings is refused with both spelt out (03/04/2026, "at 3"), as a wrong guess is a reminder missed.
- A time that is not ahead is refused, whoever read it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from mait_code.commands.when_clock import DEFAULT, Clock, later_today, settle, take_clock, take_part, take_zone
from mait_code.commands.when_days import Day, take_day
from mait_code.commands.when_repeats import Repeat, take_repeat
from mait_code.commands.when_words import MOST_CHARACTERS, Words, quoted, split
from mait_code.journal.errors import BadInput, Refused
from mait_code.projections.recurrence import first_match, next_after
from mait_code.projections.recurrence_rule import DAYS
from mait_code.projections.zones import load_zone, name_instant, nominal, read_nominal, show, to_utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.projections.recurrence_rule import Rule

__all__ = ["When", "parse_until", "parse_when"]

_TIME_WORDS = frozenset({"noon", "midnight", "morning", "afternoon", "evening", "night", "eod", "am", "pm"})
_STARTS = frozenset({"starting", "beginning", "commencing", "from", "since"})
_ENDS = frozenset({"until", "till", "til", "through", "except"})


@dataclass(frozen=True, slots=True)
class When:
    """A time as reminders store it: nominal local time, IANA zone, and the rule where it recurs."""

    due: str
    zone: str
    rule: Rule | None = None


@dataclass(slots=True)
class _Said:
    """The parts of a phrase, each named at most once."""

    day: Day | None = None
    clock: Clock | None = None
    part: str = ""
    repeat: Repeat | None = None


def parse_when(text: str, now: datetime, zone: str) -> When:
    """What `text` means at `now` (aware) to somebody in `zone`.

    BadInput where it cannot be read, reads two ways or names no day or hour that exists; Refused where it is past. Both
    carry a hint with phrases that work.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadInput(f"{len(text)} characters are too many for a time", _hint(now))
    if load_zone(zone) is None:
        raise BadInput(f"there is no time zone {quoted(zone)}", 'zones are named like "Europe/Berlin" or "UTC"')
    if not 1970 <= now.astimezone(UTC).year <= 8998:
        raise BadInput(f"this machine's clock stands in the year {now.year}", "set its clock first")
    words = split(text)
    if not words:
        raise BadInput("no time was given", _hint(now))
    words, named = take_zone(words, zone, now)
    zone = named or zone
    local = now.astimezone(load_zone(zone))
    try:
        found = _own(words, text, local, zone)
        if found is None:
            from mait_code.commands.when_foreign import parse_foreign

            found = When(*parse_foreign(words, text, local, zone))
    except (BadInput, Refused) as error:
        if not error.hint:
            error.hint = _hint(now)
        raise
    except (OverflowError, ValueError) as error:  # the arithmetic of dates past the calendar's end
        raise BadInput(f"{quoted(text)} is too far off", "reminders reach to the year 8999") from error
    if found.due[:4] > "8999" or to_utc(found.due, found.zone) <= now:
        raise _past(text, found.due, found.zone, now)
    return found


def continues(when: str, word: str, now: datetime, zone: str) -> bool:
    """Whether `word`, written behind the phrase `when`, would be part of the time by our own grammar."""
    if not any(character.isdigit() for character in word) and word.lower() not in _TIME_WORDS:
        return False
    together = f"{when} {word}"
    try:
        words, named = take_zone(split(together), zone, now)
        local = now.astimezone(load_zone(named or zone))
        return _own(words, together, local, named or zone) is not None
    except (BadInput, Refused):
        return True  # it reads as a time, though not as one that could be kept
    except (OverflowError, ValueError):
        return False


def parse_until(text: str, now: datetime, zone: str) -> When:
    """The end of a snooze: as `parse_when` ("1h", "2d", "monday", "tomorrow 9am"), and never repeating."""
    words = text.split(maxsplit=1)
    if len(words) == 2 and words[0].lower() in {"until", "till", "til", "for"}:
        text = words[1]
    found = parse_when(text, now, zone)
    if found.rule is not None:
        raise BadInput(f"{quoted(text)} repeats, and a snooze ends once", 'try "1h", "tomorrow 9am" or "monday"')
    return found


def _own(words: list[str], text: str, now: datetime, zone: str) -> When | None:
    """By our own grammar; None where that cannot read the phrase and another may try."""
    begins = next((at for at, word in enumerate(words) if at and _starts(word, words[at + 1 : at + 2])), len(words))
    said = _scan(Words(words[:begins]), now)
    if said is not None and said.repeat is not None:
        start = _scan(Words(words[begins + 1 :]), now) if begins < len(words) else _Said()
        if start is not None and start.repeat is None:
            return _recurring(said, start, text, now, zone)
    if said is not None and begins == len(words):
        return _once(said, text, now, zone)
    if "every" in words or "each" in words:
        if _ENDS.intersection(words):
            raise BadInput(
                "a repetition has no end of its own", "set it without the end, and dismiss it when it is over"
            )
        raise BadInput(f"cannot read the repetition in {quoted(text)}", _REPEATS)
    return None


def _starts(word: str, following: list[str]) -> bool:
    """Whether a repetition's first day is named from here on; "a week from now" is a length of time."""
    return word in _STARTS and following not in (["now"], ["today"])


_REPEATS = 'try "every monday 9am", "every 2 weeks on friday", "every weekday 9:30" or "last friday of the month"'


def _scan(words: Words, now: datetime) -> _Said | None:
    """Reads every word, or nothing: None where one is left over or a part is named twice."""
    said = _Said()
    while words:
        start = words.at
        repeat = None if said.repeat else take_repeat(words)
        day = None if repeat or said.day else _take_day(words, now)
        clock = None if repeat or day or said.clock else take_clock(words)
        part = "" if repeat or day or clock or said.part else take_part(words)
        if words.at == start:
            number = words.peek()
            if len(words.words) == start + 1 and len(number) < 3 and number.isdigit() and (said.day or said.repeat):
                raise BadInput(f"{number} could be an hour or a day", f'say "at {number}" or "on the {number}."')
            return None
        said.repeat = said.repeat or repeat
        said.day = said.day or day
        said.clock = said.clock or clock
        said.part = said.part or part or (repeat.part if repeat else "") or (day.part if day else "")
    return said


def _take_day(words: Words, now: datetime) -> Day | None:
    day = take_day(words, now)
    start = words.at
    if day is None and words.take("on the", "on", "by the", "by", "at the", "the", "for", "of"):
        day = take_day(words, now)
        if day is None:
            words.at = start
    return day


# --- one time ----------------------------------------------------------------------------------------------------


def _once(said: _Said, text: str, now: datetime, zone: str) -> When:
    day = said.day
    if day is not None and day.moment is not None:
        if said.clock or said.part:
            raise BadInput(
                f"{quoted(text)} says both a length of time and an hour", 'try "in 2 hours" or "in 2 days 9am"'
            )
        return When(*name_instant(day.moment, zone, day.precise))
    dates = day.dates if day is not None else [now.date() + timedelta(days=more) for more in range(3)]
    default = day.default if day is not None else DEFAULT
    if default is None and said.clock is None:
        clock = Clock(later_today(now, zone, text, said.part))
    else:
        clock = settle(said.clock, said.part, default or DEFAULT)
    return _first_ahead(dates, clock, text, now, zone)


def _first_ahead(dates: Iterable[date], clock: Clock, text: str, now: datetime, zone: str) -> When:
    first = None
    for day in dates:
        due = _at(day, clock, zone)
        first = first or due
        if to_utc(*due) > now:
            return When(*due)
    raise _past(text, *(first or (nominal(now), zone)), now)


def _at(day: date, clock: Clock, zone: str) -> tuple[str, str]:
    wall = datetime.combine(day + timedelta(days=clock.midnight), clock.time)
    if clock.offset is not None:
        return name_instant(
            wall.replace(tzinfo=clock.offset), "UTC" if clock.offset is UTC else zone, bool(wall.second)
        )
    return nominal(wall), zone


def _past(text: str, due: str, zone: str, now: datetime) -> Refused:
    return Refused(f"{quoted(text)} is in the past: {show(due, zone, now, zone)}", _hint(now))


def _hint(now: datetime) -> str:
    return (
        'try "friday EOD", "tomorrow 9am", "in 2 weeks", "24 dec 18:00", '
        f'"{now.year + 1}-12-24 18:00" or "every monday 9am"'
    )


# --- recurring ---------------------------------------------------------------------------------------------------


def _recurring(said: _Said, start: _Said, text: str, now: datetime, zone: str) -> When:
    """The rule and the first due time: the first that fits, is ahead, and is not before `start`."""
    assert said.repeat is not None
    repeat = _merged(said.repeat, said.day, text)
    if said.clock and start.clock:
        raise BadInput(f"{quoted(text)} says two hours", _REPEATS)
    default = start.day.default if start.day is not None else DEFAULT
    clock = settle(said.clock or start.clock, said.part or start.part, default or DEFAULT)
    if clock.midnight and repeat.every != "day":
        raise BadInput("midnight could begin the day or end it", 'say "0:00" or "23:59"')
    if clock.offset is not None:
        raise BadInput("a repetition needs a zone, as an offset changes with summer time", 'try "every day 9am UTC"')
    timed = said.clock or start.clock or said.part or start.part or start.day
    if repeat.every in {"minute", "hour"} and not timed:
        step = timedelta(minutes=repeat.interval) * (60 if repeat.every == "hour" else 1)
        due, zone = name_instant(now + step, zone)
        return When(due, zone, repeat.rule())
    if start.day is not None and start.day.moment is not None:
        raise BadInput(f"{quoted(text)} does not start on a day", 'try "every 2 weeks on friday starting 4 dec"')
    if start.day is not None:
        return _counted_from(repeat, datetime.combine(_not_past(start.day, now), clock.time), now, zone)
    begin = datetime.combine(now.date(), clock.time)
    if not repeat.is_placed:
        return _counted_from(repeat, begin, now, zone)
    first = first_match(repeat.rule(), nominal(begin))
    while first is not None and to_utc(first, zone) <= now:
        first = first_match(repeat.rule(), nominal(read_nominal(first) + timedelta(days=1)))
    return _begun(first, repeat.rule(), zone)


def _counted_from(repeat: Repeat, begin: datetime, now: datetime, zone: str) -> When:
    """From a day that counts, "starting" or today, so that the intervals keep step with it."""
    rule = (repeat if repeat.is_placed else _placed_at(repeat, begin.date())).rule()
    anchor = first_match(rule, nominal(begin))
    first = anchor
    if anchor is not None and to_utc(anchor, zone) <= now:
        first = next_after(anchor, rule, max(anchor, nominal(now)))
    while anchor is not None and first is not None and to_utc(first, zone) <= now:  # in an hour that occurs twice
        first = next_after(anchor, rule, first)
    return _begun(first, rule, zone)


def _begun(first: str | None, rule: Rule, zone: str) -> When:
    if first is None:
        raise BadInput("that day never comes", _REPEATS)
    return When(first, zone, rule)


def _not_past(day: Day, now: datetime) -> date:
    return next((date for date in day.dates if date >= now.date()), day.dates[0])


def _placed_at(repeat: Repeat, day: date) -> Repeat:
    """A repetition that names no day counts from this one."""
    if repeat.every == "week":
        return replace(repeat, days=(DAYS[day.weekday()],))
    if repeat.every == "month":
        return replace(repeat, monthdays=(day.day,))
    if repeat.every == "year":
        return replace(repeat, month=day.month, monthdays=(day.day,))
    return repeat


_DAY_OF = {"week": "days", "month": "monthdays", "year": "month"}


def _merged(repeat: Repeat, day: Day | None, text: str) -> Repeat:
    """With a day said apart from the repetition: "friday every 2 weeks", "24 dec every year"."""
    if day is None:
        return repeat
    fits = day.fits
    if repeat.is_placed or _DAY_OF.get(repeat.every) not in fits or ("month" in fits) != (repeat.every == "year"):
        raise BadInput(f"cannot read the repetition in {quoted(text)}", _REPEATS)
    return replace(repeat, **fits)
