"""The machines of one history, the time they live in, and how their journals travel by copying files."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from convergence.machine import Machine
from mait_code.journal import clock, ids, reconcile, segments, tail
from mait_code.journal import journal as journal_module

if TYPE_CHECKING:
    from mait_code.journal.event import Event

SECOND = 1_000_000
YEAR = 365 * 24 * 3600 * SECOND
SKEWS = (0, -YEAR, 70 * YEAR, 3600 * SECOND, -SECOND // 2, 5 * YEAR)
#: Small enough that a history of a dozen events fills several segments.
CLOSED_AT = 900
MOST_MACHINES = 5


def scratch() -> str:
    """A new directory, in memory where the system has such a place: a history is not about the disk."""
    fast = "/dev/shm"
    return tempfile.mkdtemp(prefix="histories-", dir=fast if os.access(fast, os.W_OK | os.X_OK) else None)


class World:
    """Two to five machines. While it is open it stands in for the wall clock, for randomness and for the size of a
    segment, so that a history comes out the same whenever it is played."""

    def __init__(self, skews: list[int]) -> None:
        self.folder = scratch()
        self.now = clock.micros("2026-06-01T08:00:00.000000Z")
        self.machines: list[Machine] = []
        #: Every event that somebody was told is written, by id.
        self.acknowledged: dict[str, Event] = {}
        #: Ids of which somebody else's line gave them another place in the order.
        self.displaced: set[str] = set()
        self.counted = 0
        self.backups: list[tuple[Machine, str]] = []
        self.random = random.Random(7)
        self._current: Machine | None = None
        self._before: list[tuple[Any, str, Any]] = []
        self._machine_id = os.environ.get("MAIT_CODE_MACHINE_ID")
        self._replace(clock, "wall", self.wall)
        self._replace(ids, "os", SimpleNamespace(urandom=self.random.randbytes))
        self._replace(segments, "CLOSED_AT", CLOSED_AT)
        self._replace(journal_module, "HOOK_WAIT", 0.0)
        for skew in skews:
            self.add_machine(skew)

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._before.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def close(self) -> None:
        for owner, name, value in reversed(self._before):
            setattr(owner, name, value)
        self._before.clear()
        if self._machine_id is None:
            os.environ.pop("MAIT_CODE_MACHINE_ID", None)
        else:
            os.environ["MAIT_CODE_MACHINE_ID"] = self._machine_id
        for machine in self.machines:
            machine.close()
        shutil.rmtree(self.folder)

    # -- machines and time

    def wall(self) -> int:
        """What the wall clock of the machine shows that acts now."""
        return self.now + (self._current.skew if self._current else 0)

    def count(self) -> int:
        self.counted += 1
        return self.counted

    def add_machine(self, skew: int, same_hardware: Machine | None = None) -> Machine:
        """Another machine, empty. One with the hardware of another answers to the same machine id (a copied image)."""
        number = self.count()
        machine_id = same_hardware.machine_id if same_hardware else f"machine-{number}"
        machine = Machine(os.path.join(self.folder, f"m{number}"), machine_id, skew)
        os.makedirs(machine.folder)
        self.machines.append(machine)
        return machine

    def join(self, skew: int) -> None:
        """A new machine begins on its own."""
        self.add_machine(skew)

    def at(self, number: int) -> Machine:
        """The machine with that number, going round; from now on it is the one that acts."""
        machine = self.machines[number % len(self.machines)]
        self.enter(machine)
        return machine

    def enter(self, machine: Machine) -> None:
        self._current = machine
        os.environ["MAIT_CODE_MACHINE_ID"] = machine.machine_id

    def acknowledge(self, machine: Machine, events: list[Event]) -> None:
        for event in events:
            self.acknowledged.setdefault(event.id, event)
            machine.written.append(event)

    # -- what the user's own hands can lose

    def back_up(self, machine: Machine) -> None:
        folder = os.path.join(self.folder, f"backup{self.count()}")
        os.makedirs(folder)
        machine.copy_to(folder)
        self.backups.append((machine, folder))

    def put_back(self, number: int, *, data: bool, state: bool) -> None:
        """Put a backup back. What was nowhere but in the directories thrown away is lost, and nobody can be blamed."""
        if not self.backups:
            return
        machine, folder = self.backups[number % len(self.backups)]
        before = machine.ids_on_disk()
        machine.put_back(folder, data=data, state=state)
        for id_ in before - self.ids_anywhere():
            self.acknowledged.pop(id_, None)

    def ids_anywhere(self) -> set[str]:
        """Ids of events that stand somewhere."""
        return set().union(*(machine.ids_on_disk() for machine in self.machines))

    # -- travel

    def carry(self, source: Machine, target: Machine, chosen: int = -1, cut: int = 0) -> int:
        """Copy segments of one machine to another; bit n of `chosen` says whether the n-th goes. `cut` leaves out so many
        bytes of the last one that goes, as a copy does that is still under way. Returns how many files changed."""
        self.enter(target)
        theirs = [item for n, item in enumerate(sorted(source.files().items())) if chosen >> (n % 16) & 1]
        ours = target.files()
        changed = 0
        for place, (path, content) in enumerate(theirs):
            whole = place < len(theirs) - 1 or not cut
            changed += self._receive(target, path, ours.get(path), content if whole else content[:-cut])
        self._carry_notes(source, target)
        return changed

    def _receive(self, target: Machine, path: str, ours: bytes | None, theirs: bytes) -> bool:
        if ours is not None and ours.startswith(theirs):
            return False
        outcome = reconcile.segment(None, ours, theirs)
        if outcome.content != ours:
            target.put(path, outcome.content)
        if outcome.extra:
            tail.adopt(target.home, outcome.extra)
        return True

    @staticmethod
    def _carry_notes(source: Machine, target: Machine) -> None:
        for directory in segments.directories(source.home.journal):
            note = os.path.join(source.home.journal, directory, "replica.json")
            there = os.path.join(target.home.journal, directory, "replica.json")
            if os.path.exists(note) and os.path.isdir(os.path.dirname(there)) and not os.path.exists(there):
                shutil.copyfile(note, there)

    def exchange(self) -> None:
        """Bring everything to everyone: spools are drained, then files copied until nothing changes."""
        for machine in self.machines:
            self.enter(machine)
            with machine.journal().writing_from_hook():
                pass
        first, *others = self.machines
        for _ in range(2 * len(self.machines) + 2):
            changed = sum(self.carry(other, first) for other in others)
            changed += sum(self.carry(first, other) for other in others)
            if not changed:
                return
        raise AssertionError("the machines go on copying for ever")
