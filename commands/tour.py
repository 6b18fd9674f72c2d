"""The tour: two machines and a bare git repository in a temporary directory, shown step by step.

Everything is real: the program as installed, git, the files. Nothing of the user's is read or written: the machines have
homes of their own under the temporary directory, which is gone at the end, also after Ctrl-C.
"""

from __future__ import annotations

import os
import shutil
import sys

import orjson

from mait_code.commands.output import counted
from mait_code.journal.errors import GitFailed, MaitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

LAPTOP, DESKTOP = "laptop", "desktop"
#: Variables that would let the user's own settings, session or repository into the tour.
_PRIVATE = ("MAIT_CODE_", "CLAUDE", "GIT_", "XDG_")


class Step:
    """One command of the tour: what it shows, who runs it, the command and what it printed."""

    __slots__ = ("command", "explained", "machine", "printed")

    def __init__(self, explained: str, machine: str, command: str, printed: str) -> None:
        self.explained = explained
        self.machine = machine
        self.command = command
        self.printed = printed


class Tour:
    """A tour under `place`. `steps` runs it; `equal` says afterwards whether both machines came to one digest."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.hub = os.path.join(place, "hub.git")
        self.digests: dict[str, str] = {}
        self.equal = False

    def steps(self) -> Iterator[Step]:
        """Run the tour, yielding each step when it is done. Raises GitFailed without git, MaitError where a step fails."""
        yield self._git_hub()
        yield from self._meet()
        yield from self._offline()
        yield from self._settle()
        yield from self._rebuild()

    # -- the chapters -------------------------------------------------------------------------------------------------

    def _git_hub(self) -> Step:
        if shutil.which("git") is None:
            raise GitFailed("git is not on the PATH", "install git; everything but sync works without it")
        self._run("", ["git", "init", "--quiet", "--bare", self.hub])
        return Step(
            "Between the machines stands an empty git repository, as any host offers one.",
            "",
            "git init --bare hub.git",
            "",
        )

    def _meet(self) -> Iterator[Step]:
        yield self._mait(LAPTOP, "Each machine joins on its own.", "init", "--label", LAPTOP, "--remote", self.hub)
        yield self._mait(DESKTOP, "", "init", "--label", DESKTOP, "--remote", self.hub)
        yield self._mait(
            LAPTOP, "A card and a stray thought, written on the laptop.", "board", "add", "Fix the login timeout"
        )
        yield self._mait(LAPTOP, "", "inbox", "add", "naïve idea: cache the tokens")
        yield self._mait(LAPTOP, "They travel by sync.", "sync")
        yield self._mait(DESKTOP, "", "sync")
        yield self._mait(DESKTOP, "", "board", "list")

    def _offline(self) -> Iterator[Step]:
        card = self._card()
        yield self._mait(
            LAPTOP, "Now both are offline. The laptop finishes the card ...", "board", "move", card, "done"
        )
        yield self._mait(LAPTOP, "", "reminders", "set", "in 2 weeks", "send the release notes")
        yield self._mait(
            DESKTOP,
            "... while the desktop, knowing nothing of that, starts on the same card.",
            "board",
            "move",
            card,
            "in_progress",
        )
        yield self._mait(DESKTOP, "", "inbox", "add", "ask Zoë about the proxy 🙂")
        yield self._mait(LAPTOP, "Online again: each sends what it has.", "sync")
        yield self._mait(DESKTOP, "Nothing is lost, and where they disagreed both sides are there.", "sync")

    def _settle(self) -> Iterator[Step]:
        card = self._card()
        yield self._mait(DESKTOP, "Who, where and when:", "conflicts")
        yield self._mait(
            DESKTOP, "One pick closes it, everywhere.", "conflicts", "pick", card, "status", "done", "--value"
        )
        yield self._mait(DESKTOP, "", "sync")
        yield self._mait(LAPTOP, "", "sync")
        for machine in (LAPTOP, DESKTOP):
            yield self._digest(
                machine, "Both know the same: a digest over everything says so." if machine == LAPTOP else ""
            )

    def _rebuild(self) -> Iterator[Step]:
        before = dict(self.digests)
        removed = 0
        for machine in (LAPTOP, DESKTOP):
            for folder, _folders, files in os.walk(os.path.join(self.place, machine, "state")):
                for name in files:
                    if ".db" in name:
                        os.unlink(os.path.join(folder, name))
                        removed += 1
        yield Step(
            "The databases are only a cache. All of them are deleted, on both machines ...",
            "",
            "rm */state/**/*.db*",
            counted(removed, "file"),
        )
        for machine in (LAPTOP, DESKTOP):
            yield self._digest(
                machine, "... and the next command makes them again from the log." if machine == LAPTOP else ""
            )
        yield self._mait(LAPTOP, "", "board", "list", "--all")
        self.equal = len({*before.values(), *self.digests.values()}) == 1

    # -- running ------------------------------------------------------------------------------------------------------

    def _mait(self, machine: str, explained: str, *arguments: str) -> Step:
        printed = self._run(machine, [sys.executable, "-m", "mait_code.commands.cli.main", *arguments])
        shown = [word.replace(self.place + os.sep, "") for word in arguments]
        command = " ".join(["mait-code", *(f'"{word}"' if " " in word else word for word in shown)])
        return Step(explained, machine, command, printed.replace(self.place + os.sep, ""))

    def _digest(self, machine: str, explained: str) -> Step:
        step = self._mait(machine, explained, "digest")
        step.printed = step.printed.rpartition("\n")[2]
        self.digests[machine] = step.printed.split()[-1]
        return step

    def _card(self) -> str:
        listed = self._run(
            LAPTOP, [sys.executable, "-m", "mait_code.commands.cli.main", "board", "list", "--all", "--json"]
        )
        short: str = orjson.loads(listed)[0]["short"]
        return short

    def _environment(self, machine: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(_PRIVATE)}
        home = os.path.join(self.place, machine or "hub")
        return kept | {
            "HOME": home,
            "XDG_STATE_HOME": os.path.join(home, "state"),
            "XDG_CONFIG_HOME": os.path.join(home, "config"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "MAIT_CODE_MACHINE_ID": f"tour {machine}",
            "NO_COLOR": "1",
        }

    def _run(self, machine: str, command: list[str]) -> str:
        import subprocess

        cwd = os.path.join(self.place, machine or "hub")
        os.makedirs(cwd, exist_ok=True)
        done = subprocess.run(
            command,
            cwd=cwd,
            env=self._environment(machine),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 0:
            complaint = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
            raise MaitError(
                f"the tour stopped at {' '.join(command[3:] or command)}: {complaint}", "please report this"
            )
        return done.stdout.decode("utf-8", "replace").rstrip("\n")


def take(show: Callable[[Step], None]) -> Tour:
    """Take the tour, telling `show` of each step. The temporary directory is gone when this returns or raises."""
    import signal
    import tempfile

    def leave(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, leave)
    try:
        with tempfile.TemporaryDirectory(prefix="mait-code-tour-") as place:
            tour = Tour(os.path.realpath(place))
            for step in tour.steps():
                show(step)
            return tour
    finally:
        signal.signal(signal.SIGTERM, before)
