"""What happened: every event of one thing, field by field, and the journal as it grew."""

from __future__ import annotations

from mait_code.commands import lookup
from mait_code.journal.event import Event, Future
from mait_code.projections import ids, register
from mait_code.projections.index import OFFSET_BITS
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.register import State
    from mait_code.projections.store import Store

#: Milliseconds between two looks of `follow` where the file system tells of no change.
LOOKS_AGAIN = 1000


class Step:
    """One event of a thing's history, the machine that wrote it, and (register, before, after) of what it changed."""

    __slots__ = ("changes", "event", "label")

    def __init__(self, event: Event, label: str, changes: list[tuple[str, Any, Any]]) -> None:
        self.event = event
        self.label = label
        self.changes = changes

    @property
    def is_newer(self) -> bool:
        """Whether a newer program wrote it, so that what it changed is not known here."""
        return isinstance(self.event, Future)

    def json(self) -> dict[str, Any]:
        """The step as `--json` prints it."""
        changes = [
            {"field": lookup.shown_register(name), "before": before, "after": after}
            for name, before, after in self.changes
        ]
        return event_json(self.event, self.label) | {"changes": changes}


class Logged:
    """One event of the log: the event, the machine it was written on, and what its thing is called ("card 12kf")."""

    __slots__ = ("called", "event", "label")

    def __init__(self, event: Event, label: str, called: str) -> None:
        self.event = event
        self.label = label
        self.called = called

    def json(self) -> dict[str, Any]:
        """The event as `--json` prints it."""
        return event_json(self.event, self.label)


def event_json(event: Event, label: str) -> dict[str, Any]:
    """An event as `--json` prints it. `time` is what the writer's clock showed, `at` its place in the order.

    `data` is the event's own, but for fields that go by another name outside the log.
    """
    return {
        "event": event.id,
        "kind": event.kind,
        "time": event.shown,
        "at": event.at,
        "entity": event.entity,
        "actor": event.actor,
        "session": event.session or None,
        "replica": event.replica,
        "machine": label or None,
        "seq": event.seq,
        "tx": event.tx,
        "undoes": event.undoes or None,
        "newer": isinstance(event, Future),
        "data": {lookup.shown_register(key): value for key, value in event.data.items()},
    }


# -- one thing --------------------------------------------------------------------------------------------------------


def history(ws: Workspace, text: str) -> tuple[Store, str, list[Step]]:
    """The store and entity of the thing that `text` names, and every event of it in order, with what each changed."""
    store, entity = lookup.find(ws, text)
    return store, entity, steps(ws, store, entity)


def steps(ws: Workspace, store: Store, entity: str) -> list[Step]:
    """Every event of an entity (`type/id`) in order, with what each changed."""
    labels = ws.log.labels()
    found: list[Step] = []
    state: State | None = None
    for event in store.events_of(entity):
        before = _values(state)
        state = store.projection.fold(state, event)
        after = _values(state)
        changes = [
            (name, before.get(name), after.get(name))
            for name in _in_order(before.keys() | after.keys())
            if before.get(name) != after.get(name)
        ]
        found.append(Step(event, labels.get(event.replica, ""), changes))
    return found


def _values(state: State | None) -> dict[str, Any]:
    if state is None:
        return {}
    values = {name: register.value(state, name) for name in state["r"]}
    if "deleted" in values:
        values["deleted"] = register.is_deleted(state)
    return values


def _in_order(names: set[str]) -> list[str]:
    """What a thing is about comes first, the rest by name."""
    return sorted(names, key=lambda name: (name not in ids.TITLES, name))


# -- everything -------------------------------------------------------------------------------------------------------


def log(ws: Workspace, limit: int) -> list[Logged]:
    """The last `limit` events, in order. An event that stands in several files is one."""
    rows = ws.log.query(
        "SELECT min(place) FROM lines GROUP BY at, replica, seq, id"
        " ORDER BY at DESC, replica DESC, seq DESC, id DESC LIMIT ?",
        (limit,),
    )
    return logged(ws, [row[0] for row in reversed(rows)])


def logged(ws: Workspace, places: list[int]) -> list[Logged]:
    """The events at these places of the journal, in this order, each id once."""
    return _Reader(ws).read(places)


def follow(ws: Workspace) -> Iterator[list[Logged]]:
    """Events later than what this workspace's log has read, as they arrive, from any process or machine, for ever.

    In batches; an empty one is a look that found nothing. Ctrl-C ends it with KeyboardInterrupt.
    """
    from watchfiles import watch

    store = ws.log
    ws.home.make()
    reader = _Reader(ws)
    known = _sizes(store)
    for _changes in watch(
        ws.home.journal,
        debounce=100,
        step=20,
        rust_timeout=LOOKS_AGAIN,
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    ):
        store.catch_up(wait=True)
        present = _sizes(store)
        places: list[int] = []
        for key, size in present.items():
            if size > known.get(key, 0):
                span = ((key << OFFSET_BITS) + known.get(key, 0), (key + 1) << OFFSET_BITS)
                places += [
                    row[0] for row in store.query("SELECT place FROM lines WHERE place >= ? AND place < ?", span)
                ]
        known = present
        yield sorted(reader.read(places), key=lambda one: one.event.key)


def _sizes(store: Store) -> dict[int, int]:
    return dict(store.query("SELECT key, size FROM segments"))


class _Reader:
    """Reads events back from the journal, with the names people know machines and things by."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self._labels: dict[str, str] = {}
        self._called: dict[str, str] = {}

    def read(self, places: list[int]) -> list[Logged]:
        """The events at these places of the journal, each id once."""
        found: dict[str, Logged] = {}
        for place in places:
            event = self.ws.log.event_at(place)
            if event is not None and event.id not in found:
                found[event.id] = Logged(event, self._label(event.replica), self._name(event.entity))
        return list(found.values())

    def _label(self, replica: str) -> str:
        if replica not in self._labels:
            self._labels = {replica: ""} | self.ws.log.labels()
        return self._labels[replica]

    def _name(self, entity: str) -> str:
        called = self._called.get(entity)
        if called is None:
            kind, _, id_ = entity.partition("/")
            if kind in HOLDS:
                store = self.ws.store(HOLDS[kind])
                store.catch_up(wait=False)
                called = f"{kind} {lookup.short(store, entity)}"
            else:
                called = f"{kind} {id_}"
            self._called[entity] = called
        return called
