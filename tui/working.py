"""The workroom: one thread with a workspace in it. All that screens ask of the stores, and all that they do, runs there in
order, so that no screen waits for a disk or for another process, and no store is used by two threads."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from mait_code.journal.errors import MaitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.workspace import Workspace

    Task = Callable[[Workspace | BaseException], None]

T = TypeVar("T")

__all__ = ["Early", "Workroom"]

#: Seconds that leaving waits for a task at most. What is being written is written under the journal's lock, or not at all.
_PATIENCE = 2.0


class Early(Generic[T]):
    """An answer that was asked for before there was a screen to show it."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._answer: tuple[T | None, BaseException | None] = (None, None)
        self._waits: Callable[[], None] | None = None

    def settle(self, result: T | None, error: BaseException | None) -> None:
        """Here it is. Called in the workroom's thread."""
        self._answer = (result, error)
        self._ready.set()
        if self._waits is not None:
            self._waits()

    def then(self, call: Callable[[], None]) -> None:
        """Call this when the answer is here, in whatever thread; at once where it is. One at a time may wait."""
        self._waits = call
        if self._ready.is_set():
            call()

    def within(self, seconds: float) -> T | None:
        """The answer, if it is here by then and no error: whoever asks again gets the error too."""
        self._ready.wait(seconds)
        return self._answer[0]


class Workroom:
    """Opens its workspace with `opens` in its own thread, before the first task; `close` ends it after the last."""

    def __init__(self, opens: Callable[[], Workspace]) -> None:
        self._opens = opens
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._closed = False
        #: Told (done, total) in the workroom's thread while a store is made from the whole journal.
        self.step: Callable[[int, int], None] | None = None
        self._thread = threading.Thread(target=self._work, name="workroom", daemon=True)
        self._thread.start()

    def submit(
        self, task: Callable[[Workspace], T], done: Callable[[T | None, BaseException | None], None] | None = None
    ) -> None:
        """Run a task when those before it are done. `done` gets its result or its error, in the workroom's thread.

        After `close` there is nobody to run it: whoever would wait for it is cancelled.
        """
        if self._closed:
            from asyncio import CancelledError

            raise CancelledError

        def run(workspace: Workspace | BaseException) -> None:
            result, error = None, None
            if isinstance(workspace, BaseException):
                error = workspace
            else:
                try:
                    workspace.look_again()
                    result = task(workspace)
                except BaseException as raised:  # whatever it is belongs to whoever asked
                    error = raised
                    if not isinstance(raised, MaitError):
                        # As at the end of a command that failed: a store that looks damaged is made anew at its next use.
                        workspace.__exit__(type(raised), raised, raised.__traceback__)
            if done is not None:
                done(result, error)

        self._tasks.put(run)

    def early(self, task: Callable[[Workspace], T]) -> Early[T]:
        """Run a task for a screen that is still being loaded."""
        answer: Early[T] = Early()
        self.submit(task, answer.settle)
        return answer

    def close(self) -> None:
        """End the thread when what it was given is done."""
        self._closed = True
        self._tasks.put(None)
        self._thread.join(_PATIENCE)

    def _work(self) -> None:
        workspace: Workspace | BaseException
        try:
            workspace = self._opens()
            workspace.step = self._step
        except BaseException as error:  # told to each who asks
            workspace = error
        while (task := self._tasks.get()) is not None:
            task(workspace)
        if not isinstance(workspace, BaseException):
            workspace.close()

    def _step(self, done: int, total: int) -> None:
        if self.step is not None:
            self.step(done, total)
