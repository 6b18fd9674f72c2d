"""A card as a form: its fields as texts, saved together as one action."""

from __future__ import annotations

from mait_code.commands import forms, stored_text
from mait_code.commands.board import afterwards, column_named, find, priority_named, scope
from mait_code.commands.board_moves import enter
from mait_code.journal.errors import BadInput
from mait_code.projections import ids
from mait_code.projections.cards import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.board_queries import Card

__all__ = ["EMPTY", "create", "save", "texts"]

#: A card that is not there yet.
EMPTY = {
    "title": "",
    "priority": "medium",
    "status": COLUMNS[0],
    "tags": "",
    "references": "",
    "description": "",
    "acceptance": "",
}
#: The form's fields whose events are card.edited, by the names that those have.
_EDITED = {
    "title": "title",
    "priority": "priority",
    "description": "description",
    "acceptance": "acceptance_criteria",
}
_NAMES = {"title": "title", "description": "description", "acceptance": "acceptance criteria"}


def texts(card: Card) -> dict[str, str]:
    """The fields of a card as a form shows them: tags with commas, a line `label: value` for each reference."""
    return {
        "title": card.title,
        "priority": card.priority,
        "status": card.status,
        "tags": ", ".join(card.tags),
        "references": "\n".join(_line(label, value) for _id, label, value in card.references),
        "description": card.description or "",
        "acceptance": card.acceptance_criteria or "",
    }


def _line(label: str, value: str) -> str:
    return f"{label}: {value}".replace("\n", " ")


def save(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Card:
    """Save what a form of a card says, as one action. `seen` is what it showed when it was filled.

    Raises ChangedMeanwhile where the card is not like that any more, BadInput where a field cannot be meant.
    """
    changed = forms.changed(seen, wanted)
    fields, notes = _fields(changed)
    column = column_named(changed["status"]) if "status" in changed else None
    tags = _tags(changed["tags"]) if "tags" in changed else None
    with ws.journal.writing(ws.store("board")) as writer:
        card = find(ws.store("board"), text)
        forms.check(card.short, seen, texts(card))
        edited = {key: value for key, value in fields.items() if value != getattr(card, key) or key in card.conflicts}
        if edited:
            writer.append("card.edited", card.entity, **edited)
        if tags is not None:
            _set_tags(writer, card, tags)
        if "references" in changed:
            _set_references(writer, card, changed["references"])
        if column is not None:
            enter(ws, writer, card, column, None)
        if not writer.events:
            notes.append(f"{card.short} is like that already; nothing changed")
    return afterwards(ws, card.entity, notes)


def create(ws: Workspace, wanted: Mapping[str, str], project: str | None = None) -> Card:
    """A new card as a form says it, as one action. `project` is as for board.add."""
    changed = {**EMPTY, **wanted}
    fields, notes = _fields(changed)
    tags = _tags(changed["tags"])
    references = [_reference(line) for line in changed["references"].splitlines() if line.strip()]
    column = column_named(changed["status"])
    where = scope(ws.board, project).project
    with ws.journal.writing(ws.store("board")) as writer:
        number = ids.next_number(ws.store("board"))
        given = {**fields, "column": column, "project": where}
        kept = {key: value for key, value in given.items() if value is not None}
        event = writer.append("card.created", **kept, number=number)
        for tag in tags:
            writer.append("card.tagged", event.entity, tag=tag)
        for label, value in references:
            writer.append("card.referenced", event.entity, label=label, value=value)
    return afterwards(ws, event.entity, notes)


def _fields(changed: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The data of card.edited for what was changed, and what there is to tell."""
    if "title" in changed:
        stored_text.required(changed["title"], "the title", "a card cannot be without one")
    given = {
        name: stored_text.one_line(changed[field]) if field == "title" else changed[field].strip() or None
        for field, name in _NAMES.items()
        if field in changed
    }
    ready, notes = stored_text.fitted(given)
    fields: dict[str, Any] = {_EDITED[field]: ready[name] for field, name in _NAMES.items() if field in changed}
    if "priority" in changed:
        fields["priority"] = priority_named(changed["priority"])
    return fields, notes


def _tags(text: str) -> list[str]:
    return list(
        dict.fromkeys(stored_text.name(tag, "the tag") for tag in text.replace("\n", ",").split(",") if tag.strip())
    )


def _set_tags(writer: Writer, card: Card, wanted: list[str]) -> None:
    for tag in card.tags:
        if tag not in wanted:
            writer.append("card.untagged", card.entity, verbatim=("tag",), tag=tag)
    for tag in wanted:
        if tag not in card.tags:
            writer.append("card.tagged", card.entity, tag=tag)


def _reference(line: str) -> tuple[str, str]:
    """`label: value`; a value alone is a link."""
    label, colon, value = line.strip().partition(": ")
    if not colon:
        label, value = "link", line.strip()
    if not label.strip() or not value.strip():
        raise BadInput(f"{line.strip()!r} is no reference", "write each on a line of its own, as label: value")
    return label.strip(), value.strip()


def _set_references(writer: Writer, card: Card, text: str) -> None:
    """Lines that are there stay as they are, others are taken off, new ones come to the end."""
    wanted = [line.strip() for line in text.splitlines() if line.strip()]
    for id_, label, value in card.references:
        line = _line(label, value).strip()
        if line in wanted:
            wanted.remove(line)
        else:
            writer.append("card.unreferenced", card.entity, reference=id_)
    for line in wanted:
        label, value = _reference(line)
        writer.append("card.referenced", card.entity, label=label, value=value)
