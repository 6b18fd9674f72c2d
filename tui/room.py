"""A room: one full screen of the house, with a banner above, the keys below, and what it shows between them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from textual.binding import Binding
from textual.screen import Screen

from mait_code.tui.edges import Banner, KeyLine
from mait_code.tui.keys_wait import KeysWait, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.house import House
    from mait_code.tui.working import Early

__all__ = ["Room"]

#: Seconds that the first picture waits for an answer: drawing twice costs more.
_WORTH_WAITING = 0.1

T = TypeVar("T")


class Room(KeysWait, Screen[None], Generic[T]):
    """Subclasses give `NAME`, `body`, `reading` and `show`.

    `reading` returns what asks the stores: it runs in the workroom, and must touch no widget. `show` gets the answer and puts
    it on the screen, keeping cursors where they are. Both run again whenever the journal changes.
    """

    NAME: ClassVar[str] = ""
    KEYS_TITLE: ClassVar[str] = ""
    AUTO_FOCUS: ClassVar[str | None] = ""  # a room knows itself where its cursor belongs
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "reload", "Reload", show=False),
        Binding("escape", "back", "Back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        #: Whether the journal changed while another room was in front.
        self.stale = False
        self._begun = False
        self._reading = False
        self._again = False
        self.shown = False
        #: The first answer, asked for while the screen was being loaded.
        self.early: Early[T] | None = None

    @property
    def house(self) -> House:
        """The app."""
        return cast("House", self.app)

    @property
    def is_reading(self) -> bool:
        """Whether other contents than those on the screen are on their way."""
        return self.shown and self._reading

    # -- what subclasses say

    def body(self) -> ComposeResult:
        """What stands between the banner and the keys."""
        raise NotImplementedError

    def reading(self) -> Callable[[Workspace], T]:
        """What asks the stores for what is to be shown now."""
        raise NotImplementedError

    def show(self, found: T) -> None:
        """Put the answer on the screen."""
        raise NotImplementedError

    def retreat(self) -> bool:
        """What Escape does before it leaves: close a filter, say. True where there was something to do."""
        return False

    # -- what the house does

    def compose(self) -> ComposeResult:
        yield Banner(self.NAME)
        yield from self.body()
        yield KeyLine()

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        """What happens when the widgets are there: the first answer is shown, or asked for."""
        self._begun = True
        self.call_after_refresh(self.refresh_bindings)
        found = None if self.early is None else self.early.within(_WORTH_WAITING)
        if found is None:
            self.reload()
            return
        self.early = None
        self.shown = True
        self.show(found)

    def on_screen_resume(self) -> None:
        if self.stale:
            self.stale = False
            self.reload()

    def reload(self) -> None:
        """Ask again and show. While an answer is on its way, once more after it."""
        if self._reading or not self._begun:
            self._again = True
            return
        self._reading = True
        start(self, self._reload, group="reading")

    async def _reload(self) -> None:
        try:
            while True:
                self._again = False
                found = await self._answer()
                if not self.is_attached or not self.children:
                    return
                self.shown = True
                self.show(found)
                if not self._again:
                    return
        except Exception as error:
            self.house.tell_error(error)
        finally:
            self._reading = False

    async def _answer(self) -> T:
        """What the stores say now; at first what was asked while the screen was being loaded, however long it takes."""
        early, self.early = self.early, None
        if early is not None:
            loop, arrived = asyncio.get_running_loop(), asyncio.Event()

            def come() -> None:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(arrived.set)

            early.then(come)
            await arrived.wait()
            found = early.within(0)
            if found is not None:
                return found
        return await self.house.ask(self.reading())

    def about(self, context: str, counts: str = "") -> None:
        """What the banner says beside the name: where this is, and on the right how much there is."""
        self.query_one(Banner).say(context, counts)

    def folding(self, done: int, total: int) -> None:
        """A store is being made from the whole journal; nothing can be shown yet."""
        if not self.shown:
            self.about(f"reading the journal, {done} of {total}")

    def action_reload(self) -> None:
        self.reload()

    def action_back(self) -> None:
        if self.app.screen is not self or self.retreat():
            return
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()
        else:
            self.app.exit(0)
