"""Text in cells: cut, wrapped and padded to a width, with what could act on a terminal made visible."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from mait_code.commands.output import cut, visible

__all__ = ["cell_len", "cut", "fitted", "padded", "visible", "wrapped"]


def fitted(text: str, width: int) -> str:
    """One line of at most `width` cells, visible, with an ellipsis where it was longer."""
    if width < 1:
        return ""
    text = visible(text)
    return text if cell_len(text) <= width else set_cell_size(cut(text, width), min(width, cell_len(cut(text, width))))


def padded(text: str, width: int) -> str:
    """The same with blanks up to the width."""
    return set_cell_size(fitted(text, width), max(width, 0))


def wrapped(text: str, width: int, lines: int) -> list[str]:
    """Text over as many lines at most, broken between words where that is possible; the last one ends in an ellipsis where
    it was longer."""
    rest = visible(text).strip()
    found: list[str] = []
    while rest and len(found) < lines - 1 and cell_len(rest) > width > 0:
        head = set_cell_size(rest, width).rstrip("\0")
        place = head.rfind(" ") if rest[len(head) : len(head) + 1] != " " else len(head)
        if place < width // 3:
            place = len(head.rstrip()) or 1
        found.append(rest[:place].rstrip())
        rest = rest[place:].lstrip()
    return [*found, fitted(rest, width)] if rest or not found else found
