"""The last lines this machine wrote, kept a second time in the state directory.

A plain `git pull` that finds the index locked puts local changes aside, resets the files and brings the changes back;
what was appended in between is in no file and in no commit. So do `git stash` and `git reset --hard` by hand. The next
writer finds its last line gone, and what is missing is taken from here.
"""

from __future__ import annotations

import os
import re

from mait_code.journal import segments
from mait_code.journal.home import PRIVATE_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home

#: Bytes of one of the two files; at least so much is always kept.
LIMIT = 1024 * 1024
#: The segments that can hold what both files hold, with room for segments closed early.
_LATEST = 64

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
        if present[replica] and line not in present[replica] and line not in adopted:
            found.append(line)
    return found


def _lines(home: Home, directory: str) -> set[bytes]:
    found: set[bytes] = set()
    for name, _ in segments.in_directory(home.journal, directory)[-_LATEST:]:
        found.update((segments.read(f"{home.journal}/{directory}/{name}") or b"").split(b"\n"))
    return found
