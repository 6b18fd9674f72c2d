"""Questions to reminders.db: reminders as they stand at a moment, what is overdue, how many there are.

`now` is an aware datetime; the command line passes the clock's, tests pass any.
"""

from __future__ import annotations

import orjson

from mait_code.projections import ids
from mait_code.projections.reminders import Reminders, closed_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from mait_code.projections.store import Store

__all__ = ["DISMISSED", "OVERDUE", "UPCOMING", "Reminder", "count", "deleted", "listing", "one", "overdue"]

COLUMNS = (
    "id, what, due_local, zone, rule, project, created_at, dismissed, dismissed_at, notified_at, occurrences, origin,"
    " newer"
)
ZULU = "%Y-%m-%dT%H:%M:%SZ"
OVERDUE, UPCOMING, DISMISSED = "overdue", "upcoming", "dismissed"
#: So many reminders are looked up one by one, more of them by a pass over what is known.
_FEW = 5


class Reminder:
    """A reminder as it stands at a moment: its present occurrence, when that is due (UTC), and how it is called.

    `notes` is what a command has to say about what it did, for stderr.
    """

    def __init__(self, row: tuple[Any, ...], now: datetime, short: str, conflicts: list[str]) -> None:
        from mait_code.projections import zones

        self.id, self.what, self.due_local, self.zone, rule, self.project, self.created_at = row[:7]
        self.dismissed_at, self.notified_at, self.origin = row[8], row[9], row[11]
        self.newer = bool(row[12])
        self.rule = orjson.loads(rule) if rule else None
        self.said: dict[str, dict[str, Any]] = orjson.loads(row[10])
        self.short = short
        self.conflicts = conflicts
        self.notes: list[str] = []
        self.closed = closed_through({"due": self.due_local, "rule": self.rule}, self.said)
        self.occurrence = self.standing(now, self.closed)
        self.until = self.said.get(self.occurrence or "", {}).get("until")
        if self.until:
            self.due = zones.to_utc(self.until["due"], self.until["zone"])
        else:
            self.due = zones.to_utc(self.occurrence or self.due_local, self.zone)
        if self.occurrence is None:
            self.status = DISMISSED
        else:
            self.status = OVERDUE if self.due <= now else UPCOMING

    def standing(self, now: datetime, closed: str) -> str | None:
        """The occurrence it stands at, were everything up to `closed` dismissed; None where none is left."""
        from mait_code.projections import recurrence

        return recurrence.current(self.due_local, self.rule, self.zone, now, lambda one: one <= closed)

    @property
    def entity(self) -> str:
        return f"reminder/{self.id}"

    @property
    def recurrence(self) -> str | None:
        """The rule in words, or None."""
        if self.rule is None:
            return None
        from mait_code.projections import recurrence

        return recurrence.describe(self.rule)

    @property
    def heading(self) -> str:
        """The first line of its text."""
        return str(self.what.partition("\n")[0])

    def shown(self, now: datetime, viewer: str = "") -> str:
        """When it is due, for people in zone `viewer` (this machine's by default): time, zone, and how far off."""
        from mait_code.projections import zones

        due, zone = self.occurrence or self.due_local, self.zone
        if self.until:
            due, zone = self.until["due"], self.until["zone"]
        return zones.show(due, zone, now, viewer or zones.local_zone())

    def json(self) -> dict[str, Any]:
        """The reminder as `--json` prints it."""
        return {
            "id": self.id,
            "short": self.short,
            "what": self.what,
            "status": self.status,
            "due": self.due.strftime(ZULU),
            "due_local": self.due_local,
            "zone": self.zone,
            "occurrence": self.occurrence,
            "rule": self.rule,
            "recurrence": self.recurrence,
            "snoozed_until": self.until,
            "project": self.project,
            "created_at": self.created_at,
            "dismissed": self.status == DISMISSED,
            "dismissed_at": self.dismissed_at,
            "notified_at": self.notified_at,
            "origin": self.origin,
            "conflicts": list(self.conflicts),
            "newer": self.newer,
        }


def listing(store: Store, now: datetime, every: bool = False) -> list[Reminder]:
    """Reminders by when they are due, overdue ones first; with `every` the dismissed ones too, last."""
    where = "1" if every else "next_at IS NOT NULL"
    found = _several(store, now, where)
    found.sort(key=lambda one: (one.status == DISMISSED, one.due, one.id))
    return found if every else [one for one in found if one.status != DISMISSED]


def overdue(store: Store, now: datetime) -> list[Reminder]:
    """What is overdue, longest first. On a quiet day this reads one index and no time zone."""
    found = _several(store, now, "next_at <= ?", (now.strftime(ZULU),))
    return sorted((one for one in found if one.status == OVERDUE), key=lambda one: (one.due, one.id))


def deleted(store: Store, now: datetime) -> list[Reminder]:
    """Deleted reminders as they were, last changed first. They have no readable rows, only a state."""
    found = []
    for name, raw in store.query("SELECT entity, state FROM entities WHERE deleted = 1"):
        state = orjson.loads(raw)
        if not state["c"]:
            continue
        for _table, row in Reminders().rows(name.partition("/")[2], state):
            kept = (row[0], row[1], *row[3:8], *row[9:])  # as COLUMNS has them: without due and next_at
            found.append((state["u"], _reminder(store, kept, now)))
    return [one for _at, one in sorted(found, key=lambda pair: (pair[0], pair[1].id), reverse=True)]


def count(store: Store) -> int:
    """How many reminders are not dismissed."""
    number: int = store.value("SELECT count(*) FROM reminders WHERE next_at IS NOT NULL")
    return number


def _several(store: Store, now: datetime, where: str, bindings: tuple[Any, ...] = ()) -> list[Reminder]:
    """Reminders with what they are called, in a handful of queries however many there are."""
    rows = store.query(f"SELECT {COLUMNS} FROM reminders WHERE {where}", bindings)
    if len(rows) <= _FEW:
        return [_reminder(store, row, now) for row in rows]
    shorts = ids.shorts(store)
    conflicts: dict[str, list[str]] = {}
    for entity, name in store.conflicted():
        conflicts.setdefault(entity.partition("/")[2], []).append(name)
    return [Reminder(row, now, shorts[row[0]], conflicts.get(row[0], [])) for row in rows]


def _reminder(store: Store, row: tuple[Any, ...], now: datetime) -> Reminder:
    return Reminder(row, now, ids.short_of(store, row[0]), store.conflicts_of(row[0]))


def one(store: Store, entity: str, now: datetime) -> Reminder | None:
    """A living reminder by its entity."""
    rows = store.query(f"SELECT {COLUMNS} FROM reminders WHERE id = ?", (entity.partition("/")[2],))
    return _reminder(store, rows[0], now) if rows else None
