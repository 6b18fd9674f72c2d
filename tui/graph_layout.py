"""How a neighbourhood is drawn with characters: the thing in the middle, on its right what it relates to, on its left what
relates to it, and behind each of those what hangs on it. The same neighbourhood always looks the same.

Nothing here knows a widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.tui.graph_ego import glyph
from mait_code.tui.text_lines import cell_len, fitted

if TYPE_CHECKING:
    from mait_code.projections.graph_queries import Thing
    from mait_code.tui.graph_ego import Ego, Tie

__all__ = ["LABELLED", "Drawing", "draw", "is_drawable"]

#: Things up to which lines say what they mean, cells of such words, and the least cells and lines that a drawing needs.
LABELLED, _WORDS, _NARROWEST, _LOWEST = 15, 16, 34, 5
#: Corners of the line beside the middle, and the same where it is joined to the middle.
_STUBS = {"┌": "┬", "├": "┼", "└": "┴", "│": "┤", "─": "─", "┐": "┬", "┤": "┼", "┘": "┴"}

#: A style, text, and the thing that it stands for (empty: none).
Bit = tuple[str, str, str]


class Drawing:
    """Lines of bits, where each thing stands as (row, column, side: -1, 0 or 1), and how many found no room."""

    __slots__ = ("left_out", "lines", "places")

    def __init__(self, left_out: int) -> None:
        self.lines: list[list[Bit]] = []
        self.places: dict[str, tuple[int, int, int]] = {}
        self.left_out = left_out


def is_drawable(width: int, height: int) -> bool:
    """Whether so many cells and lines are enough; if not, a table says it better."""
    return width >= _NARROWEST and height >= _LOWEST


def draw(ego: Ego, width: int, height: int) -> Drawing:
    """Draw a neighbourhood into so many cells and lines."""
    sides = [[tie for tie in ego.ties if not tie.outward], [tie for tie in ego.ties if tie.outward]]
    counted = sum(1 for _ in ego.walk())
    found = Drawing(ego.left_out)
    name = min(cell_len(ego.centre.name) + 5, width // 3 if ego.ties else width)
    each = (width - name) // max(1, sum(map(bool, sides)))
    blocks = [
        _Block(ties, side, each if ties else 0, height, counted <= LABELLED)
        for side, ties in zip((-1, 1), sides, strict=True)
    ]
    found.left_out += sum(block.left_out for block in blocks)
    middle = max(block.middle for block in blocks)
    rows = max([middle + 1, *(middle - block.middle + len(block.rows) for block in blocks)])
    for row in range(rows):
        line: list[Bit] = []
        for block in blocks:
            if block.side == 1:
                line += _centre(ego.centre, name, row == middle, [bool(ties) for ties in sides])
            line += block.line(row - middle + block.middle)
        found.lines.append(line)
    _find_places(found, ego.centre.id)
    return found


def _centre(thing: Thing, width: int, is_here: bool, sides: list[bool]) -> list[Bit]:
    if not is_here:
        return [("", " " * width, "")]
    style, sign = glyph(thing)
    before, after = ("─" if has else " " for has in sides)
    text = fitted(thing.name, width - 5)
    return [
        ("dim", before, ""),
        (style, f"{sign} ", thing.id),
        ("strong", text, thing.id),
        ("dim", " " + after * (width - 3 - cell_len(text) - 1), ""),
    ]


def _find_places(found: Drawing, centre: str) -> None:
    places: dict[str, tuple[int, int]] = {}
    for row, line in enumerate(found.lines):
        column = 0
        for _style, text, id_ in line:
            if id_:
                places.setdefault(id_, (row, column))
            column += cell_len(text)
    middle = places[centre][1]
    found.places = {id_: (row, column, (column > middle) - (column < middle)) for id_, (row, column) in places.items()}


class _Block:
    """The things on one side (-1: left, 1: right) of the middle, each on a row."""

    def __init__(self, ties: list[Tie], side: int, width: int, height: int, labelled: bool) -> None:
        self.side = side
        self.width = width
        self.labelled = labelled
        self.rows: list[tuple[str, list[Bit]]] = []  # the corner beside the middle, and the rest
        self.left_out = 0
        kept = self._that_fit(ties, height)
        for number, tie in enumerate(kept):
            corner = "─" if len(kept) == 1 else "┌" if not number else "└" if number == len(kept) - 1 else "├"
            self.rows.append((corner, self._bits(tie, "")))
            passing = "│" if number < len(kept) - 1 else " "
            self._hang(tie, "", passing)
        first, last = 0, max((row for row, (corner, _) in enumerate(self.rows) if corner not in " │"), default=0)
        self.middle = (first + last) // 2

    def _that_fit(self, ties: list[Tie], height: int) -> list[Tie]:
        """The ties for which there are rows; what hangs on them is told off too where there are not enough."""
        kept = ties[: max(1, height)]
        room = height - len(kept)
        self.left_out += len(ties) - len(kept)
        self._allowed: dict[int, int] = {}
        level = kept
        while level:
            for tie in level:
                fits = min(len(tie.ties), max(0, room))
                self._allowed[id(tie)] = fits
                self.left_out += len(tie.ties) - fits
                room -= fits
            level = [one for tie in level for one in tie.ties[: self._allowed[id(tie)]]]
        return kept

    def _hang(self, tie: Tie, prefix: str, passing: str) -> None:
        below = tie.ties[: self._allowed[id(tie)]]
        for number, one in enumerate(below):
            is_last = number == len(below) - 1
            self.rows.append((passing, self._bits(one, prefix + "  " + ("└" if is_last else "├"))))
            self._hang(one, prefix + "  " + (" " if is_last else "│"), passing)

    def _bits(self, tie: Tie, prefix: str) -> list[Bit]:
        """One row from the middle outwards, without its corner; on the left it is turned round."""
        style, sign = glyph(tie.other)
        # An arrow of two cells, its words, a glyph with a blank, and some of the name have to go in.
        room = self.width - 1 - len(prefix) - 5
        words = fitted(tie.words, min(_WORDS, room // 2)) if self.labelled and room > 12 else ""
        name = fitted(tie.other.name, max(room - cell_len(words), 1))
        if self.side == 1:
            arrow = f"─{words}▶ " if tie.outward else f"◀{words}─ "
            return [("dim", prefix + arrow, ""), (style, f"{sign} ", tie.other.id), ("", name, tie.other.id)]
        arrow = f" ─{words}▶" if not tie.outward else f" ◀{words}─"
        mirrored = prefix[::-1].translate({ord("└"): "┘", ord("├"): "┤"})
        return [(style, f"{sign} ", tie.other.id), ("", name, tie.other.id), ("dim", arrow + mirrored, "")]

    def line(self, row: int) -> list[Bit]:
        """The bits of a row, as wide as the block is."""
        if not 0 <= row < len(self.rows):
            return [("", " " * self.width, "")]
        corner, bits = self.rows[row]
        if self.side == -1:
            corner = corner.translate({ord("┌"): "┐", ord("├"): "┤", ord("└"): "┘"})
        if row == self.middle:
            corner = "├" if corner == "│" and self.side == -1 else _STUBS[corner]
        used = sum(cell_len(text) for _, text, _ in bits) + 1
        pad: Bit = ("", " " * (self.width - used), "")
        return [("dim", corner, ""), *bits, pad] if self.side == 1 else [pad, *bits, ("dim", corner, "")]
