"""What stands above and below a room: its banner, and the line of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widget import Widget

from mait_code.tui.cheat_sheet import joined
from mait_code.tui.text_lines import cell_len, fitted

if TYPE_CHECKING:
    from textual.screen import Screen

__all__ = ["Banner", "KeyLine"]

_WORDMARK = ("█▀▄▀█ ▄▀█ █ ▀█▀", "█ ▀ █ █▀█ █  █ ")
_WIDE, _TALL = 72, 32


class Banner(Widget):
    """The name of the room, where it is, and how much there is. One line; on a large terminal a wordmark beside it."""

    ALLOW_SELECT = False

    def __init__(self, name: str) -> None:
        super().__init__()
        self._room = name
        self._where = ""
        self._counts = ""

    def say(self, context: str, counts: str) -> None:
        """What stands beside the name, and on the right."""
        if (context, counts) != (self._where, self._counts):
            self._where, self._counts = context, counts
            self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        if self.content_size.height >= len(_WORDMARK) and width >= _WIDE:
            room = width - len(_WORDMARK[0]) - 3
            first = Content.assemble((_WORDMARK[0], "$primary"), "   ", (self._room, "bold $foreground"))
            second = self._line(Content.styled(_WORDMARK[1], "$primary").append("   "), room)
            return Content("\n").join([first, second])
        name = Content.assemble(("mait", "bold $primary"), (" › ", "$primary 60%"), (self._room, "bold"), "  ")
        return self._line(name, width - name.cell_length)

    def _line(self, head: Content, room: int) -> Content:
        counts = self._counts if cell_len(self._counts) + 6 <= room else ""
        context = fitted(self._where, room - cell_len(counts) - (1 if counts else 0))
        gap = " " * (room - cell_len(context) - cell_len(counts))
        return Content.assemble(head, (context, "$accent"), gap, (counts, "$dim"))


class KeyLine(Widget):
    """The keys that work now, as many as there is room for; the rest is in the cheat-sheet."""

    ALLOW_SELECT = False

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, _screen: Screen[object]) -> None:
        self.refresh()

    def render(self) -> Content:
        bindings = self.screen.active_bindings.values()
        shown = [one for one in joined(bindings) if one.binding.show]
        always = [one for one in shown if one.binding.action in ("keys", "leave")]
        others = [one for one in shown if one not in always]
        left = self.content_size.width - sum(one.width for one in always)
        parts: list[Content] = []
        for one in others:
            left -= one.width
            if left < 0:
                break
            parts.append(one.content())
        return Content("  ").join([*parts, *(one.content() for one in always)])
