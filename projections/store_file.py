"""The file behind a store: opening it and its tables, making it again where it is damaged, and asking it.

Stores are never migrated: another schema, other kinds, or damage, and they are folded anew.
"""

from __future__ import annotations

import os

import apsw
import orjson

from mait_code.journal import kinds
from mait_code.journal.errors import DiskRefused
from mait_code.journal.event import Event, parse
from mait_code.journal.home import make_directory
from mait_code.journal.reading import Mark
from mait_code.projections import opening, register
from mait_code.projections.index import Index
from mait_code.projections.opening import BUSY, NO_ROOM, SUSPECT, is_damage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    from mait_code.journal.home import Home
    from mait_code.projections.projection import Projection
    from mait_code.projections.register import State

    T = TypeVar("T")

#: Grows with every change of the tables below or of how states are folded.
SCHEMA = 4


class StoreFile:
    """The file of one projection's store. Opened on first use; where the disk refuses, it lives in memory for this
    process. Folding is in store.py."""

    #: Tables and indexes beyond the projection's, known by place; as SQL.
    extra_tables: tuple[str, ...] = ()
    extra_indexes: tuple[str, ...] = ()

    def __init__(self, home: Home, projection: Projection, file: str) -> None:
        self.home = home
        self.projection = projection
        self.family = projection.entity
        #: The types of all entities that are folded here.
        self.types = projection.types
        self.path = home.in_state(file)
        self.name = file
        #: How the lines begin that belong here.
        self.prefixes = tuple(f'{{"kind":"{family}.'.encode() for family in projection.families)
        self.in_memory = False
        self.behind = 0
        #: Told (done, total) of segments while the store is made from the whole journal.
        self.step: Callable[[int, int], None] | None = None
        self._db: apsw.Connection | None = None
        #: The file that was opened, so that only that one is ever put away as damaged.
        self._inode = 0
        #: Events that are in no file, saved from a store that is made again.
        self._saved: list[tuple[Any, ...]] = []

    @property
    def takes_all(self) -> bool:
        """Whether lines of every family belong here."""
        return self.prefixes == (b"",)

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
                db.execute("INSERT INTO meta VALUES ('stamp', ?), ('mark', ?)", (self._wanted(), dump(Mark().dump())))
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
        db.execute("CREATE TABLE conflicts (id TEXT NOT NULL, register TEXT NOT NULL, type TEXT NOT NULL)")
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

    def put_away(self) -> None:
        """Make way for a new file. Where the disk does not let us, this process lives in memory."""
        if self.in_memory:
            self.close()
            return
        try:
            self.set_aside()
        except OSError:
            self.live_in_memory()

    def roll_back(self) -> None:
        """End a transaction that failed. A file that does not even let us do that is closed, which ends it too."""
        if self._db is not None and not self._db.get_autocommit():
            try:
                self._db.execute("ROLLBACK")
            except apsw.Error:
                self.close()

    def catch_up(self) -> object:
        """Bring the store up to the journal. What folds says how."""
        raise NotImplementedError

    # -- asking -------------------------------------------------------------------------------------------------------

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

    def states(self) -> list[tuple[str, bytes]]:
        """Every entity with its state as canonical JSON, in order, as they were at one moment."""
        return self.ask(lambda db: list(states(db)))

    def events_of(self, entity: str) -> list[Event]:
        """The events of an entity in order, each once."""
        return self.ask(lambda db: list(Index(db, self.projection).events_of(entity)))

    def conflicted(self) -> list[tuple[str, str]]:
        """(entity, register) of every conflict."""
        found = self.query("SELECT type, id, register FROM conflicts ORDER BY type, id, register")
        return [(f"{type_}/{entity}", name) for type_, entity, name in found]

    def part(self, entity: str) -> Projection:
        """The projection of an entity (`type/id`)."""
        return self.projection.part(entity.partition("/")[0]) or self.projection

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


def states(db: apsw.Connection) -> Iterator[tuple[str, bytes]]:
    """Every entity with its state, in order, read as they are needed: a damaged page shows when it is come to."""
    yield from db.execute("SELECT entity, state FROM entities ORDER BY entity")


def dump(value: Any) -> bytes:
    """A value of the table `meta`."""
    return orjson.dumps(value)
