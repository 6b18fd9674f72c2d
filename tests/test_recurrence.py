"""Recurring reminders: the rule's bytes, and its occurrences held against a plain day-by-day search."""

from __future__ import annotations

import calendar
import json
import time
from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise, takewhile
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mait_code.commands.when import parse_when
from mait_code.journal.errors import BadInput
from mait_code.projections.recurrence import current, first_match, latest, next_after, occurrences
from mait_code.projections.recurrence_rule import DAYS, UNITS, Rule, check, describe, make, readable
from mait_code.projections.zones import nominal, read_nominal, to_utc

_SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# --- the rule as data --------------------------------------------------------------------------------------------

# These lines lie in logs: none of them may ever change.
GOLDEN = {
    '{"every":"minute","interval":30}': "every 30 minutes",
    '{"every":"hour","interval":2}': "every 2 hours",
    '{"every":"day","interval":1}': "every day",
    '{"days":["fri"],"every":"week","interval":2}': "every 2 weeks on Friday",
    '{"days":["mon"],"every":"week","interval":1}': "every Monday",
    '{"days":["mon","tue","wed","thu","fri"],"every":"week","interval":1}': "every weekday",
    '{"days":["mon","wed","sun"],"every":"week","interval":1}': "every Monday, Wednesday and Sunday",
    '{"every":"month","interval":1,"monthdays":[1,15]}': "every month on the 1st and 15th",
    '{"every":"month","interval":3,"monthdays":[2,3,11,-1]}': "every 3 months on the 2nd, 3rd, 11th and last day",
    '{"every":"month","interval":1,"nth":[[1,"mon"],[-1,"fri"]]}': "every month on the first Monday and last Friday",
    '{"every":"month","interval":1,"nth":[[-1,"weekday"]]}': "every month on the last weekday",
    '{"every":"year","interval":1,"month":2,"monthdays":[29]}': "every year on 29 February",
    '{"every":"year","interval":2,"month":2,"monthdays":[-1]}': "every 2 years on the last day of February",
    '{"every":"year","interval":1,"month":11,"nth":[[4,"thu"]]}': "every year on the fourth Thursday of November",
}


@pytest.mark.parametrize("line", GOLDEN)
def test_the_golden_rules_are_read_made_and_described(line: str) -> None:
    rule = json.loads(line)
    check(rule)
    assert describe(rule) == GOLDEN[line]
    parts = {key: value for key, value in rule.items() if key not in {"every", "interval"}}
    if "nth" in parts:
        parts["nth"] = [tuple(pair) for pair in reversed(parts["nth"])]
    made = make(rule["every"], rule["interval"], **parts)
    assert json.dumps(made, separators=(",", ":")) == line


BROKEN: list[tuple[Any, str]] = [
    ([], "no object"),
    ({}, "`every`"),
    ({"every": "decade", "interval": 1}, "`every`"),
    ({"every": ["day"], "interval": 1}, "`every`"),
    ({"every": "day"}, "`interval`"),
    ({"every": "day", "interval": 0}, "`interval`"),
    ({"every": "day", "interval": 1000}, "`interval`"),
    ({"every": "day", "interval": True}, "`interval`"),
    ({"every": "day", "interval": 1.0}, "`interval`"),
    ({"every": "week", "interval": 1}, "`days`"),
    ({"every": "week", "interval": 1, "days": []}, "`days`"),
    ({"every": "week", "interval": 1, "days": "mon"}, "`days`"),
    ({"every": "week", "interval": 1, "days": ["Mon"]}, "`days`"),
    ({"every": "week", "interval": 1, "days": ["weekday"]}, "`days`"),
    ({"every": "month", "interval": 1}, "one of `monthdays` and `nth`"),
    ({"every": "month", "interval": 1, "monthdays": [1], "nth": [[1, "mon"]]}, "one of `monthdays` and `nth`"),
    ({"every": "month", "interval": 1, "monthdays": [0]}, "`monthdays`"),
    ({"every": "month", "interval": 1, "monthdays": [32]}, "`monthdays`"),
    ({"every": "month", "interval": 1, "monthdays": [-2]}, "`monthdays`"),
    ({"every": "month", "interval": 1, "monthdays": 1}, "`monthdays`"),
    ({"every": "month", "interval": 1, "nth": [[6, "mon"]]}, "`nth`"),
    ({"every": "month", "interval": 1, "nth": [[1]]}, "`nth`"),
    ({"every": "month", "interval": 1, "nth": [1, "mon"]}, "`nth`"),
    ({"every": "month", "interval": 1, "nth": [[1, 1]]}, "`nth`"),
    ({"every": "year", "interval": 1, "monthdays": [1]}, "`month`"),
    ({"every": "year", "interval": 1, "month": 13, "monthdays": [1]}, "`month`"),
]
MISSPELT: list[tuple[Any, str]] = [
    ({"every": "day", "interval": 1, "at": "09:00"}, "no key 'at'"),
    ({"every": "day", "interval": 1, "days": ["mon"]}, "no key 'days'"),
    ({"every": "month", "interval": 1, "month": 1, "monthdays": [1]}, "no key 'month'"),
    ({"every": "week", "interval": 1, "days": ["tue", "mon"]}, "out of order"),
    ({"every": "week", "interval": 1, "days": ["mon", "mon"]}, "out of order"),
    ({"every": "month", "interval": 1, "monthdays": [-1, 1]}, "out of order"),
    ({"every": "month", "interval": 1, "nth": [[-1, "mon"], [1, "mon"]]}, "out of order"),
]


@pytest.mark.parametrize(("rule", "reason"), BROKEN + MISSPELT, ids=repr)
def test_only_a_rule_in_its_one_spelling_may_be_written(rule: Any, reason: str) -> None:
    with pytest.raises(BadInput, match="not a rule") as raised:
        check(rule)
    assert reason in raised.value.message


@pytest.mark.parametrize("rule", [rule for rule, _ in BROKEN], ids=repr)
def test_a_rule_that_cannot_be_read_leaves_a_reminder_that_is_due_once(rule: Any) -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert not readable(rule)
    assert list(occurrences("2020-01-01T09:00", rule)) == ["2020-01-01T09:00"]
    assert current("2020-01-01T09:00", rule, "UTC", now) == "2020-01-01T09:00"
    assert current("2020-01-01T09:00", rule, "UTC", now, {"2020-01-01T09:00"}.__contains__) is None
    assert describe(rule) == "repeats in a way this version cannot read"


def test_keys_of_newer_versions_are_passed_over_and_mentioned() -> None:
    rule = {"days": ["mon"], "every": "week", "interval": 1, "until": "2027-01-01"}
    assert readable(rule)
    assert next_after("2026-11-30T09:00", rule, "2026-11-30T09:00") == "2026-12-07T09:00"
    assert describe(rule) == "every Monday (and more that this version cannot read)"
    with pytest.raises(BadInput, match="no key 'until'"):
        check(rule)


# --- the times, by example ---------------------------------------------------------------------------------------


def _first(count: int, first: str, **parts: Any) -> list[str]:
    return [at.removesuffix("T09:00") for at in islice(occurrences(first + "T09:00", make(**parts)), count)]


def test_occurrences_by_example() -> None:
    assert _first(3, "2026-12-04", every="week", interval=2, days=["fri"]) == ["2026-12-04", "2026-12-18", "2027-01-01"]
    # every 2 weeks counts weeks from Monday, also for the days before the first due one
    two = _first(4, "2026-12-04", every="week", interval=2, days=["mon", "fri"])
    assert two == ["2026-12-04", "2026-12-14", "2026-12-18", "2026-12-28"]
    short = _first(4, "2027-01-31", every="month", monthdays=[31])
    assert short == ["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"]
    assert _first(4, "2027-01-30", every="month", monthdays=[30, 31, -1])[2:] == ["2027-02-28", "2027-03-30"]
    last = _first(3, "2026-11-27", every="month", nth=[(-1, "fri")])
    assert last == ["2026-11-27", "2026-12-25", "2027-01-29"]
    fifth = _first(3, "2026-10-30", every="month", nth=[(5, "fri")])
    assert fifth == ["2026-10-30", "2027-01-29", "2027-04-30"]
    workday = _first(3, "2027-01-29", every="month", nth=[(-1, "weekday")])
    assert workday == ["2027-01-29", "2027-02-26", "2027-03-31"]
    leap = _first(4, "2027-02-28", every="year", month=2, monthdays=[29])
    assert leap == ["2027-02-28", "2028-02-29", "2029-02-28", "2030-02-28"]
    assert _first(3, "2026-11-30", every="day", interval=3) == ["2026-11-30", "2026-12-03", "2026-12-06"]
    hours = list(islice(occurrences("2026-11-30T22:30", make("hour", 2)), 3))
    assert hours == ["2026-11-30T22:30", "2026-12-01T00:30", "2026-12-01T02:30"]
    seconds = list(islice(occurrences("2026-11-30T22:30:15", make("minute", 30)), 2))
    assert seconds == ["2026-11-30T22:30:15", "2026-11-30T23:00:15"]


def test_a_first_due_time_off_the_rule_counts_once() -> None:
    assert _first(3, "2026-12-01", every="week", days=["fri"]) == ["2026-12-01", "2026-12-04", "2026-12-11"]


def test_time_ends_with_the_year_8999() -> None:
    for unit in ("minute", "hour", "day"):
        assert list(occurrences("8999-12-31T23:59", make(unit))) == ["8999-12-31T23:59"]
    assert _first(9, "8999-12-20", every="week", days=["mon"]) == ["8999-12-20", "8999-12-23", "8999-12-30"]
    assert _first(9, "8999-11-30", every="month", monthdays=[30]) == ["8999-11-30", "8999-12-30"]
    assert _first(9, "8998-02-01", every="year", month=2, monthdays=[1]) == ["8998-02-01", "8999-02-01"]
    # a February with five Mondays never comes in these years: the search for it ends all the same
    assert _first(9, "8990-02-01", every="year", interval=5, month=2, nth=[(5, "mon")])[1:] == []
    far = datetime(9500, 1, 1, tzinfo=UTC)
    assert current("2026-01-01T09:00", make("day"), "UTC", far) == "8999-12-31T09:00"


def _current(now: str, *closed: str, zone: str = "UTC") -> str | None:
    rule = make("week", days=["mon"])
    return current("2026-11-02T09:00", rule, zone, datetime.fromisoformat(now), set(closed).__contains__)


def test_a_reminder_stands_at_the_latest_that_has_come_or_else_at_the_next() -> None:
    assert _current("2026-11-01T00:00Z") == "2026-11-02T09:00"
    assert _current("2026-11-02T09:00Z") == "2026-11-02T09:00"
    assert _current("2026-11-25T09:00Z") == "2026-11-23T09:00"  # three Mondays missed, one entry
    assert _current("2026-11-25T09:00Z", "2026-11-23T09:00") == "2026-11-30T09:00"  # and dismissed with it
    assert _current("2026-11-30T09:00Z", "2026-11-23T09:00") == "2026-11-30T09:00"
    ahead = ("2026-11-23T09:00", "2026-11-30T09:00", "2026-12-07T09:00")
    assert _current("2026-11-25T09:00Z", *ahead) == "2026-12-14T09:00"
    assert _current("2026-11-30T08:00Z", zone="Europe/Berlin") == "2026-11-30T09:00"
    assert _current("2026-11-30T07:59Z", zone="Europe/Berlin") == "2026-11-23T09:00"


def test_closed_for_ever_is_none_and_ends() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert current("2026-11-02T09:00", make("minute"), "UTC", now, lambda _: True) is None
    assert current("2026-11-02T09:00", None, "UTC", now, lambda _: True) is None
    assert current("2026-11-02T09:00", None, "UTC", now) == "2026-11-02T09:00"
    assert current("no time", make("day"), "UTC", now) == "no time"
    assert current("no time", make("day"), "UTC", now, lambda _: True) is None


def test_an_unknown_zone_does_not_stop_a_reminder() -> None:
    now = datetime(2026, 11, 30, 10, tzinfo=UTC)
    assert current("2026-11-02T09:00", make("day"), "Mars/Phobos", now) == "2026-11-30T09:00"


def test_the_hour_that_clocks_skip_or_repeat() -> None:
    nightly = make("day")
    skipped = "2026-03-29T02:30"  # comes at 03:30 summer time, 01:30 UTC
    minute = timedelta(minutes=1)
    comes = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert current("2026-03-01T02:30", nightly, "Europe/Berlin", comes - minute) == "2026-03-28T02:30"
    assert current("2026-03-01T02:30", nightly, "Europe/Berlin", comes) == skipped
    twice = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 for the first time
    assert current("2026-10-01T02:30", nightly, "Europe/Berlin", twice - minute) == "2026-10-24T02:30"
    for later in (0, 59, 60, 61):
        now = twice + later * minute
        assert current("2026-10-01T02:30", nightly, "Europe/Berlin", now) == "2026-10-25T02:30"


def test_the_distance_from_the_first_due_time_costs_nothing() -> None:
    """A minutely reminder of 56 years has 29 million occurrences: going through them once takes many seconds."""
    now = datetime(2026, 11, 30, 10, 0, 30, tzinfo=UTC)
    began = time.monotonic()
    for _ in range(200):
        assert current("1970-01-01T00:00", make("minute"), "Europe/Berlin", now) == "2026-11-30T11:00"
        assert current("1970-01-01T09:00", make("day"), "Europe/Berlin", now) == "2026-11-30T09:00"
        assert next_after("1970-01-01T09:00", make("month", monthdays=[-1]), "2026-11-30T09:00") == "2026-12-31T09:00"
        assert latest("1970-01-01T09:00", make("week", days=["mon"]), "8999-12-31T00:00") == "8999-12-30T09:00"
    assert time.monotonic() - began < 2


# --- the times, against a plain search ---------------------------------------------------------------------------

_DAY_NAMES = st.sampled_from(DAYS)
_PLACES = st.one_of(
    st.fixed_dictionaries({"monthdays": st.sets(st.sampled_from([*range(1, 32), -1]), min_size=1, max_size=3)}),
    st.fixed_dictionaries(
        {
            "nth": st.sets(
                st.tuples(st.sampled_from([1, 2, 3, 4, 5, -1]), st.sampled_from([*DAYS, "weekday"])),
                min_size=1,
                max_size=3,
            )
        }
    ),
)


@st.composite
def _rules(draw: st.DrawFn, units: tuple[str, ...] = UNITS) -> Rule:
    unit = draw(st.sampled_from(units))
    parts: dict[str, Any] = {}
    if unit == "week":
        parts["days"] = draw(st.sets(_DAY_NAMES, min_size=1))
    elif unit in ("month", "year"):
        parts = dict(draw(_PLACES))
        if unit == "year":
            parts["month"] = draw(st.integers(1, 12))
    most = {"minute": 600, "hour": 50, "year": 3}.get(unit, 5)
    return make(unit, draw(st.integers(1, most)), **parts)


_FIRSTS = st.datetimes(datetime(2019, 1, 1), datetime(2028, 12, 31)).map(lambda at: nominal(at.replace(second=0)))


def _fits(rule: Rule, first: datetime, day: date) -> bool:
    """Whether a calendar day fits, told from the meaning of the rule and not by its arithmetic."""
    start, step = first.date(), rule["interval"]
    length = calendar.monthrange(day.year, day.month)[1]
    if rule["every"] == "day":
        return (day - start).days % step == 0
    if rule["every"] == "week":
        weeks = (day - timedelta(days=day.weekday()) - start + timedelta(days=start.weekday())).days // 7
        return weeks % step == 0 and DAYS[day.weekday()] in rule["days"]
    if rule["every"] == "year" and (day.month != rule["month"] or (day.year - start.year) % step):
        return False
    if rule["every"] == "month" and (day.year * 12 + day.month - start.year * 12 - start.month) % step:
        return False
    if "monthdays" in rule:
        return any(day.day == (length if n == -1 else min(n, length)) for n in rule["monthdays"])
    for n, name in rule["nth"]:
        same = [
            d
            for d in range(1, length + 1)
            if name == DAYS[(w := date(day.year, day.month, d).weekday())] or (name == "weekday" and w < 5)
        ]
        if (n == -1 and day.day == same[-1]) or (n > 0 and day.day in same and same.index(day.day) == n - 1):
            return True
    return False


def _search(rule: Rule, first: str, until: datetime) -> list[str]:
    """Every occurrence up to `until`, by looking at each day, or each minute, in turn."""
    start = read_nominal(first)
    if rule["every"] in ("minute", "hour"):
        step = timedelta(minutes=rule["interval"] * (60 if rule["every"] == "hour" else 1))
        return [nominal(start + n * step) for n in range((until - start) // step + 1)]
    days = (start + timedelta(days=n) for n in range(max((until - start).days + 1, 0)))
    return [nominal(at) for at in days if at <= until and (at == start or _fits(rule, start, at.date()))]


def _horizon(rule: Rule) -> timedelta:
    return {"minute": timedelta(days=4), "hour": timedelta(days=40)}.get(rule["every"], timedelta(days=1100))


@_SETTINGS
@given(_rules(), _FIRSTS)
def test_occurrences_are_those_of_a_search_and_strictly_increasing(rule: Rule, first: str) -> None:
    until = read_nominal(first) + _horizon(rule)
    found = list(takewhile(lambda at: read_nominal(at) <= until, islice(occurrences(first, rule), 10_000)))
    assert found == _search(rule, first, until)
    assert all(one < two for one, two in pairwise(found))


@_SETTINGS
@given(_rules(), _FIRSTS, st.floats(-0.1, 0.9))
def test_a_jump_lands_where_a_search_does(rule: Rule, first: str, share: float) -> None:
    horizon = _horizon(rule)
    at = nominal((read_nominal(first) + share * horizon).replace(microsecond=0))
    known = _search(rule, first, read_nominal(first) + horizon)
    assert latest(first, rule, at) == max((known_at for known_at in known if known_at <= at), default=None)
    after = next_after(first, rule, at)
    expected = min((known_at for known_at in known if known_at > at), default=None)
    assert after == expected or (
        expected is None and after is not None and after > nominal(read_nominal(first) + horizon)
    )


@_SETTINGS
@given(_rules(("day", "week", "month", "year")), _FIRSTS)
def test_the_first_match_is_the_first_day_that_fits(rule: Rule, start: str) -> None:
    once = {**rule, "interval": 1}
    begin = read_nominal(start)
    days = (begin + timedelta(days=n) for n in range(366 * 9))
    expected = next((nominal(at) for at in days if _fits(once, begin, at.date())), None)
    found = first_match(rule, start)
    assert found == expected or expected is None


# Half an hour of summer time, a day that was left out, 45 minutes, and a change at midnight.
_ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Asia/Kathmandu",
    "Asia/Beirut",
]
_CHANGES = {
    "Europe/Berlin": ["2026-03-29T01:00", "2026-10-25T01:00"],
    "America/New_York": ["2026-03-08T07:00", "2026-11-01T06:00"],
    "Australia/Lord_Howe": ["2026-04-04T15:00", "2026-10-03T15:30"],
    "Pacific/Apia": ["2011-12-30T10:00"],
    "Asia/Beirut": ["2026-03-28T22:00", "2026-10-24T21:00"],
}


@st.composite
def _moments(draw: st.DrawFn) -> tuple[str, datetime]:
    """A zone and a moment, most often within a day of a change of its clocks."""
    zone = draw(st.sampled_from(_ZONES))
    if zone in _CHANGES and draw(st.integers(0, 3)):
        change = datetime.fromisoformat(draw(st.sampled_from(_CHANGES[zone])) + "+00:00")
        return zone, change + timedelta(minutes=draw(st.integers(-30 * 60, 30 * 60)))
    return zone, draw(st.datetimes(datetime(2019, 1, 1), datetime(2028, 12, 31), timezones=st.just(UTC)))


@settings(_SETTINGS, max_examples=600)
@given(_rules(), _moments(), st.floats(0, 0.9), st.integers(0, 1439), st.sets(st.integers(-3, 4)))
def test_the_current_occurrence_is_that_of_a_plain_iteration(
    rule: Rule, at: tuple[str, datetime], share: float, minute: int, closed_ones: set[int]
) -> None:
    zone, now = at
    back = share * _horizon(rule)
    start = (now.replace(tzinfo=None) - back).replace(hour=minute // 60, minute=minute % 60, second=0, microsecond=0)
    first = nominal(start)
    known = _search(rule, first, now.replace(tzinfo=None) + _horizon(rule))
    assume(known)
    come = [name for name in known if to_utc(name, zone) <= now]
    place = known.index(come[-1]) if come else 0
    closed = {known[place + n] for n in closed_ones if 0 <= place + n < len(known)}
    if come and come[-1] not in closed:
        expected = come[-1]
    else:
        expected = next((name for name in known if name not in closed and to_utc(name, zone) > now), "")
    found = current(first, rule, zone, now, closed.__contains__)
    assert found == expected or (not expected and (found is None or found > known[-1]))


@_SETTINGS
@given(_rules())
def test_the_time_language_reads_every_description_back(rule: Rule) -> None:
    now = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
    assert parse_when(describe(rule), now, "UTC").rule == rule
    if rule["every"] not in ("minute", "hour"):
        when = parse_when(f"{describe(rule)} at 15:30", now, "UTC")
        assert when.rule == rule
        assert when.due.endswith("T15:30")
        assert _fits({**rule, "interval": 1}, now, read_nominal(when.due).date())
