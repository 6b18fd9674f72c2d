"""One action of one machine: what it is given, and how it is carried out through the product's own writer and stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mait_code.projections import register

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.machine import Machine
    from convergence.world import World
    from mait_code.journal.event import Event
    from mait_code.journal.writing import Writer

    Operation = Callable[["Turn"], None]

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

    def known(self, family: str, deleted: bool = False, type_: str = "") -> str:
        """An entity this machine knows of, living or deleted; an empty string where there is none."""
        store = self.machine.store(family)
        found = []
        for entity, raw, gone in store.query("SELECT entity, state, deleted FROM entities ORDER BY entity"):
            if (
                entity.startswith((type_ or family) + "/")
                and b'"c":""' not in raw
                and (bool(gone) == deleted or self.reckless)
            ):
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
