"""`mc-statusline`: what the user's own status line says, and behind it what waits: reminders, cards, thoughts.

`mc-statusline [COMMAND ...]` runs the command that was configured before, with the same input, and adds to its first line.
"""

from __future__ import annotations

import os
import sys

from mait_code.hooks import payload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from mait_code.hooks.payload import Payload

#: Seconds the user's own command may take: the client runs this after every answer.
_PATIENCE = 5


def main() -> NoReturn:
    """The program's entry."""
    given = payload.read_stdin()
    lines = _own(sys.argv[1:], given)
    try:
        counts = _counts(payload.read(given))
    except Exception as error:  # a status line is never worth a trace in the user's terminal
        from mait_code.commands import invocations

        counts = ""
        invocations.record("statusline", 0, "crashed", 0, type(error).__name__)
    if counts:
        lines[0] = f"{lines[0]} │ {counts}" if lines[0] else counts
    os.write(1, ("\n".join(lines) + "\n").encode("utf-8", "replace"))
    os._exit(0)


def _own(command: list[str], given: bytes) -> list[str]:
    """What the user's command prints; nothing where it fails or takes too long."""
    if not command:
        return [""]
    import subprocess

    try:
        done = subprocess.run(
            command if len(command) > 1 else ["/bin/sh", "-c", command[0]],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return [""]
    return done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n")


def _counts(given: Payload) -> str:
    from datetime import datetime

    from mait_code.commands import project
    from mait_code.commands.workspace import Workspace
    from mait_code.projections import inbox_queries, reminder_queries

    with Workspace.open() as ws:
        here = project.here(given.inside("workspace").text("project_dir") or given.directory)
        active = (
            ws.board.value("SELECT count(*) FROM cards WHERE status = 'in_progress' AND project IS ?", (here,)) or 0
        )
        caught = inbox_queries.count(ws.inbox)
        due = len(reminder_queries.overdue(ws.reminders, datetime.now().astimezone()))
    shown = ((due, "⏰"), (active, "▶"), (caught, "✎"))
    return " ".join(f"{sign}{count}" for count, sign in shown if count)
