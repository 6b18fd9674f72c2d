"""Home: the start page and everything else by name, with a word on how each stands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from mait_code.commands import dashboard_approval
from mait_code.tui import home_doctor, home_texts, launch
from mait_code.tui.aside import aside
from mait_code.tui.embedding import Embedding
from mait_code.tui.home_commands import Allow, Runs, outcome_lines, unapproved_lines
from mait_code.tui.home_reading import DOCTOR, START, Hub, Leaf, Question
from mait_code.tui.home_tiles import Tiles
from mait_code.tui.keys_wait import start
from mait_code.tui.outline_reading import Branch, Text
from mait_code.tui.outline_room import OutlineRoom, Pane
from mait_code.tui.outline_rows import OutlineRows
from mait_code.tui.text_lines import padded, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.dashboard import Tile
    from mait_code.commands.doctor import Check
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line, Outline
    from mait_code.tui.rows import Piece

__all__ = ["HomeRoom"]

#: Seconds after which doctor is asked: the first picture comes first.
_DOCTOR_AFTER = 0.4
#: Cells of what a line is called, where a word on how it stands follows.
_WORDS = 17


class HubRows(OutlineRows[Leaf]):
    """The tree. The start page heads it, and cannot be closed."""

    def leaf(self, item: Leaf, width: int) -> list[Piece]:
        del width
        words = item.words + (" ↗" if item.opens else "")
        return [("", "  " * item.depth + (padded(words, _WORDS) if item.badge[1] else words)), item.badge]

    def paint(self, item: Leaf | Branch, width: int) -> list[list[Piece]]:
        if isinstance(item, Branch) and item.key == START:
            return [[("primary", item.words)]]
        return super().paint(item, width)

    def set_open(self, branch: Branch, is_open: bool) -> None:
        if branch.key != START:
            super().set_open(branch, is_open)

    def action_choose(self) -> None:
        if self.key == START:
            self.post_message(self.Chosen(self))
        else:
            super().action_choose()


class HomeRoom(OutlineRoom[Leaf]):
    """The tree on the left; on the right the tiles of the start page, or what is under the cursor."""

    NAME: ClassVar[str] = "Home"
    CSS_PATH: ClassVar[str | list[str | PurePath]] = ["outline_room.tcss", "home.tcss"]
    FINDS: ClassVar[str] = "a part of a name"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "allow", "Allow", tooltip="Allow commands of the start page to run on this machine"),
        Binding("s", "set_up", "Set up", tooltip="Set up the start page"),
        Binding("e", "embed", "Embed", tooltip="Embed what has no vectors yet"),
        Binding("r", "reload", "Reload", show=False, tooltip="Read all of it anew, and run the commands again"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.checks: list[Check] | None = None
        self._runs = Runs(self, self._show_tiles)
        self._embedding = Embedding(self, self._say_verdict, self._ask_doctor)

    @property
    def hub(self) -> Hub | None:
        """What is shown."""
        return self.found if isinstance(self.found, Hub) else None

    # -- what is asked

    def rows_widget(self) -> OutlineRows[Leaf]:
        return HubRows(id="hub")

    def reading(self) -> Callable[[Workspace], Hub]:
        return Question(self.words)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Leaf]]:
        del keys  # all are here
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        if key == START:
            return lambda _ws: Text("", [], "", plain=True)
        if key in (DOCTOR, "system"):
            told = Text("Doctor", [], "", lines=home_doctor.told(self.checks))
            return lambda _ws: told
        item = self.rows.item
        opens = item.opens if isinstance(item, Leaf) else ""
        return home_texts.whole(key, opens, "" if item is None else item.words)

    def nothing(self, found: Outline[Leaf]) -> str:
        del found
        return "Nothing is here."

    # -- the screen

    def body(self) -> ComposeResult:
        yield from super().body()
        yield Static(id="verdict")

    def panes(self) -> ComposeResult:
        with Container(id="right"):
            yield Tiles()
            yield from super().panes()

    def begin(self) -> None:
        super().begin()
        self._say_verdict()
        self.set_timer(_DOCTOR_AFTER, self._ask_doctor)

    @property
    def pane(self) -> Pane:
        """What stands beside the tree now."""
        return self.query_one("#tiles" if self.rows.key == START else "#pane", Pane)

    def show(self, found: Outline[Leaf]) -> None:
        super().show(found)
        self._choose_pane()
        self._badge_doctor()
        self._run_commands()
        self._show_tiles()
        self.refresh_bindings()
        if isinstance(found, Hub) and found.is_brief:
            self.call_after_refresh(self.reload)

    def moved(self) -> None:
        self._choose_pane()
        super().moved()

    def _choose_pane(self) -> None:
        for id_, shown in (("#tiles", self.rows.key == START), ("#pane", self.rows.key != START)):
            pane = self.query_one(id_, Pane)
            if pane.has_focus and not shown:
                self.rows.focus()
            pane.display = shown

    # -- the tiles

    def _run_commands(self) -> None:
        """Run the commands that may run here, and have not run yet."""
        hub = self.hub
        if hub is not None:
            tiles = self.query_one(Tiles)
            wanted = {
                tile.command: tiles.width_of(tile)
                for tile in hub.page.tiles
                if tile.command and hub.may_run(tile.command) and self._runs.wants(tile.command)
            }
            self._runs.run(wanted, hub.timeout)

    def _show_tiles(self) -> None:
        if self.hub is not None and self.stands:
            self.query_one(Tiles).fill(self.hub.page, self._lines_of)

    def _lines_of(self, tile: Tile) -> list[Line]:
        hub = self.hub
        if hub is None:
            return []
        if not tile.command:
            return (
                home_doctor.told(self.checks, few=True)
                if tile.widget == "health"
                else hub.tiles.get(tile.widget, [[("dim", "…")]])
            )
        if not hub.may_run(tile.command):
            return unapproved_lines(tile.command)
        return outcome_lines(self._runs.outcomes.get(tile.command), tile.command in self._runs.under_way)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """`a` stands among the keys only while a command waits for it."""
        if action == "allow" and (self.hub is None or not self.hub.unapproved):
            return False
        return super().check_action(action, parameters)

    def action_allow(self) -> None:
        """Ask for each command of the page that was not allowed here yet."""
        hub = self.hub
        if hub is not None and self.app.screen is self:
            self._allow(hub.unapproved)

    def _allow(self, commands: list[str]) -> None:
        if not commands:
            return
        command, *others = commands

        def answered(yes: bool | None) -> None:
            if yes:
                start(self, partial(self._approve, command), group="changes")
            if yes is not None:
                self._allow(others)

        self.app.push_screen(Allow(command), answered)

    async def _approve(self, command: str) -> None:
        try:
            await self.house.ask(lambda ws: dashboard_approval.approve(ws.home, [command]))
        except Exception as error:
            self.house.tell_error(error)
        self.reload()

    # -- doctor

    def _ask_doctor(self) -> None:
        start(self, self._examine, group="doctor", exclusive=True)

    async def _examine(self) -> None:
        from mait_code.commands import doctor

        try:
            checks = await aside(self.house, doctor.examine)
        except Exception as error:
            self.house.tell_error(error)
            return
        if self.stands:
            self.checks = checks
            self._say_verdict()
            self._badge_doctor()
            self._show_tiles()
            self.moved()

    def _say_verdict(self) -> None:
        style, text = home_doctor.verdict(self.checks)
        said = Content.styled(visible(text), f"${style}")
        if self._embedding.words:
            said = Content.styled(self._embedding.words, "$accent")
        self.query_one("#verdict", Static).update(said)

    def _badge_doctor(self) -> None:
        leaf = self.rows.items.get(DOCTOR)
        if isinstance(leaf, Leaf):
            self.rows.add({DOCTOR: Leaf(leaf.words, badge=home_doctor.badge(self.checks))})

    # -- what the keys do

    def enter(self) -> None:
        """Enter: into the room, or the text."""
        item = self.rows.item
        if isinstance(item, Leaf) and item.opens:
            self.app.push_screen(launch.made(item.opens))
        else:
            self.pane.focus()

    def action_reload(self) -> None:
        self._runs.forget()
        self._ask_doctor()
        self.reload()

    def action_set_up(self) -> None:
        from mait_code.tui.page_setup import SetupRoom

        self.app.push_screen(SetupRoom())

    def action_embed(self) -> None:
        self._embedding.ask()
