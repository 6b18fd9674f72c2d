"""How far each transcript has been read on this machine: a small file each, in the state directory.

A cursor only saves time. Where it is lost or wrong the transcript is read from its beginning, and what is known already adds
nothing.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import MaitError
from mait_code.journal.home import make_directory, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home

_DIRECTORY = "transcripts"


class Cursor:
    """Where the last turn that was read begins, which may have grown since; and what is known of the end.

    `size` is that of the transcript when it was read, so that one that has grown is noticed. `closed` says that the session
    was seen to end, `pid` which process of the client it runs in (0: not known). `handed` is the size it had when it was last
    seen to that it is understood, be it later: where that is another one, whoever was to do it is gone.
    """

    __slots__ = ("closed", "handed", "path", "pid", "place", "size", "uuid")

    def __init__(
        self,
        path: str,
        place: int = 0,
        uuid: str = "",
        size: int = 0,
        closed: bool = False,
        pid: int = 0,
        handed: int = 0,
    ) -> None:
        self.path = path
        self.pid = pid
        self.handed = handed
        self.place = place
        self.uuid = uuid
        self.size = size
        self.closed = closed


def file_of(home: Home, path: str, kept_in: str = _DIRECTORY, ending: str = ".json") -> str:
    """The file in the state directory that something of a transcript is kept in."""
    from mait_code.journal.sha import hex_prefix

    return home.in_state(os.path.join(kept_in, hex_prefix(os.fsencode(os.path.realpath(path))) + ending))


def load(home: Home, path: str) -> Cursor:
    """The cursor of a transcript; a new one where there is none that can be used."""
    try:
        with open(file_of(home, path), "rb") as file:
            held = orjson.loads(file.read())
        place, size, pid = (int(held[name]) for name in ("place", "size", "pid"))
        cursor = Cursor(path, place, str(held["uuid"]), size, bool(held["closed"]), pid, int(held.get("handed", 0)))
        return cursor if held["path"] == path and cursor.place >= 0 else Cursor(path)
    except (OSError, ValueError, TypeError, KeyError):
        return Cursor(path)


def store(home: Home, cursor: Cursor) -> None:
    """Keep a cursor; a disk that refuses costs time next time, nothing else."""
    held = {name: getattr(cursor, name) for name in Cursor.__slots__}
    try:
        make_directory(home.in_state(_DIRECTORY))
        write_atomically(file_of(home, cursor.path), orjson.dumps(held) + b"\n", durable=False)
    except (OSError, MaitError):
        return


def every(home: Home) -> list[Cursor]:
    """All cursors that can be read."""
    folder = home.in_state(_DIRECTORY)
    found = []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    for name in names:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                path = orjson.loads(file.read())["path"]
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if type(path) is str:
            found.append(load(home, path))
    return found


def is_agent(path: str) -> bool:
    """Whether it is the transcript of a subagent, which is read with its session's."""
    name = os.path.basename(path)
    return name.startswith("agent-") and name.endswith(".jsonl")


def drop_if_old(home: Home, cursor: Cursor, seconds: float) -> None:
    """Forget a transcript that is gone and was last read longer ago than `seconds`."""
    import time

    name = file_of(home, cursor.path)
    try:
        if time.time() - os.stat(name).st_mtime > seconds:
            os.unlink(name)
    except OSError:
        return
