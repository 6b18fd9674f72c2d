"""The cheap look at the journal: it may never take a change for none, and whatever it finds must fold as a rebuild does."""

from __future__ import annotations

import os
import random
import shutil
import time
from typing import TYPE_CHECKING

import orjson
import pytest
from workers.place import Place, another, read, write

from mait_code.journal import reading, segments
from mait_code.journal.event import Event, parse
from mait_code.projections import stores
from mait_code.projections.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mait_code.projections.store import Store

LONG_AGO = 1_000_000_000 * 10**9


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    return Place(tmp_path_factory.mktemp("place"))


@pytest.fixture
def inbox(place: Place) -> Iterator[Store]:
    store = stores.inbox(place.home)
    yield store
    store.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let so much time pass that every stamp can be trusted: the shortest wait that outlasts a tick of the clock."""
    monkeypatch.setattr(reading, "RACY_NANOSECONDS", 30_000_000)
    return lambda: time.sleep(0.06)


def bodies(store: Store) -> list[str]:
    return sorted(row[0] for row in store.query("SELECT body FROM inbox_items"))


def last_segment(place: Place) -> str:
    return os.path.join(place.home.journal, max(place.segments()))


def look(store: Store) -> bool:
    """Whether the cheap look alone says that nothing is new."""
    raw = store._raw_mark(store.db)
    return reading.unchanged(store.home, reading.Mark.load(orjson.loads(raw)))


# -- one change at a time ---------------------------------------------------------------------------------------------


def test_nothing_new_is_seen_by_the_cheap_look_alone(place: Place, inbox: Store, patient: Callable[[], None]) -> None:
    place.capture("one")
    inbox.catch_up()
    patient()
    inbox.catch_up()  # writes down what can be trusted now
    assert look(inbox)
    before = inbox.db.total_changes()
    assert inbox.catch_up().folded == 0
    assert inbox.db.total_changes() == before
    place.capture("two")
    assert not look(inbox)
    inbox.catch_up()
    assert bodies(inbox) == ["one", "two"]


def test_a_young_file_is_compared_by_its_bytes_and_writes_nothing(place: Place, inbox: Store) -> None:
    place.capture("one")
    inbox.catch_up()
    before = inbox.db.total_changes()
    for _ in range(3):
        assert not look(inbox)
        assert inbox.catch_up().folded == 0
    assert inbox.db.total_changes() == before


def test_same_size_within_one_tick(place: Place, inbox: Store) -> None:
    """A file rewritten in place, so fast that size, times and inode are the same."""
    place.capture("aaaa")
    path = last_segment(place)
    missed = 0
    for number in range(60):
        content = read(path)
        inbox.catch_up()
        body = f"{number:04d}"
        write(path, another(content.strip(), body=body) + b"\n")
        missed += os.stat(path).st_size != len(content)
        inbox.catch_up()
        assert bodies(inbox) == [body]
    assert not missed, "every version has the same size"


def test_same_size_and_an_old_time(place: Place, inbox: Store, patient: Callable[[], None]) -> None:
    """A copy that brings its times with it, as `cp -p`, `rsync -t` and backups make them."""
    place.capture("aaaa")
    path = last_segment(place)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    os.utime(os.path.dirname(path), ns=(LONG_AGO, LONG_AGO))
    inbox.catch_up()
    patient()
    inbox.catch_up()
    assert look(inbox)
    write(path, another(read(path).strip(), body="bbbb") + b"\n")
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    os.utime(os.path.dirname(path), ns=(LONG_AGO, LONG_AGO))
    inbox.catch_up()
    assert bodies(inbox) == ["bbbb"]


def test_a_directory_that_was_put_back_with_its_times(place: Place, inbox: Store, patient: Callable[[], None]) -> None:
    """A closed segment differs, the last one does not, and the directory's own time is the old one."""
    place.capture("aaaa")
    first = last_segment(place)
    second = first.replace("000001", "000002")
    shutil.copy2(first, second)
    write(second, another(read(first).strip(), body="last") + b"\n")
    for path in (first, second, os.path.dirname(first)):
        os.utime(path, ns=(LONG_AGO, LONG_AGO))
    inbox.catch_up()
    patient()
    inbox.catch_up()
    assert look(inbox)
    directory = os.path.dirname(first)
    shutil.copytree(directory, directory + ".copy", copy_function=shutil.copy2)
    write(os.path.join(directory + ".copy", "000001.jsonl"), another(read(first).strip(), body="bbbb") + b"\n")
    for name in ("000001.jsonl", "000002.jsonl", ""):
        os.utime(os.path.join(directory + ".copy", name), ns=(LONG_AGO, LONG_AGO))
    root = os.stat(place.home.journal)
    os.rename(directory, directory + ".old")
    os.rename(directory + ".copy", directory)
    os.utime(place.home.journal, ns=(root.st_atime_ns, root.st_mtime_ns))
    inbox.catch_up()
    assert bodies(inbox) == ["bbbb", "last"]


def test_times_of_the_epoch_are_times(place: Place, inbox: Store, patient: Callable[[], None]) -> None:
    """Archives made to be reproducible set every time to zero."""
    place.capture("one")
    path = last_segment(place)
    for one in (path, os.path.dirname(path), place.home.journal):
        os.utime(one, ns=(0, 0))
    inbox.catch_up()
    assert bodies(inbox) == ["one"]
    patient()
    inbox.catch_up()
    with open(path, "ab") as file:
        file.write(another(read(path).strip(), body="two") + b"\n")
    for one in (path, os.path.dirname(path), place.home.journal):
        os.utime(one, ns=(0, 0))
    inbox.catch_up()
    assert bodies(inbox) == ["one", "two"]


@pytest.mark.parametrize("years", [-40, -1, 1, 70])
def test_clocks_that_were_set_elsewhere(place: Place, inbox: Store, patient: Callable[[], None], years: int) -> None:
    """Times far from now, before and after: the file system's clock and ours need not agree."""
    then = time.time_ns() + years * 365 * 86400 * 10**9
    place.capture("one")
    path = last_segment(place)
    for number in range(3):
        for one in (path, os.path.dirname(path), place.home.journal):
            os.utime(one, ns=(then, then))
        inbox.catch_up()
        patient()
        inbox.catch_up()
        assert look(inbox)
        fresh = os.path.join(os.path.dirname(path), segments.name_of(number + 2))
        write(fresh, another(read(path).strip(), body=f"late {number}") + b"\n")
        inbox.catch_up()
        assert f"late {number}" in bodies(inbox)


def test_a_look_that_was_held_up(
    place: Place, inbox: Store, monkeypatch: pytest.MonkeyPatch, patient: Callable[[], None]
) -> None:
    """The process was stopped in the middle of looking: what changed meanwhile may carry a time after the look began."""
    place.capture("aaaa")
    path = last_segment(place)
    real, stops = os.stat, []

    def slow(*arguments: object, **more: object) -> os.stat_result:
        status = real(*arguments, **more)  # type: ignore[arg-type, call-overload]
        if not stops and arguments[0] == os.path.dirname(path):
            stops.append(1)
            time.sleep(0.1)
            write(path.replace("000001", "000002"), another(read(path).strip(), body="late") + b"\n")
            status = real(*arguments, **more)  # type: ignore[arg-type, call-overload]
            write(path.replace("000001", "000003"), another(read(path).strip(), body="later") + b"\n")
        return status

    monkeypatch.setattr(reading.os, "stat", slow)
    inbox.catch_up()
    monkeypatch.setattr(reading.os, "stat", real)
    patient()
    inbox.catch_up()
    inbox.catch_up()
    assert bodies(inbox) == ["aaaa", "late", "later"]


def test_a_segment_that_git_has_in_its_hands(place: Place, inbox: Store) -> None:
    place.capture("one")
    path = last_segment(place)
    os.makedirs(place.home.in_data(".git"))
    inbox.catch_up()
    content = read(path)
    for lock in ("index.lock", "MERGE_HEAD", "rebase-merge", "rebase-apply"):
        write(place.home.in_data(f".git/{lock}"), b"")
        os.unlink(path)
        assert inbox.catch_up().folded == 0
        assert bodies(inbox) == ["one"], "not gone while git may bring it back"
        write(path, content[:40])
        inbox.catch_up()
        assert bodies(inbox) == ["one"], "not cut either"
        write(path, content)
        os.unlink(place.home.in_data(f".git/{lock}"))
        inbox.catch_up()
        assert bodies(inbox) == ["one"]
        assert inbox.gone() == []
    os.unlink(path)
    inbox.catch_up()
    assert bodies(inbox) == []
    assert [line for _, line in inbox.gone()] == [content.strip()]
    write(path, content)
    inbox.catch_up()
    assert bodies(inbox) == ["one"]
    assert inbox.gone() == []


def test_a_whole_event_that_lacks_its_newline_is_folded(place: Place, inbox: Store) -> None:
    place.capture("one")
    path = last_segment(place)
    content = read(path)
    write(path, content[:-1])
    inbox.catch_up()
    assert bodies(inbox) == ["one"]
    # The next append isolates it, and folds as ever.
    place.capture("two")
    inbox.catch_up()
    assert bodies(inbox) == ["one", "two"]
    assert read(path).startswith(content)


def test_an_event_that_turned_out_to_be_part_of_a_longer_line_goes(place: Place, inbox: Store) -> None:
    place.capture("one")
    place.capture("two")
    path = last_segment(place)
    content = read(path)
    write(path, content[:-1])
    inbox.catch_up()
    assert bodies(inbox) == ["one", "two"]
    write(path, content[:-1] + b"trailing\n")
    inbox.catch_up()
    assert bodies(inbox) == ["one"]
    assert place.folded() == place.folded_anew()


def test_a_torn_line_is_named_and_completed_later(place: Place, inbox: Store) -> None:
    place.capture("one")
    place.capture("two")
    path = last_segment(place)
    content = read(path)
    log = stores.journal(place.home)
    for cut in (len(content) - 2, len(content) - 40):
        write(path, content[:cut])
        log.catch_up()
        inbox.catch_up()
        assert bodies(inbox) == ["one"]
        assert [(number, kind) for _file, number, kind, _reason in log.problems()] == [(2, "torn")]
    write(path, content)
    log.catch_up()
    inbox.catch_up()
    assert bodies(inbox) == ["one", "two"]
    assert log.problems() == []
    log.close()


def test_late_events_in_bulk_are_folded_as_if_they_had_been_on_time(place: Place, inbox: Store) -> None:
    events = [place.capture(f"body {number}") for number in range(30)]
    inbox.catch_up()
    path = last_segment(place)
    lines = read(path).splitlines()
    edits = []
    for number, event in enumerate(events):
        late = parse(lines[number])
        assert isinstance(late, Event)
        late.kind, late.id, late.sees = "inbox.edited", os.urandom(10).hex(), {"body": [event.id]}
        late.tx, late.data, late.replica = late.id, {"body": f"late {number}"}, "0ther0ne"
        edits.append(late.line())
    folder = os.path.join(place.home.journal, "0ther0ne")
    os.makedirs(folder)
    for number in range(10):
        write(os.path.join(folder, segments.name_of(number + 1)), b"\n".join(edits[number::10]) + b"\n")
    assert inbox.catch_up().folded == 30
    assert bodies(inbox) == sorted(f"late {number}" for number in range(30))
    assert place.folded() == place.folded_anew()


def test_copies_of_one_event_are_folded_once_wherever_they_stand(place: Place, inbox: Store) -> None:
    place.capture("one")
    path = last_segment(place)
    content = read(path)
    for number in range(3):
        folder = os.path.join(place.home.journal, f"c0pyc0p{number}")
        os.makedirs(folder)
        write(os.path.join(folder, "000001.jsonl"), content * (number + 1))
        inbox.catch_up()
        assert bodies(inbox) == ["one"]
    os.unlink(path)
    inbox.catch_up()
    assert bodies(inbox) == ["one"]
    assert inbox.gone() == []
    assert place.folded() == place.folded_anew()


# -- many changes in any order ----------------------------------------------------------------------------------------


class Hands:
    """What users, git and other programs do to the files of a journal, at random."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place = place
        self.random = random.Random(seed)
        self.kept: dict[str, bytes] = {}

    def act(self) -> None:
        action = self.random.choice(
            [
                *(self.append, self.append, self.append, self.rewrite, self.cut, self.remove, self.put_back),
                *(self.exchange, self.copy, self.rename, self.age, self.swap_directories, self.tear, self.lose_newline),
            ]
        )
        action()

    def _path(self) -> str:
        names = sorted(self.place.segments())
        return os.path.join(self.place.home.journal, self.random.choice(names)) if names else ""

    def _last(self) -> str:
        """The last segment of some directory: the only kind that the cheap look must see changed in place."""
        lasts: dict[str, str] = {}
        for name in sorted(self.place.segments()):
            lasts[name.partition("/")[0]] = name
        return os.path.join(self.place.home.journal, self.random.choice(sorted(lasts.values()))) if lasts else ""

    def append(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.place.capture(f"body {self.random.random()}")

    def _replace(self, path: str, content: bytes) -> None:
        """As git does: the old file goes, a new one comes under its name."""
        os.unlink(path)
        write(path, content)

    def rewrite(self) -> None:
        """Another text of the same length, in the last segment, in place."""
        if path := self._last():
            write(path, self._with_another_text(read(path)))

    def exchange(self) -> None:
        """The same in any segment, as a new file."""
        if path := self._path():
            self._replace(path, self._with_another_text(read(path)))

    def _with_another_text(self, content: bytes) -> bytes:
        lines = content.split(b"\n")
        places = [number for number, line in enumerate(lines) if isinstance(parse(line), Event)]
        if places:
            number = self.random.choice(places)
            lines[number] = another(lines[number], body=f"other {self.random.random()}")
        return b"\n".join(lines)

    def cut(self) -> None:
        if path := self._path():
            content = read(path)
            self.kept[path] = content
            self._replace(path, content[: self.random.randint(0, len(content))])

    def remove(self) -> None:
        if path := self._path():
            self.kept[path] = read(path)
            os.unlink(path)

    def put_back(self) -> None:
        if self.kept:
            path = self.random.choice(sorted(self.kept))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path + ".tmp", self.kept.pop(path))
            os.replace(path + ".tmp", path)

    def copy(self) -> None:
        if path := self._path():
            folder = os.path.join(self.place.home.journal, f"c0py{self.random.randint(1000, 1009)}")
            os.makedirs(folder, exist_ok=True)
            shutil.copy2(path, os.path.join(folder, segments.name_of(self.random.randint(1, 3))) + ".tmp")
            os.replace(os.path.join(folder, os.listdir(folder)[0]), os.path.join(folder, segments.name_of(1)))

    def rename(self) -> None:
        names = segments.directories(self.place.home.journal)
        if names:
            old = os.path.join(self.place.home.journal, self.random.choice(names))
            new = os.path.join(self.place.home.journal, f"m0ved{self.random.randint(100, 109)}")
            if not os.path.exists(new):
                os.rename(old, new)

    def swap_directories(self) -> None:
        names = [os.path.join(self.place.home.journal, name) for name in segments.directories(self.place.home.journal)]
        if len(names) > 1:
            one, other = self.random.sample(names, 2)
            os.rename(one, one + ".swap")
            os.rename(other, one)
            os.rename(one + ".swap", other)

    def age(self) -> None:
        """Set the times of something back or ahead, the directory's too."""
        if path := self._path():
            then = self.random.choice([0, LONG_AGO, time.time_ns(), time.time_ns() + 3600 * 10**9])
            for one in self.random.sample([path, os.path.dirname(path), self.place.home.journal], 2):
                os.utime(one, ns=(then, then))

    def tear(self) -> None:
        if path := self._last():
            with open(path, "ab") as file:
                file.write(b'{"kind":"inbox.captured","v":1,"id":"' + b"\0" * self.random.randint(0, 5))

    def lose_newline(self) -> None:
        if path := self._last():
            write(path, read(path).rstrip(b"\n"))


@pytest.mark.parametrize("young", [True, False], ids=["young", "settled"])
@pytest.mark.parametrize("seed", range(8))
def test_catching_up_equals_a_rebuild_whatever_hands_do(
    place: Place, monkeypatch: pytest.MonkeyPatch, seed: int, young: bool
) -> None:
    """After every few changes the stores say what a fold of the whole journal says: without trust in stamps (a machine
    that is quicker than its clock), and with it."""
    monkeypatch.setattr(segments, "CLOSED_AT", 1200)
    if not young:
        monkeypatch.setattr(reading, "RACY_NANOSECONDS", 12_000_000)
    hands = Hands(place, seed)
    kept = {store.name: store for store in place.stores()}
    for step in range(40):
        for _ in range(hands.random.randint(1, 3)):
            hands.act()
        if not young:
            time.sleep(0.03)
        for store in kept.values():
            store.catch_up()
        found = {name: digest(store) for name, store in kept.items()}
        assert found == place.folded_anew(), f"seed {seed}, step {step}"
    for store in kept.values():
        store.close()


def test_a_closed_segment_changed_in_place_is_found_by_a_thorough_look(
    place: Place, inbox: Store, patient: Callable[[], None]
) -> None:
    """The one change that the cheap look may miss: no file came or went, and the last segment is as it was."""
    place.capture("aaaa")
    first = last_segment(place)
    write(first.replace("000001", "000002"), another(read(first).strip(), body="last") + b"\n")
    inbox.catch_up()
    patient()
    inbox.catch_up()
    write(first, another(read(first).strip(), body="bbbb") + b"\n")
    inbox.catch_up()
    assert bodies(inbox) == ["aaaa", "last"]
    inbox.catch_up(thorough=True)
    assert bodies(inbox) == ["bbbb", "last"]
    assert place.folded() == place.folded_anew()
