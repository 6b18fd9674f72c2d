"""The start of a session with `auto-sync`: what the other machine sent is told already, and no remote keeps anybody waiting."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from git_machines import bare
from transcripts import Transcript
from two_machines import Machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.git

#: Seconds that the hook waits for a sync at most, and what a busy computer may add.
PATIENCE, BUSY = 3, 6


@pytest.fixture
def machine(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Machine]:
    """A machine by its name, with a remote."""

    def make(name: str, remote: str) -> Machine:
        made = Machine(tmp_path, name, cli, monkeypatch)
        made.ok("init", "--remote", remote)
        return made

    monkeypatch.setenv("MAIT_CODE_AUTO_SYNC", "on")
    monkeypatch.setenv("MAIT_CODE_LLM_PROVIDER", "none")
    return make


def start(machine: Machine, source: str = "startup") -> str:
    """What the hook says at the start of a session."""
    machine.enter()
    given = {"session_id": f"{machine.name}-{source}", "cwd": os.environ["HOME"], "source": source}
    call = [sys.executable, "-c", "from mait_code.hooks.session_start import main; main()"]
    done = subprocess.run(call, input=json.dumps(given).encode(), capture_output=True, env=os.environ, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def recorded(machine: Machine, folder: Path, request: str) -> None:
    """Have a session recorded and sent."""
    written = Transcript(folder / request.replace(" ", "-"), directory=os.environ["HOME"])
    written.turn(request)
    machine.enter()
    from mait_code.commands.capture import recording
    from mait_code.commands.workspace import Workspace

    with Workspace.open() as ws:
        recording.record(ws, written.path, reason="other")
    machine.ok("sync")


def test_what_the_other_machine_sent_is_told(machine: Callable[[str, str], Machine], tmp_path: Path) -> None:
    shared = str(bare(tmp_path / "shared.git"))
    desk, laptop = machine("desk", shared), machine("laptop", shared)
    recorded(desk, tmp_path, "dig the well")
    assert "dig the well" in start(laptop)
    recorded(desk, tmp_path, "line it with stones")
    assert "line it with stones" in start(laptop, "resume")
    recorded(desk, tmp_path, "put a lid on")
    assert "put a lid on" not in start(laptop, "clear"), "it goes on at once, and nobody waits"


def test_a_remote_that_says_nothing_keeps_nobody_waiting(
    machine: Callable[[str, str], Machine], tmp_path: Path
) -> None:
    shared = str(bare(tmp_path / "shared.git"))
    desk = machine("desk", shared)
    recorded(desk, tmp_path, "dig the well")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"git://127.0.0.1:{silent.getsockname()[1]}/journal.git"
        subprocess.run(["git", "-C", desk.home.data, "remote", "set-url", "origin", url], check=True, timeout=60)
        began = time.monotonic()
        assert "dig the well" in start(desk)
        assert PATIENCE - 1 < time.monotonic() - began < PATIENCE + BUSY
