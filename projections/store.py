"""A store: one SQLite file that holds the folded states of one family, made again from the journal at any time.

Everything that changes together is in one transaction of one file: event index, states, readable rows, cursors. A store
is never migrated; another schema, other kinds, or damage, and it is folded anew.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager

import apsw
import orjson

from mait_code.journal import reading
from mait_code.journal.errors import Busy
from mait_code.journal.event import Bad, Event, parse
from mait_code.journal.reading import Cursor, Mark, Plan
from mait_code.projections import opening
from mait_code.projections.index import Index
from mait_code.projections.opening import BUSY, LOST, NO_ROOM, SUSPECT, WRITER_WAIT_MS, Damaged, is_damage
from mait_code.projections.store_file import StoreFile, dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from mait_code.journal.reading import Change
    from mait_code.projections.index import BadLine, Line

    T = TypeVar("T")

#: Events held in memory at a time.
BATCH = 5_000
#: An empty store with more segments than this to fold, or more bytes in a few, is made anew instead, which is quicker.
ANEW, ANEW_BYTES = 8, 100_000
#: Bytes of write-ahead log above which it is taken back into the file.
LONGEST_LOG = 512 * 1024
#: Page cache of a store that is made anew: what does not fit is written twice.
BULK_CACHE_KIB = 128 * 1024

#: Bytes of new lines in a segment from which on it pays to load what reads them quickly.
WORTH_QUICK = 30_000

#: How often one catching up may find the store damaged, or the disk refusing, before it gives in.
TRIES = 3


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the cycle collector from walking the events being folded: they hold no cycles, and there are many."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class CatchUp:
    """What catching up did: events folded, and how many stand in the journal that could not be folded now."""

    __slots__ = ("behind", "folded")

    def __init__(self, folded: int = 0, behind: int = 0) -> None:
        self.folded = folded
        self.behind = behind


class Store(StoreFile):
    """The store of one projection, and how it is brought up to the journal."""

    def catch_up(self, *, wait: bool = True, thorough: bool = False) -> CatchUp:
        """Fold what is new. With `wait` False a store that another process is writing is left as it is, and the result
        says how many events are not folded yet."""
        for attempt in range(TRIES):
            try:
                return self._catch_up(wait, thorough)
            except BUSY as error:
                raise Busy(f"{self.name} is being written by another process", "try again in a moment") from error
            except NO_ROOM:
                if self.in_memory:
                    raise
                self.live_in_memory()
            except SUSPECT as error:
                if self.in_memory or not is_damage(error):
                    raise
                if attempt:
                    self._inode = 0  # the successor of the damaged file is no better: whatever stands there goes
                self.put_away()
        return self._catch_up(wait, thorough)

    def _catch_up(self, wait: bool, thorough: bool) -> CatchUp:
        db = self.db
        if not thorough:
            raw = self._raw_mark(db)
            mark = _mark(raw)
            if reading.unchanged(self.home, mark) or self._only_marks(db, raw, mark):
                self.behind = 0
                return CatchUp()
        if not self._begin(db, wait):
            self.behind = self._count_behind(_mark(self._raw_mark(db)))
            return CatchUp(0, self.behind)
        try:
            plan = reading.plan(self.home, _mark(self._raw_mark(db)), self._cursors, thorough)
            if self._is_worth_anew(plan):
                db.execute("ROLLBACK")
                folded = self.rebuild()
            else:
                folded = self._fold(db, plan)
                db.execute("COMMIT")
                self._bound_log()
        except BaseException:
            self.roll_back()
            raise
        self.behind = 0
        return CatchUp(folded)

    def _is_worth_anew(self, plan: Plan) -> bool:
        """Whether nothing is folded yet of a journal that holds much."""
        if len(plan.changes) > ANEW:
            return self.is_empty()
        if sum(change.unread() for change in plan.changes) < ANEW_BYTES:
            return False
        few: int = self.db.execute("SELECT count(*) FROM segments").get
        return few <= ANEW and self.db.execute("SELECT 1 FROM entities LIMIT 1").get is None

    def _begin(self, db: apsw.Connection, wait: bool) -> bool:
        """Begin to write. False when another process does and we do not `wait`."""
        db.set_busy_timeout(WRITER_WAIT_MS if wait else 0)
        try:
            db.execute("BEGIN IMMEDIATE")
        except BUSY:
            if wait:
                raise
            return False
        finally:
            db.set_busy_timeout(WRITER_WAIT_MS)
        return True

    def _only_marks(self, db: apsw.Connection, raw: bytes, mark: Mark) -> bool:
        """Whether nothing but the looks of files changed. They are written down once they can be trusted, so that the next
        look is a cheap one; a store that cannot be written now does without."""
        plan = reading.plan(self.home, mark, self._cursors)
        if plan.changes or plan.gone or plan.held:
            return False
        if plan.mark.holds and plan.mark.dump() != mark.dump():
            try:
                self._write_marks(db, raw, plan)
            except NO_ROOM:
                self.roll_back()
        return True

    def _write_marks(self, db: apsw.Connection, raw: bytes, plan: Plan) -> None:
        """Unless the store has been written, or made anew, since `raw` was read: the plan says nothing of that store."""
        if self._begin(db, wait=False):
            if self._raw_mark(db) == raw:
                self._restamp(db, plan)
                db.execute("UPDATE meta SET value = ? WHERE key = 'mark'", (dump(plan.mark.dump()),))
            db.execute("COMMIT")

    @staticmethod
    def _restamp(db: apsw.Connection, plan: Plan) -> None:
        db.executemany(
            "UPDATE segments SET stamp = ? WHERE key = ?", [(cursor.stamp, cursor.key) for cursor in plan.restamped]
        )

    @staticmethod
    def _raw_mark(db: apsw.Connection) -> bytes:
        raw = db.execute("SELECT value FROM meta WHERE key = 'mark'").get
        if type(raw) is not bytes:
            raise Damaged("the mark is not there")
        return raw

    def _cursors(self, directory: str, name: str) -> dict[str, Cursor]:
        """The cursors of a directory by segment, or with a `name` that segment's alone: one event must not cost a look at
        every segment there ever was."""
        query = "SELECT name, key, size, digest, lines, total, stamp FROM segments WHERE directory = ?"
        if name:
            rows = self.db.execute(f"{query} AND name = ?", (directory, name))
        else:
            rows = self.db.execute(query, (directory,))
        return {row[0]: Cursor(directory, *row) for row in rows}

    def _count_behind(self, mark: Mark) -> int:
        count = 0
        for change in reading.plan(self.home, mark, self._cursors).changes:
            if change.load(lambda: True):
                count += sum(1 for _, line in change.lines() if line.startswith(self.prefixes))
        return count

    def index(self) -> Index:
        """The event index of the open store, ready to take lines."""
        return Index(self.db, self.projection)

    def wants(self, line: bytes) -> bool:
        """Whether a line has to be parsed: it begins like one of this family, or not like a line of ours at all."""
        return line.startswith(self.prefixes) or not line.startswith(b'{"kind":"')

    def owns(self, event: Event) -> bool:
        """Whether what was parsed belongs in this store."""
        return event.kind.partition(".")[0] in self.projection.families

    def _fold(self, db: apsw.Connection, plan: Plan) -> int:
        with without_collector():
            return self._fold_plan(db, plan)

    def _fold_plan(self, db: apsw.Connection, plan: Plan) -> int:
        index = self.index()
        largest, folded = self.largest_seen(), 0
        for cursor in plan.gone:
            index.drop(cursor)
        self._restamp(db, plan)
        for change in plan.changes:
            if not change.load(lambda: reading.git_is_working(self.home)):
                plan.mark.distrust(change.cursor.directory)
                continue
            index.open(change)
            index.take(*self._read(change))
            largest = max(largest, change.last_at(), index.largest)
            index.keep(change.cursor)
            change.content = b""
            if index.waiting >= BATCH:
                folded += index.flush()
        folded += index.finish()
        self.finish(db, plan.mark, largest)
        return folded

    def _read(self, change: Change) -> tuple[list[Line], list[BadLine]]:
        """The events of this store among the new lines of a segment, and the lines that are none."""
        read = parse
        if len(change.content) > WORTH_QUICK:
            from mait_code.journal import quick

            read = quick.parse
        lines: list[Line] = []
        bad: list[BadLine] = []
        for number, (offset, line) in enumerate(change.lines(), change.first_line):
            if not self.wants(line):
                continue
            found = read(line)
            if isinstance(found, Bad):
                bad.append((offset, number, line, found))
            elif self.owns(found):
                lines.append((offset, number, line, found))
        return lines, bad

    @staticmethod
    def finish(db: apsw.Connection, mark: Mark, largest: str) -> None:
        """Record what of the journal has been folded, in the transaction that folded it."""
        db.execute("INSERT OR REPLACE INTO meta VALUES ('mark', ?), ('seen', ?)", (dump(mark.dump()), largest))

    def begin_anew(self) -> Index:
        """Open a transaction in which the store is empty and its indexes are built afterwards. What it held is seen by
        others until the transaction is committed."""
        db = self.db
        db.pragma("cache_size", -BULK_CACHE_KIB)
        if self.is_empty() and not self.in_memory:
            opening.write_through(db)
        self._begin(db, wait=True)
        index = self.index()
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall():
            db.execute(f"DROP INDEX {name}")
        for table in ("segments", "copies", "entities", "conflicts", *index.PLACED, *self.projection.tables):
            db.execute(f"DELETE FROM {table}")
        index.fill(self.indexes())
        return index

    def _bound_log(self) -> None:
        """Keep the write-ahead log short. SQLite's own rule does not: a process that opens alone has forgotten how far it
        was folded back, copies all of it again at each commit, and never starts it over."""
        try:
            if os.stat(self.path + "-wal").st_size > LONGEST_LOG:
                self.settle()
        except OSError:
            return  # in memory, or set aside by another process this moment

    def settle(self) -> None:
        """Take the write-ahead log back into the file, so that the next opening need not read it; a file that was filled
        without one gets its own."""
        opening.log_ahead(self.db)
        self.db.set_busy_timeout(0)
        try:
            self.db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (apsw.BusyError, *NO_ROOM):
            return  # somebody reads an older state, or the disk is full; a later fold does it
        finally:
            self.db.set_busy_timeout(WRITER_WAIT_MS)

    def rebuild(self) -> int:
        """Fold the whole journal anew into this store. Returns the number of events."""
        from mait_code.projections.rebuild import rebuild

        return rebuild(self.home, [self], self.step)[self.name]

    def is_empty(self) -> bool:
        """Whether nothing has been folded yet."""
        return self.db.execute("SELECT 1 FROM segments LIMIT 1").get is None


def _mark(raw: bytes) -> Mark:
    try:
        return Mark.load(orjson.loads(raw))
    except ValueError as error:
        raise Damaged("the mark cannot be read") from error


__all__ = ["LOST", "CatchUp", "Store"]
