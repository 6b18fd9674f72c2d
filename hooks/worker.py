"""What a hook leaves to a process of its own: understanding, what earlier sessions left unfinished, and syncing.

Each step is a line in the log of invocations, and none keeps the next from its turn.
"""

from __future__ import annotations

import time

from mait_code.hooks.detaching import LONGEST
from mait_code.journal.errors import MaitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.workspace import Workspace

#: Seconds that are left for the last step when the others have taken theirs.
_RESERVE = 30


def finish(path: str, reason: str | None) -> None:
    """After a session's record: read what the hook left, have it understood, and sync."""
    from mait_code.commands.workspace import Workspace

    began = time.monotonic()
    with Workspace.open() as ws:
        _step("worker record", lambda: _record(ws, path, reason))
        _step("worker understand", lambda: _understand(ws, path, began))
        _step("worker sync", lambda: _sync(ws))


def tidy(synced: Callable[[], None] = lambda: None) -> None:
    """At a session's start: sync, tell `synced` that this is done, and complete what was never finished."""
    from mait_code.commands.workspace import Workspace

    began = time.monotonic()
    with Workspace.open() as ws:
        _step("worker sync", lambda: _sync(ws))
        synced()
        _step("worker bridge", lambda: _bridge(ws))
        _step("worker tidy", lambda: _complete(ws, began))


def _record(ws: Workspace, path: str, reason: str | None) -> None:
    import os

    from mait_code.commands.capture import recording

    if os.path.isfile(path):  # the client keeps none of some sessions
        recording.record(ws, path, reason=reason)


def _complete(ws: Workspace, began: float) -> None:
    from mait_code.commands import understanding
    from mait_code.commands.capture import beginnings

    beginnings.complete_unfinished(ws)
    for path in beginnings.not_handed_over(ws):
        if _understand(ws, path, began) in ("budget", "nobody", "time"):
            break  # as it would for all of them
    understanding.take_up(ws, budget_seconds=_left(began))


def _understand(ws: Workspace, path: str, began: float) -> str:
    """Have a transcript understood. Returns what came of it (commands/understanding/run.py names the states)."""
    from mait_code.commands import understanding
    from mait_code.commands.capture import beginnings, cursors

    size = cursors.load(ws.home, path).size
    state = understanding.understand(ws, path, budget_seconds=_left(began), others=False).state
    if state != "busy":
        beginnings.hand_over(ws, path, size)
    return state


def _left(began: float) -> float:
    """Seconds there are for a model."""
    return LONGEST - _RESERVE - (time.monotonic() - began)


def _sync(ws: Workspace) -> None:
    from mait_code.journal import settings

    if settings.value("auto-sync"):
        from mait_code.commands import exchange

        exchange.sync(ws)


def _bridge(ws: Workspace) -> None:
    from mait_code.commands import bridge

    bridge.run_once(ws)


def _step(name: str, work: Callable[[], object]) -> None:
    from mait_code.commands import invocations

    began, outcome, fault = time.monotonic(), "ok", ""
    try:
        work()
    except MaitError as error:
        outcome, fault = "failed", type(error).__name__
    except Exception as error:  # nobody is there to see it, and the next step has its turn
        outcome, fault = "crashed", type(error).__name__
        invocations.write_traceback(error)
    invocations.record(name, time.monotonic() - began, outcome, 0, fault)
