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


def _created(event: Event) -> bool:
    """Whether an event made its entity: things known by their name are mentioned again and again."""
    return event.declared.creates and not event.sees


def _written(event: Event) -> dict[str, Any]:
    """What an event writes, by register."""
    return dict(event.declared.writes(event.id, event.data))


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
        self._events: dict[str, tuple[dict[str, Event], dict[str, list[Event]]]] = {}

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
        part = store.part(event.entity)
        for name, value in _written(event).items():
            if name in part.naming or (event.entity, name) in self._done:
                continue
            before = self._before(store, event, name)
            if event.declared.creates and before == value:
                continue  # a thing known by its name was only mentioned once more
            kind, data = part.inverse(name, before, state)
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
        said = part.unsaid(event)
        if said is not None and said[0] in merged:
            _add(merged[said[0]][0], said[1])
        elif said is not None:
            self.inverses.append((said[0], event.entity, said[1], {}))

    def _own_heads(self, store: Store, event: Event, state: State, name: str) -> list[str]:
        """The heads of a register that this action wrote. There must be one: else something was written on top."""
        heads = [head[0] for head in state["r"].get(name, ())]
        mine = [one for one in heads if self._origins(store, event.entity, name, one) & self.ids]
        if not mine:
            self._refuse(store, event, state, name, heads[-1] if heads else "")
        if name != "deleted" and register.is_deleted(state):
            self._refuse(store, event, state, "deleted", state["r"]["deleted"][-1][0])
        return mine

    def _before(self, store: Store, event: Event, name: str) -> Any:
        """The value of a register before the action: of the heads its first write there saw, the largest's."""
        first = next(one for one in self.action if one.entity == event.entity and name in _written(one))
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
        """What a deletion that is written again may say to have known: what it knew the first time, and the undos since
        that brought nothing but that back.

        What was written since would be lost with it, so there must be nothing; what came from elsewhere without either
        side knowing stays unnamed, and the conflict about it is open again.
        """
        before = [lookup.event(store, id_) for id_ in event.sees.get("deleted", ())]
        named = {head for one in before if one is not None for head in one.sees.get("*", ())}
        found = set(named)
        events, _by_action = self._history(store, event.entity)
        for name, heads in state["r"].items():
            later = [head[0] for head in heads if head[0] in events and events[head[0]].key >= event.key]
            if name == "deleted" or not later:
                continue
            writes = [one for one in named if one in events and name in _written(events[one])]
            known = {""}.union(*(self._origins(store, event.entity, name, one) for one in writes))
            for one in later:
                origins = self._origins(store, event.entity, name, one)
                if origins <= known:
                    found.add(one)
                elif self._since(store, event, origins):
                    self._refuse(store, event, state, name, one)
        return sorted(found)

    def _since(self, store: Store, event: Event, origins: set[str]) -> list[Event]:
        """Those of some writes that are not the action's own and later than an event of it."""
        events, _by_action = self._history(store, event.entity)
        found = (events.get(id_) for id_ in origins - self.ids)
        return [one for one in found if one is not None and one.key >= event.key]

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
        found = self._origins(store, entity, name, id_)
        return bool(found) and found <= self.ids | {""}

    def _origins(self, store: Store, entity: str, name: str, id_: str) -> set[str]:
        """The writes whose value a head carries: an undo stands for what the action it took back had seen. An empty id
        stands for a register that nothing had written."""
        events, by_action = self._history(store, entity)
        found: set[str] = set()
        passed: set[str] = set()
        ahead = [id_]
        while ahead:
            one = ahead.pop()
            event = events.get(one)
            if one in self.ids or event is None or not event.undoes:
                found.add(one)
            elif one not in passed:
                passed.add(one)
                taken = by_action.get(event.undoes, ())
                seen = next((each for each in taken if name in _written(each)), event).sees.get(name)
                ahead += seen or ()
                if not seen:
                    found.add("")
        return found

    def _history(self, store: Store, entity: str) -> tuple[dict[str, Event], dict[str, list[Event]]]:
        """The events of an entity that this program understands, by their id and by their action."""
        known = self._events.get(entity)
        if known is None:
            known = self._events[entity] = {}, {}
            for one in store.events_of(entity):
                if not isinstance(one, Future):
                    known[0][one.id] = one
                    known[1].setdefault(one.tx, []).append(one)
        return known

    def _refuse(self, store: Store, event: Event, state: State, name: str, by: str) -> None:
        """Say what stands in the way: of an undo, the write whose value it brought back, as taking back the undo would
        only do again what was there."""
        called = self._called(store, event.entity, state)
        since = self._since(store, event, self._origins(store, event.entity, name, by)) if by else []
        later = max(since, key=lambda one: one.key) if since else lookup.event(store, by) if by else None
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
