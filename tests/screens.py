"""Screens in tests: a room opened without a terminal on a real store, waited for until it is at rest, and its picture."""

from __future__ import annotations

import asyncio
import os
import re
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events

from mait_code.commands.workspace import Workspace
from mait_code.tui.house import House
from mait_code.tui.room import Room
from mait_code.tui.working import Workroom

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    import pytest
    from textual.pilot import Pilot

PICTURES = Path(__file__).parent / "pictures"
#: Sizes at which every screen has its pictures.
SIZES = ((80, 24), (120, 40), (200, 60))
#: Set to write the pictures anew instead of comparing. Read here: each test begins without such variables.
WRITE = "MAIT_CODE_WRITE_PICTURES"
WRITES = bool(os.environ.get(WRITE))

#: Microseconds since 1970 of the fixed clock: 2026-03-02 09:00 UTC.
NINE = 1_772_442_000_000_000


def run(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a test that waits."""
    asyncio.run(coroutine)


class Hand:
    """A person at a screen."""

    def __init__(self, house: House, pilot: Pilot[Any]) -> None:
        self.house = house
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when the screen has come to rest."""
        for key in keys:
            self.strike(key)
            await self.rest()

    def strike(self, key: str, letter: str | None = None) -> None:
        """Press a key and wait for nothing."""
        self.house.post_message(
            events.Key(key, letter if letter and len(letter) == 1 else key if len(key) == 1 else None)
        )

    async def hammer(self, key: str) -> None:
        """Press a key a few keys ahead of the screen, as quick fingers are: all at once would only fill the queue."""
        self.strike(key)
        await self.pilot.pause(0)
        while len(self.house._typed._waiting) > 3 and self.house._exit is False:
            await self.pilot.pause(0.002)

    async def type(self, text: str) -> None:
        """Put text into what has the focus, as a terminal does that pastes."""
        assert self.house.screen.focused is not None
        self.house.post_message(events.Paste(text))
        await self.rest()

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size, and wait until the screen has settled in it."""
        await self.pilot.resize_terminal(width, height)
        await self.rest()
        await self.pilot.pause(0.15)

    async def rest(self) -> None:
        """Wait until nothing is on its way, and nothing came of what was: three quiet looks, up to five seconds."""
        end, quiet = time.monotonic() + 5, 0
        while quiet < 3:
            assert time.monotonic() < end, "the screen does not come to rest"
            await self.pilot.pause(0.008)
            rooms = [screen for screen in self.house.screen_stack if isinstance(screen, Room)]
            busy = any(room._reading for room in rooms) or any(
                not worker.is_finished for worker in self.house.workers if worker.group != "changes" or not self._asks
            )
            busy = busy or bool(self.house._typed._waiting or self.house._typed._under_way)
            quiet = 0 if busy else quiet + 1

    async def settle(self) -> None:
        """After random keys, of which one may have left: wait until nothing runs any more, for two seconds at most."""
        for _ in range(40):
            await self.pilot.pause(0.05)
            busy = self.house._typed._waiting or not all(worker.is_finished for worker in self.house.workers)
            if self.house._exit or not busy:
                return

    @property
    def _asks(self) -> bool:
        """Whether a form waits for the answer to what both sides look like."""
        return type(self.house.screen).__name__ == "Compare"

    async def until(self, true: Callable[[], object], seconds: float = 3.0) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, "it did not come about"
            await self.pilot.pause(0.02)

    @property
    def said(self) -> list[str]:
        """The toasts that stand."""
        return [one.message for one in self.house._notifications]

    @property
    def text(self) -> str:
        """What is on the screen, as text."""
        width, height = self.house.size
        return "\n".join(strip.text for strip in self.house.screen._compositor.render_strips()[:height]) + f"\n{width}"

    def picture(self) -> str:
        """The screen as SVG, without what differs from run to run."""
        svg = self.house.export_screenshot(title="mait-code")
        return re.sub(r"terminal-\d+", "terminal", svg)


@asynccontextmanager
async def opened(room: Callable[[], Room[Any]], size: tuple[int, int] = (120, 40)) -> AsyncIterator[Hand]:
    """A room on the store of this test."""
    house = House(Workroom(Workspace.open), room)
    async with house.run_test(size=size, notifications=True) as pilot:
        hand = Hand(house, pilot)
        await hand.rest()
        yield hand


def compare(name: str, picture: str, kept: Path = PICTURES) -> None:
    """Compare a picture with the one that is kept."""
    path = kept / f"{name}.svg"
    if WRITES:
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
        return
    assert path.exists(), f"{path.name} is not kept yet: run with {WRITE}=1 and look at it"
    if path.read_text(encoding="utf-8") != picture:
        found = Path(os.environ.get("MAIT_CODE_DATA_DIR", ".")).parent / path.name
        found.write_text(picture, encoding="utf-8")
        raise AssertionError(f"{path.name} looks different: see {found}; {WRITE}=1 keeps the new look")


def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands at nine, a second later at each look, and ids that count."""
    from mait_code.journal import clock, ids, writing

    ticks = iter(range(10_000_000))
    numbers = iter(range(1, 10_000_000))
    monkeypatch.setattr(clock, "wall", lambda: NINE + next(ticks) * 1_000_000)
    monkeypatch.setattr(writing, "new_entity", lambda kind: ids.derived_entity(kind, str(next(numbers))))
