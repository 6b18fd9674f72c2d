"""The spool: what a hook leaves when it cannot have the append lock in time.

One file per action, written aside and renamed, holding ids, wall time and `sees` as the hook saw them. Whoever holds the
lock next appends them in order of wall time and id; only then do they get their `seq` and `at`. A kill between appending
and unlinking appends a file twice; the ids are the same, so it is folded once.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal import clock
from mait_code.journal.errors import DiskRefused
from mait_code.journal.home import Home, make_directory, write_atomically
from mait_code.journal.kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Draft = dict[str, Any]

DAMAGED = ".damaged"
_FIELDS = ("kind", "v", "id", "entity", "actor", "data")


class Action:
    """One spooled action. `wall` is microseconds, `seen` the largest `at` its writer had seen (or empty)."""

    __slots__ = ("drafts", "seen", "wall")

    def __init__(self, wall: int, seen: str, drafts: list[Draft]) -> None:
        self.wall = wall
        self.seen = seen
        self.drafts = drafts


def leave(home: Home, action: Action) -> str:
    """Write one action to the spool and return the file's path."""
    folder = home.in_state("spool")
    if not os.path.isdir(folder):
        make_directory(folder)
    path = os.path.join(folder, f"{action.wall:020d}-{action.drafts[0]['id']}.json")
    write_atomically(path, orjson.dumps({"wall": action.wall, "seen": action.seen, "events": action.drafts}))
    return path


def waiting(home: Home) -> list[str]:
    """The spooled files in the order they are to be appended."""
    try:
        names = os.listdir(home.in_state("spool"))
    except FileNotFoundError:
        return []
    return [home.in_state(f"spool/{name}") for name in sorted(names) if name.endswith(".json")]


def damaged(home: Home) -> list[str]:
    """Spool files that could not be read; `doctor` names them."""
    try:
        names = os.listdir(home.in_state("spool"))
    except FileNotFoundError:
        return []
    return [home.in_state(f"spool/{name}") for name in sorted(names) if name.endswith(DAMAGED)]


def load(path: str) -> Action | None:
    """One spooled action; None when it vanished. A damaged file is set aside under another name, never deleted."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return None
    action = _read(content)
    if action is None:
        os.replace(path, path + DAMAGED)
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
    return Action(wall, seen, drafts) if all(_is_draft(draft) for draft in drafts) else None


def _is_draft(draft: Any) -> bool:
    """Whether appending the draft would give a line that can be read back."""
    if type(draft) is not dict or not set(_FIELDS) <= set(draft):
        return False
    kind = KINDS.get(draft["kind"]) if type(draft["kind"]) is str else None
    return kind is not None and type(draft["data"]) is dict and not kind.fault(draft["data"])


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
