"""The inverse events of an action.

They name only the heads that the action wrote. Were they to name all heads, an undo would swallow a conflict that
nobody picked. Where something was written on top of the action since, the plan refuses and says what.
"""

from __future__ import annotations

from mait_code.commands import lookup
from mait_code.commands.times import local
from mait_code.journal.errors import Refused
from mait_code.journal.event import Event, Future
from mait_code.journal.kinds import KINDS
from mait_code.projections import register
from mait_code.projections.cards import Cards
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Sees
    from mait_code.projections.register import State
    from mait_code.projections.store import Store

#: Undos of undos of one write are followed this far back.
_DEEPEST = 200


def _created(event: Event) -> bool:
    """Whether an event made its entity: things known by their name are mentioned again and again."""
    return event.declared.creates and not event.sees


def _add(data: dict[str, Any], more: dict[str, Any]) -> None:
    """Put the fields of one inverse into those of another of the same kind; lists (of tags) grow."""
    for key, value in more.items():
        data[key] = data[key] + value if type(value) is list and key in data else value


class Plan:
    """Collects the inverses of an action's events, given in reverse. Made and used under the append lock.

    `inverses` holds (kind, entity, data, sees) in the order in which they are to be written.
    """

    def __init__(self, ws: Workspace, action: list[Event]) -> None:
        self.ws = ws
        self.action = action
        self.ids = {event.id for event in action}
        self.created = {event.entity for event in action if _created(event)}
        self.inverses: list[tuple[str, str, dict[str, Any], Sees]] = []
        self._done: set[tuple[str, str]] = set()
        self._events: dict[str, list[Event]] = {}

    def take_back(self, event: Event) -> None:
        """Add what takes one event back. Raises Refused."""
        store = self.ws.store(HOLDS[event.entity.partition("/")[0]])
        state = store.state(event.entity)
        if state is None:
            raise Refused(f"{event.entity} is not here any more", "mait-code doctor shows what is missing")
        if _created(event):
            self._delete(store, event, state)
        elif event.entity not in self.created:  # what was created goes as a whole
            self._write_back(store, event, state)

    # -- a thing that was created -------------------------------------------------------------------------------------

    def _delete(self, store: Store, event: Event, state: State) -> None:
        """Undo of created deletes, unless somebody has worked on the thing since."""
        if register.is_deleted(state):
            called = self._called(store, event.entity, state)
            raise Refused(f"{called} is deleted already", f"mait-code history {event.entity} shows by whom")
        for name, heads in state["r"].items():
            for head in heads:
                if name != "deleted" and not self._is_own(store, event.entity, name, head[0]):
                    self._refuse(store, event, state, name, head[0])
        sees: Sees = {"*": sorted({head[0] for heads in state["r"].values() for head in heads})}
        undeleted = [head[0] for head in state["r"].get("deleted", ())]
        if undeleted:
            sees["deleted"] = undeleted
        kind, data = store.part(event.entity).inverse("deleted", True, state)
        self.inverses.append((kind, event.entity, data, sees))

    # -- registers that were written ----------------------------------------------------------------------------------

    def _write_back(self, store: Store, event: Event, state: State) -> None:
        """Give each register that an event wrote the value it had before the action, all fields in one event."""
        merged: dict[str, tuple[dict[str, Any], Sees]] = {}
        for name, value in event.declared.writes(event.id, event.data):
            if (event.entity, name) in self._done:
                continue
            before = self._before(store, event, name)
            if event.declared.creates and before == value:
                continue  # a thing known by its name was only mentioned once more
            kind, data = store.part(event.entity).inverse(name, before, state)
            sees: Sees = {}
            for written, _new in KINDS[kind].writes("", data):
                self._done.add((event.entity, written))
                sees[written] = self._own_heads(store, event, state, written)
            if name == "deleted" and before:
                sees["*"] = self._known_to_deletion(store, event, state)
            if kind.endswith(".edited") and kind in merged:
                _add(merged[kind][0], data)
                merged[kind][1].update(sees)
                continue
            merged[kind] = (data, sees)
            self.inverses.append((kind, event.entity, data, sees))
            if name == "column":
                self._bind_again(store, event, state, before)

    def _own_heads(self, store: Store, event: Event, state: State, name: str) -> list[str]:
        """The heads of a register that this action wrote. There must be one: else something was written on top."""
        heads = [head[0] for head in state["r"].get(name, ())]
        mine = [one for one in heads if self._origins(store, event.entity, name, one, 0) & self.ids]
        if not mine:
            self._refuse(store, event, state, name, heads[-1] if heads else "")
        if name != "deleted" and register.is_deleted(state):
            self._refuse(store, event, state, "deleted", state["r"]["deleted"][-1][0])
        return mine

    def _before(self, store: Store, event: Event, name: str) -> Any:
        """The value of a register before the action: of the heads its first write there saw, the largest's."""
        first = next(
            one
            for one in self.action
            if one.entity == event.entity and name in dict(one.declared.writes(one.id, one.data))
        )
        ids = first.sees.get(name, ())
        known = sorted((one for one in (lookup.event(store, id_) for id_ in ids) if one), key=lambda one: one.key)
        if ids and not known:
            what = f"{lookup.field_words(name)} of {self._called(store, event.entity, store.state(event.entity))}"
            raise Refused(
                f"what {what} was before is not known here", "mait-code doctor shows which events are missing"
            )
        if name == "deleted":
            return any(lookup.written(one, name) for one in known)
        return lookup.written(known[-1], name) if known else None

    def _known_to_deletion(self, store: Store, event: Event, state: State) -> list[str]:
        """What a deletion that is written again may say to have known: what it knew the first time.

        Heads written since would be lost with it, so there must be none; heads that came from elsewhere without either
        side knowing stay unnamed, and the conflict about them is open again.
        """
        for name, heads in state["r"].items():
            for head in heads:
                later = lookup.event(store, head[0])
                if later is None or later.key < event.key or name == "deleted":
                    continue
                if not self._is_own(store, event.entity, name, head[0]):
                    self._refuse(store, event, state, name, head[0])
        before = [lookup.event(store, id_) for id_ in event.sees.get("deleted", ())]
        return sorted({head for one in before if one is not None for head in one.sees.get("*", ())})

    def _bind_again(self, store: Store, event: Event, state: State, before: Any) -> None:
        """A claim leans on the column: leaving in_progress released it, so coming back brings it back; and a card that
        somebody claimed since it was moved there is not moved away under their hands."""
        held = state["r"].get("binding", ())
        if not held:
            return
        if Cards.binding(state) is not None and not self._is_own(store, event.entity, "binding", held[-1][0]):
            self._refuse(store, event, state, "binding", held[-1][0])
        if before == "in_progress" and state["x"].get("released") and held[-1][1]:
            self._done.add((event.entity, "binding"))
            sees = {"binding": [held[-1][0]]}
            self.inverses.append(("card.bound", event.entity, {"by": held[-1][1]}, sees))

    # -- whose is it --------------------------------------------------------------------------------------------------

    def _is_own(self, store: Store, entity: str, name: str, id_: str) -> bool:
        """Whether a head is the action's own, or an undo that brought the action's own value back."""
        found = self._origins(store, entity, name, id_, 0)
        return bool(found) and found <= self.ids | {""}

    def _origins(self, store: Store, entity: str, name: str, id_: str, depth: int) -> set[str]:
        """The writes whose value a head carries: an undo stands for what the action it took back had seen. An empty id
        stands for a register that nothing had written."""
        if id_ in self.ids or depth > _DEEPEST:
            return {id_}
        events = self._events.get(entity)
        if events is None:
            events = self._events[entity] = store.events_of(entity)
        event = next((one for one in events if one.id == id_), None)
        if event is None or not event.undoes:
            return {id_}
        taken = [one for one in events if one.tx == event.undoes and not isinstance(one, Future)]
        first = next((one for one in taken if name in dict(one.declared.writes(one.id, one.data))), event)
        seen = first.sees.get(name, [])
        return {origin for one in seen for origin in self._origins(store, entity, name, one, depth + 1)} or {""}

    def _refuse(self, store: Store, event: Event, state: State, name: str, by: str) -> None:
        called = self._called(store, event.entity, state)
        later = lookup.event(store, by) if by else None
        if later is None:
            raise Refused(
                f"{lookup.field_words(name)} of {called} was changed since",
                f"mait-code history {event.entity} shows what happened",
            )
        machine = self.ws.log.labels().get(later.replica, later.replica)
        did = {"comment": "was commented on", "deleted": "was deleted", "binding": "was claimed"}.get(
            name.partition(":")[0], ""
        )
        what = f"{called} {did}" if did else f"{lookup.field_words(name)} of {called} was changed"
        raise Refused(
            f"{what} since, by {later.actor} on {machine}, {local(later.shown)}",
            f"take that back first: mait-code undo {later.tx[:8]}",
        )

    @staticmethod
    def _called(store: Store, entity: str, state: State | None) -> str:
        return f"{entity.partition('/')[0]} {lookup.short(store, entity, state)}"
