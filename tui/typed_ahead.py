"""Keys typed ahead: each waits until the one before it was dealt with, and until the dialog that one opened is there.

Otherwise `n` and a title would give its letters to the room below, where each of them means something.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import Input

from mait_code.tui.dialog import Dialog
from mait_code.tui.room import Room

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.events import Key, Paste

    from mait_code.tui.house import House

__all__ = ["TypedAhead"]

#: Seconds between looks for a dialog, that one is waited for, and that a key which nobody answers for holds up the next.
_LOOK, _PATIENCE, _UNANSWERED = 0.01, 2.0, 1.0


class TypedAhead:
    """Hands keys and pasted text on to a house, one after the other."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._waiting: deque[Key | Paste] = deque()
        #: The number of the key that is being dealt with; 0 where none is.
        self._under_way = 0
        self._count = 0
        self._since = 0.0
        self._looks = False

    async def take(self, event: Key | Paste) -> None:
        """One more key."""
        self._waiting.append(event)
        await self._hand_on()

    async def _hand_on(self) -> None:
        if self._under_way or not self._waiting or not self._house.screen_stack:
            return
        if not self._is_there():
            self._look_again()
            return
        house, event = self._house, self._waiting.popleft()
        self._count += 1
        self._under_way = number = self._count
        # From what has the focus a key goes up, node by node, and so does what it brings about (a box was submitted, a row was
        # chosen): each of them says when it has come so far, twice.
        nodes = list((house.focused or house.screen).ancestors_with_self)
        nodes += nodes
        await App.on_event(house, event)
        house.set_timer(_UNANSWERED, lambda: self._answered(number))
        self._ask(nodes, number)

    def _ask(self, nodes: list[DOMNode], number: int) -> None:
        while nodes:
            # A node that is being closed takes nothing more.
            if nodes.pop(0).call_later(self._ask, nodes, number):
                return
        self._answered(number)

    def _answered(self, number: int) -> None:
        if self._under_way == number:
            self._under_way = 0
            self._house.call_later(self._hand_on)

    def _is_there(self) -> bool:
        """Whether the screen on top, or the dialog that is on its way, can be typed at, and shows what the key is about."""
        house, screen = self._house, self._house.screen
        if not isinstance(screen, Room):
            there = screen.is_mounted and (house.focused is not None or not screen.focus_chain)
            there = there and not (isinstance(screen, Dialog) and screen.is_ending)
        elif any(worker.group == "dialogs" and not worker.is_finished for worker in house.workers):
            there = False
        else:
            # Letters go on into a box whatever is being looked for; what is found is waited for by Enter.
            types = isinstance(house.focused, Input) and getattr(self._waiting[0], "key", "") != "enter"
            there = types or not screen.is_reading
        if there:
            self._since = 0.0
            return True
        self._since = self._since or time.monotonic()
        return time.monotonic() - self._since > _PATIENCE

    def _look_again(self) -> None:
        if not self._looks:
            self._looks = True
            self._house.set_timer(_LOOK, self._looked)

    async def _looked(self) -> None:
        self._looks = False
        await self._hand_on()
