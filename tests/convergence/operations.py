"""What people and programs do: one function per kind of event, through the product's own writer and real stores.

Each is given a `Turn` and appends to the action under way, or leaves it empty where there is nothing to act on.
"""

from __future__ import annotations

from typing import Any

from convergence import card_operations, memory_operations
from convergence.model import SHARED
from convergence.turns import OPERATIONS, STORES, Turn, act, operation
from mait_code.journal import ids
from mait_code.journal.kinds import KINDS
from mait_code.projections import register

__all__ = ["OPERATIONS", "STORES", "Turn", "act", "card_operations", "memory_operations"]

WHENS: tuple[dict[str, Any], ...] = (
    {"due": "2026-07-01T09:00", "zone": "Europe/Berlin"},
    {"due": "2026-07-01T09:00", "zone": "Europe/Berlin", "rule": {"every": "day", "interval": 1}},
    {"due": "2031-02-28T23:30", "zone": "Pacific/Auckland"},
)
OCCURRENCES = ("2026-07-01T09:00", "2026-07-02T09:00")


# -- inbox


@operation("inbox.captured")
def capture(turn: Turn) -> None:
    turn.append("inbox.captured", ids.new_entity("inbox"), body=f"thought {turn.value}", project="acme/shop")


@operation("inbox.bridged", "inbox")
def capture_from_outside(turn: Turn) -> None:
    """A fact that several machines record, each for itself, under the same ids; and not always in the same words."""
    origin = f"message {turn.pick % 2}"
    kind = "inbox.captured"
    entity = ids.derived_entity("inbox", origin)
    if turn.machine.store("inbox").state(entity) is None:
        turn.writer.append(
            kind, entity, id=ids.derived_event_id(kind, origin), actor="bridge", body=f"message {turn.value % 2}"
        )


@operation("inbox.edited")
def edit_thought(turn: Turn) -> None:
    fields: list[dict[str, Any]] = [{"body": f"body {turn.pick % 2}"}, {"project": None}, {"body": "b", "project": "p"}]
    turn.append("inbox.edited", turn.known("inbox"), **fields[turn.value % 3])


@operation("inbox.done")
def done(turn: Turn) -> None:
    turn.append("inbox.done", turn.known("inbox"), outcome=("done", "memory")[turn.value % 2])


@operation("inbox.triaged", "inbox", "card")
def triage(turn: Turn) -> None:
    thought = turn.known("inbox")
    if thought:
        card = turn.writer.append("card.created", title="from a thought", number=1, origin=thought)
        turn.append("inbox.done", thought, outcome="card", ref=card.entity)


@operation("inbox.deleted")
def delete_thought(turn: Turn) -> None:
    turn.append("inbox.deleted", turn.known("inbox"))


@operation("inbox.restored")
def restore_thought(turn: Turn) -> None:
    deleted = turn.known("inbox", deleted=True)
    if deleted and turn.value % 2:
        turn.append("inbox.restored", deleted, register="deleted")
    else:
        turn.append("inbox.restored", turn.known("inbox"), register="done")


# -- reminders


@operation("reminder.set")
def remind(turn: Turn) -> None:
    turn.append("reminder.set", ids.new_entity("reminder"), what=f"look {turn.value}", when=WHENS[turn.value % 3])


@operation("reminder.edited")
def edit_reminder(turn: Turn) -> None:
    fields: list[dict[str, Any]] = [{"what": f"look {turn.pick}"}, {"when": WHENS[turn.pick % 3]}, {"project": "acme"}]
    turn.append("reminder.edited", turn.known("reminder"), **fields[turn.value % 3])


@operation("reminder.snoozed")
def snooze(turn: Turn) -> None:
    until = {"due": f"2026-07-0{turn.value + 3}T08:00", "zone": "UTC"}
    turn.append("reminder.snoozed", turn.known("reminder"), occurrence=OCCURRENCES[turn.pick % 2], until=until)


@operation("reminder.dismissed")
def dismiss(turn: Turn) -> None:
    turn.append("reminder.dismissed", turn.known("reminder"), occurrence=OCCURRENCES[turn.pick % 2])


@operation("reminder.notified")
def notify(turn: Turn) -> None:
    turn.append("reminder.notified", turn.known("reminder"), occurrence=OCCURRENCES[turn.pick % 2])


@operation("reminder.deleted")
def delete_reminder(turn: Turn) -> None:
    turn.append("reminder.deleted", turn.known("reminder"))


@operation("reminder.restored")
def restore_reminder(turn: Turn) -> None:
    deleted = turn.known("reminder", deleted=True)
    if deleted and turn.value % 2:
        turn.append("reminder.restored", deleted, register="deleted")
    else:
        name = f"occurrence:{OCCURRENCES[turn.pick % 2]}"
        turn.append("reminder.restored", turn.known("reminder"), register=name)


# -- the journal, and what works on any family


@operation("journal.replica_labelled")
def label(turn: Turn) -> None:
    """A machine is known by its id, so anybody may name any of them at any time."""
    of = "abcdefg" + "01"[turn.pick % 2]
    turn.append("journal.replica_labelled", ids.derived_entity("replica", of), label=f"desk {turn.value % 3}", of=of)


@operation("pick", "card", "inbox", "reminder", "memory", "project", "journal")
def pick(turn: Turn) -> None:
    """Settle a conflict, by one of its values or by keeping the entity deleted."""
    stores = [turn.machine.store(family) for family in STORES["pick"]]
    found = [(store, *one) for store in stores for one in store.conflicted()]
    if not found:
        return
    store, entity, name = found[turn.pick % len(found)]
    state = store.state(entity)
    assert state is not None
    heads = state["r"][name]
    kind, data = store.part(entity).inverse(name, heads[turn.value % len(heads)][1], state)
    turn.append(kind, entity, **data)


@operation("undo", "card", "inbox", "reminder", "memory", "project")
def undo(turn: Turn) -> None:
    """Take back the last event of this machine that is still a head, seeing only its own heads."""
    for event in reversed(turn.machine.written[-6:]):
        first = event.kind.partition(".")[0]
        store = turn.machine.store(SHARED.get(first, first))
        state = store.state(event.entity)
        if state is None or event.declared.creates or event.kind.startswith("journal."):
            continue
        if register.is_deleted(state) and not event.kind.endswith(".deleted") and not turn.reckless:
            continue
        for name, _value in event.declared.writes(event.id, event.data):
            if event.id not in [head[0] for head in state["r"].get(name, ())]:
                continue
            earlier = [one for one in turn.machine.written if one.id in event.sees.get(name, ())]
            before = dict(earlier[0].declared.writes(earlier[0].id, earlier[0].data))[name] if earlier else None
            kind, data = store.part(event.entity).inverse(name, before, state)
            written = [one for one, _value in KINDS[kind].writes("", data)]
            if any(event.id not in [head[0] for head in state["r"].get(one, ())] for one in written):
                continue  # it would write over what came since
            sees = {one: [event.id] for one in written}
            if name == "deleted" and before:
                sees["*"] = sorted({one for heads in store.heads(event.entity).values() for one in heads})
            turn.writer.undoes = event.tx
            turn.writer.append(kind, event.entity, sees=sees, **data)
            return
