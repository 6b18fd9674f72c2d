"""Appends for pools of processes, and a writer that holds the lock until it is told to go on.

`python -m workers.appending hold` prints "holding" inside its block and leaves it when a line comes in.
"""

from __future__ import annotations

import os
import sys

from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.projections import stores


def append_many(number: int, count: int) -> list[str]:
    """Write `count` events and return their ids, each noted once its block was left."""
    home = Home(os.environ["MAIT_CODE_DATA_DIR"])
    journal = Journal(home, "me", f"session-{number}")
    inbox = stores.inbox(home)
    told = []
    for one in range(count):
        # A quarter decides with a store, as commands do; the others only append.
        with journal.writing(*([inbox] if one % 4 == 0 else []), wait=60) as writer:
            event = writer.append("inbox.captured", body=f"worker {number}, event {one}")
        told.append(event.id)
    inbox.close()
    return told


def hold() -> None:
    home = Home(os.environ["MAIT_CODE_DATA_DIR"])
    inbox = stores.inbox(home)
    with Journal(home).writing(inbox) as writer:
        writer.append("inbox.captured", body="by the holder")
        inbox.db.execute("BEGIN IMMEDIATE")
        sys.stdout.write("holding\n")
        sys.stdout.flush()
        sys.stdin.readline()
        inbox.db.execute("ROLLBACK")


if __name__ == "__main__":
    assert sys.argv[1:] == ["hold"]
    hold()
