"""Runs inside the environment that is measured: makes a journal, folds it, catches up. Prints JSON.

probe_fold.py corpus HOME EVENTS      a seeded journal, and batches of late events beside it
probe_fold.py rebuild HOME            all stores anew in one pass
probe_fold.py cards HOME              ids of cards that stand
probe_fold.py catch-up HOME ROUNDS    nothing new, one event, an event that opens a segment, 1,000 late events
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import orjson
from corpus import AWAY, REPLICAS, Corpus

from mait_code.journal import replica, segments
from mait_code.journal.home import Home, write_atomically
from mait_code.journal.journal import Journal
from mait_code.projections import stores
from mait_code.projections.rebuild import rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.projections.store import Store

LATE = 1000
BATCHES = 5
#: Longer than a fresh time stamp is distrusted.
SETTLED = 2.3


def make(home: Home, count: int) -> dict[str, Any]:
    """Write the journal. This machine becomes the first of the two that wrote it, with closed segments of its own."""
    home.make()
    corpus = Corpus(home)
    corpus.write(count)
    identity = {"replica": REPLICAS[0], "fingerprint": replica.fingerprint(home), "forked_from": ""}
    write_atomically(home.in_state("identity.json"), orjson.dumps(identity) + b"\n")
    replica.Clock(replica=REPLICAS[0]).store(home)
    for batch in range(BATCHES):
        corpus.home = Home(f"{home.data}-late/{batch}")
        corpus.write_late(LATE)
    names = [name for directory in REPLICAS for name in os.listdir(os.path.join(home.journal, directory))]
    return {"segments": len(names) - len(REPLICAS), "bytes": _size(home.journal)}


def _size(directory: str) -> int:
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(directory) for name in names)


def fold_anew(home: Home) -> dict[str, Any]:
    """Rebuild every store. The CPU of the fold alone, without starting Python."""
    every = [opener(home) for opener in stores.OPENERS.values()]
    cpu, wall = time.process_time(), time.perf_counter()
    folded = rebuild(home, every)
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "folded": folded["journal.db"],
        "bytes": sum(os.path.getsize(store.path) for store in every),
    }


class Clocked:
    """Series of milliseconds of CPU and of wall time."""

    def __init__(self) -> None:
        self.cpu: dict[str, list[float]] = {}
        self.wall: dict[str, list[float]] = {}

    def time(self, name: str, work: Callable[[], object]) -> None:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        work()
        self.wall.setdefault(name, []).append((time.perf_counter_ns() - wall) / 1e6)
        self.cpu.setdefault(name, []).append((time.process_time_ns() - cpu) / 1e6)

    def json(self) -> dict[str, Any]:
        return {
            name: {"cpu": statistics.median(taken), "wall": statistics.median(self.wall[name]), "samples": taken}
            for name, taken in self.cpu.items()
        }


def catch_up(home: Home, rounds: int) -> dict[str, Any]:
    """What it costs to be up to date, all stores together."""
    clocked = Clocked()
    every = [opener(home) for opener in stores.OPENERS.values()]
    writers = stores.board(home)
    journal = Journal(home)

    def all_stores() -> None:
        for store in every:
            store.catch_up()

    all_stores()
    time.sleep(SETTLED)
    all_stores()
    for _ in range(rounds * 5):
        clocked.time("nothing", all_stores)
    for _ in range(rounds):
        clocked.time("nothing, opened anew", lambda: _opened_anew(home))
    cards = [row[0] for row in writers.query("SELECT id FROM cards ORDER BY id LIMIT ?", (rounds + 1,))]
    for number in range(rounds + 1):
        clocked.time("append", lambda card=cards[number]: _append(journal, writers, card))  # type: ignore[misc]
        if number:
            clocked.time("one event", all_stores)
        else:
            all_stores()
    clocked.time("nothing, just after a write", all_stores)
    for _ in range(BATCHES):
        _fill_segment(home, journal)
        all_stores()
        clocked.time("append that opens a segment", lambda: _append(journal, writers, cards[0]))
        clocked.time("event that opens a segment", all_stores)
    for batch in range(BATCHES):
        time.sleep(SETTLED)
        all_stores()
        _arrive(home, batch)
        clocked.time("late events", all_stores)
    return clocked.json()


def _opened_anew(home: Home) -> None:
    for opener in stores.OPENERS.values():
        store: Store = opener(home)
        store.catch_up()
        store.close()


def _append(journal: Journal, board: Store, card: str) -> None:
    with journal.writing_from_hook(board) as writer:
        writer.append("card.moved", f"card/{card}", column="in_review")


def _fill_segment(home: Home, journal: Journal) -> None:
    """Append until the last segment is closed, so that the next event opens another."""
    directory = os.path.join(home.journal, REPLICAS[0])
    last = os.path.join(directory, max(name for name in os.listdir(directory) if name.endswith(".jsonl")))
    for _ in range(3):
        with journal.writing_from_hook() as writer:
            writer.append("inbox.captured", body="long " * 7000)
        if os.path.getsize(last) >= segments.CLOSED_AT:
            return
    raise RuntimeError(f"{last} does not grow: this machine writes elsewhere")


def _arrive(home: Home, batch: int) -> None:
    """What git does when it brings the events of another machine: files appear."""
    source = os.path.join(f"{home.data}-late/{batch}", "journal", AWAY)
    target = os.path.join(home.journal, AWAY)
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(source)):
        os.rename(os.path.join(source, name), os.path.join(target, name))


def main() -> None:
    action, home = sys.argv[1], Home(sys.argv[2])
    if action == "corpus":
        answer = make(home, int(sys.argv[3]))
    elif action == "rebuild":
        answer = fold_anew(home)
    elif action == "cards":
        answer = {"cards": [row[0] for row in stores.board(home).query("SELECT id FROM cards ORDER BY id LIMIT 500")]}
    else:
        answer = catch_up(home, int(sys.argv[3]))
    sys.stdout.buffer.write(orjson.dumps(answer))


if __name__ == "__main__":
    main()
