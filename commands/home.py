"""Home: how things stand, in a few numbers. It asks the stores only, and no time zone unless something is overdue."""

from __future__ import annotations

from mait_code.commands import board
from mait_code.projections import board_queries, inbox_queries, memory_queries, reminder_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.reminder_queries import Reminder

#: Columns in which nothing waits for anybody.
_SETTLED = ("done", "archived")


class Summary:
    """How things stand. `columns` counts the live columns of `project` (None: of every card, where `every` is set).

    `elsewhere` counts live cards of other projects; `memories` those seen from here, `review` how many of them are due for
    a look; `conflicts` open conflicts of all kinds of things.
    """

    __slots__ = (
        "columns", "conflicts", "elsewhere", "every", "memories", "overdue", "project", "review", "upcoming", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.project: str | None = None
        self.every = False
        self.columns: dict[str, int] = {}
        self.elsewhere = 0
        self.overdue: list[Reminder] = []
        self.upcoming = 0
        self.waiting = 0
        self.memories = 0
        self.review = 0
        self.conflicts = 0

    def json(self) -> dict[str, Any]:
        """The summary as `--json` prints it."""
        return {
            "board": {"project": self.project, "counts": self.columns, "elsewhere": self.elsewhere},
            "reminders": {"overdue": [one.json() for one in self.overdue], "upcoming": self.upcoming},
            "inbox": {"waiting": self.waiting},
            "memory": {"seen": self.memories, "due": self.review},
            "conflicts": self.conflicts,
        }


def summary(ws: Workspace, now: datetime, memories: bool = True) -> Summary:
    """How things stand at `now` (aware): the board of this directory's project, reminders, inbox, conflicts. Without
    `memories` they are not counted, which takes longer than all the rest where there are many."""
    found = Summary()
    _count_cards(ws, found)
    found.overdue = reminder_queries.overdue(ws.reminders, now)
    found.upcoming = reminder_queries.count(ws.reminders) - len(found.overdue)
    found.waiting = inbox_queries.count(ws.inbox)
    if memories:
        _count_memories(ws, found)
    stores = (ws.board, ws.inbox, ws.reminders, ws.reading("memory"), ws.reading("projects"))
    found.conflicts = sum(len(store.conflicted()) for store in stores)
    return found


def _count_memories(ws: Workspace, found: Summary) -> None:
    from mait_code.commands import memory_review, memory_seen

    seen = memory_seen.seen(ws, prefix="memory_entries.")
    found.memories = memory_queries.count(ws.reading("memory"), seen.where, seen.bindings)
    if found.memories:
        found.review = memory_review.due(ws, 1)[1]


def _count_cards(ws: Workspace, found: Summary) -> None:
    chosen = board.scope(ws.board)
    found.project, found.every = chosen.project, chosen.every
    found.columns = _live(board_queries.counts(ws.board, *chosen.condition()))
    if not chosen.every:
        found.elsewhere = sum(_live(board_queries.counts(ws.board)).values()) - sum(found.columns.values())


def _live(counts: dict[str, int]) -> dict[str, int]:
    return {column: count for column, count in counts.items() if column not in _SETTLED}
