"""A form: several fields saved together with Ctrl+S, and a look at both sides where somebody else came between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from mait_code.commands import forms
from mait_code.commands.forms import ChangedMeanwhile
from mait_code.tui.dialog import Dialog
from mait_code.tui.dialogs import Confirm
from mait_code.tui.keys_wait import start
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.changing import Back
    from mait_code.tui.house import House

__all__ = ["Compare", "Field", "Form"]

T = TypeVar("T")


class Field:
    """One field: a line; several `lines`; or one of `choices`. `hint` stands beside its label."""

    def __init__(self, name: str, label: str, *, lines: int = 1, choices: Sequence[str] = (), hint: str = "") -> None:
        self.name = name
        self.label = label
        self.lines = lines
        self.choices = tuple(choices)
        self.hint = hint

    def widget(self, text: str) -> Widget:
        """What it is edited in."""
        if self.choices:
            return _Choice(self.choices, text, f"field-{self.name}")
        if self.lines > 1:
            area = TextArea(text, id=f"field-{self.name}", compact=True, tab_behavior="focus", soft_wrap=True)
            area.styles.height = self.lines
            return area
        return Input(text, id=f"field-{self.name}", compact=True, select_on_focus=False)


class _Choice(Widget, can_focus=True):
    """One of a few words, changed by ← → or Space."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "step(-1)", "Other choice", show=False),
        Binding("right,space", "step(1)", "Other choice", show=False),
    ]

    class Changed(Message):
        """Another word was chosen."""

    def __init__(self, choices: tuple[str, ...], value: str, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._choices = choices if value in choices else (*choices, value)
        self.value = value

    def render(self) -> Content:
        parts: list[Any] = []
        for choice in self._choices:
            shown = f" {visible(choice.replace('_', ' '))} "
            parts.append((shown, "bold $background on $primary") if choice == self.value else (shown, "$dim"))
        return Content.assemble(*parts)

    def action_step(self, by: int) -> None:
        self.value = self._choices[(self._choices.index(self.value) + by) % len(self._choices)]
        self.refresh()
        self.post_message(self.Changed())


class Form(Dialog[T], Generic[T]):
    """Fields over a room. Ctrl+S saves, Escape leaves, and asks first where something was written.

    `save(ws, seen, wanted)` runs in the workroom: `seen` are the texts that the form began with, `wanted` those it holds. It
    raises forms.ChangedMeanwhile where `seen` is not true any more; the form then shows both sides and asks. Gives the result,
    or None. `said` says what was done, in a toast with an undo. `memory` and `back` as in House.change.
    """

    KEYS_TITLE: ClassVar[str] = "Form"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("escape", "cancel", "Cancel"),
    ]

    def __init__(
        self,
        heading: str,
        fields: Sequence[Field],
        texts: Mapping[str, str],
        save: Callable[[Workspace, Mapping[str, str], Mapping[str, str]], T],
        said: Callable[[T], str],
        *,
        now: Callable[[Workspace], Mapping[str, str]] | None = None,
        memory: bool = False,
        back: Callable[[T], Back | None] | None = None,
    ) -> None:
        super().__init__()
        self._heading = heading
        self._fields = fields
        self._seen = {field.name: texts.get(field.name, "") for field in fields}
        self._save = save
        self._said = said
        self._now = now
        self._memory = memory
        self._back = back
        self._saving = False

    @property
    def house(self) -> House:
        """The app."""
        return cast("House", self.app)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog form") as box:
            box.border_title = self._heading
            box.border_subtitle = "Ctrl+S saves · Esc cancels · Tab goes on"
            yield Static(classes="notice")
            with VerticalScroll(can_focus=False):
                for field in self._fields:
                    hint = (f"  {field.hint}", "$dim") if field.hint else ""
                    yield Static(Content.assemble((field.label, "bold"), hint), classes="label")
                    yield field.widget(self._seen[field.name])

    def on_mount(self) -> None:
        if not self.children:
            return  # the house is being closed: nothing was put in
        self.query_one(".notice").display = False
        # What an editor makes of a text (its line ends) is not yet a change.
        self._seen_here = self.texts
        self._original = self._seen
        first = self._fields[0]
        widget = self.query_one(f"#field-{first.name}")
        widget.focus(scroll_visible=False)
        if isinstance(widget, Input):
            widget.cursor_position = len(widget.value)

    @property
    def is_ending(self) -> bool:
        return self._saving or super().is_ending

    @property
    def texts(self) -> dict[str, str]:
        """The fields as they are written now."""
        found = {}
        for field in self._fields:
            widget = self.query_one(f"#field-{field.name}")
            found[field.name] = widget.text if isinstance(widget, TextArea) else cast("Any", widget).value
        return found

    @property
    def wanted(self) -> dict[str, str]:
        """What is to be saved: the fields that were touched as they are written, the others as they were."""
        texts = self.texts
        return {name: self._original[name] if text == self._seen_here[name] else text for name, text in texts.items()}

    @property
    def dirty(self) -> bool:
        """Whether leaving would lose something."""
        return self.is_mounted and bool(self.children) and self.texts != self._seen_here

    # -- what happens elsewhere

    def journal_changed(self) -> None:
        """Say so where the thing was changed underneath; what is written stays."""
        now = self._now
        if now is None or self._saving or not self.is_mounted or not self.children:
            return

        async def look() -> None:
            try:
                found = await self.house.ask(now)
            except Exception:
                return  # saving tells it
            if not self.is_attached:
                return
            differs = any(found.get(name, "") != text for name, text in self._original.items())
            notice = self.query_one(".notice", Static)
            notice.display = differs
            notice.update("It was changed elsewhere meanwhile: saving shows both.")

        start(self, look, group="look", exclusive=True)

    # -- saving and leaving

    def action_save(self) -> None:
        if self._saving:
            return
        if not self.dirty and self._now is not None:
            self.leave(None)
            return
        self._saving = True
        seen, wanted = self._original, self.wanted
        start(self, partial(self._store, seen, wanted), group="changes")

    async def _store(self, seen: Mapping[str, str], wanted: Mapping[str, str]) -> None:
        save = self._save
        try:
            while True:
                try:
                    done = await self.house.do(lambda ws, s=seen, w=wanted: save(ws, s, w), self._memory)  # type: ignore[misc]
                except ChangedMeanwhile as error:
                    answer = await self.app.push_screen_wait(Compare(self._fields, seen, wanted, error.now))
                    if answer is None:
                        return
                    seen, wanted = {name: error.now.get(name, "") for name in seen}, answer
                    continue
                break
        except Exception as error:
            self.house.tell_error(error)
            return
        finally:
            self._saving = False
        self.house.told(done, self._said(done.result), self._back and self._back(done.result))
        self.leave(done.result)

    async def action_cancel(self) -> None:
        if self._saving:
            return  # it is a moment's work, and what came of it is told
        if not self.dirty:
            self.leave(None)
            return

        def answered(leave: bool | None) -> None:
            if leave:
                self.leave(None)

        self.app.push_screen(Confirm("Leave without saving what you wrote?", yes="Leave", danger=True), answered)


class Compare(Dialog[dict[str, str]]):
    """Both sides of a thing that was changed while a form of it was open. Gives what is to be saved; None goes on writing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "mine", "Save mine where both changed"),
        Binding("t", "theirs", "Keep theirs where both changed"),
        Binding("escape,q", "back", "Go on writing"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(
        self,
        fields: Sequence[Field],
        seen: Mapping[str, str],
        wanted: Mapping[str, str],
        now: Mapping[str, str],
    ) -> None:
        super().__init__()
        self._fields = fields
        self._seen = seen
        self._wanted = wanted
        self._now = {field.name: now.get(field.name, "") for field in fields}
        self._merged, self._both = forms.merged(seen, wanted, self._now)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog compare") as box:
            box.border_title = "Changed elsewhere meanwhile"
            box.border_subtitle = "Esc goes on writing"
            for field in self._fields:
                yield from self._side_by_side(field)
            which = "where both changed" if self._both else "together with theirs"
            yield Static(
                Content.assemble(
                    ("m", "bold $accent"), f" save mine {which}    ",
                    *((("t", "bold $accent"), " keep theirs there    ") if self._both else ()),
                    ("Esc", "bold $accent"), " go on writing",
                ),
                classes="answers",
            )  # fmt: skip

    def _side_by_side(self, field: Field) -> ComposeResult:
        name = field.name
        was, mine, theirs = self._seen.get(name, ""), self._wanted.get(name, ""), self._now[name]
        if was == mine and was == theirs:
            return
        note = "both changed it" if name in self._both else "you changed it" if was == theirs else "they changed it"
        yield Static(
            Content.assemble((field.label, "bold"), (f"  {note}", "$warning" if name in self._both else "$dim"))
        )
        for label, text, style in (
            ("was   ", was, "$dim"),
            ("mine  ", mine, "$success"),
            ("theirs", theirs, "$accent"),
        ):
            if label.strip() != "was" and text == was:
                continue
            yield Static(Content.assemble((f"  {label} ", "$dim"), (visible(text, multiline=True) or "(empty)", style)))

    def action_mine(self) -> None:
        self.leave(self._merged)

    def action_theirs(self) -> None:
        self.leave({**self._merged, **{name: self._now[name] for name in self._both}})

    def action_back(self) -> None:
        self.leave(None)

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)
