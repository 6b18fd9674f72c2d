"""The rule of a recurring reminder: its bytes in the log, and its words.

A rule lies in the log for ever, and its bytes count for digests and conflicts, so each rule has one spelling. It is a
JSON object with these keys and no others; keys sorted and no spaces, as everywhere in a line:

    every      always: "minute", "hour", "day", "week", "month" or "year".
    interval   always: an integer from 1 to 999; every so many of them.
    days       week only, always there: one or more of "mon" "tue" "wed" "thu" "fri" "sat" "sun", in this order,
               none twice.
    month      year only, always there: an integer from 1 to 12.
    monthdays  month and year, or else `nth`: one or more of 1 to 31 and -1 (the last day), ascending, -1 at the end,
               none twice. A day that a month lacks means its last day: the 31st in April is the 30th, 29 February in
               2027 is the 28th.
    nth        month and year, or else `monthdays`: one or more pairs [n, day]. n is 1 to 5 or -1 (the last); day as
               above or "weekday" (Monday to Friday). Ordered by n (-1 at the end), then day, none twice. A month
               without a fifth Friday is passed over.

    {"every":"day","interval":1}                                every day
    {"days":["fri"],"every":"week","interval":2}                every 2 weeks on Friday
    {"every":"month","interval":1,"monthdays":[-1]}             every month on the last day
    {"every":"month","interval":1,"nth":[[-1,"fri"]]}           every month on the last Friday
    {"every":"year","interval":1,"month":2,"monthdays":[29]}    every year on 29 February

The rule holds no time of day and no start: both are the reminder's first due time (recurrence.py).

`check` is strict and for writing. Reading is not: keys of newer versions are passed over (better an occurrence too many
than one lost), and a rule that cannot be read counts as none, so that the reminder is still due once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from mait_code.journal.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DAYS", "UNITS", "Pattern", "Rule", "check", "describe", "make", "ordinal", "read", "readable"]

Rule = dict[str, Any]
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = ("minute", "hour", "day", "week", "month", "year")
FIXED = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
ANY_WEEKDAY = 7  # the place of "weekday" after the seven days in `nth`
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NTH = ("first", "second", "third", "fourth", "fifth")
_KEYS: dict[str, frozenset[str]] = {
    "minute": frozenset(), "hour": frozenset(), "day": frozenset(), "week": frozenset({"days"}),
    "month": frozenset({"monthdays", "nth"}), "year": frozenset({"month", "monthdays", "nth"}),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule as read: days as numbers from Monday, the last of a month as -1."""

    unit: str
    step: int
    days: tuple[int, ...] = ()
    month: int = 0
    monthdays: tuple[int, ...] = ()
    nth: tuple[tuple[int, int], ...] = ()


def make(
    every: str,
    interval: int = 1,
    *,
    days: Iterable[str] = (),
    month: int | None = None,
    monthdays: Iterable[int] = (),
    nth: Iterable[tuple[int, str]] = (),
) -> Rule:
    """A rule in its one spelling: days put in order, doubles dropped. BadInput as `check`."""
    rule: Rule = {"every": every, "interval": interval}
    if days:
        rule["days"] = sorted(set(days), key=_place)
    if month is not None:
        rule["month"] = month
    if monthdays:
        rule["monthdays"] = sorted(set(monthdays), key=_from_start)
    if nth:
        rule["nth"] = [list(pair) for pair in sorted(set(nth), key=_in_order)]
    check(rule)
    return dict(sorted(rule.items()))


def check(rule: Mapping[str, Any]) -> None:
    """BadInput unless `rule` is a rule of this version in its one spelling."""
    pattern, wrong = read(rule)
    if pattern is None:
        raise BadInput(f"not a rule for a recurring reminder: {wrong}")
    unknown = sorted(set(rule) - {"every", "interval"} - _KEYS[pattern.unit])
    if unknown:
        raise BadInput(f"not a rule for a recurring reminder: a rule by {pattern.unit} has no key {unknown[0]!r}")
    ordered = (
        list(pattern.days) == sorted(set(pattern.days))
        and list(pattern.monthdays) == sorted(set(pattern.monthdays), key=_from_start)
        and list(pattern.nth) == sorted(set(pattern.nth), key=lambda pair: (_from_start(pair[0]), pair[1]))
    )
    if not ordered:
        raise BadInput("not a rule for a recurring reminder: its days are out of order or named twice")


def readable(rule: object) -> bool:
    """Whether this version can compute occurrences from `rule`; unknown keys do not count against it."""
    return read(rule)[0] is not None


def _in_order(pair: tuple[int, str]) -> tuple[int, int]:
    return _from_start(pair[0]), _place(pair[1])


def _place(day: str) -> int:
    return DAYS.index(day) if day in DAYS else ANY_WEEKDAY


def _from_start(number: int) -> int:
    return number if number > 0 else 100


def read(rule: object) -> tuple[Pattern | None, str]:
    """The pattern, or None and what is wrong. Unknown keys and another order of the days are no hindrance."""
    if not isinstance(rule, dict):
        return None, "it is no object"
    fields = cast("dict[str, Any]", rule)
    unit, step = fields.get("every"), _whole(fields.get("interval"), 1, 999)
    if not isinstance(unit, str) or unit not in UNITS:
        return None, "`every` must be minute, hour, day, week, month or year"
    if not step:
        return None, "`interval` must be a whole number from 1 to 999"
    if unit in FIXED:
        return Pattern(unit, step), ""
    if unit == "week":
        days = _days(fields.get("days"))
        return (Pattern(unit, step, days=days), "") if days else (None, "`days` must list mon to sun")
    month = _whole(fields.get("month"), 1, 12) if unit == "year" else 0
    if unit == "year" and not month:
        return None, "`month` must be a whole number from 1 to 12"
    if ("monthdays" in fields) == ("nth" in fields):
        return None, "it needs one of `monthdays` and `nth`"
    if "nth" in fields:
        nth = _pairs(fields["nth"])
        return (
            (Pattern(unit, step, month=month, nth=nth), "") if nth else (None, '`nth` must list pairs like [1,"mon"]')
        )
    numbers = _items(fields["monthdays"])
    if numbers and all(_whole(n, 1, 31) or _whole(n, -1, -1) for n in numbers):
        return Pattern(unit, step, month=month, monthdays=tuple(cast("list[int]", numbers))), ""
    return None, "`monthdays` must list 1 to 31, or -1 for the last day"


def _whole(value: object, low: int, high: int) -> int:
    """The value where it is an integer in the range, which never holds 0; else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high else 0


def _items(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _days(value: object) -> tuple[int, ...]:
    names = [day for day in _items(value) if isinstance(day, str) and day in DAYS]
    return tuple(DAYS.index(day) for day in names) if names == value else ()


def _pairs(value: object) -> tuple[tuple[int, int], ...]:
    found: list[tuple[int, int]] = []
    for item in _items(value):
        pair = _items(item)
        number = _whole(pair[0], 1, 5) or _whole(pair[0], -1, -1) if len(pair) == 2 else 0
        if not number or pair[1] not in (*DAYS, "weekday"):
            return ()
        found.append((number, _place(str(pair[1]))))
    return tuple(found)


def describe(rule: object) -> str:
    """The rule in English: "every 2 weeks on Friday". The time language reads every such phrase back."""
    pattern, _ = read(rule)
    if pattern is None or not isinstance(rule, dict):
        return "repeats in a way this version cannot read"
    every = f"every {pattern.unit}" if pattern.step == 1 else f"every {pattern.step} {pattern.unit}s"
    if pattern.unit == "week":
        days = sorted(set(pattern.days))
        if pattern.step == 1:
            every = "every weekday" if days == [0, 1, 2, 3, 4] else "every " + _list([WEEKDAYS[day] for day in days])
        else:
            every += " on " + _list([WEEKDAYS[day] for day in days])
    elif pattern.unit in ("month", "year"):
        every += " on " + _in_words(pattern)
    newer = set(cast("dict[str, Any]", rule)) - {"every", "interval"} - _KEYS[pattern.unit]
    return every + (" (and more that this version cannot read)" if newer else "")


def _in_words(pattern: Pattern) -> str:
    if pattern.unit == "year" and pattern.monthdays and -1 not in pattern.monthdays:
        return f"{_list([str(n) for n in pattern.monthdays])} {MONTHS[pattern.month - 1]}"
    days = ["last day" if n < 0 else ordinal(n) for n in pattern.monthdays]
    for n, day in pattern.nth:
        days.append(f"{'last' if n < 0 else _NTH[n - 1]} {'weekday' if day == ANY_WEEKDAY else WEEKDAYS[day]}")
    return "the " + _list(days) + (f" of {MONTHS[pattern.month - 1]}" if pattern.unit == "year" else "")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th ... 11th ... 31st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number // 10 % 10 != 1 else "th"
    return f"{number}{ending}"


def _list(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
