"""A sheet: one thing to read, over the whole screen where it is long."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Static

from mait_code.tui.dialog import Dialog

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.content import Content

__all__ = ["Sheet"]


class Sheet(Dialog[str]):
    """Something to read. Escape, Enter and q close it."""

    KEYS_TITLE: ClassVar[str] = "Reading"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "close", "Close", show=False),
        Binding("down,j", "roll(1)", "Down", show=False),
        Binding("up,k", "roll(-1)", "Up", show=False),
        Binding("pagedown,space", "roll(12)", "Page down", show=False),
        Binding("pageup", "roll(-12)", "Page up", show=False),
        Binding("home,g", "roll(-100000)", "First", show=False),
        Binding("end,G", "roll(100000)", "Last", show=False),
    ]

    def __init__(self, heading: str, text: Content) -> None:
        super().__init__()
        self._heading = heading
        self._text = text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog page") as box:
            box.border_title = self._heading
            box.border_subtitle = "↑↓ · Esc closes"
            yield Static(self._text)

    def action_roll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        self.leave(None)
