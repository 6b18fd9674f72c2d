"""Reminders: setting, listing, checking, putting off, dismissing.

Functions take a Workspace and plain values and return the reminder as it is afterwards. `now` is an aware datetime; the
command line passes the clock's, tests pass any.
"""

from __future__ import annotations

from mait_code.commands import stored_text
from mait_code.journal.errors import BadInput, Refused
from mait_code.projections import ids, register, reminder_queries
from mait_code.projections.reminder_queries import Reminder, one
from mait_code.projections.reminders import closed_through

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

#: How long a reminder is put off where nobody says.
DEFAULT_SNOOZE = "1h"


def listing(ws: Workspace, now: datetime, every: bool = False) -> list[Reminder]:
    """Reminders by when they are due, overdue ones first; with `every` the dismissed ones too, last."""
    return reminder_queries.listing(ws.reminders, now, every)


def overdue(ws: Workspace, now: datetime) -> list[Reminder]:
    """What is overdue, longest first."""
    return reminder_queries.overdue(ws.reminders, now)


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
    """What to be reminded of, ready to be stored, and notes about what was changed. BadInput where it is empty."""
    texts, notes = stored_text.fitted({"text": stored_text.required(what, "the reminder's text")})
    return texts["text"], notes


def set_reminder(
    ws: Workspace, when: str, what: str, now: datetime, project: str | None = None, *, apart: bool = False
) -> Reminder:
    """Set a reminder. Raises BadInput for a time that cannot be read, Refused for one that is past. `apart`: time and text
    were asked for one by one, so that no word of the one can have slipped into the other."""
    text, notes = text_of(what)
    data: dict[str, Any] = {"what": text, "when": when_of(when, now)}
    if not apart:
        _refuse_unquoted(when, text, now)
    if project and project.strip():
        data["project"] = stored_text.name(project, "the project")
    with ws.journal.writing(ws.store("reminders")) as writer:
        event = writer.append("reminder.set", **data)
    return _after(ws, event.entity, now, notes)


def _refuse_unquoted(when: str, what: str, now: datetime) -> None:
    """Refuse `set friday 8am flight`: without quotes the hour is taken for text, and the reminder comes late."""
    from mait_code.commands.when import continues
    from mait_code.projections.zones import local_zone

    word = what.split(maxsplit=1)[0]
    if len(when.split()) > 1:
        return  # it was quoted
    if continues(when, word, now, local_zone()):
        raise BadInput(
            f"the text begins with {word!r}, which reads as part of the time",
            f'quote the time: "{when} {word}"; or begin the text with another word',
        )


def _after(ws: Workspace, entity: str, now: datetime, notes: list[str] | None = None) -> Reminder:
    """The reminder as it is after this process wrote, with what is to be told."""
    found = one(ws.refreshed("reminders"), entity, now)
    if found is None:
        raise Refused(
            f"{entity} was deleted by another process meanwhile", "mait-code reminders restore brings it back"
        )
    found.notes.extend(notes or ())
    return found


def edit(
    ws: Workspace,
    text: str,
    now: datetime,
    *,
    when: str | None = None,
    what: str | None = None,
    project: str | None = None,
    check: Callable[[Reminder], None] | None = None,
) -> Reminder:
    """Change text, time or project. A new time makes a dismissed reminder stand again. `check` sees the reminder under
    the lock, and may raise."""
    asked: dict[str, Any] = {}
    notes: list[str] = []
    if what is not None:
        asked["what"], notes = text_of(what)
    if when is not None:
        asked["when"] = when_of(when, now)
    if project is not None:
        asked["project"] = stored_text.name(project, "the project") if project.strip() else None
    if not asked:
        raise BadInput("nothing to change", "give --when, --what or --project")
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        current = _living(store, found, now)
        if check is not None:
            check(current)
        changed = {name: value for name, value in asked.items() if _differs(current, name, value)}
        if changed:
            writer.append("reminder.edited", found.entity, **changed)
        due = asked.get("when", {}).get("due")
        if due in current.said:
            writer.append("reminder.restored", found.entity, register=f"occurrence:{due}")
    if not writer.events:
        notes.append(f"{found.short} is like that already; nothing changed")
    return _after(ws, found.entity, now, notes)


def _differs(current: Reminder, name: str, value: Any) -> bool:
    """Whether a field would change. One in conflict is written even with the value it shows: that settles it."""
    if name in current.conflicts:
        return True
    if name == "when":
        rule = {} if current.rule is None else {"rule": current.rule}
        return bool(value != {"due": current.due_local, "zone": current.zone} | rule)
    return bool(value != getattr(current, name))


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
        current = _living(store, found, now)
        if current.occurrence is None:
            hint = f"mait-code reminders restore {current.short} opens it again"
            raise Refused(f"reminder {current.short} is dismissed already", hint)
        moment = {"due": parsed.due, "zone": parsed.zone}
        writer.append("reminder.snoozed", found.entity, occurrence=current.occurrence, until=moment)
    return _after(ws, found.entity, now)


def dismiss(ws: Workspace, text: str, now: datetime) -> Reminder:
    """Dismiss the present occurrence; of a recurring reminder the next one then stands."""
    found = find(ws, text, now)
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        current = _living(store, found, now)
        if current.occurrence is not None:
            writer.append("reminder.dismissed", found.entity, occurrence=current.occurrence)
    notes = [] if writer.events else [f"{found.short} is dismissed already; nothing changed"]
    return _after(ws, found.entity, now, notes)


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
    """Bring a deleted reminder back, or open again what was dismissed last. Raises Refused where neither would do."""
    store = ws.store("reminders")
    with ws.journal.writing(store) as writer:
        entity = ids.resolve(store, text)
        state = store.state(entity)
        if state is not None and register.is_deleted(state):
            writer.append("reminder.restored", entity, register="deleted")
        else:
            current = one(store, entity, now)
            if current is None:
                raise _absent(store, entity)
            writer.append("reminder.restored", entity, register=f"occurrence:{_reopened(current, now)}")
    return _after(ws, entity, now)


def _reopened(current: Reminder, now: datetime) -> str:
    """The dismissed occurrence that stands again once it is opened."""
    closed = current.closed
    left = {key: said for key, said in current.said.items() if key != closed}
    if (
        not closed
        or current.standing(now, closed_through({"due": current.due_local, "rule": current.rule}, left)) != closed
    ):
        hint = f"its next is on {current.shown(now)}" if closed and current.occurrence else ""
        raise Refused(
            f"reminder {current.short} is neither deleted nor dismissed", hint or "there is nothing to restore"
        )
    return closed
