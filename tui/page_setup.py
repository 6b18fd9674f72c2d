"""Setting up the start page: dashboard.toml by keys, with everything kept that a person wrote in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from mait_code.commands import dashboard, dashboard_approval
from mait_code.commands.dashboard import Tile
from mait_code.commands.output import counted
from mait_code.journal.errors import MaitError
from mait_code.tui import page_setup_reading
from mait_code.tui.home_commands import Allow, Runs, outcome_lines
from mait_code.tui.outline_room import Pane, styled
from mait_code.tui.page_setup_file import FileRoom
from mait_code.tui.rows import Rows
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.dashboard_edit import Draft, Entry
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line
    from mait_code.tui.page_setup_reading import Opened
    from mait_code.tui.rows import Piece

__all__ = ["SetupRoom"]

#: The choice of a command among the widgets, and cells that the edges of the pane take.
_COMMAND, _EDGES = "\0command", 6


class TileRows(Rows["Entry"]):
    """The tiles in their order."""

    KEYS_TITLE: ClassVar[str] = "Tiles"

    def paint(self, item: Entry, width: int) -> list[list[Piece]]:
        del width
        tile = item.tile
        if tile is None:
            return [[("error", " ✗ "), ("", item.heading), ("dim", "  left out")]]
        mark = ("accent", " $ ") if tile.command else ("dim", " ▪ ")
        return [[mark, ("", tile.heading), ("dim", f"  ×{tile.span}" if tile.span > 1 else "")]]


class SetupRoom(FileRoom):
    """The tiles on the left, what the one under the cursor is on the right. Nothing is written before Ctrl+S."""

    NAME: ClassVar[str] = "Start page"
    CSS_PATH = "page_setup.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "add", "Add", tooltip="Add a tile after this one"),
        Binding("e,enter", "edit", "Edit", tooltip="Change this tile"),
        Binding("d", "remove", "Remove", tooltip="Take this tile out"),
        Binding("shift+up", "move(-1)", "Move", key_display="Shift+↑", tooltip="Move this tile"),
        Binding("shift+down", "move(1)", "Move", key_display="↓", tooltip="Move this tile"),
        Binding("ctrl+r", "preview", "Run", tooltip="Run the command of this tile, and show what it says"),
        *(Binding(str(number), f"columns({number})", "Columns", tooltip="How many columns") for number in range(1, 5)),
        Binding("z", "undo", "Undo", tooltip="Take back the last change made here"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._runs = Runs(self, self._say)

    # -- reading and showing

    def body(self) -> ComposeResult:
        yield Static(id="notice")
        with Container(id="halves"):
            yield TileRows(id="page-tiles")
            with Pane(id="pane"):
                yield Static(id="tile")
        yield Static(id="nothing", classes="empty")

    def begin(self) -> None:
        super().begin()
        self.rows.focus()

    @property
    def rows(self) -> TileRows:
        """The tiles."""
        return self.query_one(TileRows)

    @property
    def entry(self) -> Entry | None:
        """The tile under the cursor."""
        return self.rows.item

    def show(self, found: Opened) -> None:
        super().show(found)
        self._fill()

    def _fill(self, cursor: int | None = None) -> None:
        """Show the draft as it is now; the cursor goes to a place, or stays."""
        draft, opened = self.draft, self.opened
        if opened is None:
            return
        rows = self.rows
        entries = [] if draft is None else draft.entries
        here = rows.cursor if cursor is None else cursor
        rows.fill([str(place) for place in range(len(entries))], {str(place): one for place, one in enumerate(entries)})
        rows.go(here)
        self.query_one("#halves").display = bool(entries)
        nothing = self.query_one("#nothing", Static)
        nothing.display = not entries
        if draft is None and opened.fault is not None:
            nothing.update(Content(visible(f"{opened.fault.message}.\n\nCtrl+E opens it in your editor.", True)))
        else:
            nothing.update("The start page has no tile.\n\na adds one.")
        if not entries:
            self.set_focus(None)
        elif self.focused is None:
            rows.focus()
        columns = "" if draft is None else counted(draft.columns, "column")
        self.about(dashboard.FILE, f"{columns}{', not saved' if self.dirty else ''}")
        self._say()

    def on_rows_moved(self) -> None:
        self._say()

    def on_resize(self) -> None:
        self._say()

    def _say(self) -> None:
        """Show the tile under the cursor, and what is odd about the file."""
        draft, opened = self.draft, self.opened
        if not self.is_attached or not self.query("#tile") or opened is None:
            return
        notices = [] if draft is None else dashboard.of_text(draft.text).warnings
        if draft is not None and opened.text != draft.began:
            notices = ["The file was changed meanwhile: saving asks first.", *notices]
        notice = self.query_one("#notice", Static)
        notice.display = bool(notices)
        notice.update(styled([[("warning", f"● {text}")] for text in notices[:3]]))
        entry = self.entry
        if draft is None or entry is None:
            return
        lines = [*page_setup_reading.about(entry), [], *self._preview_of(entry)]
        width = self.query_one(Pane).size.width - _EDGES
        lines += [[], *page_setup_reading.sketch(draft.entries, draft.columns, self.rows.cursor, width)]
        self.query_one("#tile", Static).update(styled(lines))

    def _preview_of(self, entry: Entry) -> list[Line]:
        command = "" if entry.tile is None else entry.tile.command
        if not command:
            return []
        outcome, runs = self._runs.outcomes.get(command), command in self._runs.under_way
        if outcome is None and not runs:
            return [[("dim", "Ctrl+R runs it here, and shows what it says.")]]
        return outcome_lines(None if runs else outcome, runs)

    # -- changes of the draft

    def _change(self, change: Callable[[Draft], int | None]) -> None:
        """Change the draft. `change` returns where the cursor goes, or None where it stays."""
        if self.draft is None:
            self.house.tell("Ctrl+E opens the file in your editor.")
            return
        try:
            place = change(self.draft)
        except MaitError as error:
            self.house.tell_error(error)
            return
        self._fill(place)

    def action_remove(self) -> None:
        place = self.rows.cursor
        if self.entry is not None:
            self._change(lambda draft: draft.remove(place))

    def action_move(self, by: int) -> None:
        place = self.rows.cursor
        if self.entry is not None:
            self._change(lambda draft: draft.move(place, by))

    def action_columns(self, columns: int) -> None:
        self._change(lambda draft: draft.set_columns(columns))

    def action_undo(self) -> None:
        def take_back(draft: Draft) -> None:
            if not draft.undo():
                self.house.tell("Nothing was changed here that could be taken back.")

        self._change(take_back)

    def action_add(self) -> None:
        from mait_code.tui.dialogs import Pick

        if self.draft is None:
            self.house.tell("Ctrl+E opens the file in your editor.")
            return
        options = [(name, name.capitalize(), what) for name, what in dashboard.WIDGETS.items()]
        options.append((_COMMAND, "A command", "what it says, run by the shell"))

        def chosen(key: str | None) -> None:
            if key == _COMMAND:
                self._form("New tile", Tile(), self._put_in)
            elif key is not None:
                self._put_in(Tile(widget=key))

        self.app.push_screen(Pick("Add", options), chosen)

    def _put_in(self, tile: Tile) -> None:
        place = self.rows.cursor + 1 if self.rows.keys else 0
        self._change(lambda draft: draft.add(tile, place))

    def action_edit(self) -> None:
        entry, place = self.entry, self.rows.cursor
        if entry is None:
            return
        if entry.tile is None:
            self.house.tell("Ctrl+E opens the file in your editor, or d takes the tile out.")
            return

        def put(tile: Tile) -> None:
            self._change(lambda draft: draft.change(place, tile))

        self._form("Tile", entry.tile, put)

    def _form(self, heading: str, tile: Tile, then: Callable[[Tile], None]) -> None:
        """Ask what a tile is: of a built-in one which, of a command its text."""
        from mait_code.tui.form import Field, Form

        kind = (
            Field("widget", "Shows", choices=tuple(dashboard.WIDGETS))
            if tile.widget
            else Field("command", "Command", lines=4, hint="for the shell")
        )
        columns = tuple(str(number) for number in range(1, dashboard.MOST_COLUMNS + 1))
        fields = [kind, Field("title", "Title", hint="empty: what it shows"), Field("span", "Columns", choices=columns)]

        def save(_ws: Workspace, _seen: Mapping[str, str], wanted: Mapping[str, str]) -> Tile:
            return page_setup_reading.tile_of(wanted)

        def given(made: Tile | None) -> None:
            if made is not None:
                if made.command and made.command != tile.command:
                    self.typed.add(made.command)
                then(made)

        self.app.push_screen(Form(heading, fields, page_setup_reading.texts_of(tile), save, lambda _tile: ""), given)

    # -- running a command

    def on_rows_chosen(self) -> None:
        self.action_edit()

    def action_preview(self) -> None:
        entry, opened = self.entry, self.opened
        command = "" if entry is None or entry.tile is None else entry.tile.command
        if not command or opened is None:
            self.house.tell("Only a command can be run.")
            return
        if command in self.typed or dashboard_approval.fingerprint(command) in opened.allowed:
            self._run(command)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self.typed.add(command)
                self._run(command)

        self.app.push_screen(Allow(command, "It runs once; saving allows it whenever home opens."), answered)

    def _run(self, command: str) -> None:
        if self.opened is not None:
            width = self.query_one(Pane).size.width - _EDGES
            self._runs.run({command: max(20, width)}, self.opened.timeout)
            self._say()
