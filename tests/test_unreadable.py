"""A file of the journal that is there and cannot be read: named, never taken for empty, and no reason to throw a store away."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from two_machines import Machine, exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Finished

DISK = 74
#: Linux: prctl(PR_CAPBSET_DROP), and what lets root past permissions.
_DROP, _PAST_PERMISSIONS = 24, (1, 2)


def _bound_by_permissions() -> None:
    """Run in the child before it becomes the program: root is bound by permissions as everybody is."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _PAST_PERMISSIONS:
            if libc.prctl(_DROP, capability, 0, 0, 0) != 0:
                os._exit(99)


@pytest.fixture
def bound(home: Path) -> Callable[..., Finished]:
    """Run `mait-code` as somebody whom permissions bind, also where the tests are run by root."""
    from conftest import Finished

    def call(*arguments: str) -> Finished:
        command = [sys.executable, "-m", "mait_code.commands.cli.main", *arguments]
        done = subprocess.run(
            command, capture_output=True, preexec_fn=_bound_by_permissions, env=dict(os.environ), timeout=60
        )
        if done.returncode == 99:
            pytest.skip("root may not give up its way past permissions here")
        return Finished(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def written(home: Path, cli: Callable[..., Any]) -> Path:
    """A journal with a card and a thought in it, folded; its only replica directory."""
    assert cli("board", "add", "the card").code == 0
    assert cli("inbox", "add", "the thought").code == 0
    assert cli("verify").code == 0
    (found,) = [one for one in (home / "data" / "journal").iterdir() if one.is_dir()]
    return found


CLOSED = ("segment", "replica", "journal", "data")


@pytest.fixture
def close(written: Path, home: Path) -> Iterator[Callable[[str], Path]]:
    places = dict(zip(CLOSED, (written / "000001.jsonl", written, written.parent, home / "data"), strict=True))
    modes = {path: path.stat().st_mode for path in places.values()}

    def take_away(what: str) -> Path:
        places[what].chmod(0)
        return places[what]

    yield take_away
    for path in reversed(list(modes)):
        path.chmod(modes[path] & 0o777)


def assert_one_warning(done: Finished, path: Path) -> None:
    assert done.err.count(b"cannot be read") == 1, done.err
    assert str(path).encode() in done.err or str(path.parent / "journal").encode() in done.err
    assert len(done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize("what", CLOSED)
def test_lists_keep_what_was_folded_and_say_so(
    what: str, close: Callable[[str], Path], bound: Callable[..., Finished]
) -> None:
    path = close(what)
    for _ in range(2):
        for command, word in (("board", b"the card"), ("inbox", b"the thought")):
            listed = bound(command, "list")
            assert listed.code == 0, listed.err
            assert word in listed.out
            assert_one_warning(listed, path)


@pytest.mark.parametrize("what", CLOSED)
def test_an_empty_list_is_not_all_there_is(
    what: str, home: Path, close: Callable[[str], Path], bound: Callable[..., Finished]
) -> None:
    """Without the state directory nothing is known, which must not look like nothing is there."""
    import shutil

    shutil.rmtree(home / "state")
    path = close(what)
    for _ in range(2):
        listed = bound("board", "list", "--json")
        assert (listed.code, listed.out) == (0, b"[]\n")
        assert_one_warning(listed, path)
    path.chmod(0o700)
    listed = bound("board", "list")
    assert b"the card" in listed.out
    assert listed.err == b""


@pytest.mark.parametrize("what", CLOSED)
def test_verify_names_it_and_blames_no_store(
    what: str, close: Callable[[str], Path], bound: Callable[..., Finished]
) -> None:
    path = close(what)
    done = bound("verify")
    assert done.code == DISK, (done.out, done.err)
    assert b"unreadable: " in done.out
    assert str(path).encode() in done.out or what == "data"
    assert b"differs" not in done.out
    assert b"rebuild" not in done.out
    found = json.loads(bound("verify", "--json").out)
    assert found["stores_differ"] == []
    assert [one["reason"] for one in found["unreadable"]] == ["Permission denied"]
    assert found["exit_code"] == DISK


@pytest.mark.parametrize("what", CLOSED)
@pytest.mark.parametrize("options", [(), ("board",), ("--check",)])
def test_rebuild_refuses_and_keeps_the_stores(
    what: str, options: tuple[str, ...], close: Callable[[str], Path], bound: Callable[..., Finished], written: Path
) -> None:
    path = close(what)
    done = bound("rebuild", *options)
    assert done.code == DISK, (done.out, done.err)
    assert b"cannot be read: Permission denied" in done.err
    assert done.out == b""
    assert b"the card" in bound("board", "list").out
    path.chmod(0o700)
    assert bound("rebuild", *options).code == 0
    assert b"the card" in bound("board", "list").out
    assert bound("verify").code == 0


@pytest.mark.parametrize("what", ["segment", "replica"])
def test_a_writer_does_not_take_itself_for_a_copy(
    what: str, close: Callable[[str], Path], bound: Callable[..., Finished], written: Path
) -> None:
    path = close(what)
    done = bound("inbox", "add", "another thought")
    assert done.code == DISK
    assert str(written / "000001.jsonl").encode() in done.err
    path.chmod(0o700)
    assert bound("inbox", "add", "another thought").code == 0
    assert len(json.loads(bound("replicas", "--json").out)) == 1


def test_doctor_names_it_with_the_reason(close: Callable[[str], Path], bound: Callable[..., Finished]) -> None:
    path = close("segment")
    done = bound("doctor")
    assert done.code == 1
    assert f"{path}: Permission denied".encode() in done.out
    assert b"missing" not in done.out


def test_what_another_machine_wrote_and_cannot_be_read(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, bound: Callable[..., Finished]
) -> None:
    """A writer goes on, and says what it did not see."""
    lap = Machine(tmp_path, "lap", cli, monkeypatch)
    desk = Machine(tmp_path, "desk", cli, monkeypatch)
    lap.ok("inbox", "add", "from the lap")
    desk.ok("inbox", "add", "from the desk")
    exchange(lap, desk)
    path = os.path.join(lap.home.journal, desk.segment())
    lap.enter()
    os.chmod(path, 0)
    try:
        done = bound("inbox", "add", "more from the lap")
        assert done.code == 0
        assert path.encode() in done.err
        listed = bound("inbox", "list", "--json")
        assert len(json.loads(listed.out)) == 3
        assert path.encode() in listed.err
    finally:
        os.chmod(path, 0o600)


@pytest.mark.parametrize("closed", ["segment", "directory"])
def test_a_sync_puts_nothing_in_the_place_of_what_it_cannot_read(
    tmp_path: Path,
    cli: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    bound: Callable[..., Finished],
    closed: str,
) -> None:
    lap = Machine(tmp_path, "lap", cli, monkeypatch)
    desk = Machine(tmp_path, "desk", cli, monkeypatch)
    desk.ok("inbox", "add", "committed")
    desk.send_to(lap)
    lap.ok("sync")
    desk.ok("inbox", "add", "not committed yet")
    desk.send_to(lap)
    path = os.path.join(lap.home.journal, desk.segment())
    lap.enter()
    shut = path if closed == "segment" else os.path.dirname(path)
    os.chmod(shut, 0)
    try:
        done = bound("sync")
        assert done.code == (DISK if closed == "segment" else 0), (
            done.err
        )  # git sees no change in a directory it cannot list
        assert f"{shut}".encode() in done.err
        assert b"Permission denied" in done.err
    finally:
        os.chmod(shut, 0o700)
    assert [item["body"] for item in lap.json("inbox", "list")] == ["committed", "not committed yet"]
    lap.ok("sync")
    assert len(lap.json("inbox", "list")) == 2
