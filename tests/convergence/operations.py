"""What people and programs do: one function per kind of event, through the product's own writer and real stores.

Each is given a `Turn` and appends to the action under way, or leaves it empty where there is nothing to act on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mait_code.journal import ids
from mait_code.projections import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.machine import Machine
    from convergence.world import World
    from mait_code.journal.event import Event
    from mait_code.journal.writing import Writer

    Operation = Callable[["Turn"], None]

COLUMNS = ("in_progress", "done", "backlog", "in_review")
WHENS: tuple[dict[str, Any], ...] = (
    {"due": "2026-07-01T09:00", "zone": "Europe/Berlin"},
    {"due": "2026-07-01T09:00", "zone": "Europe/Berlin", "rule": {"every": "day", "interval": 1}},
    {"due": "2031-02-28T23:30", "zone": "Pacific/Auckland"},
)
OCCURRENCES = ("2026-07-01T09:00", "2026-07-02T09:00")

OPERATIONS: dict[str, Operation] = {}
#: Which stores an operation decides on.
STORES: dict[str, tuple[str, ...]] = {}


def operation(name: str, *families: str) -> Callable[[Operation], Operation]:
    def note(function: Operation) -> Operation:
        OPERATIONS[name] = function
        STORES[name] = families or (name.partition(".")[0],)
        return function

    return note


class Turn:
    """One action of one machine. `pick` chooses what it is about, `value` what is said; `reckless` lets it touch what is
    deleted, which commands refuse."""

    def __init__(self, machine: Machine, writer: Writer, pick: int, value: int, reckless: bool) -> None:
        self.machine = machine
        self.writer = writer
        self.pick = pick
        self.value = value
        self.reckless = reckless

    def known(self, family: str, deleted: bool = False) -> str:
        """An entity this machine knows of, living or deleted; an empty string where there is none."""
        store = self.machine.store(family)
        found = []
        for entity, raw, gone in store.query("SELECT entity, state, deleted FROM entities ORDER BY entity"):
            if entity.startswith(family) and b'"c":""' not in raw and (bool(gone) == deleted or self.reckless):
                found.append(entity)
        return found[self.pick % len(found)] if found else ""

    def append(self, kind: str, entity: str, **data: Any) -> None:
        if entity:
            self.writer.append(kind, entity, **data)

    def standing(self, card: str, what: str, said: str) -> str:
        """The id of a comment or reference of the card that stands (or not), or an empty string."""
        state = self.machine.store("card").state(card) if card else None
        if state is None:
            return ""
        names = [name for name in sorted(state["r"]) if name.startswith(f"{what}:")]
        found = [name for name in names if bool(register.value(state, name)) == (said == "stands")]
        return found[self.value % len(found)].partition(":")[2] if found else ""


def act(world: World, machine: Machine, name: str, pick: int, value: int, how: str = "") -> list[Event]:
    """Carry out one operation and return its events. `how`: "spooled" (the lock was held), "reckless", "unmarked" (killed
    before the mark was written), or empty."""
    world.enter(machine)
    journal = machine.journal(("me", "claude")[value % 2], f"session-{pick % 3}")
    mark = machine.home.in_state("clock")
    before = _read(mark)
    if how == "spooled":
        with machine.lock_held():
            events = _write(machine, journal.writing_from_hook, name, pick, value, False)
    else:
        events = _write(machine, journal.writing_from_hook, name, pick, value, how == "reckless")
    if how == "unmarked" and before and events:
        with open(mark, "wb") as file:
            file.write(before)
    world.acknowledge(machine, events)
    return events


def _write(
    machine: Machine, writing: Callable[..., Writer], name: str, pick: int, value: int, reckless: bool
) -> list[Event]:
    with writing(*(machine.store(family) for family in STORES[name])) as writer:
        OPERATIONS[name](Turn(machine, writer, pick, value, reckless))
    return writer.events


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


# -- cards


@operation("card.created")
def create(turn: Turn) -> None:
    number = turn.machine.store("card").query("SELECT coalesce(max(number), 0) + 1 FROM entities")[0][0]
    turn.append(
        "card.created",
        ids.new_entity("card"),
        title=f"card {turn.value}",
        priority=("high", "low")[turn.value % 2],
        column=COLUMNS[turn.value % 4],
        number=number,
        project="acme/shop",
    )


@operation("card.edited")
def edit(turn: Turn) -> None:
    fields: list[dict[str, Any]] = [
        {"title": f"title {turn.pick % 2}"},
        {"title": "both", "description": f"text {turn.pick}"},
        {"completion_summary": "done so", "priority": "medium"},
        {"acceptance_criteria": None, "project": None},
    ]
    turn.append("card.edited", turn.known("card"), **fields[turn.value % 4])


@operation("card.moved")
def move(turn: Turn) -> None:
    turn.append("card.moved", turn.known("card"), column=COLUMNS[turn.value % 4])


@operation("card.tagged")
def tag(turn: Turn) -> None:
    turn.append("card.tagged", turn.known("card"), tag=f"tag {turn.value % 2}")


@operation("card.untagged")
def untag(turn: Turn) -> None:
    turn.append("card.untagged", turn.known("card"), tag=f"tag {turn.value % 2}")


@operation("card.commented")
def comment(turn: Turn) -> None:
    author = {"author": "somebody"} if turn.value == 3 else {}
    turn.append("card.commented", turn.known("card"), body=f"says {turn.value}", **author)


@operation("card.comment_deleted")
def comment_deleted(turn: Turn) -> None:
    card = turn.known("card")
    comment = turn.standing(card, "comment", "stands")
    turn.append("card.comment_deleted", card if comment else "", comment=comment)


@operation("card.referenced")
def reference(turn: Turn) -> None:
    turn.append("card.referenced", turn.known("card"), label="pull request", value=f"#{turn.value}")


@operation("card.unreferenced")
def unreference(turn: Turn) -> None:
    card = turn.known("card")
    reference = turn.standing(card, "reference", "stands")
    turn.append("card.unreferenced", card if reference else "", reference=reference)


@operation("card.bound")
def bind(turn: Turn) -> None:
    turn.append("card.bound", turn.known("card"), by={"session": f"session-{turn.value}"})


@operation("card.unbound")
def unbind(turn: Turn) -> None:
    turn.append("card.unbound", turn.known("card"))


@operation("card.deleted")
def delete(turn: Turn) -> None:
    turn.append("card.deleted", turn.known("card"))


@operation("card.restored")
def restore(turn: Turn) -> None:
    card = turn.known("card", deleted=True)
    if turn.value % 2 == 0 and card:
        turn.append("card.restored", card, register="deleted")
        return
    card = turn.known("card")
    for what in ("comment", "reference"):
        found = turn.standing(card, what, "does not")
        turn.append("card.restored", card if found else "", register=f"{what}:{found}")


@operation("card.claimed")
def claim(turn: Turn) -> None:
    """Two events in one action, of different registers."""
    card = turn.known("card")
    turn.append("card.moved", card, column="in_progress")
    turn.append("card.bound", card, by={"session": f"session-{turn.value}"})


@operation("card.reconsidered")
def reconsider(turn: Turn) -> None:
    """Two writes of one register in one action: the second has seen the first."""
    card = turn.known("card")
    turn.append("card.moved", card, column="in_review")
    turn.append("card.moved", card, column=COLUMNS[turn.value % 4])


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


@operation("pick", "card", "inbox", "reminder", "journal")
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
    kind, data = store.projection.inverse(name, heads[turn.value % len(heads)][1], state)
    turn.append(kind, entity, **data)


@operation("undo", "card", "inbox", "reminder")
def undo(turn: Turn) -> None:
    """Take back the last event of this machine that is still a head, seeing only its own heads."""
    for event in reversed(turn.machine.written[-6:]):
        store = turn.machine.store(event.kind.partition(".")[0])
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
            kind, data = store.projection.inverse(name, before, state)
            sees = {name: [event.id]}
            if kind.endswith(".deleted"):
                sees["*"] = sorted({one for heads in store.heads(event.entity).values() for one in heads})
            turn.writer.undoes = event.tx
            turn.writer.append(kind, event.entity, sees=sees, **data)
            return
