"""The spool: what a hook leaves when it cannot have the append lock in time.

One file per action, written aside and renamed, holding ids, wall time and `sees` as the hook saw them. Whoever holds the
lock next appends them in order of wall time and id; only then do they get their `seq` and `at`. A kill between appending
and unlinking appends a file twice; the ids are the same, so it is folded once.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal import clock, segments
from mait_code.journal.errors import DiskRefused
from mait_code.journal.event import Bad, Event, parse
from mait_code.journal.home import Home, make_directory, make_way, write_atomically
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Draft = dict[str, Any]

DAMAGED = ".damaged"
#: What an event is without its place in the log.
_FIELDS = ("kind", "v", "id", "entity", "actor", "session", "tx", "undoes", "sees", "data")


class Action:
    """One spooled action. `wall` is microseconds, `seen` the largest `at` its writer had seen (or empty)."""

    __slots__ = ("drafts", "seen", "wall")

    def __init__(self, wall: int, seen: str, drafts: list[Draft]) -> None:
        self.wall = wall
        self.seen = seen
        self.drafts = drafts

    def checksum(self) -> str:
        """16 hexadecimal digits over everything."""
        return hex_prefix(orjson.dumps([self.wall, self.seen, self.drafts]))


def leave(home: Home, action: Action) -> str:
    """Write one action to the spool and return the file's path."""
    folder = home.in_state("spool")
    if not os.path.isdir(folder):
        make_way(folder, directory=True)
        make_directory(folder)
    path = os.path.join(folder, f"{action.wall:020d}-{action.drafts[0]['id']}.json")
    record = {"wall": action.wall, "seen": action.seen, "events": action.drafts, "sum": action.checksum()}
    write_atomically(path, orjson.dumps(record))
    return path


def draft_of(event: Event) -> Draft:
    """An event as the spool keeps it: everything but its place in the log."""
    return {name: getattr(event, name) for name in _FIELDS}


def event_of(draft: Draft) -> Event:
    """The event of a draft, still without a place. Its kind may be one that only a newer program knows."""
    event = Event()
    for name in _FIELDS:
        setattr(event, name, draft[name])
    event.wall = ""
    return event


def _names(home: Home) -> list[str]:
    try:
        return sorted(os.listdir(home.in_state("spool")))
    except (FileNotFoundError, NotADirectoryError):
        return []


def waiting(home: Home) -> list[str]:
    """The spooled files in the order they are to be appended."""
    return [home.in_state(f"spool/{name}") for name in _names(home) if name.endswith(".json")]


def damaged(home: Home) -> list[str]:
    """Spool files that could not be read; `doctor` names them."""
    return [home.in_state(f"spool/{name}") for name in _names(home) if name.endswith(DAMAGED)]


def load(path: str) -> Action | None:
    """One spooled action; None when it vanished. A damaged file is set aside under another name, never deleted."""
    action = _read(segments.read(path) or b"")
    if action is None and os.path.lexists(path):
        try:
            os.replace(path, path + DAMAGED)
        except OSError as error:
            raise DiskRefused(f"cannot move {path} aside: {error.strerror}", "check permissions") from error
    return action


def _read(content: bytes) -> Action | None:
    try:
        raw = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    if type(raw) is not dict:
        return None
    wall, seen, drafts = raw.get("wall"), raw.get("seen"), raw.get("events")
    if type(wall) is not int or not (seen == "" or clock.valid(seen)) or type(drafts) is not list or not drafts:
        return None
    action = Action(wall, str(seen), drafts)
    return action if raw.get("sum") == action.checksum() and all(map(_is_draft, drafts)) else None


def _is_draft(draft: Any) -> bool:
    """Whether appending the draft would give a line that can be read back."""
    if type(draft) is not dict or not set(_FIELDS) <= set(draft):
        return False
    event = event_of(draft)
    event.at, event.replica, event.seq = clock.FIRST, "00000000", 1
    return not isinstance(parse(event.line()), Bad)


def drain(home: Home) -> Iterator[Action]:
    """Yield each waiting action in order; the caller appends it. Advancing removes the file."""
    for path in waiting(home):
        action = load(path)
        if action is None:
            continue
        yield action
        try:
            os.unlink(path)
        except OSError as error:
            raise DiskRefused(f"cannot remove {path}: {error.strerror}", "check permissions") from error
