"""`mc-hook-file-context`: what is known of a file, when it is read. Off unless `file-context` is on.

The read itself is never changed and never allowed or refused: the client decides that as if we were not there.
"""

from __future__ import annotations

import os

from mait_code.hooks import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mait_code.hooks.payload import Payload

#: So many things are told of a file.
_MOST = 5


def main() -> NoReturn:
    """The program's entry."""
    running.run("hook file-context", add)


def add(given: Payload) -> dict[str, Any] | None:
    """What is known of the file, as the client takes it."""
    from mait_code.journal import settings

    path = given.inside("tool_input").text("file_path")
    if not path or not settings.value("file-context") or given.text("agent_id"):
        return None
    from mait_code.commands import project
    from mait_code.commands.memory_search import Asked, Meanings, search_all
    from mait_code.commands.workspace import Workspace
    from mait_code.hooks.told import told

    name = _from(given.directory, path)
    with Workspace.open() as ws:
        asked = Asked(
            limit=_MOST, mode="fts", kinds=("observation", "summary"), file=name, project=project.here(given.directory)
        )
        found = search_all(ws, [os.path.basename(path)], asked, Meanings(ws))[0]
        text = told(ws, found)
    if not text:
        return None
    said = f"Earlier work on {name} (mait-code memory timeline ID tells more):\n{text}"
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": said}}


def _from(directory: str, path: str) -> str:
    """The file as records name it: from the directory where it is in there."""
    inside = os.path.join(directory, "")
    return path[len(inside) :] if path.startswith(inside) else os.path.basename(path)
