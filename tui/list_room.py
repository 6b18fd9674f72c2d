"""A room with a list, and beside or beneath it the item under its cursor, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from mait_code.tui.keys_wait import start
from mait_code.tui.list_reading import Listed
from mait_code.tui.room import Room
from mait_code.tui.sections import Sections
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.rows import Rows

__all__ = ["ListRoom"]

T = TypeVar("T")
R = TypeVar("R")
#: Lines of the screen from which on a row takes two of them.
_ROOMY = 18


class ListRoom(Room[Listed[T]], Generic[T]):
    """Subclasses give `rows_widget`, `whole`, `nothing`, and `VIEWS` where the list shows one of several things."""

    CSS_PATH = "list_room.tcss"
    #: What the list can show: chosen by its number, or by v one after the other.
    VIEWS: ClassVar[tuple[str, ...]] = ()
    FINDS: ClassVar[str] = "words"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "roll", "Scroll the text", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.view = 0
        self.found: Listed[T] | None = None
        self.search = ""
        #: The key to put the cursor on when it is next seen.
        self.goal: str | None = None
        self._leaving: set[str] = set()
        self._sent: set[str] = set()

    # -- what subclasses say

    def rows_widget(self) -> Sections[T]:
        """The list."""
        raise NotImplementedError

    def whole(self, item: T) -> Content:
        """An item with all that is known of it."""
        raise NotImplementedError

    def nothing(self, found: Listed[T]) -> str:
        """What to say where the view is empty, with what to do next."""
        raise NotImplementedError

    def open(self, item: T) -> None:
        """Enter: read the item over the whole screen."""
        from mait_code.tui.sheet import Sheet

        self.app.push_screen(Sheet(self.title_of(item), self.whole(item)))

    def title_of(self, item: T) -> str:
        """What an item is called."""
        raise NotImplementedError

    # -- the screen

    def body(self) -> ComposeResult:
        yield Static(id="views")
        yield Input(placeholder=self.FINDS, id="search", compact=True)
        with Container(id="two"):
            yield self.rows_widget()
            with VerticalScroll(id="detail", can_focus=False):
                yield Static(id="whole")
        yield Static(id="nothing", classes="empty")

    def begin(self) -> None:
        self.query_one("#search").display = False
        self.query_one("#views").display = bool(self.VIEWS)
        self._say_views()
        super().begin()
        self.rows.focus()

    @property
    def rows(self) -> Sections[T]:
        """The list."""
        return self.query_one(Sections)

    @property
    def item(self) -> T | None:
        """The item under the cursor."""
        return self.rows.item

    def on_resize(self) -> None:
        self.rows.set_row_height(2 if self.size.height >= _ROOMY else 1)

    def show(self, found: Listed[T]) -> None:
        self.found = found
        self._fill()
        # What was sent away and is here again was taken back, or brought back: the cursor goes to it.
        back = self._sent.intersection(found.items)
        if back:
            self._sent -= back
            self.goal = self.goal or back.pop()
        if self.goal is not None and self.rows.go_to(self.goal):
            self.goal = None

    def _fill(self) -> None:
        found = self.found
        if found is None:
            return
        keys = [key for key in found.keys if key not in self._leaving]
        # A heading with nothing left beneath it goes too.
        shown = [
            key
            for place, key in enumerate(keys)
            if key not in found.headings or (place + 1 < len(keys) and keys[place + 1] not in found.headings)
        ]
        self.rows.fill_sections(shown, found.items, found.headings)
        empty = not shown
        nothing = self.query_one("#nothing", Static)
        nothing.display = empty
        self.query_one("#two").display = not empty
        if empty:
            missed = self.search and found.total
            words = f"Nothing has the words “{visible(self.search)}”.\n\nEsc shows all."
            nothing.update(Content(words if missed else self.nothing(found)))
        if self.focused is None and not empty:
            self.rows.focus()
        self._say_views()
        self.about(f"/ {self.search}" if self.search else "", found.banner)
        self._say_whole()

    def _say_views(self) -> None:
        counts = self.found.counts if self.found is not None else []
        parts: list[Any] = []
        for number, name in enumerate(self.VIEWS):
            count = counts[number] if number < len(counts) else None
            here = number == self.view
            parts.append((f" {number + 1} ", "$accent" if here else "$dim"))
            parts.append((name, "bold" if here else "$dim"))
            parts.append((f" {count} " if count is not None else " ", "$dim"))
        self.query_one("#views", Static).update(Content.assemble(*parts))

    def _say_whole(self) -> None:
        item = self.item
        self.query_one("#whole", Static).update(Content("") if item is None else self.whole(item))

    def on_rows_moved(self) -> None:
        self.moved()

    def moved(self) -> None:
        """The cursor stands on another row."""
        self.query_one("#detail").scroll_to(y=0, animate=False)
        self._say_whole()

    def on_rows_chosen(self, message: Rows.Chosen) -> None:
        del message
        item = self.item
        if item is not None:
            self.open(item)

    def action_roll(self) -> None:
        """On by a page; from the end back to the beginning."""
        detail = self.query_one("#detail", VerticalScroll)
        if detail.scroll_y >= detail.max_scroll_y:
            detail.scroll_to(y=0, animate=False)
        else:
            detail.scroll_relative(y=max(detail.size.height - 1, 1), animate=False)

    # -- views

    def action_view(self, number: int) -> None:
        if number != self.view and number < len(self.VIEWS):
            self.view = number
            self._say_views()
            self.refresh_bindings()
            self.reload()

    def action_other_view(self) -> None:
        self.action_view((self.view + 1) % len(self.VIEWS))

    # -- searching

    def action_search(self) -> None:
        box = self.query_one("#search", Input)
        box.display = True
        box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.search = event.value
        self.reload()

    def on_input_submitted(self) -> None:
        """Enter goes into what was found."""
        self.query_one("#search", Input).display = bool(self.search)
        self.rows.focus()

    def retreat(self) -> bool:
        box = self.query_one("#search", Input)
        if not box.display:
            return False
        box.value = ""
        box.display = False
        self.rows.focus()
        return True

    # -- changing

    def chosen(self) -> T | None:
        """The item under the cursor; where there is none, that is told."""
        item = self.item
        if item is None:
            self.house.tell("There is nothing under the cursor.")
        return item

    def send_away(self, task: Callable[[Workspace], R], said: str | Callable[[R], str], memory: bool = False) -> None:
        """Carry out a change after which the item under the cursor is not in this list any more.

        It goes at once, so that the next key is about the next item; where the change fails it is back.
        """
        key = self.rows.key
        if key is None:
            return
        self._leaving.add(key)
        self._fill()

        async def run() -> None:
            try:
                done = await self.house.do(task, memory)
            except Exception as error:
                self.house.tell_error(error)
                self.reload()
                return
            finally:
                self._leaving.discard(key)
            self._sent.add(key)
            self.house.told(done, said if isinstance(said, str) else said(done.result))

        start(self, run, group="changes")
