"""Observations: sessions by the day they began on, what was observed in them, and what still waits for reflection."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from mait_code.commands.observed_days import Observed
from mait_code.tui import observations_reading
from mait_code.tui.keys_wait import start
from mait_code.tui.observations_reading import HERE, Days, Question
from mait_code.tui.outline_room import OutlineRoom
from mait_code.tui.outline_rows import OutlineRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Outline, Text
    from mait_code.tui.rows import Piece

__all__ = ["ObservationsRoom"]


class DayRows(OutlineRows[Observed]):
    """Days, their sessions, and what was observed in those."""

    def leaf(self, item: Observed, width: int) -> list[Piece]:
        del width
        return [("", "      "), ("accent", f"{item.type}  "), ("", item.title or "(without a title)")]


class ObservationsRoom(OutlineRoom[Observed]):
    """What was captured, day by day. It is read here; `mait-code memory reflect` is what deals with what is pending."""

    NAME: ClassVar[str] = "Observations"
    FINDS: ClassVar[str] = "words of what was asked, done, observed or remembered"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "project", "Project"),
    ]

    def __init__(self, place: str = HERE) -> None:
        super().__init__()
        self._place = place

    def rows_widget(self) -> OutlineRows[Observed]:
        return DayRows(id="days")

    def reading(self) -> Callable[[Workspace], Outline[Observed]]:
        return Question(self._place, self.words, self.rows.folds)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Observed]]:
        del keys  # those of a session come with it
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found
        return lambda ws: observations_reading.whole(ws, found, key) if isinstance(found, Days) else None

    def nothing(self, found: Outline[Observed]) -> str:
        if found.where == "all projects":
            return (
                "No session was recorded yet.\n\nSessions of Claude Code are, once its hooks are installed:"
                " mait-code install sets them up."
            )
        return f"No session was recorded in {found.where} yet.\n\np shows other projects."

    def action_project(self) -> None:
        from mait_code.tui.dialogs import Pick

        async def ask() -> None:
            try:
                places = await self.house.ask(observations_reading.projects)
            except Exception as error:
                self.house.tell_error(error)
                return
            self.app.push_screen(Pick("Sessions of", places, self._place), chosen)

        def chosen(key: str | None) -> None:
            if key is not None:
                self._place = key
                self.reload()

        start(self, ask, group="dialogs", exclusive=True)
