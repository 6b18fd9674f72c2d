"""Taking in what `export` wrote: ids, dates and states are kept, and what is here already stays as it is.

The ids of the events are derived from the lines, so a file that two machines take in, or one machine twice, is one set of
facts. A thing that was changed between two exports has two sets, and what differs shows as a conflict.
"""

from __future__ import annotations

import orjson

from mait_code.commands import memory_times
from mait_code.commands.memory_export import FORMAT, RECORDS
from mait_code.journal import clock
from mait_code.journal.errors import BadInput
from mait_code.journal.ids import ENTITY, derived_event_id
from mait_code.journal.kinds import KINDS
from mait_code.journal.sha import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer

    Row = dict[str, Any]

#: Fields of a memory that go into the event as they are.
_AS_THEY_ARE = ("importance", "scope", "project", "branch", "session", "source", "origin")


class Imported:
    """What importing came to: new things by kind, how many were here already, how many of these were deleted here, and how
    many lines were of a kind that this version does not know."""

    def __init__(self) -> None:
        self.new: dict[str, int] = {}
        self.known = 0
        self.deleted = 0
        self.unknown = 0

    def json(self) -> dict[str, Any]:
        """What `import --json` prints."""
        return {"imported": self.new, "known": self.known, "deleted": self.deleted, "unknown": self.unknown}


def take_in(ws: Workspace, content: bytes, step: Callable[[int, int], None]) -> Imported:
    """Take in all lines in one action, or none. `step` is told (done, all). Raises BadInput naming the line."""
    rows = list(_rows(content))
    store = ws.store("memory")
    done = Imported()
    with ws.journal.writing(store) as writer:
        known = dict(store.query("SELECT entity, deleted FROM entities"))
        links = set(store.query("SELECT source, target, relationship_type FROM memory_relationships"))
        into = _Import(writer, known, links, done)
        for place, (number, row) in enumerate(rows, 1):
            try:
                into.take(row)
            except BadInput as error:
                raise BadInput(f"line {number}: {error.message}", "nothing was imported") from error
            step(place, len(rows))
    ws.refreshed("memory")
    return done


def _rows(content: bytes) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"line {number} is not JSON: {error}", "nothing was imported") from error
        if type(row) is not dict or type(row.get("kind")) is not str:
            hint = "mait-code memory store --stdin takes lines of {content, type, ...}; nothing was imported"
            raise BadInput(f"line {number} is no line of an export: it has no kind", hint)
        if row["kind"] == "export":
            if row.get("format") != FORMAT:
                raise BadInput(
                    f"line {number}: this export is of format {row.get('format')!r}", "update mait-code here"
                )
            continue
        yield number, row


class _Import:
    """Writes the events of each line."""

    def __init__(self, writer: Writer, known: dict[str, int], links: set[tuple[Any, ...]], done: Imported) -> None:
        self.writer = writer
        self.known = known
        self.links = links
        self.done = done
        self._digest = ""

    def take(self, row: Row) -> None:
        """Take in one line. Raises BadInput."""
        kind = row["kind"]
        if kind not in ("memory", "entity", "relationship", *RECORDS):
            self.done.unknown += 1
            return
        # What may be written differently and mean the same, as the order of keys, makes no other event.
        self._digest = sha256(orjson.dumps(row, option=orjson.OPT_SORT_KEYS)).hexdigest()
        if kind == "relationship":
            self._relation(row)
            return
        entity = _entity(kind, row.get("id"), "id")
        if entity in self.known:
            self.done.known += 1
            self.done.deleted += bool(self.known[entity])
            return
        take = {"memory": self._memory, "entity": self._thing}.get(kind, self._record)
        take(entity, row)
        self.known[entity] = 0
        self.done.new[kind] = self.done.new.get(kind, 0) + 1

    def _append(self, kind: str, entity: str, wall: int | None, number: int, data: Row) -> None:
        id_ = derived_event_id(kind, f"export:{entity}:{self._digest}:{number}")
        kept = {name: value for name, value in data.items() if value is not None}
        event = self.writer.append(kind, entity, id=id_, wall=wall, **kept)
        if wall is not None and event.at != clock.text(wall):
            event.wall = clock.text(wall)  # to the microsecond, however near the two clocks are

    def _memory(self, entity: str, row: Row) -> None:
        created = _time(row, "created_at")
        last = _time(row, "last_seen_at", created)
        refs = _list(row, "refs")
        data = {name: row.get(name) for name in _AS_THEY_ARE}
        data |= {"content": _required(row, "content"), "type": _required(row, "entry_type")}
        data |= {"tags": _list(row, "tags") or None, "ref": refs[0] if refs else None}
        self._append("memory.stored", entity, created, 0, data)
        for number, said in enumerate(_said(row, "seen")):
            self._append("memory.seen", entity, _time(said, "at", last), number, _fields("memory.seen", said))
        if row.get("reviewed_at"):
            at = _time(row, "reviewed_at")
            assert at is not None, "it is there"
            self._append("memory.reviewed", entity, at, 0, {"at": clock.text(at)})
        if row.get("pinned"):
            self._append("memory.pinned", entity, last, 0, {})
        if row.get("superseded_by"):
            by = _entity("memory", row["superseded_by"], "superseded_by")
            self._append("memory.superseded", entity, _time(row, "superseded_at", last), 0, {"by": by})
        if row.get("retired_at"):
            self._append("memory.retired", entity, _time(row, "retired_at"), 0, {})

    def _thing(self, entity: str, row: Row) -> None:
        first = _time(row, "first_seen")
        last = _time(row, "last_seen", first)
        name, type_ = _required(row, "name"), row.get("entity_type")
        once = {} if type_ == "unknown" else {"type": type_}
        for number, said in enumerate(_said(row, "mentions") or [once]):
            fields = {"name": name, **_fields("entity.mentioned", said)}
            self._append("entity.mentioned", entity, _time(said, "at", first), number, fields)
        if row.get("merged_into"):
            into = _entity("entity", row["merged_into"], "merged_into")
            self._append("entity.merged", entity, last, 0, {"into": into})

    def _relation(self, row: Row) -> None:
        source, target = (_entity("entity", row.get(name), name) for name in ("source", "target"))
        relation = _required(row, "relationship_type")
        link = (source.partition("/")[2], target.partition("/")[2], relation)
        if link in self.links or self.known.get(source):
            self.done.known += 1
            self.done.deleted += bool(self.known.get(source))
            return
        data = {"relation": relation, "target": target, "context": row.get("context")}
        self._append("entity.linked", source, None, 0, data)
        self.links.add(link)
        self.done.new["relationship"] = self.done.new.get("relationship", 0) + 1

    def _record(self, entity: str, row: Row) -> None:
        kind = RECORDS[row["kind"]]
        at = _time(row, "created_at")
        self._append(kind, entity, at, 0, _fields(kind, row))
        if row["kind"] == "session" and row.get("ended"):
            self._append("session.ended", entity, at, 0, {"reason": row["ended"]})


# -- what a line may hold ---------------------------------------------------------------------------------------------


def _entity(type_: str, id_: Any, name: str) -> str:
    if type(id_) is not str or not ENTITY.fullmatch(f"{type_}/{id_}"):
        raise BadInput(f"{name} is no id of 12 characters")
    return f"{type_}/{id_}"


def _required(row: Row, name: str) -> str:
    value = row.get(name)
    if type(value) is not str or not value.strip():
        raise BadInput(f"{name} is missing, or no text")
    return value


def _list(row: Row, name: str) -> list[Any]:
    value = row.get(name)
    if value is not None and type(value) is not list:
        raise BadInput(f"{name} is no list")
    return value or []


def _time(row: Row, name: str, otherwise: int | None = None) -> int | None:
    value = row.get(name)
    if value is None:
        return otherwise
    if type(value) is not str:
        raise BadInput(f"{name} is no time")
    return memory_times.past(value)[0]


def _said(row: Row, name: str) -> list[Row]:
    found = _list(row, name)
    if not all(type(one) is dict for one in found):
        raise BadInput(f"{name} is no list of objects")
    return found


def _fields(kind: str, row: Row) -> Row:
    """What of a line goes into an event of this kind; a newer version may have written more."""
    return {name: row[name] for name in KINDS[kind].fields if name in row}
