"""Logs: what ran on this machine day by day, how long it took, how it ended; and where it broke."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message

from mait_code.commands.invocation_log import Reader, Record, took
from mait_code.commands.invocations import log_path
from mait_code.commands.times import local
from mait_code.tui import logs_reading
from mait_code.tui.live_room import LiveRoom, Options
from mait_code.tui.live_rows import LiveRows
from mait_code.tui.logs_reading import FLOORS, Logs, Question
from mait_code.tui.observations_reading import day_text
from mait_code.tui.text_lines import padded
from mait_code.tui.watching import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Outline, Text
    from mait_code.tui.outline_rows import OutlineRows
    from mait_code.tui.rows import Piece

__all__ = ["LogsRoom"]

_SIGNS = {"ERROR": ("error", "✗ "), "WARNING": ("warning", "! ")}
#: Cells of a command's name, and those in a list that is narrower than so many; from how many on it tells how long it took.
_COMMAND, _SHORT_COMMAND, _WIDE, _TIMED = 28, 14, 60, 44
#: The choice of all commands, and of all days.
_EVERY = "\0every"
#: Seconds after which the log is watched: loading what watches it would hold up the first picture.
_WATCHED_AFTER = 0.25


class RecordRows(LiveRows[Record]):
    """Days, and what ran on them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Elsewhere it opens a heading, as → does; here it belongs to the room.
        Binding("l", "screen.floor", "Level", tooltip="Only what failed, only faults, or all"),
    ]

    def leaf(self, item: Record, width: int) -> list[Piece]:
        clock = local(item.ts, seconds=True)[11:19] if item.ts else "--:--:--"
        if item.raw:
            return [("dim", f"  {clock}  "), ("warning", "? cannot be read  "), ("dim", item.raw[:200])]
        style, sign = _SIGNS.get(item.level, ("dim", "· "))
        return [
            ("dim", f"  {clock}  "),
            (style, sign),
            ("", padded(item.command or "mait-code", _COMMAND if width >= _WIDE else _SHORT_COMMAND)),
            ("dim", f"{took(item):>8}" if width >= _TIMED else ""),
            (style, f"  {item.error or item.outcome}" if item.level != "INFO" else ""),
        ]


class LogsRoom(LiveRoom[Record]):
    """The invocation log, as it grows. What a line says never includes anything that was typed or stored."""

    class Grown(Message):
        """Something was written beside the log, or into it."""

    NAME: ClassVar[str] = "Logs"
    FINDS: ClassVar[str] = "words of a command, an outcome, an error, a process"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l", "floor", "Level", tooltip="Only what failed, only faults, or all"),
        Binding("t", "command", "Command", tooltip="Lines of one command, or of all"),
        Binding("d", "day", "Day", tooltip="Lines of one day, or of all"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._reader = Reader()
        self._floor = ""
        self._command: str | None = None
        self._day = ""
        self._watcher: Watcher | None = None

    def rows_widget(self) -> OutlineRows[Record]:
        return RecordRows(id="records")

    def begin(self) -> None:
        super().begin()
        self.set_timer(_WATCHED_AFTER, self._watch)

    def _watch(self) -> None:
        self._watcher = Watcher(os.path.dirname(log_path()), self._grown, recursive=False)
        self._watcher.start()

    def on_unmount(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()

    def _grown(self) -> None:
        """Called in the watcher's thread."""
        self.post_message(self.Grown())

    def on_logs_room_grown(self) -> None:
        if self.app.screen is self:
            self.reload()
        else:
            self.stale = True

    # -- reading

    def reading(self) -> Callable[[Workspace], Outline[Record]]:
        return Question(self._reader, self.words, self._floor, self._command, self._day)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Record]]:
        del keys  # they come with the answer
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found

        def ask(_ws: Workspace) -> Text | None:
            if not isinstance(found, Logs):
                return None
            one = found.items.get(key)
            return logs_reading.day(found, key) if one is None else logs_reading.record(one)

        return ask

    def nothing(self, found: Outline[Record]) -> str:
        if found.total:
            return f"Nothing is like that: {found.where}.\n\nl, t and d show other levels, commands and days."
        return "Nothing was logged yet.\n\nEach command leaves a line; the setting log-level says which are kept."

    # -- what the keys do

    def action_floor(self) -> None:
        """Only what failed, then only faults, then all again."""
        floors = list(FLOORS)
        self._floor = floors[(floors.index(self._floor) + 1) % len(floors)]
        self.choose_anew()
        self.reload()

    def action_command(self) -> None:
        found = self.found
        if not isinstance(found, Logs):
            return

        def chosen(key: str) -> None:
            self._command = None if key == _EVERY else key

        options: Options = [(_EVERY, "All commands", "")]
        options += [(name, name or "without a command", str(count)) for name, count in found.commands]
        self.pick("Lines of", lambda _ws: options, _EVERY if self._command is None else self._command, chosen)

    def action_day(self) -> None:
        found = self.found
        if not isinstance(found, Logs):
            return

        def chosen(key: str) -> None:
            self._day = "" if key == _EVERY else key

        options: Options = [(_EVERY, "All days", "")]
        options += [(day, day_text(day), str(count)) for day, count in found.days if day]
        self.pick("Lines of", lambda _ws: options, self._day or _EVERY, chosen)
