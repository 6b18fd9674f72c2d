"""A room with an outline on the left, and on the right a pane of what is under its cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from mait_code.tui.keys_wait import start
from mait_code.tui.outline_reading import Outline, Text
from mait_code.tui.outline_rows import OutlineRows
from mait_code.tui.room import Room
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets import Markdown

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line
    from mait_code.tui.rows import Rows

__all__ = ["OutlineRoom", "Pane", "styled"]

T = TypeVar("T")
#: Styles of pieces that are not the name of a colour.
_STYLES = {"": "$foreground", "text": "$foreground", "strong": "bold"}


class Pane(VerticalScroll, can_focus=True):
    """What is under the cursor, whole."""

    KEYS_TITLE: ClassVar[str] = "In the text"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "roll(1)", "Down", show=False),
        Binding("up,k", "roll(-1)", "Up", show=False),
        Binding("pagedown,space", "roll(15)", "Page down", show=False),
        Binding("pageup", "roll(-15)", "Page up", show=False),
        Binding("home,g", "roll(-100000)", "First", show=False),
        Binding("end,G", "roll(100000)", "Last", show=False),
    ]

    def action_roll(self, by: int) -> None:
        self.scroll_relative(y=by, animate=False)


class OutlineRoom(Room[Outline[T]], Generic[T]):
    """Subclasses give `rows_widget`, `leaves`, `whole` and `nothing`."""

    CSS_PATH: ClassVar[str | list[str | PurePath]] = "outline_room.tcss"
    FINDS: ClassVar[str] = "words"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Filter", tooltip="Filter by words"),
        Binding("1", "focus_half(1)", "Focus", show=False, tooltip="To the list, to the text"),
        Binding("2", "focus_half(2)", "Focus", show=False, tooltip="To the list, to the text"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.found: Outline[T] | None = None
        self.words = ""
        self._text: Text | None = None
        self._text_of: str | None = None
        self._wanted: str | None = None
        self._saying = False

    # -- what subclasses say

    def rows_widget(self) -> OutlineRows[T]:
        """The outline."""
        raise NotImplementedError

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, T]]:
        """What asks for leaves that came into sight."""
        raise NotImplementedError

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        """What asks for the text of a leaf or a branch; it gives None where that is gone."""
        raise NotImplementedError

    def nothing(self, found: Outline[T]) -> str:
        """What to say where there is nothing at all, with what to do next."""
        raise NotImplementedError

    # -- the screen

    def body(self) -> ComposeResult:
        yield Input(placeholder=self.FINDS, id="find", compact=True)
        with Container(id="halves"):
            yield self.rows_widget()
            yield from self.panes()
        yield Static(id="no-leaves", classes="empty")

    def panes(self) -> ComposeResult:
        """What stands beside the outline."""
        with Pane(id="pane"):
            yield Static(id="pane-title")
            yield Static(id="pane-plain")
            yield Static(id="pane-facts")

    def begin(self) -> None:
        self.find_box.display = False
        super().begin()
        self.rows.focus()

    @property
    def stands(self) -> bool:
        """Whether the widgets are there still: answers may come while the house is being closed."""
        return self.is_attached and bool(self.query(OutlineRows)) and bool(self.query("#pane-facts"))

    @property
    def rows(self) -> OutlineRows[T]:
        """The outline."""
        return self.query_one(OutlineRows)

    @property
    def pane(self) -> Pane:
        """The text beside it."""
        return self.query_one(Pane)

    @property
    def told_of(self) -> str | None:
        """The key of what the pane tells of."""
        return self.rows.key

    @property
    def find_box(self) -> Input:
        """Where words are typed."""
        return self.query_one("#find", Input)

    def show(self, found: Outline[T]) -> None:
        self.found = found
        rows = self.rows
        rows.fill_outline(found)
        empty = not rows.keys
        nothing = self.query_one("#no-leaves", Static)
        nothing.display = empty
        self.query_one("#halves").display = not empty
        if empty:
            missed = f"Nothing has the words “{visible(self.words)}”.\n\nEsc shows all."
            nothing.update(Content(missed if self.words and found.total else self.nothing(found)))
        elif self.focused is None:
            rows.focus()
        self.about(f"{found.where}  / {self.words}" if self.words else found.where, found.banner)
        self._say()

    def on_rows_wanted(self, message: Rows.Wanted) -> None:
        keys = message.keys
        asks = self.leaves(keys)

        async def fetch() -> None:
            try:
                found = await self.house.ask(asks)
            except Exception as error:
                self.house.tell_error(error)
                return
            if self.stands:
                self.rows.add_leaves(found)

        start(self, fetch, group="rows")

    def on_outline_rows_unfolded(self) -> None:
        self.reload()

    # -- the text

    def on_rows_moved(self, message: Rows.Moved) -> None:
        if message.rows is self.rows:
            self.moved()
        else:
            self.tell_of_it()

    def moved(self) -> None:
        """The cursor of the outline stands on another row."""
        self.tell_of_it()

    def tell_of_it(self) -> None:
        """Show in the pane what is under the cursor now."""
        if not self._saying:  # one look for however many keys came before it
            self._saying = True
            self.call_after_refresh(self._say)

    def _say(self) -> None:
        self._saying = False
        if self.stands:
            start(self, self._fetch_text, group="text", exclusive=True)

    async def _fetch_text(self) -> None:
        key = self._wanted = self.told_of
        asks = None if key is None else self.whole(key)

        def ask(ws: Workspace) -> Text | None:
            # Where the cursor went on meanwhile nobody waits for it any more.
            return asks(ws) if asks is not None and self._wanted == key else None

        try:
            text = await self.house.ask(ask)
        except Exception as error:
            self.house.tell_error(error)
            return
        if not self.stands or key != self.told_of:
            return
        if key != self._text_of:
            self.pane.scroll_to(y=0, animate=False)
        if text != self._text or key != self._text_of:
            await self._put(text or Text("", [], ""))
        self._text, self._text_of = text, key

    async def _put(self, text: Text) -> None:
        title = self.query_one("#pane-title", Static)
        title.display = bool(text.title)
        title.update(Content.styled(visible(text.title), "bold $primary"))
        width = max((len(name) for name, _ in text.facts), default=0) + 2
        lines = [
            Content.assemble((f"{name:<{width}}", "$dim"), visible(value, multiline=True)) for name, value in text.facts
        ]
        facts = self.query_one("#pane-facts", Static)
        facts.display = bool(lines)
        facts.update(Content("\n").join(lines))
        shown = visible(text.text, multiline=True)
        plain = self.query_one("#pane-plain", Static)
        plain.display = text.plain
        if text.plain:
            plain.update(Content(shown) if text.lines is None else styled(text.lines))
            for markdown in self.query("#pane-text"):
                markdown.display = False
        else:
            markdown = await self._markdown()
            markdown.display = True
            markdown.update(shown)

    async def _markdown(self) -> Markdown:
        """Where Markdown is shown. It is made for the first text: loading what reads it would hold up the first picture."""
        from textual.widgets import Markdown

        for markdown in self.query("#pane-text").results(Markdown):
            return markdown
        made = Markdown(id="pane-text", open_links=False)
        await self.query_one("#pane", Pane).mount(made, after="#pane-plain")
        return made

    # -- what the keys do

    def on_rows_chosen(self) -> None:
        self.enter()

    def enter(self) -> None:
        """Enter on a leaf: into its text."""
        self.pane.focus()

    def action_focus_half(self, number: int) -> None:
        if self.rows.keys:
            (self.rows if number == 1 else self.pane).focus()

    def action_find(self) -> None:
        self.find_box.display = True
        self.find_box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.words = event.value
        self.reload()

    def on_input_submitted(self) -> None:
        """Enter goes into what was found."""
        self.find_box.display = bool(self.words)
        self.rows.focus()

    def retreat(self) -> bool:
        if self.focused is self.pane:
            self.rows.focus()
            return True
        box = self.find_box
        if not box.display:
            return False
        box.value = ""
        box.display = False
        self.rows.focus()
        return True


def styled(lines: list[Line]) -> Content:
    """Lines of pieces with the styles that rows know."""
    return Content("\n").join(
        Content.assemble(*((visible(text), _STYLES.get(style) or f"${style}") for style, text in line))
        for line in lines
    )
