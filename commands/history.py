"""What happened: every event of one thing, field by field, and the journal as it grew."""

from __future__ import annotations

from mait_code.commands import lookup
from mait_code.journal.event import Event, Future
from mait_code.projections import register
from mait_code.projections.index import OFFSET_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.register import State
    from mait_code.projections.store import Store


class Step:
    """One event of a thing's history: the event, and (register, before, after) of what it changed."""

    __slots__ = ("changes", "event", "label")

    def __init__(self, event: Event, label: str, changes: list[tuple[str, Any, Any]]) -> None:
        self.event = event
        self.label = label
        self.changes = changes

    def json(self) -> dict[str, Any]:
        """The step as `--json` prints it."""
        return event_json(self.event, self.label) | {
            "changes": [
                {"field": lookup.shown_register(name), "before": before, "after": after}
                for name, before, after in self.changes
            ]
        }


def event_json(event: Event, label: str) -> dict[str, Any]:
    """An event as `--json` prints it. `time` is what the writer's clock showed, `at` its place in the order."""
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
        "data": event.data,
    }


def history(ws: Workspace, text: str) -> tuple[Store, str, list[Step]]:
    """Every event of the thing that `text` names, in order, with what each changed."""
    store, entity = lookup.find(ws, text)
    labels = ws.log.labels()
    steps: list[Step] = []
    state: State | None = None
    for event in store.events_of(entity):
        before = _values(state)
        state = store.projection.fold(state, event)
        after = _values(state)
        changes = [
            (name, before.get(name), after.get(name))
            for name in sorted(before.keys() | after.keys())
            if before.get(name) != after.get(name)
        ]
        steps.append(Step(event, labels.get(event.replica, ""), changes))
    return store, entity, steps


def _values(state: State | None) -> dict[str, Any]:
    if state is None:
        return {}
    values = {name: register.value(state, name) for name in state["r"]}
    if "deleted" in values:
        values["deleted"] = register.is_deleted(state)
    return values


def log(ws: Workspace, limit: int) -> list[tuple[Event, str]]:
    """(event, machine's label) of the last `limit` events, in order."""
    rows = ws.log.query("SELECT place FROM lines ORDER BY at DESC, replica DESC, seq DESC, id DESC LIMIT ?", (limit,))
    return _events(ws, [row[0] for row in reversed(rows)])


def follow(ws: Workspace) -> Iterator[tuple[Event, str]]:
    """Events as they arrive, from any process or machine, for ever."""
    from watchfiles import watch

    store = ws.log
    ws.home.make()
    for _changes in watch(ws.home.journal, debounce=200, step=50, raise_interrupt=True):
        before = dict(store.query("SELECT key, size FROM segments"))
        store.catch_up(wait=True)
        places: list[int] = []
        for key, size in store.query("SELECT key, size FROM segments"):
            if size != before.get(key, 0):
                start = (key << OFFSET_BITS) + before.get(key, 0)
                end = (key + 1) << OFFSET_BITS
                places += [
                    row[0]
                    for row in store.query("SELECT place FROM lines WHERE place >= ? AND place < ?", (start, end))
                ]
        yield from sorted(_events(ws, places), key=lambda pair: pair[0].key)


def _events(ws: Workspace, places: list[int]) -> list[tuple[Event, str]]:
    labels = ws.log.labels()
    found = [ws.log.event_at(place) for place in places]
    return [(event, labels.get(event.replica, "")) for event in found if event is not None]
