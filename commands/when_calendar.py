"""Plain arithmetic on the calendar, for the time language: month lengths, n-th weekdays, ends of weeks and quarters."""

from __future__ import annotations

from datetime import date, timedelta

from mait_code.journal.errors import BadInput
from mait_code.projections.recurrence_rule import MONTHS, WEEKDAYS, ordinal

__all__ = ["add_months", "begin", "ends", "exact", "in_years", "length", "nth_weekday", "spell", "spell_nth"]


def length(year: int, month: int) -> int:
    """The number of days of that month."""
    return (date(year + month // 12, month % 12 + 1, 1) - date(year, month, 1)).days


def add_months(day: date, months: int) -> date:
    """The same day so many months on, or the last one of a month that is shorter. OverflowError near the year 9999."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    if year > 9990:
        raise OverflowError("past the calendar")
    return date(year, month, min(day.day, length(year, month)))


def begin(unit: str, today: date, ahead: int) -> date:
    """The first day of this (0) or the next (1) week, month, quarter or year."""
    if unit == "week":
        return today + timedelta(days=7 * ahead - today.weekday())
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    return add_months(today.replace(day=1), months * ahead - (today.month - 1) % months)


def ends(unit: str, today: date, skip: int, more: int) -> list[date]:
    """The last days from that of this (or, with skip 1, the next) week or month on; a week ends on Friday."""
    if unit == "week":
        friday = today + timedelta(days=4 - today.weekday() + 7 * skip)
        return [friday + timedelta(days=7 * week) for week in range(1 + more)]
    return [begin(unit, today, 1 + ahead) - timedelta(days=1) for ahead in range(skip, skip + 1 + more)]


def in_years(month: int, number: int, year: int | None, today: date) -> list[date]:
    """That day in the year, or in each of the coming years that have it (29 February)."""
    if year is not None:
        return [exact(year, month, number)]
    years = [y for y in range(today.year, today.year + 10) if number <= length(y, month)]
    return [exact(y, month, number) for y in years[:3]] or [exact(today.year, month, number)]


def exact(year: int, month: int, day: int) -> date:
    """The date, -1 for the last day of the month. BadInput with the reason where there is none."""
    if year > 8999:
        raise BadInput(f"the year {year} is too far off", "reminders reach to the year 8999")
    if year < 1000:
        raise BadInput(f"the year {year} is no year of this calendar", 'dates are written "2026-12-24"')
    if not 1 <= month <= 12:
        raise BadInput(f"there is no month {month}", 'dates are written "2026-12-24"')
    last = length(year, month)
    if day == -1:
        return date(year, month, last)
    if 1 <= day <= last:
        return date(year, month, day)
    leap = f", and {year} is no leap year" if (month, day) == (2, 29) else ""
    raise BadInput(f"{MONTHS[month - 1]} has no day {day}{leap}", f"it ends on the {ordinal(last)}")


def nth_weekday(year: int, month: int, number: int, weekday: int) -> date | None:
    """The n-th such weekday of the month, -1 for the last; None where it has none."""
    days = [date(year, month, day) for day in range(1, length(year, month) + 1)]
    fits = [day for day in days if day.weekday() == weekday]
    if number == -1:
        return fits[-1]
    return fits[number - 1] if 1 <= number <= len(fits) else None


def spell_nth(number: int, weekday: int) -> str:
    """The fifth Friday as "5th Friday", the last as "last Friday"."""
    return f"{'last' if number < 0 else ordinal(number)} {WEEKDAYS[weekday]}"


def spell(day: date) -> str:
    """24 December 2026."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
