"""Questions to memory.db about memories."""

from __future__ import annotations

import orjson

from mait_code.projections import ids

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
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM memory_entries"


class Memory:
    """One memory. Times are ISO 8601 UTC. `notes` is what a command has to say about what it did, for stderr."""

    __slots__ = (*_COLUMNS, "conflicts", "notes", "short")

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
        return {"id": self.id, "short": self.short, **row, "session": self.session, "conflicts": self.conflicts}


def memories(
    store: Store, where: str = "1", bindings: Sequence[Any] = (), order: str = "", limit: int = -1
) -> list[Memory]:
    """Memories, superseded and retired ones too. `where` is SQL over `memory_entries`; newest first unless said otherwise."""
    ordered = order or "created_at DESC, id"
    rows = store.query(f"{_SELECT} WHERE {where} ORDER BY {ordered} LIMIT ?", (*bindings, limit))
    return completed(store, [Memory(row) for row in rows])


def one(store: Store, entity: str) -> Memory | None:
    """A memory; None where it is deleted or unknown."""
    found = memories(store, "id = ?", (entity.partition("/")[2],))
    return found[0] if found else None


def living_same(store: Store, same: str) -> str | None:
    """The living memory that says the same in the same place: of several the oldest, as every machine chooses."""
    query = "SELECT id FROM memory_entries WHERE same = ? AND live ORDER BY created_at, id LIMIT 1"
    found = store.value(query, (same,))
    return f"memory/{found}" if found is not None else None


def completed(store: Store, found: list[Memory]) -> list[Memory]:
    """Short ids and conflicts of these."""
    for memory in found:
        memory.short = ids.short_of(store, memory.id)
        memory.conflicts = store.conflicts_of(memory.id)
    return found
