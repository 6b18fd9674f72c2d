"""Other programs' databases: opened strictly read-only, and read as far as they can be where they are damaged.

What could not be read is named in `lost`. Nothing is ever written beside the database.
"""

from __future__ import annotations

import os

import apsw

from mait_code.commands.importing.losses import Lost, nothing_kept
from mait_code.commands.importing.tables import Table, quoted
from mait_code.journal.errors import NotFound, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from mait_code.commands.importing.values import Row

__all__ = ["Lost", "Source", "nothing_kept"]

#: How often a database is copied anew because it was written meanwhile.
COPIES = 3


class Source:
    """One SQLite file of another program. Raises NotFound where there is none, Refused where it is no database."""

    def __init__(self, path: str) -> None:
        if os.path.isdir(path):
            raise NotFound(f"{path} is a directory, not a database", "name the file in it")
        if not os.path.isfile(path):
            there = os.path.lexists(path)
            raise NotFound(f"{path} is {'no file' if there else 'not there'}", "name the file of the database")
        self.path = os.path.realpath(path)
        self.lost: list[Lost] = []
        self._copy = ""
        #: The copy may be neither of before nor of after a write.
        self._torn = False
        self._seen = _looks(self.path)
        self._db: apsw.Connection | None = None
        try:
            self._db = self._open()
            self.tables = self._tables(self._db)
        except (apsw.Error, OSError) as error:
            self.close()
            raise Refused(f"{path} cannot be read: {error}", "is it a SQLite database?") from error

    @staticmethod
    def _tables(db: apsw.Connection) -> set[str]:
        query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        try:
            found = db.execute(query).fetchall()
        except (apsw.CorruptError, apsw.SQLError):
            # So SQLite reads a file that is shorter than it says, or that has a table it cannot make sense of.
            db.pragma("writable_schema", True)
            found = db.execute(query).fetchall()
        return {str(name) for (name,) in found}

    def _open(self) -> apsw.Connection:
        if any(size for name, size, _ in self._seen if name != self.path):
            # What was written last stands in a log beside the file. Reading it there would make files of our own.
            return apsw.Connection(self._copied())
        from urllib.parse import quote

        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(os.fsencode(self.path))}?mode=ro&immutable=1", flags=flags)

    def _copied(self) -> str:
        """A copy, with the logs, in a directory that goes when we are done."""
        import shutil
        import tempfile

        self._copy = tempfile.mkdtemp(prefix="mait-code-import-")
        target = os.path.join(self._copy, "copy.db")
        for _ in range(COPIES):
            self._seen = _looks(self.path)
            for end in ("-wal", "-journal"):
                if os.path.exists(target + end):
                    os.unlink(target + end)  # of the time before
            try:
                for name, _size, _time in self._seen:
                    shutil.copyfile(name, target + name[len(self.path) :])
            except FileNotFoundError:
                self._torn = True  # the log was taken into the database this moment
                continue
            self._torn = _looks(self.path) != self._seen
            if not self._torn:
                break
        return target

    @property
    def changed(self) -> bool:
        """Whether the database was written while it was read: what was read of it may be neither here nor there."""
        return self._torn if self._copy else _looks(self.path) != self._seen

    def close(self) -> None:
        """Close, and take the copy away where there was one."""
        if self._db is not None:
            self._db.close()
        if self._copy:
            import shutil

            shutil.rmtree(self._copy, ignore_errors=True)
            self._copy = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def rows(self, table: str, needed: Sequence[str] = ()) -> Iterator[Row]:
        """Every row that can be read, by id. A table that is not there has none; one without a column in `needed` is
        lost as a whole."""
        if self._db is None or table not in self.tables:
            return
        try:
            columns = [str(row[1]) for row in self._db.execute(f"PRAGMA table_info({quoted(table)})")]
        except apsw.Error as error:
            self.lost.append(Lost(table, None, str(error)))
            return
        absent = [name for name in needed if name not in columns]
        if absent:
            self.lost.append(Lost(table, None, f"it has no column {absent[0]}"))
            return
        yield from Table(self._db, table, columns, self.lost)


def _looks(path: str) -> list[tuple[str, int, int]]:
    """The files of a database that are there, with size and time of change."""
    found = []
    for name in (path, path + "-wal", path + "-journal"):
        try:
            status = os.stat(name)
        except OSError:
            continue
        if name == path or status.st_size:
            found.append((name, status.st_size, status.st_mtime_ns))
    return found
