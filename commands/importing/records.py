"""What an import says: records of facts, written in actions of bounded size, each fact once however often it is imported.

Ids of events and entities are derived from the row they come from, so a second run, or another machine with a copy of
the same database, says the same. An action that is written is whole: whoever was stopped runs the import again.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.importing.rows import Lost, Source
from mait_code.journal import clock, secrets
from mait_code.journal.errors import BadInput, MaitError
from mait_code.journal.event import LONGEST_LINE
from mait_code.journal.ids import derived_event_id
from mait_code.journal.kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

__all__ = ["Fact", "Importer", "Record"]

#: Events and characters of one action: so much is written under one lock, and goes where it is stopped in the middle.
ACTION, ACTION_SIZE = 2_000, 4_000_000
#: Bytes that the envelope of a line takes beside the data, and what masks may add.
_ENVELOPE = 12 * 1024
#: How many ids are looked up at once.
_TOGETHER = 500


class _Private(BadInput):
    """All of a required text is private."""


class Fact:
    """One event that an import has to say. `wall` is microseconds since 1970, `key` what makes it this fact."""

    __slots__ = ("data", "entity", "id", "kind", "wall")

    def __init__(self, kind: str, entity: str, key: str, wall: int | None, data: dict[str, Any]) -> None:
        self.kind = kind
        self.entity = entity
        self.id = derived_event_id(kind, key)
        self.wall = wall
        self.data = {name: value for name, value in data.items() if value is not None}


class Record:
    """One row and what it says: first the fact that makes the thing, then the others in order.

    `what` is what people call such things. `again` is said in place of all where the thing is known already and was last
    heard of before `again.wall`.
    """

    __slots__ = ("again", "facts", "notes", "row", "table", "what")

    def __init__(self, what: str, table: str, row: int | None, facts: list[Fact], notes: Iterable[str] = ()) -> None:
        self.what = what
        self.table = table
        self.row = row
        self.facts = facts
        self.again: Fact | None = None
        self.notes = list(notes)

    @property
    def size(self) -> int:
        """About how many characters it takes in the log."""
        texts = (value for fact in self.facts for value in fact.data.values())
        return sum(len(one) if isinstance(one, str) else 10 * len(one) for one in texts if isinstance(one, (str, list)))


class Count:
    """What became of the rows of one sort."""

    __slots__ = ("changed", "known", "new")

    def __init__(self) -> None:
        self.new = self.known = self.changed = 0

    def json(self) -> dict[str, int]:
        """What `--json` prints."""
        return {"new": self.new, "changed": self.changed, "known": self.known}


class Importer:
    """Writes records into the journal as `import/NAME`, or with `dry_run` only counts what it would write.

    `counts` is by sort of thing. `lost` are the rows that were not taken, `notes` what was changed to take the others.
    """

    def __init__(
        self, ws: Workspace, name: str, dry_run: bool = False, step: Callable[[int], None] | None = None
    ) -> None:
        self.ws = ws
        self.actor = f"import/{name}"
        self.dry_run = dry_run
        self.counts: dict[str, Count] = {}
        self.lost: list[Lost] = []
        self.notes: list[str] = []
        self._step = step
        self._said: set[str] = set()
        self._known: set[str] = set()
        self._gone: set[str] = set()
        # A time of the future would lift the clock of every machine that hears of it.
        self._now = clock.wall()

    def bring(self, store: str, records: Iterable[Record]) -> None:
        """Bring in records that belong in one store."""
        batch: list[Record] = []
        events = size = 0
        for record in records:
            batch.append(record)
            events, size = events + len(record.facts), size + record.size
            if events >= ACTION or size >= ACTION_SIZE:
                self._take(store, batch)
                batch, events, size = [], 0, 0
        self._take(store, batch)

    def read(self, path: str, take: Callable[[Importer, Source], None]) -> None:
        """Let `take` bring in a database. One that cannot be read at all is lost, which costs nothing else."""
        called = os.path.basename(path)
        try:
            source = Source(path)
        except MaitError as error:
            self.lost.append(Lost(called, None, error.message))
            return
        with source:
            try:
                take(self, source)
            finally:
                self.lost += source.lost
            if source.changed:
                self.lost.append(Lost(called, None, "it was written while it was read: run the import again"))

    def _take(self, name: str, batch: list[Record]) -> None:
        if not batch:
            return
        if self.dry_run:
            self._all(None, self.ws.reading(name), batch)
        else:
            store = self.ws.store(name)
            with self.ws.journal.writing(store) as writer:
                self._all(writer, store, batch)

    def finish(self, stores: Iterable[str]) -> None:
        """Fold what was written, so that the next command finds it done."""
        if not self.dry_run:
            for name in stores:
                self.ws.refreshed(name)

    def _all(self, writer: Writer | None, store: Store, batch: list[Record]) -> None:
        facts = [fact for record in batch for fact in (*record.facts, record.again) if fact is not None]
        self._known = _present(store, "SELECT id FROM events WHERE id", [fact.id for fact in facts])
        # What was deleted here stays so, whatever the other tool has heard of it since.
        entities = [fact.entity for fact in facts]
        self._gone = _present(store, "SELECT entity FROM entities WHERE deleted AND entity", entities)
        for record in batch:
            self._one(writer, store, record)
            if self._step is not None:
                self._step(1)

    def _is_known(self, fact: Fact) -> bool:
        return fact.id in self._known or fact.id in self._said or fact.entity in self._gone

    def _one(self, writer: Writer | None, store: Store, record: Record) -> None:
        count = self.counts.setdefault(record.what, Count())
        first = record.facts[0]
        was_known = self._is_known(first)
        said = 0
        for fact in record.facts:
            if self._is_known(fact):
                continue
            try:
                self._say(writer, fact)
            except BadInput as error:
                if fact is first:
                    meant = isinstance(error, _Private)
                    self.lost.append(Lost(record.table, record.row, error.message, meant=meant))
                    return
                self.notes.append(f"{_place(record)}: {fact.kind} was left out: {error.message}")
                continue
            said += 1
        if was_known and record.again is not None and not self._is_known(record.again):
            said += self._say_again(writer, store, record.again)
        if was_known:
            count.changed, count.known = (count.changed + 1, count.known) if said else (count.changed, count.known + 1)
        else:
            count.new += 1
        if said:
            self.notes += [f"{_place(record)}: {note}" for note in record.notes]

    def _say(self, writer: Writer | None, fact: Fact) -> None:
        """Append one event. Raises BadInput where it cannot be stored, before it takes a place in the log."""
        _refuse_unfit(fact)
        try:
            if writer is None:
                secrets.clean(KINDS[fact.kind], fact.data, self.ws.journal.allow_secret)
            else:
                wall = None if fact.wall is None else min(fact.wall, self._now)
                writer.append(fact.kind, fact.entity, id=fact.id, wall=wall, actor=self.actor, **fact.data)
        except BadInput as error:
            raise _Private(error.message) from error  # all other reasons have been looked at
        self._said.add(fact.id)

    def _say_again(self, writer: Writer | None, store: Store, fact: Fact) -> int:
        """A memory that the other tool has heard of since: told once more. Returns how many events that took."""
        query = "SELECT last_seen_at, importance FROM memory_entries WHERE id = ?"
        found = store.query(query, (fact.entity.partition("/")[2],))
        # Of a time that is still to come nobody can say whether it was heard of since.
        if not found or fact.wall is None or fact.wall > self._now:
            return 0
        if clock.text(fact.wall - clock.SECOND) <= found[0][0]:
            return 0
        if fact.data.get("importance", 0) <= found[0][1]:
            fact.data.pop("importance", None)
        self._say(writer, fact)
        return 1


def _present(store: Store, query: str, names: list[str]) -> set[str]:
    """Those of the names that a query finds."""
    found: set[str] = set()
    for start in range(0, len(names), _TOGETHER):
        some = tuple(names[start : start + _TOGETHER])
        found.update(row[0] for row in store.query(f"{query} IN ({', '.join('?' * len(some))})", some))
    return found


def _refuse_unfit(fact: Fact) -> None:
    fault = KINDS[fact.kind].fault(fact.data)
    if fault:
        raise BadInput(f"{fact.kind}: {fault}")
    try:
        size = len(orjson.dumps(fact.data))
    except (orjson.JSONEncodeError, TypeError) as error:
        raise BadInput("its text is not valid Unicode") from error
    if size > LONGEST_LINE - _ENVELOPE:
        raise BadInput("it is too long for one line of the log (256 KiB)")


def _place(record: Record) -> str:
    return record.table if record.row is None else f"{record.table} row {record.row}"
