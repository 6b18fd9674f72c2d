"""The tiles of the start page, in columns."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from textual.containers import Grid
from textual.content import Content
from textual.widgets import Static

from mait_code.commands import dashboard
from mait_code.tui.outline_room import Pane, styled
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Resize

    from mait_code.commands.dashboard import Dashboard, Tile
    from mait_code.tui.outline_reading import Line

__all__ = ["Tiles"]

#: Cells that a column needs: there are fewer columns where there is less room. Those of a tile that are no text: edges, gap.
_COLUMN, _EDGES = 30, 6


class TileBox(Static):
    """One tile: its heading in its edge, and its lines, each cut where it is too long."""

    def say(self, heading: str, lines: list[Line], span: int) -> None:
        """Show this, over so many columns."""
        self.border_title = Content(visible(heading))
        self.styles.column_span = span
        self.update(styled(lines or [[]]))


class Tiles(Pane):
    """The start page. `fill` shows one; a tile that is too wide for the room there is takes what there is."""

    def __init__(self) -> None:
        super().__init__(id="tiles")
        self._page: Dashboard | None = None
        self._says: Callable[[Tile], list[Line]] = lambda _tile: []

    def compose(self) -> ComposeResult:
        yield Static(id="page-warnings")
        yield Grid(id="page")

    @property
    def columns(self) -> int:
        """How many columns there are room for, of those that the page has."""
        wanted = 1 if self._page is None else self._page.columns
        return max(1, min(wanted, self.size.width // _COLUMN))

    def width_of(self, tile: Tile) -> int:
        """Cells of a line in a tile."""
        width = self.size.width // self.columns * min(tile.span, self.columns) - _EDGES
        return max(20, width)

    def fill(self, page: Dashboard, says: Callable[[Tile], list[Line]]) -> None:
        """Show a page; `says` gives the lines of a tile."""
        self._page, self._says = page, says
        self._arrange()

    def on_resize(self, event: Resize) -> None:
        del event
        self._arrange()

    def _arrange(self) -> None:
        page = self._page
        if page is None or not self.children:
            return
        warnings = self.query_one("#page-warnings", Static)
        warnings.display = bool(page.warnings)
        warnings.update(styled([[("warning", f"● {text}")] for text in page.warnings]))
        grid = self.query_one("#page", Grid)
        grid.styles.grid_size_columns = self.columns
        boxes = list(grid.query(TileBox))
        more = [TileBox(classes="tile") for _ in page.tiles[len(boxes) :]]
        if more:
            grid.mount_all(more)
        boxes += more
        for number, span in chain.from_iterable(dashboard.placed(page.tiles, self.columns)):
            tile = page.tiles[number]
            boxes[number].display = True
            boxes[number].say(tile.heading, self._says(tile), span)
        for box in boxes[len(page.tiles) :]:
            box.display = False
