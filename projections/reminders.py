"""Reminders: one entity per reminder, recurring or not. Occurrences are computed from the rule, never stored.

What is said of an occurrence (dismissed, put off, told) is kept under its nominal time. `reminders` holds one row per
reminder; `next_at` is the earliest UTC moment at which it could be overdue (none where nothing is to come), so that
`check` on a quiet day reads one index.
"""

from __future__ import annotations

import orjson

from mait_code.journal.errors import BadInput
from mait_code.projections import register
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any, ClassVar

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import Head, State

_PREFIX = "occurrence:"


class Reminders(Projection):
    """Folds reminder.* events. Of what was said concurrently of one occurrence, dismissed wins."""

    family = entity = "reminder"
    tables: ClassVar[dict[str, str]] = {
        "reminders": "id TEXT PRIMARY KEY, what TEXT NOT NULL, due TEXT NOT NULL, due_local TEXT NOT NULL,"
        " zone TEXT NOT NULL, rule TEXT, project TEXT, created_at TEXT NOT NULL, next_at TEXT,"
        " dismissed INTEGER NOT NULL, dismissed_at TEXT, notified_at TEXT, occurrences TEXT NOT NULL, origin TEXT,"
        " newer INTEGER NOT NULL",
    }
    indexes = ("CREATE INDEX IF NOT EXISTS reminders_next ON reminders (next_at) WHERE next_at IS NOT NULL",)

    def derive(self, state: State, event: Event) -> None:
        if event.kind == "reminder.dismissed":
            state["x"].setdefault("dismissed", {})[event.data["occurrence"]] = event.shown
        elif event.kind == "reminder.notified":
            state["x"].setdefault("notified", {})[event.data["occurrence"]] = event.shown

    def conflicts(self, state: State) -> list[str]:
        return [name for name in register.conflicts(state) if not self._settled(name, state)]

    @staticmethod
    def _settled(name: str, state: State) -> bool:
        return name.startswith(_PREFIX) and any(_is_dismissal(head) for head in state["r"][name])

    @staticmethod
    def occurrences(state: State) -> dict[str, dict[str, Any]]:
        """What stands of each occurrence: {"dismissed": true} or {"until": moment}."""
        found: dict[str, dict[str, Any]] = {}
        for name, heads in state["r"].items():
            if name.startswith(_PREFIX) and heads:
                said = {"dismissed": True} if any(map(_is_dismissal, heads)) else heads[-1][1]
                if type(said) is dict:
                    found[name[len(_PREFIX) :]] = said
        return found

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        when = register.value(state, "when") or {"due": "1970-01-01T00:00", "zone": "UTC"}
        rule = when.get("rule")
        said = self.occurrences(state)
        dismissed_at = state["x"].get("dismissed", {}).get(when["due"])
        closed = closed_through(when, said) if said else ""
        dismissed = rule is None and bool(closed)
        due = _utc(when)
        # Where nothing was said of the first occurrence, that is the next one.
        following = _next_at(when, said, closed) if closed or when["due"] in said else due
        notified = state["x"].get("notified", {})
        yield (
            "reminders",
            (
                entity,
                register.value(state, "what") or "",
                due,
                when["due"],
                when["zone"],
                None if rule is None else orjson.dumps(rule, option=orjson.OPT_SORT_KEYS).decode(),
                register.value(state, "project"),
                state["c"],
                None if dismissed else following,
                int(dismissed),
                dismissed_at if dismissed else None,
                max(notified.values(), default=None),
                orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode(),
                register.value(state, "origin"),
                int("n" in state),
            ),
        )

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        if name == "deleted":
            return ("reminder.deleted", {}) if value else ("reminder.restored", {"register": "deleted"})
        if name.startswith(_PREFIX):
            if not value:
                return "reminder.restored", {"register": name}
            occurrence = name[len(_PREFIX) :]
            if value.get("dismissed"):
                return "reminder.dismissed", {"occurrence": occurrence}
            return "reminder.snoozed", {"occurrence": occurrence, "until": value["until"]}
        return "reminder.edited", {name: value}


def _is_dismissal(head: Head) -> bool:
    value = head[1]
    return type(value) is dict and bool(value.get("dismissed"))


def _utc(when: dict[str, Any]) -> str:
    from mait_code.projections import zones

    return _text(zones.to_utc(when["due"], when["zone"]))


def _text(moment: datetime) -> str:
    """20 characters. A third of the time that strftime takes, which counts where every reminder is folded anew."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def closed_through(when: dict[str, Any], said: dict[str, dict[str, Any]]) -> str:
    """The latest occurrence that was dismissed, and those before it with it; empty where none was.

    A dismissal that names no occurrence of the present rule is about an earlier time of the reminder, and closes none.
    """
    from mait_code.projections import recurrence

    due, rule = when["due"], when.get("rule")
    dismissed = sorted((occurrence for occurrence, one in said.items() if one.get("dismissed")), reverse=True)
    if rule is None:
        return due if due in dismissed else ""
    for occurrence in dismissed:
        try:
            if recurrence.latest(due, rule, occurrence) == occurrence:
                return occurrence
        except BadInput:
            continue
    return ""


def _next_at(when: dict[str, Any], said: dict[str, dict[str, Any]], closed: str) -> str | None:
    """The earliest moment (UTC, 20 characters) at which something of this reminder could be overdue, when the occurrences
    through `closed` are dismissed."""
    from mait_code.projections import recurrence, zones

    due, zone, rule = when["due"], when["zone"], when.get("rule")
    if closed and rule is None:
        return None
    try:
        at = recurrence.next_after(due, rule, closed) if closed else due
        if at is None:
            return None
        moment = zones.to_utc(at, zone)
        until = said.get(at, {}).get("until")
        if until:
            moment = zones.to_utc(until["due"], until["zone"])
            following = recurrence.next_after(due, rule, at)
            if following is not None:
                moment = min(moment, zones.to_utc(following, zone))
    except (ValueError, OverflowError, BadInput):
        # A time no calendar has: shown as it stands, and looked at by every check.
        return "1970-01-01T00:00:00Z"
    return _text(moment)
