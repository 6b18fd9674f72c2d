"""Questions to memory.db about memories."""

from __future__ import annotations

import orjson

from mait_code.projections import ids, register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.projections.store import Store

_COLUMNS = (
    "id", "content", "entry_type", "importance", "memory_class", "scope", "project", "branch", "created_at",
    "last_seen_at", "seen_count", "reviewed_at", "superseded_by", "superseded_at", "retired_at", "pinned", "tags", "ref",
    "refs", "session", "origin", "live", "same", "newer",
)  # fmt: skip
#: SQL: of living memories that say the same in the same place, stored on two machines at once, the oldest alone.
ONE_OF_COPIES = (
    "(NOT live OR NOT EXISTS (SELECT 1 FROM memory_entries o WHERE o.same = memory_entries.same AND o.live"
    " AND (o.created_at, o.id) < (memory_entries.created_at, memory_entries.id)))"
)
#: SQL: the same where most of a large table is walked: what is said once only is known beforehand.
ONE_OF_COPIES_AMONG_MANY = (
    "(NOT live OR same NOT IN (SELECT same FROM memory_entries GROUP BY same HAVING count(*) > 1)"
    f" OR {ONE_OF_COPIES.removeprefix('(NOT live OR ')}"
)
#: Ids that one question names: more of them, and SQLite walks the whole table.
_AT_ONCE = 50
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memory_entries"


class Memory:
    """One memory. Times are ISO 8601 UTC. `notes` is what a command has to say about what it did, for stderr.

    `copies` are the ids of other living memories that say the same in the same place: two machines stored it without
    knowing of each other. It stands for them too: how often it was seen, and by which keys, is of all of them.
    """

    __slots__ = (*_COLUMNS, "conflicts", "copies", "notes", "short")

    id: str
    content: str
    entry_type: str
    importance: int
    memory_class: str
    scope: str
    project: str | None
    branch: str | None
    created_at: str
    last_seen_at: str
    seen_count: int
    reviewed_at: str | None
    superseded_by: str | None
    superseded_at: str | None
    retired_at: str | None
    pinned: bool
    tags: list[str]
    ref: str | None
    refs: list[str]
    session: str | None
    origin: str | None
    live: bool
    same: str
    newer: bool

    def __init__(self, row: Sequence[Any]) -> None:
        for name, value in zip(_COLUMNS, row, strict=True):
            setattr(self, name, value)
        self.tags, self.refs = orjson.loads(self.tags), orjson.loads(self.refs)  # type: ignore[arg-type]
        self.pinned, self.live, self.newer = bool(self.pinned), bool(self.live), bool(self.newer)
        self.short = self.id
        self.conflicts: list[str] = []
        self.copies: list[str] = []
        self.notes: list[str] = []

    @property
    def entity(self) -> str:
        """`memory/` and the id, as events name it."""
        return f"memory/{self.id}"

    @property
    def first_line(self) -> str:
        """The first line with something on it."""
        return next((line.strip() for line in self.content.splitlines() if line.strip()), "")

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        hidden = ("same", "live", "session", "origin")
        row = {name: getattr(self, name) for name in _COLUMNS if name not in hidden}
        more = {"session": self.session, "copies": self.copies, "conflicts": self.conflicts}
        return {"id": self.id, "short": self.short, **row, **more}

    @property
    def state(self) -> str:
        """superseded, retired, or empty where it is alive."""
        return "superseded" if self.superseded_by else "retired" if self.retired_at else ""


def memories(
    store: Store, where: str = "1", bindings: Sequence[Any] = (), order: str = "", limit: int = -1
) -> list[Memory]:
    """Memories, superseded and retired ones too. `where` is SQL over `memory_entries`; newest first unless said otherwise."""
    ordered = order or "created_at DESC, id"
    rows = store.query(f"{_SELECT} WHERE {where} ORDER BY {ordered} LIMIT ?", (*bindings, limit))
    return completed(store, [Memory(row) for row in rows])


def plain(store: Store) -> list[Memory]:
    """Every memory that is not deleted, as it stands, oldest first: copies apart, no short ids, no conflicts."""
    return [Memory(row) for row in store.query(f"{_SELECT} ORDER BY created_at, id")]


def one(store: Store, entity: str) -> Memory | None:
    """A memory; None where it is deleted or unknown."""
    found = memories(store, "id = ?", (entity.partition("/")[2],))
    return found[0] if found else None


def by_id(store: Store, wanted: Sequence[str]) -> list[Memory]:
    """The memories that have these ids, in no order."""
    found: list[Memory] = []
    for start in range(0, len(wanted), _AT_ONCE):
        part = tuple(wanted[start : start + _AT_ONCE])
        found += memories(store, f"id IN ({', '.join('?' * len(part))})", part)
    return found


def count(store: Store, where: str, bindings: Sequence[Any] = ()) -> int:
    """How many living memories there are, copies counted once. `where` is SQL over `memory_entries`; empty is all."""
    conditions = " AND ".join(one for one in ("live", ONE_OF_COPIES_AMONG_MANY, where) if one)
    found = store.value(f"SELECT count(*) FROM memory_entries WHERE {conditions}", tuple(bindings))
    return int(found or 0)


def living_sames(store: Store, sames: Sequence[str]) -> dict[str, str]:
    """The same for many: empty where there is none."""
    found = dict.fromkeys(sames, "")
    wanted = list(found)
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        query = (
            f"SELECT same, id FROM memory_entries WHERE live AND same IN ({marks}) ORDER BY created_at DESC, id DESC"
        )
        found.update((same, f"memory/{id_}") for same, id_ in store.query(query, tuple(part)))
    return found


def living_same(store: Store, same: str) -> str | None:
    """The living memory that says the same in the same place: of several the oldest, as every machine chooses."""
    query = "SELECT id FROM memory_entries WHERE same = ? AND live ORDER BY created_at, id LIMIT 1"
    found = store.value(query, (same,))
    return f"memory/{found}" if found is not None else None


def put_away_same(store: Store, same: str) -> Memory | None:
    """The superseded or retired memory that says the same in the same place; of several the one put away last."""
    found = memories(store, "same = ? AND NOT live", (same,), "coalesce(superseded_at, retired_at) DESC, id", limit=1)
    return found[0] if found else None


def completed(store: Store, found: list[Memory]) -> list[Memory]:
    """Short ids, conflicts and copies of these."""
    for start in range(0, len(found), _AT_ONCE):
        part = found[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        conflicts = store.query(
            f"SELECT id, register FROM conflicts WHERE id IN ({marks}) ORDER BY register",
            tuple(memory.id for memory in part),
        )
        copied = store.query(
            f"SELECT same FROM memory_entries WHERE same IN ({marks}) AND live GROUP BY same HAVING count(*) > 1",
            tuple(memory.same for memory in part),
        )
        for memory in part:
            memory.short = ids.short_of(store, memory.id)
            memory.conflicts = [register for id_, register in conflicts if id_ == memory.id]
            if memory.live and (memory.same,) in copied:
                for row in store.query(f"{_SELECT} WHERE same = ? AND live AND id <> ?", (memory.same, memory.id)):
                    _stand_for(memory, Memory(row))
    return found


def _stand_for(memory: Memory, copy: Memory) -> None:
    memory.copies.append(copy.id)
    memory.seen_count += copy.seen_count
    memory.last_seen_at = max(memory.last_seen_at, copy.last_seen_at)
    memory.reviewed_at = max(memory.reviewed_at or "", copy.reviewed_at or "") or None
    memory.importance = max(memory.importance, copy.importance)
    memory.pinned = memory.pinned or copy.pinned
    memory.tags = sorted({*memory.tags, *copy.tags})
    memory.refs += [ref for ref in copy.refs if ref not in memory.refs]
    memory.ref = memory.ref or copy.ref


def deleted(store: Store, entity: str = "") -> list[Memory]:
    """Deleted memories as they were (or the one named), last changed first. They have no readable rows, only a state."""
    condition = "entity = ?" if entity else "entity >= 'memory/' AND entity < 'memory0'"
    query = f"SELECT entity, state FROM entities WHERE {condition} AND deleted = 1"
    states = [(name, orjson.loads(raw)) for name, raw in store.query(query, (entity,) if entity else ())]
    found = []
    for name, state in sorted(states, key=lambda one: (one[1]["u"], one[0]), reverse=True):
        if register.value(state, "content") is not None:
            rows = dict(store.part(name).rows(name.partition("/")[2], state))
            memory = Memory(rows["memory_entries"])
            memory.short = ids.short_of(store, memory.id)
            memory.conflicts = store.conflicts_of(memory.id)
            found.append(memory)
    return found


def predecessors(store: Store, id_: str) -> list[Memory]:
    """What a memory (its 12 characters) has superseded, latest first."""
    return memories(store, "superseded_by = ?", (id_,))


def lost(store: Store) -> list[str]:
    """Superseded memories (12 characters each) that nothing present stands for: the last successor was deleted on another
    machine meanwhile, or they supersede each other."""
    after = dict(store.query("SELECT id, superseded_by FROM memory_entries WHERE superseded_by IS NOT NULL"))
    ended = {row[0] for row in store.query("SELECT id FROM memory_entries WHERE superseded_by IS NULL")}
    found = []
    for id_ in sorted(after):
        passed, at = {id_}, after[id_]
        while at in after and at not in passed:
            passed.add(at)
            at = after[at]
        if at not in ended:
            found.append(id_)
    return found
