"""A monkey at the screens: random keys, from a seed, after which nothing may be broken.

MAIT_CODE_MONKEY_KEYS presses more keys than usual, MAIT_CODE_MONKEY_SEED picks others.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

from screens import Hand, opened, run
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.tui.room import Room

# Read here: each test begins without such variables.
_KEYS, _SEED = (int(os.environ.get(f"MAIT_CODE_MONKEY_{name}", "0")) for name in ("KEYS", "SEED"))
#: Keys that mean something everywhere, and how many are pressed before a room is opened anew, where none leaves it before.
_EVERYWHERE = "j k up down left right home end G g enter r z question_mark escape escape tab shift+tab ctrl+p y space a"
_AT_ONCE = 150


def hammer(keys: str, usual: int, *rooms: Callable[[], Room[Any]]) -> None:
    """Press these keys and those of everywhere, `usual` of them, in one of the rooms after another, at several sizes. Only q,
    Ctrl+Q and Escape in the room itself leave it."""
    pressed = [*keys.split(), *_EVERYWHERE.split(), "pageup", "pagedown"]
    dice = random.Random(_SEED or 20260302)

    async def go() -> None:
        left = _KEYS or usual
        while left > 0:
            async with opened(dice.choice(rooms), dice.choice([(80, 24), (120, 40), (40, 12)])) as hand:
                for _ in range(min(left, _AT_ONCE)):
                    if not hand.house.is_running or hand.house._exit is not False:
                        break
                    left -= 1
                    await hand.hammer(dice.choice([key for key in pressed if key != "escape" or not _in_room(hand)]))
                await hand.settle()
                assert hand.house._exception is None
            assert hand.house.return_code in (0, None)

    run(go())


def _in_room(hand: Hand) -> bool:
    return len(hand.house.screen_stack) == 1 and not isinstance(hand.house.focused, Input)
