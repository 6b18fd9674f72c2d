"""What must hold once everything has reached everyone."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import orjson

from convergence import readable
from convergence.machine import FAMILIES, Machine
from convergence.model import KNOWN_BY_NAME, SHARED, Model
from mait_code.journal import clock, ids, segments
from mait_code.projections.digest import digest
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from collections.abc import Iterable

    from convergence.model import Entity
    from convergence.world import World
    from mait_code.journal.event import Event
    from mait_code.projections.store import Store


def convergence(world: World, rebuilt: int = 0) -> None:
    """Exchange everything, then compare every store of every machine with the model, with each other, and with the same
    journal folded anew."""
    world.exchange()
    first = world.machines[0]
    model = Model(first.lines())
    assert world.acknowledged.keys() <= model.facts.keys(), "an acknowledged event is in no file"
    _answers_sort_behind(world, model)
    for family in FAMILIES:
        for machine in world.machines:
            machine.store(family).catch_up()
        against_model(first.store(family), model)
        wanted = digest(first.store(family))
        for machine in world.machines[1:]:
            agree(f"{family}: digest of another machine", digest(machine.store(family)), wanted)
    _rebuild(world, rebuilt)


def _answers_sort_behind(world: World, model: Model) -> None:
    """Whoever saw an event wrote one that is later in the order, however wrong the clocks are. Only at the end of time
    nothing can be later."""
    for id_ in world.acknowledged.keys() - world.displaced:
        fact = model.facts[id_]
        for one in {one for named in fact.sees.values() for one in named}:
            seen = model.facts.get(one)
            if seen is not None and one not in world.displaced and fact.key[0] < clock.LAST:
                assert seen.key < fact.key, f"{fact.kind} sorts before what it saw"


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
    found = {name: sorted(store.query(f"SELECT * FROM {name}"), key=repr) for name in names}
    if "entries" in found:
        found["entries_fts"] = indexed(store)
    return found


def indexed(store: Store) -> list[tuple[Any, ...]]:
    """What the full-text index of memory.db holds: entry, column, place, term."""
    store.db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab(main, entries_fts, instance)")
    return store.query(
        "SELECT e.id, t.col, t.offset, t.term FROM temp.terms t LEFT JOIN entries e ON e.rowid = t.doc ORDER BY 1, 2, 3, 4"
    )


def against_model(store: Store, model: Model) -> None:
    """Registers, conflicts, readable rows and the events folded are those of the model."""
    family = store.projection.family
    entities = model.families[family]
    states = {entity: orjson.loads(state) for entity, state in store.states()}
    agree("entities", sorted(states), sorted(entities))
    conflicts: list[tuple[str, str]] = []
    for name, entity in entities.items():
        _registers(states[name], entity)
        type_ = name.partition("/")[0]
        if type_ in store.types and (entity.is_created or type_ in KNOWN_BY_NAME):
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


def interleaved(world: World, families: Iterable[str], groups: int, seed: int) -> None:
    """The lines of the journal in any order and any grouping, each group folded before the next comes, give the states
    that the machines have."""
    first = world.machines[0]
    lines = first.lines()
    shuffle = random.Random(seed)
    shuffle.shuffle(lines)
    late = Machine(os.path.join(world.folder, f"late{world.count()}"), "late", 0)
    try:
        for part in range(groups):
            group = lines[part::groups]
            if group:
                late.put(f"{ids.new_replica()}/{segments.name_of(part + 1)}", b"\n".join(group) + b"\n")
            for family in families:
                late.store(family).catch_up()
        for family in families:
            store = late.store(family)
            agree(f"{store.name}: another order", digest(store), digest(first.store(family)))
            agree(f"{store.name}: another order", tables(store), tables(first.store(family)))
    finally:
        late.close()


def present(machine: Machine, family: str) -> None:
    """At any moment a store that has caught up says what the machine's own files say, no more and no less."""
    store = machine.store(family)
    store.catch_up()
    against_model(store, Model(machine.lines()))


def written(machine: Machine, events: list[Event]) -> None:
    """A write that saw everything is the only head of what it wrote, and no conflict is left there."""
    last = {(event.entity, name): event for event in events for name, _ in event.declared.writes(event.id, event.data)}
    for (entity, name), event in last.items():
        first = event.kind.partition(".")[0]
        store = machine.store(SHARED.get(first, first))
        store.catch_up()
        agree(f"heads of {name}", store.heads(entity)[name], [event.id])
        assert (entity, name) not in store.conflicted(), f"{event.kind} left a conflict of {name}"


def no_conflict(machine: Machine) -> None:
    """Nobody wrote without having seen the rest."""
    for family in FAMILIES:
        store = machine.store(family)
        store.catch_up()
        agree(f"{store.name}: conflicts", store.conflicted(), [])


def count_conflicts(world: World) -> int:
    """How many conflicts the machines show."""
    return sum(len(world.machines[0].store(family).conflicted()) for family in FAMILIES)
