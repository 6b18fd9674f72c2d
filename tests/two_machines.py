"""Machines that exchange what they wrote by copying segments, driven through the command line in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mait_code.journal import segments
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


class Machine:
    """One machine: data and state directories of its own. Calling it runs a command line there."""

    def __init__(self, folder: Path, name: str, cli: Callable[..., Any], patch: pytest.MonkeyPatch) -> None:
        self.folder = folder / name
        self.folder.mkdir()
        self.name = name
        self._cli = cli
        self._patch = patch

    def __call__(self, *arguments: str) -> Any:
        self.enter()
        return self._cli(*arguments)

    def enter(self) -> None:
        """Make this process run on this machine."""
        for key, value in self.environment.items():
            self._patch.setenv(key, value)
        self._patch.chdir(os.environ["HOME"])  # which is no project

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process run on this machine."""
        return {
            "MAIT_CODE_DATA_DIR": str(self.folder / "data"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "MAIT_CODE_MACHINE_ID": self.name,
        }

    def ok(self, *arguments: str) -> Any:
        """Run a command that must succeed."""
        done = self(*arguments)
        assert done.code == 0, done.err
        return done

    def json(self, *arguments: str) -> Any:
        """What a command that must succeed says as JSON."""
        return self.ok(*arguments, "--json").json

    def refused(self, *arguments: str) -> str:
        """Run a command that must fail, and return what it says."""
        done = self(*arguments)
        assert done.code == 1, (done.out, done.err)
        return str(done.err)

    @property
    def home(self) -> Home:
        self.enter()
        return Home(str(self.folder / "data"))

    def journal(self, actor: str = "me") -> Journal:
        return Journal(self.home, actor)

    def files(self) -> dict[str, bytes]:
        """Every file of the replica directories, by its path in the journal."""
        found = {}
        root = self.home.journal
        for directory in segments.directories(root):
            for name in sorted(os.listdir(os.path.join(root, directory))):
                with open(os.path.join(root, directory, name), "rb") as file:
                    found[f"{directory}/{name}"] = file.read()
        return found

    def send_to(self, other: Machine) -> None:
        """Copy what the other machine lacks, as git would: new files, and longer ones under their old names."""
        theirs = other.files()
        for path, content in self.files().items():
            if len(content) > len(theirs.get(path, b"")):
                other.put(path, content)

    def put(self, path: str, content: bytes) -> None:
        """Replace a file of the journal."""
        full = os.path.join(self.home.journal, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full + ".new", "wb") as file:
            file.write(content)
        os.replace(full + ".new", full)

    def segment(self) -> str:
        """The path in the journal of the segment this machine last wrote."""
        return max(path for path in self.files() if path.startswith(self.replica) and path.endswith(".jsonl"))

    @property
    def replica(self) -> str:
        return str(next(one for one in self.json("replicas") if one["this_machine"])["replica"])

    def digest(self) -> str:
        return str(self.json("digest")["total"])


def exchange(one: Machine, other: Machine) -> None:
    """Both machines know the same afterwards."""
    one.send_to(other)
    other.send_to(one)
    assert one.digest() == other.digest()
