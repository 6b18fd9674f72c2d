"""Every test lives in a home of its own: nothing of the user's is read or written."""

from __future__ import annotations

import errno
import json
import os
import pty
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from two_machines import Machine

from mait_code.commands.cli.frame import Group
from mait_code.commands.cli.run import run
from mait_code.commands.cli.table import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# A run in the background of a shell ignores the interrupt, and every process started here would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private home directory with everything under it; returned as a path."""
    for name in [name for name in os.environ if name.startswith(("MAIT_CODE_", "XDG_", "GIT_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    private = tmp_path / "home"
    private.mkdir()
    monkeypatch.setenv("HOME", str(private))
    monkeypatch.setenv("XDG_STATE_HOME", str(private / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(private / "config"))
    monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(private / "data"))
    monkeypatch.setenv("TZ", "UTC")
    return private


@dataclass(frozen=True)
class Result:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as JSON; an error here means that something else was printed too."""
        return json.loads(self.out)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a `mait-code` command line in this process: cli("board", "add", "x")."""

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        code = run(Group("mait-code", ROOT), "mait-code", arguments)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def rocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test runs in a directory that is a project of its own."""
    directory = tmp_path / "rocket"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def desk(tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which command lines run."""
    return Machine(tmp_path, "desk", cli, monkeypatch)


@pytest.fixture
def lap(tmp_path: Path, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Another one."""
    return Machine(tmp_path, "lap", cli, monkeypatch)


@dataclass(frozen=True)
class Finished:
    """What a process of its own did. Bytes, because that is what reaches a terminal."""

    code: int
    out: bytes
    err: bytes


@pytest.fixture
def program(home: Path) -> Callable[..., Finished]:
    """Run `mait-code` as a process: program("board", "list", env={"LC_ALL": "C"}, input=b"")."""

    def call(*arguments: str | bytes, env: dict[str, str] | None = None, input: bytes = b"") -> Finished:  # noqa: A002
        command = [sys.executable, "-m", "mait_code.commands.cli.main", *arguments]
        done = subprocess.run(command, capture_output=True, input=input, env={**os.environ, **(env or {})}, timeout=60)
        return Finished(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def terminal(home: Path) -> Callable[..., str]:
    """Run `mait-code` with a terminal for all three streams and return what it was sent."""

    def call(*arguments: str, env: dict[str, str] | None = None) -> str:
        command = [sys.executable, "-m", "mait_code.commands.cli.main", *arguments]
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", **(env or {})}
        )
        os.close(theirs)
        received = bytearray()
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError as error:
                if error.errno == errno.EIO:  # how Linux tells that the other end is closed
                    break
                raise
            if not piece:
                break
            received += piece
        os.close(ours)
        process.wait(timeout=60)
        return received.decode()

    return call
