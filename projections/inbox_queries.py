"""Questions to inbox.db: what is waiting, what became of the rest, and the short ids of many items at once."""

from __future__ import annotations

import orjson

from mait_code.projections import ids
from mait_code.projections.thoughts import Thoughts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.projections.store import Store

__all__ = ["Item", "count", "deleted", "finished", "one", "projects", "waiting"]

_WAITING = "SELECT id, body, project, created_at, newer, NULL, NULL, NULL FROM inbox_items"
_FINISHED = "SELECT id, body, project, created_at, newer, outcome, ref, done_at FROM inbox_done"


class Item:
    """One captured thought. Times are ISO 8601 UTC. `outcome` is empty while it waits; `ref` is the entity it became.

    `notes` is what a command has to say about what it did, for stderr.
    """

    __slots__ = (
        "body", "conflicts", "created_at", "done_at", "id", "newer", "notes", "outcome", "project", "ref", "short",
    )  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: str = row[0]
        self.body: str = row[1]
        self.project: str | None = row[2]
        self.created_at: str = row[3]
        self.newer = bool(row[4])
        self.outcome: str = row[5] or ""
        self.ref: str | None = row[6]
        self.done_at: str | None = row[7]
        self.short = self.id
        self.conflicts: list[str] = []
        self.notes: list[str] = []

    @property
    def entity(self) -> str:
        """`inbox/` and the id, as events name it."""
        return f"inbox/{self.id}"

    @property
    def first_line(self) -> str:
        """The first line with something on it."""
        return next((line.strip() for line in self.body.splitlines() if line.strip()), "")


def waiting(store: Store, where: str = "1", bindings: tuple[Any, ...] = ()) -> list[Item]:
    """What is still to be dealt with, oldest first. `where` is SQL over the table `inbox_items`."""
    return _items(store, f"{_WAITING} WHERE {where} ORDER BY created_at, id", bindings)


def finished(store: Store, where: str = "1", bindings: tuple[Any, ...] = ()) -> list[Item]:
    """What has been dealt with, the latest first. `where` is SQL over the table `inbox_done`."""
    return _items(store, f"{_FINISHED} WHERE {where} ORDER BY done_at DESC, id", bindings)


def one(store: Store, entity: str) -> Item | None:
    """An item, waiting or dealt with; None where it is deleted or unknown."""
    id_ = (entity.partition("/")[2],)
    found = waiting(store, "id = ?", id_) or finished(store, "id = ?", id_)
    return found[0] if found else None


def deleted(store: Store, entity: str = "") -> list[Item]:
    """Deleted items as they were (or the one named), last changed first. They have no readable rows, only a state."""
    condition = "deleted = 1" + (" AND entity = ?" if entity else "")
    rows = store.query(f"SELECT entity, state FROM entities WHERE {condition}", (entity,) if entity else ())
    found = []
    for name, raw in rows:
        state = orjson.loads(raw)
        if not state["c"]:
            continue
        for table, row in Thoughts().rows(name.partition("/")[2], state):
            finished_ = table == "inbox_done"
            item = Item((*row[:4], row[-1], *(row[4:7] if finished_ else (None, None, None))))
            found.append((state["u"], item))
    return _completed(
        store, [item for _at, item in sorted(found, key=lambda pair: (pair[0], pair[1].id), reverse=True)]
    )


def count(store: Store) -> int:
    """How many items are waiting."""
    number: int = store.value("SELECT count(*) FROM inbox_items")
    return number


def projects(store: Store) -> list[str]:
    """Every project that something waiting was captured in."""
    rows = store.query("SELECT DISTINCT project FROM inbox_items WHERE project IS NOT NULL ORDER BY project")
    return [row[0] for row in rows]


def _items(store: Store, sql: str, bindings: tuple[Any, ...]) -> list[Item]:
    return _completed(store, [Item(row) for row in store.query(sql, bindings)])


def _completed(store: Store, items: list[Item]) -> list[Item]:
    """Short ids and conflicts, in two or three queries however many items there are."""
    if len(items) <= 3:
        for item in items:
            item.short = ids.short_of(store, item.id)
    else:
        shorts = ids.shorts(store)
        for item in items:
            item.short = shorts[item.id]
    if items:
        by_id = {item.id: item for item in items}
        for id_, register in store.query("SELECT id, register FROM conflicts ORDER BY register"):
            if id_ in by_id:
                by_id[id_].conflicts.append(register)
    return items
