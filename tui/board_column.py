"""One column of the board: its heading, and its cards as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from mait_code.tui.board_reading import heading
from mait_code.tui.rows import Rows
from mait_code.tui.text_lines import wrapped

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult

    from mait_code.projections.board_queries import Card
    from mait_code.tui.rows import Piece

__all__ = ["CardRows", "Column"]

_MARK = {"high": ("error", "▲ "), "medium": ("dim", "· "), "low": ("dim", "▽ ")}


class CardRows(Rows["Card"]):
    """The cards of a column. They can be dragged to another."""

    KEYS_TITLE = "In a column"

    class Dragged(Message):
        """The mouse holds a card over a place of the screen; `dropped` when it let go."""

        def __init__(self, rows: CardRows, x: int, y: int, dropped: bool) -> None:
            super().__init__()
            self.rows = rows
            self.x = x
            self.y = y
            self.dropped = dropped

    def __init__(self, column: str, with_project: bool) -> None:
        super().__init__(id=f"rows-{column}")
        self.column = column
        self.with_project = with_project
        self._held: int | None = None
        self._dragging = False
        self.set_row_height(3)

    def paint(self, item: Card, width: int) -> list[list[Piece]]:
        style, mark = _MARK.get(item.priority, ("dim", "· "))
        room = self.row_height - 1 - (self.row_height > 3)
        lines: list[list[Piece]] = []
        for number, text in enumerate(wrapped(item.title or "(no title)", width - 2, max(room, 1))):
            lines.append([(style, mark if not number else "  "), ("dim" if self.column == "done" else "", text)])
        lines.append([("", "  "), *self._facts(item)])
        return lines

    def _facts(self, item: Card) -> list[Piece]:
        facts: list[Piece] = [("dim", item.short)]
        if item.conflicts:
            facts.append(("error", " ≠ conflict"))
        if item.blocked:
            facts.append(("warning", " ⊘ blocked"))
        if item.bound_session:
            facts.append(("success", " ● session"))
        facts += [("accent", f" #{tag}") for tag in item.tags if tag != "blocked"]
        if self.with_project and item.project:
            facts.append(("dim", f" {item.project.rpartition('/')[2]}"))
        return facts

    # -- the mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._held = self.row_at(event) if event.button == 1 else None
        self._dragging = False
        if self._held is not None:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held is None:
            return
        if not self._dragging:
            self.go(self._held)
        self._dragging = True
        self.post_message(self.Dragged(self, event.screen_x, event.screen_y, dropped=False))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._held is None:
            return
        self.release_mouse()
        self._held = None
        if self._dragging:
            self._dragging = False
            self.post_message(self.Dragged(self, event.screen_x, event.screen_y, dropped=True))


class Column(Vertical):
    """A heading with a count over the rows of a column."""

    def __init__(self, column: str) -> None:
        super().__init__(id=f"column-{column}", classes="column")
        self.column = column
        self.rows = CardRows(column, with_project=False)
        self._heading = Static(classes="heading")
        self._empty = Static(classes="empty")

    def compose(self) -> ComposeResult:
        yield self._heading
        yield self._empty
        yield self.rows

    def say(self, count: int, shown: int, number: int, empty: str) -> None:
        """Its count, of which `shown` match what is searched for; its number among the columns; what to say when empty."""
        counted = str(count) if count == shown else f"{shown} of {count}"
        self._heading.update(
            Content.assemble((f"{number} ", "$dim"), (heading(self.column), "bold"), (f"  {counted}", "$dim"))
        )
        self._empty.update(Content(empty))
        self._empty.display = not shown
