"""What each session has been told, as this machine knows it: a small file per session, in the state directory.

A session that is resumed has its earlier context before it, and is told only what came into the stores since. That is known by
how far the journal had been read, not by clocks: what another machine did earlier may arrive later.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import MaitError
from mait_code.journal.home import make_directory, write_atomically
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home
    from mait_code.projections.store import Store

    #: Of each replica's directory the last segment read, and how many bytes of it.
    Positions = dict[str, tuple[str, int]]

__all__ = ["Mark", "every", "load", "positions", "store"]

_DIRECTORY = "contexts"
#: Seconds after which the mark of a session is dropped: the client keeps no transcript that long.
_FORGOTTEN = 40 * 86400
#: So many marks are kept before anybody looks for old ones.
_MANY = 100
_POSITIONS = "SELECT directory, name, size, max(printf('%02d', length(name)) || name) FROM segments GROUP BY directory"


class Mark:
    """When a session was told last (as the log writes times), in which process of the client (0: not known), about which
    project, and how far the journal had been read."""

    __slots__ = ("at", "pid", "positions", "project", "session")

    def __init__(self, session: str, at: str, pid: int, project: str | None, positions: Positions) -> None:
        self.session = session
        self.at = at
        self.pid = pid
        self.project = project
        self.positions = positions


def positions(store: Store) -> Positions:
    """How far a store has read each directory of the journal."""
    return {directory: (name, size) for directory, name, size, _order in store.query(_POSITIONS)}


def load(home: Home, session: str) -> Mark | None:
    """The mark of a session; None where there is none that can be read."""
    found = _read(os.path.join(home.in_state(_DIRECTORY), _file(session)))
    return found if found is not None and found.session == session else None


def every(home: Home) -> list[Mark]:
    """All marks that can be read, the latest first."""
    folder = home.in_state(_DIRECTORY)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = [mark for name in names if (mark := _read(os.path.join(folder, name))) is not None]
    return sorted(found, key=lambda mark: mark.at, reverse=True)


def store(home: Home, mark: Mark) -> None:
    """Keep a mark. A disk that refuses costs a session that it is told something twice, nothing else."""
    folder = home.in_state(_DIRECTORY)
    held = {"session": mark.session, "at": mark.at, "pid": mark.pid, "project": mark.project}
    content = orjson.dumps({**held, "positions": mark.positions})
    place = os.path.join(folder, _file(mark.session))
    try:
        if not os.path.isdir(folder):
            make_directory(folder)
        write_atomically(place, content, durable=False)
        _drop_old(folder)
    except (OSError, MaitError):
        return


def _file(session: str) -> str:
    return hex_prefix(os.fsencode(session)) + ".json"


def _read(path: str) -> Mark | None:
    try:
        with open(path, "rb") as file:
            held = orjson.loads(file.read())
        read = {str(directory): (str(name), int(size)) for directory, (name, size) in held["positions"].items()}
        project = held["project"]
        return Mark(str(held["session"]), str(held["at"]), int(held["pid"]), project and str(project), read)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _drop_old(folder: str) -> None:
    import time

    with os.scandir(folder) as entries:
        found = list(entries)
    if len(found) <= _MANY:
        return
    oldest = time.time() - _FORGOTTEN
    for entry in found:
        if entry.stat().st_mtime < oldest:
            os.unlink(entry.path)
