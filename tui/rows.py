"""Rows: a list of which only what is seen is painted, however long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from mait_code.tui.text_lines import cell_len, fitted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual import events
    from textual.binding import BindingType

__all__ = ["Piece", "Rows"]

T = TypeVar("T")
#: Styles that are the theme's variable of that name. Besides there are strong, and text or nothing for plain.
_COLOURS = ("dim", "primary", "accent", "success", "warning", "error")
#: A style's name and text.
Piece = tuple[str, str]

#: Rows asked for above and below those that are seen.
_AHEAD = 20


class Rows(ScrollView, Generic[T], can_focus=True, inherit_bindings=False):
    """A list with a cursor. Subclasses say with `paint` how an item looks, in `row_height` lines.

    `fill` gives it keys and items; the cursor stays with its key. Where there are too many items to make them all, only some
    are given, and `Wanted` asks for those that come into sight.
    """

    KEYS_TITLE: ClassVar[str] = "In the list"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("pagedown", "leaf(1)", "Page down", show=False),
        Binding("pageup", "leaf(-1)", "Page up", show=False),
        Binding("home,g", "edge(0)", "First", show=False),
        Binding("end,G", "edge(-1)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, rows: Rows[Any]) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> Rows[Any]:
            return self.rows

    class Chosen(Moved):
        """Enter or a double click on a row."""

    class Wanted(Moved):
        """Rows came into sight whose items are not here. `keys` are theirs and those about them."""

        def __init__(self, rows: Rows[Any], keys: list[str]) -> None:
            super().__init__(rows)
            self.keys = keys

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.row_height = 1
        self.keys: Sequence[str] = ()
        self.items: dict[str, T] = {}
        self.cursor = 0
        #: Whether the cursor is shown as the one in use while another widget has the keys, as in a list that is typed at.
        self.led = False
        self._painted: dict[int, list[Strip]] = {}
        self._styles: dict[tuple[str, bool], Style] = {}
        self._asked: tuple[int, int] = (0, 0)

    def paint(self, item: T, width: int) -> list[list[Piece]]:
        """The lines of an item, each as pieces of a style and text. What is too long is cut."""
        raise NotImplementedError

    # -- contents

    def fill(self, keys: Sequence[str], items: Mapping[str, T]) -> None:
        """Show other contents. The cursor stays on its key, or where it was if that one is gone."""
        before = self.key
        keys_are_others = list(keys) != list(self.keys)
        self.keys = keys
        self.items = dict(items)
        if keys_are_others:
            place = keys.index(before) if before is not None and before in keys else min(self.cursor, len(keys) - 1)
            self.cursor = max(place, 0)
        self._asked = (0, 0)
        self._measure()
        if self.key != before:
            self.post_message(self.Moved(self))

    def add(self, items: Mapping[str, T]) -> None:
        """More items, asked for by `Wanted`."""
        self.items.update(items)
        self._repaint()

    @property
    def key(self) -> str | None:
        """The key under the cursor; None where there are no rows."""
        return self.keys[self.cursor] if self.cursor < len(self.keys) else None

    @property
    def item(self) -> T | None:
        """The item under the cursor, if it is here."""
        key = self.key
        return None if key is None else self.items.get(key)

    def go(self, place: int) -> None:
        """Put the cursor on a row by its number."""
        place = max(0, min(place, len(self.keys) - 1))
        if place != self.cursor:
            for one in (self.cursor, place):
                self._painted.pop(one, None)
                self.refresh_lines(one * self.row_height, self.row_height)
            self.cursor = place
            self.post_message(self.Moved(self))
        self.show_cursor()

    def go_to(self, key: str) -> bool:
        """Put the cursor on a key. False where it is not in the list."""
        if key not in self.keys:
            return False
        self.go(self.keys.index(key))
        return True

    def show_cursor(self) -> None:
        """Scroll so that the row under the cursor is seen."""
        if self.is_mounted and self.keys:
            region = Region(0, self.cursor * self.row_height, 1, self.row_height)
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # -- painting

    def set_row_height(self, lines: int) -> None:
        """Lines a row takes."""
        if lines != self.row_height:
            self.row_height = lines
            self._measure()
            self.call_after_refresh(self.show_cursor)

    def _measure(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self.keys) * self.row_height)
        self._repaint()

    def _repaint(self) -> None:
        self._painted.clear()
        self._styles.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painted.clear()
        self._styles.clear()

    def on_resize(self) -> None:
        self._measure()
        self.show_cursor()

    def on_focus(self) -> None:
        self._repaint()

    def on_blur(self) -> None:
        self._repaint()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place, line = divmod(y + self.scroll_offset.y, self.row_height)
        if place >= len(self.keys):
            return Strip.blank(width, self.rich_style)
        strips = self._painted.get(place)
        if strips is None:
            if len(self._painted) > 500:
                self._painted.clear()
            strips = self._painted[place] = self._paint(place, width)
        return strips[line] if line < len(strips) else Strip.blank(width, self._style("", place))

    def _paint(self, place: int, width: int) -> list[Strip]:
        item = self.items.get(self.keys[place])
        if item is None:
            self._want(place)
            lines: list[list[Piece]] = [[("dim", "…")]]
        else:
            lines = self.paint(item, width)
        return [self._strip(pieces, place, width) for pieces in lines[: self.row_height]]

    def _strip(self, pieces: list[Piece], place: int, width: int) -> Strip:
        segments, used = [], 0
        for name, text in pieces:
            shown = fitted(text, width - used)
            if shown:
                segments.append(Segment(shown, self._style(name, place)))
                used += cell_len(shown)
        return Strip(segments, used).adjust_cell_length(width, self._style("", place))

    def _style(self, name: str, place: int) -> Style:
        asked = (name, place == self.cursor)
        found = self._styles.get(asked)
        if found is None:
            found = self._styles[asked] = self._style_made(*asked)
        return found

    def _style_made(self, name: str, chosen: bool) -> Style:
        # From the theme's variables: a component class for each of them would take a third of the time until the first picture.
        theme = self.app.theme_variables
        base = self.rich_style
        if chosen:
            base += Style(bgcolor=theme["cursor" if self.has_focus or self.led else "surface"])
        if name == "strong":
            base += Style(bold=True)
        elif name in _COLOURS:
            base += Style(color=theme[name])
        return base

    def _want(self, place: int) -> None:
        if self._asked[0] <= place < self._asked[1]:
            return
        seen = self.scrollable_content_region.height // self.row_height + 1
        low = max(0, min(place, self.scroll_offset.y // self.row_height) - _AHEAD)
        self._asked = (low, low + seen + 2 * _AHEAD)
        keys = [key for key in self.keys[slice(*self._asked)] if key not in self.items]
        self.post_message(self.Wanted(self, keys))

    def seen_keys(self, before: int = 60) -> list[str]:
        """The keys in sight and about it; before anything was laid out, the first ones."""
        height = self.scrollable_content_region.height
        if not height:
            return list(self.keys[:before])
        low = max(0, self.scroll_offset.y // self.row_height - _AHEAD)
        return list(self.keys[low : low + height // self.row_height + 1 + 2 * _AHEAD])

    # -- keys and mouse

    def action_step(self, by: int) -> None:
        self.go(self.cursor + by)

    def action_leaf(self, by: int) -> None:
        self.go(self.cursor + by * max(1, self.scrollable_content_region.height // self.row_height - 1))

    def action_edge(self, place: int) -> None:
        self.go(len(self.keys) - 1 if place else 0)

    def action_choose(self) -> None:
        if self.key is not None:
            self.post_message(self.Chosen(self))

    def row_at(self, event: events.MouseEvent) -> int | None:
        """The row under the mouse."""
        offset = event.get_content_offset(self)
        if offset is None:
            return None
        place = (offset.y + self.scroll_offset.y) // self.row_height
        return place if place < len(self.keys) else None

    def on_click(self, event: events.Click) -> None:
        place = self.row_at(event)
        if place is not None:
            self.go(place)
            self.clicked(event.chain)

    def clicked(self, times: int) -> None:
        """The row under the cursor was clicked at, so many times in a row."""
        if times == 2:
            self.action_choose()
