"""The outermost frame of every hook: it always ends with 0, and prints nothing or one JSON document.

What goes wrong is one line in the log of invocations, and no session ever fails for it.
"""

from __future__ import annotations

import os
import sys
import time

import orjson

from mait_code.hooks import payload
from mait_code.journal.errors import DiskRefused, MaitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from mait_code.hooks.payload import Payload

    #: A hook's work: it may answer with the object that is printed.
    Work = Callable[[Payload], dict[str, Any] | None]

#: One session without us; also set for clients that we start ourselves.
QUIET = "MAIT_CODE_QUIET"


def run(name: str, work: Work) -> NoReturn:
    """Run a hook and end the process."""
    started = time.monotonic()
    outcome, fault = "ok", ""
    try:
        given = payload.read_stdin()
        if not os.environ.get(QUIET):
            answer = work(payload.read(given))
            if answer is not None:
                _print(orjson.dumps(answer) + b"\n")
    except BaseException as error:  # whatever it is, the session goes on
        outcome, fault = _outcome(error), type(error).__name__
        if outcome == "crashed":
            _keep_traceback(error)
    _log(name, started, outcome, fault)
    os._exit(0)


def _print(answer: bytes) -> None:
    while answer:
        answer = answer[os.write(1, answer) :]


def _outcome(error: BaseException) -> str:
    if isinstance(error, (DiskRefused, OSError)):
        return "disk"
    return "failed" if isinstance(error, (MaitError, KeyboardInterrupt, SystemExit)) else "crashed"


def _keep_traceback(error: BaseException) -> None:
    try:
        from mait_code.commands.invocations import write_traceback

        write_traceback(error)
    except Exception as second:  # there is nothing left to tell it to but the client's debug log
        sys.stderr.write(f"mait-code: {type(second).__name__}\n")


def _log(name: str, started: float, outcome: str, fault: str) -> None:
    try:
        from mait_code.commands import invocations

        invocations.record(name, time.monotonic() - started, outcome, 0, fault)
    except Exception as error:  # the same
        sys.stderr.write(f"mait-code: {type(error).__name__}\n")
