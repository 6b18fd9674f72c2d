"""Small dialogs: a question with yes or no, one line of text, one of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from mait_code.tui.dialog import Dialog
from mait_code.tui.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.tui.rows import Piece

__all__ = ["Ask", "Confirm", "Pick"]


class Confirm(Dialog[bool]):
    """A question. y or Enter is yes, n or Escape is no. `danger` makes it look like what it is, and Enter mean no."""

    KEYS_TITLE: ClassVar[str] = "Question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,q", "answer(False)", "No"),
        Binding("enter", "enter", "The likely answer", show=False),
    ]

    def __init__(self, question: str, detail: str = "", yes: str = "Yes", danger: bool = False) -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._yes = yes
        self._danger = danger

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog danger" if self._danger else "dialog") as box:
            box.border_title = self._yes
            yield Static(Content(self._question))
            if self._detail:
                yield Static(Content(self._detail), classes="detail")
            yield Static(
                Content.assemble(
                    ("y", "bold $accent"), f" {self._yes}", "    ", ("n", "bold $accent"), " No", ("  Esc", "$dim")
                ),
                classes="answers",
            )

    def action_answer(self, answer: bool) -> None:
        self.leave(answer)

    def action_enter(self) -> None:
        self.leave(not self._danger)


class Ask(Dialog[str]):
    """One line of text. Enter gives it, Escape gives None. `empty` allows for none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, heading: str, value: str = "", hint: str = "", empty: bool = False) -> None:
        super().__init__()
        self._heading = heading
        self._value = value
        self._hint = hint
        self._empty = empty

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._heading
            box.border_subtitle = "Enter · Esc cancels"
            yield Input(self._value, compact=True, select_on_focus=False)
            if self._hint:
                yield Static(Content(self._hint), classes="detail")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip() or self._empty:
            self.leave(event.value.strip())

    def action_cancel(self) -> None:
        self.leave(None)


class _Options(Rows[str]):
    def paint(self, item: str, width: int) -> list[list[Piece]]:
        del width
        label, _, detail = item.partition("\t")
        return [[("", f" {label}"), ("dim", f"  {detail}" if detail else "")]]


class Pick(Dialog[str]):
    """One of many, found by typing a part of it. `options` are (key, label, detail); gives the key, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("down", "step(1)", "Down", priority=True),
        Binding("up", "step(-1)", "Up", priority=True),
    ]

    def __init__(self, heading: str, options: Sequence[tuple[str, str, str]], current: str | None = None) -> None:
        super().__init__()
        self._heading = heading
        self._options = options
        self._current = current

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog pick") as box:
            box.border_title = self._heading
            box.border_subtitle = "type to find · Enter · Esc cancels"
            yield Input(placeholder="find", compact=True)
            yield _Options()

    def on_mount(self) -> None:
        if not self.query(_Options):
            return  # the house is being closed: nothing, or not all, was put in
        rows = self.query_one(_Options)
        rows.can_focus, rows.led = False, True
        self._fill("")
        if self._current is not None:
            rows.go_to(self._current)

    def _fill(self, words: str) -> None:
        asked = words.casefold().split()
        found = {
            key: f"{label}\t{detail}"
            for key, label, detail in self._options
            if all(word in label.casefold() for word in asked)
        }
        rows = self.query_one(_Options)
        rows.fill(list(found), found)
        rows.styles.height = min(max(len(found), 1), 16)

    def on_input_changed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def on_input_submitted(self) -> None:
        self._give()

    def on_rows_chosen(self) -> None:
        self._give()

    def _give(self) -> None:
        key = self.query_one(_Options).key
        if key is not None:
            self.leave(key)

    def action_step(self, by: int) -> None:
        self.query_one(_Options).action_step(by)

    def action_cancel(self) -> None:
        self.leave(None)
