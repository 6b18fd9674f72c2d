"""Random histories as hypothesis state machines: every step is drawn, and a failing history is cut down to what it needs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from convergence import checks
from convergence.accidents import ACCIDENTS
from convergence.gitworld import GitWorld
from convergence.operations import OPERATIONS, STORES, act
from convergence.world import MOST_MACHINES, SECOND, SKEWS, World

if TYPE_CHECKING:
    from convergence.machine import Machine

MACHINE = st.integers(0, 4)
SMALL = st.integers(0, 3)
FAMILY = st.sampled_from(("card", "inbox", "reminder", "memory", "project", "journal"))
HOW = st.sampled_from(("", "checked", "spooled", "reckless", "unmarked"))
STEP = st.sampled_from((0, 1, 1000, SECOND, 3600 * SECOND))
CARDS = st.sampled_from([name for name in OPERATIONS if name.startswith("card.")])
OTHERS = st.sampled_from(
    [name for name in OPERATIONS if name.startswith(("inbox.", "reminder.", "journal.", "project."))]
)
REMEMBERED = st.sampled_from([name for name in OPERATIONS if STORES[name][0] == "memory"])
ANY = st.one_of(CARDS, OTHERS, REMEMBERED, st.sampled_from(("pick", "undo")))
#: The family whose store an operation changes first.
FAMILY_OF = {name: STORES[name][0] for name in OPERATIONS}
#: What several machines do at the same time: anything to a card, or what contradicts each other most.
AT_ONCE = [
    st.lists(st.sampled_from(names), min_size=2, max_size=5)
    for names in (
        [name for name in OPERATIONS if name.startswith("card.")],
        ["card.deleted", "card.restored", "card.edited"],
        ["card.moved", "card.bound", "card.unbound", "card.claimed"],
        ["inbox.edited", "inbox.done", "inbox.deleted", "inbox.restored"],
        ["reminder.snoozed", "reminder.dismissed", "reminder.restored", "reminder.edited", "reminder.deleted"],
        ["memory.edited", "memory.superseded", "memory.retired", "memory.deleted", "memory.restored", "memory.merged"],
        ["memory.pinned", "memory.unpinned", "memory.reviewed", "memory.seen", "document.text"],
        ["entity.linked", "entity.merged", "entity.removed", "entity.restored", "entity.mentioned"],
    )
]
#: What somebody does with git in the data directory.
HAND = st.sampled_from(("pull", "push", "commit", "commit and pull", "remove"))
GIT_ACCIDENTS = (*ACCIDENTS, "cloned", "emptied")
SETTLING = st.sampled_from(("pick", "pick", "undo"))

#: Steps of one history: long enough for a conflict, a loss and a repair, short enough to be played by the thousand.
STEPS = 18
STEPS_OVER_GIT = 12
#: What was played since the process began, for the report of the command.
TALLY: Counter[str] = Counter()


class History(RuleBasedStateMachine):
    """A world of machines, and the end of their history. A step that failed ends it: nothing is checked after it."""

    world: World
    failed = False

    @initialize(skews=st.lists(st.sampled_from(SKEWS), min_size=2, max_size=4), shared=st.booleans(), value=SMALL)
    def begin(self, skews: list[int], shared: bool, value: int) -> None:
        """Something to act upon, which everybody knows of or only the first."""
        self.world = World(skews)
        first = self.world.machines[0]
        for name in ("card.created", "card.commented", "inbox.captured", "reminder.set", "memory.stored"):
            act(self.world, first, name, 0, value)
        if value == 3:
            act(self.world, first, "card.deleted", 0, value)
        for other in self.world.machines[1:] if shared else ():
            self.world.carry(first, other)

    def machine(self, number: int, step: int = 0) -> Machine:
        """The machine that acts next, a moment later. Until its step is over the history counts as failed."""
        self.failed = True
        self.world.now += step
        TALLY["steps"] += 1
        return self.world.at(number)

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        try:
            if not self.failed:
                self.end()
                TALLY["histories"] += 1
                TALLY["machines"] += len(self.world.machines)
                TALLY["events acknowledged"] += len(self.world.acknowledged)
        finally:
            self.world.close()

    def end(self) -> None:
        raise NotImplementedError


class Concurrent(History):
    """Everybody acts whenever they like, journals travel in part and late, and every accident may happen."""

    def _act(self, number: int, name: str, pick: int, value: int, how: str, step: int) -> None:
        machine = self.machine(number, step)
        events = act(self.world, machine, name, pick, value, how)
        if how == "checked" and name != "undo":
            checks.written(machine, events)
        self.failed = False

    @rule(number=MACHINE, name=CARDS, pick=SMALL, value=SMALL, how=HOW, step=STEP)
    def act_on_card(self, number: int, name: str, pick: int, value: int, how: str, step: int) -> None:
        self._act(number, name, pick, value, how, step)

    @rule(number=MACHINE, name=OTHERS, pick=SMALL, value=SMALL, how=HOW, step=STEP)
    def act_on_other(self, number: int, name: str, pick: int, value: int, how: str, step: int) -> None:
        self._act(number, name, pick, value, how, step)

    @rule(number=MACHINE, name=REMEMBERED, pick=SMALL, value=SMALL, how=HOW, step=STEP)
    def remember(self, number: int, name: str, pick: int, value: int, how: str, step: int) -> None:
        self._act(number, name, pick, value, how, step)

    @rule(names=st.one_of(AT_ONCE), pick=SMALL, value=SMALL, alike=st.booleans(), step=STEP, how=HOW)
    def act_at_once(self, names: list[str], pick: int, value: int, alike: bool, step: int, how: str) -> None:
        """Every machine does something to the same thing, none having seen the others."""
        for number, one in enumerate(names):
            self._act(number, one, pick, value if alike else value + number, how if number else "", step)

    @rule(number=MACHINE, names=st.lists(ANY, min_size=1, max_size=3), what=st.sampled_from(("data", "state", "both")))
    def repeat_a_day(self, number: int, names: list[str], what: str) -> None:
        """A backup is put back right after something was done; what is left says what the files say."""
        machine = self.machine(number)
        self.world.back_up(machine)
        for value, name in enumerate(names):
            act(self.world, machine, name, 0, value)
            machine.store(FAMILY_OF[name]).catch_up()
        self.world.put_back(-1, data=what != "state", state=what != "data")
        for name in names:
            checks.present(machine, FAMILY_OF[name])
        self.failed = False

    @rule(number=MACHINE, name=ANY, other=ANY, same_hardware=st.booleans())
    def copy_and_act(self, number: int, name: str, other: str, same_hardware: bool) -> None:
        """A machine is cloned, and both go on under what they take for their own name."""
        machine = self.machine(number)
        if len(self.world.machines) < MOST_MACHINES:
            ACCIDENTS["machine_copied"](self.world, machine, int(same_hardware))
            act(self.world, self.world.machines[-1], other, 0, 1)
        act(self.world, machine, name, 0, 2)
        self.failed = False

    @rule(number=MACHINE, name=SETTLING, pick=SMALL, value=SMALL)
    def settle(self, number: int, name: str, pick: int, value: int) -> None:
        self._act(number, name, pick, value, "checked", 1)

    @rule(source=MACHINE, to=MACHINE, chosen=st.integers(0, 2**16 - 1), cut=st.sampled_from((0, 0, 1, 30, 300)))
    def carry_some(self, source: int, to: int, chosen: int, cut: int) -> None:
        self._carry(source, to, chosen, cut)

    @rule(source=MACHINE, to=MACHINE)
    def carry_all(self, source: int, to: int) -> None:
        self._carry(source, to, -1, 0)

    def _carry(self, source: int, to: int, chosen: int, cut: int) -> None:
        one = self.machine(source)
        other = self.machine(to)
        if one is not other:
            self.world.carry(one, other, chosen, cut)
        self.failed = False

    @rule(number=MACHINE, family=FAMILY)
    def look(self, number: int, family: str) -> None:
        checks.present(self.machine(number), family)
        self.failed = False

    @rule(number=MACHINE, name=st.sampled_from(list(ACCIDENTS)), value=SMALL)
    def accident(self, number: int, name: str, value: int) -> None:
        machine = self.machine(number)
        ACCIDENTS[name](self.world, machine, value)
        self.failed = False

    def end(self) -> None:
        rebuilt = len(self.world.acknowledged)
        checks.convergence(self.world, rebuilt)
        TALLY["conflicts shown"] += checks.count_conflicts(self.world)
        other = ("inbox", "memory", "reminder", "journal")[rebuilt % 4]
        checks.interleaved(self.world, ("card", other), groups=rebuilt % 4 + 1, seed=rebuilt)


class OverGit(History):
    """The same with real git: syncs, killed ones too, and pulls and pushes by hand."""

    world: GitWorld

    @initialize(skews=st.lists(st.sampled_from(SKEWS), min_size=2, max_size=3), value=SMALL)
    def begin(self, skews: list[int], value: int) -> None:
        self.world = GitWorld(skews)
        first = self.world.machines[0]
        for name in ("card.created", "inbox.captured", "reminder.set", "memory.stored"):
            act(self.world, first, name, 0, value)
        for machine in self.world.machines:
            self.world.sync(machine)

    @rule(number=MACHINE, names=st.lists(ANY, min_size=1, max_size=4), pick=SMALL, value=SMALL, how=HOW, step=STEP)
    def act(self, number: int, names: list[str], pick: int, value: int, how: str, step: int) -> None:
        for place, name in enumerate(names):
            machine = self.machine(number + place, step)
            self.world.mend(machine)
            act(self.world, machine, name, pick, value, how)
        self.failed = False

    @rule(number=MACHINE)
    def sync(self, number: int) -> None:
        self.world.sync(self.machine(number))
        self.failed = False

    @rule(number=MACHINE, calls=st.integers(0, 25))
    def kill_sync(self, number: int, calls: int) -> None:
        self.world.kill_sync(self.machine(number), calls)
        self.failed = False

    @rule(number=MACHINE, names=st.lists(ANY, min_size=1, max_size=2), twin=st.booleans(), then=HAND)
    def live_twice(self, number: int, names: list[str], twin: bool, then: str) -> None:
        """One machine goes on from one day twice: as its own clone, or because a backup was put back. Both have the same
        name and the same number for what they write next."""
        machine = self.machine(number)
        if twin and len(self.world.machines) < MOST_MACHINES:
            ACCIDENTS["machine_copied"](self.world, machine, 1)
            other = self.world.machines[-1]
        else:
            self.world.back_up(machine)
            other = machine
        self._go_on(machine, names, 1)
        self.world.sync(machine)
        if other is machine:
            self.world.put_back(-1, data=True, state=True)
        self._go_on(other, names, 2)
        self.world.by_hand(other, then)
        self.failed = False

    def _go_on(self, machine: Machine, names: list[str], value: int) -> None:
        self.world.mend(machine)
        for name in names:
            act(self.world, machine, name, 0, value)

    @rule(number=MACHINE, what=HAND)
    def use_git_by_hand(self, number: int, what: str) -> None:
        self.world.by_hand(self.machine(number), what)
        self.failed = False

    @rule(number=MACHINE, name=st.sampled_from(GIT_ACCIDENTS), value=SMALL)
    def accident(self, number: int, name: str, value: int) -> None:
        machine = self.machine(number)
        if name == "emptied":
            self.world.empty_remote()
        elif name == "cloned":
            if len(self.world.machines) < MOST_MACHINES:
                self.world.clone(machine.skew)
        else:
            ACCIDENTS[name](self.world, machine, value)
        self.failed = False

    def end(self) -> None:
        checks.convergence(self.world, len(self.world.acknowledged))
        TALLY["conflicts shown"] += checks.count_conflicts(self.world)


class Sequential(History):
    """Before anybody acts they get everything that was written before. Then there is never a conflict."""

    BENIGN = (
        "restart", "lost_store", "settle", "clock_set", "torn_tail", "nul_tail", "rubbish", "adopted", "segment_duplicated",
        "newer_program", "machine_copied", "data_cloned", "joined", "stray_copies", "backed_up",
    )  # fmt: skip

    last = 0

    @rule(
        number=MACHINE, name=st.one_of(CARDS, OTHERS, REMEMBERED, st.just("undo")), pick=SMALL, value=SMALL, step=STEP
    )
    def act(self, number: int, name: str, pick: int, value: int, step: int) -> None:
        machine = self._informed(number, step)
        events = act(self.world, machine, name, pick, value)
        checks.written(machine, events)
        checks.no_conflict(machine)
        self.failed = False

    @rule(number=MACHINE, name=st.sampled_from(BENIGN), value=SMALL)
    def accident(self, number: int, name: str, value: int) -> None:
        machine = self._informed(number, 0)
        ACCIDENTS[name](self.world, machine, value)
        checks.no_conflict(machine)
        self.failed = False

    def _informed(self, number: int, step: int) -> Machine:
        machine = self.machine(number, step)
        before = self.world.machines[self.last]
        if before is not machine:
            self.world.carry(before, machine)
        self.last = self.world.machines.index(machine)
        self.world.enter(machine)
        return machine

    def end(self) -> None:
        checks.convergence(self.world)


def play(history: type[History], examples: int, steps: int, number: int, shrink: bool = False) -> None:
    """Play so many histories of so many steps. The same number plays the same histories. With `shrink` one that fails is
    cut down to what it needs, which takes up to five minutes."""
    numbered = seed(number)(type(history.__name__, (history,), {}))
    run_state_machine_as_test(
        numbered,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
