"""The occurrences of a recurring reminder: nominal times that follow from its first due time and its rule.

**They are the first due time itself, then every later time of that clock time on a day that fits the rule.** Intervals
count from the first due time's minute, hour, day, week (from Monday), month or year. An occurrence is named by its
nominal time; none is stored before someone acts on it. recurrence_rule.py has the rule. All of this is arithmetic: no
clock is read, and a reminder set ten years ago costs what one set yesterday does.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from mait_code.journal.errors import BadInput
from mait_code.projections.recurrence_rule import ANY_WEEKDAY, FIXED, Pattern, check, describe, make, read, readable
from mait_code.projections.zones import load_zone, nominal, read_nominal, to_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mait_code.projections.recurrence_rule import Rule

__all__ = [
    "check", "current", "describe", "first_match", "latest", "make", "next_after", "occurrences", "readable",
]  # fmt: skip

LAST = datetime.fromisoformat("8999-12-31T23:59:59")
# Nobody dismisses so many occurrences ahead by hand: past them a reminder counts as having none.
_MOST_CLOSED_AHEAD = 10_000
# No clock was ever moved by more than a calendar day.
_CLOCK_MOVES = timedelta(hours=26)


def occurrences(first: str, rule: Rule | None) -> Iterator[str]:
    """Every occurrence as a nominal time, in order, from `first` to the end of the year 8999."""
    yield first
    at: str | None = first
    while at is not None:
        at = next_after(first, rule, at)
        if at is not None:
            yield at


def next_after(first: str, rule: Rule | None, after: str) -> str | None:
    """The earliest occurrence later than the nominal time `after`, or None. Found by a jump, whatever the distance."""
    found = _after(read(rule)[0], read_nominal(first), read_nominal(after))
    return None if found is None else nominal(found)


def latest(first: str, rule: Rule | None, upto: str) -> str | None:
    """The latest occurrence not later than the nominal time `upto`, or None. Found by a jump, whatever the distance."""
    found = _upto(read(rule)[0], read_nominal(first), read_nominal(upto))
    return None if found is None else nominal(found)


def first_match(rule: Rule, start: str) -> str | None:
    """The earliest time from `start` on that fits the rule's days, at the clock time of `start`; None past year 8999.

    The interval does not count, as this is where a rule may begin: "every 2 weeks on Friday" begins on the next Friday.
    BadInput for a rule that cannot be read.
    """
    pattern, wrong = read(rule)
    if pattern is None:
        raise BadInput(f"not a rule for a recurring reminder: {wrong}")
    begin, period = read_nominal(start), 0
    once = replace(pattern, step=1)
    while (times := _times(once, begin, period)) is not None:
        for at in times:
            if at >= begin:
                return nominal(at)
        period += 1
    return None


def current(
    first: str, rule: Rule | None, zone: str, now: datetime, is_closed: Callable[[str], bool] = lambda _: False
) -> str | None:
    """The one occurrence that a reminder stands at: what is shown, snoozed and dismissed. None when all is closed.

    It is the latest that has come (several missed Mondays are one overdue entry). Once that is closed, it is the next
    to come that is not: whoever dismisses the latest has done with those before it. Moments in `zone` are compared, so
    that an occurrence in a skipped or repeated hour comes when `to_utc` says. An unreadable `first` is the only one.
    """
    pattern = read(rule)[0]
    try:
        start = read_nominal(first)
    except BadInput:
        pattern, start = None, None
    if pattern is None or start is None:
        return None if is_closed(first) else first
    come, ahead = _around(pattern, start, zone, now)
    if come is not None and not is_closed(nominal(come)):
        return nominal(come)
    for _ in range(_MOST_CLOSED_AHEAD):
        if ahead is None or not is_closed(nominal(ahead)):
            break
        ahead = _next_to_come(pattern, start, ahead, zone, now)
    else:
        return None
    return None if ahead is None else nominal(ahead)


def _around(pattern: Pattern, first: datetime, zone: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The latest occurrence that has come, and the first that has not."""
    here, moment = load_zone(zone) or UTC, now.astimezone(UTC)
    offsets = [(moment + way * _CLOCK_MOVES).astimezone(here).utcoffset() or timedelta(0) for way in (-1, 0, 1)]
    surely = min((moment + min(offsets)).replace(tzinfo=None), LAST)
    perhaps = (moment + max(offsets)).replace(tzinfo=None)
    come, ahead = _upto(pattern, first, surely), None
    at = _after(pattern, first, surely)
    while at is not None:  # no change of the clocks near: perhaps equals surely, and the first look ends it
        if to_utc(nominal(at), zone) <= now:
            come = at
        elif ahead is None:
            ahead = at
        if at > perhaps:
            break
        at = _after(pattern, first, at)
    return come, ahead


def _next_to_come(pattern: Pattern, first: datetime, at: datetime, zone: str, now: datetime) -> datetime | None:
    """The next occurrence after `at` that has not come: in a skipped hour a later name can be an earlier moment."""
    found = _after(pattern, first, at)
    while found is not None and to_utc(nominal(found), zone) <= now:
        found = _after(pattern, first, found)
    return found


def _after(pattern: Pattern | None, first: datetime, after: datetime) -> datetime | None:
    if after < first:
        return first
    if pattern is None:
        return None
    period = _period(pattern, first, after)
    while (times := _times(pattern, first, period)) is not None:
        for at in times:
            if at > after:
                return at
        period += 1
    return None


def _upto(pattern: Pattern | None, first: datetime, upto: datetime) -> datetime | None:
    if upto < first:
        return None
    if pattern is None:
        return first
    period = _period(pattern, first, upto)
    while period >= 0:
        for at in reversed(_times(pattern, first, period) or []):
            if first < at <= upto:
                return at
        period -= 1
    return first


def _period(pattern: Pattern, first: datetime, at: datetime) -> int:
    """The number of the interval, counted from that of `first`, in which `at` lies."""
    if pattern.unit in FIXED:
        return (at - first) // (FIXED[pattern.unit] * pattern.step)
    if pattern.unit == "week":
        monday = first.date() - timedelta(days=first.weekday())
        return (at.date() - monday).days // 7 // pattern.step
    months = (at.year - first.year) * 12 + at.month - first.month
    return months // pattern.step if pattern.unit == "month" else (at.year - first.year) // pattern.step


def _times(pattern: Pattern, first: datetime, period: int) -> Sequence[datetime] | None:
    """The times that fit within one interval, in order; None when it begins after the year 8999."""
    try:
        if pattern.unit in FIXED:
            days = [first + period * pattern.step * FIXED[pattern.unit]]
        elif pattern.unit == "week":
            monday = first - timedelta(days=first.weekday()) + timedelta(weeks=period * pattern.step)
            days = [monday + timedelta(days=day) for day in sorted(set(pattern.days))]
        else:
            days = _in_month(pattern, first, period)
    except (OverflowError, ValueError):
        return None
    if days and days[0] > LAST:
        return None
    return [day for day in days if day <= LAST]


def _in_month(pattern: Pattern, first: datetime, period: int) -> list[datetime]:
    if pattern.unit == "year":
        year, month = first.year + period * pattern.step, pattern.month
    else:
        year, month = divmod(first.year * 12 + first.month - 1 + period * pattern.step, 12)
        month += 1
    start = date(year, month, 1)
    length = (date(year + month // 12, month % 12 + 1, 1) - start).days
    numbers = {length if n < 0 else min(n, length) for n in pattern.monthdays}
    numbers.update(filter(None, (_nth_day(start, length, n, day) for n, day in pattern.nth)))
    return [datetime.combine(start.replace(day=number), first.time()) for number in sorted(numbers)]


def _nth_day(start: date, length: int, n: int, day: int) -> int:
    """The number of the n-th such day in the month, 0 where it has none."""
    fits = [
        number
        for number in range(1, length + 1)
        if (weekday := (start.weekday() + number - 1) % 7) == day or (day == ANY_WEEKDAY and weekday < 5)
    ]
    if n < 0:
        return fits[-1]
    return fits[n - 1] if n <= len(fits) else 0
