"""Runs inside the environment that is measured: a home such as somebody has after a month. Prints the ids of its cards.

probe_seed.py HOME
"""

from __future__ import annotations

import sys

import orjson

from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.projections import ids, stores

CARDS, THOUGHTS, REMINDERS = 200, 60, 25
COLUMNS = ("backlog", "backlog", "refined", "in_progress", "in_review", "done")


def main() -> None:
    home = Home(sys.argv[1])
    home.make()
    journal = Journal(home)
    board, inbox, reminders = stores.board(home), stores.inbox(home), stores.reminders(home)
    cards = []
    for number in range(CARDS):
        with journal.writing_from_hook(board) as writer:
            card = writer.append(
                "card.created",
                title=f"Card {number}: the parser loses its place after a café",
                description="What happens, what should happen, and how to see it. " * 4,
                priority=("low", "medium", "high")[number % 3],
                column="backlog",
                project=("acme/shop", "acme/api")[number % 2],
                number=ids.next_number(board),
            )
            writer.append("card.tagged", card.entity, tag="parser")
            writer.append("card.commented", card.entity, body="It is the second look-ahead.", author="me")
            writer.append("card.moved", card.entity, column=COLUMNS[number % len(COLUMNS)])
        cards.append(card.entity.partition("/")[2])
    for number in range(THOUGHTS):
        with journal.writing_from_hook(inbox) as writer:
            writer.append("inbox.captured", body=f"Thought {number}: look at the queue", project="acme/shop")
    for number in range(REMINDERS):
        with journal.writing_from_hook(reminders) as writer:
            when = {"due": f"2098-03-{number + 1:02d}T09:00", "zone": "Europe/Berlin"}
            writer.append("reminder.set", what=f"Reminder {number}", when=when)
    for opener in stores.OPENERS.values():
        opener(home).catch_up()
    sys.stdout.buffer.write(orjson.dumps(cards))


if __name__ == "__main__":
    main()
