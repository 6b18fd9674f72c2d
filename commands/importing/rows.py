"""Other programs' databases: opened strictly read-only, and read as far as they can be where they are damaged.

Rows are read in the order of their ids. Where a page turns out damaged, ids are tried one by one until one can be read
again; what could not be is named in `lost`. Nothing is ever written beside the database.
"""

from __future__ import annotations

import os

import apsw

from mait_code.commands.importing.values import Row
from mait_code.journal.errors import NotFound, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType
    from typing import Any, Self

__all__ = ["Lost", "Source", "nothing_kept"]

#: So many ids in a row are tried after the last that could be read, where nobody can say how many there are.
FURTHEST = 100_000
#: How often a database is copied anew because it was written meanwhile.
COPIES = 3


class Lost:
    """Rows that were not taken: `first` to `last` of a table (or lines of a file), and why.

    `meant`: not for a fault of theirs, but because they are private.
    """

    __slots__ = ("first", "last", "meant", "reason", "table")

    def __init__(
        self, table: str, first: int | None, reason: str, last: int | None = None, meant: bool = False
    ) -> None:
        self.meant = meant
        self.table = table
        self.first = first
        self.last = first if last is None else last
        self.reason = reason

    def __str__(self) -> str:
        if self.first is None:
            return f"{self.table}: {self.reason}"
        rows = f"row {self.first}" if self.first == self.last else f"rows {self.first} to {self.last}"
        return f"{self.table} {rows}: {self.reason}"

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "table": self.table,
            "first": self.first,
            "last": self.last,
            "reason": self.reason,
            "private": self.meant,
        }


def nothing_kept(table: str, row: int | None, had: object) -> Lost:
    """A row of which nothing is left to store: all of what it `had` is private, or it had nothing."""
    return Lost(table, row, "all of it is private" if had else "it is empty", meant=bool(had))


class Source:
    """One SQLite file of another program. Raises NotFound where there is none, Refused where it is no database."""

    def __init__(self, path: str) -> None:
        if not os.path.isfile(path):
            raise NotFound(f"{path} is not there", "name the file")
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
            columns = [str(row[1]) for row in self._db.execute(f"PRAGMA table_info({_quoted(table)})")]
        except apsw.Error as error:
            self.lost.append(Lost(table, None, str(error)))
            return
        absent = [name for name in needed if name not in columns]
        if absent:
            self.lost.append(Lost(table, None, f"it has no column {absent[0]}"))
            return
        yield from _Table(self._db, table, columns, self.lost)


class _Table:
    """Reads one table, around what is damaged."""

    def __init__(self, db: apsw.Connection, table: str, columns: list[str], lost: list[Lost]) -> None:
        self.db = db
        self.table = table
        self.columns = columns
        self.lost = lost
        named = ", ".join(map(_quoted, columns))
        self._select = f"SELECT rowid, {named} FROM {_quoted(table)}"  # noqa: S608
        raw = ", ".join(f"typeof({one}), CAST({one} AS BLOB)" for one in map(_quoted, columns))
        self._raw = f"SELECT {raw} FROM {_quoted(table)} WHERE rowid = ?"  # noqa: S608
        self._last: int | None = None

    def __iter__(self) -> Iterator[Row]:
        if self._has_no_ids():
            yield from self._counted()
            return
        while True:
            before = self._last
            try:
                yield from self._onward()
                return
            except (apsw.Error, UnicodeDecodeError) as error:
                reason = _reason(error)
            if before is None and self._last is None:
                self._last = self._first() - 1
            found = self._around(reason)
            if found is None:
                return
            yield from found

    def _has_no_ids(self) -> bool:
        try:
            self.db.execute(f"SELECT rowid FROM {_quoted(self.table)} LIMIT 0").fetchall()  # noqa: S608
        except apsw.SQLError:
            return True
        except apsw.Error:
            return False
        return False

    def _counted(self) -> Iterator[Row]:
        """The rows of a table that gives them no ids: there is no going on behind a damaged page."""
        number = 0
        try:
            for values in self.db.execute(self._select.replace("SELECT rowid, ", "SELECT ", 1)):
                number += 1
                yield Row(self.table, number, dict(zip(self.columns, values, strict=True)))
        except (apsw.Error, UnicodeDecodeError) as error:
            self.lost.append(Lost(self.table, number + 1, f"{_reason(error)}, nor could any after it be read"))

    def _first(self) -> int:
        """The first id. Where that page is damaged, ids begin with 1 as a rule."""
        try:
            return int(self.db.execute(f"SELECT min(rowid) FROM {_quoted(self.table)}").get or 1)  # noqa: S608
        except apsw.Error:
            return 1

    def _onward(self) -> Iterator[Row]:
        where = "" if self._last is None else f" WHERE rowid > {self._last}"
        for values in self.db.execute(f"{self._select}{where} ORDER BY rowid"):
            id_: int = values[0]
            if self._last is not None and id_ <= self._last:
                raise apsw.CorruptError("its rows are out of order")
            self._last = id_
            yield Row(self.table, id_, dict(zip(self.columns, values[1:], strict=True)))

    def _around(self, reason: str) -> list[Row] | None:
        """The next row that can be read by its own id; None where there is none any more. The ids before it are lost."""
        assert self._last is not None
        start = self._following()
        end = self._end(start)
        for id_ in range(start, end + 1):
            try:
                found = self._one(id_)
            except apsw.Error as error:
                reason = _reason(error)
                continue
            self._note_lost(start, id_ - 1, reason)
            self._last = id_
            return found
        self._note_lost(start, end, reason)
        return None

    def _following(self) -> int:
        """The next id after the last that was read, as the table says; else the next number."""
        query = f"SELECT rowid FROM {_quoted(self.table)} WHERE rowid > {self._last} ORDER BY rowid LIMIT 1"  # noqa: S608
        try:
            found = self.db.execute(query).get
        except apsw.Error:
            found = None
        assert self._last is not None
        return found if isinstance(found, int) and found > self._last else self._last + 1

    def _note_lost(self, first: int, last: int, reason: str) -> None:
        if last < first:
            return
        before = self.lost[-1] if self.lost else None
        if before is not None and (before.table, before.last, before.reason) == (self.table, first - 1, reason):
            before.last = last
        else:
            self.lost.append(Lost(self.table, first, reason, last))

    def _end(self, start: int) -> int:
        """The largest id there may be."""
        for query in (
            f"SELECT max(rowid) FROM {_quoted(self.table)}",  # noqa: S608
            f"SELECT seq FROM sqlite_sequence WHERE name = '{self.table}'",  # noqa: S608
        ):
            try:
                found = self.db.execute(query).get
            except apsw.Error:
                continue
            if isinstance(found, int) and found >= start - 1:
                return min(found, start + FURTHEST)
        return start + FURTHEST

    def _one(self, id_: int) -> list[Row]:
        """The row of an id, if there is one; text that is not UTF-8 is read with its faults replaced."""
        found = self.db.execute(self._raw, (id_,)).fetchall()
        rows = []
        for values in found:
            row = Row(self.table, id_, {})
            for name, type_, raw in zip(self.columns, values[::2], values[1::2], strict=True):
                row.values[name] = row.decoded(name, str(type_), raw)
            rows.append(row)
        return rows


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    if isinstance(error, (apsw.CorruptError, apsw.IOError)):
        return "the part of the file that holds it is damaged"
    return str(error)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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
