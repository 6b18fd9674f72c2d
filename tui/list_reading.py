"""What a room with a list and a view of the item under its cursor asks for. Nothing here knows a widget."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Listed", "Meaning", "matching", "meaning", "moment"]

T = TypeVar("T")


def moment() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


class Listed(Generic[T]):
    """The answer: what is listed, in order, by its key; how many there are in each view; what the banner says.

    `headings` are rows between them, by keys that are in `keys` too and name no item.
    """

    __slots__ = ("banner", "counts", "headings", "items", "keys", "now", "total")

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.keys: list[str] = []
        self.items: dict[str, T] = {}
        self.headings: dict[str, str] = {}
        self.counts: list[int | None] = []
        self.total = 0
        self.banner = ""

    def add(self, key: str, item: T) -> None:
        """One more item."""
        self.keys.append(key)
        self.items[key] = item

    def head(self, key: str, words: str) -> None:
        """A heading above the items that follow."""
        self.keys.append(key)
        self.headings[key] = words


def matching(found: Iterable[T], search: str, words_of: Callable[[T], str]) -> list[T]:
    """Those in whose words each word of `search` is."""
    asked = search.casefold().split()
    if not asked:
        return list(found)
    kept = []
    for one in found:
        text = words_of(one).casefold()
        if all(word in text for word in asked):
            kept.append(one)
    return kept


class Meaning:
    """What a phrase means as a time, in words, or why it means none, and what to write."""

    __slots__ = ("hint", "reads", "words")

    def __init__(self, reads: bool, words: str, hint: str = "") -> None:
        self.reads = reads
        self.words = words
        self.hint = hint


def meaning(phrase: str, now: datetime, snooze: bool = False) -> Meaning:
    """What the time language makes of a phrase here and now."""
    from mait_code.commands import when
    from mait_code.journal.errors import MaitError
    from mait_code.projections.recurrence import describe
    from mait_code.projections.zones import local_zone, show

    local = local_zone()
    try:
        found = (when.parse_until if snooze else when.parse_when)(phrase, now, local)
    except MaitError as error:
        return Meaning(False, error.message, error.hint)
    repeats = f", then {describe(found.rule)}" if found.rule is not None else ""
    return Meaning(True, f"{show(found.due, found.zone, now, local)}{repeats}")
