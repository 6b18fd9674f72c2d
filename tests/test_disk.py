"""A full or read-only disk: exit code 74, one clear line, nothing half written, and reading goes on."""

from __future__ import annotations

import errno
import functools
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from transcripts import Transcript
from workers.place import Place, read

from mait_code.journal.errors import DiskRefused
from mait_code.journal.event import Event, parse
from mait_code.projections import stores
from mait_code.projections.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DISK = 74
NOBODY = 65534
PATIENCE = 240


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    return Place(str(tmp_path_factory.mktemp("disk") / "place"))


@functools.cache
def namespace() -> list[str]:
    """The words that start a program in a mount namespace of its own; empty where the system does not allow it."""
    if not shutil.which("unshare") or not sys.platform.startswith("linux"):
        return []
    words = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    probe = subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, timeout=60)
    return words if probe.returncode == 0 else []


def in_namespace(place: Place, folder: str, *what: str) -> dict[str, Any]:
    """Run workers.full_disk with `folder` mounted as `what` says."""
    if not namespace():
        pytest.skip("this system lets nobody here mount a file system; short writes and permissions are tested without")
    os.makedirs(folder, exist_ok=True)
    command = [*namespace(), *place.command("workers.full_disk", folder, *what)]
    done = subprocess.run(command, env=place.environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def assert_refused(said: dict[str, Any]) -> None:
    """Exit code 74 and one clear line, with a second that says what to do at most."""
    assert said["code"] == DISK, said
    assert said["out"] == ""
    lines = said["err"].splitlines()
    assert 1 <= len(lines) <= 2, said["err"]
    assert "fault of ours" not in said["err"]
    assert any(word in said["err"] for word in ("cannot write", "cannot create", "cannot open", "space", "Read-only"))


def lines_of(answer: dict[str, Any]) -> list[bytes]:
    """Every line of every segment, each of them a whole event."""
    found = []
    for name, text in answer["files"]:
        if name.endswith(".jsonl"):
            content = text.encode()
            assert content.endswith(b"\n") or not content, f"{name} ends in the middle of a line"
            for line in content.split(b"\n")[:-1]:
                assert isinstance(parse(line), Event), f"{name}: {line!r}"
                found.append(line)
        assert not name.endswith(".tmp"), f"{name} was left behind"
    return found


@pytest.mark.parametrize("what", ["everything", "data", "state"])
def test_a_disk_that_fills_up(place: Place, what: str) -> None:
    folder = {"everything": place.folder, "data": place.home.data, "state": os.path.join(place.folder, "state")}[what]
    answer = in_namespace(place, folder, "fill", "1m")
    *added, listed, card, board, synced, again, listed_again = answer["said"]
    told = [json.loads(said["out"])["body"] for said in added if said["code"] == 0]
    assert len(told) > 5
    if what == "state":
        # Where the state is full but the data is not, capturing may still be possible: the journal is what counts.
        assert all(said["code"] in (0, DISK) for said in added)
    else:
        assert_refused(added[-1])
        assert_refused(card)
        assert_refused(synced)
    assert listed["code"] == 0
    assert [item["body"] for item in json.loads(listed["out"])] == told
    assert board["code"] == 0
    assert again["code"] == 0, again
    assert [item["body"] for item in json.loads(listed_again["out"])] == [*told, "room again"]
    events = [event for event in map(parse, lines_of(answer)) if isinstance(event, Event) and "body" in event.data]
    assert [event.data["body"] for event in sorted(events, key=lambda one: one.key)] == [*told, "room again"]


@pytest.mark.parametrize("what", ["everything", "data", "state"])
def test_a_disk_that_is_full_from_the_start(place: Place, what: str) -> None:
    folder = {"everything": place.folder, "data": place.home.data, "state": os.path.join(place.folder, "state")}[what]
    answer = in_namespace(place, folder, "full", "2m")
    refused, empty, reminders, again, listed = answer["said"]
    assert_refused(refused)
    assert (empty["code"], empty["out"].strip()) == (0, "[]")
    assert (reminders["code"], reminders["out"].strip()) == (0, "[]")
    assert again["code"] == 0, again
    assert [item["body"] for item in json.loads(listed["out"])] == ["room again"]
    assert len(lines_of(answer)) == 1


@pytest.mark.parametrize("what", ["everything", "data", "state"])
def test_hooks_on_a_full_disk_fail_no_session_and_lose_nothing(place: Place, what: str, tmp_path: Path) -> None:
    folder = {"everything": place.folder, "data": place.home.data, "state": os.path.join(place.folder, "state")}[what]
    written = Transcript(tmp_path / "elsewhere")
    written.turn("make the cart faster")
    if not namespace():
        pytest.skip("this system lets nobody here mount a file system")
    os.makedirs(folder, exist_ok=True)
    command = [*namespace(), *place.command("workers.hooks_full_disk", folder, written.path)]
    environment = place.environment(MAIT_CODE_CAPTURE="evidence")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    for said in answer["said"]:
        assert said["code"] == 0, said
        assert not said["out"] or said["hook"] == "statusline" or json.loads(said["out"]), said
        assert "Traceback" not in said["err"], said
    shown = json.loads(answer["shown"])
    assert [turn["request"] for turn in shown["turns"]] == ["make the cart faster"]
    assert len(shown["prompts"]) == 1


@pytest.mark.parametrize("folded", [True, False], ids=["folded", "not-folded"])
@pytest.mark.parametrize("what", ["everything", "data", "state"])
def test_a_read_only_disk(place: Place, what: str, folded: bool) -> None:
    """Reading folds into memory where the stores cannot be written, and sees what is new all the same."""
    place.capture("before")
    if folded:
        place.folded()
        made = subprocess.run(place.mait("init"), env=place.environment(), capture_output=True, timeout=60)
        assert made.returncode == 0, "and what sync meets is a repository that works"
    place.capture("new")
    before = place.segments()
    expected = place.folded_anew()
    folder = {"everything": place.folder, "data": place.home.data, "state": os.path.join(place.folder, "state")}[what]
    answer = in_namespace(place, folder, "read-only")
    synced, added, listed, counted, card, board, digests = answer["said"]
    assert_refused(synced)
    assert_refused(added)
    assert_refused(card)
    assert [item["body"] for item in json.loads(listed["out"])] == ["before", "new"]
    assert counted["out"].strip() == "2"
    assert board["out"].strip() == "[]"
    assert expected["inbox.db"] in digests["out"]
    assert [said["code"] for said in (listed, counted, board, digests)] == [0] * 4
    assert place.segments() == before
    after = place.capture("after")
    assert after.id in {event.id for event in place.events()}
    assert place.gaps() == {}
    assert place.folded() == place.folded_anew()


def as_nobody(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user to whom these directories do not belong."""
    if os.geteuid() != 0:
        return subprocess.run(
            place.mait(*arguments), env=place.environment(), capture_output=True, text=True, timeout=60
        )
    words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return subprocess.run(
        [*words, *place.mait(*arguments)], env=place.environment(), capture_output=True, text=True, timeout=60
    )


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="permissions do not bind root, and there is no setpriv"
)
@pytest.mark.parametrize("what", ["data", "state", "home"])
def test_directories_without_permission_to_write(place: Place, what: str) -> None:
    """The other way to a disk that refuses: permissions, which do not bind root."""
    place.capture("before")
    place.folded()
    place.capture("new")
    if not readable_by_nobody(place):
        pytest.skip("the directories above the tests are closed to other users")
    for folder, _folders, files in os.walk(place.folder):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o644)
    closed = {"data": place.home.data, "state": place.home.state, "home": place.folder}[what]
    for folder, _folders, files in os.walk(place.folder if os.geteuid() == 0 else closed):
        inside = folder.startswith(closed)
        os.chmod(folder, 0o555 if inside else 0o777)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444 if inside else 0o666)
    try:
        adding = as_nobody(place, "inbox", "add", "never")
        assert_refused({"code": adding.returncode, "out": adding.stdout, "err": adding.stderr})
        listing = as_nobody(place, "inbox", "list", "--json")
        assert listing.returncode == 0, listing.stderr
        assert [item["body"] for item in json.loads(listing.stdout)] == ["before", "new"]
    finally:
        for folder, _folders, files in os.walk(place.folder):
            os.chmod(folder, 0o755)
            for name in files:
                os.chmod(os.path.join(folder, name), 0o644)


def readable_by_nobody(place: Place) -> bool:
    """Whether the way to the place, and to the program, is open to others."""
    above = [place.folder]
    while above[-1] != "/":
        above.append(os.path.dirname(above[-1]))
    for folder in above[1:]:
        if folder.startswith("/tmp/pytest-of-") and os.stat(folder).st_uid == os.geteuid():
            os.chmod(folder, 0o755)
    return as_nobody(place, "version").returncode == 0


def test_a_write_that_comes_short_by_any_length_leaves_nothing(place: Place) -> None:
    done = subprocess.run(
        place.command("workers.short_writes"), env=place.environment(), capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert place.gaps() == {}
    assert place.folded() == place.folded_anew()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EFBIG])
@pytest.mark.parametrize("call", ["write", "open", "fsync", "replace", "pwrite", "ftruncate", "mkdir", "fdatasync"])
def test_any_call_may_fail(place: Place, monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
    """Each call that touches the disk refused from its n-th use on, for every n: either the event is there and was
    acknowledged, or it is not there and DiskRefused says so."""
    place.capture("before")
    real: Callable[..., Any] = getattr(os, call)
    for start in range(1, 30):
        count = [0]

        def refusing(*arguments: Any, start: int = start, count: list[int] = count, **more: Any) -> Any:
            writing = call != "open" or arguments[1] & (os.O_WRONLY | os.O_RDWR)
            count[0] += bool(writing)
            if writing and count[0] >= start:
                raise OSError(number, os.strerror(number), arguments[0] if isinstance(arguments[0], str) else None)
            return real(*arguments, **more)

        before = {event.id for event in place.events()}
        refused, told = False, ""
        with monkeypatch.context() as patch:
            patch.setattr(os, call, refusing)
            try:
                told = place.capture("x" * 30000).id
            except DiskRefused as error:
                refused = bool(error.message)
        now = {event.id for event in place.events()}
        if refused:
            assert now == before or call == "fdatasync", "fdatasync is the only call after the write that may be told"
        else:
            assert now == before | {told}
        assert place.gaps() == {}
        if count[0] < start:
            break
    else:
        raise AssertionError("the call was made again and again")
    place.capture("after")
    assert place.folded() == place.folded_anew()


def test_a_store_folded_in_memory_says_the_same(place: Place) -> None:
    place.capture("one")
    inbox = stores.inbox(place.home)
    inbox.catch_up()
    expected = digest(inbox)
    inbox.live_in_memory()
    inbox.catch_up()
    assert digest(inbox) == expected
    assert inbox.in_memory
    size = os.path.getsize(inbox.path)
    place.capture("two")
    inbox.catch_up(wait=False)
    assert len(inbox.query("SELECT * FROM inbox_items")) == 2
    assert os.path.getsize(inbox.path) >= size
    inbox.close()
    assert read(inbox.path)
