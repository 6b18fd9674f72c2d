"""Every machine comes to the same state, whatever happens on the way. docs/internals/convergence.md says what is played.

In every run: 2,000 histories with segments copied and 40 over real git, the same ones each time, and a few that nobody has
seen before, whose number stands in the output of a failure. `python tests/convergence --help` plays more.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from convergence import checks, histories
from convergence.accidents import ACCIDENTS, event, put_lines
from convergence.histories import Concurrent, OverGit, Sequential
from convergence.model import WRITES, read
from convergence.operations import OPERATIONS, act
from convergence.world import SKEWS, World
from test_event import HEAD, sealed

from mait_code.journal import clock, ids
from mait_code.journal.event import DEEPEST, Event, parse
from mait_code.journal.kinds import KINDS
from mait_code.projections import register, stores
from mait_code.projections.cards import Cards
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = 16


@pytest.fixture
def world() -> Iterator[World]:
    made = World([0, 0])
    yield made
    made.close()


# -- histories


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_segments_copied(part: int) -> None:
    histories.play(Concurrent, 2000 // PARTS, histories.STEPS, part)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_no_conflict_where_everybody_knew_everything(part: int) -> None:
    histories.play(Sequential, 20, histories.STEPS, part)


@pytest.mark.slow
@pytest.mark.git
@pytest.mark.parametrize("part", range(4))
def test_real_git(part: int) -> None:
    histories.play(OverGit, 10, histories.STEPS_OVER_GIT, part)


@pytest.mark.slow
def test_segments_copied_as_never_before() -> None:
    number = int.from_bytes(os.urandom(4), "big")
    sys.stdout.write(f"again: python tests/convergence --copied 60 --each 60 --seed {number} --shrink\n")
    histories.play(Concurrent, 60, histories.STEPS, number)


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (register, "differ", lambda _heads: False),
        (register, "unseen_by_deletion", lambda _state: []),
        (Cards, "derive", lambda _self, _state, _event: None),
        (clock, "tick", lambda now, _own, _seen: max(now, 0)),
    ],
    ids=["conflicts not seen", "edits against deletions not seen", "nothing derived", "a clock that is not lifted"],
)
def test_histories_find_a_fault(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, wrong: Any) -> None:
    monkeypatch.setattr(owner, name, wrong)
    with pytest.raises(AssertionError):
        histories.play(Concurrent, 200, histories.STEPS, 1)


def test_every_kind_and_every_accident_occurs(world: World) -> None:
    """One long day in which everything is done once. What histories are made of covers every declared kind."""
    for value in range(2):
        for name in OPERATIONS:
            act(world, world.machines[value], name, value, value)
        world.exchange()
    for number, name in enumerate(ACCIDENTS):
        ACCIDENTS[name](world, world.machines[number % 2], number % 4)
    checks.convergence(world)
    facts = [fact for fact in map(read, world.machines[0].lines()) if fact is not None]
    assert {fact.kind for fact in facts if fact.is_understood} == set(KINDS) == set(WRITES)
    assert any(not fact.is_understood for fact in facts)
    assert len(world.machines) > 2
    assert max(int(path[-12:-6]) for path in world.machines[0].files()) > 1, "no segment was ever full"


def test_clocks_go_from_one_year_behind_to_seventy_ahead() -> None:
    years = [skew / (365 * 24 * 3600 * 10**6) for skew in SKEWS]
    assert (min(years), max(years)) == (-1, 70)


# -- one history each, found by the above or by reading


def test_both_delete_and_restore(world: World) -> None:
    """A deletion against a restoration is a conflict, and stays deleted until somebody picks."""
    one, other = world.machines
    act(world, one, "card.created", 0, 0)
    act(world, one, "card.deleted", 0, 0)
    world.exchange()
    for machine in (one, other):
        act(world, machine, "card.restored", 0, 0)
    act(world, one, "card.deleted", 0, 0)
    checks.convergence(world)
    entity = one.written[0].entity
    assert one.store("card").conflicted() == [(entity, "deleted")]
    assert one.store("card").query("SELECT id FROM cards") == []
    checks.written(one, act(world, one, "pick", 0, 1))
    checks.convergence(world)
    assert one.store("card").conflicted() == []


def test_a_damaged_line_does_not_lift_the_clock(world: World) -> None:
    """One flipped bit can make 2026 into 6026. The line is bad, and its time means nothing."""
    machine = world.machines[0]
    act(world, machine, "card.created", 0, 0)
    line = machine.lines()[0]
    for year in (b"6026", b"2026-99"):
        put_lines(machine, [line.replace(b'"at":"2026', b'"at":"' + year)[:400]])
    (event,) = act(world, machine, "card.moved", 0, 1)
    assert event.at.startswith("2026-06-01")
    assert event.wall == ""


def test_a_line_of_two_kinds_is_of_neither(world: World) -> None:
    """Incremental folding skips lines by how they begin, a rebuild parses each once: both must see the same."""
    machine = world.machines[0]
    head = b'{"kind":"card.moved","v":1,"id":"6f1c0b7e9a2d4c5e8b10","at":"2026-11-30T15:21:07.123004Z"'
    head += b',"replica":"k7f3qz9m","seq":1,"entity":"inbox/kfhq2m9xt47w","actor":"Some Body","kind":"inbox.captured"'
    put_lines(machine, [sealed(head, b',"data":{"body":"x","column":"y"}}')])
    for family in ("card", "inbox"):
        store = machine.store(family)
        store.catch_up()
        before = list(store.states())
        rebuild(machine.home, [store, machine.store("journal")])
        assert list(store.states()) == before == []
    assert [reason for *_, reason in stores.journal(machine.home).problems()] == [
        "kind is not the one the line begins with"
    ]


def test_a_label_given_twice_is_a_conflict(world: World) -> None:
    """The entities of journal.* are known by name and need no event that creates them."""
    one, other = world.machines
    act(world, one, "journal.replica_labelled", 0, 0)
    act(world, other, "journal.replica_labelled", 0, 1)
    checks.convergence(world)
    assert [name for _, name in one.store("journal").conflicted()] == ["label"]
    checks.written(one, act(world, one, "pick", 0, 1))


def test_deep_data_is_folded_or_refused_but_never_stops_a_store(world: World) -> None:
    """The codec reads deeper than it writes: such a line must be bad, or no state could ever be stored."""
    machine = world.machines[0]
    act(world, machine, "card.created", 0, 0)
    entity = machine.written[0].entity
    lines = []
    for depth in (DEEPEST - 3, DEEPEST - 2, 240, 255, 900):
        head = event("card.bound", entity, {}, at="2026-07-01T00:00:00.000000Z").line().partition(b',"sum":"')[0]
        lines.append(sealed(head, b',"data":{"by":{"x":' + b"[" * depth + b"0" + b"]" * depth + b"}}}"))
    put_lines(machine, lines)
    store = machine.store("card")
    store.catch_up()
    assert [isinstance(parse(line), Event) for line in lines] == [True, False, False, False, False]
    assert len(store.heads(entity)["binding"]) == 1
    before = list(store.states())
    store.rebuild()
    assert list(store.states()) == before


def test_values_that_python_takes_for_equal_differ(world: World) -> None:
    machine = world.machines[0]
    act(world, machine, "reminder.set", 0, 0)
    entity = machine.written[0].entity
    for extra in (1, 1.0, True):
        when = {"due": "2026-07-01T09:00", "zone": "UTC", "extra": extra}
        put_lines(machine, [event("reminder.edited", entity, {"when": when}, at="2026-07-01T00:00:00.000000Z").line()])
    checks.present(machine, "reminder")
    assert (entity, "when") in machine.store("reminder").conflicted()


@pytest.mark.parametrize("family", ["card", "inbox", "reminder", "journal"])
def test_a_store_made_anew_while_empty_has_its_indexes(world: World, family: str) -> None:
    store = world.machines[0].store(family)
    question = "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name"
    fresh = store.query(question)
    store.rebuild()
    assert store.query(question) == fresh


def test_an_id_with_two_entities_belongs_to_the_earlier(world: World) -> None:
    """Whichever of the two arrives first."""
    at = [clock.text(world.now + second * 10**6) for second in range(3)]
    first, second = (ids.new_entity("card") for _ in range(2))
    made = [event("card.created", entity, {"title": "x"}, at=at[0]).line() for entity in (first, second)]
    early = event("card.moved", first, {"column": "done"}, at=at[1], id=HEAD["id"]).line()
    late = event("card.moved", second, {"column": "done"}, at=at[2], id=HEAD["id"]).line()
    for machine, order in zip(world.machines, ([early, late], [late, early]), strict=True):
        put_lines(machine, made)
        for line in order:
            put_lines(machine, [line])
            checks.present(machine, "card")
        assert machine.store("card").query("SELECT id FROM cards WHERE status = 'done'") == [(first.partition("/")[2],)]
    checks.convergence(world)
