"""What is written on cards: fields, tags, blocks, comments, references."""

from __future__ import annotations

from mait_code.commands import stored_text
from mait_code.commands.board import afterwards, find, priority_named, scope
from mait_code.journal.errors import BadInput, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.board_queries import Card

__all__ = ["add_reference", "block", "comment", "edit", "remove_reference", "tag", "unblock", "untag"]

BLOCKED = "blocked"
_BLOCKED_REGISTER = f"tag:{BLOCKED}"


def _change(
    ws: Workspace, text: str, project: str | None, decide: Callable[[Writer, Card], str | None], notes: list[str]
) -> Card:
    """Let `decide` write about a card under the lock; what it returns is told."""
    store = ws.store("board")
    with ws.journal.writing(store) as writer:
        card = find(store, text, project)
        note = decide(writer, card)
    return afterwards(ws, card.entity, [*notes, note] if note else notes)


def edit(
    ws: Workspace,
    text: str,
    *,
    title: str | None = None,
    description: str | None = None,
    acceptance: str | None = None,
    priority: str | None = None,
    project: str | None = None,
) -> Card:
    """Change fields of a card; None leaves one as it is, an empty text clears it (not the title). `project` is the
    project it is given. Raises BadInput where nothing is asked for."""
    if all(value is None for value in (title, description, acceptance, priority, project)):
        raise BadInput("nothing to change", "give --title, --description, --acceptance, --priority or --project")
    if title is not None:
        title = stored_text.required(stored_text.one_line(title), "the title", "a card cannot be without one")
    texts, notes = stored_text.fitted({"title": title, "description": description, "acceptance criteria": acceptance})
    wanted: dict[str, Any] = {
        "title": texts["title"],
        "description": texts["description"],
        "acceptance_criteria": texts["acceptance criteria"],
        "priority": None if priority is None else priority_named(priority),
        "project": None if project is None else scope(ws.board, project).project or "",
    }

    def decide(writer: Writer, card: Card) -> str | None:
        asked: dict[str, Any] = {key: value or None for key, value in wanted.items() if value is not None}
        # A field in conflict is written even with the value it shows: that settles it.
        changed = {key: value for key, value in asked.items() if value != getattr(card, key) or key in card.conflicts}
        if not changed:
            return f"{card.short} is like that already; nothing changed"
        writer.append("card.edited", card.entity, **changed)
        return None

    return _change(ws, text, None, decide, notes)


# -- tags -------------------------------------------------------------------------------------------------------------


def tag(ws: Workspace, text: str, name: str, project: str | None = None) -> Card:
    """Put a tag on a card."""
    return _set_tag(ws, text, stored_text.name(name, "the tag"), project, carried=True)


def untag(ws: Workspace, text: str, name: str, project: str | None = None) -> Card:
    """Take a tag off a card."""
    return _set_tag(ws, text, stored_text.name(name, "the tag"), project, carried=False)


def _set_tag(ws: Workspace, text: str, name: str, project: str | None, carried: bool) -> Card:
    def decide(writer: Writer, card: Card) -> str | None:
        if (name in card.tags) == carried and f"tag:{name}" not in card.conflicts:
            state = f"carries {name!r} already" if carried else f"does not carry {name!r}"
            return f"{card.short} {state}; nothing changed"
        # A tag that is taken off is named as the card carries it.
        held = () if carried else ("tag",)
        writer.append("card.tagged" if carried else "card.untagged", card.entity, verbatim=held, tag=name)
        return None

    return _change(ws, text, project, decide, [])


def block(ws: Workspace, text: str, reason: str = "", project: str | None = None) -> Card:
    """Tag a card as blocked, so that `next` passes it over, with the reason as a comment."""
    texts, notes = stored_text.fitted({"reason": reason.strip() or None})
    body = None if texts["reason"] is None else f"Blocked: {texts['reason']}"

    def decide(writer: Writer, card: Card) -> str | None:
        if not card.blocked or _BLOCKED_REGISTER in card.conflicts:
            writer.append("card.tagged", card.entity, tag=BLOCKED)
        if body is not None:
            writer.append("card.commented", card.entity, body=body)
        return None if writer.events else f"{card.short} is blocked already; nothing changed"

    return _change(ws, text, project, decide, notes)


def unblock(ws: Workspace, text: str, project: str | None = None) -> Card:
    """Take the blocked tag off a card."""

    def decide(writer: Writer, card: Card) -> str | None:
        if not card.blocked and _BLOCKED_REGISTER not in card.conflicts:
            return f"{card.short} is not blocked; nothing changed"
        writer.append("card.untagged", card.entity, tag=BLOCKED)
        return None

    return _change(ws, text, project, decide, [])


# -- comments and references ------------------------------------------------------------------------------------------


def comment(ws: Workspace, text: str, body: str, author: str | None = None, project: str | None = None) -> Card:
    """Comment on a card, as `author` (me or claude) or as whoever is acting."""
    texts, notes = stored_text.fitted({"comment": stored_text.required(body, "the comment")})

    def decide(writer: Writer, card: Card) -> str | None:
        said: dict[str, Any] = {"body": texts["comment"]}
        if author is not None:
            said["author"] = author
        writer.append("card.commented", card.entity, **said)
        return None

    return _change(ws, text, project, decide, notes)


def add_reference(ws: Workspace, text: str, label: str, value: str, project: str | None = None) -> Card:
    """Add a reference (a link, a ticket, a file) to the end of a card's list."""
    fields = {"label": stored_text.required(stored_text.one_line(label), "the label")}
    fields["value"] = stored_text.required(value, "the reference")
    texts, notes = stored_text.fitted(fields)

    def decide(writer: Writer, card: Card) -> str | None:
        writer.append("card.referenced", card.entity, **texts)
        return None

    return _change(ws, text, project, decide, notes)


def remove_reference(ws: Workspace, text: str, position: int, project: str | None = None) -> Card:
    """Take a reference off a card by its place in the list, from 1. Raises NotFound where there is none."""

    def decide(writer: Writer, card: Card) -> str | None:
        if not 1 <= position <= len(card.references):
            held = f"it has {len(card.references)}" if card.references else "it has none"
            hint = f"mait-code board ref list {card.short} shows them"
            raise NotFound(f"{card.short} has no reference {position}: {held}", hint)
        writer.append("card.unreferenced", card.entity, reference=card.references[position - 1][0])
        return None

    return _change(ws, text, project, decide, [])
