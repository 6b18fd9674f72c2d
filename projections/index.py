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
    from mait_code.projections.bulk import Bulk
    from mait_code.projections.projection import Projection, Row
    from mait_code.projections.register import State

    #: Offset in the file, number from 1, the line without its newline, and what it says.
    Line = tuple[int, int, bytes, Event]
    BadLine = tuple[int, int, bytes, Bad]

#: A place is the segment's key and the offset in the file: 2**36 bytes are more than any segment holds.
OFFSET_BITS = 36
#: What folding onto a state that is not as we left it may raise.
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)
#: From so many entities to fold anew on it pays to load what reads lines quickly.
MANY = 30
#: Entities written at a time when a store has been filled.
_PAGE = 5000


class Index:
    """Adds lines to the index of an open store (inside its transaction) and folds them on `flush`."""

    TABLES = (
        """CREATE TABLE segments (key INTEGER PRIMARY KEY, directory TEXT NOT NULL, name TEXT NOT NULL,
        size INTEGER NOT NULL, digest TEXT NOT NULL, lines INTEGER NOT NULL, total INTEGER NOT NULL, stamp TEXT NOT NULL,
        UNIQUE (directory, name))""",
        """CREATE TABLE events (place INTEGER PRIMARY KEY, id TEXT NOT NULL, entity TEXT NOT NULL, at TEXT NOT NULL,
        replica TEXT NOT NULL, seq INTEGER NOT NULL, line BLOB NOT NULL)""",
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
        self._parse = parse
        self._new: list[Event] = []
        #: Where the newest segment begins in `_new`, and the time on its first event.
        self._opened = 0
        self._begins = ""
        self._dropped: dict[str, bytes] = {}
        self._refold: set[str] = set()
        #: Entities nothing was known of, which have no rows.
        self._begun: set[str] = set()
        self._key = 0
        self._bulk: Bulk | None = None

    def fill(self, later: list[str]) -> None:
        """Say that the store is empty and has no indexes: the statements `later` make them at the end."""
        from mait_code.projections.bulk import Bulk

        self._bulk = Bulk(self.projection.fold_all, [*later, *self.INDEXES])

    @property
    def waiting(self) -> int:
        """Events added and not folded yet."""
        return len(self._new)

    def open(self, change: Change) -> None:
        """Begin adding lines of a segment; what was folded of it goes first when its beginning has changed."""
        cursor = change.cursor
        self._key = cursor.key
        self._opened = len(self._new)
        if self._bulk is not None:
            self._key = self._bulk.next_key()
        elif cursor.key < 0:
            self.db.execute(
                "INSERT INTO segments (directory, name, size, digest, lines, total, stamp) VALUES (?, ?, 0, '', 0, -1, '')",
                (cursor.directory, cursor.name),
            )
            self._key = self.db.last_insert_rowid()
        elif change.reset:
            self._drop_events(cursor.key)

    def take(self, lines: list[Line], bad: list[BadLine]) -> None:  # noqa: ARG002
        """Take events of the segment just opened, all of this family. Bad lines are the business of journal.db."""
        start = self._key << OFFSET_BITS
        rows = [(start + at, e.id, e.entity, e.at, e.replica, e.seq, line) for at, _number, line, e in lines]
        self.db.executemany("INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self._new += [line[3] for line in lines]
        self.largest = max([self.largest, *[line[3].at for line in lines]])

    def keep(self, cursor: Cursor) -> None:
        """Record how far the segment just opened has been read."""
        read = (cursor.size, cursor.digest, cursor.lines, cursor.total, cursor.stamp)
        if self._bulk is not None:
            self._bulk.segments.append((self._key, cursor.directory, cursor.name, *read))
        else:
            changed = "UPDATE segments SET size = ?, digest = ?, lines = ?, total = ?, stamp = ? WHERE key = ?"
            self.db.execute(changed, (*read, self._key))

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
        if self._bulk is not None:
            self._complete(self._bulk)
        return folded

    def flush(self) -> int:
        """Fold what was added since the last flush. Returns how many events that were."""
        if not self._new and not self._dropped:
            return 0
        if self._opened < len(self._new):
            self._begins = self._new[self._opened].at
        new, self._new, self._opened = self._new, [], 0
        if self._bulk is not None:
            self._bulk.add(new, self._begins)
        else:
            self._fold_onto(new)
        return len(new)

    def _fold_onto(self, new: list[Event]) -> None:
        """Fold events onto the states there are."""
        self._note_copies(new)
        self._note_gone(new)
        grouped: dict[str, list[Event]] = {}
        for event in new:
            grouped.setdefault(event.entity, []).append(event)
        rows = _Rows(self.db, self.projection)
        results = self._fold_all(grouped)
        known = [entity for entity in results if entity not in self._begun]
        self.changing(known)
        rows.clear(known)
        rows.write(results)
        self.changed(results)
        self._refold.clear()
        self._begun.clear()
        self._dropped.clear()

    def changing(self, entities: Iterable[str]) -> None:
        """Told of entities whose rows are about to be replaced."""

    def changed(self, entities: Iterable[str]) -> None:
        """Told of entities whose rows have been replaced."""

    def filled(self) -> None:
        """Told when all rows of a filled store are there, before their indexes are."""

    def _complete(self, bulk: Bulk) -> None:
        """Write what a filled store holds: the indexes of its events, their states and rows, then all other indexes."""
        bulk.finish()
        self.db.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", bulk.segments)
        for statement in self.INDEXES:
            self.db.execute(statement)
        twice = self.db.execute("SELECT id FROM events GROUP BY id HAVING count(*) > 1").fetchall()
        self._copied([str(id_) for (id_,) in twice])
        if self.db.execute("SELECT 1 FROM gone LIMIT 1").get:
            self.db.execute("DELETE FROM gone WHERE id IN (SELECT id FROM events)")
        states = bulk.states
        for entity in self._refold | bulk.refold:
            states[entity] = self._folded(self.events_of(entity))
        rows = _Rows(self.db, self.projection)
        # In the order of the key, so that the pages of the tables and of their keys are filled one after another.
        entities = sorted(states)
        for start in range(0, len(entities), _PAGE):
            rows.write({entity: states.pop(entity) for entity in entities[start : start + _PAGE]})
        self.filled()
        for statement in bulk.later:
            self.db.execute(statement)
        self._refold.clear()
        self._bulk = None

    def _note_copies(self, new: list[Event]) -> None:
        """Find ids that now stand in more than one line."""
        count = "SELECT 1 FROM events WHERE id = ? LIMIT 1 OFFSET 1"
        self._copied([event.id for event in new if self.db.execute(count, (event.id,)).get])
        self._copied([one for one in self._dropped if self.db.execute("SELECT 1 FROM copies WHERE id = ?", (one,)).get])

    def _copied(self, copied: Iterable[str]) -> None:
        """Remember ids that stand in more than one line, and fold anew all entities those lines name."""
        for one in copied:
            self.db.execute("INSERT OR IGNORE INTO copies VALUES (?)", (one,))
            self._refold.update(
                str(row[0]) for row in self.db.execute("SELECT entity FROM events WHERE id = ?", (one,))
            )

    def _note_gone(self, new: list[Event]) -> None:
        for one, line in self._dropped.items():
            if not self.db.execute("SELECT 1 FROM events WHERE id = ?", (one,)).get:
                self.db.execute("INSERT OR REPLACE INTO gone VALUES (?, ?)", (one, line))
        if self.db.execute("SELECT 1 FROM gone LIMIT 1").get:
            self.db.executemany("DELETE FROM gone WHERE id = ?", ((event.id,) for event in new))

    def _fold_all(self, grouped: dict[str, list[Event]]) -> dict[str, State | None]:
        results: dict[str, State | None] = {}
        for entity, events in grouped.items():
            if entity in self._refold:
                continue
            if len(events) > 1:
                events.sort(key=_key)
            stored = self._state(entity)
            if stored is None:
                if type(events[0]) is Event and events[0].declared.creates:
                    results[entity] = self._folded(events)
                    self._begun.add(entity)
                else:
                    self._refold.add(entity)  # known by its name, or its state was lost on the disk
                continue
            try:
                later = tuple(stored["k"]) < events[0].key
                results[entity] = self._folded(events, stored) if later else None
            except _UNREADABLE:
                later = False  # the state was damaged on the disk; the lines it came from are checked
            if not later:
                self._refold.add(entity)
        if len(self._refold) > MANY:
            from mait_code.journal.quick import parse

            self._parse = parse
        for entity in self._refold:
            results[entity] = self._folded(self.events_of(entity))
        return results

    def _folded(self, events: Iterable[Event], state: State | None = None) -> State | None:
        events = list(events)
        return self.projection.fold_all(state, events) if events else state

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
            event = self._parse(line)
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

    def write(self, results: dict[str, State | None]) -> None:
        """Add the rows of entities that have none; None stands for an entity nothing is known of any more."""
        part_of = self.projection.part
        states: list[Row] = []
        conflicts: list[Row] = []
        readable: dict[str, list[Row]] = {table: [] for table in self.projection.tables}
        for entity, state in results.items():
            if state is None:
                continue
            type_, _, id_ = entity.partition("/")
            gone = register.is_deleted(state)
            part = part_of(type_)
            number = part.number(state) if part is not None else None
            states.append((entity, number, int(gone), orjson.dumps(state, option=orjson.OPT_SORT_KEYS)))
            if part is None or not (state["c"] or part.known_by_name):
                continue
            conflicts.extend((id_, name, type_) for name in part.conflicts(state))
            if not gone:
                for table, row in part.rows(id_, state):
                    readable[table].append(row)
        self.db.executemany("INSERT INTO entities VALUES (?, ?, ?, ?)", states)
        self.db.executemany("INSERT INTO conflicts VALUES (?, ?, ?)", conflicts)
        for table, rows in readable.items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

    def clear(self, entities: Iterable[str]) -> None:
        """Take the rows of entities away."""
        names = [(entity,) for entity in entities]
        ids = [(entity.partition("/")[2],) for (entity,) in names]
        self.db.executemany("DELETE FROM entities WHERE entity = ?", names)
        for statement in ("DELETE FROM conflicts WHERE id = ?", *self._clears):
            self.db.executemany(statement, ids)
