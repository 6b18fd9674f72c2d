"""Days in the time language: "friday", "next tue", "24 dec", "24.12.", "2026-12-24", "in 2 weeks", "end of month"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from mait_code.commands import when_calendar as calendar
from mait_code.commands.when_clock import DEFAULT, EOD
from mait_code.commands.when_spans import take_span
from mait_code.commands.when_words import MONTHS, WEEKDAYS, Words, nth_number, quoted
from mait_code.journal.errors import BadInput, Refused
from mait_code.projections.recurrence_rule import DAYS
from mait_code.projections.recurrence_rule import MONTHS as MONTH_NAMES
from mait_code.projections.recurrence_rule import WEEKDAYS as DAY_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Day", "take_day"]

_ISO = re.compile(r"([0-9]{4})[-/]?([0-9]{2})[-/]?([0-9]{2})")
_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})(?:\.([0-9]{4}|[0-9]{2}))?")
_SLASHED = re.compile(r"([0-9]{1,2})[/-]([0-9]{1,2})(?:[/-]([0-9]{4}|[0-9]{2}))?")
_NUMBER = re.compile(r"[0-9]{1,2}")
_YEAR = re.compile(r"[0-9]{4}")
_WEEKS_AHEAD = 3


@dataclass(slots=True)
class Day:
    """A day as it was said: the dates it can mean, earliest first, of which the first still ahead is taken."""

    dates: Sequence[date] = ()
    default: time | None = DEFAULT  # the hour it has where none is said; None: an hour still ahead today
    part: str = ""
    fits: dict[str, Any] = field(default_factory=dict[str, Any])  # what it adds to a repetition that names no day
    moment: datetime | None = None  # a length of time from now, instead of dates
    precise: bool = False  # with seconds


def take_day(words: Words, now: datetime) -> Day | None:
    """The day that stands here, passed over; None where none does. `now` is in the zone that is meant.

    BadInput for a date that no calendar has or that reads two ways, Refused for one that says it is past.
    """
    for reader in (_near, _end, _calendar, _weekday, _span, _numeric, _named, _ordinal):
        start = words.at
        day = reader(words, now)
        if day is not None:
            return day
        words.at = start
    return None


def _near(words: Words, now: datetime) -> Day | None:
    today = now.date()
    if words.take("today"):
        return Day([today], default=None)
    if words.take("tonight", "this night", "this evening"):
        return Day([today], default=None, part="evening" if words.peek(-1) == "evening" else "night")
    for part in ("morning", "afternoon"):
        if words.take(f"this {part}"):
            return Day([today], default=None, part=part)
    if words.take("day after tomorrow", "the day after tomorrow"):
        return Day([today + timedelta(days=2)])
    if words.take("tomorrow"):
        return Day([today + timedelta(days=1)])
    if words.peek() == "now" and len(words.words) == 1:
        raise Refused("'now' is not ahead", 'a reminder needs a time ahead: "in 10 minutes"')
    if words.peek() == "yesterday" or (words.peek() == "last" and words.peek(1) in _PAST and words.peek(2) != "of"):
        raise Refused(f"{quoted(' '.join(words.words))} is in the past", 'a reminder needs a time ahead: "tomorrow"')
    return None


_PAST = frozenset(WEEKDAYS) | {"week", "month", "year", "night", "quarter", "evening", "weekend"}


def _end(words: Words, now: datetime) -> Day | None:
    """End and beginning of a week (Friday and Monday), month, quarter or year."""
    short = {"eow": "week", "eom": "month", "eoq": "quarter", "eoy": "year"}.get(words.peek())
    if short:
        words.at += 1
        return Day(calendar.ends(short, now.date(), 0, 2), default=EOD)
    end = words.take("end of", "the end of")
    if not end and not words.take("beginning of", "the beginning of", "start of", "the start of"):
        return None
    which = "next" if words.take("next") else "this" if words.take("this") else ""
    words.take("the")
    unit = words.peek()
    words.at += 1
    if unit in MONTHS and not which:
        year = _take_year(words)
        return Day(calendar.in_years(MONTHS[unit], -1 if end else 1, year, now.date()), default=EOD if end else DEFAULT)
    if unit not in {"week", "month", "quarter", "year"}:
        return None
    if end:
        return Day(calendar.ends(unit, now.date(), which == "next", which == "" or which == "this"), default=EOD)
    return Day([calendar.begin(unit, now.date(), which != "this")])


def _calendar(words: Words, now: datetime) -> Day | None:
    """Next week, month, quarter, year; this, next or the weekend (its Saturday)."""
    today = now.date()
    saturday = today + timedelta(days=(5 - today.weekday()) if today.weekday() < 6 else -1)
    if words.take("this weekend", "the weekend", "weekend"):
        return Day([saturday + timedelta(days=7 * week) for week in range(_WEEKS_AHEAD)])
    if words.take("next weekend"):
        return Day([saturday + timedelta(days=7)])
    for unit in ("week", "month", "quarter", "year"):
        if words.take(f"next {unit}"):
            return _within(words, unit, calendar.begin(unit, today, 1))
    if words.take("this week on", "this week") and words.peek() in WEEKDAYS:
        return _within(words, "week", calendar.begin("week", today, 0))
    return None


def _within(words: Words, unit: str, begin: date) -> Day | None:
    """A week or month may be followed by its day: "next week on friday", "next month on the 15th"."""
    start = words.at
    words.take("on the", "on", "the")
    weekday = words.take_from(WEEKDAYS) if unit == "week" else None
    if weekday is not None:
        return Day([begin + timedelta(days=weekday)])
    number = nth_number(words) if unit == "month" else None
    if number is not None and number > 0:
        words.at += 1
        return Day([calendar.exact(begin.year, begin.month, number)])
    words.at = start
    return Day([begin])


def _weekday(words: Words, now: datetime) -> Day | None:
    """A weekday is the next one ahead; with "next" it is the one of the next calendar week, from Monday on."""
    today = now.date()
    monday = calendar.begin("week", today, 0)
    following = words.take("next")
    this = not following and words.take("this coming", "this", "coming")
    weekday = words.take_from(WEEKDAYS)
    if weekday is None:
        return None
    if following or words.take("next week", "of next week"):
        return Day([monday + timedelta(days=7 + weekday)], fits={"days": (DAYS[weekday],)})
    words.take("this week")
    dated = None if this else _dated(words, now)
    if dated is not None:
        said = next((day for day in dated.dates if day >= today), dated.dates[0])
        if said.weekday() != weekday:
            raise BadInput(
                f"{calendar.spell(said)} is a {DAY_NAMES[said.weekday()]}, not a {DAY_NAMES[weekday]}", "leave one out"
            )
        return Day([said])
    ahead = today + timedelta(days=(weekday - today.weekday()) % 7)
    return Day([ahead + timedelta(days=7 * week) for week in range(_WEEKS_AHEAD)], fits={"days": (DAYS[weekday],)})


def _dated(words: Words, now: datetime) -> Day | None:
    start = words.at
    words.take("the")
    place = words.at
    for reader in (_numeric, _named):
        day = reader(words, now)
        if day is not None:
            return day
        words.at = place
    words.at = start
    return None


def _numeric(words: Words, now: datetime) -> Day | None:
    """2026-12-24 and 20261224; 24.12.2026 and 24.12. (day first); 24/12/2026 where only one order is a date."""
    word = words.peek()
    iso, dotted, slashed = (shape.fullmatch(word) for shape in (_ISO, _DOTTED, _SLASHED))
    words.at += 1
    if iso:
        return Day([calendar.exact(*map(int, iso.groups()))])
    if dotted:
        day, month, year = dotted.groups()
        return _day_month(int(day), int(month), _full_year(year), now.date())
    if not slashed:
        return None
    one, two, year = int(slashed.group(1)), int(slashed.group(2)), _full_year(slashed.group(3))
    if one <= 12 and two <= 12 and one != two:
        hint = f'write "{one} {MONTH_NAMES[two - 1].lower()[:3]}" or "{two} {MONTH_NAMES[one - 1].lower()[:3]}"'
        raise BadInput(f"{quoted(word)} reads day first or month first", hint)
    return _day_month(max(one, two), min(one, two), year, now.date())


def _full_year(text: str | None) -> int | None:
    return None if text is None else int(text) + (2000 if len(text) == 2 else 0)


def _named(words: Words, now: datetime) -> Day | None:
    """24 dec, dec 24, the 24th of december 2026, first monday of december, december (its first)."""
    words.take("the")
    place = _take_place(words)
    if place is not None:
        words.take("of")
        month = words.take_from(MONTHS)
        if month is None:
            return None
        number, weekday = place
    else:
        words.take("in", "of")
        month = words.take_from(MONTHS)
        if month is None:
            return None
        number, weekday = 1, None
        words.take("the")
        following = _take_place(words)
        if following is not None:
            number, weekday = following
    year = _take_year(words)
    if weekday is None:
        return _day_month(number, month, year, now.date())
    years = range(now.year, now.year + 12) if year is None else [year]
    dates = [day for year in years if (day := calendar.nth_weekday(year, month, number, weekday)) is not None]
    if not dates:
        raise BadInput(
            f"no {calendar.spell_nth(number, weekday)} in {MONTH_NAMES[month - 1]}", 'try "last friday of december"'
        )
    return Day(dates, fits={"month": month, "nth": ((number, DAYS[weekday]),)})


def _take_place(words: Words) -> tuple[int, int | None] | None:
    """A day's number ("24", "24th", "last day" is -1), or the n-th weekday."""
    nth = nth_number(words)
    if nth is not None:
        words.at += 1
        weekday = words.take_from(WEEKDAYS)
        if weekday is not None:
            return nth, weekday
        return (nth, None) if words.take("day") or nth > 0 else None
    if _NUMBER.fullmatch(words.peek()) and words.peek(1) not in {"am", "pm"}:
        words.at += 1
        return int(words.peek(-1)), None
    return None


def _ordinal(words: Words, now: datetime) -> Day | None:
    """The 15th (of this or next month), the first friday of next month."""
    words.take("on")
    words.take("the")
    nth = nth_number(words)
    place = _take_place(words) if nth is not None else None
    if place is None:
        return None
    number, weekday = place
    ahead = 1 if words.take("of next month") else 0 if words.take("of this month") else None
    if ahead is None:
        if weekday is not None or number < 1:
            return None
        months = [calendar.add_months(now.date().replace(day=1), more) for more in range(13)]
        dates = [month.replace(day=number) for month in months if number <= calendar.length(month.year, month.month)]
        return Day(dates, fits={"monthdays": (number,)}) if dates else None
    month = calendar.begin("month", now.date(), ahead)
    if weekday is None:
        return Day([calendar.exact(month.year, month.month, number)])
    found = calendar.nth_weekday(month.year, month.month, number, weekday)
    if found is None:
        raise BadInput(
            f"{MONTH_NAMES[month.month - 1]} {month.year} has no {calendar.spell_nth(number, weekday)}",
            'try "last friday of next month"',
        )
    return Day([found])


def _span(words: Words, now: datetime) -> Day | None:
    words.take("in", "within", "after")
    span = take_span(words)
    if span is None:
        return None
    if words.take("ago"):
        raise Refused(f"{quoted(' '.join(words.words))} is in the past", 'a reminder needs a time ahead: "in 2 hours"')
    words.take("from now", "from today", "hence", "later", "time")
    if span.seconds:
        return Day(moment=span.moment(now), precise=span.precise)
    if not span.days and not span.months:
        raise Refused("no time at all is not ahead", 'a reminder needs a time ahead: "in 2 hours"')
    day = span.day(now.date())
    weekday = _weekday_after(words) if span.weeks_only else None
    if weekday is not None:
        day += timedelta(days=weekday - day.weekday())
    return Day([day])


def _weekday_after(words: Words) -> int | None:
    """In 2 weeks "on friday": the Friday of that calendar week."""
    start = words.at
    weekday = words.take_from(WEEKDAYS) if words.take("on") else None
    if weekday is None:
        words.at = start
    return weekday


def _take_year(words: Words) -> int | None:
    word = words.peek()
    if not _YEAR.fullmatch(word):
        return None
    words.at += 1
    return int(word)


def _day_month(number: int, month: int, year: int | None, today: date) -> Day:
    if not 1 <= month <= 12:
        raise BadInput(
            f"there is no month {month}", 'dates are written "24.12.", "24 dec" or "2026-12-24"; times "15:30"'
        )
    fits = {"month": month, "monthdays": (number,)}
    return Day(calendar.in_years(month, number, year, today), fits={} if year else fits)
