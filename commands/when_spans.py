"""Lengths of time in the time language: "2 weeks", "1h30m", "an hour and a half", "half an hour"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from mait_code.commands.when_calendar import add_months
from mait_code.commands.when_words import NUMBERS, UNITS
from mait_code.journal.errors import BadInput

if TYPE_CHECKING:
    from mait_code.commands.when_words import Words

__all__ = ["Span", "take_number", "take_span"]

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_PIECE = re.compile(r"([0-9]{1,30})(\.[0-9]{1,3})?([a-z]+)")
_NUMBER = re.compile(r"([0-9]{1,30})(\.[0-9]{1,3})?")
_HOURS_MINUTES = re.compile(r"([0-9]{1,3})h([0-9]{1,2})")


@dataclass(slots=True)
class Span:
    """Seconds are elapsed time; days and months are counted on the calendar."""

    seconds: float = 0
    days: int = 0
    months: int = 0
    precise: bool = False  # seconds were named
    weeks_only: bool = True

    def add(self, amount: float, unit: str) -> None:
        """BadInput for a part of a month, which has no length."""
        self.weeks_only = self.weeks_only and unit in {"week", "fortnight"}
        self.precise = self.precise or unit == "second"
        if unit in _SECONDS:
            self.seconds += amount * _SECONDS[unit]
        elif amount == int(amount):
            self.days += int(amount) * _DAYS.get(unit, 0)
            self.months += int(amount) * _MONTHS.get(unit, 0)
        elif unit in _DAYS:
            self.seconds += amount * _DAYS[unit] * 86400
        else:
            raise BadInput(f"a part of a {unit} has no fixed length", 'say it in days: "in 45 days"')

    def day(self, today: date) -> date:
        """The calendar day so far from `today`, seconds aside. OverflowError past the year 9999."""
        return add_months(today, self.months) + timedelta(days=self.days)

    def moment(self, now: datetime) -> datetime:
        """The moment so far from `now` (aware): calendar days at the same clock time, then elapsed seconds."""
        wall = datetime.combine(self.day(now.date()), now.timetz())
        return (wall if self.days or self.months else now).astimezone(UTC) + timedelta(seconds=self.seconds)


def take_number(words: Words) -> int | None:
    """A whole number in digits or words ("a couple of" is 2), passed over."""
    start = words.at
    if words.take("a couple of", "a couple", "couple of"):
        return 2
    word = words.peek()
    number = int(word) if len(word) <= 30 and word.isascii() and word.isdigit() else NUMBERS.get(word)
    words.at = start + (number is not None)
    return number


def take_span(words: Words) -> Span | None:
    """The length of time that stands here, passed over; None where none does."""
    span, start, found = Span(), words.at, False
    while words:
        before = words.at
        if found:
            words.take("and")
        if not _take_piece(words, span):
            words.at = before
            break
        found = True
    if not found:
        words.at = start
    return span if found else None


def _take_piece(words: Words, span: Span) -> bool:
    if words.take("half an hour", "half hour", "half-hour", "a half hour"):
        span.add(30, "minute")
        return True
    if words.take("half a day"):
        span.add(12, "hour")
        return True
    if _take_glued(words, span):
        return True
    fraction = _NUMBER.fullmatch(words.peek())
    if fraction and fraction.group(2):
        amount: float | None = float(words.peek())
        words.at += 1
    else:
        amount = take_number(words)
    unit = UNITS.get(words.peek())
    if amount is None or unit is None:
        return False
    words.at += 1
    span.add(amount, unit)
    if unit in {"hour", "minute", "day"} and words.take("and a half"):
        span.add(0.5, unit)
    return True


def _take_glued(words: Words, span: Span) -> bool:
    word = words.peek()
    pieces = [(found.group(1) + (found.group(2) or ""), UNITS.get(found.group(3))) for found in _PIECE.finditer(word)]
    if not pieces or "".join(found.group() for found in _PIECE.finditer(word)) != word:
        together = _HOURS_MINUTES.fullmatch(word)
        if not together:
            return False
        pieces = [(together.group(1), "hour"), (together.group(2), "minute")]
    if any(unit is None for _, unit in pieces):
        return False
    words.at += 1
    for amount, unit in pieces:
        span.add(float(amount), unit or "")
    return True
