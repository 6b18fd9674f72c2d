"""`mc-hook-prompt`: add the few memories that match a prompt. Off unless `inject-on-prompt` is on; by words only, no model."""

from __future__ import annotations

from mait_code.hooks import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mait_code.hooks.payload import Payload

#: So many memories are told, and so many characters of the prompt looked for.
_MOST, _LONGEST = 4, 1000
#: Shorter prompts say too little to look for ("yes", "go on").
_SHORTEST = 12


def main() -> NoReturn:
    """The program's entry."""
    running.run("hook prompt", add)


def add(given: Payload) -> dict[str, Any] | None:
    """What matches the prompt, as the client takes it."""
    from mait_code.journal import settings

    asked = given.text("prompt").strip()
    if not settings.value("inject-on-prompt") or len(asked) < _SHORTEST or asked.startswith(("/", "<")):
        return None
    from mait_code.commands import project
    from mait_code.commands.memory_search import Asked, Meanings, search_all
    from mait_code.commands.workspace import Workspace
    from mait_code.hooks.told import told

    with Workspace.open() as ws:
        wanted = Asked(limit=_MOST, mode="fts", kinds=("memory",), project=project.here(given.directory))
        text = told(ws, search_all(ws, [asked[:_LONGEST]], wanted, Meanings(ws))[0])
    if not text:
        return None
    said = f"Stored memories that share words with this prompt (mait-code memory show ID opens one):\n{text}"
    return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": said}}
