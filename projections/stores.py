"""The stores there are: one SQLite file per family of entities."""

from __future__ import annotations

from mait_code.projections.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home
    from mait_code.projections.log import Log

#: Store names as `rebuild` and `digest` know them, in the order they are printed.
NAMES = ("board", "inbox", "reminders", "journal")
#: Which store holds which type of entity.
HOLDS = {"card": "board", "inbox": "inbox", "reminder": "reminders", "replica": "journal"}


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


def journal(home: Home) -> Log:
    """journal.db: every event's place, bad lines, and the replicas."""
    from mait_code.projections.log import Log

    return Log(home)


OPENERS = {"board": board, "inbox": inbox, "reminders": reminders, "journal": journal}
