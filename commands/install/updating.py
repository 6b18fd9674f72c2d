"""Bringing the program itself up to date: the checkout first, then its installation, then what is in the client."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from mait_code.commands.install import record
from mait_code.journal.errors import GitFailed, MaitError, Refused
from mait_code.journal.git import inherited

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Update", "how_installed", "reinstallation", "update"]

#: Seconds that a fetch or a reinstallation may take.
_LONGEST = 900
_TAG = re.compile(r"v\d+(\.\d+)*\Z")
NAME = "mait-code"


class Update:
    """What an update did: the commits before and after (empty where it is no checkout), and the lines it said."""

    __slots__ = ("after", "before", "lines", "reinstalled")

    def __init__(self) -> None:
        self.before = ""
        self.after = ""
        self.reinstalled = False
        self.lines: list[str] = []


class UpdateError(MaitError):
    """A program that the update needs ended with an error."""


def how_installed() -> str:
    """uv, pipx or pip: who made the environment that this program runs in."""
    if os.path.isfile(os.path.join(sys.prefix, "uv-receipt.toml")):
        return "uv"
    return "pipx" if os.path.isfile(os.path.join(sys.prefix, "pipx_metadata.json")) else "pip"


def reinstallation(how: str, checkout: str | None, editable: bool) -> list[str]:
    """The command that installs the program again, from a checkout or from wherever its packages come from."""
    from shutil import which

    if how == "uv":
        if not checkout:
            return ["uv", "tool", "upgrade", NAME]
        return [
            "uv",
            "tool",
            "install",
            "--force",
            "--reinstall-package",
            NAME,
            *(["-e"] if editable else []),
            checkout,
        ]
    if how == "pipx":
        if not checkout:
            return ["pipx", "upgrade", NAME]
        return ["pipx", "install", "--force", *(["--editable"] if editable else []), checkout]
    what = [*(["-e"] if editable else []), checkout] if checkout else ["--upgrade", NAME]
    if which("uv"):
        return ["uv", "pip", "install", "--quiet", "--python", sys.executable, *what]
    return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]


def update(say: Callable[[str], None], ref: str | None = None, force: bool = False) -> Update:
    """Update the program. `say` is told what runs, since it may take a while.

    From a checkout: fetch, move to `ref`, to the head of the branch, or to the newest version; a file that was edited there
    stops it, for nothing of the user's is thrown away. `force` installs again though nothing moved. Raises Refused,
    GitFailed, UpdateError.
    """
    done = Update()
    checkout = record.source() if record.is_checkout() else _recorded_checkout()
    if checkout is None:
        if ref is not None:
            raise Refused("there is no checkout to move to another version", "install the version you want instead")
        _reinstall(done, say, None)
        return done
    git = _Git(checkout)
    git.refuse_edited()
    done.before = git.run("rev-parse", "HEAD")
    say(f"fetching in {checkout}")
    if git.run("remote"):
        git.run("fetch", "--quiet", "--tags", "--prune", git.remote())
    elif ref is None and not force:
        raise Refused(f"{checkout} has no remote to update from", "name a commit or tag with --ref")
    before = _packaging(checkout)
    git.move(ref)
    done.after = git.run("rev-parse", "HEAD")
    moved = done.before != done.after
    done.lines.append(
        f"{checkout}: {done.before[:8]} → {done.after[:8]}" if moved else f"{checkout} is up to date ({done.after[:8]})"
    )
    # What runs straight from the checkout has moved with it already, unless it needs other packages now.
    linked = record.is_checkout()
    if force or (moved and not linked) or (linked and before != _packaging(checkout)):
        _reinstall(done, say, checkout)
    return done


def _recorded_checkout() -> str | None:
    """Where the installed package came from, if that was a directory that is a checkout still."""
    from importlib.metadata import PackageNotFoundError, distribution

    import orjson

    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    url = str(orjson.loads(text).get("url") or "") if text else ""
    if not url.startswith("file://"):
        return None
    from urllib.parse import unquote, urlparse

    path = unquote(urlparse(url).path)
    return path if os.path.isdir(os.path.join(path, ".git")) else None


def _packaging(checkout: str) -> bytes:
    with open(os.path.join(checkout, "pyproject.toml"), "rb") as file:
        return file.read()


def _reinstall(done: Update, say: Callable[[str], None], checkout: str | None) -> None:
    command = reinstallation(how_installed(), checkout, record.is_checkout())
    say(" ".join(command))
    _run(command)
    done.reinstalled = True
    done.lines.append("installed again")


def refresh(claude_dir: str | None) -> str:
    """Have the program as it is now bring the client's directory up, in a process of its own; returns what it said."""
    command = [sys.executable, "-m", "mait_code.commands.cli.main", "install"]
    return _run([*command, "--claude-dir", claude_dir] if claude_dir else command)


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except FileNotFoundError as error:
        raise UpdateError(f"{command[0]} is not on PATH", "install it, or update the way you installed") from error
    except subprocess.TimeoutExpired as error:
        raise UpdateError(
            f"{command[0]} did not finish in {_LONGEST} seconds", "check the network, then try again"
        ) from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise UpdateError(f"{command[0]} failed (exit {done.returncode}): {said[-1] if said else 'it said nothing'}")
    return done.stdout


class _Git:
    def __init__(self, checkout: str) -> None:
        self.checkout = checkout

    def run(self, *arguments: str) -> str:
        environment = {**inherited(), "GIT_TERMINAL_PROMPT": "0"}
        try:
            done = subprocess.run(
                ["git", "-C", self.checkout, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_LONGEST,
                env=environment,
                check=False,
            )
        except (FileNotFoundError, subprocess.TimeoutExpired) as error:
            raise GitFailed(
                f"git {arguments[0]} could not be run in {self.checkout}", "check that git is there"
            ) from error
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise GitFailed(f"git {arguments[0]} failed in {self.checkout}: {said[-1] if said else done.returncode}")
        return done.stdout.strip()

    def remote(self) -> str:
        names = self.run("remote").splitlines()
        return "origin" if "origin" in names else names[0]

    def branch(self) -> str:
        """The branch that is checked out, empty where none is."""
        name = self.run("rev-parse", "--abbrev-ref", "HEAD")
        return "" if name == "HEAD" else name

    def refuse_edited(self) -> None:
        edited = self.run("diff", "--name-only", "HEAD").splitlines()
        if edited:
            named = ", ".join(edited[:3]) + (f" and {len(edited) - 3} more" if len(edited) > 3 else "")
            raise Refused(f"edited in {self.checkout}: {named}", "commit or stash that with git, then update")

    def move(self, ref: str | None) -> None:
        """Check out what was asked for, else follow the branch, else go to the newest version there is."""
        if ref is not None:
            remote = f"{self.remote()}/{ref}" if self.run("remote") else ""
            known = remote and self.run("for-each-ref", "--format=%(refname)", f"refs/remotes/{remote}")
            local = self.run("for-each-ref", "--format=%(refname)", f"refs/heads/{ref}", f"refs/tags/{ref}")
            self.run("checkout", "--quiet", *(["--track", remote] if known and not local else [ref]), "--")
            if not (known and local):
                return
        if self.branch():
            upstream = self.run("for-each-ref", "--format=%(upstream:short)", f"refs/heads/{self.branch()}")
            if upstream:
                self.run("merge", "--quiet", "--ff-only", upstream)
            return
        tags = [tag for tag in self.run("tag", "--list", "v*").splitlines() if _TAG.match(tag)]
        if ref is None and tags:
            newest = max(tags, key=lambda tag: [int(part) for part in tag[1:].split(".")])
            self.run("checkout", "--quiet", newest, "--")
