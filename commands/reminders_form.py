"""A reminder as a form: time, text and project, saved as one action."""

from __future__ import annotations

from mait_code.commands import forms, reminders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.reminder_queries import Reminder

__all__ = ["EMPTY", "create", "save", "texts", "when_words"]

#: A reminder that is not there yet.
EMPTY = {"when": "", "what": "", "project": ""}


def when_words(reminder: Reminder, now: datetime) -> str:
    """Its time in words that the time language reads back: "2026-03-03 09:00", "every Monday at 09:00 Europe/Berlin"."""
    from mait_code.projections.zones import local_zone

    day, _, clock = reminder.due_local.partition("T")
    zone = "" if reminder.zone == local_zone() else f" {reminder.zone}"
    if reminder.rule is None:
        return f"{day} {clock}{zone}"
    interval = reminder.rule.get("interval", 1)
    # Which of every two weeks it is does not show in the rule's words.
    start = _next_day(reminder, now) if interval != 1 else ""
    return f"{reminder.recurrence} at {clock}{zone}{start}"


def _next_day(reminder: Reminder, now: datetime) -> str:
    from mait_code.journal.errors import BadInput
    from mait_code.projections.recurrence import next_after
    from mait_code.projections.zones import load_zone, nominal

    zone = load_zone(reminder.zone)
    try:
        following = next_after(reminder.due_local, reminder.rule, nominal(now.astimezone(zone)))
    except (BadInput, OverflowError, ValueError):
        return ""
    following = max(following, reminder.due_local) if following else None
    return f" starting {following[:10]}" if following else ""


def texts(reminder: Reminder, now: datetime) -> dict[str, str]:
    """The fields of a reminder as a form shows them."""
    return {"when": when_words(reminder, now), "what": reminder.what, "project": reminder.project or ""}


def save(
    ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str], now: datetime, shown_at: datetime
) -> Reminder:
    """Save what a form of a reminder says, that was filled at `shown_at`. Raises ChangedMeanwhile where the reminder is not
    as `seen` any more, BadInput or Refused for a time that cannot be meant."""
    changed = forms.changed(seen, wanted)
    if not changed:
        found = reminders.find(ws, text, now)
        forms.check(found.short, seen, texts(found, shown_at))
        found.notes.append(f"{found.short} is like that already; nothing changed")
        return found
    return reminders.edit(
        ws,
        text,
        now,
        when=changed.get("when"),
        what=changed.get("what"),
        project=changed.get("project"),
        check=lambda current: forms.check(current.short, seen, texts(current, shown_at)),
    )


def create(ws: Workspace, wanted: Mapping[str, str], now: datetime) -> Reminder:
    """A new reminder as a form says it."""
    return reminders.set_reminder(ws, wanted["when"], wanted["what"], now, wanted["project"], apart=True)
