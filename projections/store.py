"""A store: one SQLite file that holds the folded states of one family, made again from the journal at any time.

Everything that changes together is in one transaction of one file: event index, states, readable rows, cursors. A store
is never migrated; another schema, other kinds, or damage, and it is folded anew.
"""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager
from itertools import chain, islice

import apsw
import orjson

from mait_code.journal import kinds, reading
from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.event import Bad, Event, parse
from mait_code.journal.home import make_directory
from mait_code.journal.reading import Cursor, Mark, Plan
from mait_code.projections import opening, register
from mait_code.projections.index import Index
from mait_code.projections.opening import BUSY, LOST, NO_ROOM, SUSPECT, WRITER_WAIT_MS, Damaged, is_damage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    from mait_code.journal.home import Home
    from mait_code.journal.reading import Change
    from mait_code.projections.index import BadLine, Line
    from mait_code.projections.projection import Projection
    from mait_code.projections.register import State

    T = TypeVar("T")

#: Grows with every change of the tables below or of how states are folded.
SCHEMA = 2
#: Events held in memory at a time.
BATCH = 20_000
#: An empty store with more segments than this to fold is made anew instead, which is quicker.
ANEW = 8
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


class Store:
    """The store of one projection. Opened on first use; where the disk refuses, it lives in memory for this process."""

    #: Tables and indexes beyond the projection's, known by place; as SQL.
    extra_tables: tuple[str, ...] = ()
    extra_indexes: tuple[str, ...] = ()

    def __init__(self, home: Home, projection: Projection, file: str) -> None:
        self.home = home
        self.projection = projection
        self.family = projection.entity
        self.path = home.in_state(file)
        self.name = file
        self.prefix = f'{{"kind":"{projection.family}.'.encode()
        self.in_memory = False
        self.behind = 0
        #: Told (done, total) of segments while the store is made from the whole journal.
        self.step: Callable[[int, int], None] | None = None
        self._db: apsw.Connection | None = None
        #: The file that was opened, so that only that one is ever put away as damaged.
        self._inode = 0
        #: Events that are in no file, saved from a store that is made again.
        self._saved: list[tuple[Any, ...]] = []

    # -- opening ------------------------------------------------------------------------------------------------------

    @property
    def db(self) -> apsw.Connection:
        """The open connection; tables and cursors are there."""
        if self._db is None:
            self._db = self._open()
        return self._db

    def _open(self) -> apsw.Connection:
        if self.in_memory:
            return self._prepared(opening.in_memory())
        try:
            if not os.path.isdir(self.home.state):
                make_directory(self.home.state)
            try:
                return self._connect()
            except SUSPECT as error:
                if not is_damage(error):
                    raise
                self.set_aside()
                return self._connect()
        except (*NO_ROOM, *BUSY, OSError, DiskRefused):
            # A read-only or full disk, or a process stopped while it makes the tables: reading must still work, so fold
            # into memory, for this process only.
            self.in_memory = True
            return self._prepared(opening.in_memory())

    def live_in_memory(self) -> None:
        """Open without a file: a fold to compare with, or for one process alone."""
        self.close()
        self.in_memory = True
        self._db = self._open()

    def _connect(self) -> apsw.Connection:
        self._inode = 0
        db, self._inode = opening.connect(self.path)
        return self._prepared(db)

    def _prepared(self, db: apsw.Connection) -> apsw.Connection:
        try:
            if self._stamp(db) != self._wanted():
                self._create(db)
        except BaseException:
            db.close()
            raise
        return db

    def _wanted(self) -> str:
        return f"{self.name} {SCHEMA} {kinds.fingerprint()}"

    @staticmethod
    def _stamp(db: apsw.Connection) -> str:
        if db.pragma("user_version") == 0:
            return ""
        try:
            row = db.execute("SELECT value FROM meta WHERE key = 'stamp'").get
        except apsw.SQLError:
            return ""  # a database, but not one of ours: its tables go
        return row if isinstance(row, str) else ""

    def _create(self, db: apsw.Connection) -> None:
        """Make the tables, in one transaction: of several processes that start at once one does it, the rest find it done."""
        db.execute("BEGIN IMMEDIATE")
        try:
            if self._stamp(db) != self._wanted():
                self._save_gone(db)
                for (table,) in db.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                ).fetchall():
                    db.execute(f'DROP TABLE IF EXISTS "{table}"')
                self._tables(db)
                db.execute("INSERT INTO meta VALUES ('stamp', ?), ('mark', ?)", (self._wanted(), _dump(Mark().dump())))
                db.executemany("INSERT OR IGNORE INTO gone VALUES (?, ?)", self._saved)
                db.pragma("user_version", SCHEMA)
            db.execute("COMMIT")
        except BaseException:
            if not db.get_autocommit():
                db.execute("ROLLBACK")
            raise

    def _save_gone(self, db: apsw.Connection) -> None:
        """Events that are in no file any more are nowhere but here. What can still be read of them is kept."""
        try:
            rows = db.execute("SELECT id, line FROM gone").fetchall()
        except apsw.Error:
            return
        self._saved = [row for row in rows if type(row[1]) is bytes and isinstance(parse(row[1]), Event)]

    def _tables(self, db: apsw.Connection) -> None:
        db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value)")
        for statement in Index.TABLES:
            db.execute(statement)
        db.execute(
            "CREATE TABLE entities (entity TEXT PRIMARY KEY, number INTEGER, deleted INTEGER NOT NULL, state BLOB NOT NULL)"
            " WITHOUT ROWID"
        )
        db.execute("CREATE TABLE conflicts (id TEXT NOT NULL, register TEXT NOT NULL)")
        for table, columns in self.projection.tables.items():
            db.execute(f"CREATE TABLE {table} ({columns})")
        for statement in self.extra_tables:
            db.execute(statement)
        for statement in (*Index.INDEXES, *self.indexes()):
            db.execute(statement)

    def indexes(self) -> list[str]:
        """The statements that make every index but those the fold itself needs."""
        return [
            *self.projection.indexes,
            *self.extra_indexes,
            "CREATE INDEX IF NOT EXISTS conflicts_id ON conflicts (id)",
            "CREATE INDEX IF NOT EXISTS entities_number ON entities (number) WHERE number IS NOT NULL",
        ]

    def set_aside(self) -> None:
        """A file that is no sound database any more is moved away, never deleted unseen, and the store made again."""
        if self._db is not None:
            self._save_gone(self._db)
        self.close()
        opening.set_aside(self.path, self._inode)

    def distrust(self) -> None:
        """Have the store made anew by whoever opens it next: reading it led to what cannot be."""
        if self._db is None or self.in_memory:
            return
        self.roll_back()
        try:
            self.db.execute("UPDATE meta SET value = '' WHERE key = 'stamp'")
        except (apsw.Error, OSError):
            self.put_away()

    @property
    def is_open(self) -> bool:
        """Whether the file is open now."""
        return self._db is not None

    def close(self) -> None:
        """Close the file. The store opens again when it is used."""
        if self._db is not None:
            self._db.close()
            self._db = None

    # -- folding ------------------------------------------------------------------------------------------------------

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

    def put_away(self) -> None:
        """Make way for a new file. Where the disk does not let us, this process lives in memory."""
        if self.in_memory:
            self.close()
            return
        try:
            self.set_aside()
        except OSError:
            self.live_in_memory()

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
            if len(plan.changes) > ANEW and self.is_empty():
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

    def roll_back(self) -> None:
        """End a transaction that failed. A file that does not even let us do that is closed, which ends it too."""
        if self._db is not None and not self._db.get_autocommit():
            try:
                self._db.execute("ROLLBACK")
            except apsw.Error:
                self.close()

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
                db.execute("UPDATE meta SET value = ? WHERE key = 'mark'", (_dump(plan.mark.dump()),))
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
                count += sum(1 for _, line in change.lines() if line.startswith(self.prefix))
        return count

    def index(self) -> Index:
        """The event index of the open store, ready to take lines."""
        return Index(self.db, self.projection)

    def wants(self, line: bytes) -> bool:
        """Whether a line has to be parsed: it begins like one of this family, or not like a line of ours at all."""
        return line.startswith(self.prefix) or not line.startswith(b'{"kind":"')

    def owns(self, event: Event) -> bool:
        """Whether what was parsed belongs in this store."""
        return event.kind.startswith(self.projection.family + ".")

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
        db.execute("INSERT OR REPLACE INTO meta VALUES ('mark', ?), ('seen', ?)", (_dump(mark.dump()), largest))

    def begin_anew(self) -> Index:
        """Open a transaction in which the store is empty and its indexes are built afterwards. What it held is seen by
        others until the transaction is committed."""
        db = self.db
        db.pragma("cache_size", -BULK_CACHE_KIB)
        if db.get_autocommit():
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
        """Take the write-ahead log back into the file, so that the next opening need not read it."""
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

    # -- reading ------------------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[apsw.Connection], T]) -> T:
        """The answer to a question to the open store. Where it shows that the file is damaged, the store is made again and
        asked once more."""
        try:
            return question(self.db)
        except SUSPECT as error:
            if self.in_memory or not is_damage(error) or not self.db.get_autocommit():
                raise
            self.put_away()
        self.catch_up()
        return question(self.db)

    def largest_seen(self) -> str:
        """The largest `at` this store has met anywhere in the journal, or an empty string."""
        seen = self.ask(lambda db: db.execute("SELECT value FROM meta WHERE key = 'seen'").get)
        return seen if isinstance(seen, str) else ""

    def state(self, entity: str) -> State | None:
        """The state of an entity (`type/id`); None where nothing is known of it."""

        def question(db: apsw.Connection) -> State | None:
            raw = db.execute("SELECT state FROM entities WHERE entity = ?", (entity,)).get
            return None if raw is None else orjson.loads(raw)

        return self.ask(question)

    def heads(self, entity: str) -> dict[str, list[str]]:
        """The heads of an entity's registers: what an event that is written now sees."""
        return register.heads_of(self.state(entity))

    def states(self) -> Iterator[tuple[str, bytes]]:
        """Every entity with its state as canonical JSON, in order, as they were at one moment."""
        rows = self.ask(lambda db: _begun(db.execute("SELECT entity, state FROM entities ORDER BY entity")))
        yield from rows

    def events_of(self, entity: str) -> list[Event]:
        """The events of an entity in order, each once."""
        return self.ask(lambda db: list(Index(db, self.projection).events_of(entity)))

    def conflicted(self) -> list[tuple[str, str]]:
        """(entity, register) of every conflict."""
        found = self.query("SELECT id, register FROM conflicts ORDER BY id, register")
        return [(f"{self.family}/{entity}", name) for entity, name in found]

    def conflicts_of(self, id_: str) -> list[str]:
        """The registers of one entity (its 12 characters) that are in conflict."""
        return [row[0] for row in self.query("SELECT register FROM conflicts WHERE id = ? ORDER BY register", (id_,))]

    def query(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of the readable tables."""
        return self.ask(lambda db: db.execute(sql, bindings).fetchall())

    def value(self, sql: str, bindings: tuple[Any, ...] = ()) -> Any:
        """The first value of the first row, or None where there is none."""
        return self.ask(lambda db: db.execute(sql, bindings).get)

    def missing(self) -> int:
        """How many events were folded once and stand in no file any more."""
        return int(self.value("SELECT count(*) FROM gone") or 0)

    def gone(self) -> list[tuple[str, bytes]]:
        """(id, line) of events that were folded once and stand in no file any more."""
        return [(row[0], row[1]) for row in self.query("SELECT id, line FROM gone ORDER BY id")]


def _begun(rows: Iterable[Any]) -> Iterator[Any]:
    """The same rows, the first of them read: a file that cannot be read shows it here."""
    rows = iter(rows)
    first = list(islice(rows, 1))
    return chain(first, rows)


def _mark(raw: bytes) -> Mark:
    try:
        return Mark.load(orjson.loads(raw))
    except ValueError as error:
        raise Damaged("the mark cannot be read") from error


def _dump(value: Any) -> bytes:
    return orjson.dumps(value)


__all__ = ["LOST", "CatchUp", "Store"]
