"""Cards on their way: into a column, to the next person who works, bound to a session, done, archived, deleted.

Entering done stamps the completion and leaving takes it away; leaving in_progress releases whoever held the card. Both
are derived from the events by the fold, so they hold whatever moved the card.
"""

from __future__ import annotations

from mait_code.commands import board_sessions, stored_text
from mait_code.commands.board import afterwards, column_named, find, scope
from mait_code.journal.errors import Refused
from mait_code.projections import board_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.board_sessions import Session
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.board_queries import Card
    from mait_code.projections.store import Store

__all__ = ["archive", "bind", "complete", "enter", "move", "next_card", "refine", "remove", "unbind"]

#: Where `next` looks: what has been refined is ready, what has not is better than nothing.
READY = ("refined", "backlog")
_NOT_BLOCKED = "id NOT IN (SELECT card_id FROM card_tags WHERE tag = 'blocked')"


def enter(ws: Workspace, writer: Writer, card: Card, column: str, session: Session | None) -> bool:
    """Move a card under the lock. False, and nothing written, where it is there already and nobody says otherwise."""
    if card.status == column and "status" not in card.conflicts:
        return False
    writer.append("card.moved", card.entity, column=column)
    if column == "in_progress":
        if session is not None:
            _hold(ws, writer, card, session)
    elif card.status == "in_progress":
        board_sessions.forget(ws, card.id, card.bound_session)
    return True


def _hold(ws: Workspace, writer: Writer, card: Card, session: Session) -> None:
    writer.append("card.bound", card.entity, by={"session": session.id})
    board_sessions.record(ws, card.id, session)


def move(
    ws: Workspace,
    text: str,
    column: str,
    project: str | None = None,
    session: str | None = None,
    pid: int | None = None,
) -> Card:
    """Move a card to a column. Into in_progress it is bound to the session, where there is one."""
    column = column_named(column)
    who = board_sessions.named(ws, session, pid)
    store = ws.store("board")
    notes = []
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        if not enter(ws, writer, card, column, who):
            notes.append(f"{card.short} is in {column} already; nothing changed")
            if column == "in_progress" and who is not None and card.bound_session is None:
                notes.append(f"mait-code board bind {card.short} binds it to this session")
    return afterwards(ws, card.entity, notes)


def refine(
    ws: Workspace,
    text: str,
    *,
    description: str | None = None,
    acceptance: str | None = None,
    project: str | None = None,
) -> Card:
    """Say what a card means, and move it to refined. Without acceptance criteria the card says so."""
    texts, notes = stored_text.fitted({"description": description, "acceptance criteria": acceptance})
    fields: dict[str, Any] = {"description": texts["description"], "acceptance_criteria": texts["acceptance criteria"]}
    store = ws.store("board")
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        asked: dict[str, Any] = {key: value or None for key, value in fields.items() if value is not None}
        changed = {key: value for key, value in asked.items() if value != getattr(card, key) or key in card.conflicts}
        if changed:
            writer.append("card.edited", card.entity, **changed)
        if not enter(ws, writer, card, "refined", None) and not changed:
            notes.append(f"{card.short} is in refined already; nothing changed")
    after = afterwards(ws, card.entity, notes)
    if not after.acceptance_criteria:
        after.notes.append(f'{after.short} has no acceptance criteria: --acceptance "…" says when it is done')
    return after


def complete(ws: Workspace, text: str, summary: str | None = None, project: str | None = None) -> Card:
    """Move a card to done. Without a summary the one it has stays."""
    texts, notes = stored_text.fitted({"summary": (summary or "").strip() or None})
    store = ws.store("board")
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        told = texts["summary"]
        if told is not None and (told != card.completion_summary or "completion_summary" in card.conflicts):
            writer.append("card.edited", card.entity, completion_summary=told)
        if not enter(ws, writer, card, "done", None):
            notes.append(f"{card.short} is done already" + ("" if writer.events else "; nothing changed"))
    return afterwards(ws, card.entity, notes)


def archive(ws: Workspace, text: str, project: str | None = None) -> Card:
    """Put a card away: out of every list unless asked for."""
    return move(ws, text, "archived", project)


# -- the next card ----------------------------------------------------------------------------------------------------


def next_card(
    ws: Workspace,
    *,
    claim: bool = False,
    project: str | None = None,
    session: str | None = None,
    pid: int | None = None,
) -> Card | None:
    """The card to work on next, or None: refined ones first, then the backlog, each by priority and age.

    Blocked ones are passed over. With `claim` it is moved to in_progress under the lock, so that no two callers on one
    machine get the same card.
    """
    if not claim:
        return _next(ws.board, project)
    who = board_sessions.named(ws, session, pid)
    store = ws.store("board")
    with ws.journal.writing(store) as writer:
        card = _next(store, project)
        if card is not None:
            enter(ws, writer, card, "in_progress", who)
    return None if card is None else afterwards(ws, card.entity, card.notes)


def _next(store: Store, project: str | None) -> Card | None:
    where, bindings = scope(store, project).condition()
    for column in READY:
        condition = f"{where} AND status = ? AND {_NOT_BLOCKED}"
        found = board_queries.cards(store, condition, (*bindings, column), comments=True, limit=1)
        if found:
            if column == "backlog":
                found[0].notes.append(f"{found[0].short} has not been refined")
            return found[0]
    return None


# -- sessions ---------------------------------------------------------------------------------------------------------


def bind(
    ws: Workspace, text: str, project: str | None = None, session: str | None = None, pid: int | None = None
) -> Card:
    """Bind a card in progress to a session. It is taken over from one that is not known to run, else refused."""
    who = board_sessions.required(ws, session, pid)
    store = ws.store("board")
    notes = []
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        if card.status != "in_progress":
            hint = f"mait-code board move {card.short} in_progress moves it there and binds it"
            raise Refused(f"{card.short} is in {card.status}: only cards in progress are bound", hint)
        held = board_sessions.binding(ws, card)
        if held is not None and held["session"] == who.id:
            notes.append(f"{card.short} is bound to this session already; nothing changed")
            board_sessions.record(ws, card.id, who)
        else:
            if held is not None and held["running"]:
                hint = f"mait-code board unbind {card.short} releases it"
                raise Refused(f"{card.short} is bound to {held['session']}, which runs as process {held['pid']}", hint)
            if held is not None:
                notes.append(f"taken over from {held['session']}")
            _hold(ws, writer, card, who)
    return afterwards(ws, card.entity, notes)


def unbind(ws: Workspace, text: str, project: str | None = None) -> Card:
    """Release a card from whichever session holds it. It stays in progress."""
    store = ws.store("board")
    notes = []
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        if card.bound_session is None:
            notes.append(f"{card.short} is bound to no session; nothing changed")
        else:
            writer.append("card.unbound", card.entity)
            if card.bound_session == ws.session:
                board_sessions.forget(ws, card.id, ws.session)  # another session has to be told first
    return afterwards(ws, card.entity, notes)


def remove(ws: Workspace, text: str, project: str | None = None) -> Card:
    """Delete a card; `restore` brings it back. Returns the card as it was."""
    store = ws.store("board")
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        writer.append("card.deleted", card.entity)
        board_sessions.forget(ws, card.id, card.bound_session)
    ws.refreshed("board")
    return card
