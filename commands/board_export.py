"""Cards as documents: Markdown for people, JSON for programs, to a file in one step."""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import BadInput
from mait_code.journal.home import write_atomically
from mait_code.projections.cards import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.projections.board_queries import Card

__all__ = ["json_text", "markdown", "write"]

#: Control characters except tab and newline: a file may be shown on a terminal one day.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (0x09, 0x0A)}


def markdown(cards: list[Card]) -> str:
    """A section per card; several cards are grouped by column, in the board's order. Bodies are kept as they are."""
    if not cards:
        return "No cards.\n"
    if len(cards) == 1:
        return _section(cards[0], 1)
    present = {card.status for card in cards}
    order = [*(name for name in COLUMNS if name in present), *sorted(present - set(COLUMNS))]
    parts = []
    for column in order:
        parts.append(f"# {column.replace('_', ' ').capitalize()}\n")
        parts.extend(_section(card, 2) for card in cards if card.status == column)
    return "\n".join(parts)


def _section(card: Card, depth: int) -> str:
    mark = "#" * depth
    facts = [
        ("Status", card.status),
        ("Priority", card.priority),
        ("Project", card.project),
        ("Tags", ", ".join(card.tags)),
        ("Created", card.created_at),
        ("Updated", card.updated_at),
        ("Completed", card.completed_at),
        ("From", card.origin),
        ("In conflict", ", ".join(card.conflicts)),
    ]
    lines = [f"{mark} {card.short} {card.title}", ""]
    lines += [f"- {name}: {value}" for name, value in facts if value]
    bodies = (
        ("Description", card.description),
        ("Acceptance criteria", card.acceptance_criteria),
        ("Completion summary", card.completion_summary),
    )
    for title, body in bodies:
        if body:
            lines += ["", f"{mark}# {title}", "", body]
    if card.references:
        lines += ["", f"{mark}# References", "", *(f"- {label}: {value}" for _id, label, value in card.references)]
    for place, one in enumerate(card.comments or ()):
        if not place:
            lines += ["", f"{mark}# Comments"]
        lines += ["", f"**{one.author}**, {one.created_at}", "", one.body]
    return ("\n".join(lines) + "\n").translate(_CONTROLS)


def json_text(content: Any) -> str:
    """JSON for a file, indented."""
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode() + "\n"


def write(file: str, text: str) -> str:
    """Replace a file with a text, or leave it as it was. Returns its whole path. Raises BadInput, DiskRefused."""
    path = os.path.abspath(os.path.expanduser(file))
    if os.path.isdir(path):
        raise BadInput(f"{path} is a directory", "name a file in it")
    if not os.path.isdir(os.path.dirname(path)):
        raise BadInput(f"there is no directory {os.path.dirname(path)}", "make it first, or name another file")
    # Through a link to the file it names, which a rename would cut off.
    write_atomically(os.path.realpath(path), text.encode())
    return path
