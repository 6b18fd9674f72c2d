"""Conflicts: fields that were changed on two machines without either knowing of the other. Both sides are kept."""

from __future__ import annotations

from mait_code.commands import lookup
from mait_code.journal.errors import BadInput, NotFound
from mait_code.projections import register
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event
    from mait_code.projections.register import State
    from mait_code.projections.store import Store


class Side:
    """One side of a conflict: a value, and who wrote it, where and when. `stands` marks the value shown meanwhile."""

    __slots__ = ("event", "machine", "stands", "value")

    def __init__(self, value: Any, event: Event | None, machine: str, stands: bool) -> None:
        self.value = value
        self.event = event
        self.machine = machine
        self.stands = stands

    def json(self) -> dict[str, Any]:
        event = self.event
        return {
            "value": self.value,
            "stands": self.stands,
            "actor": event.actor if event else None,
            "machine": self.machine or None,
            "replica": event.replica if event else None,
            "time": event.shown if event else None,
            "event": event.id if event else None,
        }


class Conflict:
    """A register of an entity with its sides, in order; `pick` numbers them from 1."""

    __slots__ = ("entity", "register", "short", "sides", "store", "title")

    def __init__(self, store: Store, entity: str, name: str, short: str, title: str, sides: list[Side]) -> None:
        self.store = store
        self.entity = entity
        self.register = name
        self.short = short
        self.title = title
        self.sides = sides

    @property
    def field(self) -> str:
        """The register's name as people see it."""
        return lookup.shown_register(self.register)

    def json(self) -> dict[str, Any]:
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
    found = []
    for name in NAMES:
        store = ws.reading(name)
        for entity, registered in store.conflicted():
            found.append(_conflict(ws, store, entity, registered))
    return found


def of(ws: Workspace, text: str, field: str | None = None) -> list[Conflict]:
    """The conflicts of the thing that `text` names, or the one of its field. Raises NotFound where there is none."""
    store, entity = lookup.find(ws, text)
    names = [name for one, name in store.conflicted() if one == entity]
    if field is not None:
        names = [name for name in names if name == lookup.register_named(field)]
    if not names:
        what = f"{field} of {text}" if field else text
        raise NotFound(f"{what} is not in conflict", "`conflicts list` shows what is")
    return [_conflict(ws, store, entity, name) for name in names]


def pick(ws: Workspace, conflict: Conflict, number: int) -> Event:
    """Close a conflict with the value of side `number` (from 1). Decided on what is true under the lock."""
    if not 1 <= number <= len(conflict.sides):
        raise BadInput(
            f"there is no side {number}",
            f"the sides of {conflict.short} {conflict.field} go from 1 to {len(conflict.sides)}",
        )
    side = conflict.sides[number - 1]
    store = conflict.store
    with ws.journal.writing(store) as writer:
        state = store.state(conflict.entity)
        if state is None or conflict.register not in store.projection.conflicts(state):
            raise NotFound(
                f"{conflict.field} of {conflict.short} is not in conflict any more", "somebody picked already"
            )
        kind, data = store.projection.inverse(conflict.register, side.value, "", state)
        event = writer.append(kind, conflict.entity, **data)
    return event


def _conflict(ws: Workspace, store: Store, entity: str, name: str) -> Conflict:
    state = store.state(entity)
    assert state is not None, "a row of `conflicts` is written with the state"
    labels = ws.log.labels()
    sides = _deletion_sides(store, state, labels) if name == "deleted" else _sides(store, state, name, labels)
    return Conflict(store, entity, name, lookup.short(store, entity, state), lookup.title(state), sides)


def _sides(store: Store, state: State, name: str, labels: dict[str, str]) -> list[Side]:
    """A side for each head; heads that agree are one side, told by the latest of them."""
    sides: list[Side] = []
    for id_, value, *_rest in state["r"][name]:
        event = lookup.event(store, id_)
        side = Side(value, event, labels.get(event.replica, "") if event else "", False)
        sides = [one for one in sides if one.value != value]
        sides.append(side)
    sides[-1].stands = True
    return sides


def _deletion_sides(store: Store, state: State, labels: dict[str, str]) -> list[Side]:
    """Deleted on one side; kept, or worked on, on the other."""
    deletions = [head[0] for head in state["r"]["deleted"] if head[1]]
    kept = [head[0] for head in state["r"]["deleted"] if not head[1]]
    for name in register.unseen_by_deletion(state):
        kept += [head[0] for head in state["r"][name]]
    sides = []
    for value, ids in ((True, deletions), (False, kept)):
        events = sorted((one for one in (lookup.event(store, id_) for id_ in ids) if one), key=lambda one: one.key)
        last = events[-1] if events else None
        sides.append(Side(value, last, labels.get(last.replica, "") if last else "", value))
    return sides
