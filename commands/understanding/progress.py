"""How far each transcript has been understood on this machine, what failed, and what was put aside after three failures.

A small file each in the state directory. It moves only past what is stored or put aside; where it is lost, what the journal
holds already is recognised there.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.capture import cursors
from mait_code.commands.understanding.windows import Place
from mait_code.journal.home import make_directory, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home
    from mait_code.journal.lock import Lock

__all__ = ["ATTEMPTS", "Parked", "Progress", "every", "load", "lock", "store"]

_DIRECTORY = "understood"
#: How often a window is tried, and how many seconds lie between the tries.
ATTEMPTS = 3
PAUSES = (60, 600)


class Parked:
    """A window that failed too often: where it begins and ends, what makes it that window, and what was said last."""

    __slots__ = ("begin", "end", "key", "reason")

    def __init__(self, begin: Place, end: Place, key: str, reason: str) -> None:
        self.begin = begin
        self.end = end
        self.key = key
        self.reason = reason


class Progress:
    """Where the next window begins (`place`), after the line at `line` whose uuid is `uuid`.

    `open` says that there was more to understand when it was last looked at. `failures` counts those of the next window,
    which is not tried before `due` (seconds since 1970); `reason` is what was said last. `windows` counts what is stored.
    """

    __slots__ = ("due", "failures", "line", "open", "parked", "path", "place", "reason", "uuid", "windows")

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = Place()
        self.line = 0
        self.uuid = ""
        self.open = False
        self.windows = 0
        self.failures = 0
        self.due = 0.0
        self.reason = ""
        self.parked: list[Parked] = []

    def passed(self) -> None:
        """The next window is another one."""
        self.failures, self.due, self.reason = 0, 0.0, ""


def _file(home: Home, path: str, ending: str = ".json") -> str:
    return cursors.file_of(home, path, _DIRECTORY, ending)


def lock(home: Home, path: str) -> Lock:
    """Held by the one process that has this transcript understood."""
    from mait_code.journal.lock import Lock

    make_directory(home.in_state(_DIRECTORY))
    return Lock(_file(home, path, ".lock"))


def load(home: Home, path: str) -> Progress:
    """What is known of a transcript; nothing where that cannot be read."""
    try:
        with open(_file(home, path), "rb") as file:
            found = _read(orjson.loads(file.read()))
        return found if os.path.realpath(found.path) == os.path.realpath(path) else Progress(path)
    except (OSError, ValueError, TypeError, LookupError):
        return Progress(path)


def _read(held: dict[str, Any]) -> Progress:
    found = Progress(str(held["path"]))
    found.place = _place(held["place"])
    found.line, found.windows, found.failures = (int(held[name]) for name in ("line", "windows", "failures"))
    found.uuid, found.reason = str(held["uuid"]), str(held["reason"])
    found.open, found.due = bool(held["open"]), float(held["due"])
    found.parked = [
        Parked(_place(one["begin"]), _place(one["end"]), str(one["key"]), str(one["reason"])) for one in held["parked"]
    ]
    return found


def _place(held: Any) -> Place:
    place = Place(int(held[0]), int(held[1]))
    if place.offset < 0 or place.part < 0:
        raise ValueError("no place")
    return place


def _held(place: Place) -> list[int]:
    return [place.offset, place.part]


def store(home: Home, progress: Progress) -> None:
    """Keep it. Raises DiskRefused: what is not kept would be asked, and paid for, again."""
    held = {name: getattr(progress, name) for name in Progress.__slots__}
    held["place"] = _held(progress.place)
    held["parked"] = [
        {"begin": _held(one.begin), "end": _held(one.end), "key": one.key, "reason": one.reason}
        for one in progress.parked
    ]
    make_directory(home.in_state(_DIRECTORY))
    write_atomically(_file(home, progress.path), orjson.dumps(held) + b"\n")


def every(home: Home) -> list[Progress]:
    """All that is known, those that were looked at longest ago first."""
    folder = home.in_state(_DIRECTORY)
    found: list[tuple[float, Progress]] = []
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return []
    for name in names:
        place = os.path.join(folder, name)
        try:
            with open(place, "rb") as file:
                one = _read(orjson.loads(file.read()))
            found.append((os.stat(place).st_mtime, one))
        except (OSError, ValueError, TypeError, LookupError):
            continue
    return [one for _at, one in sorted(found, key=lambda pair: pair[0])]


def forget(home: Home, progress: Progress) -> None:
    """Forget a transcript that is gone."""
    for suffix in (".json", ".lock"):
        try:
            os.unlink(_file(home, progress.path, suffix))
        except OSError:
            continue
