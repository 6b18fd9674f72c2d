"""The graph: who and what memories speak of, the most mentioned first, and the neighbourhood of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Container

from mait_code.tui import graph_reading
from mait_code.tui.graph_ego import glyph
from mait_code.tui.graph_layout import is_drawable
from mait_code.tui.graph_map import Map, TieRows
from mait_code.tui.graph_reading import LIST, Question, Shown
from mait_code.tui.outline_room import OutlineRoom
from mait_code.tui.outline_rows import OutlineRows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.graph_queries import Thing
    from mait_code.tui.outline_reading import Outline, Text
    from mait_code.tui.rows import Piece

__all__ = ["GraphRoom"]

#: Steps from the middle, at most.
_FURTHEST = 3


class ThingRows(OutlineRows["Thing"]):
    """Things with how often they were mentioned."""

    def leaf(self, item: Thing, width: int) -> list[Piece]:
        del width
        return [("", "  "), glyph(item), ("", f" {item.name}"), ("dim", f"  {item.mention_count}")]


class GraphRoom(OutlineRoom["Thing"]):
    """A list, the neighbourhood of what is chosen in it, and all that is known of what is under the cursor."""

    NAME: ClassVar[str] = "Graph"
    CSS_PATH: ClassVar[str | list[str | PurePath]] = ["outline_room.tcss", "graph.tcss"]
    FINDS: ClassVar[str] = "a part of a name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "table", "Table", tooltip="As a diagram, as a table"),
        Binding("a", "all", "All", tooltip="Only what is connected and was mentioned twice, or all"),
        Binding("plus", "hops(1)", "Steps", key_display="+", tooltip="More steps from the middle, fewer"),
        Binding("equals_sign", "hops(1)", "Steps", show=False, key_display="="),
        Binding("minus", "hops(-1)", "Steps", key_display="-", tooltip="More steps from the middle, fewer"),
        Binding("3", "focus_half(3)", "Focus", show=False, tooltip="To the list, to the diagram, to the text"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._connected = True
        self._hops = 1
        self._as_table = False
        #: What stands in the middle; what stood there before, for the way back.
        self._centre = ""
        self._way: list[str] = []

    # -- what is asked

    def rows_widget(self) -> OutlineRows[Thing]:
        return ThingRows(id="things")

    def reading(self) -> Callable[[Workspace], Outline[Thing]]:
        return Question(self.words, self._connected)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Thing]]:
        del keys  # all are here
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found
        return lambda ws: graph_reading.whole(ws, found, key) if isinstance(found, Shown) and key != LIST else None

    def nothing(self, found: Outline[Thing]) -> str:
        if found.total:
            return "Nothing is connected and was mentioned twice yet.\n\na shows all that there is."
        return (
            "Memories speak of nobody and nothing yet.\n\nWhat matters in sessions is found where a model reads them:"
            " the how-to about understanding says how."
        )

    # -- the screen

    def panes(self) -> ComposeResult:
        with Container(id="beside"):
            yield Map(id="map")
            yield TieRows(id="table")
            yield from super().panes()

    @property
    def _map(self) -> Map:
        return self.query_one(Map)

    @property
    def _table(self) -> TieRows:
        return self.query_one(TieRows)

    @property
    def told_of(self) -> str | None:
        """What the pane tells of: what the cursor stands on, wherever that is."""
        if self.focused is self._map:
            return self._map.key or None
        return self._table.key if self.focused is self._table else self.rows.key

    def show(self, found: Outline[Thing]) -> None:
        super().show(found)
        if self.rows.key == LIST and len(self.rows.keys) > 1 and not self._centre:
            self.rows.go(1)
        if not isinstance(found, Shown) or self._centre not in found.graph.things:
            self._centre, self._way = self._listed, []
        self._fill()

    @property
    def _listed(self) -> str:
        """The thing under the cursor of the list."""
        thing = self.rows.at
        return "" if thing is None else thing.id

    def _fill(self) -> None:
        found = self.found
        ego = None
        if isinstance(found, Shown) and self._centre in found.graph.things:
            ego = found.ties.ego(self._centre, self._hops)
        self._map.fill(ego)
        self._table.fill_ego(ego)
        self.call_after_refresh(self._arrange)  # what was empty before has no size yet
        if found is not None:
            steps = "" if self._hops == 1 else f", {self._hops} steps"
            more = f", {ego.left_out} more beside it" if ego is not None and ego.left_out else ""
            words = f"  / {self.words}" if self.words else ""
            self.about(f"{found.where}{steps}{more}{words}", found.banner)

    def _arrange(self) -> None:
        """Show the diagram, or the table where that was asked for or there is no room for the other."""
        if not self.stands:
            return
        beside = self.query_one("#beside", Container).size
        drawn = not self._as_table and is_drawable(beside.width, beside.height // 2)
        focused = self.focused in (self._map, self._table)
        self._map.display, self._table.display = drawn, not drawn
        if focused:
            (self._map if drawn else self._table).focus()

    def on_resize(self) -> None:
        self.call_after_refresh(self._arrange)

    # -- where the cursor is

    def moved(self) -> None:
        if self._listed and self._listed != self._centre:
            self._centre = self._listed
            self._way.clear()
            self._fill()
        super().moved()

    def on_map_moved(self) -> None:
        self.tell_of_it()

    def on_map_chosen(self) -> None:
        self._go(self._map.key)

    def on_descendant_focus(self) -> None:
        self.tell_of_it()

    def enter(self) -> None:
        if self.focused is self._table:
            self._go(self._table.key or "")
        else:
            self.action_focus_half(2)

    def _go(self, key: str) -> None:
        """Put a thing into the middle."""
        if key and key != self._centre:
            self._way.append(self._centre)
            self._centre_on(key)

    def _centre_on(self, key: str) -> None:
        self._centre = key
        self.rows.go_to(key)
        self._fill()
        self.tell_of_it()

    def retreat(self) -> bool:
        if self._way:
            self._centre_on(self._way.pop())
            return True
        if self.focused in (self._map, self._table):
            self.rows.focus()
            return True
        return super().retreat()

    # -- what the keys do

    def action_focus_half(self, number: int) -> None:
        if number == 2 and self.rows.keys:
            (self._map if self._map.display else self._table).focus()
        else:
            super().action_focus_half(min(number, 2))

    def action_table(self) -> None:
        self._as_table = not self._as_table
        self._arrange()

    def action_all(self) -> None:
        self._connected = not self._connected
        self.reload()

    def action_hops(self, by: int) -> None:
        hops = max(1, min(self._hops + by, _FURTHEST))
        if hops != self._hops:
            self._hops = hops
            self._fill()
