"""The last lines this machine wrote, kept a second time in the state directory.

A plain `git pull` that finds the index locked puts local changes aside, resets the files and brings the changes back;
what was appended in between is in no file and in no commit. So do `git stash` and `git reset --hard` by hand. The next
writer finds its last line gone, and what is missing is taken from here.

What is missing cannot be told while git is at it: a file may be away for a moment, or be cut once more. So a file that
was found cut is remembered, and every writer looks again until git has been still for a while.
"""

from __future__ import annotations

import os
import re
import time

from mait_code.journal import segments
from mait_code.journal.home import PRIVATE_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home

#: Bytes of one of the two files; at least so much is always kept.
LIMIT = 1024 * 1024
#: The segments that can hold what both files hold, with room for segments closed early.
_LATEST = 64

#: Seconds after which a git that cut our file has surely ended, and a lock file it left says nothing any more.
STILL = 10.0
STALE = 60.0

_REPLICA = re.compile(rb'"replica":"([0-9a-z]{8})"')


def note(home: Home, block: bytes) -> None:
    """Keep lines that were just appended. Call it under the append lock.

    It is a second chance and no promise: a disk that refuses it does not fail the append.
    """
    path = home.in_state("recent")
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
        try:
            size = os.fstat(handle).st_size
            os.write(handle, block)
        finally:
            os.close(handle)
        if size + len(block) > LIMIT:
            os.replace(path, f"{path}.old")
    except OSError:
        return


def remember_cut(home: Home) -> None:
    """Our file was found cut: let this and the next writers look for what it lost."""
    try:
        with open(home.in_state("recent.cut"), "wb"):
            pass
    except OSError:
        return


def is_unsettled(home: Home) -> bool:
    """Whether our file was cut, and git may not have been still since."""
    return os.path.exists(home.in_state("recent.cut"))


def git_is_at_it(home: Home) -> bool:
    """Whether git is changing files at this moment."""
    return _age(home.in_data(".git/index.lock")) < STALE


def settle(home: Home) -> None:
    """What was missing has been put back. Nobody need look again once git has been still for long enough."""
    path = home.in_state("recent.cut")
    if _age(path) > STILL:
        try:
            os.unlink(path)
        except OSError:
            return


def _age(path: str) -> float:
    """Seconds since a file was changed; for ever where there is none. A clock set back makes it young, not old."""
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except OSError:
        return float("inf")


def missing(home: Home) -> list[bytes]:
    """The kept lines that no segment holds, oldest first. Lines of a replica whose directory is gone are left: somebody
    removed it."""
    kept = [segments.read(home.in_state(name)) or b"" for name in ("recent.old", "recent")]
    lines = [line for content in kept for line in content.split(b"\n")[:-1] if line]
    present: dict[str, set[bytes]] = {}
    for name in segments.directories(home.journal):
        note = segments.read(f"{home.journal}/{name}/replica.json") or b""
        if b'"adopted_from"' in note:
            present.setdefault("", set()).update(_lines(home, name))
    adopted = present.get("", set())
    found = []
    for line in lines:
        named = _REPLICA.search(line)
        replica = named[1].decode("ascii") if named else ""
        if replica not in present:
            present[replica] = _lines(home, replica)
        if line not in present[replica] and line not in adopted and os.path.isdir(f"{home.journal}/{replica}"):
            found.append(line)
    return found


def _lines(home: Home, directory: str) -> set[bytes]:
    found: set[bytes] = set()
    for name, _ in segments.in_directory(home.journal, directory)[-_LATEST:]:
        found.update((segments.read(f"{home.journal}/{directory}/{name}") or b"").split(b"\n"))
    return found
