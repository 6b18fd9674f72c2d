"""The board: columns of cards, moved, edited and closed by single keys or the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Input, Static

from mait_code.commands.output import counted
from mait_code.projections.cards import COLUMNS
from mait_code.tui import board_reading
from mait_code.tui.board_actions import CardsRoom, form_fields
from mait_code.tui.board_column import CardRows, Column
from mait_code.tui.board_reading import Board, Question
from mait_code.tui.keys_wait import start

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card
    from mait_code.tui.rows import Rows

__all__ = ["BoardRoom"]

#: Shown only while something stands in them, or when asked for.
_SHY = "in_review"
#: Lines of the screen from which on a card has room for two lines of its title, and for a gap besides.
_CRAMPED, _ROOMY = 18, 36
#: The choice of all projects: no project is called that.
_EVERY = "\0"


class BoardRoom(CardsRoom[Board]):
    """The board of a project: of this directory's, unless another is chosen with p."""

    NAME: ClassVar[str] = "Board"
    CSS_PATH = "board.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Open", show=False),
        Binding("n", "new", "New", tooltip="Write a new card"),
        Binding("p", "project", "Project"),
        Binding("slash", "search", "Search"),
        Binding("d", "column_shown('done')", "Done", tooltip="Done: show, hide"),
        Binding("a", "column_shown('archived')", "Archived", tooltip="Archived: show, hide"),
        Binding("v", "column_shown('in_review')", "In review", tooltip="In review: show, hide"),
        Binding("left", "side(-1)", "Column", show=False),
        Binding("right", "side(1)", "Column", show=False),
        *(Binding(str(number), f"column({number - 1})", "Go to column", show=False) for number in range(1, 6)),
    ]

    def __init__(self, project: str | None = None, every: bool = False) -> None:
        super().__init__()
        self._project = project
        self._every = every
        self._search = ""
        self._shown_columns = {column: column not in ("done", "archived", _SHY) for column in COLUMNS}
        self.found: Board | None = None
        #: The card to put the cursor on when it is next seen.
        self._goal: str | None = None

    def body(self) -> ComposeResult:
        yield Input(placeholder="words of the title, an id, #tag", id="search", compact=True)
        with Horizontal(id="columns"):
            for column in COLUMNS:
                yield Column(column)
        yield Static(id="nothing", classes="empty")

    def begin(self) -> None:
        self.query_one("#search").display = False
        super().begin()
        if self.found is None:
            self._arrange()

    def on_resize(self) -> None:
        height = self.size.height
        for column in self.columns:
            column.rows.set_row_height(4 if height >= _ROOMY else 3 if height >= _CRAMPED else 2)

    # -- reading and showing

    def reading(self) -> Callable[[Workspace], Board]:
        seen = {column.column: column.rows.seen_keys() for column in self.columns if column.rows.keys}
        return Question(self._project, self._every, self._search, seen)

    def show(self, found: Board) -> None:
        first = self.found is None
        self.found = found
        for column in self.columns:
            keys = found.keys.get(column.column, [])
            column.rows.with_project = found.scope.every
            column.rows.fill(keys, {key: found.items[key] for key in keys if key in found.items})
        self._arrange()
        if first or (self.column is None and self.focused is None):
            self._focus_first()
        self._reach_goal()

    def _arrange(self) -> None:
        """Show the columns that are to be seen, each with its heading."""
        found = self.found
        counts = found.counts if found is not None else {}
        number = 0
        for column in self.columns:
            column.display = self.is_seen(column.column)
            if column.display:
                number += 1
                shown = len(column.rows.keys)
                empty = "" if found is None else "nothing matches" if self._search else "no cards"
                column.say(counts.get(column.column, 0), shown, number, empty)
        self._say_nothing(found)
        if found is not None:
            live = sum(count for name, count in counts.items() if name not in ("done", "archived"))
            done = f", {counts.get('done', 0)} done" if counts.get("done") else ""
            search = f"  / {self._search}" if self._search else ""
            self.about(found.where + search, f"{counted(live, 'open card')}{done}")

    def _say_nothing(self, found: Board | None) -> None:
        nothing = self.query_one("#nothing", Static)
        nothing.display = found is not None and not any(found.counts.values())
        self.query_one("#columns").display = not nothing.display
        if found is not None and nothing.display:
            more = f"\n{counted(found.elsewhere, 'card')} in other projects: p shows them." if found.elsewhere else ""
            nothing.update(f"No cards in {found.where} yet.\n\nn adds the first one.{more}")

    def is_seen(self, column: str) -> bool:
        """Whether a column stands on the screen."""
        asked = self._shown_columns.get(column, False)
        return asked or (column == _SHY and self.found is not None and self.found.counts.get(column, 0) > 0)

    def on_rows_wanted(self, message: Rows.Wanted) -> None:
        rows, keys = message.rows, message.keys

        async def fetch() -> None:
            try:
                rows.add(await self.house.ask(lambda ws: board_reading.items(ws.board, keys)))
            except Exception as error:
                self.house.tell_error(error)

        start(self, fetch, group="rows")

    # -- where the cursor is

    @property
    def columns(self) -> list[Column]:
        """Every column, seen or not."""
        return list(self.query(Column))

    @property
    def seen(self) -> list[Column]:
        """The columns on the screen, from the left."""
        return [column for column in self.columns if column.display]

    @property
    def column(self) -> Column | None:
        """The column with the cursor."""
        if isinstance(self.focused, CardRows):
            return next((one for one in self.seen if one.rows is self.focused), None)
        return None

    @property
    def card(self) -> Card | None:
        """The card under the cursor."""
        column = self.column
        return None if column is None else column.rows.item

    def _focus_first(self) -> None:
        for column in self.seen:
            if column.rows.keys:
                column.rows.focus()
                return
        if self.seen:
            self.seen[0].rows.focus()

    def action_side(self, by: int) -> None:
        seen, here = self.seen, self.column
        place = seen.index(here) + by if here is not None else 0
        if 0 <= place < len(seen):
            seen[place].rows.focus()

    def action_column(self, place: int) -> None:
        if place < len(self.seen):
            self.seen[place].rows.focus()

    def action_column_shown(self, column: str) -> None:
        self._shown_columns[column] = not self._shown_columns[column]
        self._arrange()
        if self.column is None:
            self._focus_first()

    # -- what the keys do

    def on_rows_chosen(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        card = self._chosen()
        if card is not None:
            from mait_code.tui.board_card import CardRoom

            self.app.push_screen(CardRoom(card.entity))

    def action_new(self) -> None:
        from mait_code.commands import board_form
        from mait_code.tui.form import Form

        found = self.found
        project = None if found is None else found.scope.project or ("" if not found.scope.every else None)

        def save(ws: Workspace, _seen: Mapping[str, str], wanted: Mapping[str, str]) -> Card:
            return board_form.create(ws, wanted, project)

        form: Form[Card] = Form("New card", form_fields(), board_form.EMPTY, save, lambda card: f"{card.short} added")
        self.app.push_screen(form, self._added)

    def _added(self, card: Card | None) -> None:
        if card is not None:
            self._goal = card.id
            self.reload()

    def moved(self, card: Card) -> None:
        self._goal = card.id
        self.reload()

    def _reach_goal(self) -> None:
        """Follow the card that was moved or made into its column."""
        goal, self._goal = self._goal, None
        for column in self.seen if goal is not None else ():
            if column.rows.go_to(goal or ""):
                column.rows.focus()
                return

    def action_project(self) -> None:
        async def ask() -> None:
            try:
                counts = await self.house.ask(board_reading.projects)
            except Exception as error:
                self.house.tell_error(error)
                return
            options = [(_EVERY, "All projects", ""), ("", "Without a project", "")]
            options += [(name, name, counted(count, "card")) for name, count in counts]
            here = None if self.found is None else _EVERY if self.found.scope.every else self.found.scope.project
            self.app.push_screen(Pick("Cards of", options, here), chosen)

        def chosen(name: str | None) -> None:
            if name is not None:
                self._every, self._project = name == _EVERY, None if name == _EVERY else name
                self.reload()

        from mait_code.tui.dialogs import Pick

        start(self, ask, group="dialogs", exclusive=True)

    # -- searching

    def action_search(self) -> None:
        box = self.query_one("#search", Input)
        box.display = True
        box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._search = event.value
        self.reload()

    def on_input_submitted(self) -> None:
        """Enter goes into what was found."""
        self.query_one("#search", Input).display = bool(self._search)
        self._focus_first()

    def retreat(self) -> bool:
        box = self.query_one("#search", Input)
        if not box.display:
            return False
        box.value = ""
        box.display = False
        if self.column is None:
            self._focus_first()
        return True

    # -- the mouse

    def on_card_rows_dragged(self, message: CardRows.Dragged) -> None:
        target = next((one for one in self.seen if one.region.contains(message.x, message.y)), None)
        for column in self.seen:
            column.set_class(column is target and not message.dropped and column.rows is not message.rows, "-target")
        card = message.rows.item
        if message.dropped and target is not None and card is not None and target.column != card.status:
            self.move_to(card, target.column)
