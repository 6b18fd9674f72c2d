"""Everything that is remembered as JSON lines: what it is now, not how it came to be, which the journal tells.

The first line says which format it is. Then one line for each memory, superseded and retired ones too, each thing of the
graph, each relation, each record of the sessions, each document and each reflection. Deleted things are left out. The
same store gives the same lines.
"""

from __future__ import annotations

import orjson

from mait_code.commands.memory_search import dumps
from mait_code.journal.event import Future
from mait_code.projections import memory_queries, register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory
    from mait_code.projections.store import Store

FORMAT = 1
#: Kinds of lines that are records: their fields are those of the event that makes them, named here.
RECORDS = {
    "session": "session.started",
    "prompt": "prompt.submitted",
    "turn": "turn.recorded",
    "observation": "observation.recorded",
    "summary": "session.summarised",
    "document": "document.text",
    "reflection": "reflection.made",
}
#: Columns of a memory that are written as they are.
MEMORY = (
    "id", "content", "entry_type", "importance", "scope", "project", "branch", "created_at", "last_seen_at", "seen_count",
    "reviewed_at", "superseded_by", "superseded_at", "retired_at", "pinned", "tags", "refs", "session", "origin",
)  # fmt: skip

_THING = "id, name, entity_type, first_seen, last_seen, mention_count, merged_into"
_RELATION = "source, target, relationship_type, context"


def lines(ws: Workspace) -> Iterator[str]:
    """The lines, without newline."""
    store = ws.reading("memory")
    yield dumps({"kind": "export", "format": FORMAT})
    for row in _memories(store):
        yield dumps(row)
    for row in _things(store):
        yield dumps(row)
    for kind in RECORDS:
        for row in _records(store, kind):
            yield dumps(row)


def _memories(store: Store) -> Iterator[dict[str, Any]]:
    for one in memory_queries.plain(store):
        yield {"kind": "memory", **_memory(store, one)}


def _memory(store: Store, one: Memory) -> dict[str, Any]:
    row = {name: getattr(one, name) for name in MEMORY}
    state = store.state(one.entity)
    source = register.value(state, "source") if state is not None else None
    out = state["x"].get("untold", ()) if state is not None else ()
    seen = _said(store, one.entity, "memory.seen", ("content", "ref", "origin"), out) if one.seen_count > 1 else []
    return {**row, "source": source, "seen": seen}


def _said(
    store: Store, entity: str, kind: str, fields: tuple[str, ...], out: Collection[str] = ()
) -> list[dict[str, Any]]:
    """When and how a thing was told of, each time, without the events `out`, which were taken back."""
    return [
        {"at": event.shown, **{name: event.data[name] for name in fields if event.data.get(name) is not None}}
        for event in store.events_of(entity)
        if event.kind == kind and not isinstance(event, Future) and event.id not in out
    ]


def _things(store: Store) -> Iterator[dict[str, Any]]:
    for row in store.query(f"SELECT {_THING} FROM memory_entities ORDER BY first_seen, id"):  # noqa: S608
        said = _said(store, f"entity/{row[0]}", "entity.mentioned", ("name", "type", "context", "memory", "origin"))
        yield {"kind": "entity", **dict(zip(_THING.split(", "), row, strict=True)), "mentions": said}
    for row in store.query(f"SELECT {_RELATION} FROM memory_relationships ORDER BY 1, 2, 3"):  # noqa: S608
        yield {"kind": "relationship", **dict(zip(_RELATION.split(", "), row, strict=True))}


def _records(store: Store, kind: str) -> Iterator[dict[str, Any]]:
    rows = store.query(
        "SELECT entity, state FROM entities WHERE entity >= ? AND entity < ? AND deleted = 0", (f"{kind}/", f"{kind}0")
    )
    found = [(entity, orjson.loads(state)) for entity, state in rows]
    for entity, state in sorted(found, key=lambda one: (one[1]["c"], one[0])):
        values = {name: heads[-1][1] for name, heads in state["r"].items() if heads and heads[-1][1] is not None}
        values.pop("deleted", None)
        if values:
            yield {"kind": kind, "id": entity.partition("/")[2], "created_at": state["c"] or None, **values}
