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
    conditions = ("live", "memory_class = ?", f"{_AT} < ?", "importance >= ?", seen.where, ONE_OF_COPIES_AMONG_MANY)
    where = f"FROM memory_entries WHERE {' AND '.join(one for one in conditions if one)}"
    least = int(settings.value("review-min-importance"))
    count, decayed, lives = 0, [], half_lives()
    for name in CLASSES:
        life = lives[name] * _DAY
        late = clock.text(max(0, int(now - life * log2(1 / threshold))))
        bindings = (name, late, least, *seen.bindings)
        count += int(store.value(f"SELECT count(*) {where}", bindings) or 0)
        for id_, at in store.query(f"SELECT id, {_AT} {where} ORDER BY 2, 1 LIMIT ?", (*bindings, limit)):
            decayed.append((-max(0, now - clock.micros(at)) / life, id_))
    found = [_due(ws, id_, exponent) for exponent, id_ in sorted(decayed)[:limit]]
    return [one for one in found if one is not None], count


def _due(ws: Workspace, id_: str, exponent: float) -> Due | None:
    found = memory_queries.one(ws.reading("memory"), f"memory/{id_}")
    return None if found is None else Due(found, float(2.0**exponent))


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
