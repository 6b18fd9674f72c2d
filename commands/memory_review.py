"""Which memories are due to be looked at again, and saying that one is still true.

What is not seen is forgotten: recall = 0.5 ** (age / half-life of its class), the age counted since it was last reviewed,
else since it was last told (the forgetting curve of Ebbinghaus 1885, as spaced repetition uses it).
"""

from __future__ import annotations

from math import log2

from mait_code.commands import memory_edits, memory_seen
from mait_code.journal import clock, settings
from mait_code.projections import memory_queries
from mait_code.projections.memory_queries import ONE_OF_COPIES_AMONG_MANY, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace

__all__ = ["Due", "due", "reviewed"]

_DAY = 86_400 * clock.SECOND
#: SQL: since when it fades.
_AT = "coalesce(reviewed_at, last_seen_at)"
#: Half-lives that there are settings for, in days.
CLASSES = ("episodic", "semantic", "procedural")


class Due:
    """A memory that is due, and how much of it is recalled, from 0 to 1."""

    __slots__ = ("memory", "recall")

    def __init__(self, memory: Memory, recall: float) -> None:
        self.memory = memory
        self.recall = recall

    def json(self) -> dict[str, Any]:
        """What `review --json` lists."""
        one = self.memory
        names = ("entry_type", "importance", "memory_class", "scope", "project", "branch", "reviewed_at")
        row = {name: getattr(one, name) for name in names}
        return {"id": one.id, "short": one.short, "content": one.content, **row, "recall": round(self.recall, 4)}


def half_lives() -> dict[str, float]:
    """After how many days a memory of each class is half forgotten."""
    keys = {"episodic": "half-life-episodic", "semantic": "half-life-semantic", "procedural": "half-life-procedural"}
    return {name: float(settings.value(key)) for name, key in keys.items()}


def due(
    ws: Workspace, limit: int = 10, scope: str = "", project: str | None = None, branch: str | None = None
) -> tuple[list[Due], int]:
    """The memories that are due, most decayed first, at most `limit`; and how many there are."""
    threshold = float(settings.value("review-threshold"))
    if threshold <= 0:
        return [], 0
    store, now = ws.reading("memory"), clock.wall()
    seen = memory_seen.seen(ws, scope, project, branch, "memory_entries.")
    least, lives, ages, late = int(settings.value("review-min-importance")), half_lives(), [], []
    for name in CLASSES:
        life = lives[name] * _DAY
        ages.append(f"(memory_class = ? AND {_AT} < ?)")
        late += [name, clock.text(max(0, int(now - life * log2(1 / threshold))))]
    conditions = ("live", f"({' OR '.join(ages)})", "importance >= ?", seen.where, ONE_OF_COPIES_AMONG_MANY)
    where = f"FROM memory_entries WHERE {' AND '.join(one for one in conditions if one)}"
    bindings = (*late, least, *seen.bindings)
    counts = dict(store.query(f"SELECT memory_class, count(*) {where} GROUP BY 1", bindings))
    decayed = []
    for name in counts:
        query = f"SELECT id, {_AT} {where} AND memory_class = ? ORDER BY 2, 1 LIMIT ?"
        for id_, at in store.query(query, (*bindings, name, limit)):
            decayed.append((-max(0, now - clock.micros(at)) / (lives[name] * _DAY), id_))
    decayed = sorted(decayed)[:limit]
    found = {one.id: one for one in memory_queries.by_id(store, [id_ for _, id_ in decayed])}
    return [Due(found[id_], float(2.0**exponent)) for exponent, id_ in decayed if id_ in found], sum(counts.values())


def reviewed(ws: Workspace, text: str) -> Memory:
    """Say that a memory was looked at and is still true. Refused where it is superseded or retired."""
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        found = memory_edits.living(store, text)
        at = clock.text(clock.wall())
        for id_ in (found.id, *found.copies):
            writer.append("memory.reviewed", f"memory/{id_}", at=at)
    after = memory_queries.one(ws.refreshed("memory"), found.entity)
    return after if after is not None else found
