"""What models took, in tokens by local day: one line for each attempt, appended to a file of the state directory.

Appending is one write, so several processes at once lose nothing, and one that is killed leaves whole lines.
"""

from __future__ import annotations

import os
import time

import orjson

from mait_code.journal.errors import MaitError
from mait_code.journal.home import PRIVATE_FILE, make_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home

__all__ = ["limit", "limit_reached", "note", "spent_on", "spent_today"]

_DIRECTORY = "spending"
#: Days of which it is kept.
_KEPT = 62


def note(home: Home, tokens: tuple[int, int], model: str) -> None:
    """Record an attempt. A disk that refuses costs the record, not the answer."""
    line = orjson.dumps({"at": int(time.time()), "in": tokens[0], "out": tokens[1], "model": model}) + b"\n"
    folder = home.in_state(_DIRECTORY)
    try:
        make_directory(folder)
        name = os.path.join(folder, f"{_today()}.jsonl")
        is_new = not os.path.exists(name)
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
        if is_new:
            _forget(folder)
    except (OSError, MaitError):
        return


def _forget(folder: str) -> None:
    for name in sorted(os.listdir(folder))[:-_KEPT]:
        os.unlink(os.path.join(folder, name))


def spent_today(home: Home) -> int:
    """Tokens of this local day, in and out."""
    return spent_on(home, _today())


def spent_on(home: Home, day: str) -> int:
    """Tokens of a local day (2026-11-30), in and out."""
    try:
        with open(os.path.join(home.in_state(_DIRECTORY), f"{day}.jsonl"), "rb") as file:
            rows = file.read().splitlines()
    except OSError:
        return 0
    total = 0
    for row in rows:
        try:
            held = orjson.loads(row)
            total += int(held["in"]) + int(held["out"])
        except (ValueError, TypeError, LookupError):
            continue
    return total


def limit() -> int:
    """Tokens that a day may take by itself: the setting `llm-daily-tokens`."""
    from mait_code.journal import settings

    return int(settings.value("llm-daily-tokens"))


def limit_reached(home: Home) -> bool:
    """Whether this day's tokens are spent."""
    return spent_today(home) >= limit()


def _today() -> str:
    return time.strftime("%Y-%m-%d")
