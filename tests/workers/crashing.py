"""Crash tests: a nursery of victims, exhaustive kill points, and rounds of random kills on two machines that sync."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

from mait_code.journal import segments, spool
from mait_code.journal.repository import Repository
from mait_code.journal.sync import sync
from workers.place import TESTS, Place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

#: Small enough that a victim rotates every few actions.
CLOSED_AT = 1500


class Nursery:
    """The parent's end of `workers.nursery`."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")]).rstrip(":"),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workers.nursery"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def run(
        self, place: Place, *victims: dict[str, Any], closed_at: int = CLOSED_AT, trusting: bool = False
    ) -> list[dict[str, Any]]:
        """Run victims at once, and return what came of each. One that ended in an error is a failure."""
        acks = os.path.join(place.folder, "acks")
        asked = [{"seed": 0, "acks": acks, **victim} for victim in victims]
        request = {
            "place": place.folder,
            "machine": place.machine_id,
            "closed_at": closed_at,
            "trusting": trusting,
            "victims": asked,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: list[dict[str, Any]] = json.loads(self._process.stdout.readline())
        for victim, result in zip(victims, answer, strict=True):
            assert not result["error"], f"{victim}: {result['error']}"
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def acknowledged(place: Place) -> set[str]:
    """The ids that victims of this place said were written. A last line cut by a kill says nothing."""
    try:
        with open(os.path.join(place.folder, "acks"), encoding="ascii") as file:
            return {line.rstrip("\n") for line in file if line.endswith("\n")}
    except FileNotFoundError:
        return set()


def waiting_ids(place: Place) -> set[str]:
    """Ids of events that wait in the spool."""
    found = set()
    for path in spool.waiting(place.home):
        action = spool.load(path)
        assert action is not None, f"{path} is damaged"
        found |= {draft["id"] for draft in action.drafts}
    return found


def assert_nothing_lost(place: Place, told: Iterable[str]) -> None:
    """Every acknowledged event stands in the journal, or waits in the spool for the next writer."""
    missing = set(told) - {event.id for event in place.events()}
    if missing:
        missing -= waiting_ids(place)
    assert not missing, f"{len(missing)} acknowledged events are lost: {sorted(missing)[:3]}"


def assert_sound(place: Place) -> None:
    """What holds after any kill, without any manual step: the next command writes, nothing is lost, numbers have no gap,
    every store says what a fold of the whole journal says, and none had to be put aside."""
    told = acknowledged(place)
    assert_nothing_lost(place, told)
    event = place.capture("the next command")
    found = {one.id for one in place.events()}
    assert told | {event.id} <= found
    assert waiting_ids(place) == set()
    assert place.gaps() == {}
    assert place.folded() == place.folded_anew()
    left = [name for name in os.listdir(place.home.state) if name.endswith(".damaged")]
    assert left == [], "a kill damages nothing"


class Snapshot:
    """A place as it was, to be put back: its path stays, because a machine knows itself by it."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._copy = place.folder + ".snapshot"
        shutil.copytree(place.folder, self._copy)

    def put_back(self) -> None:
        shutil.rmtree(self._place.folder)
        shutil.copytree(self._copy, self._place.folder)


# -- rounds of random kills -------------------------------------------------------------------------------------------


class World:
    """Two machines and a bare repository. `rounds` kills whoever is at work at random moments, on the same files all
    along, so that what one kill leaves is what the next one finds."""

    def __init__(self, folder: str, seed: int, nursery: Nursery) -> None:
        self.random = random.Random(seed)
        self.nursery = nursery
        self.machines = [Place(os.path.join(folder, name), name) for name in ("a", "b")]
        self.remote = os.path.join(folder, "remote.git")
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True, timeout=60)
        for machine in self.machines:
            self.act_as(machine)
            Repository(machine.home).make(self.remote)
        self.killed = 0
        self.finished = 0
        #: Events that were acknowledged; counted when the world has ended.
        self.told = 0

    @staticmethod
    def act_as(machine: Place) -> None:
        os.environ["MAIT_CODE_MACHINE_ID"] = machine.machine_id

    def round(self, with_sync: bool) -> None:
        """Kill two or three victims on one machine, then see that nothing acknowledged is lost."""
        machine = self.random.choice(self.machines)
        self.act_as(machine)
        longest = self.random.choice([0.04, 0.1, 0.3])  # from the opening of stores to writing at full speed
        victims = [self._victim("append", longest)]
        victims.append(self._victim(self.random.choice(["append", "hook", "fold", "remake"]), longest))
        if with_sync:
            victims.append({**self._victim("exchange", 0.6), "group": self.random.random() < 0.5})
        for result in self.nursery.run(machine, *victims):
            self.killed += result["killed"]
            self.finished += not result["killed"]
        assert_nothing_lost(machine, acknowledged(machine))

    def _victim(self, task: str, longest: float) -> dict[str, Any]:
        return {"task": task, "seed": self.random.randrange(10**6), "after": self.random.random() * longest}

    def settle(self) -> None:
        """Let both machines sync unharmed: they agree on everything, and everything acknowledged is on both."""
        told: set[str] = set()
        for machine in (*self.machines, *self.machines):
            self.act_as(machine)
            sync(machine.journal())
        for machine in self.machines:
            self.act_as(machine)
            assert_sound(machine)
            told |= acknowledged(machine)
        for machine in (*self.machines, self.machines[0]):
            self.act_as(machine)
            sync(machine.journal())
        digests = []
        for machine in self.machines:
            self.act_as(machine)
            digests.append(machine.folded())
            assert_nothing_lost(machine, told)
            assert machine.gaps() == {}
            assert len(own_directories(machine)) == 1, "a kill costs nobody their id"
            subprocess.run(
                ["git", "-C", machine.home.data, "fsck", "--strict"], check=True, capture_output=True, timeout=60
            )
        assert digests[0] == digests[1]


def own_directories(machine: Place) -> set[str]:
    """Replicas whose note carries this machine's label or line of descent."""
    from mait_code.journal import replica

    identity = replica.load(machine.home)
    assert identity is not None
    directories = segments.directories(machine.home.journal)
    own = {identity.replica}
    for name in directories:
        if replica.described(machine.home, name).get("forked_from") in own:
            own.add(name)
    if identity.forked_from:
        own.add(identity.forked_from)
    return own
