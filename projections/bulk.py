"""Filling an empty store: one state per entity in memory, indexes at the end.

Segments are read in the order of their first lines, so events come nearly in the order of their keys. Those older than the
beginning of the newest segment are put in order and folded; the rest waits until segments have passed it. An event that
comes too late all the same, as of a segment with a damaged first line, sends its entity to a second pass over the index.
What is held grows with the entities there are, not with their events.
"""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State

_key = attrgetter("at", "replica", "seq", "id")


class Bulk:
    """The states of a store that is being filled, and the entities whose events did not come in order.

    `fold` is the projection's `fold_all`. `later` are the index statements to run once all rows are there.
    """

    __slots__ = ("_fold", "_waiting", "later", "refold", "segments", "states")

    def __init__(self, fold: Callable[[State | None, Sequence[Event]], State], later: list[str]) -> None:
        self.states: dict[str, State | None] = {}
        self.refold: set[str] = set()
        #: The rows of the segments read so far; the first column is their key, from 1.
        self.segments: list[Row] = []
        self.later = later
        self._fold = fold
        self._waiting: list[Event] = []

    def next_key(self) -> int:
        """The key of a segment that is opened now. The one before it has its row."""
        return len(self.segments) + 1

    def add(self, events: list[Event], before: str) -> None:
        """Take events, and fold what is older than the time `before`, at which the newest segment begins."""
        waiting = [*self._waiting, *events]
        waiting.sort(key=_key)
        ready = len(waiting)
        while ready and waiting[ready - 1].at >= before:
            ready -= 1
        self._waiting = waiting[ready:]
        self._fold_in_order(waiting[:ready])

    def finish(self) -> None:
        """Fold what still waits: no more is to come."""
        self._fold_in_order(self._waiting)
        self._waiting = []

    def _fold_in_order(self, events: list[Event]) -> None:
        states, fold = self.states, self._fold
        grouped: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            grouped[event.entity].append(event)
        for entity, several in grouped.items():
            state = states.get(entity)
            if state is not None and list(several[0].key) <= state["k"]:
                self.refold.add(entity)
            else:
                states[entity] = fold(state, several)
