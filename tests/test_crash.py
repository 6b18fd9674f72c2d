"""SIGKILL at any moment costs no acknowledged event, leaves no gap, and asks for no manual step.

`python -m tests.crash 1000` runs the random rounds for longer; docs/internals/durability.md has the results.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from workers.crashing import CLOSED_AT, Nursery, Snapshot, World, acknowledged, assert_nothing_lost, assert_sound
from workers.place import Place, another, read, scratch, write

from mait_code.journal import segments
from mait_code.journal.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 20261130
#: Kill points are tried in so many groups, for the workers of a parallel run.
GROUPS = 3


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    monkeypatch.setattr(segments, "CLOSED_AT", CLOSED_AT)
    folder = scratch("kill-points-")
    yield Place(os.path.join(folder, "place"))
    shutil.rmtree(folder)


def nothing(place: Place) -> None:
    """A machine that has never been used."""


def used(place: Place) -> None:
    """A machine with some events, folded."""
    for number in range(3):
        place.capture(f"body {number}")
    place.folded()


def nearly_full(place: Place) -> None:
    """The next action closes the segment, and the one after it opens another."""
    place.capture("x" * CLOSED_AT)
    place.folded()


def behind(place: Place) -> None:
    """Stores that have a lot to fold: another machine's segments have just arrived."""
    used(place)
    folder = os.path.join(place.home.journal, "0ther0ne")
    name = next(iter(place.segments()))
    os.makedirs(folder)
    lines = read(os.path.join(place.home.journal, name)).splitlines()
    for number in range(12):
        content = b"".join(another(line, body=f"arrived {number}") + b"\n" for line in lines)
        write(os.path.join(folder, segments.name_of(number + 1)), content)


def copied(place: Place) -> None:
    """The machine turns out to be a copy: the next writer takes a new id."""
    used(place)
    path = place.home.in_state("identity.json")
    write(path, read(path).replace(b"machine-1", b"machine-0"))


def damaged(place: Place) -> None:
    """Two stores are garbage, and the next command puts them aside."""
    used(place)
    for name in ("board.db", "inbox.db"):
        write(place.home.in_state(name), os.urandom(9000))


def spooled(place: Place) -> None:
    """Actions of hooks wait to be written."""
    used(place)
    lock = Lock(place.home.in_state("lock"))
    assert lock.acquire(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mait_code.journal.journal.HOOK_WAIT", 0.0)
        ids = [place.capture(f"spooled {number}", hook=True).id for number in range(2)]
    lock.release()
    with open(os.path.join(place.folder, "acks"), "a", encoding="ascii") as file:
        file.writelines(f"{one}\n" for one in ids)


SCENES: dict[str, tuple[Callable[[Place], None], str]] = {
    "first-append": (nothing, "append_once"),
    "append": (used, "append_once"),
    "rotation": (nearly_full, "append_once"),
    "new-id": (copied, "append_once"),
    "drain": (spooled, "append_once"),
    "spool": (used, "spool_once"),
    "fold": (behind, "fold_once"),
    "heal": (damaged, "fold_once"),
    "rebuild": (behind, "remake_once"),
}


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("scene", SCENES)
def test_death_before_any_call_that_touches_the_disk(place: Place, nursery: Nursery, scene: str, group: int) -> None:
    """Every system call that changes something and every statement of SQL is a point to die at, one after the other."""
    prepare, task = SCENES[scene]
    prepare(place)
    before = acknowledged(place)
    snapshot = Snapshot(place)
    trusting = task in ("fold_once", "remake_once")
    (unharmed,) = nursery.run(place, {"task": task, "count": True}, trusting=trusting)
    calls = unharmed["calls"]
    assert len(calls) > 10
    if not trusting:
        assert len(acknowledged(place)) > len(before), "the task does acknowledge when it is left alone"
    assert_sound(place)
    deaths = [("half", number) for number, name in enumerate(calls, 1) if name == "write"]
    deaths += [("call", number) for number in range(1, len(calls) + 1)]
    # Of the many statements of SQL alike in a row a few will do; of the other calls none is left out.
    dull = {number for number in range(2, len(calls)) if set(calls[number - 2 : number + 1]) == {"sql"} and number % 5}
    for how, number in [death for death in deaths if death[1] not in dull][group::GROUPS]:
        snapshot.put_back()
        (result,) = nursery.run(place, {"task": task, how: number}, trusting=trusting)
        where = f"{scene}: {how} {number} of {len(calls)}, {calls[number - 1]}"
        assert result["killed"], f"{where}: never made"
        try:
            assert_sound(place)
        except Exception as error:
            raise AssertionError(where) from error


@pytest.mark.parametrize("part", range(5))
def test_a_hundred_rounds_of_random_kills(tmp_path: object, nursery: Nursery, part: int) -> None:
    """Five worlds of twenty rounds: writers, hooks, folds, rebuilds and syncs of two machines, killed at random moments."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MAIT_CODE_MACHINE_ID", "a")
        patch.setattr(segments, "CLOSED_AT", CLOSED_AT)
        world = World(str(tmp_path), SEED + part, nursery)
        try:
            for round_ in range(20):
                world.round(with_sync=round_ % 3 == 0)
            world.settle()
        except Exception as error:
            raise AssertionError(f"seed {SEED + part}") from error
    assert world.killed > 20, "the victims were at work when they died"


def test_the_tests_would_notice_a_lost_event(place: Place, nursery: Nursery) -> None:
    used(place)
    nursery.run(place, {"task": "append_once"})
    assert_nothing_lost(place, acknowledged(place))
    path = os.path.join(place.home.journal, max(place.segments()))
    write(path, read(path).rsplit(b"\n", 2)[0] + b"\n")
    with pytest.raises(AssertionError, match="are lost"):
        assert_nothing_lost(place, acknowledged(place))


def test_ctrl_c_at_any_moment_of_a_command(place: Place) -> None:
    """What was printed is written, whatever came after; a command that was interrupted says so and leaves nothing half done."""
    warm = subprocess.run(
        place.mait("inbox", "add", "before"), env=place.environment(), capture_output=True, timeout=60
    )
    assert warm.returncode == 0
    told, codes = [], set()
    for turn in range(24):
        command = subprocess.Popen(
            place.mait("inbox", "add", f"thought {turn}", "--json"),
            env=place.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(turn * 0.008)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=60)
        codes.add(command.returncode)
        # While Python starts and imports, it has ways of its own to end, or to swallow the signal.
        assert command.returncode in (0, 130, 1, -signal.SIGINT), (command.returncode, err)
        assert "fault of ours" not in err
        assert not out or command.returncode in (0, 130), "what was printed is all there"
        if out:
            told.append(json.loads(out)["id"])
        assert_sound(place)
    assert {one.entity.partition("/")[2] for one in place.events()} >= set(told)
    assert codes != {0}, "some were interrupted"
