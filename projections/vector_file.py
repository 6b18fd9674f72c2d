"""The file of the vector cache: opening it, the tables of each model, and what every question and change goes through."""

from __future__ import annotations

import os
from contextlib import contextmanager

import apsw

from mait_code.journal.errors import Busy, DiskRefused, MaitError
from mait_code.journal.home import make_directory
from mait_code.projections import distances, opening
from mait_code.projections.opening import BUSY, LOST, NO_ROOM, WRITER_WAIT_MS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from mait_code.journal.home import Home
    from mait_code.projections.model_files import Found

    T = TypeVar("T")

FILE = "vectors.db"
#: Grows with every change of the tables; a file of another schema is emptied.
SCHEMA = 1
#: Bytes of write-ahead log above which it is taken back into the file.
_LONGEST_LOG = 4 * 1024 * 1024
#: Our own SQL is right: where it does not fit, the file is not what we made.
_DAMAGE = (*LOST, apsw.SQLError)


class VectorFile:
    """The cache as one model sees it. Opened on first use; where the disk refuses, it is empty and keeps nothing."""

    def __init__(self, home: Home, found: Found) -> None:
        self.home = home
        self.path = home.in_state(FILE)
        self.name, self.revision, self.dimension = found.name, found.revision, found.dimension
        self._db: apsw.Connection | None = None
        self._inode = 0
        #: The number in the names of this model's tables, in the transaction that is open; 0 where there are none.
        self._model = 0
        self._refused = ""
        self._slow = ""

    @property
    def available(self) -> bool:
        """Whether vectors can be kept and found here."""
        return self._ready() is not None

    @property
    def reason(self) -> str:
        """Why vectors are not available, or why comparing them is slow; empty where all is well."""
        return self._refused if self._ready() is None else self._slow

    def _ready(self) -> apsw.Connection | None:
        if self._db is None and not self._refused:
            try:
                self._db = self._open()
            except (*NO_ROOM, *_DAMAGE, OSError, MaitError) as error:
                self._refused = f"{self.path} cannot be used: {error}"
            except BUSY as error:
                raise Busy(f"{FILE} is being made by another process", "try again in a moment") from error
        return self._db

    def _open(self) -> apsw.Connection:
        if not os.path.isdir(self.home.state):
            make_directory(self.home.state)
        try:
            return self._connect()
        except _DAMAGE:
            opening.set_aside(self.path, self._inode)
            return self._connect()

    def _connect(self) -> apsw.Connection:
        self._inode = 0
        db, self._inode = opening.connect(self.path)
        try:
            self._slow = distances.load(db)
            if db.pragma("user_version") != SCHEMA:
                self._create(db)
            self._find_model(db)
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def _create(db: apsw.Connection) -> None:
        """Empty the file. Of several processes that start at once one does it, the rest find it done."""
        with _transaction(db, "IMMEDIATE"):
            if db.pragma("user_version") == SCHEMA:
                return
            for (table,) in db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall():
                db.execute(f'DROP TABLE IF EXISTS "{table}"')
            db.execute(
                "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL, revision TEXT NOT NULL,"
                " dimension INTEGER NOT NULL, UNIQUE (name, revision, dimension))"
            )
            db.pragma("user_version", SCHEMA)

    def _find_model(self, db: apsw.Connection) -> int:
        found = db.execute(
            "SELECT id FROM models WHERE name = ? AND revision = ? AND dimension = ?",
            (self.name, self.revision, self.dimension),
        ).get
        return found if isinstance(found, int) else 0

    def _make_model(self, db: apsw.Connection) -> None:
        """Make the model's tables where they are missing."""
        if self._model:
            return
        db.execute(
            "INSERT INTO models (name, revision, dimension) VALUES (?, ?, ?)",
            (self.name, self.revision, self.dimension),
        )
        model = self._model = db.last_insert_rowid()
        # A row number is never used again, so bits cannot come to stand for another vector.
        db.execute(
            f"CREATE TABLE vectors_{model} (row INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL,"
            " window INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (hash, window))"
        )
        db.execute(f"CREATE TABLE bits_{model} (row INTEGER PRIMARY KEY, bits BLOB NOT NULL)")
        db.execute(
            f"CREATE TABLE queries_{model} (row INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE,"
            " vector BLOB NOT NULL)"
        )

    def close(self) -> None:
        """Close the file. It opens again when it is used."""
        if self._db is not None:
            self._db.close()
            self._db = None
        self._refused = ""

    def _ask(self, question: Callable[[apsw.Connection], T], nothing: T) -> T:
        """The answer, or `nothing` where no vectors are kept. A file that turns out damaged is set aside."""
        try:
            db = self._ready()
            if db is None:
                return nothing
            with _transaction(db, "DEFERRED"):
                # Another process may have dropped the tables since, or made them.
                self._model = self._find_model(db)
                return question(db) if self._model else nothing
        except _DAMAGE:
            self._set_aside()
            return nothing
        except BUSY as error:
            raise Busy(f"{FILE} is in use by another process", "try again in a moment") from error
        except NO_ROOM as error:
            self.close()
            self._refused = f"{self.path} cannot be read: {error}"
            return nothing

    def _write(self, action: Callable[[apsw.Connection], T], wait_ms: int = WRITER_WAIT_MS) -> T:
        for attempt in range(2):
            db = self._ready()
            if db is None:
                raise DiskRefused(self._refused, "check free space and permissions")
            try:
                db.set_busy_timeout(wait_ms)
                with _transaction(db, "IMMEDIATE"):
                    self._model = self._find_model(db)
                    result = action(db)
                self._bound_log(db)
                return result
            except _DAMAGE:
                if attempt:
                    raise
                self._set_aside()
            except BUSY as error:
                raise Busy(f"{FILE} is being written by another process", "try again in a moment") from error
            except NO_ROOM as error:
                self.close()
                raise DiskRefused(f"cannot write {self.path}: {error}", "check free space and permissions") from error
            finally:
                if self._db is not None:
                    self._db.set_busy_timeout(WRITER_WAIT_MS)
        raise AssertionError("unreachable")

    def _set_aside(self) -> None:
        """Put a damaged file away, never deleting it unseen. The next use makes a new one."""
        self.close()
        try:
            opening.set_aside(self.path, self._inode)
        except OSError as error:
            self._refused = f"{self.path} is damaged and cannot be moved away: {error.strerror}"

    def _bound_log(self, db: apsw.Connection) -> None:
        try:
            if os.stat(self.path + "-wal").st_size <= _LONGEST_LOG:
                return
            db.set_busy_timeout(0)
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (*BUSY, *NO_ROOM, OSError):
            return  # somebody reads an older state; the next one who adds does it


@contextmanager
def _transaction(db: apsw.Connection, kind: str) -> Iterator[None]:
    db.execute(f"BEGIN {kind}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if not db.get_autocommit():
            try:
                db.execute("ROLLBACK")
            except apsw.Error:
                db.close()  # which ends it, too; what is raised is why it came to this
        raise
