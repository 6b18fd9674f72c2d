"""Runs inside the environment that is measured: cards, thoughts, reminders and sessions for the screens to show.

probe_screens.py HOME CARDS PROJECTS
"""

from __future__ import annotations

import os
import sys

import orjson

from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.projections import ids, stores

COLUMNS = ("backlog", "backlog", "refined", "in_progress", "in_review", "done")
#: Everything that a screen shows of this begins with this word, so that it can be seen to be there.
MARK = "Lookout"
FEW = 1000


def main() -> None:
    home = Home(sys.argv[1])
    cards, projects = int(sys.argv[2]), int(sys.argv[3])
    home.make()
    journal = Journal(home)
    board, inbox, reminders = stores.board(home), stores.inbox(home), stores.reminders(home)
    with journal.writing(board) as writer:
        number = ids.next_number(board)
        for one in range(cards):
            card = writer.append(
                "card.created",
                title=f"{MARK} {one}: the parser loses its place after a café",
                description="What happens, what should happen, and how to see it. " * 4,
                priority=("low", "medium", "high")[one % 3],
                column=COLUMNS[one % len(COLUMNS)],
                project=f"acme/shop-{one % projects}",
                number=number + one,
            )
            writer.append("card.tagged", card.entity, tag="parser")
    with journal.writing(inbox) as writer:
        for one in range(FEW):
            writer.append("inbox.captured", body=f"{MARK} {one}: look at the queue", project="acme/shop-1")
    with journal.writing(reminders) as writer:
        for one in range(FEW):
            when = {"due": f"2098-03-{one % 28 + 1:02d}T09:00", "zone": "Europe/Berlin"}
            writer.append("reminder.set", what=f"{MARK} {one}: send the report", when=when)
    for opener in stores.OPENERS.values():
        opener(home).catch_up()
    sys.stdout.buffer.write(
        orjson.dumps(
            {
                "journal": sum(
                    os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(home.journal) for name in names
                )
            }
        )
    )


if __name__ == "__main__":
    main()
