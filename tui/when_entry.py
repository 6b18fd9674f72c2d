"""A time, written in words, and beneath them what they mean, as they are written."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from mait_code.tui import list_reading
from mait_code.tui.dialog import Dialog
from mait_code.tui.form import Field
from mait_code.tui.keys_wait import start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widget import Widget

    from mait_code.tui.house import House
    from mait_code.tui.list_reading import Meaning

__all__ = ["AskWhen", "WhenEntry", "WhenField"]

#: Seconds that the keys have to rest before the words are read.
_REST = 0.06
_EXAMPLES = "friday EOD · tomorrow morning · in 2 weeks · 24 dec 18:00 · every monday 9am"
_LENGTHS = "30m · 2h · 3d · tomorrow 9am · monday"


class WhenEntry(Vertical):
    """A line for a time, and what it means. `standing` is what the line means while it is as it was."""

    DEFAULT_CSS = """
    WhenEntry { height: auto; }
    WhenEntry .means { height: auto; min-height: 2; }
    """

    class Submitted(Message):
        """Enter. `value` can be read as a time."""

        def __init__(self, value: str) -> None:
            super().__init__()
            self.value = value

    def __init__(self, value: str = "", standing: str = "", snooze: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes="when")
        self._began = value
        self._standing = standing
        self._snooze = snooze
        #: What the words mean; None while they are being read, and where there are none.
        self.meaning: Meaning | None = None

    def compose(self) -> ComposeResult:
        yield Input(self._began, compact=True, select_on_focus=False)
        yield Static(classes="means")

    def on_mount(self) -> None:
        self._say()

    @property
    def input(self) -> Input:
        """The line."""
        return self.query_one(Input)

    @property
    def value(self) -> str:
        """The words as they are written now."""
        return self.input.value

    @value.setter
    def value(self, text: str) -> None:
        self.input.value = text
        self.input.cursor_position = len(text)

    def focus(self, scroll_visible: bool = True) -> WhenEntry:
        self.input.focus(scroll_visible)
        self.input.cursor_position = len(self.value)
        return self

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._say()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.post_message(self.Submitted(event.value.strip()))

    def _say(self) -> None:
        text = self.value.strip()
        self.meaning = None
        if not text:
            self._show(Content.styled(_LENGTHS if self._snooze else _EXAMPLES, "$dim"))
        elif text == self._began.strip() and self._standing:
            self._show(Content.styled(f"now  {self._standing}", "$dim"))
        start(self, partial(self._read, text), group="means", exclusive=True)

    async def _read(self, text: str) -> None:
        if not text or (text == self._began.strip() and self._standing):
            return  # and what was being read is not wanted any more
        await asyncio.sleep(_REST)
        now, snooze = list_reading.moment(), self._snooze
        try:
            found = await cast("House", self.app).ask(lambda _ws: list_reading.meaning(text, now, snooze))
        except Exception as error:
            cast("House", self.app).tell_error(error)
            return
        if not self.is_attached or self.value.strip() != text:
            return
        self.meaning = found
        if found.reads:
            self._show(Content.assemble(("→ ", "$success"), found.words))
        else:
            hint = (f"\n{found.hint}", "$dim") if found.hint else ""
            self._show(Content.assemble((found.words, "$warning"), hint))

    def _show(self, words: Content) -> None:
        self.query_one(".means", Static).update(words)


class WhenField(Field):
    """A time in a form."""

    def __init__(self, name: str, label: str, *, standing: str = "", hint: str = "") -> None:
        super().__init__(name, label, hint=hint)
        self._standing = standing

    def widget(self, text: str) -> Widget:
        return WhenEntry(text, self._standing, id=f"field-{self.name}")


class AskWhen(Dialog[str]):
    """A time alone. Enter gives its words, Escape None; ↑ and ↓ go through what is often wanted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("down", "step(1)", "Other time", priority=True),
        Binding("up", "step(-1)", "Other time", priority=True),
    ]

    def __init__(self, heading: str, detail: str, often: Sequence[str], snooze: bool = False) -> None:
        super().__init__()
        self._heading = heading
        self._detail = detail
        self._often = often
        self._snooze = snooze
        self._place = 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._heading
            box.border_subtitle = "Enter · Esc cancels · ↑↓ often wanted"
            if self._detail:
                yield Static(Content(self._detail), classes="about")
            yield WhenEntry(self._often[0] if self._snooze else "", snooze=self._snooze)
            yield Static(self._row(), classes="detail")

    def on_mount(self) -> None:
        if self.children:
            self.query_one(WhenEntry).focus()

    def _row(self) -> Content:
        return Content.styled(" · ".join(self._often), "$dim")

    def action_step(self, by: int) -> None:
        entry = self.query_one(WhenEntry)
        if entry.value.strip() == self._often[self._place]:
            self._place = (self._place + by) % len(self._often)
        entry.value = self._often[self._place]

    def on_when_entry_submitted(self, message: WhenEntry.Submitted) -> None:
        message.stop()
        entry, text = self.query_one(WhenEntry), message.value

        async def give() -> None:
            # Enter may come before the words were read: what cannot be meant keeps the dialog open.
            now, snooze = list_reading.moment(), self._snooze
            found = entry.meaning
            if found is None:
                try:
                    found = await cast("House", self.app).ask(lambda _ws: list_reading.meaning(text, now, snooze))
                except Exception as error:
                    cast("House", self.app).tell_error(error)
                    return
            if found.reads:
                self.leave(text)

        start(self, give, group="means-given", exclusive=True)

    def action_cancel(self) -> None:
        self.leave(None)
