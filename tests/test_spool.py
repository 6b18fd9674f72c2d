"""The spool: what a hook leaves when the lock is held arrives later, once, and damage to it costs only the damaged file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import orjson
import pytest
from workers.place import Place, read, write

from mait_code.journal import clock, spool
from mait_code.journal.errors import BadInput, Busy
from mait_code.journal.event import Event, Future
from mait_code.journal.lock import Lock
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    monkeypatch.setattr("mait_code.journal.journal.HOOK_WAIT", 0.0)
    place = Place(tmp_path_factory.mktemp("place"))
    place.capture("before")
    return place


@pytest.fixture
def held(place: Place) -> Iterator[Lock]:
    """Another writer holds the append lock."""
    lock = Lock(place.home.in_state("lock"))
    assert lock.acquire(1)
    lock.name_holder()
    yield lock
    lock.release()


def bodies(place: Place) -> list[str]:
    inbox = stores.inbox(place.home)
    try:
        inbox.catch_up()
        return [row[0] for row in inbox.query("SELECT body FROM inbox_items ORDER BY created_at, id")]
    finally:
        inbox.close()


def test_a_spooled_event_arrives_once_and_keeps_its_time(place: Place, held: Lock) -> None:
    then = clock.wall()
    event = place.capture("while held", hook=True)
    assert len(spool.waiting(place.home)) == 1
    assert bodies(place) == ["before"]
    held.release()
    place.capture("after")
    assert spool.waiting(place.home) == []
    assert bodies(place) == ["before", "while held", "after"]
    arrived = [one for one in place.events() if one.id == event.id]
    assert len(arrived) == 1
    assert (arrived[0].entity, arrived[0].tx, arrived[0].data) == (event.entity, event.tx, event.data)
    assert abs(clock.micros(arrived[0].at) - then) < 60_000_000
    assert place.gaps() == {}
    place.capture("and again")
    assert len([one for one in place.events() if one.id == event.id]) == 1


def test_a_command_names_the_holder_and_writes_nothing(
    place: Place, held: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mait_code.journal.journal.COMMAND_WAIT", 0.05)
    before = place.segments()
    journal = place.journal()
    with pytest.raises(Busy, match=f"process {os.getpid()}"), journal.writing(wait=0.05) as writer:
        writer.append("inbox.captured", body="never")
    assert place.segments() == before
    assert spool.waiting(place.home) == []


def test_a_lock_whose_file_was_removed_is_not_held_beside_another(place: Place, held: Lock) -> None:
    """Somebody deletes the state directory's files while others wait: who comes later locks a new file."""
    waiter, later = Lock(held.path), Lock(held.path)
    got: list[bool] = []
    waiting = threading.Thread(target=lambda: got.append(waiter.acquire(60)))
    waiting.start()
    time.sleep(0.1)
    os.unlink(held.path)
    assert later.acquire(0)
    held.release()
    waiting.join(0.3)
    assert got == [], "the old file is free, and locks nothing any more"
    later.release()
    waiting.join(60)
    assert got == [True]
    assert not later.acquire(0)
    waiter.release()


def test_actions_arrive_in_the_order_of_their_time_whole(
    place: Place, held: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.wall()
    journal = place.journal("hook/test")
    for offset in (5, 1, 3):
        monkeypatch.setattr(clock, "wall", lambda offset=offset: now + offset * 1000)
        with journal.writing_from_hook() as writer:
            first = writer.append("inbox.captured", body=f"first at {offset}")
            writer.append("inbox.captured", body=f"second at {offset}")
        assert writer.spooled
        assert first.tx == first.id
    monkeypatch.undo()
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    held.release()
    with journal.writing():
        pass  # whoever holds the lock takes them in
    events = place.events()[1:]
    assert [event.data["body"] for event in events] == [
        f"{which} at {n}" for n in (1, 3, 5) for which in ("first", "second")
    ]
    assert [event.tx for event in events] == [events[n - n % 2].id for n in range(6)]
    assert {event.actor for event in events} == {"hook/test"}
    assert place.gaps() == {}


def test_what_the_writer_saw_stays_what_it_sees(place: Place, held: Lock) -> None:
    """The heads are those of the moment the hook decided, and its time is above all it had seen."""
    board = stores.board(place.home)
    held.release()
    with place.journal().writing(board) as writer:
        card = writer.append("card.created", title="t")
    assert held.acquire(1)
    with place.journal().writing_from_hook(board) as spooled:
        edit = spooled.append("card.edited", card.entity, title="from the hook")
    assert spooled.spooled
    assert edit.sees == {"title": [card.id]}
    held.release()
    with place.journal().writing(board) as writer:
        # The spool was drained under this lock, so this writer knows the hook's edit and names it.
        last = writer.append("card.edited", card.entity, title="last")
    assert last.sees == {"title": [edit.id]}
    board.catch_up()
    assert board.conflicted() == []
    arrived = {event.id: event for event in place.events()}
    assert arrived[card.id].at < arrived[edit.id].at < arrived[last.id].at
    board.close()


def test_a_hook_does_not_wait_for_a_store_either(place: Place) -> None:
    """A store that another process is writing: the hook goes on with the heads it can see, at once."""
    inbox = stores.inbox(place.home)
    inbox.catch_up()
    place.capture("not folded yet")
    other = stores.inbox(place.home)
    other.db.execute("BEGIN IMMEDIATE")
    inbox.db.set_busy_timeout(0)
    with place.journal().writing_from_hook(inbox) as writer:
        writer.append("inbox.captured", body="from the hook")
    assert not writer.spooled, "the append lock was free"
    other.db.execute("ROLLBACK")
    other.close()
    inbox.close()
    assert bodies(place) == ["before", "not folded yet", "from the hook"]


def test_a_kill_between_appending_and_removing_folds_once(place: Place, held: Lock) -> None:
    event = place.capture("while held", hook=True)
    (path,) = spool.waiting(place.home)
    content = read(path)
    held.release()
    place.capture("after")
    write(path, content)  # as if the process had died before removing it
    place.capture("later")
    assert len([one for one in place.events() if one.id == event.id]) == 2
    assert bodies(place) == ["before", "while held", "after", "later"]
    assert place.gaps() == {}
    assert place.folded() == place.folded_anew()


def flip(path: str) -> None:
    content = read(path)
    place = content.index(b"while")
    write(path, content[:place] + b"W" + content[place + 1 :])


def change(path: str, **more: object) -> None:
    """Change a field and leave the checksum, as damage does."""
    write(path, orjson.dumps({**orjson.loads(read(path)), **more}))


def forge(path: str, **more: object) -> None:
    """Change a field of the event and set the checksum right, as a faulty program would."""
    raw = orjson.loads(read(path))
    drafts = [{**draft, **more} for draft in raw["events"]]
    raw["events"], raw["sum"] = drafts, spool.Action(raw["wall"], raw["seen"], drafts).checksum()
    write(path, orjson.dumps(raw))


DAMAGES: dict[str, Callable[[str], object]] = {
    "empty": lambda path: write(path, b""),
    "zeros": lambda path: write(path, bytes(500)),
    "garbage": lambda path: write(path, b"\xff\xfe{"),
    "cut": lambda path: write(path, read(path)[:-20]),
    "list": lambda path: write(path, b"[]"),
    "number": lambda path: write(path, b"5"),
    "deep": lambda path: write(path, b"[" * 100_000),
    "flipped": flip,
    "wall": lambda path: change(path, wall="x"),
    "seen": lambda path: change(path, seen="tomorrow"),
    "no-events": lambda path: change(path, events=[]),
    "events": lambda path: change(path, events={"a": 1}),
    "strings": lambda path: change(path, events=["x"]),
    "id": lambda path: forge(path, id="not an id"),
    "kind": lambda path: forge(path, kind=["x"]),
    "entity": lambda path: forge(path, entity="inbox/ILOU"),
    "session": lambda path: forge(path, session=5),
    "sees": lambda path: forge(path, sees={"body": "x"}),
    "data": lambda path: forge(path, data={}),
    "huge": lambda path: forge(path, data={"body": "x" * 300_000}),
    "directory": lambda path: (os.unlink(path), os.mkdir(path)),
    "link": lambda path: (os.unlink(path), os.symlink("/nowhere", path)),
    "pipe": lambda path: (os.unlink(path), os.mkfifo(path)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_put_aside_and_stops_nothing(place: Place, held: Lock, damage: str) -> None:
    place.capture("while held", hook=True)
    place.capture("also waiting", hook=True)
    first = spool.waiting(place.home)[0]
    DAMAGES[damage](first)
    held.release()
    place.capture("after")
    assert bodies(place) == ["before", "also waiting", "after"]
    assert spool.waiting(place.home) == []
    assert spool.damaged(place.home) == [first + spool.DAMAGED]
    log = stores.journal(place.home)
    log.catch_up()
    assert log.problems() == [], "nothing unreadable went into the journal"
    log.close()
    assert place.gaps() == {}


def test_an_event_of_a_newer_program_is_written_as_it_is(place: Place, held: Lock) -> None:
    """Two versions of the program on one machine: the older one drains what the newer one left."""
    place.capture("while held", hook=True)
    forge(spool.waiting(place.home)[0], kind="inbox.starred", v=3, data={"stars": 5})
    held.release()
    place.capture("after")
    assert spool.damaged(place.home) == []
    newer = [event for event in place.events() if isinstance(event, Future)]
    assert [(event.kind, event.v, event.data) for event in newer] == [("inbox.starred", 3, {"stars": 5})]
    assert place.gaps() == {}


@pytest.mark.parametrize("what", ["file", "link"])
def test_something_else_stands_where_the_spool_belongs(place: Place, held: Lock, what: str) -> None:
    folder = place.home.in_state("spool")
    if what == "file":
        write(folder, b"x")
    else:
        os.symlink("/nowhere", folder)
    place.capture("while held", hook=True)
    held.release()
    place.capture("after")
    assert bodies(place) == ["before", "while held", "after"]


def test_the_longest_body_a_hook_may_write_can_still_be_given_its_place(place: Place, held: Lock) -> None:
    """The line grows when it gets its number and the clock's difference; it may not become too long by that."""
    journal = place.journal()
    for missing in range(64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clock, "wall", lambda: 0)
            try:
                with journal.writing_from_hook() as writer:
                    writer.append("inbox.captured", body="x" * (256 * 1024 - 200 - missing * 8))
            except BadInput:
                continue
            break
    else:
        raise AssertionError("no length was accepted")
    held.release()
    place.capture("after")
    long = [event for event in place.events() if len(event.data["body"]) > 1000]
    assert len(long) == 1
    assert isinstance(long[0], Event)
    assert long[0].wall == "1970-01-01T00:00:00.000000Z"
    assert spool.damaged(place.home) == []


def test_who_waits_is_told_who_holds_the_lock_and_which_it_is(place: Place) -> None:
    """Also where it is no program of ours, which leaves no name, and where the name that is left is an older one's."""
    path = place.home.in_state("lock")
    lock = Lock(path)
    assert lock.acquire(1)
    lock.name_holder()
    lock.release()
    program = "import fcntl, sys; file = open(sys.argv[1], 'r+'); fcntl.flock(file, fcntl.LOCK_EX); print('got it', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "got it\n"
        waiting = Lock(path)
        assert not waiting.acquire(0)
        said = waiting.holder()
        holder.communicate("\n", timeout=60)
    assert path in said
    if os.path.exists("/proc/locks"):
        assert f"process {holder.pid} " in said
