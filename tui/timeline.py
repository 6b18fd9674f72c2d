"""The timeline: the journal as it grows, day by day, what happened on which machine; and the history of one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from mait_code.tui import timeline_reading, timeline_text
from mait_code.tui.live_room import LiveRoom
from mait_code.tui.live_rows import LiveRows
from mait_code.tui.text_lines import padded
from mait_code.tui.timeline_reading import PAGE, History, Line, Past, Question, Shown, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Outline, Text
    from mait_code.tui.outline_rows import OutlineRows
    from mait_code.tui.rows import Piece

__all__ = ["HistoryRoom", "TimelineRoom"]

#: Cells of a machine's name; those in a list that is narrower than so many.
_MACHINE, _SHORT_MACHINE, _NARROW = 12, 7, 50
#: Rows before the end of the list at which older events are asked for.
_NEAR = 60


class EventRows(LiveRows[Line]):
    """Days, and what happened on them."""

    def leaf(self, item: Line, width: int) -> list[Piece]:
        machine = padded(item.machine, _SHORT_MACHINE if width < _NARROW else _MACHINE)
        return [
            ("dim", f"  {item.clock}  "),
            ("accent", f"{machine}  "),
            ("warning", "↩ " if item.takes_back else ""),
            ("", item.words),
            ("strong", f"  {item.title}" if item.title else ""),
        ]


class TimelineRoom(LiveRoom[Line]):
    """What happened, the newest first. It is only read here; what is wrong in it is taken back with mait-code undo."""

    NAME: ClassVar[str] = "Timeline"
    FINDS: ClassVar[str] = "words of what was done, a title, a value, a machine, an id"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "project", "Project", tooltip="Events of one project, or of all"),
        Binding("m", "machine", "Machine", tooltip="Events of one machine, or of all"),
        Binding("t", "family", "Kind", tooltip="Events of one kind: board, inbox, reminders, memory …"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._view = View()
        self._want = PAGE

    def rows_widget(self) -> OutlineRows[Line]:
        return EventRows(id="events")

    # -- reading

    def reading(self) -> Callable[[Workspace], Outline[Line]]:
        view = self._view
        if view.words != self.words:
            self._choose(View(self.words, view.place, view.replica, view.family))
        rows = self.rows
        return Question(self._view, self._want, rows.seen_keys() if rows.keys else ())

    def _choose(self, view: View) -> None:
        self._view, self._want = view, PAGE
        self.choose_anew()

    def show(self, found: Outline[Line]) -> None:
        super().show(found)
        if isinstance(found, Shown) and found.searching:
            self.reload()

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Line]]:
        found = self.found
        self._near_the_end(keys[-1] if keys else None)
        return lambda ws: timeline_reading.leaves(ws, found, keys) if isinstance(found, Shown) else {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found
        branch = self.rows.branch

        def ask(ws: Workspace) -> Text | None:
            if not isinstance(found, Shown):
                return None
            if branch is not None and branch.key == key:
                return timeline_text.day(branch, found)
            return timeline_text.event_text(ws, found, key)

        return ask

    def nothing(self, found: Outline[Line]) -> str:
        if isinstance(found, Shown) and found.searching:
            return "Looking further back …"
        if self._view.choice[1:] != View().choice[1:]:
            return f"Nothing happened yet in {found.where}.\n\np, m and t show other projects, machines and kinds."
        return 'Nothing has happened here yet.\n\nmait-code inbox add "a thought" is a beginning.'

    def moved(self) -> None:
        super().moved()
        self._near_the_end(self.rows.key)

    def _near_the_end(self, key: str | None) -> None:
        """Where somebody comes to the oldest events that are listed, ask for older ones."""
        found, keys = self.found, self.rows.keys
        if isinstance(found, Shown) and not found.is_whole and key in keys[-_NEAR:]:
            wanted = len(found.hits) + PAGE
            if wanted > self._want:
                self._want = wanted
                self.reload()

    # -- what the keys do

    def enter(self) -> None:
        """Enter: the whole history of the thing that the event is of."""
        found, key = self.found, self.rows.key
        if isinstance(found, Shown) and key in found.hits:
            self.house.push_screen(HistoryRoom(found.hits[key].entity, key))

    def action_reload(self) -> None:
        """Look at all of it anew, titles and projects of things too."""
        self._view = View(*self._view.choice)
        super().action_reload()

    def action_project(self) -> None:
        def chosen(place: str) -> None:
            self._choose(View(self.words, place, self._view.replica, self._view.family))

        self.pick("Events of", timeline_reading.projects, self._view.place, chosen)

    def action_machine(self) -> None:
        def chosen(replica: str) -> None:
            self._choose(View(self.words, self._view.place, replica, self._view.family))

        self.pick("Events written on", timeline_reading.machines, self._view.replica, chosen)

    def action_family(self) -> None:
        def chosen(family: str) -> None:
            self._choose(View(self.words, self._view.place, self._view.replica, family))

        self.pick("Show", lambda _ws: timeline_reading.families(), self._view.family, chosen)


class HistoryRoom(LiveRoom[Line]):
    """All that happened to one thing, field by field."""

    NAME: ClassVar[str] = "History"
    FINDS: ClassVar[str] = "words of what was done, a field, a value, a machine"

    def __init__(self, entity: str, event: str = "") -> None:
        super().__init__()
        self._entity = entity
        #: The event to put the cursor on when it is first seen.
        self._goal = event

    def rows_widget(self) -> OutlineRows[Line]:
        return EventRows(id="events")

    def reading(self) -> Callable[[Workspace], Outline[Line]]:
        return History(self._entity, self.words)

    def show(self, found: Outline[Line]) -> None:
        super().show(found)
        if self._goal and self.rows.keys:
            self.rows.go_to(self._goal)
            self._goal = ""

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Line]]:
        del keys  # they come with the answer
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found
        branch = self.rows.branch

        def ask(_ws: Workspace) -> Text | None:
            if not isinstance(found, Past):
                return None
            if branch is not None and branch.key == key:
                return timeline_text.day(branch, found)
            return timeline_text.step_text(found, key)

        return ask

    def nothing(self, found: Outline[Line]) -> str:  # noqa: ARG002
        return "No store here knows anything of it: a newer version wrote it."
