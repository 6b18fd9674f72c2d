"""Embedding what has no vectors yet, from a screen: asked first, done aside, told how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.output import counted
from mait_code.tui.aside import aside
from mait_code.tui.keys_wait import start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.memory_reindex import Reindexed
    from mait_code.tui.room import Room

__all__ = ["Embedding"]


class _Left(Exception):  # noqa: N818 - nothing is wrong
    """The house was closed while texts were being embedded."""


class Embedding:
    """`words` says how far it is, empty where nothing is embedded. `told` is called when they change, `done` at the end."""

    def __init__(self, room: Room[Any], told: Callable[[], None], done: Callable[[], None]) -> None:
        self.words = ""
        self._room = room
        self._told = told
        self._done = done

    def ask(self) -> None:
        """Ask whether to, and then do it."""
        start(self._room, self._ask, group="dialogs", exclusive=True)

    async def _ask(self) -> None:
        from mait_code.commands import memory_reindex
        from mait_code.tui.dialogs import Confirm

        house = self._room.house
        if self.words:
            house.tell("Texts are being embedded already.")
            return
        try:
            count = await house.ask(memory_reindex.missing)
        except Exception as error:
            house.tell_error(error)
            return
        if not count:
            house.tell("Everything that is remembered has its vectors.")
            return

        def answered(yes: bool | None) -> None:
            if yes and not self.words:
                self.words = "embedding …"
                self._told()
                start(self._room, self._embed, group="embedding")

        question = f"Embed {counted(count, 'text')} that {'has' if count == 1 else 'have'} no vectors yet?"
        house.push_screen(Confirm(question, "It goes on while you do something else.", yes="Embed"), answered)

    async def _embed(self) -> None:
        from mait_code.commands import memory_reindex

        house = self._room.house
        try:
            found: Reindexed = await aside(
                house, lambda ws: memory_reindex.reindex(ws, prune=False, step=self._stepped)
            )
            house.tell(f"Embedded {counted(found.embedded, 'text')} with {found.model}.")
        except Exception as error:
            house.tell_error(error)
        finally:
            self.words = ""
        self._told()
        self._done()

    def _stepped(self, done: int, total: int) -> None:
        """So much is embedded. Called in another thread, and ends the work there where nobody is here any more."""
        if not self._room.is_attached or not self._room.app.is_running:
            raise _Left
        self.words = f"embedding: {done:,} of {total:,}"
        self._room.app.call_later(self._told)
