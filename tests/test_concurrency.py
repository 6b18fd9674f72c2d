"""Many processes on one machine: nothing is torn or lost, numbers have no gap, and nobody waits for ever."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import pytest
from workers.appending import append_many
from workers.crashing import Nursery, acknowledged, assert_sound
from workers.place import Place, scratch

from mait_code.journal import segments, spool
from mait_code.journal.errors import Busy
from mait_code.journal.event import Event, parse
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHO = ["-c", "user.name=A Person", "-c", "user.email=person@example.org"]
#: Nothing here takes long; whoever is not done by then hangs.
PATIENCE = 120


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    return Place(str(tmp_path_factory.mktemp("concurrency") / "place"))


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def assert_lines_whole(place: Place) -> None:
    """Every line is an event: none is torn, and none has another's bytes in it."""
    for name, content in place.segments().items():
        assert content.endswith(b"\n"), name
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            assert isinstance(parse(line), Event), f"{name}:{number}: {line[:80]!r}"


def test_64_workers_append_100_events_each(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in place.environment().items():
        monkeypatch.setenv(name, value)
    workers, count = 64, 100
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["workers.appending"])
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        jobs = [pool.submit(append_many, number, count) for number in range(workers)]
        told = [one for job in jobs for one in job.result(timeout=PATIENCE)]
    assert len(set(told)) == workers * count
    assert_lines_whole(place)
    events = place.events()
    assert [event.id for event in sorted(events, key=lambda one: one.seq)] == [event.id for event in events]
    assert {event.id for event in events} == set(told)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert sorted(event.at for event in events) == [event.at for event in events]
    assert len(segments.directories(place.home.journal)) == 1
    assert place.folded() == place.folded_anew()


@pytest.mark.parametrize("attempt", range(6))
def test_eight_processes_open_everything_for_the_first_time_at_once(
    monkeypatch: pytest.MonkeyPatch, nursery: Nursery, attempt: int
) -> None:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    place = Place(os.path.join(scratch("first-open-"), "place"))
    victims = [{"task": task, "seed": n} for n, task in enumerate(["append_once", "fold_once"] * 4)]
    nursery.run(place, *victims, closed_at=64 * 1024)
    assert len(acknowledged(place)) == 12
    assert len(segments.directories(place.home.journal)) == 1, "they agreed on one id"
    assert_lines_whole(place)
    assert_sound(place)


def test_eight_first_command_lines_at_once(place: Place) -> None:
    children = [
        subprocess.Popen(place.mait("inbox", "add", f"thought {n}"), env=place.environment(), stdout=-1, stderr=-1)
        for n in range(8)
    ]
    said = [child.communicate(timeout=PATIENCE) for child in children]
    assert [child.returncode for child in children] == [0] * 8, said
    assert sorted(event.data["body"] for event in place.events()) == [f"thought {n}" for n in range(8)]
    assert place.gaps() == {}
    assert len(segments.directories(place.home.journal)) == 1


# -- a holder that was stopped ----------------------------------------------------------------------------------------


@pytest.fixture
def stopped(place: Place) -> Iterator[subprocess.Popen[str]]:
    """A process that was stopped while it held the append lock and was writing the inbox store."""
    place.capture("before")
    holder = subprocess.Popen(
        place.command("workers.appending", "hold"),
        env=place.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "holding\n"
    holder.send_signal(signal.SIGSTOP)
    yield holder
    holder.send_signal(signal.SIGCONT)
    holder.kill()
    holder.communicate(timeout=PATIENCE)


def go_on(holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGCONT)
    holder.communicate("go on\n", timeout=PATIENCE)
    assert holder.returncode == 0


def test_a_hook_goes_its_way_and_its_event_arrives_later_once(place: Place, stopped: subprocess.Popen[str]) -> None:
    inbox = stores.inbox(place.home)
    with place.journal("hook/test").writing_from_hook(inbox) as writer:
        event = writer.append("inbox.captured", body="from the hook")
    inbox.close()
    assert writer.spooled
    assert spool.waiting(place.home) == [writer.spooled]
    go_on(stopped)
    place.capture("after")
    assert [one.data["body"] for one in place.events()] == ["before", "by the holder", "from the hook", "after"]
    assert len([one for one in place.events() if one.id == event.id]) == 1
    assert spool.waiting(place.home) == []
    assert place.gaps() == {}
    assert place.folded() == place.folded_anew()


def test_a_command_line_says_who_holds_the_journal_and_one_that_reads_goes_on(
    place: Place, stopped: subprocess.Popen[str]
) -> None:
    before = place.segments()
    adding = subprocess.run(
        place.mait("inbox", "add", "never"), env=place.environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert adding.returncode == 1
    assert f"process {stopped.pid}" in adding.stderr
    assert adding.stdout == ""
    assert place.segments() == before
    # Somebody writes without the store, as a sync does that brings another machine's events.
    listing = subprocess.run(
        place.mait("inbox", "list", "--json"), env=place.environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert listing.returncode == 0
    assert [item["body"] for item in json.loads(listing.stdout)] == ["before"]
    go_on(stopped)


def test_reading_serves_the_store_as_it_is_and_says_how_far_behind_it_is(
    place: Place, stopped: subprocess.Popen[str]
) -> None:
    folder = os.path.join(place.home.journal, "0ther0ne")
    os.makedirs(folder)
    event = place.events()[0]
    event.id = event.tx = "0" * 20
    event.replica = "0ther0ne"
    with open(os.path.join(folder, "000001.jsonl"), "wb") as file:
        file.write(event.line() + b"\n")
    listing = subprocess.run(
        place.mait("inbox", "list"), env=place.environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert listing.returncode == 0
    assert "before" in listing.stdout
    assert "1 event" in listing.stderr
    inbox = stores.inbox(place.home)
    assert inbox.catch_up(wait=False).behind == 1
    inbox.close()
    go_on(stopped)


def test_a_holder_that_is_killed_lets_go(place: Place, stopped: subprocess.Popen[str]) -> None:
    stopped.kill()
    stopped.wait(timeout=PATIENCE)
    place.capture("after")
    assert [one.data["body"] for one in place.events()] == ["before", "after"], "it had not left its block"
    assert_sound(place)


def test_what_was_written_is_no_failure_because_the_store_is_taken(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rebuild begins right after the command wrote: the command shows its item all the same."""
    from mait_code.commands.workspace import Workspace
    from mait_code.projections import store as store_module

    place.capture("before")
    monkeypatch.setattr(store_module, "WRITER_WAIT_MS", 50)
    ws = Workspace(place.home)
    with ws.journal.writing(ws.store("inbox")) as writer:
        event = writer.append("inbox.captured", body="written")
    other = stores.inbox(place.home)
    other.db.execute("BEGIN IMMEDIATE")
    with pytest.raises(Busy):
        ws.store("inbox").catch_up()
    assert ws.refreshed("inbox").state(event.entity) is not None
    other.db.execute("ROLLBACK")
    other.close()
    ws.close()


# -- everything at once -----------------------------------------------------------------------------------------------


class Crowd:
    """Command lines of all kinds at work on one machine, with another machine on the same remote."""

    def __init__(self, folder: Path) -> None:
        self.here, self.there = Place(folder / "here", "here"), Place(folder / "there", "there")
        self.remote = str(folder / "remote.git")
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True, timeout=60)
        for place in (self.here, self.there):
            self.run(place, "init", "--remote", self.remote)
            self.run(place, "sync")

    def run(self, place: Place, *arguments: str) -> str:
        done = subprocess.run(
            place.mait(*arguments), env=place.environment(), capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def loop(self, place: Place, script: str) -> subprocess.Popen[str]:
        """A shell that does something again and again. `$mait` is the program."""
        mait = " ".join(place.mait())
        return subprocess.Popen(
            ["sh", "-c", script], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=place.environment(mait=mait, data=place.home.data), start_new_session=True,
        )  # fmt: skip


WRITING = """
for n in 1 2 3 4; do
    $mait inbox add "worker $worker thought $n" --json || exit 1
    $mait board add "worker $worker card $n" --json || exit 1
done
"""
READING = """
while [ ! -e "$data/../stop" ]; do
    $mait inbox list --json >/dev/null || exit 1
    $mait board list --json >/dev/null || exit 1
    $mait digest >/dev/null || exit 1
done
"""
#: A user's git may find a lock of ours and says so; what counts is that nothing is lost.
SYNCING = 'while [ ! -e "$data/../stop" ]; do $mait sync >/dev/null 2>>"$data/../sync.errors"; done'
USERS_GIT = """
while [ ! -e "$data/../stop" ]; do
    git -C "$data" -c user.name=P -c user.email=p@example.org pull -q >/dev/null 2>&1
    git -C "$data" gc -q >/dev/null 2>&1
    git -C "$data" status >/dev/null 2>&1
    sleep 0.2
done
"""
THERE = 'while [ ! -e "$data/../stop" ]; do $mait inbox add "from there" >/dev/null && $mait sync >/dev/null 2>&1; done'


def test_sixteen_writers_four_readers_a_sync_loop_git_gc_and_git_pull(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path)
    here, there = crowd.here, crowd.there
    writers = [crowd.loop(here, f"worker={number}\n{WRITING}") for number in range(16)]
    others = [crowd.loop(here, script) for script in (*[READING] * 4, SYNCING, USERS_GIT)]
    others.append(crowd.loop(there, THERE))
    said = [writer.communicate(timeout=PATIENCE)[0] for writer in writers]
    for place in (here, there):
        with open(os.path.join(place.folder, "stop"), "w", encoding="ascii"):
            pass
    ended = [other.communicate(timeout=PATIENCE)[0] for other in others]
    assert [writer.returncode for writer in writers] == [0] * 16, said
    assert [other.returncode for other in others[:4]] == [0] * 4, ended
    told = [json.loads(line)["id"] for one in said for line in one.splitlines() if line.startswith("{")]
    assert len(set(told)) == 16 * 8
    with open(os.path.join(here.folder, "sync.errors"), encoding="utf-8") as file:
        assert "fault of ours" not in file.read(), "a sync may find the user's git at work, and says so; no more"
    commits = subprocess.run(
        ["git", "-C", here.home.data, "rev-list", "--count", "HEAD"], capture_output=True, timeout=60
    )
    assert int(commits.stdout) > 5, "the sync loop did its work meanwhile"
    for place in (here, there, here):
        crowd.run(place, "sync")
    assert_lines_whole(here)
    entities = {event.entity.partition("/")[2] for event in here.events()}
    assert set(told) <= entities
    for place in (here, there):
        assert place.gaps() == {}
        assert set(told) <= {event.entity.partition("/")[2] for event in place.events()}
    # A plain `git pull` that meets a locked index resets files under the writers. Whoever notices takes a new id, and what
    # was reset is adopted: more directories then, and not a line fewer.
    assert len(segments.directories(here.home.journal)) >= 2
    assert crowd.run(here, "digest") == crowd.run(there, "digest")
    assert crowd.run(here, "verify") == crowd.run(here, "verify")
    subprocess.run(["git", "-C", here.home.data, "fsck", "--strict"], check=True, capture_output=True, timeout=PATIENCE)
