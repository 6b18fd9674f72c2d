"""Who this machine is: a copied, restored or damaged machine never goes on under an id that another may be using."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from workers.place import Place, read, write

from mait_code.commands.workspace import Workspace
from mait_code.journal import replica, segments
from mait_code.journal.errors import MaitError
from mait_code.journal.event import Event, parse
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A machine that has written five events."""
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    place = Place(tmp_path_factory.mktemp("machine"))
    for number in range(5):
        place.capture(f"body {number}")
    return place


def own_id(place: Place) -> str:
    identity = replica.load(place.home)
    assert identity is not None
    return identity.replica


def note(place: Place) -> dict[str, str]:
    """What our replica.json says."""
    return replica.described(place.home, own_id(place))


def own_segment(place: Place) -> str:
    name = segments.in_directory(place.home.journal, own_id(place))[-1][0]
    return os.path.join(place.home.journal, own_id(place), name)


def bodies(place: Place) -> list[str]:
    inbox = stores.inbox(place.home)
    try:
        inbox.catch_up()
        return sorted(row[0] for row in inbox.query("SELECT body FROM inbox_items"))
    finally:
        inbox.close()


def assert_new_id(place: Place, old: str, untouched: dict[str, bytes]) -> Event:
    """The next event goes under a new id that knows where it comes from, and the old one's files stay as they were."""
    event = place.capture("after")
    assert event.replica == own_id(place) != old
    assert event.seq == 1
    assert note(place)["forked_from"] == old
    after = place.segments()
    assert {name: after.get(name) for name in untouched} == untouched
    again = place.capture("again")
    assert (again.replica, again.seq) == (event.replica, 2)
    assert place.folded() == place.folded_anew()
    return event


def test_one_machine_keeps_its_id(machine: Place) -> None:
    first = own_id(machine)
    for number in range(5):
        assert machine.capture(f"more {number}").replica == first
    assert machine.gaps() == {}
    assert segments.directories(machine.home.journal) == [first]
    assert "forked_from" not in note(machine)


def test_a_changed_machine_id(machine: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole disk was copied: everything is there but the machine is another."""
    old, before = own_id(machine), machine.segments()
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-2")
    assert_new_id(machine, old, before)


def test_a_copied_data_directory(machine: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    old = own_id(machine)
    copy = Place(tmp_path_factory.mktemp("copy"))
    shutil.copytree(machine.home.data, copy.home.data)
    before = copy.segments()
    event = copy.capture("after")
    assert event.replica != old
    assert {name: copy.segments()[name] for name in before} == before
    # Its largest time is above all it had seen, though its state knows nothing yet.
    assert event.at > max(one.at for one in machine.events())


def test_a_data_directory_that_was_moved(machine: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The state lies under the path, so the old state is not found; and were it brought along, the path is not the same."""
    old = own_id(machine)
    moved = Place(tmp_path_factory.mktemp("moved"))
    os.rename(machine.home.data, moved.home.data)
    shutil.copytree(machine.home.state, moved.home.state)
    assert_new_id(moved, old, moved.segments())


def test_two_copies_of_one_state_never_append_to_one_file(
    machine: Place, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both machines go on writing, then exchange their files: nobody's file has two writers."""
    twin = Place(tmp_path_factory.mktemp("twin"), "machine-2")
    shutil.copytree(machine.home.data, twin.home.data)
    shutil.copytree(machine.home.state, twin.home.state)
    machine.capture("here")
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-2")
    twin.capture("there")
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    machine.capture("here again")
    ours, theirs = machine.segments(), twin.segments()
    for name in ours.keys() & theirs.keys():
        assert ours[name].startswith(theirs[name]), f"{name} was continued on both sides"


@pytest.mark.parametrize(
    "put_back",
    [
        lambda place, path: write(path, read(path)[:300]),
        lambda place, path: write(path, b"".join(read(path).splitlines(keepends=True)[:3])),
        lambda place, path: write(path, b""),
        lambda place, path: os.unlink(path),
        lambda place, path: [os.unlink(one.path) for one in list(os.scandir(os.path.dirname(path)))],
        lambda place, path: shutil.rmtree(os.path.dirname(path)),
        lambda place, path: shutil.rmtree(place.home.journal),
        lambda place, path: shutil.rmtree(place.home.data),
    ],
    ids=[
        "torn",
        "older",
        "emptied",
        "deleted",
        "directory-emptied",
        "directory-deleted",
        "journal-deleted",
        "data-deleted",
    ],
)
def test_data_put_back_to_an_earlier_day(machine: Place, put_back: Callable[[Place, str], object]) -> None:
    """What was there before may be on the remote, so our file may not be continued from its middle."""
    old = own_id(machine)
    put_back(machine, own_segment(machine))
    assert_new_id(machine, old, machine.segments())


def test_data_put_back_and_then_brought_up_to_date(machine: Place) -> None:
    """A restored backup and a `git pull`: the file holds our last line again, so nothing is wrong."""
    old, path = own_id(machine), own_segment(machine)
    content = read(path)
    write(path, content[:300])
    write(path + ".new", content)
    os.replace(path + ".new", path)
    event = machine.capture("after")
    assert (event.replica, event.seq) == (old, 6)


def test_state_put_back_to_an_earlier_day(machine: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The journal is whole: the id is kept, and counting goes on behind the last line."""
    backup = tmp_path_factory.mktemp("backup") / "state"
    shutil.copytree(machine.home.state, backup)
    last = machine.capture("newer than the backup")
    shutil.rmtree(machine.home.state)
    shutil.copytree(backup, machine.home.state)
    event = machine.capture("after")
    assert (event.replica, event.seq) == (last.replica, last.seq + 1)
    assert event.at > last.at
    assert machine.gaps() == {}
    assert bodies(machine)[:2] == ["after", "body 0"]
    assert machine.folded() == machine.folded_anew()


def test_state_deleted(machine: Place) -> None:
    old, before = own_id(machine), machine.segments()
    shutil.rmtree(machine.home.state)
    event = machine.capture("after")
    assert event.replica != old
    assert {name: machine.segments()[name] for name in before} == before
    assert event.at > max(
        one.at for content in before.values() for one in map(parse, content.split(b"\n")) if isinstance(one, Event)
    )
    assert machine.folded() == machine.folded_anew()


def test_the_clock_file_is_lost_and_the_data_is_older(machine: Place) -> None:
    """Without the clock nothing says where our last line was, so the id cannot be kept."""
    old, path = own_id(machine), own_segment(machine)
    write(path, b"".join(read(path).splitlines(keepends=True)[:2]))
    os.unlink(machine.home.in_state("clock"))
    assert_new_id(machine, old, machine.segments())


@pytest.mark.parametrize("name", ["identity.json", "clock"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda path: write(path, b""),
        lambda path: write(path, b"\0" * 300),
        lambda path: write(path, b"garbage \xff\xfe"),
        lambda path: write(path, b"[]"),
        lambda path: write(path, b'{"replica": 5, "fingerprint": null}'),
        lambda path: write(path, b'{"seen": 1e300, "mark": [1, 2]}'),
        lambda path: write(path, read(path)[:60]),
        lambda path: write(path, read(path) * 2),
        os.unlink,
        lambda path: (os.unlink(path), os.mkdir(path)),
        lambda path: (os.unlink(path), os.symlink("/nowhere/at/all", path)),
        lambda path: (os.unlink(path), os.mkfifo(path)),
    ],
    ids=[
        "empty",
        "zeros",
        "garbage",
        "list",
        "wrong-types",
        "numbers",
        "cut",
        "doubled",
        "gone",
        "directory",
        "link",
        "pipe",
    ],
)
def test_damage_to_the_state(machine: Place, name: str, damage: Callable[[str], object]) -> None:
    old, before = own_id(machine), machine.segments()
    path = machine.home.in_state(name)
    whole = read(path)
    damage(path)
    identity = replica.load(machine.home)
    intact = identity is not None and identity.replica == replica.Clock.load(machine.home).replica == old
    assert intact == (name == "clock" and os.path.isfile(path) and read(path)[:256] == whole), (
        "what still says the same is no damage"
    )
    event = machine.capture("after")
    if intact:
        assert event.replica == old
    else:
        assert event.replica != old
        assert {one: machine.segments()[one] for one in before} == before
    assert machine.capture("again").replica == event.replica
    assert machine.gaps() == {}
    assert machine.folded() == machine.folded_anew()
    assert len(bodies(machine)) == 7


def test_every_flipped_bit_of_the_clock_is_noticed(machine: Place) -> None:
    """A year 8999 that is believed once would be in every event from then on."""
    path = machine.home.in_state("clock")
    content = read(path)
    said = len(content.rstrip())
    for place in range(said):
        for bit in range(8):
            write(path, content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :])
            loaded = replica.Clock.load(machine.home)
            assert loaded.replica == "", f"byte {place}, bit {bit}"
            assert loaded.seen == 0
    write(path, content)
    assert replica.Clock.load(machine.home).replica == own_id(machine)


def test_a_damaged_last_line_does_not_set_the_clock(machine: Place) -> None:
    """Its time may be any. Neither the stores nor the writer believe it."""
    path = own_segment(machine)
    lines = read(path).splitlines()
    event = parse(lines[-1])
    assert isinstance(event, Event)
    write(path, b"\n".join([*lines[:-1], lines[-1].replace(event.at.encode(), b"8999-12-31T23:59:59.999999Z")]) + b"\n")
    after = machine.capture("after")
    assert after.at < "2100"
    assert after.wall == ""


def test_something_else_stands_where_the_next_segment_belongs(machine: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "CLOSED_AT", 10)
    folder = os.path.dirname(own_segment(machine))
    os.mkdir(os.path.join(folder, "000002.jsonl"))
    os.symlink("/nowhere", os.path.join(folder, "000003.jsonl"))
    os.mkfifo(os.path.join(folder, "000004.jsonl"))
    event = machine.capture("after")
    assert event.seq == 6
    assert max(machine.segments()).endswith("/000005.jsonl")
    assert len(bodies(machine)) == 6


def test_our_directory_became_a_link(machine: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Links are not followed in reading, so what went through one would never be seen."""
    old = own_id(machine)
    folder = os.path.dirname(own_segment(machine))
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "moved"
    os.rename(folder, elsewhere)
    os.symlink(elsewhere, folder)
    event = machine.capture("after")
    assert event.replica != old
    assert bodies(machine) == ["after"]


def test_a_file_stands_where_our_directory_belongs(machine: Place) -> None:
    old = own_id(machine)
    folder = os.path.dirname(own_segment(machine))
    shutil.rmtree(folder)
    write(folder, b"not a directory")
    assert_new_id(machine, old, {})


def test_a_foreign_directory_named_like_ours(machine: Place) -> None:
    """Somebody's copy with our id was merged into ours: the file no longer holds our last line where we left it."""
    old, path = own_id(machine), own_segment(machine)
    foreign = [parse(line) for line in read(path).splitlines()]
    lines = []
    for event in foreign:
        assert isinstance(event, Event)
        event.data = {**event.data, "body": f"foreign {event.seq}, and longer than ours was"}
        event.id = event.tx = os.urandom(10).hex()
        lines.append(event.line())
    write(path, b"\n".join(lines) + b"\n")
    assert_new_id(machine, old, machine.segments())


def test_what_replica_json_says_may_be_anything(machine: Place) -> None:
    path = os.path.join(os.path.dirname(own_segment(machine)), "replica.json")
    for content in (b"", b"\xff", b"[]", b'{"label": 5}', b"[" * 5000):
        write(path, content)
        machine.capture("more")
        log = stores.journal(machine.home)
        log.catch_up()
        assert log.labels() == {}
        log.close()
        assert read(path) == content, "it is written once, and left alone after that"


@pytest.mark.parametrize("written", [False, True], ids=["before", "after"])
def test_a_kill_between_the_two_files_of_a_new_id_keeps_the_line_of_descent(
    machine: Place, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    old = own_id(machine)
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-2")

    real = replica.write_atomically

    def killed(path: str, content: bytes) -> None:
        if written:
            real(path, content)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replica, "write_atomically", killed)
        with pytest.raises(KeyboardInterrupt):
            machine.capture("never written")
    assert_new_id(machine, old, machine.segments())


def test_a_journal_that_is_a_file_is_refused_with_a_word(machine: Place) -> None:
    shutil.rmtree(machine.home.journal)
    write(machine.home.journal, b"")
    with pytest.raises(MaitError, match="is a file"):
        machine.capture("after")
    assert bodies(machine) == []


# -- a git that resets our file under us ------------------------------------------------------------------------------


@pytest.fixture
def git_lock(machine: Place) -> str:
    """The lock file of a git at work, not there yet."""
    os.makedirs(machine.home.in_data(".git"))
    return machine.home.in_data(".git/index.lock")


def test_what_a_reset_takes_away_is_put_back_by_the_next_writer(machine: Place) -> None:
    path = own_segment(machine)
    write(path, b"".join(read(path).splitlines(keepends=True)[:2]))
    machine.capture("after")
    assert bodies(machine) == ["after", *(f"body {number}" for number in range(5))]
    assert machine.gaps() == {}
    assert machine.folded() == machine.folded_anew()


def test_a_writer_that_comes_while_git_has_our_file_away(machine: Place, git_lock: str) -> None:
    """At that moment nothing can be told; when git has put a shorter file there, the next writers still look."""
    path = own_segment(machine)
    content = read(path)
    write(git_lock, b"")
    os.unlink(path)
    machine.capture("during")
    assert not any(b"adopted_from" in read(entry) for entry in notes(machine)), "git may bring everything back"
    write(path, b"".join(content.splitlines(keepends=True)[:2]))
    os.unlink(git_lock)
    machine.capture("later")
    assert bodies(machine) == [*(f"body {number}" for number in range(5)), "during", "later"]
    assert machine.gaps() == {}


def test_a_file_that_is_cut_again_after_it_was_put_back(machine: Place) -> None:
    """A pull resets the file and then brings back what it had put aside, and may do it once more."""
    path = own_segment(machine)
    content = read(path)
    write(path, b"".join(content.splitlines(keepends=True)[:4]))
    first = machine.capture("first")
    write(path, b"".join(content.splitlines(keepends=True)[:1]))
    second = machine.capture("second")
    assert second.replica == first.replica
    assert bodies(machine) == [*(f"body {number}" for number in range(5)), "first", "second"]


def test_after_a_while_nobody_looks_again(machine: Place) -> None:
    """Whoever removes lines later by hand has a reason, and finds them in the list of what is gone."""
    path = own_segment(machine)
    content = read(path)
    write(path, b"".join(content.splitlines(keepends=True)[:4]))
    machine.capture("first")
    marker = machine.home.in_state("recent.cut")
    assert os.path.exists(marker)
    os.utime(marker, (1, 1))
    machine.capture("second")
    assert not os.path.exists(marker)


def test_a_directory_that_somebody_removed_stays_away(machine: Place) -> None:
    shutil.rmtree(os.path.dirname(own_segment(machine)))
    machine.capture("after")
    assert bodies(machine) == ["after"]


def test_a_file_that_is_replaced_in_the_moment_of_writing(machine: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written went with the old file, so it is adopted at once: whoever wrote it finds it."""
    path = own_segment(machine)
    content = read(path)
    real = os.write
    with monkeypatch.context() as patch:

        def replacing(handle: int, block: bytes) -> int:
            if b"in the old file" in block and os.path.samestat(os.fstat(handle), os.stat(path)):
                os.unlink(path)
                write(path, content)
            return real(handle, block)

        patch.setattr(os, "write", replacing)
        event = machine.capture("in the old file")
    assert event.id in {one.id for one in machine.events()}
    assert bodies(machine) == [*(f"body {number}" for number in range(5)), "in the old file"]
    machine.capture("after")
    assert machine.gaps() == {}
    assert len(bodies(machine)) == 7


def test_a_command_finds_what_it_wrote_although_git_took_it_away(
    machine: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own_segment(machine)
    content = read(path)
    ws = Workspace(machine.home)
    with ws.journal.writing(ws.store("inbox")) as writer:
        event = writer.append("inbox.captured", body="taken away")
    write(path, content)
    assert ws.refreshed("inbox").state(event.entity) is not None
    ws.close()
    assert "taken away" in bodies(machine)


def notes(place: Place) -> list[str]:
    return [os.path.join(place.home.journal, name, "replica.json") for name in segments.directories(place.home.journal)]
