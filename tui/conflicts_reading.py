"""What the conflicts ask of the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import conflicts
from mait_code.commands.lookup import field_words
from mait_code.commands.output import counted
from mait_code.tui import list_reading
from mait_code.tui.list_reading import Listed, matching

if TYPE_CHECKING:
    from mait_code.commands.conflicts import Conflict
    from mait_code.commands.workspace import Workspace

__all__ = ["Dispute", "Question", "Version", "first"]


class Version:
    """One side of a conflict, in words. `shared` are the lines that every side has."""

    __slots__ = ("number", "stands", "text", "who")

    def __init__(self, number: int, text: str, who: str, stands: bool) -> None:
        self.number = number
        self.text = text
        self.who = who
        self.stands = stands


class Dispute:
    """A field in conflict with its sides, and the conflict itself, which only the workroom may touch."""

    __slots__ = ("conflict", "field", "kind", "shared", "short", "sides", "title")

    def __init__(self, conflict: Conflict) -> None:
        self.conflict = conflict
        self.kind = conflict.entity.partition("/")[0]
        self.short = conflict.short
        self.title = conflict.title
        self.field = field_words(conflict.register)
        self.sides = [
            Version(number, conflict.words(side), side.who, side.stands)
            for number, side in enumerate(conflict.sides, 1)
        ]
        first, *others = (set(side.text.splitlines()) for side in self.sides)
        self.shared = first.intersection(*others)

    @property
    def key(self) -> str:
        """Its row's key."""
        return f"{self.conflict.entity} {self.conflict.register}"


class Question:
    """Every open conflict, those of one thing together, with these words."""

    __slots__ = ("search",)

    def __init__(self, search: str) -> None:
        self.search = search

    def __call__(self, ws: Workspace) -> Listed[Dispute]:
        found: Listed[Dispute] = Listed(list_reading.moment())
        every = [Dispute(conflict) for conflict in conflicts.listed(ws)]
        found.total = len(every)
        things = len({one.conflict.entity for one in every})
        found.banner = f"{counted(len(every), 'field')} of {counted(things, 'thing')}" if every else ""
        last = ""
        for one in matching(every, self.search, _words):
            entity = one.conflict.entity
            if entity != last:
                found.head(f"#{entity}", f"{one.kind} {one.short}\t{one.title}")
                last = entity
            found.add(one.key, one)
        return found


def first() -> Question:
    """What the conflicts ask when they are opened."""
    return Question("")


def _words(one: Dispute) -> str:
    return "\n".join([one.kind, one.short, one.title, one.field, *(f"{side.text} {side.who}" for side in one.sides)])
