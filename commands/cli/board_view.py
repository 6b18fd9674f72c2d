"""How cards look: as JSON, as one line, whole, and as columns on a terminal or in a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mait_code.commands import project as projects
from mait_code.commands.board_sessions import binding
from mait_code.commands.cli.board_closing import close, local_time, unchanged
from mait_code.commands.output import IN_LIST, cut
from mait_code.projections import board_queries
from mait_code.projections.cards import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card

__all__ = ["card_json", "changed", "close", "columns", "heading", "local_time", "whole"]

_PRIORITY_STYLE = {"high": ("red",), "low": ("dim",)}


def card_json(ws: Workspace, card: Card) -> dict[str, Any]:
    """A card as JSON; with comments where they were read."""
    data: dict[str, Any] = {
        "id": card.id,
        "short": card.short,
        "number": card.number,
        "project": card.project,
        "title": card.title,
        "description": card.description,
        "acceptance_criteria": card.acceptance_criteria,
        "status": card.status,
        "priority": card.priority,
        "completion_summary": card.completion_summary,
        "created_at": card.created_at,
        "updated_at": card.updated_at,
        "completed_at": card.completed_at,
        "tags": card.tags,
        "references": [{"label": label, "value": value} for _id, label, value in card.references],
        "bound": binding(ws, card),
        "origin": card.origin,
        "conflicts": card.conflicts,
        "newer": card.newer,
    }
    if card.comments is not None:
        data["comments"] = [
            {"author": one.author, "body": one.body, "created_at": one.created_at} for one in card.comments
        ]
    return data


def changed(ws: Workspace, out: Output, card: Card, *did: str) -> None:
    """What a command that changes a card prints: the show shape as JSON, else one line, which says so where nothing changed.
    Notes go to stderr."""
    if out.json:
        out.data(card_json(ws, card))
    elif not unchanged(out, card.notes):
        out.line(did[0], " ", out.style(card.short, "bold"), ": ", cut(card.title, IN_LIST), *did[1:])
    close(ws, out, card.notes)


def heading(column: str) -> str:
    """A column's name for people."""
    return column.replace("_", " ").capitalize()


# -- lists ------------------------------------------------------------------------------------------------------------


def columns(ws: Workspace, out: Output, cards: list[Card], *, empty_columns: Mapping[str, int] | None = None) -> None:
    """Cards under the heading of their column, in the board's order; those of unknown columns last."""
    names = projects.short_names(board_queries.projects(ws.board))
    width = _terminal_width() if out.terminal else 0
    present = {card.status: None for card in cards} | dict.fromkeys(empty_columns or ())
    order = [*(name for name in COLUMNS if name in present), *sorted(present.keys() - set(COLUMNS))]
    one_project = len({card.project for card in cards}) == 1
    widest = max((len(card.short) for card in cards), default=0)
    for place, column in enumerate(order):
        inside = [card for card in cards if card.status == column]
        if place:
            out.line()
        out.line(out.style(heading(column), "bold"), out.style(f" ({len(inside)})", "dim"))
        for card in inside:
            _row(
                ws,
                out,
                card,
                widest,
                width,
                "" if one_project or not card.project else names.get(card.project, card.project),
            )


def _row(ws: Workspace, out: Output, card: Card, widest: int, width: int, project: str) -> None:
    short, priority = f"  {card.short:>{widest}}  ", f"{card.priority:<6}"
    marks = _marks(ws, card) if card.tags or card.bound_session or card.newer else ""
    end = f" [{project}]" if project else ""
    conflict = f" !conflict: {', '.join(card.conflicts)}" if card.conflicts else ""
    taken = len(short) + len(priority) + 2 + len(marks) + len(end) + len(conflict)
    title = cut(card.title, max(width - taken, 20) if width else IN_LIST)
    if not out.colour:
        out.line(f"{short}{priority}  {title}{marks}{end}{conflict}")
        return
    out.line(
        out.style(short, "bold"),
        out.style(priority, *_PRIORITY_STYLE.get(card.priority, ())),
        f"  {title}",
        out.style(marks, "cyan"),
        out.style(end, "dim"),
        out.style(conflict, "yellow"),
    )


def _marks(ws: Workspace, card: Card) -> str:
    marks = "".join(f" #{tag}" for tag in card.tags)
    held = binding(ws, card)
    if held is not None:
        marks += " (this session)" if held["mine"] else f" (session {held['session'][:8]})"
    return f"{marks} (written by a newer version)" if card.newer else marks


def _terminal_width() -> int:
    import os

    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return 80


# -- one card ---------------------------------------------------------------------------------------------------------


def whole(ws: Workspace, out: Output, card: Card) -> None:
    """A card with everything that is known of it."""
    out.line(out.style(card.short, "bold"), "  ", out.style(card.title, "bold"))
    names = projects.short_names(board_queries.projects(ws.board))
    fields = [
        ("status", heading(card.status).lower()),
        ("priority", card.priority),
        ("project", names.get(card.project, card.project) if card.project else ""),
        ("tags", " ".join(f"#{tag}" for tag in card.tags)),
        ("bound to", _bound(ws, card)),
        ("from", _origin(ws, card)),
        ("created", local_time(card.created_at)),
        ("changed", local_time(card.updated_at) if card.updated_at != card.created_at else ""),
        ("completed", local_time(card.completed_at)),
        ("id", card.id),
    ]
    for name, value in fields:
        if value:
            out.line(out.style(f"  {name:<10}", "dim"), value)
    if card.newer:
        out.line(out.style("  part of it was written by a newer version: update mait-code to see it", "yellow"))
    if card.conflicts:
        names_ = ", ".join(card.conflicts)
        out.line(out.style(f"  in conflict: {names_} (mait-code conflicts shows both sides)", "yellow"))
    for title, body in (
        ("Description", card.description),
        ("Acceptance criteria", card.acceptance_criteria),
        ("Summary", card.completion_summary),
    ):
        if body:
            out.line()
            out.line(out.style(title, "bold"))
            out.block(body, "  ")
    _attached(out, card)


def _attached(out: Output, card: Card) -> None:
    if card.references:
        out.line()
        out.line(out.style("References", "bold"))
        for place, (_id, label, value) in enumerate(card.references, 1):
            out.line(f"  {place}  {label}: {value}")
    if card.comments:
        out.line()
        out.line(out.style("Comments", "bold"))
        for one in card.comments:
            out.line("  ", out.style(f"{one.author}, {local_time(one.created_at)}", "dim"))
            out.block(one.body, "    ")


def _bound(ws: Workspace, card: Card) -> str:
    held = binding(ws, card)
    if held is None:
        return ""
    text = "this session" if held["mine"] else str(held["session"])
    if held["pid"]:
        text += f", process {held['pid']}" + ("" if held["running"] else " (ended)")
    return text if held["mine"] else f"{text}, on {held['replica']}"


def _origin(ws: Workspace, card: Card) -> str:
    """Where a card came from, with the first line of it where that is known here."""
    if not card.origin:
        return ""
    if not card.origin.startswith("inbox/"):
        return card.origin
    from mait_code.commands.inbox import described

    return described(ws, card.origin)
