"""Undo: the inverse of an action, written as an action of its own.

Its events name only the heads that the action wrote. Were they to name all heads, an undo would swallow a conflict that
nobody picked. Where something was written on top of the action since, undo refuses and says what.
"""

from __future__ import annotations

from mait_code.commands import lookup
from mait_code.journal import replica
from mait_code.journal.errors import NotFound, Refused
from mait_code.journal.event import Event, Future
from mait_code.projections import register
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Sees
    from mait_code.projections.log import Log
    from mait_code.projections.register import State
    from mait_code.projections.store import Store

MINE = ("me", "claude")


class Undone:
    """What one undo did: the action taken back, and the events written for it."""

    __slots__ = ("action", "events", "things", "tx")

    def __init__(self, tx: str, action: list[Event], events: list[Event], things: list[str]) -> None:
        self.tx = tx
        self.action = action
        self.events = events
        #: "card 12kf Fix the login" for each thing touched.
        self.things = things


def undo(ws: Workspace, count: int = 1) -> list[Undone]:
    """Take back this machine's last `count` actions by me or claude, newest first. Undos and what is already taken back
    are passed over. Raises Refused where something later depends on one of them; those before it stay taken back."""
    done: list[Undone] = []
    for _ in range(count):
        tx = _last(ws)
        if tx is None:
            if done:
                break
            raise NotFound("nothing of yours to take back here", "`history ID` shows what happened to a thing")
        done.append(undo_action(ws, tx))
    return done


def undo_named(ws: Workspace, text: str) -> Undone:
    """Take back a named action (its tx, or a beginning of it, or the id of one of its events): an undo too, by anyone."""
    log = ws.log
    rows = log.query(
        "SELECT DISTINCT tx FROM lines WHERE id >= ? AND id < ? OR tx >= ? AND tx < ? LIMIT 3",
        (text, text + "g", text, text + "g"),
    )
    if not rows:
        raise NotFound(f"no action {text!r} here", "`log` shows the actions' ids")
    if len(rows) > 1:
        raise Refused(f"{text!r} names several actions", "give more of its letters")
    tx = rows[0][0]
    if _taken_back(log, tx):
        raise Refused(f"action {tx[:8]} is already taken back", "undo the undo to have it again")
    return undo_action(ws, tx)


def _last(ws: Workspace) -> str | None:
    log = ws.log
    identity = replica.load(ws.home)
    if identity is None:
        return None
    rows = log.db.execute(
        "SELECT tx, max(seq) AS last FROM lines WHERE replica = ? AND actor IN (?, ?) AND undoes IS NULL"
        " GROUP BY tx ORDER BY last DESC",
        (identity.replica, *MINE),
    )
    for tx, _seq in rows:
        if not _taken_back(log, tx):
            found: str = tx
            return found
    return None


def _taken_back(log: Log, tx: str, depth: int = 0) -> bool:
    """Whether an undo of the action stands, that is: was not itself taken back."""
    undos = log.query("SELECT DISTINCT tx FROM lines WHERE undoes = ? AND tx != ?", (tx, tx))
    return any(depth > 50 or not _taken_back(log, one, depth + 1) for (one,) in undos)


def undo_action(ws: Workspace, tx: str) -> Undone:
    """Write the inverse of one action. Raises Refused with the reason where that cannot be."""
    action = ws.log.action(tx)
    names = sorted(
        {HOLDS[event.entity.partition("/")[0]] for event in action if event.entity.partition("/")[0] in HOLDS}
    )
    for event in action:
        if isinstance(event, Future):
            raise Refused(f"{event.kind} was written by a newer version", "update mait-code to take it back")
    involved = [ws.store(name) for name in names]
    with ws.journal.writing(*involved) as writer:
        writer.undoes = tx
        plan = _Plan(ws, action)
        for event in reversed(action):
            plan.take_back(event)
        if not plan.inverses:
            raise Refused(f"action {tx[:8]} changed nothing that could be taken back", "`history ID` shows it")
        for kind, entity, data, sees in plan.inverses:
            writer.append(kind, entity, sees=sees, **data)
    for name in names:
        ws.refreshed(name)
    ws.refreshed("journal")
    return Undone(tx, action, writer.events, plan.things())


class _Plan:
    """The inverse events of an action, in reverse: what it created last goes first."""

    def __init__(self, ws: Workspace, action: list[Event]) -> None:
        self.ws = ws
        self.action = action
        self.ids = {event.id for event in action}
        self.created = {event.entity for event in action if event.declared.creates}
        self.inverses: list[tuple[str, str, dict[str, Any], Sees]] = []
        self._done: set[tuple[str, str]] = set()
        self._events: dict[str, list[Event]] = {}

    def _is_own(self, store: Store, entity: str, name: str, id_: str) -> bool:
        """Whether a head is the action's own, or an undo that brought the action's own value back."""
        found = self._origins(store, entity, name, id_, 0)
        return bool(found) and found <= self.ids | {""}

    def _origins(self, store: Store, entity: str, name: str, id_: str, depth: int) -> set[str]:
        """The writes whose value a head carries: an undo stands for what the action it took back had seen. An empty id
        stands for a register that nothing had written."""
        if id_ in self.ids or depth > 100:
            return {id_}
        events = self._events.get(entity)
        if events is None:
            events = self._events[entity] = store.events_of(entity)
        event = next((one for one in events if one.id == id_), None)
        if event is None or not event.undoes:
            return {id_}
        taken = (one for one in events if one.tx == event.undoes and not isinstance(one, Future))
        first = next((one for one in taken if name in dict(one.declared.writes(one.id, one.data))), None)
        if first is None:
            return {id_}
        seen = first.sees.get(name, [])
        return {origin for one in seen for origin in self._origins(store, entity, name, one, depth + 1)} or {""}

    def take_back(self, event: Event) -> None:
        store = self.ws.store(HOLDS[event.entity.partition("/")[0]])
        state = store.state(event.entity)
        if state is None:
            raise Refused(f"{event.entity} is not here any more", "`doctor` shows what is missing")
        if event.declared.creates:
            self._delete(store, event, state)
            return
        if event.entity in self.created:
            return  # it goes with the thing
        merged: dict[str, tuple[dict[str, Any], Sees]] = {}
        for name, _value in event.declared.writes(event.id, event.data):
            if (event.entity, name) in self._done:
                continue
            self._done.add((event.entity, name))
            mine = self._own_heads(store, event, state, name)
            kind, data = store.projection.inverse(name, self._before(store, event, name), event.id, state)
            sees: Sees = {name: mine}
            if kind.endswith(".deleted"):
                sees["*"] = _every_head(state)
            if kind.endswith(".edited") and kind in merged:
                merged[kind][0].update(data)
                merged[kind][1].update(sees)
            elif kind.endswith(".edited"):
                merged[kind] = (data, sees)
            else:
                self.inverses.append((kind, event.entity, data, sees))
        for kind, (data, sees) in merged.items():
            self.inverses.append((kind, event.entity, data, sees))

    def _delete(self, store: Store, event: Event, state: State) -> None:
        """Undo of created deletes, unless somebody has worked on the thing since."""
        if register.is_deleted(state):
            raise Refused(f"{self._called(store, event.entity, state)} is deleted already", "`restore` brings it back")
        for name, heads in state["r"].items():
            for head in heads:
                if name != "deleted" and not self._is_own(store, event.entity, name, head[0]):
                    self._refuse(store, event, state, name, head[0])
        kind, data = store.projection.inverse("deleted", True, event.id, state)
        sees: Sees = {"*": _every_head(state)}
        own = [head[0] for head in state["r"].get("deleted", ())]
        if own:
            sees["deleted"] = own
        self.inverses.append((kind, event.entity, data, sees))

    def _own_heads(self, store: Store, event: Event, state: State, name: str) -> list[str]:
        """The heads of a register that this action wrote. There must be one: else something was written on top."""
        heads = [head[0] for head in state["r"].get(name, ())]
        mine = [one for one in heads if self._is_own(store, event.entity, name, one)]
        if not mine:
            self._refuse(store, event, state, name, heads[-1] if heads else "")
        if name != "deleted" and register.is_deleted(state):
            raise Refused(f"{self._called(store, event.entity, state)} was deleted since", "take that back first")
        return mine

    def _before(self, store: Store, event: Event, name: str) -> Any:
        """The value of a register before the action: of the heads its first write there saw, the largest's."""
        first = next(
            one
            for one in self.action
            if one.entity == event.entity and name in dict(one.declared.writes(one.id, one.data))
        )
        seen = [lookup.event(store, id_) for id_ in first.sees.get(name, ())]
        known = sorted((one for one in seen if one is not None), key=lambda one: one.key)
        if name == "deleted":
            return any(lookup.written(one, name) for one in known)
        return lookup.written(known[-1], name) if known else None

    def _refuse(self, store: Store, event: Event, state: State, name: str, by: str) -> None:
        later = lookup.event(store, by) if by else None
        who = f"{later.actor} at {later.shown[:16].replace('T', ' ')} UTC" if later else "something later"
        raise Refused(
            f"{lookup.shown_register(name)} of {self._called(store, event.entity, state)} was changed since, by {who}",
            f"take that back first (undo {later.tx[:8]})" if later else "`history ID` shows what happened",
        )

    @staticmethod
    def _called(store: Store, entity: str, state: State) -> str:
        return f"{entity.partition('/')[0]} {lookup.short(store, entity, state)}"

    def things(self) -> list[str]:
        """What the action touched, named for people."""
        found = []
        for entity in dict.fromkeys(event.entity for event in self.action):
            store = self.ws.store(HOLDS[entity.partition("/")[0]])
            state = store.state(entity)
            if state is not None:
                found.append(f"{self._called(store, entity, state)} {lookup.title(state)}".strip())
        return found


def _every_head(state: State) -> list[str]:
    return sorted({head[0] for heads in state["r"].values() for head in heads})
