"""What the review asks of the store. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import memory_review, memory_seen
from mait_code.commands.output import counted
from mait_code.tui import list_reading
from mait_code.tui.list_reading import Listed, matching
from mait_code.tui.memory_reading import HERE, named, scope_of

if TYPE_CHECKING:
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory

__all__ = ["Question", "Waiting", "first"]

#: So many are listed at most, the most decayed.
_MOST = 200


class Waiting:
    """A memory that is due, and how much of it is recalled (0 to 1)."""

    __slots__ = ("memory", "recall")

    def __init__(self, memory: Memory, recall: float) -> None:
        self.memory = memory
        self.recall = recall


class Question:
    """What is to be shown: what is due, seen from which place, with which words."""

    __slots__ = ("place", "search")

    def __init__(self, place: str = HERE, search: str = "") -> None:
        self.place = place
        self.search = search

    def __call__(self, ws: Workspace) -> Listed[Waiting]:
        scope, project = scope_of(self.place)
        due, count = memory_review.due(ws, _MOST, scope, project)
        found: Listed[Waiting] = Listed(list_reading.moment())
        found.total = count
        place = named(self.place, memory_seen.seen(ws, scope, project))
        shown = "" if count <= _MOST else f", the first {_MOST} here"
        found.banner = f"{place}  {counted(count, 'memory', 'memories')} due{shown}"
        for one in matching(due, self.search, _words):
            found.add(one.memory.id, Waiting(one.memory, one.recall))
        return found


def first() -> Question:
    """What the review asks when it is opened."""
    return Question()


def _words(due: memory_review.Due) -> str:
    one = due.memory
    return f"{one.content}\n{one.short} {one.entry_type} {one.project or ''} {' '.join(one.tags)}"
