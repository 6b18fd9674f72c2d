"""What must hold once everything has reached everyone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from convergence import readable
from convergence.machine import FAMILIES
from convergence.model import Model
from mait_code.projections.digest import digest
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from convergence.machine import Machine
    from convergence.model import Entity
    from convergence.world import World
    from mait_code.journal.home import Home
    from mait_code.projections.store import Store


def convergence(world: World, rebuilt: int = 0) -> None:
    """Exchange everything, then compare every store of every machine with the model, with each other, and with the same
    journal folded anew."""
    world.exchange()
    first = world.machines[0]
    model = Model(first.lines())
    assert set(world.acknowledged) <= model.ids, "an acknowledged event is in no file"
    for family in FAMILIES:
        for machine in world.machines:
            machine.store(family).catch_up()
        against_model(first.store(family), model)
        wanted = digest(first.store(family))
        for machine in world.machines[1:]:
            agree(f"{family}: digest of another machine", digest(machine.store(family)), wanted)
    _rebuild(world, rebuilt)


def _rebuild(world: World, rebuilt: int) -> None:
    """Incremental equals rebuilt, on one of the machines."""
    machine = world.at(rebuilt)
    stores = [machine.store(family) for family in FAMILIES]
    before = [(digest(store), tables(store)) for store in stores]
    rebuild(machine.home, stores)
    for store, was in zip(stores, before, strict=True):
        agree(f"{store.name}: rebuilt and incremental", (digest(store), tables(store)), was)


def agree(what: str, found: object, wanted: object) -> None:
    """Both must be equal; the message has both, since histories also run outside of pytest."""
    assert found == wanted, f"{what}\n  found:  {found}\n  wanted: {wanted}"


def tables(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """The readable rows and the conflicts of a store."""
    names = [*store.projection.tables, "conflicts"]
    return {name: sorted(store.query(f"SELECT * FROM {name}"), key=repr) for name in names}


def against_model(store: Store, model: Model) -> None:
    """Registers, conflicts, readable rows and the events folded are those of the model."""
    family = store.projection.family
    entities = model.families[family]
    states = {entity: orjson.loads(state) for entity, state in store.states()}
    agree("entities", sorted(states), sorted(entities))
    conflicts: list[tuple[str, str]] = []
    for name, entity in entities.items():
        _registers(states[name], entity)
        if name.partition("/")[0] == store.family and (entity.is_created or family == "journal"):
            conflicts.extend((name, register) for register in entity.conflicts())
    agree("conflicts", store.conflicted(), sorted(conflicts))
    folded = [event.id for entity in entities for event in store.events_of(entity)]
    agree("events folded", sorted(folded), sorted(fact.id for entity in entities.values() for fact in entity.facts))
    wanted = readable.expected(family, entities)
    for name, question in readable.QUESTIONS[family].items():
        agree(f"{store.name}: {name}", sorted(store.query(question), key=repr), wanted[name])


def _registers(state: dict[str, Any], entity: Entity) -> None:
    wanted = {
        register: [[fact.id, fact.writes[register]] for fact in entity.heads(register)] for register in entity.registers
    }
    found = {register: [head[:2] for head in heads] for register, heads in state["r"].items()}
    agree("registers", found, {register: heads for register, heads in wanted.items() if heads})
    newer = [fact.id for fact in entity.facts if not fact.is_understood]
    agree("events of newer versions", state.get("n", []), newer)


def interleaved(home: Home, machine: Machine, order: list[tuple[str, int]], wanted: dict[str, str]) -> None:
    """Let the journal of `machine` arrive in an empty home piece by piece, in the given order of (path, bytes to grow by),
    folding after each; the digests are those of the machine that saw it grow."""
    raise NotImplementedError
