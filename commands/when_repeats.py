"""Repetitions in the time language: "every 2 weeks on friday", "first of the month", "weekdays", "daily"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mait_code.commands.when_spans import take_number
from mait_code.commands.when_words import MONTHS, UNITS, WEEKDAYS, WEEKDAYS_PLURAL, nth_number
from mait_code.journal.errors import BadInput
from mait_code.projections.recurrence_rule import DAYS, make

if TYPE_CHECKING:
    from mait_code.commands.when_words import Words
    from mait_code.projections.recurrence_rule import Rule

__all__ = ["Repeat", "take_repeat"]

_WORKDAYS = DAYS[:5]
_ADVERBS = {
    "hourly": ("hour", 1), "daily": ("day", 1), "weekly": ("week", 1), "fortnightly": ("week", 2),
    "monthly": ("month", 1), "quarterly": ("month", 3), "yearly": ("year", 1), "annually": ("year", 1),
}  # fmt: skip
_GLUED = re.compile(r"([0-9]{1,3})([a-z]+)")
_PARTS = ("morning", "afternoon", "evening", "night")


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition as it was said; it `is_placed` where it names its days, and otherwise counts from today."""

    every: str
    interval: int = 1
    days: tuple[str, ...] = ()
    month: int | None = None
    monthdays: tuple[int, ...] = ()
    nth: tuple[tuple[int, str], ...] = ()
    part: str = ""

    @property
    def is_placed(self) -> bool:
        return bool(self.days or self.monthdays or self.nth)

    def rule(self) -> Rule:
        """The rule as stored. BadInput where no such rule exists ("every 5000 days")."""
        if not 1 <= self.interval <= 999:
            raise BadInput(f"a reminder repeats every 1 to 999 {self.every}s", 'try "every 2 weeks on friday"')
        return make(
            self.every, self.interval, days=self.days, month=self.month, monthdays=self.monthdays, nth=self.nth
        )  # fmt: skip


def take_repeat(words: Words) -> Repeat | None:
    """The repetition that stands here, passed over; None where none does."""
    for reader in (_every, _adverb, _plural, _of_the_month):
        start = words.at
        repeat = reader(words)
        if repeat is not None:
            return repeat
        words.at = start
    return None


def _every(words: Words) -> Repeat | None:
    if not words.take("every", "each"):
        return None
    words.take("single")
    glued = _GLUED.fullmatch(words.peek())
    if glued and glued.group(2) in UNITS:
        words.at += 1
        return _unit(words, UNITS[glued.group(2)], int(glued.group(1)))
    start = words.at
    interval = 2 if words.take("other") else take_number(words)
    if interval is not None:
        repeat = _counted(words, interval)
        if repeat is None:  # "every 24 dec" counts nothing
            words.at = start
        return repeat or _yearly(words, Repeat("year"))
    nth = nth_number(words)
    if words.peek() == "second" and not words.peek(1):
        return _unit(words, "second", 1)
    if nth is not None and nth > 1 and words.peek(1) in UNITS and words.peek(1) != "day":
        words.at += 1
        return _counted(words, nth)
    if nth is not None:
        return _every_nth(words, nth)
    return _counted(words, 1) or _every_date(words)


def _counted(words: Words, interval: int) -> Repeat | None:
    """What comes after "every", "every other" or "every 3"."""
    if words.take("weekend day", "weekend days"):
        return Repeat("week", interval, days=("sat", "sun"))
    if words.take("weekend", "weekends"):
        return Repeat("week", interval, days=("sat",))
    if words.take("weekday", "weekdays", "workday", "working day", "work day", "business day"):
        if interval != 1:
            raise BadInput("weekdays cannot be counted over the weekend", 'try "every other day" or "every weekday"')
        return Repeat("week", days=_WORKDAYS)
    for part in _PARTS:
        if words.take(part):
            return Repeat("day", interval, part=part)
    days = _take_weekdays(words)
    if days:
        return Repeat("week", interval, days=days)
    unit = UNITS.get(words.peek())
    if unit is None or len(words.peek()) == 1:
        return None
    words.at += 1
    return _unit(words, unit, interval)


def _unit(words: Words, unit: str, interval: int) -> Repeat | None:
    if unit == "second":
        raise BadInput("reminders repeat every minute at most", 'try "every 30 minutes"')
    unit, times = {"fortnight": ("week", 2), "quarter": ("month", 3)}.get(unit, (unit, 1))
    return _placed(words, Repeat(unit, interval * times))


def _placed(words: Words, repeat: Repeat) -> Repeat:
    """With the days that follow a unit: "on friday", "on the 15th", "on 29 feb"."""
    start = words.at
    words.take("on", "in")
    found = None
    if repeat.every == "week":
        days = _WORKDAYS if words.take("weekdays") else _take_weekdays(words)
        found = replace(repeat, days=days) if days else None
    elif repeat.every == "month":
        words.take("the")
        found = _monthly(words, repeat)
    elif repeat.every == "year":
        words.take("the")
        found = _yearly(words, repeat)
    if found is None:
        words.at = start
    return found or repeat


def _adverb(words: Words) -> Repeat | None:
    found = _ADVERBS.get(words.peek())
    if found is None:
        return None
    words.at += 1
    return _placed(words, Repeat(*found))


def _plural(words: Words) -> Repeat | None:
    """Mondays; on tuesdays and thursdays; weekdays; weekends."""
    words.take("on")
    if words.take("weekdays", "workdays"):
        return Repeat("week", days=_WORKDAYS)
    if words.take("weekends"):
        return Repeat("week", days=("sat",))
    if words.peek() not in WEEKDAYS_PLURAL:
        return None
    return Repeat("week", days=_take_weekdays(words))


def _of_the_month(words: Words) -> Repeat | None:
    """First of the month; the 1st and 15th of every month; last friday of november every year."""
    words.take("on")
    words.take("the")
    repeat = _monthly(words, Repeat("month"))
    if repeat is None:
        return None
    if words.take("of the month", "of a month", "in the month", "of each month", "of every month", "each month"):
        return repeat
    if words.take("of every other month"):
        return replace(repeat, interval=2)
    if words.take("of every"):
        interval = take_number(words)
        return replace(repeat, interval=interval) if interval and words.take("months", "month") else None
    month = words.take_from(MONTHS) if words.take("of", "in") else None
    if month is not None and words.take("every year", "each year", "yearly", "annually"):
        return replace(repeat, every="year", month=month)
    return None


def _every_nth(words: Words, nth: int) -> Repeat | None:
    """Every 15th; every first monday; every last day of the month; every 24th of december."""
    repeat = _monthly(words, Repeat("month"))
    if repeat is None:
        return None
    if words.take("of the month", "of each month", "of every month", "of a month"):
        return repeat
    start = words.at
    words.take("of")
    month = words.take_from(MONTHS)
    if month is not None:
        return replace(repeat, every="year", month=month)
    words.at = start
    if nth > 1 and repeat.nth:
        day = repeat.nth[0][1]
        hint = f'say "every {nth} weeks on {day}" or "every month on the {words.words[start - 2]} {day}"'
        raise BadInput("every second, third, ... weekday could count weeks or weekdays of the month", hint)
    if nth > 1 and words.words[start - 1] == "day":
        return Repeat("day", nth)
    return repeat


def _every_date(words: Words) -> Repeat | None:
    """Every december 24; every december."""
    if words.peek() not in MONTHS:
        return None
    return _yearly(words, Repeat("year"))


def _yearly(words: Words, repeat: Repeat) -> Repeat | None:
    month = words.take_from(MONTHS)
    if month is not None:
        start = words.at
        words.take("on")
        words.take("the")
        numbers = _take_numbers(words)
        if not numbers:
            words.at = start
        return replace(repeat, month=month, monthdays=numbers or (1,))
    start = words.at
    numbers = _take_numbers(words)
    if numbers:
        words.take("of")
        month = words.take_from(MONTHS)
        if month is not None:
            return replace(repeat, month=month, monthdays=numbers)
    words.at = start
    found = _monthly(words, repeat)
    month = words.take_from(MONTHS) if found is not None and words.take("of", "in") else None
    return replace(found, month=month) if found is not None and month is not None else None


def _monthly(words: Words, repeat: Repeat) -> Repeat | None:
    """The places within a month: "15th", "1st and 15th", "last day", "first and third monday", "day 15"."""
    if words.take("day"):
        numbers = _take_numbers(words)
        return replace(repeat, monthdays=numbers) if numbers else None
    monthdays: list[int] = []
    nth: list[tuple[int, str]] = []
    run: list[int] = []
    while (number := nth_number(words)) is not None:
        words.at += 1
        run.append(number)
        day = "weekday" if words.take("weekday", "working day", "work day", "business day") else _take_weekday(words)
        if day:
            nth += [(n, day) for n in run if n <= 5 or n == run[-1]]
            monthdays += [n for n in run[:-1] if n > 5]  # the 15th and last friday
        elif words.take("day"):
            monthdays += run
        if day or words.peek(-1) == "day":
            run = []
        start = words.at
        words.take("and the", "and")
        if nth_number(words) is None:
            words.at = start
    if -1 in run:
        return None  # "the last" of what
    monthdays += run
    if nth and monthdays:
        raise BadInput("one reminder repeats on days of the month or on weekdays, not on both", "set two reminders")
    if any(n > 31 or n == 0 for n in monthdays):
        raise BadInput("a month has no such day", 'try "every month on the 31st" or "last day of the month"')
    if any(n > 5 or n == 0 for n, _ in nth):
        raise BadInput("a month has five Fridays at most", 'try "last friday of the month"')
    return replace(repeat, monthdays=tuple(monthdays), nth=tuple(nth)) if monthdays or nth else None


def _take_numbers(words: Words) -> tuple[int, ...]:
    """Days of a month in digits or as ordinals: "29", "24th", "1 and 15"."""
    found: list[int] = []
    while True:
        start = words.at
        if found:
            words.take("and")
        word = words.peek()
        number = int(word) if len(word) < 3 and word.isascii() and word.isdigit() else nth_number(words)
        if number is None or number < 1 or words.peek(1) in {"am", "pm", *WEEKDAYS}:
            words.at = start
            return tuple(found)
        if number > 31:
            raise BadInput(f"no month has a day {number}", 'try "every month on the 31st"')
        words.at += 1
        found.append(number)


def _take_weekday(words: Words) -> str:
    day = words.take_from(WEEKDAYS)
    return "" if day is None else DAYS[day]


def _take_weekdays(words: Words) -> tuple[str, ...]:
    """Mon, wed and fri; mondays and thursdays."""
    found: list[str] = []
    while True:
        start = words.at
        if found:
            words.take("and on", "and", "or", "on")
        day = words.take_from(WEEKDAYS | WEEKDAYS_PLURAL)
        if day is None:
            words.at = start
            return tuple(found)
        found.append(DAYS[day])
