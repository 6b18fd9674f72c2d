"""Looking at memories and what is found beside them: lists, single ones whole, numbers, and what came before and after."""

from __future__ import annotations

import orjson

from mait_code.commands import memory, memory_edits, memory_seen
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.projections import ids, memory_queries
from mait_code.projections.memories import TYPES
from mait_code.projections.memory_queries import ONE_OF_COPIES, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.search import Finding

#: The table of each kind of record.
TABLES = {
    "observation": "observations",
    "summary": "session_summaries",
    "prompt": "user_prompts",
    "turn": "turns",
}
#: An order that the index gives by itself.
NEWEST = "created_at DESC, id DESC"
_JSON_COLUMNS = ("files_read", "files_modified", "facts", "concepts", "commands", "failures", "tokens")


def listing(
    ws: Workspace,
    *,
    limit: int = 10,
    type_: str = "",
    since: str | None = None,
    until: str | None = None,
    tag: str = "",
    superseded: bool = False,
    pinned: bool = False,
    scope: str = "",
    project: str | None = None,
    branch: str | None = None,
) -> list[Memory]:
    """Memories seen from here, newest first: living ones, with `superseded` also what was superseded or retired.

    `since` and `until` are UTC times as the store has them. Raises BadInput for a type there is not.
    """
    seen = memory_seen.seen(ws, scope, project, branch, "memory_entries.")
    where: list[str] = [ONE_OF_COPIES]
    bindings: list[Any] = []
    for condition, value in (
        (seen.where, seen.bindings),
        ("live", None if superseded else []),
        ("entry_type = ?", [memory.type_named(type_)] if type_ else None),
        ("created_at >= ?", [since] if since else None),
        ("created_at < ?", [until] if until else None),
        ("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ? COLLATE NOCASE)", [tag] if tag else None),
        ("pinned", [] if pinned else None),
    ):
        if condition and value is not None:
            where.append(condition)
            bindings += value
    return memory_queries.memories(ws.reading("memory"), " AND ".join(where), bindings, NEWEST, limit)


def deleted(ws: Workspace, limit: int = -1) -> list[Memory]:
    """Deleted memories, last changed first."""
    found = memory_queries.deleted(ws.reading("memory"))
    return found if limit < 0 else found[:limit]


def by_type(ws: Workspace, each: int = 5) -> list[tuple[str, int, list[Memory]]]:
    """Each type that is seen from here, with how many there are and the newest of them."""
    seen = memory_seen.seen(ws, prefix="memory_entries.")
    where = " AND ".join(one for one in ("live", ONE_OF_COPIES, seen.where) if one)
    store = ws.reading("memory")
    query = f"SELECT entry_type, count(*) FROM memory_entries WHERE {where} GROUP BY 1"  # noqa: S608
    counts = dict(store.query(query, tuple(seen.bindings)))
    order = [*(name for name in TYPES if name in counts), *sorted(set(counts) - set(TYPES))]
    return [
        (
            name,
            counts[name],
            memory_queries.memories(
                store, f"{where} AND entry_type = ?", [*seen.bindings, name], order=NEWEST, limit=each
            ),
        )
        for name in order
    ]


# -- whole ------------------------------------------------------------------------------------------------------------


class Record:
    """An observation, summary, prompt or turn, whole: its entry and the columns of its table."""

    __slots__ = ("columns", "entry", "short")

    def __init__(self, entry: Finding, short: str, columns: dict[str, Any]) -> None:
        self.entry = entry
        self.short = short
        self.columns = columns

    def json(self) -> dict[str, Any]:
        """What `show --json` prints."""
        one = self.entry
        return {
            "id": one.id, "short": self.short, "kind": one.kind, "entry_type": one.type, "title": one.title,
            "content": one.text, "scope": one.scope, **self.columns,
        }  # fmt: skip


def whole(ws: Workspace, text: str) -> Memory | Record:
    """What an id names: a memory, or anything else that search finds. Raises NotFound, Ambiguous, Refused."""
    from mait_code.projections import entries, timeline

    store = ws.reading("memory")
    entity = ids.resolve(store, text, entries.KINDS)
    kind, _, id_ = entity.partition("/")
    if kind == "memory":
        return memory_edits.find(store, entity)
    found = timeline.entry(store, id_)
    rows = store.query(f"SELECT * FROM {TABLES[kind]} WHERE id = ?", (id_,))  # noqa: S608
    if found is None or not rows:
        raise Refused(f"{entity} was deleted, or holds nothing", f"mait-code history {entity} shows what happened")
    names = [row[1] for row in store.query(f"PRAGMA table_info({TABLES[kind]})")]
    columns = {name: _read(name, value) for name, value in zip(names, rows[0], strict=True) if name != "id"}
    return Record(found, ids.short_of(store, id_, type_=kind), columns)


def _read(name: str, value: Any) -> Any:
    return orjson.loads(value) if name in _JSON_COLUMNS and isinstance(value, str) else value


# -- in time ----------------------------------------------------------------------------------------------------------


class Around:
    """What came before and after something, in the order of time, and the thing itself in between."""

    __slots__ = ("after", "anchor", "before")

    def __init__(self, before: list[Finding], anchor: Finding | Memory, after: list[Finding]) -> None:
        self.before = before
        self.anchor = anchor
        self.after = after


def around(
    ws: Workspace,
    text: str,
    *,
    before: int,
    after: int,
    kinds: tuple[str, ...] = (),
    scope: str = "",
    project: str | None = None,
    branch: str | None = None,
) -> Around:
    """What came before and after the thing an id names, seen from here. Raises NotFound, Ambiguous, Refused."""
    from mait_code.projections import entries, timeline

    store = ws.reading("memory")
    for kind in kinds:
        if kind not in entries.KINDS:
            raise BadInput(f"there is no kind {kind!r}", "kinds are " + ", ".join(entries.KINDS))
    entity = ids.resolve(store, text, entries.KINDS)
    id_ = entity.partition("/")[2]
    anchor: Finding | Memory | None = timeline.entry(store, id_)
    place = timeline.place_of(store, id_)
    if anchor is None:
        found = whole(ws, entity)  # superseded and retired memories are no entries, and happened all the same
        assert isinstance(found, Memory), "every other record has an entry"
        anchor, place = found, f"{found.created_at} "
    seen = memory_seen.seen(ws, scope, project, branch)
    where, bindings = [seen.where] if seen.where else [], [*seen.bindings]
    if kinds:
        where.append(f"e.kind IN ({', '.join('?' * len(kinds))})")
        bindings += kinds
    sides = timeline.around(store, place or "", before, after, " AND ".join(where), tuple(bindings))
    return Around(sides[0], anchor, sides[1])


def best(ws: Workspace, question: str, scope: str = "", project: str | None = None, branch: str | None = None) -> str:
    """The entity that fits a question best. Raises NotFound."""
    from mait_code.commands import memory_search

    asked = memory_search.Asked(limit=1, scope=scope, project=project, branch=branch)
    meanings = memory_search.Meanings(ws)
    try:
        (found,) = memory_search.search_all(ws, [question], asked, meanings)
    finally:
        meanings.close()
    if not found:
        raise NotFound(f"nothing found for {question!r}", "ask in other words, or name an id")
    return found[0].entity


# -- numbers ----------------------------------------------------------------------------------------------------------


def stats(ws: Workspace) -> dict[str, Any]:
    """How many memories there are of what sort, how many have vectors and by which model, what waits for reflection."""
    store = ws.reading("memory")

    def count(sql: str, *bindings: Any) -> int:
        return int(store.value(f"SELECT count(*) FROM {sql}", bindings) or 0)  # noqa: S608

    def counts(column: str) -> dict[str, int]:
        rows = store.query(f"SELECT {column}, count(*) FROM memory_entries WHERE live GROUP BY 1 ORDER BY 2 DESC, 1")  # noqa: S608
        return {row[0] if row[0] is not None else "": row[1] for row in rows}

    pending = "m.live AND m.entry_type <> 'insight' AND NOT EXISTS (SELECT 1 FROM reflected r WHERE r.memory = m.id)"
    return {
        "total": count("memory_entries"),
        "live": count("memory_entries WHERE live"),
        "superseded": count("memory_entries WHERE superseded_by IS NOT NULL"),
        "retired": count("memory_entries WHERE retired_at IS NOT NULL AND superseded_by IS NULL"),
        "pinned": count("memory_entries WHERE live AND pinned"),
        "deleted": count("entities WHERE entity >= 'memory/' AND entity < 'memory0' AND deleted = 1"),
        "by_type": counts("entry_type"),
        "by_class": counts("memory_class"),
        "by_scope": counts("scope"),
        "by_project": counts("project"),
        "entries": dict(store.query("SELECT kind, count(*) FROM entries GROUP BY 1 ORDER BY 1")),
        "entities": count("memory_entities WHERE merged_into IS NULL"),
        "relationships": count("memory_relationships"),
        "lost": memory_queries.lost(store),
        "embeddings": _coverage(ws),
        "unreflected": count(f"memory_entries m WHERE {pending}"),
        "last_reflection": store.value("SELECT max(created_at) FROM reflections"),
    }


def _coverage(ws: Workspace) -> dict[str, Any]:
    from mait_code.commands.memory_search import Meanings
    from mait_code.journal import settings

    hashes = [row[0] for row in ws.reading("memory").query("SELECT DISTINCT hash FROM entries")]
    meanings = Meanings(ws)
    try:
        vectors = meanings.vectors
        embedded = 0 if vectors is None else len(hashes) - len(vectors.missing(hashes))
        return {
            "texts": len(hashes),
            "embedded": embedded,
            "provider": settings.value("embedding-provider"),
            "model": None if vectors is None else vectors.name,
            "dim": None if vectors is None else vectors.dimension,
            "available": vectors is not None,
            "reason": meanings.reason,
        }
    finally:
        meanings.close()
