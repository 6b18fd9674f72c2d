"""What board and inbox commands have in common at their end, and how they tell times."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

__all__ = ["close", "local_time"]


def close(ws: Workspace, out: Output, notes: Iterable[str] = ()) -> None:
    """What a command says at its end, on stderr: its notes, claims lost, events not folded yet."""
    for note in notes:
        out.note(note)
    if ws.session:
        from mait_code.commands.board_sessions import lost_claims

        for lost in lost_claims(ws):
            out.warn(lost)
    if ws.behind:
        what = "1 event is" if ws.behind == 1 else f"{ws.behind} events are"
        out.note(f"{what} not folded yet: another process is at work; ask again in a moment")


def local_time(at: str | None) -> str:
    """A stored UTC time as this machine's wall clock, with its zone."""
    if not at:
        return ""
    from datetime import datetime

    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M %Z")
    except (ValueError, OverflowError, OSError):
        return at
