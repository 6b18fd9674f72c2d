"""The hybrid logical clock (Kulkarni et al., "Logical Physical Clocks", 2014), in UTC microseconds.

`at` is never smaller than anything its writer had seen, so an event that answers another always sorts behind it, however
wrong either machine's wall clock is. What people are shown is the wall clock: `wall` where it differs from `at`.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

FIRST = "1970-01-01T00:00:00.000000Z"
LAST = "8999-12-31T23:59:59.999999Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Seconds that were written lately, as text.
_SECONDS: dict[int, str] = {}
_MOST_SECONDS = 1000
LAST_MICROS = 221_845_391_999_999_999
SECOND = 1_000_000

_FORM = re.compile(
    r"(?:19[789]\d|[2-8]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z",
    re.ASCII,
)


def valid(at: object) -> bool:
    """Whether `at` is exactly the 27 characters of a real UTC instant between 1970 and 8999."""
    if type(at) is not str or not _FORM.fullmatch(at):
        return False
    if at[8:10] > "28":
        try:
            datetime.fromisoformat(at)
        except ValueError:
            return False
    return True


def text(micros: int) -> str:
    """Microseconds since 1970 as the 27 characters of the log; clamped to the years the log can hold."""
    if micros < 0:
        return FIRST
    if micros >= LAST_MICROS:
        return LAST
    seconds, rest = divmod(micros, SECOND)
    if seconds not in _SECONDS:  # many stamps at once are of few seconds
        if len(_SECONDS) >= _MOST_SECONDS:
            _SECONDS.clear()
        _SECONDS[seconds] = f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}"
    return f"{_SECONDS[seconds]}.{rest:06d}Z"


def micros(at: str) -> int:
    """The inverse of `text`."""
    return micros_of(datetime.fromisoformat(at))


def micros_of(moment: datetime) -> int:
    """Microseconds since 1970 of a time that has a zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def wall() -> int:
    """The machine's wall clock in microseconds since 1970."""
    return time.time_ns() // 1000


def tick(now: int, own: int, seen: int) -> int:
    """The next event's time: the wall clock, lifted above this replica's last event and everything seen."""
    return min(max(now, own + 1, seen + 1, 0), LAST_MICROS)
