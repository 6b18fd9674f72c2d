"""What board and inbox commands have in common at their end, and how they tell times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card
    from mait_code.projections.inbox_queries import Item
    from mait_code.projections.memory_queries import Memory

__all__ = ["about_conflicts", "close", "local_time", "unchanged"]


def close(ws: Workspace, out: Output, notes: Iterable[str] = ()) -> None:
    """What a command says at its end, on stderr: its notes, claims lost, events not folded yet."""
    for note in notes:
        out.note(note)
    if ws.session:
        from mait_code.commands.board_sessions import lost_claims

        for lost in lost_claims(ws):
            out.warn(lost)
    if ws.behind:
        out.note(
            f"{counted(ws.behind, 'event is', 'events are')} not folded yet: another process is at work; ask again in a moment"
        )


def unchanged(out: Output, notes: list[str]) -> bool:
    """Whether a command changed nothing. Its note then is what it prints, in the place of what it would have done."""
    for note in notes:
        if note.endswith("; nothing changed"):
            out.line(note)
            notes.remove(note)
            return True
    return False


def about_conflicts(listed: Iterable[Card | Item | Memory], what: str) -> list[str]:
    """What `close` is to tell where some of what was listed is in conflict; `what` calls it, in the plural."""
    count = sum(1 for one in listed if one.conflicts)
    were = counted(count, f"of these {what} was", f"of these {what} were")
    return [f"{were} changed on two machines: mait-code conflicts"] if count else []


def local_time(at: str | None) -> str:
    """A stored UTC time as this machine's wall clock, with its zone."""
    if not at:
        return ""
    from mait_code.commands.times import local

    return local(at)
