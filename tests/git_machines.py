"""Machines for the tests of sync: a data directory and a state directory each, real git, one bare repository between
them."""

from __future__ import annotations

import io
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mait_code.journal import replica, segments
from mait_code.journal.event import Event, parse
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.journal.repository import Repository
from mait_code.journal.sync import SyncReport, repair, sync

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHO = ("-c", "user.name=A Person", "-c", "user.email=person@example.org")


def git(where: Path | str, *arguments: str, check: bool = True, **environment: str) -> str:
    """Plain git as a person types it, with an identity."""
    done = subprocess.run(
        ["git", "-C", str(where), *WHO, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout if check else done.stdout + done.stderr


def bare(path: Path, branch: str = "main") -> Path:
    """An empty bare repository."""
    subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True, timeout=60)
    git(path, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    return path


class Machine:
    """One machine: its data directory, its state, its identity as a machine."""

    def __init__(self, folder: Path, data: str = "data") -> None:
        self.folder = folder
        self.data = folder / data
        folder.mkdir(parents=True, exist_ok=True)
        with self.here():
            self.home = Home(str(self.data))
            self.journal = Journal(self.home)

    @contextmanager
    def here(self) -> Iterator[None]:
        """The environment of this machine."""
        names = {"XDG_STATE_HOME": str(self.folder / "state"), "MAIT_CODE_MACHINE_ID": self.folder.name}
        before = {name: os.environ.get(name) for name in names}
        os.environ.update(names)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value

    def make(self, remote: Path | str | None = None) -> Machine:
        with self.here():
            self.repository.make(str(remote) if remote is not None else None)
        return self

    @property
    def repository(self) -> Repository:
        return Repository(self.home, fetch_timeout=20)

    def capture(self, *bodies: str) -> list[str]:
        """One event per text; their ids."""
        ids = []
        with self.here():
            for body in bodies:
                with self.journal.writing() as writer:
                    ids.append(writer.append("inbox.captured", body=body).id)
        return ids

    def sync(self, **options: float) -> SyncReport:
        with self.here():
            return sync(self.journal, **{"fetch_timeout": 20.0, **options})

    def repair(self) -> SyncReport | None:
        with self.here():
            return repair(self.journal)

    def git(self, *arguments: str, check: bool = True, **environment: str) -> str:
        return git(self.data, *arguments, check=check, **environment)

    @property
    def replica(self) -> str:
        with self.here():
            identity = replica.load(self.home)
        assert identity is not None
        return identity.replica

    @property
    def own(self) -> Path:
        """The segment this machine writes now."""
        folder = self.data / "journal" / self.replica
        return folder / max(name for name in os.listdir(folder) if name.endswith(".jsonl"))

    def lines(self) -> dict[str, bytes]:
        """Every sound line in the work tree by its id."""
        found = {}
        for directory in segments.directories(self.home.journal):
            for name, _ in segments.in_directory(self.home.journal, directory):
                for line in (segments.read(os.path.join(self.home.journal, directory, name)) or b"").split(b"\n"):
                    event = parse(line)
                    if isinstance(event, Event):
                        found[event.id] = line
        return found

    def files(self) -> dict[str, bytes]:
        """Everything committed at HEAD: path -> content."""
        entries = [line.split("\t") for line in self.git("ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]]
        wanted = "".join(f"{head.split()[2]}\n" for head, _ in entries).encode()
        command = ["git", "-C", str(self.data), "cat-file", "--batch"]
        raw = io.BytesIO(subprocess.run(command, input=wanted, capture_output=True, check=True, timeout=60).stdout)
        found = {}
        for _, path in entries:
            found[path] = raw.read(int(raw.readline().split()[2]))
            raw.readline()
        return found

    def clean(self) -> bool:
        """Whether plain `git status` has nothing to say about journal and documents."""
        return self.git("status", "--porcelain") == ""


def settle(*machines: Machine) -> None:
    """Sync all until nothing moves, then compare."""
    for _ in range(2):
        for machine in machines:
            machine.sync()
    first, *others = machines
    for other in others:
        assert other.lines() == first.lines()
        assert other.files() == first.files()
    for machine in machines:
        report = machine.sync()
        assert (report.committed, report.sent, report.received, report.tries) == (False, 0, 0, 0)
