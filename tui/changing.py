"""Changes made on the screens: carried out in the workroom, told with an undo, taken back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.app import App

from mait_code.commands.output import visible
from mait_code.tui.keys_wait import start

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace

    #: Takes a change back; gives what a person should be told.
    Back = Callable[[Workspace], list[str]]

__all__ = ["Changing", "Done"]

T = TypeVar("T")
#: Seconds that a toast with an undo stays.
_UNDO_STAYS = 8.0


class Done(Generic[T]):
    """What a change did: its result, the actions it wrote, and what a person should be told besides."""

    __slots__ = ("actions", "notes", "result")

    def __init__(self, result: T, actions: list[str], notes: list[str]) -> None:
        self.result = result
        self.actions = actions
        self.notes = notes


class Changing(App[int]):
    """What the house does for rooms that change something. `z` takes back the last change made here, whatever others did."""

    if TYPE_CHECKING:
        # What the house brings with it.
        async def ask(self, task: Callable[[Workspace], T]) -> T: ...
        def tell(self, text: str, severity: str = "information") -> None: ...
        def tell_error(self, error: BaseException) -> None: ...
        def look_again(self) -> None: ...

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._undoable: list[tuple[Back, str]] = []

    async def do(self, task: Callable[[Workspace], T], memory: bool = False) -> Done[T]:
        """Carry out a change in the workroom. Raises what the command raises. `memory`: it may touch memories, so MEMORY.md
        is kept in step."""

        def run(ws: Workspace) -> Done[T]:
            journal = ws.journal
            before = len(journal.actions)
            journal.masked.clear()
            notes: list[str] = []
            if memory:
                from mait_code.commands import memory_file

                with memory_file.in_step(ws, notes.append):
                    result = task(ws)
            else:
                result = task(ws)
            notes += dict.fromkeys(journal.masked)
            notes += getattr(result, "notes", ())
            return Done(result, journal.actions[before:], notes)

        return await self.ask(run)

    def change(
        self,
        task: Callable[[Workspace], T],
        said: str | Callable[[T], str],
        then: Callable[[T], None] | None = None,
        memory: bool = False,
        back: Callable[[T], Back | None] | None = None,
    ) -> None:
        """Carry out a change, say so with an undo, and show it. An error becomes one toast. `then` gets the result. `back`
        gives of the result what takes the change back, where that is no matter of events: a setting, say."""

        async def run() -> None:
            try:
                done = await self.do(task, memory)
            except Exception as error:
                self.tell_error(error)
                return
            self.told(done, said if isinstance(said, str) else said(done.result), back and back(done.result))
            if then is not None:
                then(done.result)

        start(self, run, group="changes")

    def told(self, done: Done[Any], said: str, back: Back | None = None) -> None:
        """Say what a change did, offer to take it back (by its actions, or by `back`), and show it."""
        if back is not None or done.actions:
            self._undoable.append((back or partial(_taken_back, done.actions), said))
            number = len(self._undoable) - 1
            self.notify(
                f"{_literal(said)}  [@click=app.take_back({number})]Undo[/] [dim]z[/]",
                timeout=_UNDO_STAYS,
            )
        for note in done.notes:
            self.tell(note)
        self.look_again()

    def action_undo(self) -> None:
        """Take back the last change made in this house that stands."""
        if not self._undoable:
            self.tell("Nothing was changed here that could be taken back; mait-code undo reaches further.")
            return
        self._take_back(len(self._undoable) - 1)

    def action_take_back(self, number: int) -> None:
        """Take back a change by its number: the toast's own."""
        if number < len(self._undoable):
            self._take_back(number)

    def _take_back(self, number: int) -> None:
        back, said = self._undoable.pop(number)
        self.clear_notifications()

        async def take() -> None:
            try:
                notes = await self.ask(back)
            except Exception as error:
                self.tell_error(error)
                return
            for note in [f"Taken back: {said}", *notes]:
                self.tell(note)
            self.look_again()

        start(self, take, group="changes")


def _taken_back(actions: list[str], ws: Workspace) -> list[str]:
    """Take back actions by their ids, the last one first. Gives what a person should be told."""
    from mait_code.commands import memory_file, undo

    notes: list[str] = []
    with memory_file.in_step(ws, notes.append, adopts=False):
        for action in reversed(actions):
            notes += undo.undo_named(ws, action).notes
    return notes


def _literal(text: str) -> str:
    """Text as itself where markup is read."""
    return visible(text).replace("[", "\\[")
