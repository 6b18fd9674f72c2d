"""Conflicts: fields that were changed on two machines without either knowing of the other. Both sides are kept."""

from __future__ import annotations

import orjson

from mait_code.commands import lookup
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.projections import register
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event
    from mait_code.projections.register import State
    from mait_code.projections.store import Store


#: Registers that hold a thing: what stands in the place of this one.
_THINGS = ("superseded", "merged")


class Side:
    """One side of a conflict: a value, and who wrote it, where and when. `stands` marks the value shown meanwhile.

    `fields` names what was written beside a deletion, on the side that kept the thing.
    """

    __slots__ = ("event", "fields", "machine", "stands", "value")

    def __init__(self, value: Any, event: Event | None, machine: str, stands: bool, fields: list[str]) -> None:
        self.value = value
        self.event = event
        self.machine = machine
        self.stands = stands
        self.fields = fields

    @property
    def who(self) -> str:
        """Who wrote it, where and when, for people."""
        if self.event is None:
            return "by whom is not known here"
        from mait_code.commands.times import local

        return f"{self.event.actor} on {self.machine or self.event.replica}, {local(self.event.shown)}"

    def json(self) -> dict[str, Any]:
        event = self.event
        return {
            "value": self.value,
            "stands": self.stands,
            "fields": self.fields,
            "actor": event.actor if event else None,
            "machine": self.machine or None,
            "replica": event.replica if event else None,
            "time": event.shown if event else None,
            "event": event.id if event else None,
        }


class Conflict:
    """A register of an entity with its sides, in order; `pick` numbers them from 1. `heads` is what was seen of it."""

    __slots__ = ("entity", "heads", "register", "short", "sides", "store", "title")

    def __init__(self, store: Store, entity: str, name: str, state: State, sides: list[Side]) -> None:
        self.store = store
        self.entity = entity
        self.register = name
        self.short = lookup.short(store, entity, state)
        self.title = lookup.title(state)
        self.sides = sides
        self.heads = _heads(state, name)

    @property
    def field(self) -> str:
        """The register's name as JSON has it and as `pick` takes it."""
        return lookup.shown_register(self.register)

    def words(self, side: Side) -> str:
        """The value of a side for people."""
        if self.register == "deleted":
            if side.value:
                return "deleted"
            return f"kept, with {', '.join(side.fields)}" if side.fields else "kept"
        head, _, rest = self.register.partition(":")
        if head == "tag":
            return f"with tag {rest}" if side.value else f"without tag {rest}"
        if self.register in _THINGS and side.value is None:
            return f"not {self.register}"
        if self.register in _THINGS:
            return self._thing(str(side.value))
        return lookup.words(side.value)

    def _thing(self, entity: str) -> str:
        """What a side names: its short id and the beginning of what it says."""
        state = self.store.state(entity)
        if state is None:
            return entity
        gone = ", which is deleted" if register.is_deleted(state) else ""
        return f"{lookup.short(self.store, entity, state)}: {lookup.title(state)}{gone}"

    def json(self) -> dict[str, Any]:
        """The conflict as `--json` prints it."""
        kind, _, id_ = self.entity.partition("/")
        return {
            "kind": kind,
            "id": id_,
            "short": self.short,
            "title": self.title,
            "field": self.field,
            "sides": [side.json() for side in self.sides],
        }


def listed(ws: Workspace) -> list[Conflict]:
    """Every open conflict."""
    labels = ws.log.labels()
    found = []
    for name in NAMES:
        store = ws.reading(name)
        found += [_conflict(store, entity, registered, labels) for entity, registered in store.conflicted()]
    return found


def of(ws: Workspace, text: str, field: str | None = None) -> list[Conflict]:
    """The conflicts of the thing that `text` names, or the one of its field. Raises NotFound where there is none."""
    store, entity = lookup.find(ws, text)
    names = store.conflicts_of(entity.partition("/")[2])
    if field is not None:
        wanted = lookup.register_named(field.strip().lower())
        names = [name for name in names if wanted in (name.lower(), lookup.field_words(name).lower())]
    if not names:
        kind, called = entity.partition("/")[0], lookup.short(store, entity)
        what = f"{field} of {kind} {called}" if field else f"{kind} {called}"
        raise NotFound(f"{what} is not in conflict", "mait-code conflicts lists what is")
    labels = ws.log.labels()
    return [_conflict(store, entity, name, labels) for name in names]


def pick(ws: Workspace, conflict: Conflict, number: int) -> Event:
    """Close a conflict with the value of side `number` (from 1). Its title is then what it is called now.

    Decided under the lock: raises NotFound where it is closed already, and Refused where another side came in since the
    conflict was read, for that one has been seen by nobody.
    """
    count = len(conflict.sides)
    if not 1 <= number <= count:
        raise BadInput(
            f"there is no side {number}", f"the sides of {conflict.short} {conflict.field} go from 1 to {count}"
        )
    side = conflict.sides[number - 1]
    store = conflict.store
    with ws.journal.writing(store) as writer:
        state = store.state(conflict.entity)
        if state is None or conflict.register not in store.part(conflict.entity).conflicts(state):
            raise NotFound(
                f"{conflict.field} of {conflict.short} is not in conflict any more", "somebody picked already"
            )
        if _heads(state, conflict.register) != conflict.heads:
            raise Refused(
                f"{conflict.field} of {conflict.short} was changed again meanwhile",
                f"look again: mait-code conflicts show {conflict.short}",
            )
        kind, data = store.part(conflict.entity).inverse(conflict.register, side.value, state)
        writer.verbatim = True
        event = writer.append(kind, conflict.entity, **data)
    ws.refreshed(store.name.partition(".")[0])
    conflict.title = lookup.title(store.state(conflict.entity))
    return event


def _heads(state: State, name: str) -> list[str]:
    """The ids that a conflict is about; of a deletion also those of what was written beside it."""
    names = [name, *(register.unseen_by_deletion(state) if name == "deleted" else ())]
    return [head[0] for one in names for head in state["r"].get(one, ())]


def _conflict(store: Store, entity: str, name: str, labels: dict[str, str]) -> Conflict:
    state = store.state(entity)
    assert state is not None, "a row of `conflicts` is written with the state"
    sides = _deletion_sides(store, state, labels) if name == "deleted" else _sides(store, state, name, labels)
    return Conflict(store, entity, name, state, sides)


def _sides(store: Store, state: State, name: str, labels: dict[str, str]) -> list[Side]:
    """A side for each head; heads that agree are one side, told by the latest of them."""
    sides: dict[bytes, Side] = {}
    for id_, value, *_rest in state["r"][name]:
        event = lookup.event(store, id_)
        key = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        sides.pop(key, None)
        sides[key] = Side(value, event, labels.get(event.replica, "") if event else "", False, [])
    found = list(sides.values())
    found[-1].stands = True
    return found


def _deletion_sides(store: Store, state: State, labels: dict[str, str]) -> list[Side]:
    """Deleted on one side; kept, or worked on, on the other."""
    deletions = [head[0] for head in state["r"]["deleted"] if head[1]]
    kept = [head[0] for head in state["r"]["deleted"] if not head[1]]
    changed = register.unseen_by_deletion(state)
    for name in changed:
        kept += [head[0] for head in state["r"][name]]
    fields = list(dict.fromkeys(lookup.field_words(name) for name in changed))
    sides = []
    for value, ids in ((True, deletions), (False, kept)):
        events = sorted((one for one in (lookup.event(store, id_) for id_ in ids) if one), key=lambda one: one.key)
        last = events[-1] if events else None
        sides.append(Side(value, last, labels.get(last.replica, "") if last else "", value, [] if value else fields))
    return sides
