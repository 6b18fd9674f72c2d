"""A list with headings between its rows. The cursor passes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from mait_code.tui.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.strip import Strip

    from mait_code.tui.rows import Piece

__all__ = ["Sections"]

T = TypeVar("T")


class Sections(Rows[T], Generic[T]):
    """Rows of which some keys are headings: `fill_sections` says which."""

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.headings: Mapping[str, str] = {}

    def fill_sections(self, keys: Sequence[str], items: Mapping[str, T], headings: Mapping[str, str]) -> None:
        """As `fill`, with the words of the headings among the keys."""
        self.headings = headings
        before = self.key
        self.fill(keys, items)
        place = self._beside(self.cursor, 1)
        if place is not None and place != self.cursor:
            self.cursor = place
            self._repaint()
            if self.key != before:
                self.post_message(self.Moved(self))

    def go(self, place: int) -> None:
        place = max(0, min(place, len(self.keys) - 1))
        ahead = -1 if place < self.cursor else 1
        found = self._beside(place, ahead)
        if found is not None:
            super().go(found)
            if all(key in self.headings for key in self.keys[:found]):
                # The heading above the first row is seen with it.
                self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _beside(self, place: int, ahead: int) -> int | None:
        """The nearest row that is no heading: in that direction first, else in the other; None where there is none."""
        for step in (ahead, -ahead):
            at = place
            while 0 <= at < len(self.keys):
                if self.keys[at] not in self.headings:
                    return at
                at += step
        return None

    def _paint(self, place: int, width: int) -> list[Strip]:
        words = self.headings.get(self.keys[place])
        if words is None:
            return super()._paint(place, width)
        name, _, count = words.partition("\t")
        lines: list[list[Piece]] = [[] for _ in range(self.row_height - 1)]
        lines.append([("primary", f"{name}"), ("dim", f"  {count}" if count else "")])
        return [self._strip(pieces, place, width) for pieces in lines]
