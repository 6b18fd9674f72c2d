"""A sync that finds nothing to do, against the git commands that find the same."""

from __future__ import annotations

import os
import shutil
import subprocess

import measure
from measure import Row, probe, say, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from environment import Environment


def rows(environment: Environment, scratch: str, rounds: int) -> list[Row]:
    """CPU of the whole command with every git it starts, and how many those are."""
    say(f"syncing with nothing to do, {rounds} rounds")
    home, git = os.path.join(scratch, "syncing"), shutil.which("git")
    if git is None:
        raise SystemExit("bench: syncing needs git")
    os.makedirs(home)
    variables = environment.variables(home)
    remote, data = f"{home}/remote.git", f"{home}/data"
    subprocess.run([git, "init", "--quiet", "--bare", "--initial-branch=main", remote], check=True, env=variables)
    mait = environment.program("mait-code")
    spawn([mait, "init", "--remote", remote], variables)
    probe(environment.python, "probe_seed.py", variables, data, scratch=scratch)
    for _ in range(2):
        spawn([mait, "sync"], variables)

    def by_hand(_round: int) -> float:
        at = (git, "-C", data)
        return spawn([*at, "fetch", "--quiet"], variables).cpu + spawn([*at, "status", "--porcelain"], variables).cpu

    taken = measure.in_turns({"sync": lambda _round: spawn([mait, "sync"], variables).cpu, "by hand": by_hand}, rounds)
    started = _started(environment, mait, git, home)
    note = f"{len(started)} git processes: {', '.join(started)}; floor: git fetch and git status"
    return [measure.row("sync", "sync with nothing to do", "ms", taken["sync"], taken["by hand"], None, note)]


def _started(environment: Environment, mait: str, git: str, home: str) -> list[str]:
    """The git subcommands that one sync starts, seen by a git that writes them down."""
    beside, log = os.path.join(home, "bin"), os.path.join(home, "started")
    os.makedirs(beside)
    with open(os.path.join(beside, "git"), "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\necho "$@" >>{log}\nexec {git} "$@"\n')
    os.chmod(file.name, 0o755)
    variables = environment.variables(home)
    spawn([mait, "sync"], {**variables, "PATH": f"{beside}:{variables['PATH']}"})
    with open(log, encoding="utf-8") as lines:
        return [_subcommand(line.split()) for line in lines]


def _subcommand(words: list[str]) -> str:
    rest = iter(words)
    for word in rest:
        if word in ("-c", "-C"):
            next(rest)
        elif not word.startswith("-"):
            return word
    return "git"
