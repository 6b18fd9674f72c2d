"""Times as memory commands take them: how long ago, a date, or a moment."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from mait_code.journal import clock
from mait_code.journal.errors import BadInput

_AGO = re.compile(r"(\d{1,6})\s*(h|d|w|m|y)", re.ASCII)
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


def moment(text: str) -> int:
    """Microseconds since 1970 of an ISO 8601 time; one without a zone is local. Raises BadInput."""
    try:
        found = datetime.fromisoformat(text.strip())
        micros = clock.micros_of(found if found.tzinfo is not None else found.astimezone())
    except (ValueError, OverflowError, OSError) as error:
        raise BadInput(f"{text!r} is no time", "write 2026-11-30T15:21:00, with a zone if it is not yours") from error
    if not 0 <= micros <= clock.LAST_MICROS:
        raise BadInput(f"{text!r} is out of range", "years from 1970 to 8999 can be stored")
    return micros


def past(text: str) -> tuple[int, list[str]]:
    """The same for the time of something to be stored, and what was changed about it, in words: a time of the future would
    stand above everything for ever, and lift the clock of every machine that hears of it."""
    found, now = moment(text), clock.wall()
    return (found, []) if found <= now else (now, [f"its date {text.strip()} is in the future: dated now"])


def since(text: str | None) -> str | None:
    """The UTC time that `24h`, `7d`, `1w`, a date or a moment names, as entries carry it. Raises BadInput."""
    if text is None:
        return None
    ago = _AGO.fullmatch(text.strip().lower())
    if ago:
        back = timedelta(days=int(ago[1]) * _UNITS[ago[2]])
        return clock.text(clock.wall() - back // timedelta(microseconds=1))
    try:
        return clock.text(moment(text))
    except BadInput as error:
        raise BadInput(f"{text!r} is no time", "write 24h, 7d, 1w, a date (2026-11-30) or a moment") from error
