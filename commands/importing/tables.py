"""One table of another program's database, read in the order of its ids, around what is damaged.

A sound table is read in one go. Of a damaged one nothing is believed but what a row says when it is asked for by its own
id: a page may name ids that never were, or leave out its rows without an error. So every id is asked for in turn.
"""

from __future__ import annotations

import apsw

from mait_code.commands.importing.losses import Lost
from mait_code.commands.importing.values import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Table", "quoted"]

#: So many ids in a row are tried after the last that could be read, where nobody can say how many there are.
FURTHEST = 100_000
#: A gap of more ids than this is leapt over where both of its ends say that nothing lies between them.
GAP = 200
#: So many of the ids at the end of a table are tried, for the largest that is really there.
LAST = 1000

_DAMAGED = "the part of the file that holds it is damaged"
_ABSENT = "it is not there: it was deleted, or lost with what is damaged of the table"


class Table:
    """Reads one table. What cannot be read of it is added to `lost`."""

    def __init__(self, db: apsw.Connection, table: str, columns: list[str], lost: list[Lost]) -> None:
        self.db = db
        self.table = table
        self.columns = columns
        self.lost = lost
        self._from = f"FROM {quoted(table)}"
        named = ", ".join(map(quoted, columns))
        self._select = f"SELECT rowid, {named} {self._from}"
        raw = ", ".join(f"typeof({one}), CAST({one} AS BLOB)" for one in map(quoted, columns))
        self._raw = f"SELECT {raw} {self._from} WHERE rowid = ?"
        self._last: int | None = None

    def __iter__(self) -> Iterator[Row]:
        if self._has_no_ids():
            yield from self._counted()
            return
        damaged = self._is_damaged()
        while not damaged:
            try:
                yield from self._onward()
                return
            except UnicodeDecodeError:
                found = self._undecoded()
            except apsw.Error:
                break
            if found is None:
                break
            yield found
        yield from self._each()

    def _has_no_ids(self) -> bool:
        try:
            self.db.execute(f"SELECT rowid {self._from} LIMIT 0").fetchall()
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
            return
        if self._is_damaged():
            self.lost.append(Lost(self.table, None, "it is damaged: rows of it may be missing"))

    def _is_damaged(self) -> bool:
        """Whether the pages of the table are out of order; rows that only break a rule of the schema are not."""
        try:
            root = self.db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (self.table,)).get
            said = self.db.execute(f"PRAGMA quick_check({quoted(self.table)})").fetchall()
        except apsw.SQLError:
            return False  # a function or an order of theirs that we do not have: reading will tell
        except (apsw.Error, UnicodeDecodeError):
            return True
        # The first message has a heading, which is a line of its own.
        lines = [line for (text,) in said for line in str(text).splitlines()]
        return any(line.startswith(f"Tree {root} ") or "malformed" in line for line in lines)

    def _onward(self) -> Iterator[Row]:
        where = "" if self._last is None else f" WHERE rowid > {self._last}"
        for values in self.db.execute(f"{self._select}{where} ORDER BY rowid"):
            id_: int = values[0]
            if self._last is not None and id_ <= self._last:
                raise apsw.CorruptError("its rows are out of order")
            self._last = id_
            yield Row(self.table, id_, dict(zip(self.columns, values[1:], strict=True)))

    def _undecoded(self) -> Row | None:
        """The next row of a sound table, whose text is not UTF-8; None where it cannot be read after all."""
        id_ = self._id("min", "" if self._last is None else f"WHERE rowid > {self._last}")
        try:
            found = None if id_ is None else self._one(id_)
        except apsw.Error:
            return None
        if found is not None:
            self._last = id_
        return found

    def _each(self) -> Iterator[Row]:
        """The rows after the last that was read, each by its own id. All ids in between are lost."""
        id_ = self._first() if self._last is None else self._last + 1
        known, sure = self._end()
        read = id_ - 1
        gap: list[Lost] = []
        while id_ <= (known if sure else max(known, read + FURTHEST)):
            beyond = self._beyond(read) if id_ == read + 1 else None
            if id_ == read + FURTHEST:
                beyond = self._behind(read, known)
            if beyond is not None and beyond > id_:
                _widen(gap, self.table, id_, beyond - 1, gap[-1].reason if gap else _ABSENT)
                id_ = beyond
                if id_ > known:
                    break
            try:
                found, reason = self._one(id_), _ABSENT
            except apsw.Error as error:
                found, reason = None, _reason(error)
            if found is None:
                _widen(gap, self.table, id_, id_, reason)
            else:
                self.lost += gap
                gap, read = [], id_
                self._last = id_
                yield found
            id_ += 1
        self.lost += _within(gap, known)

    def _first(self) -> int:
        """The first id: as a rule 1, whatever a damaged page says, but for a row before it that is really there."""
        found = self._id("min")
        return min(found, 1) if found is not None and self._is_there(found) else 1

    def _end(self) -> tuple[int, bool]:
        """The largest id of which is known that it was given, and whether none can be after it."""
        largest = self._id("max")
        sure = largest is not None and self._is_there(largest)
        if not sure:
            largest = self._largest()
        known = max(largest or 0, self._last or 0)
        query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        try:
            given = self.db.execute(query, (self.table,)).get
        except (apsw.Error, UnicodeDecodeError):
            given = None
        # The number may be damaged as well: one that is smaller than an id in use, or far from any, says nothing.
        if isinstance(given, int) and known <= given <= known + FURTHEST:
            return given, True
        return known, sure

    def _largest(self) -> int | None:
        """The largest id that can be read, as far as the table can be read from its end."""
        try:
            for (id_,) in self.db.execute(f"SELECT rowid {self._from} ORDER BY rowid DESC LIMIT {LAST}"):
                if self._is_there(id_):
                    return int(id_)
        except apsw.Error:
            return None
        return None

    def _beyond(self, read: int) -> int | None:
        """The id at the far end of a wide gap after `read`, if both of its ends know each other."""
        after = self._id("min", f"WHERE rowid > {read}")
        if after is None or after - read <= GAP or not self._is_there(after):
            return None
        before = self._id("max", f"WHERE rowid < {after}")
        return after if before is None or before <= read else None

    def _behind(self, read: int, known: int) -> int:
        """The first id that can be found behind a part where nothing can; one after `known` where there is none.

        The ids may be too far apart to try them all, so the place is looked for by halves.
        """
        found, near, far = None, read, read + FURTHEST
        while found is None and far <= known:
            found = self._from_on(far)
            if found is None:
                near, far = far, read + 2 * (far - read)
        best = known + 1
        if found is None:
            far = best
        else:
            best = found
        while far - near > 1:
            middle = (near + far) // 2
            found = self._from_on(middle)
            if found is None:
                near = middle
            else:
                best, far = min(best, found), middle
        return best

    def _from_on(self, id_: int) -> int | None:
        """The first id of at least `id_` as the table says, if its row can be read."""
        found = self._id("min", f"WHERE rowid >= {id_}")
        return found if found is not None and found >= id_ and self._is_there(found) else None

    def _id(self, which: str, where: str = "") -> int | None:
        """The least (`min`) or the largest (`max`) id, as the table says; None where it cannot."""
        try:
            found = self.db.execute(f"SELECT {which}(rowid) {self._from} {where}").get
        except apsw.Error:
            return None
        return found if isinstance(found, int) else None

    def _is_there(self, id_: int) -> bool:
        try:
            return self._one(id_) is not None
        except apsw.Error:
            return False

    def _one(self, id_: int) -> Row | None:
        """The row of an id, if there is one; text that is not UTF-8 is read with its faults replaced."""
        for values in self.db.execute(self._raw, (id_,)).fetchall():
            row = Row(self.table, id_, {})
            for name, type_, raw in zip(self.columns, values[::2], values[1::2], strict=True):
                row.values[name] = row.decoded(name, str(type_), raw)
            return row
        return None


def _widen(gap: list[Lost], table: str, first: int, last: int, reason: str) -> None:
    """Add ids to what is lost, in one piece with those before where the reason is the same."""
    if gap and gap[-1].reason == reason:
        gap[-1].last = last
    else:
        gap.append(Lost(table, first, reason, last))


def _within(gap: list[Lost], known: int) -> list[Lost]:
    """What is lost at the end of a table, without ids of which nothing says that they were ever given."""
    if gap and gap[-1].reason == _ABSENT and gap[-1].last is not None and gap[-1].last > known:
        if gap[-1].first is not None and gap[-1].first > known:
            return gap[:-1]
        gap[-1].last = known
    return gap


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "its text is not UTF-8"
    if isinstance(error, (apsw.CorruptError, apsw.IOError)):
        return _DAMAGED
    return str(error)


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'
