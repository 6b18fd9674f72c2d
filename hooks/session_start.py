"""`mc-hook-session-start`: say what matters, and see to what earlier sessions left undone."""

from __future__ import annotations

import os

from mait_code.hooks import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mait_code.commands.workspace import Workspace
    from mait_code.hooks.payload import Payload

#: Set by the plug-in's launcher: nothing imports the user's documents then, so they are told here.
_PLUGIN = "MAIT_CODE_PLUGIN"
#: Where a sync is waited for, and how many seconds at most: whoever goes on a moment later was told already.
_BEGINS, _PATIENCE = ("startup", "resume", "fork"), 3.0
#: Characters that the client takes at most, with some to spare.
_MOST = 9800


def main() -> NoReturn:
    """The program's entry."""
    running.run("hook session-start", start)


def start(given: Payload) -> dict[str, Any] | None:
    """The session's context, as the client takes it; None where there is nothing to say."""
    from mait_code.commands.workspace import Workspace
    from mait_code.journal import settings

    source = given.text("source") or "startup"
    waits = source in _BEGINS and bool(settings.value("auto-sync"))
    with Workspace.open() as ws:
        _note(ws, given, source)
        text = "" if waits else _context(ws, given, source)
    _tidy(waits)
    if waits:
        with Workspace.open() as ws:
            text = _context(ws, given, source)
    if not text:
        return None
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}


def _note(ws: Workspace, given: Payload, source: str) -> None:
    from mait_code.commands import session_cards
    from mait_code.commands.capture import beginnings, policy

    if given.transcript and policy.capture_in(given.directory) != "off":
        beginnings.note(ws, given.transcript)
    if given.session:
        session_cards.rebind(ws, given.session, source, directory=given.directory)


def _context(ws: Workspace, given: Payload, source: str) -> str:
    from mait_code.commands import context
    from mait_code.commands.install import record

    text = context.build(
        ws,
        session=given.session,
        directory=given.directory,
        source=source,
        idle=given.number("seconds_since_last_response"),
        notices=[notice] if (notice := record.older_than_program()) else (),
    ).text
    if os.environ.get(_PLUGIN) and source not in ("resume", "fork"):
        text = _with_documents(ws.home.data, text)
    return text


def _tidy(waits: bool) -> None:
    """Start the worker. It syncs first, and is waited for until then: the other machine's last session is what matters most
    to the first one here."""
    from mait_code.hooks import worker
    from mait_code.hooks.detaching import detach

    if not waits:
        detach(worker.tidy)
        return
    import select

    ours, its = os.pipe()
    detach(lambda: worker.tidy(lambda: os.close(its)), keeps=its)
    os.close(its)
    select.select([ours], [], [], _PATIENCE)  # until the worker closes its end, or is gone
    os.close(ours)


def _with_documents(data_dir: str, text: str) -> str:
    from mait_code.commands.context_text import units
    from mait_code.commands.install import identity

    documents = identity.spoken(data_dir, _MOST - units(text) - 2)
    return "\n\n".join(part for part in (documents, text) if part)
