"""The tour: real, quick, and gone without a trace."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

PROGRAM = [sys.executable, "-m", "mait_code.commands.cli.main"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    temporary, home = tmp_path / "tour-tmp", tmp_path / "tour-home"
    temporary.mkdir()
    home.mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "MAIT_CODE_", "GIT_"))}
    return kept | {"TMPDIR": str(temporary), "HOME": str(home), "LC_ALL": "C"}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, "tour", *arguments], env=environment, capture_output=True, timeout=120, check=False
    )


def left_behind(environment: dict[str, str]) -> list[str]:
    """What lies in the temporary directory and in the user's home, but for the invocation log."""
    found = []
    for top in (environment["TMPDIR"], environment["HOME"]):
        for folder, _folders, files in os.walk(top):
            found += [os.path.join(folder, name) for name in files if "/logs" not in folder]
    return found


def test_both_machines_come_to_one_digest_and_nothing_is_left(environment: dict[str, str]) -> None:
    done = run(environment, "--json")
    assert done.returncode == 0, done.stderr.decode()
    told = orjson.loads(done.stdout)
    assert told["equal"]
    assert told["digests"]["laptop"] == told["digests"]["desktop"]
    assert left_behind(environment) == []


def test_the_conflict_is_shown_and_picked(environment: dict[str, str]) -> None:
    text = run(environment).stdout.decode()
    assert "1  done  (me on laptop" in text
    assert "2  in_progress  (me on desktop" in text
    assert "the conflict is closed" in text
    assert "The digests are equal" in text


def test_an_inherited_repository_and_session_do_not_leak_in(environment: dict[str, str], tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.git"
    environment |= {
        "GIT_DIR": str(foreign),
        "MAIT_CODE_DATA_DIR": str(tmp_path / "mine"),
        "CLAUDE_CODE_SESSION_ID": "a-session",
    }
    done = run(environment, "--json")
    assert done.returncode == 0, done.stderr.decode()
    assert not foreign.exists()
    assert not (tmp_path / "mine").exists()
    assert "claude on" not in done.stdout.decode()


def test_without_git_it_says_so_in_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    environment["PATH"] = str(tmp_path)
    done = run(environment)
    assert done.returncode == 1
    assert "git is not on the PATH" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert left_behind(environment) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_in_the_middle_it_leaves_nothing(environment: dict[str, str], number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "tour"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    while b"laptop $" not in process.stdout.readline():
        time.sleep(0)
    process.send_signal(number)
    _out, complaint = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"Traceback" not in complaint
    assert os.listdir(environment["TMPDIR"]) == []


def test_git_is_really_here() -> None:
    assert shutil.which("git"), "the tour's tests need git"
