"""Reminders: setting, listing, checking, putting off, dismissing.

Functions take a Workspace and plain values and return the reminder as it is afterwards. `now` is an aware datetime; the
command line passes the clock's, tests pass any.
"""

from __future__ import annotations

import orjson

from mait_code.commands import stored_text
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.projections import ids, register
from mait_code.projections.reminders import closed_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

COLUMNS = "id, what, due_local, zone, rule, project, created_at, dismissed, dismissed_at, notified_at, occurrences, origin, newer"
ZULU = "%Y-%m-%dT%H:%M:%SZ"
DEFAULT_SNOOZE = "1h"
OVERDUE, UPCOMING, DISMISSED = "overdue", "upcoming", "dismissed"


class Reminder:
    """A reminder as it stands at a moment: its present occurrence, when that is due (UTC), and how it is called."""

    def __init__(self, store: Store, row: tuple[Any, ...], now: datetime) -> None:
        from mait_code.projections import recurrence, zones

        self.id, self.what, self.due_local, self.zone, rule, self.project, self.created_at = row[:7]
        self.dismissed_at, self.notified_at, self.origin = row[8], row[9], row[11]
        self.newer = bool(row[12])
        self.rule = orjson.loads(rule) if rule else None
        self.said: dict[str, dict[str, Any]] = orjson.loads(row[10])
        self.short = ids.short_of(store, self.id)
        closed = closed_through({"due": self.due_local, "rule": self.rule}, self.said)
        self.occurrence = recurrence.current(self.due_local, self.rule, self.zone, now, lambda one: one <= closed)
        self.until = self.said.get(self.occurrence or "", {}).get("until")
        if self.until:
            self.due = zones.to_utc(self.until["due"], self.until["zone"])
        else:
            self.due = zones.to_utc(self.occurrence or self.due_local, self.zone)
        if self.occurrence is None:
            self.status = DISMISSED
        else:
            self.status = OVERDUE if self.due <= now else UPCOMING
        self.conflicts = store.conflicts_of(self.id)

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

    def shown(self, now: datetime) -> str:
        """When it is due, for people: local time with its zone, and how far off."""
        from mait_code.projections import zones

        moment = (
            (self.until["due"], self.until["zone"]) if self.until else (self.occurrence or self.due_local, self.zone)
        )
        return zones.show(*moment, now, zones.local_zone())

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


def listing(ws: Workspace, now: datetime, every: bool = False) -> list[Reminder]:
    """Reminders by when they are due, overdue ones first; with `every` the dismissed ones too, last."""
    store = ws.reminders
    where = "" if every else " WHERE next_at IS NOT NULL"
    found = [Reminder(store, row, now) for row in store.query(f"SELECT {COLUMNS} FROM reminders{where}")]
    found.sort(key=lambda one: (one.status == DISMISSED, one.due, one.id))
    return found


def overdue(ws: Workspace, now: datetime) -> list[Reminder]:
    """What is overdue, longest first. On a quiet day this reads one index and no time zone."""
    store = ws.reminders
    rows = store.query(
        f"SELECT {COLUMNS} FROM reminders WHERE next_at <= ? ORDER BY next_at, id", (now.strftime(ZULU),)
    )
    return [one for one in (Reminder(store, row, now) for row in rows) if one.status == OVERDUE]


def one(store: Store, entity: str, now: datetime) -> Reminder | None:
    """A living reminder by its entity."""
    rows = store.query(f"SELECT {COLUMNS} FROM reminders WHERE id = ?", (entity.partition("/")[2],))
    return Reminder(store, rows[0], now) if rows else None


def find(ws: Workspace, text: str, now: datetime) -> Reminder:
    """The living reminder that an id names. Raises NotFound, Ambiguous, or Refused where it was deleted."""
    store = ws.reminders
    entity = ids.resolve(store, text)
    found = one(store, entity, now)
    if found is None:
        raise _absent(store, entity)
    return found


def _absent(store: Store, entity: str) -> Refused:
    short = ids.short_of(store, entity.partition("/")[2])
    state = store.state(entity)
    if state is not None and register.is_deleted(state):
        return Refused(f"reminder {short} was deleted", f"mait-code reminders restore {short} brings it back")
    return Refused(f"reminder {short} cannot be read yet: it was written by a newer version", "update mait-code here")


def when_of(text: str, now: datetime) -> dict[str, Any]:
    """A time in words as it is stored: {"due", "zone"} and the rule where it recurs."""
    from mait_code.commands.when import parse_when
    from mait_code.projections.zones import local_zone

    parsed = parse_when(text, now, local_zone())
    when: dict[str, Any] = {"due": parsed.due, "zone": parsed.zone}
    if parsed.rule is not None:
        when["rule"] = dict(parsed.rule)
    return when


def text_of(what: str) -> tuple[str, list[str]]:
    """What to be reminded of, ready to be stored, and notes about what was changed. Raises BadInput where it is empty."""
    texts, notes = stored_text.fitted({"text": stored_text.required(what, "the reminder's text")})
    return texts["text"], notes


def set_reminder(
    ws: Workspace, when: str, what: str, now: datetime, project: str | None = None
) -> tuple[Reminder, list[str]]:
    """Set a reminder; returns it with notes for the person."""
    text, notes = text_of(what)
    moment = when_of(when, now)
    data: dict[str, Any] = {"what": text, "when": moment}
    if project:
        data["project"] = stored_text.name(project, "the project")
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        event = writer.append("reminder.set", **data)
    return _after(ws, event.entity, now), notes


def _after(ws: Workspace, entity: str, now: datetime) -> Reminder:
    found = one(ws.refreshed("reminders"), entity, now)
    if found is None:
        raise NotFound(f"{entity} was deleted meanwhile", "`history` shows by whom")
    return found


def edit(
    ws: Workspace,
    text: str,
    now: datetime,
    *,
    when: str | None = None,
    what: str | None = None,
    project: str | None = None,
) -> tuple[Reminder, list[str]]:
    """Change text, time or project. A new time makes a dismissed reminder stand again."""
    data: dict[str, Any] = {}
    notes: list[str] = []
    if what is not None:
        data["what"], notes = text_of(what)
    if when is not None:
        data["when"] = when_of(when, now)
    if project is not None:
        data["project"] = stored_text.name(project, "the project") if project.strip() else None
    if not data:
        raise BadInput("nothing to change", "give --when, --what or --project")
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        _living(store, found, now)
        writer.append("reminder.edited", found.entity, **data)
        due = data.get("when", {}).get("due")
        if due is not None and due in found.said:
            writer.append("reminder.restored", found.entity, register=f"occurrence:{due}")
    return _after(ws, found.entity, now), notes


def _living(store: Store, found: Reminder, now: datetime) -> Reminder:
    """The reminder as it is under the lock."""
    current = one(store, found.entity, now)
    if current is None:
        raise _absent(store, found.entity)
    return current


def snooze(ws: Workspace, text: str, until: str, now: datetime) -> Reminder:
    """Put the present occurrence off. Raises Refused where everything is dismissed."""
    from mait_code.commands.when import parse_until
    from mait_code.projections.zones import local_zone

    parsed = parse_until(until, now, local_zone())
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        occurrence = _open_occurrence(_living(store, found, now))
        writer.append(
            "reminder.snoozed", found.entity, occurrence=occurrence, until={"due": parsed.due, "zone": parsed.zone}
        )
    return _after(ws, found.entity, now)


def _open_occurrence(reminder: Reminder) -> str:
    if reminder.occurrence is None:
        raise Refused(
            f"reminder {reminder.short} is dismissed already",
            f"mait-code reminders restore {reminder.short} opens it again",
        )
    return reminder.occurrence


def dismiss(ws: Workspace, text: str, now: datetime) -> tuple[Reminder, bool]:
    """Dismiss the present occurrence; of a recurring reminder the next one then stands. The second value is False where
    it was dismissed before and nothing was written."""
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        current = _living(store, found, now)
        if current.occurrence is not None:
            writer.append("reminder.dismissed", found.entity, occurrence=current.occurrence)
    return _after(ws, found.entity, now), bool(writer.events)


def remove(ws: Workspace, text: str, now: datetime) -> Reminder:
    """Delete a reminder, all its occurrences with it. Returns it as it was."""
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        _living(store, found, now)
        writer.append("reminder.deleted", found.entity)
    ws.refreshed("reminders")
    return found


def restore(ws: Workspace, text: str, now: datetime) -> Reminder:
    """Bring a deleted reminder back, or open a dismissed one again."""
    store = ws.store("reminders")
    entity = ids.resolve(ws.reminders, text)
    with ws.journal.writing(store) as writer:
        state = store.state(entity)
        if state is not None and register.is_deleted(state):
            writer.append("reminder.restored", entity, register="deleted")
        else:
            current = one(store, entity, now)
            if current is None:
                raise _absent(store, entity)
            dismissed = [key for key, said in current.said.items() if said.get("dismissed")]
            if not dismissed:
                raise Refused(
                    f"reminder {current.short} is neither deleted nor dismissed", "there is nothing to restore"
                )
            writer.append("reminder.restored", entity, register=f"occurrence:{max(dismissed)}")
    return _after(ws, entity, now)
