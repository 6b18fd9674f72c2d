"""`mc-hook-observe --trigger stop|precompact|session-end`: record what was done, from the transcript."""

from __future__ import annotations

import os
import sys

from mait_code.hooks import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from mait_code.hooks.payload import Payload

#: New bytes of a transcript that are read before the hook returns; more are left to the worker.
_AT_ONCE = 4 * 1024 * 1024
#: Triggers after which a model is asked, by the worker.
_UNDERSTANDS = ("precompact", "session-end")


def main() -> NoReturn:
    """The program's entry."""
    running.run(f"hook observe {trigger()}", lambda given: observe(given, trigger()))


def trigger() -> str:
    """What `--trigger` names; stop where it names nothing known. Arguments never make a hook fail."""
    given = sys.argv[1:]
    for at, one in enumerate(given):
        name = one.partition("=")[2] if one.startswith("--trigger=") else ""
        if one == "--trigger" and at + 1 < len(given):
            name = given[at + 1]
        if name in ("stop", *_UNDERSTANDS):
            return name
    return "stop"


def observe(given: Payload, trigger: str) -> None:
    """Record the turns that are over, in this process where they are few; and start the worker where there is more to do."""
    from mait_code.commands.capture import policy

    path = given.transcript
    if not path or policy.capture_in(given.directory) == "off":
        return
    reason = (given.text("reason") or "other") if trigger == "session-end" else None
    goes_on = trigger in _UNDERSTANDS
    left = not _recorded_here(path, reason, given.text("last_assistant_message"), folds=not goes_on)
    if left or goes_on:
        from mait_code.hooks import worker
        from mait_code.hooks.detaching import detach

        detach(lambda: worker.finish(path, reason if left else None))


def _recorded_here(path: str, reason: str | None, answer: str, folds: bool) -> bool:
    """Record now what is little. False where it is left to the worker. The store is left to it where there will be one."""
    from mait_code.commands.capture import cursors, recording
    from mait_code.commands.workspace import Workspace

    with Workspace.open() as ws:
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            return True  # the client keeps no transcript of this session, or nothing was asked
        if size - cursors.load(ws.home, path).place > _AT_ONCE:
            return False
        recording.record(ws, path, reason=reason, answer=answer, hurried=True, folds=folds)
    return True


if __name__ == "__main__":
    main()
