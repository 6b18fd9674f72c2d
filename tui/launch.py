"""The way into the screens: what the entry points call when there is a terminal and nothing else was asked for."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.room import Room

__all__ = ["ROOMS", "launch", "made"]

#: The rooms that can be entered from outside: module and class, and what to ask while they are loaded, as module and a
#: function without parameters that returns the task. That module loads no Textual.
ROOMS: dict[str, tuple[str, str]] = {
    "home": ("home:HomeRoom", "home_reading:first"),
    "board": ("board:BoardRoom", "board_reading:first"),
    "inbox": ("inbox:InboxRoom", "inbox_reading:first"),
    "reminders": ("reminders:RemindersRoom", "reminders_reading:first"),
    "conflicts": ("conflicts:ConflictsRoom", "conflicts_reading:first"),
    "memory": ("memory:MemoryRoom", "memory_reading:first"),
    "review": ("review:ReviewRoom", "review_reading:first"),
    "graph": ("graph:GraphRoom", "graph_reading:first"),
    "settings": ("settings:SettingsRoom", "settings_reading:first"),
    "observations": ("observations:ObservationsRoom", "observations_reading:first"),
    "timeline": ("timeline:TimelineRoom", "timeline_reading:first"),
    "logs": ("logs:LogsRoom", "logs_reading:first"),
}


def launch(name: str, opens: Callable[[], Workspace]) -> int:
    """Run a room on this terminal until it is left. Returns the exit code. `opens` is called in another thread."""
    from mait_code.tui.working import Workroom

    target, question = ROOMS[name]
    workroom = Workroom(opens)
    early = workroom.early(_load(question)())

    from mait_code.tui.house import House

    def first() -> Room[Any]:
        room: Room[Any] = _load(target)()
        room.early = early
        return room

    # What was loaded stays: the collector need not walk it again and again while the screen is drawn.
    gc.freeze()
    house = House(workroom, first)
    code = house.run()
    sys.stdout.flush()
    return code if code is not None else house.return_code or 0


def made(name: str) -> Room[Any]:
    """A room by its name, to be opened over another."""
    room: Room[Any] = _load(ROOMS[name][0])()
    return room


def _load(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(__import__(f"mait_code.tui.{module}", fromlist=[name]), name)
