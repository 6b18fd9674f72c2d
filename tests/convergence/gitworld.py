"""The machines of a history with real git between them: a bare repository, syncs, killed syncs, and git by hand."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from convergence.model import read
from convergence.world import CLOSED_AT, World
from mait_code.journal.repository import Repository
from mait_code.journal.sync import repair, sync

if TYPE_CHECKING:
    from convergence.machine import Machine

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_WHO = ("-c", "user.name=A Person", "-c", "user.email=person@example.org", "-c", "gc.auto=0")


def git(where: str, *arguments: str) -> tuple[int, bytes]:
    """git as a person types it. What it complains of is the person's business; a history goes on."""
    command = ["git", "-C", where, *_WHO, *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, done.stdout


def committed(where: str, commit: str) -> set[str]:
    """Ids of the events in a commit."""
    code, listing = git(where, "grep", "-h", "--no-color", "-e", "", commit, "--", "journal/*/*.jsonl")
    return {fact.id for fact in map(read, listing.split(b"\n")) if fact} if code == 0 else set()


class GitWorld(World):
    """Every machine is initialised by itself and follows one bare repository."""

    def __init__(self, skews: list[int]) -> None:
        super().__init__(skews)
        self.remote = os.path.join(self.folder, "remote.git")
        self.make_remote()
        for machine in self.machines:
            self.initialise(machine)

    def make_remote(self) -> None:
        shutil.rmtree(self.remote, ignore_errors=True)
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.remote], check=True, timeout=60)

    def initialise(self, machine: Machine) -> None:
        """`init --remote`."""
        self.enter(machine)
        Repository(machine.home, fetch_timeout=20.0).make(self.remote)

    def join(self, skew: int) -> None:
        self.initialise(self.add_machine(skew))

    def clone(self, skew: int) -> None:
        """A machine that begins with `git clone`."""
        machine = self.add_machine(skew)
        git(machine.folder, "clone", "-q", self.remote, machine.home.data)

    def ids_anywhere(self) -> set[str]:
        return super().ids_anywhere() | committed(self.remote, "main")

    # -- what people and programs do

    def mend(self, machine: Machine) -> None:
        """What every command of ours does first."""
        self.enter(machine)
        repair(machine.journal())

    def sync(self, machine: Machine) -> bool:
        """Sync; whether anything moved."""
        self.enter(machine)
        report = sync(machine.journal(), fetch_timeout=20.0)
        assert not report.offline, report.offline
        return bool(report.committed or report.sent or report.received or report.tries)

    def kill_sync(self, machine: Machine, calls: int) -> None:
        """Sync, and be killed before running git once more than `calls` times."""
        self.enter(machine)
        home = machine.home
        told = {"data": home.data, "state": home.state, "real": home.real, "closed_at": CLOSED_AT, "wall": self.wall()}
        told |= {"seed": self.count(), "calls": calls}
        command = [sys.executable, os.path.join(TESTS, "convergence", "killed_sync.py"), json.dumps(told)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        assert done.returncode in (0, -9), done.stderr.decode()

    def by_hand(self, machine: Machine, what: str) -> None:
        """Plain git, without any of ours."""
        data = machine.home.data
        if what in ("commit", "push", "commit and pull"):
            git(data, "add", "-A")
            git(data, "commit", "-q", "-m", "by hand")
        if what == "remove":
            self._remove(machine)
        if what == "push":
            git(data, "push", "-q", "origin", "HEAD:main")
        if what in ("pull", "commit and pull"):
            git(data, "pull", "-q", "--no-edit", "--no-rebase", "origin", "main")

    def _remove(self, machine: Machine) -> None:
        """Two segments are removed, and the removal is committed and pushed. They have to come back by themselves."""
        self.mend(machine)
        data = machine.home.data
        git(data, "rm", "-q", "--ignore-unmatch", *[f"journal/{path}" for path in list(machine.files())[:2]])
        git(data, "commit", "-q", "-m", "tidied")
        git(data, "push", "-q", "origin", "HEAD:main")

    def empty_remote(self) -> None:
        """Somebody removes the repository and makes an empty one of the same name. What only it held is lost with it."""
        for id_ in committed(self.remote, "main") - super().ids_anywhere():
            self.acknowledged.pop(id_, None)
        self.make_remote()

    def exchange(self) -> None:
        for _ in range(3 * len(self.machines) + 3):
            if not [machine for machine in self.machines if self.sync(machine)]:
                break
        else:
            raise AssertionError("the machines go on syncing for ever")
        for machine in self.machines[1:]:
            assert machine.files() == self.machines[0].files(), "the same commit, other files"
