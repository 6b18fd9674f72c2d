"""The event index of a store, and the folding of what was added to it.

The index holds every copy of every line of the family with its place and order key, so that a late event costs one re-fold
of the entity it names, from the index, and never a replay. Of several copies of one id the one with the lowest order key
is folded.
"""

from __future__ import annotations

import orjson

from mait_code.journal.event import Bad, Event, parse
from mait_code.projections import register
from mait_code.projections.opening import Damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import apsw

    from mait_code.journal.reading import Change, Cursor
    from mait_code.projections.projection import Projection, Row
    from mait_code.projections.register import State

#: A place is the segment's key and the offset in the file: 2**36 bytes are more than any segment holds.
OFFSET_BITS = 36
#: What folding onto a state that is not as we left it may raise.
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)


class Index:
    """Adds lines to the index of an open store (inside its transaction) and folds them on `flush`."""

    TABLES = (
        "CREATE TABLE segments (key INTEGER PRIMARY KEY, directory TEXT NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL,"
        " digest TEXT NOT NULL, lines INTEGER NOT NULL, total INTEGER NOT NULL, stamp TEXT NOT NULL,"
        " UNIQUE (directory, name))",
        "CREATE TABLE events (place INTEGER PRIMARY KEY, id TEXT NOT NULL, entity TEXT NOT NULL, at TEXT NOT NULL,"
        " replica TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL)",
        # Ids that more than one line carries: copies made by backups and adopted lines.
        "CREATE TABLE copies (id TEXT PRIMARY KEY) WITHOUT ROWID",
        # Events that were folded once and are in no file any more; `doctor` can append them again.
        "CREATE TABLE gone (id TEXT PRIMARY KEY, line BLOB NOT NULL)",
    )
    INDEXES = (
        "CREATE INDEX IF NOT EXISTS events_entity ON events (entity, at, replica, seq, id)",
        "CREATE INDEX IF NOT EXISTS events_id ON events (id)",
    )

    #: Tables whose rows are known by their place in the journal.
    PLACED: tuple[str, ...] = ("events",)

    def __init__(self, db: apsw.Connection, projection: Projection) -> None:
        self.db = db
        self.projection = projection
        self.largest = ""
        self._new: list[tuple[int, bytes, Event]] = []
        self._dropped: dict[str, bytes] = {}
        self._refold: set[str] = set()
        self._key = 0
        #: Whether the store is empty and its indexes are built after the first flush.
        self.bulk = False
        #: Index statements that a bulk fold still owes.
        self.later: list[str] = []

    @property
    def waiting(self) -> int:
        """Events added and not folded yet."""
        return len(self._new)

    def open(self, change: Change) -> None:
        """Begin adding lines of a segment; what was folded of it goes first when its beginning has changed."""
        cursor = change.cursor
        self._key = cursor.key
        if cursor.key < 0:
            self.db.execute(
                "INSERT INTO segments (directory, name, size, digest, lines, total, stamp) VALUES (?, ?, 0, '', 0, -1, '')",
                (cursor.directory, cursor.name),
            )
            self._key = self.db.last_insert_rowid()
        elif change.reset:
            self._drop_events(cursor.key)

    def take(self, offset: int, number: int, line: bytes, event: Event | Bad) -> None:
        """Take one line of the segment just opened: `number` counts from 1. Bad lines are the business of journal.db."""
        if isinstance(event, Bad):
            return
        self._new.append(((self._key << OFFSET_BITS) + offset, line, event))
        if event.at > self.largest:
            self.largest = event.at

    def keep(self, cursor: Cursor) -> None:
        """Record how far the segment just opened has been read."""
        self.db.execute(
            "UPDATE segments SET size = ?, digest = ?, lines = ?, total = ?, stamp = ? WHERE key = ?",
            (cursor.size, cursor.digest, cursor.lines, cursor.total, cursor.stamp, self._key),
        )

    def drop(self, cursor: Cursor) -> None:
        """Forget a segment that is in no file any more."""
        self._drop_events(cursor.key)
        self.db.execute("DELETE FROM segments WHERE key = ?", (cursor.key,))

    def _drop_events(self, key: int) -> None:
        span = (key << OFFSET_BITS, (key + 1) << OFFSET_BITS)
        query = "SELECT id, entity, line FROM events WHERE place >= ? AND place < ?"
        rows: list[tuple[Any, ...]] = self.db.execute(query, span).fetchall()
        for id_, entity, line in rows:
            self._dropped[id_] = line
            self._refold.add(entity)
        for table in self.PLACED:
            self.db.execute(f"DELETE FROM {table} WHERE place >= ? AND place < ?", span)

    # -- folding ------------------------------------------------------------------------------------------------------

    def finish(self) -> int:
        """The last flush: nothing is owed afterwards."""
        folded = self.flush()
        self._index_rest()
        return folded

    def flush(self) -> int:
        """Fold what was added since the last flush. Returns how many events that were."""
        if not self._new and not self._dropped:
            return 0
        new, self._new = self._new, []
        empty, self.bulk = self.bulk, False
        self._insert(new, empty)
        self._note_copies(new, empty)
        self._note_gone(new)
        grouped: dict[str, list[Event]] = {}
        for _place, _line, event in new:
            grouped.setdefault(event.entity, []).append(event)
        results = self._fold_all(grouped, empty)
        _Rows(self.db, self.projection).write(results, empty)
        self._refold.clear()
        self._dropped.clear()
        return len(new)

    def _insert(self, new: list[tuple[int, bytes, Event]], empty: bool) -> None:
        if not empty:
            self._index_rest()
        self.db.executemany(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((place, e.id, e.entity, e.at, e.replica, e.seq, line) for place, line, e in new),
        )
        if empty:
            for statement in self.INDEXES:
                self.db.execute(statement)

    def _index_rest(self) -> None:
        """Build the indexes that a bulk fold left for later; there are none in the ordinary case."""
        while self.later:
            self.db.execute(self.later.pop())

    def _note_copies(self, new: list[tuple[int, bytes, Event]], empty: bool) -> None:
        """Find ids that now stand in more than one line, and all entities those lines name."""
        if empty:
            found = [row[0] for row in self.db.execute("SELECT id FROM events GROUP BY id HAVING count(*) > 1")]
        else:
            count = "SELECT 1 FROM events WHERE id = ? LIMIT 1 OFFSET 1"
            found = [e.id for _place, _line, e in new if self.db.execute(count, (e.id,)).get]
            found += [one for one in self._dropped if self.db.execute("SELECT 1 FROM copies WHERE id = ?", (one,)).get]
        for one in found:
            self.db.execute("INSERT OR IGNORE INTO copies VALUES (?)", (one,))
            self._refold.update(row[0] for row in self.db.execute("SELECT entity FROM events WHERE id = ?", (one,)))

    def _note_gone(self, new: list[tuple[int, bytes, Event]]) -> None:
        for one, line in self._dropped.items():
            if not self.db.execute("SELECT 1 FROM events WHERE id = ?", (one,)).get:
                self.db.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (one, line))
        if self.db.execute("SELECT 1 FROM gone LIMIT 1").get:
            self.db.executemany("DELETE FROM gone WHERE id = ?", ((e.id,) for _place, _line, e in new))

    def _fold_all(self, grouped: dict[str, list[Event]], empty: bool) -> dict[str, State | None]:
        results: dict[str, State | None] = {}
        for entity, events in grouped.items():
            if entity in self._refold:
                continue
            if len(events) > 1:
                events.sort(key=_key)
            stored = None if empty else self._state(entity)
            if stored is None:
                results[entity] = self._folded(events)
                continue
            try:
                later = tuple(stored["k"]) < events[0].key
                results[entity] = self._folded(events, stored) if later else None
            except _UNREADABLE:
                later = False  # the state was damaged on the disk; the lines it came from are checked
            if not later:
                self._refold.add(entity)
        for entity in self._refold:
            results[entity] = self._folded(self.events_of(entity))
        return results

    def _folded(self, events: Iterable[Event], state: State | None = None) -> State | None:
        fold = self.projection.fold
        for event in events:
            state = fold(state, event)
        return state

    def _state(self, entity: str) -> State | None:
        raw = self.db.execute("SELECT state FROM entities WHERE entity = ?", (entity,)).get
        try:
            return None if raw is None else orjson.loads(raw)
        except orjson.JSONDecodeError:
            return {}

    def events_of(self, entity: str) -> Iterator[Event]:
        """The events of an entity in order, each id once: of copies, the one with the lowest order key."""
        rows: list[tuple[Any, ...]] = self.db.execute(
            "SELECT e.place, e.id, e.line, c.id FROM events e LEFT JOIN copies c ON c.id = e.id"
            " WHERE e.entity = ? ORDER BY e.at, e.replica, e.seq, e.id, e.line",
            (entity,),
        ).fetchall()
        for place, id_, line, copied in rows:
            if copied is not None and place != self._first_copy(id_):
                continue
            event = parse(line)
            if isinstance(event, Bad):
                raise Damaged(f"{id_} was sound when it was folded: {event.reason}")
            yield event

    def _first_copy(self, id_: str) -> int:
        query = "SELECT place FROM events WHERE id = ? ORDER BY at, replica, seq, line, place LIMIT 1"
        place: int = self.db.execute(query, (id_,)).get
        return place


def _key(event: Event) -> tuple[str, str, int, str]:
    return (event.at, event.replica, event.seq, event.id)


class _Rows:
    """Writes states and readable rows of re-folded entities."""

    def __init__(self, db: apsw.Connection, projection: Projection) -> None:
        self.db = db
        self.projection = projection
        self._clears = [
            f"DELETE FROM {table} WHERE {columns.split()[0]} = ?" for table, columns in projection.tables.items()
        ]

    def write(self, results: dict[str, State | None], empty: bool) -> None:
        if not empty:
            self._clear(results)
        projection = self.projection
        states: list[Row] = []
        conflicts: list[Row] = []
        readable: dict[str, list[Row]] = {table: [] for table in projection.tables}
        for entity, state in results.items():
            if state is None:
                continue
            type_, _, id_ = entity.partition("/")
            gone = register.is_deleted(state)
            states.append(
                (entity, projection.number(state), int(gone), orjson.dumps(state, option=orjson.OPT_SORT_KEYS))
            )
            if type_ != projection.entity or not (state["c"] or projection.known_by_name):
                continue
            conflicts.extend((id_, name) for name in projection.conflicts(state))
            if not gone:
                for table, row in projection.rows(id_, state):
                    readable[table].append(row)
        self.db.executemany("INSERT INTO entities VALUES (?, ?, ?, ?)", states)
        self.db.executemany("INSERT INTO conflicts VALUES (?, ?)", conflicts)
        for table, rows in readable.items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def _clear(self, results: dict[str, State | None]) -> None:
        for entity in results:
            id_ = entity.partition("/")[2]
            self.db.execute("DELETE FROM entities WHERE entity = ?", (entity,))
            self.db.execute("DELETE FROM conflicts WHERE id = ?", (id_,))
            for statement in self._clears:
                self.db.execute(statement, (id_,))
