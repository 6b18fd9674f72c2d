"""The floor of a rebuild: decode every line with orjson, and insert the rows of the built stores into the same tables.

    probe_floor.py HOME SCRATCH

Whatever folds a journal into these stores does at least this. The rows are read from the built stores beforehand, and
that is not measured; neither is anything of mait-code's in what follows.
"""

from __future__ import annotations

import gc
import glob
import os
import sys
import time

import apsw
import orjson

from mait_code.journal.home import Home
from mait_code.projections.store import BULK_CACHE_KIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: Tables that SQLite makes by itself: its own, and what the full-text index keeps its terms in.
_MADE = ("sqlite_", "entries_fts_")


class Contents:
    """Everything in one store: statements that make it, and the rows of its tables."""

    def __init__(self, path: str) -> None:
        self.name = os.path.basename(path)
        db = apsw.Connection(path)
        schema = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
        self.tables = [sql for type_, name, sql in schema if type_ == "table" and not name.startswith(_MADE)]
        self.indexes = [sql for type_, _name, sql in schema if type_ == "index"]
        self.rows: dict[str, list[Any]] = {
            name: db.execute(f"SELECT * FROM {name}").fetchall()
            for type_, name, _sql in schema
            if type_ == "table" and not name.startswith((*_MADE, "entries_fts"))
        }
        db.close()

    def insert(self, directory: str) -> None:
        """One transaction in a fresh file, journalled and cached as a store is; indexes last."""
        db = apsw.Connection(os.path.join(directory, self.name))
        db.pragma("journal_mode", "wal")
        db.pragma("synchronous", "normal")
        db.pragma("cache_size", -BULK_CACHE_KIB)
        db.execute("BEGIN IMMEDIATE")
        for statement in self.tables:
            db.execute(statement)
        for table, rows in self.rows.items():
            if rows:
                db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        for statement in self.indexes:
            db.execute(statement)
        db.execute("COMMIT")
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        db.close()


def decode(journal: str) -> int:
    """Decode every line of every segment; how many there are."""
    count = 0
    for path in sorted(glob.glob(os.path.join(journal, "*", "*.jsonl"))):
        with open(path, "rb") as file:
            for line in file.read().split(b"\n")[:-1]:
                orjson.loads(line)
                count += 1
    return count


def main() -> None:
    home, scratch = Home(sys.argv[1]), sys.argv[2]
    held = [Contents(path) for path in sorted(glob.glob(os.path.join(home.state, "*.db")))]
    os.makedirs(scratch)
    gc.disable()
    wall, began = time.perf_counter(), time.process_time()
    lines = decode(home.journal)
    decoded = time.process_time()
    for one in held:
        one.insert(scratch)
    ended = time.process_time()
    answer = {
        "cpu": ended - began,
        "wall": time.perf_counter() - wall,
        "decode": decoded - began,
        "insert": ended - decoded,
        "lines": lines,
    }
    sys.stdout.buffer.write(orjson.dumps(answer))


if __name__ == "__main__":
    main()
