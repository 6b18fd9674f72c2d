"""The stores there are: one SQLite file per family of entities."""

from __future__ import annotations

from mait_code.projections.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home
    from mait_code.projections.log import Log

#: Store names as `rebuild` and `digest` know them, in the order they are printed.
NAMES = ("board", "inbox", "reminders", "memory", "projects", "journal")
#: Which store holds which type of entity.
HOLDS = {"card": "board", "inbox": "inbox", "reminder": "reminders", "replica": "journal"}
HOLDS |= dict.fromkeys(
    ("memory", "entity", "session", "summary", "prompt", "turn", "observation", "document", "reflection"), "memory"
)
HOLDS["project"] = "projects"


def board(home: Home) -> Store:
    """board.db: cards."""
    from mait_code.projections.cards import Cards

    return Store(home, Cards(), "board.db")


def inbox(home: Home) -> Store:
    """inbox.db: captured thoughts."""
    from mait_code.projections.thoughts import Thoughts

    return Store(home, Thoughts(), "inbox.db")


def reminders(home: Home) -> Store:
    """reminders.db: things to be told about at a time."""
    from mait_code.projections.reminders import Reminders

    return Store(home, Reminders(), "reminders.db")


def memory(home: Home) -> Store:
    """memory.db: memories and everything that is found like them."""
    from mait_code.projections.memory_store import MemoryStore

    return MemoryStore(home)


def projects(home: Home) -> Store:
    """projects.db: the other names of projects."""
    from mait_code.projections.projects import Projects

    return Store(home, Projects(), "projects.db")


def journal(home: Home) -> Log:
    """journal.db: every event's place, bad lines, and the replicas."""
    from mait_code.projections.log import Log

    return Log(home)


OPENERS = {
    "board": board,
    "inbox": inbox,
    "reminders": reminders,
    "memory": memory,
    "projects": projects,
    "journal": journal,
}
