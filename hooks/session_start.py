"""`mc-hook-session-start`: say what matters, and see to what earlier sessions left undone."""

from __future__ import annotations

from mait_code.hooks import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mait_code.hooks.payload import Payload


def main() -> NoReturn:
    """The program's entry."""
    running.run("hook session-start", start)


def start(given: Payload) -> dict[str, Any] | None:
    """The session's context, as the client takes it; None where there is nothing to say."""
    from mait_code.commands import context, session_cards
    from mait_code.commands.capture import beginnings, policy
    from mait_code.commands.workspace import Workspace
    from mait_code.hooks import worker
    from mait_code.hooks.detaching import detach

    source = given.text("source") or "startup"
    with Workspace.open() as ws:
        if given.transcript and policy.capture_in(given.directory) != "off":
            beginnings.note(ws, given.transcript, given.session, source)
        if given.session:
            session_cards.rebind(ws, given.session, source, directory=given.directory)
        text = context.build(
            ws,
            session=given.session,
            directory=given.directory,
            source=source,
            idle=given.number("seconds_since_last_response"),
        ).text
    detach(lambda: worker.tidy(given.directory))
    if not text:
        return None
    return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
