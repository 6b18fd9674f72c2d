"""Long work beside everything else: in a thread and a workspace of its own, so that the workroom goes on answering."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.tui.house import House

__all__ = ["aside"]

T = TypeVar("T")


async def aside(house: House, task: Callable[[Workspace], T]) -> T:
    """What `task` gives of a workspace of its own on the same data directory. Raises what it raises.

    The thread ends with the program, or when the task does: whoever is not waited for any more is not stopped by that.
    """
    home, actor, session = await house.ask(lambda ws: (ws.home, ws.journal.actor, ws.session))
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))

    def work() -> None:
        result, failed = None, None
        try:
            with Workspace(type(home)(home.data), actor, session) as ws:
                result = task(ws)
        except BaseException as error:  # whatever it is belongs to whoever asked
            failed = error
        try:
            loop.call_soon_threadsafe(settle, result, failed)
        except RuntimeError:
            return  # the house was closed meanwhile, and nobody waits

    threading.Thread(target=work, name="aside", daemon=True).start()
    return await future
