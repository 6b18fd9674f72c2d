"""Cards and the sessions that hold them, when a session begins: what is bound stays with the work.

A session that is resumed has its id still, and another process. One that is cleared goes on under a new id in the same process:
the cards of the old one go with it. A new session and a fork begin with none.
"""

from __future__ import annotations

from mait_code.commands import board_sessions, session_marks
from mait_code.projections import board_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.board_sessions import Session
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card

__all__ = ["rebind"]

_HELD = "status = 'in_progress' AND bound_session"


def rebind(ws: Workspace, session: str, source: str, previous: str = "", directory: str | None = None) -> list[Card]:
    """See to the cards of a session that begins as the client's `source` says. Returns those that it took over.

    `previous` is the session that was cleared, where the caller knows it; else it is the one that ran last in this process of
    the client. It waits for nobody: where another process holds the journal, what is to be written is left in the spool.
    """
    if not session:
        return []
    who = board_sessions.Session(session, board_sessions.pid_of_client())
    if source == "clear":
        held = _held_before(ws, who, previous, directory)
        return _take_over(ws, who, held) if held else []
    if source == "resume" and who.pid:
        for card in board_queries.cards(ws.board, f"{_HELD} = ?", (session,), brief=True):
            known = board_sessions.binding(ws, card)
            if known is not None and known["pid"] != who.pid and not known["running"]:
                board_sessions.record(ws, card.id, who)
    return []


def _held_before(ws: Workspace, who: Session, previous: str, directory: str | None) -> list[Card]:
    """The cards of the session that this one goes on from."""
    if previous:
        return board_queries.cards(ws.board, f"{_HELD} = ?", (previous,), brief=True) if previous != who.id else []
    others = board_queries.cards(ws.board, f"{_HELD} IS NOT NULL AND bound_session <> ?", (who.id,), brief=True)
    if not others:
        return []
    if who.pid:
        last = next((one for one in session_marks.every(ws.home) if one.pid == who.pid and one.session != who.id), None)
        return [card for card in others if _is_of(ws, card, who.pid, "" if last is None else last.session)]
    cleared = _cleared(ws, {card.bound_session for card in others if card.bound_session}, directory)
    return [card for card in others if card.bound_session in cleared]


def _is_of(ws: Workspace, card: Card, pid: int, last: str) -> bool:
    """Whether a card was bound in this very process, by the session that ran last in it. Numbers of processes are used again,
    so it has to be one that runs."""
    known = board_sessions.binding(ws, card)
    if known is None or (last and known["session"] != last):
        return False
    return bool(known["pid"] == pid and known["running"])


def _cleared(ws: Workspace, among: set[str], directory: str | None) -> set[str]:
    """Those sessions of this machine and project that were seen to end by being cleared: an old client does not tell its
    process."""
    from mait_code.commands import project

    known = sorted(mark.session for mark in session_marks.every(ws.home) if mark.session in among)
    here = project.here(directory)
    if here is None or not known:
        return set()
    names = ", ".join("?" * len(known))
    query = f"SELECT session_id FROM sessions WHERE session_id IN ({names}) AND ended = 'clear' AND project = ?"  # noqa: S608
    return {row[0] for row in ws.reading("memory").query(query, (*known, here))}


def _take_over(ws: Workspace, who: Session, held: list[Card]) -> list[Card]:
    store = ws.store("board")
    taken = []
    with ws.journal.writing_from_hook(store) as writer:
        for before in held:
            card = board_queries.one(store, before.entity)
            if card is None or card.status != "in_progress" or card.bound_session != before.bound_session:
                continue
            writer.append("card.bound", card.entity, by={"session": who.id})
            board_sessions.record(ws, card.id, who)
            board_sessions.forget(ws, card.id, before.bound_session)
            taken.append(card)
    if writer.events and not writer.spooled:
        ws.refreshed("board")
    return taken
