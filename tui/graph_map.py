"""A neighbourhood on the screen: drawn, or as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from mait_code.projections.graph_queries import Thing
from mait_code.tui.graph_ego import glyph
from mait_code.tui.graph_layout import Drawing, draw
from mait_code.tui.rows import Rows
from mait_code.tui.text_lines import padded, visible

if TYPE_CHECKING:
    from textual.binding import BindingType

    from mait_code.tui.graph_ego import Ego, Tie
    from mait_code.tui.rows import Piece

__all__ = ["Map", "TieRows"]

#: Cells of a relation in the table.
_RELATION = 18


class Map(Widget, can_focus=True):
    """The neighbourhood as a drawing; the cursor goes from thing to thing."""

    KEYS_TITLE: ClassVar[str] = "In the diagram"
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "Down", show=False),
        Binding("up,k", "step(-1)", "Up", show=False),
        Binding("left,h", "side(-1)", "Left", show=False),
        Binding("right,l", "side(1)", "Right", show=False),
        Binding("enter", "choose", "Into the middle", show=False, tooltip="Put it into the middle"),
    ]

    class Moved(Message):
        """The cursor stands on another thing."""

    class Chosen(Message):
        """Enter, or a double click, on a thing."""

    def __init__(self, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._ego: Ego | None = None
        self._drawing: Drawing | None = None
        #: What the cursor stands on.
        self.key = ""

    def fill(self, ego: Ego | None) -> None:
        """Draw another neighbourhood; the cursor goes to its middle."""
        if ego is None or self._ego is None or ego.centre.id != self._ego.centre.id:
            self.key = "" if ego is None else ego.centre.id
        self._ego = ego
        self._draw()

    def _draw(self) -> None:
        width, height = self.content_size
        self._drawing = None if self._ego is None or height < 2 else draw(self._ego, width, height - 1)
        if self._drawing is not None and self._ego is not None and self.key not in self._drawing.places:
            self.key = self._ego.centre.id
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    def render(self) -> Content:
        drawing = self._drawing
        if drawing is None:
            return Content("")
        lines = [
            Content.assemble(*((visible(text), self._style(style, id_)) for style, text, id_ in line))
            for line in drawing.lines
        ]
        if drawing.left_out:
            lines.append(Content.styled(f"and {drawing.left_out} more", "$dim"))
        return Content("\n").join(lines)

    def _style(self, style: str, id_: str) -> str:
        named = {"": "$foreground", "strong": "bold $foreground"}.get(style) or f"${style}"
        return f"{named} on $cursor" if id_ and id_ == self.key else named

    # -- keys and mouse

    def action_step(self, by: int) -> None:
        """To the next thing on the same side, above or below."""
        places = {} if self._drawing is None else self._drawing.places
        if self.key in places:
            row, _, side = places[self.key]
            on = [(one[0], key) for key, one in places.items() if one[2] == side and (one[0] - row) * by > 0]
            self._go(min(on, key=lambda one: abs(one[0] - row))[1] if on else "")

    def action_side(self, by: int) -> None:
        """To the nearest thing further left or right."""
        places = {} if self._drawing is None else self._drawing.places
        if self.key in places:
            row, _, side = places[self.key]
            on = [(abs(one[0] - row), one[1], key) for key, one in places.items() if one[2] == side + by]
            self._go(min(on)[2] if on else "")

    def _go(self, key: str) -> None:
        if key and key != self.key:
            self.key = key
            self.refresh()
            self.post_message(self.Moved())

    def action_choose(self) -> None:
        if self.key:
            self.post_message(self.Chosen())


class TieRows(Rows["Tie | Thing"]):
    """The neighbourhood as a table: what is in the middle, then each thing beneath what it hangs on."""

    KEYS_TITLE: ClassVar[str] = "In the table"

    def __init__(self, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._depths: dict[str, int] = {}

    def fill_ego(self, ego: Ego | None) -> None:
        """Show another neighbourhood."""
        items: dict[str, Tie | Thing] = {}
        self._depths = {}
        if ego is not None:
            items[ego.centre.id] = ego.centre
            for depth, tie, _above in ego.walk():
                items[tie.other.id] = tie
                self._depths[tie.other.id] = depth
        self.fill(list(items), items)

    def paint(self, item: Tie | Thing, width: int) -> list[list[Piece]]:
        del width
        if isinstance(item, Thing):
            return [[glyph(item), ("strong", f" {item.name}")]]
        depth = self._depths.get(item.other.id, 1)
        arrow = "→ " if item.outward else "← "
        words = padded(item.words, _RELATION)
        return [[("dim", "  " * depth + arrow + words), glyph(item.other), ("", f" {item.other.name}")]]
