"""Finding a thing by what people call it, whatever kind of thing it is."""

from __future__ import annotations

from mait_code.journal.errors import Ambiguous, NotFound, Refused
from mait_code.journal.event import Event, parse
from mait_code.projections import ids, register
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.register import State
    from mait_code.projections.store import Store

#: Stores whose things short ids are sought among, in the order they are tried.
SEARCHED = ("board", "inbox", "reminders", "memory")
#: Registers that go by another name in tables, JSON and conflicts.
SHOWN_AS = {"column": "status"}


def find(ws: Workspace, text: str) -> tuple[Store, str]:
    """The store and entity (`type/id`) that `text` names. Raises NotFound, or Ambiguous with the candidates."""
    kind = text.strip().lower().partition("/")[0]
    if "/" in text and kind in HOLDS:
        store = ws.reading(HOLDS[kind])
        return store, ids.resolve(store, text, (kind,))
    found: list[tuple[Store, str]] = []
    for name in SEARCHED:
        store = ws.reading(name)
        try:
            found.append((store, ids.resolve(store, text, store.types)))
        except NotFound:
            continue
    if not found:
        raise NotFound(f"nothing here is called {text!r}", "the list commands show the ids")
    if len(found) > 1:
        names = [entity for _store, entity in found]
        raise Ambiguous(f"{text!r} names several: {', '.join(names)}", names, "give one of these")
    return found[0]


def short(store: Store, entity: str, state: State | None = None) -> str:
    """The short id of an entity (`type/id`)."""
    if state is None:
        state = store.state(entity)
    number = None if state is None else store.part(entity).number(state)
    type_, _, id_ = entity.partition("/")
    return ids.short_of(store, id_, number, type_)


def title(state: State | None) -> str:
    """A few words that say which thing it is."""
    if state is None:
        return ""
    for name in ids.TITLES:
        text = register.value(state, name)
        if isinstance(text, str) and text:
            first = text.strip().partition("\n")[0]
            return first if len(first) <= 72 else first[:71] + "…"
    return ""


def shown_register(name: str) -> str:
    """A register's name as people and JSON see it."""
    return SHOWN_AS.get(name, name)


def field_words(name: str) -> str:
    """A register's name in a sentence for people."""
    head, _, rest = name.partition(":")
    if head == "tag":
        return f"tag {rest}"
    if head in ("comment", "reference"):
        return f"a {head}"
    if head == "link":
        return f"the relation {rest.replace(':', ' ')}"
    if head == "occurrence":
        return f"the occurrence of {rest.replace('T', ' ')}"
    return {"column": "status", "binding": "the claim", "deleted": "deletion"}.get(name, name.replace("_", " "))


def register_named(text: str) -> str:
    """The inverse of `shown_register`."""
    return {shown: name for name, shown in SHOWN_AS.items()}.get(text, text)


def event(store: Store, id_: str) -> Event | None:
    """An event of a store by its id; of several copies the one that is folded."""
    line = store.value("SELECT line FROM events WHERE id = ? ORDER BY at, replica, seq, line LIMIT 1", (id_,))
    found = parse(line) if isinstance(line, bytes) else None
    return found if isinstance(found, Event) else None


def written(found: Event, name: str) -> Any:
    """What an event wrote to register `name`; None where it wrote nothing there."""
    return dict(found.declared.writes(found.id, found.data)).get(name)


def words(value: Any) -> str:
    """A register's value for people."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return _said(value)
    return str(value)


def _said(value: dict[str, Any]) -> str:
    """What an object says: a reminder's time, what became of an occurrence or an item, who holds a card."""
    if "due" in value:
        rule = value.get("rule")
        if rule:
            from mait_code.projections.recurrence import describe

            rule = f", {describe(rule)}"
        return f"{str(value['due']).replace('T', ' ')} {value.get('zone', '')}{rule or ''}"
    if value.get("dismissed"):
        return "dismissed"
    if "until" in value:
        return f"put off until {words(value['until'])}"
    if "outcome" in value:
        return f"{value['outcome']}, as {value['ref']}" if value.get("ref") else str(value["outcome"])
    return ", ".join(f"{key} {words(one)}" for key, one in value.items())


def absent(text: str, gone: Any, restoring: str) -> Refused:
    """Why an id that is known names nothing to work on: it was deleted (`gone` is what it was, else None), and the command
    `restoring` brings it back; or a newer program wrote it."""
    if gone is None:
        return Refused(
            f"{text} cannot be read yet: it was written by a newer version", "update mait-code on this machine"
        )
    hint = f"mait-code {restoring} {gone.short} brings it back"
    if gone.conflicts:
        hint = f"it was changed elsewhere at the same time: see mait-code conflicts; {hint}"
    return Refused(f"{gone.short} was deleted", hint)
