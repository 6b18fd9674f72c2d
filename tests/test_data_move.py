"""`settings set data-dir --move-data`: the machine that moves its data is the same machine afterwards, also when the move was
killed at any point."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: Runs a command line in a process that dies, as by a kill, just before the n-th of the calls that change the disk.
DYING = """
import os, sys
left = int(sys.argv.pop(1))
def dying(real):
    def call(*arguments, **more):
        global left
        left -= 1
        if left < 0:
            os._exit(9)
        return real(*arguments, **more)
    return call
for name in ("rename", "replace", "unlink", "mkdir", "rmdir"):
    setattr(os, name, dying(getattr(os, name)))
from mait_code.commands.cli.main import main
sys.argv[0] = "mait-code"
sys.exit(main())
"""


@pytest.fixture
def used(home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a name that has captured something; its data directory."""
    monkeypatch.delenv("MAIT_CODE_DATA_DIR")
    assert cli("init", "--label", "mylaptop").code == 0
    assert cli("inbox", "add", "before").code == 0
    return home / ".claude" / "mait-code-data"


def machines(cli: Callable[..., Any]) -> list[tuple[str, str | None, bool]]:
    return [(one["label"], one["forked_from"], one["this_machine"]) for one in cli("replicas", "--json").json]


def bodies(cli: Callable[..., Any]) -> list[str]:
    return sorted(item["body"] for item in cli("inbox", "list", "--json").json)


@pytest.mark.parametrize("identified", [True, False], ids=["machine-id", "no-machine-id"])
def test_a_machine_stays_itself(
    used: Path, home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, identified: bool
) -> None:
    if not identified:
        from mait_code.journal import replica

        monkeypatch.setattr(replica, "_machine", lambda: "")
        assert cli("inbox", "add", "under an inode").code == 0
    before = cli("replicas", "--json").json
    assert cli("settings", "set", "data-dir", str(home / "moved"), "--move-data").code == 0
    assert not used.exists()
    assert cli("inbox", "add", "after").code == 0
    after = cli("replicas", "--json").json
    assert [one["replica"] for one in after] == [one["replica"] for one in before]
    assert [one["forked_from"] for one in after] == [one["forked_from"] for one in before]
    assert "mylaptop" in {one["label"] for one in after}
    assert cli("undo").code == 0
    assert cli("undo").code == 0
    assert bodies(cli) == ([] if identified else ["before"])
    assert cli("verify").code == 0


def test_there_and_back(used: Path, home: Path, cli: Callable[..., Any]) -> None:
    assert cli("settings", "set", "data-dir", str(home / "moved"), "--move-data").code == 0
    assert cli("settings", "set", "data-dir", str(used), "--move-data").code == 0
    assert cli("inbox", "add", "after").code == 0
    assert machines(cli) == [("mylaptop", None, True)]


def test_a_copy_of_what_was_moved_is_another_machine(used: Path, home: Path, cli: Callable[..., Any]) -> None:
    """The identity follows our own move, and nothing else."""
    import shutil

    assert cli("settings", "set", "data-dir", str(home / "moved"), "--move-data").code == 0
    from mait_code.journal.home import Home

    moved, copy = Home(str(home / "moved")), Home(str(home / "copy"))
    shutil.copytree(moved.data, copy.data)
    shutil.copytree(moved.state, copy.state)
    assert cli("--data-dir", copy.data, "inbox", "add", "elsewhere").code == 0
    found = cli("--data-dir", copy.data, "replicas", "--json").json
    assert len(found) == 2
    assert [one["forked_from"] for one in found if one["this_machine"]] != [None]


def test_a_move_killed_anywhere_leaves_a_machine_that_works(
    used: Path, home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    places, count = [used, home / "one"], 0
    for at in range(60):
        source, target = places
        command = [sys.executable, "-c", DYING, str(at), "settings", "set", "data-dir", str(target), "--move-data"]
        done = subprocess.run(command, capture_output=True, env=dict(os.environ), timeout=60)
        assert done.returncode in (0, 9), done.stderr
        count += 1
        assert cli("inbox", "add", f"after {at}").code == 0
        assert len(bodies(cli)) == count + 1, f"killed at {at}"
        assert machines(cli) == [("mylaptop", None, True)], f"killed at {at}"
        assert source.exists() != target.exists(), f"killed at {at}"
        assert not os.path.exists(home / "state" / "mait-code" / "moving.json")
        chosen = json.loads(cli("settings", "get", "data-dir", "--json").out)["value"]
        assert os.path.isdir(chosen), f"killed at {at}"
        if done.returncode == 0:
            break
        if target.exists():
            places.reverse()
    else:
        raise AssertionError("the move never came to its end")
    assert count > 5
    assert cli("verify").code == 0


def test_a_move_waits_for_no_writer_for_ever(used: Path, home: Path, cli: Callable[..., Any]) -> None:
    from mait_code.journal.home import Home
    from mait_code.journal.lock import Lock

    lock = Lock(Home(str(used)).in_state("lock"))
    assert lock.acquire(0)
    try:
        answer = cli("settings", "set", "data-dir", str(home / "moved"), "--move-data")
    finally:
        lock.release()
    assert answer.code == 1
    assert "held by" in answer.err
    assert used.exists()
    assert not (home / "moved").exists()
