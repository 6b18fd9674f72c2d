"""A room of what happened day by day, the newest first, and what is under the cursor whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from mait_code.tui.keys_wait import start
from mait_code.tui.live_rows import LiveRows
from mait_code.tui.outline_room import OutlineRoom

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import PurePath

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Outline

__all__ = ["LiveRoom", "Options"]

T = TypeVar("T")
#: What can be chosen: key, name, and what is said beside it.
Options = list[tuple[str, str, str]]


class LiveRoom(OutlineRoom[T], Generic[T]):
    """Its outline is a `LiveRows`. After a choice of what is shown, `choose_anew` puts the cursor on the newest."""

    CSS_PATH: ClassVar[str | list[str | PurePath]] = ["outline_room.tcss", "live_room.tcss"]

    def __init__(self) -> None:
        super().__init__()
        self._anew = True

    def choose_anew(self) -> None:
        """What is shown next is something else: the cursor goes to its first leaf, unless what it is on is there too."""
        self._anew = True

    def show(self, found: Outline[T]) -> None:
        rows = self.rows
        before = rows.key
        super().show(found)
        if self._anew and rows.keys and isinstance(rows, LiveRows):
            self._anew = False
            if before is None or rows.key != before:
                rows.go_to_first()

    def pick(
        self, heading: str, options: Callable[[Workspace], Options], current: str, chosen: Callable[[str], None]
    ) -> None:
        """Ask for one of what `options` gives in the workroom; `chosen` gets its key before all is shown anew."""
        from mait_code.tui.dialogs import Pick

        def given(key: str | None) -> None:
            if key is not None:
                chosen(key)
                self.choose_anew()
                self.reload()

        async def ask() -> None:
            try:
                found = await self.house.ask(options)
            except Exception as error:
                self.house.tell_error(error)
                return
            self.app.push_screen(Pick(heading, found, current), given)

        start(self, ask, group="dialogs", exclusive=True)
