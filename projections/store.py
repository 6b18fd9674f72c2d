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

from mait_code.journal import kinds, reading
from mait_code.journal.errors import DiskRefused
from mait_code.journal.event import Bad, Event, parse
from mait_code.journal.home import PRIVATE_FILE, make_directory
from mait_code.journal.reading import Cursor, Mark, Plan
from mait_code.projections import register
from mait_code.projections.index import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.journal.home import Home
    from mait_code.journal.journal import Journal
    from mait_code.projections.projection import Projection
    from mait_code.projections.register import State

#: Grows with every change of the tables below or of how states are folded.
SCHEMA = 1
#: Events held in memory at a time while a store is made.
BATCH = 200_000
WRITER_WAIT_MS = 5000
#: An empty store with more segments than this to fold is made anew instead, which is quicker.
ANEW = 8
#: Page cache of a store that is made anew: what does not fit is written twice.
BULK_CACHE_KIB = 256 * 1024

#: What SQLite says of a file that is no sound database any more.
LOST = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_NO_ROOM = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


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
        self._db: apsw.Connection | None = None

    # -- opening ------------------------------------------------------------------------------------------------------

    @property
    def db(self) -> apsw.Connection:
        """The open connection; tables and cursors are there."""
        if self._db is None:
            self._db = self._open()
        return self._db

    def _open(self) -> apsw.Connection:
        try:
            if not os.path.isdir(self.home.state):
                make_directory(self.home.state)
            return self._connect(self.path)
        except LOST:
            self.set_aside()
            return self._connect(self.path)
        except (*_NO_ROOM, OSError, DiskRefused):
            # A read-only or full disk: reading must still work, so fold into memory, for this process only.
            self.in_memory = True
            return self._connect(":memory:")

    def live_in_memory(self) -> None:
        """Open without a file: a fold to compare with, or for one process alone."""
        self.close()
        self.in_memory = True
        self._db = self._connect(":memory:")

    def _connect(self, path: str) -> apsw.Connection:
        fresh = path != ":memory:" and not os.path.exists(path)
        if fresh:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE))
        db = apsw.Connection(path)
        try:
            db.set_busy_timeout(WRITER_WAIT_MS)
            # The write-ahead log stays small and is not folded back at every close: a command must not wait for a disk.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            if db.pragma("journal_mode") != "wal" and path != ":memory:":
                db.pragma("journal_mode", "wal")
            db.pragma("synchronous", "normal")
            db.pragma("wal_autocheckpoint", 100)
            if self._stamp(db) != self._wanted():
                self._create(db)
        except BaseException:
            db.close()
            raise
        return db

    def _wanted(self) -> str:
        return f"{SCHEMA} {kinds.fingerprint()}"

    @staticmethod
    def _stamp(db: apsw.Connection) -> str:
        if db.pragma("user_version") == 0:
            return ""
        row = db.execute("SELECT value FROM meta WHERE key = 'stamp'").get
        return row if isinstance(row, str) else ""

    def _create(self, db: apsw.Connection) -> None:
        """Make the tables, in one transaction: of several processes that start at once one does it, the rest find it done."""
        db.execute("BEGIN IMMEDIATE")
        try:
            if self._stamp(db) != self._wanted():
                for (table,) in db.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                ).fetchall():
                    db.execute(f'DROP TABLE IF EXISTS "{table}"')
                self._tables(db)
                db.execute("INSERT INTO meta VALUES ('stamp', ?), ('mark', ?)", (self._wanted(), _dump(Mark().dump())))
                db.pragma("user_version", SCHEMA)
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise

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
        """A file that is no database any more is moved away, never deleted unseen, and the store made again."""
        self.close()
        for ending in ("-wal", "-shm"):
            if os.path.exists(self.path + ending):
                os.unlink(self.path + ending)
        if os.path.exists(self.path):
            os.replace(self.path, self.path + ".damaged")

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

    def catch_up(self, journal: Journal | None = None, *, wait: bool = True, thorough: bool = False) -> CatchUp:
        """Fold what is new. With `wait` False a store that another process is writing is left as it is, and the result
        says how many events are not folded yet."""
        try:
            return self._catch_up(wait, thorough)
        except LOST:
            self.set_aside()
            return self._catch_up(wait, thorough)
        except _NO_ROOM:
            if self.in_memory:
                raise
            self.live_in_memory()
            return self._catch_up(wait, thorough)

    def _catch_up(self, wait: bool, thorough: bool) -> CatchUp:
        db = self.db
        mark = self._mark(db)
        if not thorough and reading.unchanged(self.home, mark):
            return CatchUp()
        if not thorough and self._only_marks(db, mark):
            return CatchUp()
        db.set_busy_timeout(WRITER_WAIT_MS if wait else 0)
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            if wait:
                raise
            self.behind = self._count_behind(mark)
            return CatchUp(0, self.behind)
        try:
            plan = reading.plan(self.home, self._mark(db), self._cursors, thorough)
            if len(plan.changes) > ANEW and self.is_empty():
                db.execute("ROLLBACK")
                return CatchUp(self.rebuild())
            folded = self._fold(db, plan)
            db.execute("COMMIT")
        except BaseException:
            if not db.get_autocommit():
                db.execute("ROLLBACK")
            raise
        return CatchUp(folded)

    def _only_marks(self, db: apsw.Connection, mark: Mark) -> bool:
        """Whether nothing but time stamps changed. They are written down once they can be trusted, so that the next
        look is a cheap one; a store that cannot be written now does without."""
        plan = reading.plan(self.home, mark, self._cursors)
        if plan.changes or plan.gone or plan.held:
            return False
        trusted = plan.mark.root and all(one[0] for one in plan.mark.directories.values())
        if trusted and plan.mark.dump() != mark.dump():
            db.set_busy_timeout(0)
            try:
                db.execute("UPDATE meta SET value = ? WHERE key = 'mark'", (_dump(plan.mark.dump()),))
            except (apsw.BusyError, *_NO_ROOM):
                return True
        return True

    def _mark(self, db: apsw.Connection) -> Mark:
        raw = db.execute("SELECT value FROM meta WHERE key = 'mark'").get
        return Mark.load(orjson.loads(raw))

    def _cursors(self, directory: str) -> dict[str, Cursor]:
        rows = self.db.execute(
            "SELECT name, key, size, digest, lines, total, modified FROM segments WHERE directory = ?", (directory,)
        )
        return {row[0]: Cursor(directory, *row) for row in rows}

    def _count_behind(self, mark: Mark) -> int:
        count = 0
        for change in reading.plan(self.home, mark, self._cursors).changes:
            if change.load(hold_cut=True):
                count += sum(1 for _, line in change.lines() if line.startswith(self.prefix))
        return count

    def index(self) -> Index:
        """The event index of the open store, ready to take lines."""
        return Index(self.db, self.projection)

    def wants(self, line: bytes) -> bool:
        """Whether a line has to be parsed: it begins like one of this family, or not like a line of ours at all."""
        return line.startswith(self.prefix) or not line.startswith(b'{"kind":"')

    def owns(self, event: Event | Bad) -> bool:
        """Whether what was parsed belongs in this store."""
        return isinstance(event, Event) and event.kind.startswith(self.projection.family + ".")

    def _fold(self, db: apsw.Connection, plan: Plan) -> int:
        with without_collector():
            return self._fold_plan(db, plan)

    def _fold_plan(self, db: apsw.Connection, plan: Plan) -> int:
        index = self.index()
        hold = reading.git_is_working(self.home)
        largest, folded = self.largest_seen(), 0
        for cursor in plan.gone:
            index.drop(cursor)
        for change in plan.changes:
            if not change.load(hold):
                plan.mark.directories[change.cursor.directory] = [0, "", 0, 0]
                continue
            index.open(change)
            for number, (offset, line) in enumerate(change.lines(), change.first_line):
                if self.wants(line):
                    event = parse(line)
                    if self.owns(event):
                        index.take(offset, number, line, event)
            largest = max(largest, change.last_at(), index.largest)
            index.keep(change.cursor)
            change.content = b""
            if index.waiting >= BATCH:
                folded += index.flush()
        folded += index.finish()
        self.finish(db, plan.mark, largest)
        return folded

    @staticmethod
    def finish(db: apsw.Connection, mark: Mark, largest: str) -> None:
        """Record what of the journal has been folded, in the transaction that folded it."""
        db.execute("INSERT OR REPLACE INTO meta VALUES ('mark', ?), ('seen', ?)", (_dump(mark.dump()), largest))

    def begin_anew(self) -> Index:
        """Open a transaction in which the store is empty and its indexes are built afterwards. What it held is seen by
        others until the transaction is committed."""
        db = self.db
        db.set_busy_timeout(WRITER_WAIT_MS)
        db.pragma("cache_size", -BULK_CACHE_KIB)
        db.execute("BEGIN IMMEDIATE")
        index = self.index()
        later = [*index.INDEXES, *self.indexes()]  # the first also when there turns out to be nothing to fold
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall():
            db.execute(f"DROP INDEX {name}")
        for table in ("segments", "copies", "entities", "conflicts", *index.PLACED, *self.projection.tables):
            db.execute(f"DELETE FROM {table}")
        index.bulk, index.later = True, later
        return index

    def settle(self) -> None:
        """Take the write-ahead log of a large fold back into the file, so that the next opening need not read it."""
        try:
            self.db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return  # somebody reads an older state; a later fold does it

    def rebuild(self) -> int:
        """Fold the whole journal anew into this store. Returns the number of events."""
        from mait_code.projections.rebuild import rebuild

        return rebuild(self.home, [self])[self.name]

    def is_empty(self) -> bool:
        """Whether nothing has been folded yet."""
        return self.db.execute("SELECT 1 FROM segments LIMIT 1").get is None

    # -- reading ------------------------------------------------------------------------------------------------------

    def largest_seen(self) -> str:
        """The largest `at` this store has met anywhere in the journal, or an empty string."""
        seen = self.db.execute("SELECT value FROM meta WHERE key = 'seen'").get
        return seen if isinstance(seen, str) else ""

    def state(self, entity: str) -> State | None:
        """The state of an entity (`type/id`); None where nothing is known of it."""
        raw = self.db.execute("SELECT state FROM entities WHERE entity = ?", (entity,)).get
        return None if raw is None else orjson.loads(raw)

    def heads(self, entity: str) -> dict[str, list[str]]:
        """The heads of an entity's registers: what an event that is written now sees."""
        return register.heads_of(self.state(entity))

    def states(self) -> Iterator[tuple[str, bytes]]:
        """Every entity with its state as canonical JSON, in order."""
        yield from self.db.execute("SELECT entity, state FROM entities ORDER BY entity")

    def events_of(self, entity: str) -> list[Event]:
        """The events of an entity in order, each once."""
        return list(Index(self.db, self.projection).events_of(entity))

    def conflicted(self) -> list[tuple[str, str]]:
        """(entity, register) of every conflict."""
        found = self.db.execute("SELECT id, register FROM conflicts ORDER BY id, register").fetchall()
        return [(f"{self.family}/{entity}", name) for entity, name in found]

    def conflicts_of(self, id_: str) -> list[str]:
        """The registers of one entity (its 12 characters) that are in conflict."""
        return [row[0] for row in self.db.execute("SELECT register FROM conflicts WHERE id = ? ORDER BY register", (id_,))]

    def query(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of the readable tables."""
        return self.db.execute(sql, bindings).fetchall()

    def gone(self) -> list[tuple[str, bytes]]:
        """(id, line) of events that were folded once and stand in no file any more."""
        return self.db.execute("SELECT id, line FROM gone ORDER BY id").fetchall()


def _dump(value: Any) -> bytes:
    return orjson.dumps(value)


__all__ = ["LOST", "CatchUp", "Store"]
