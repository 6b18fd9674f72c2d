"""The real client: named by MAIT_CODE_TEST_CLAUDE, kept in the user's cache, or had by npm.

It is proprietary, so it is never brought along. What is decided holds for the whole run, and for every process of it: one
installs it while the others wait, and where it cannot be had all of them skip, and say why.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

#: The version these tests are about. Another one may be named by MAIT_CODE_TEST_CLAUDE.
VERSION = "2.1.332"
PACKAGE = "@anthropic-ai/claude-code"
VARIABLE = "MAIT_CODE_TEST_CLAUDE"
#: Seconds an installation may take, and how long the other processes of a run believe that it failed.
_PATIENCE, _BELIEVED = 150, 600
#: What npm and the system call it when no registry answers.
_NO_NETWORK = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|EHOSTUNREACH|E50[234]\b|network"
)

# Every test has a home of its own; this is the user's.
_USERS = dict(os.environ)


class NoClientError(Exception):
    """The client cannot be had on this machine; the message says why."""


def required() -> str:
    """The client's path; the test that asks is skipped where there is none."""
    found, why = _decided()
    if not found:
        pytest.skip(why)
    return found


@cache
def _decided() -> tuple[str, str]:
    try:
        return find(), ""
    except NoClientError as error:
        return "", f"the real client is not on this machine: {error}"


def find() -> str:
    """The client's path, installed first where it is nowhere. Raises NoClientError."""
    named = _USERS.get(VARIABLE)
    if named:
        assert os.access(named, os.X_OK), f"{VARIABLE} names {named}, which is no program"
        return named
    return cached(cache_directory())


def cache_directory() -> Path:
    """Where the client is kept between runs."""
    base = _USERS.get("XDG_CACHE_HOME") or os.path.join(_USERS.get("HOME") or str(Path.home()), ".cache")
    return Path(base) / "mait-code-tests" / f"claude-code-{VERSION}"


def cached(place: Path) -> str:
    """The client in a directory of the cache, put there by npm where it is missing. Raises NoClientError."""
    if not _program(place):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            lock = (place.parent / f"{place.name}.lock").open("a")
        except OSError as error:
            raise NoClientError(f"{place.parent} cannot be written ({error.strerror})") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _program(place):
                _install(place, place.parent / f"{place.name}.failed")
    return _program(place)


def _program(place: Path) -> str:
    found = sorted(place.glob("node_modules/@anthropic-ai/claude-code-*/claude"))
    return next((str(one) for one in found if os.access(one, os.X_OK)), "")


def _install(place: Path, failed: Path) -> None:
    if failed.exists() and time.time() - failed.stat().st_mtime < _BELIEVED:
        raise NoClientError(failed.read_text())
    try:
        _by_npm(place)
    except NoClientError as error:
        failed.write_text(str(error))
        raise
    failed.unlink(missing_ok=True)


def _by_npm(place: Path) -> None:
    missing = [name for name in ("node", "npm") if shutil.which(name, path=_USERS.get("PATH")) is None]
    if missing:
        raise NoClientError(f"there is no {' and no '.join(missing)} to install it with, and {VARIABLE} names none")
    # Beside its place and moved there whole: a run that was cut off leaves no half of it.
    with tempfile.TemporaryDirectory(prefix="installing-", dir=place.parent) as folder:
        command = ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-fund", "--no-audit", "--no-save"]
        command += ["--fetch-retries=1", "--fetch-timeout=30000", f"{PACKAGE}@{VERSION}"]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                env=_USERS,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired as error:
            raise NoClientError(f"npm took longer than {_PATIENCE} s to install {PACKAGE}@{VERSION}") from error
        if done.returncode:
            if _NO_NETWORK.search(done.stderr):
                said = next((line for line in done.stderr.splitlines() if _NO_NETWORK.search(line)), "")
                raise NoClientError(f"npm reaches no registry ({said.strip()})")
            raise AssertionError(f"npm cannot install {PACKAGE}@{VERSION}:\n{done.stderr}")
        if not _program(Path(folder)):
            raise NoClientError(f"{PACKAGE}@{VERSION} brings no program for this sort of machine")
        shutil.rmtree(place, ignore_errors=True)
        Path(folder).rename(place)
        Path(folder).mkdir()  # for the end of the `with`
