"""Taking a data directory to another place, with what this machine keeps for it, so that the machine stays itself.

    note; identity good for both places; data; state; settings.toml; identity good for the new place; note gone

The note lies in the state directory's root. Wherever a move is killed, either the old place works as before, or the next
command finds the note and goes on to the end.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import orjson

from mait_code.journal import replica, segments
from mait_code.journal.errors import Busy, DiskRefused, Refused
from mait_code.journal.home import PRIVATE_FILE, Home, make_directory, state_root, write_atomically
from mait_code.journal.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["finish", "move", "note_path"]

#: Who writes, and who syncs, must have ended: both work with paths of the old place.
_LOCKS = ("sync.lock", "lock", "local/lock")


def note_path() -> str:
    """Where the note of a move stands while it goes on."""
    return os.path.join(state_root(), "moving.json")


def move(old: Home, new: Home, named: Callable[[], None]) -> bool:
    """Move a data directory and its state, and call `named`, which has the settings name the new place. True where the data
    had to be copied. Raises Refused, Busy or DiskRefused; a move that fails, `named` included, changes nothing."""
    _check(old, new)
    make_directory(os.path.dirname(new.real))
    make_directory(state_root())
    with _alone(), _nobody_writes(old):
        write_atomically(note_path(), orjson.dumps({"from": old.real, "to": new.real}) + b"\n")
        try:
            replica.expect_move(old, new)
            copied = _take_along(old, new)
            try:
                _move_state(old, new)
                named()
            except BaseException:
                _put_back(old, new, copied)
                raise
            replica.settle_move(new)
        finally:
            _forget()
    return copied


def finish() -> None:
    """End a move that was killed. Where the old place still has everything, it is as if there had been no move."""
    with _alone():
        note = _read()
        if note is not None:
            old, new = note
            here, there = os.path.isdir(old.real), os.path.isdir(new.real)
            if there and (not here or (os.path.isdir(new.state) and not os.path.isdir(old.state))):
                _move_state(old, new)
                _name(old, new)
                replica.settle_move(new)
        _forget()


def _check(old: Home, new: Home) -> None:
    if os.path.lexists(new.data) and not (os.path.isdir(new.data) and not os.listdir(new.data)):
        raise Refused(f"{new.data} is not empty", "name a directory that does not exist yet")
    if (new.real + os.sep).startswith(old.real + os.sep):
        raise Refused(f"{new.data} is inside the directory that is to move", "name a place outside of it")


@contextmanager
def _alone() -> Iterator[None]:
    """Hold the note's lock: one move at a time, and nobody ends a move that still goes on."""
    handle = -1
    try:
        handle = os.open(note_path() + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(handle)
        raise Busy("the data directory is being moved by another process", "try again when it has ended") from error
    except OSError as error:
        raise DiskRefused(
            f"cannot lock {note_path()}.lock: {error.strerror}", "check free space and permissions"
        ) from error
    try:
        yield
    finally:
        os.close(handle)


@contextmanager
def _nobody_writes(old: Home) -> Iterator[None]:
    with ExitStack() as held:
        for path in map(old.in_state, _LOCKS):
            if os.path.isdir(os.path.dirname(path)):
                held.enter_context(Lock(path))
        yield


def _read() -> tuple[Home, Home] | None:
    try:
        note = orjson.loads(segments.read(note_path()) or b"")
        return Home(str(note["from"])), Home(str(note["to"]))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _forget() -> None:
    try:
        os.unlink(note_path())
    except OSError:
        return  # it is gone; or it stays, and the next command sees that there is nothing to end


def _name(old: Home, new: Home) -> None:
    from mait_code.commands import settings
    from mait_code.journal import settings as registry

    if Home(str(registry.value("data-dir"))).real == old.real:
        settings.change("data-dir", new.data)


def _take_along(old: Home, new: Home) -> bool:
    try:
        os.rename(old.real, new.real)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise DiskRefused(
                f"cannot move {old.data}: {error.strerror}", "check the permissions of both places"
            ) from error
        _copy(old.real, new.real)
        return True
    return False


def _move_state(old: Home, new: Home) -> None:
    # Events that hooks left to be written lie in the state directory, so it goes along.
    if os.path.isdir(old.state) and not os.path.exists(new.state):
        os.rename(old.state, new.state)


def _put_back(old: Home, new: Home, copied: bool) -> None:
    if os.path.isdir(new.state) and not os.path.exists(old.state):
        os.rename(new.state, old.state)
    if copied:
        import shutil

        shutil.rmtree(new.real, ignore_errors=True)
    else:
        os.rename(new.real, old.real)


def _copy(source: str, target: str) -> None:
    import shutil

    partial = f"{target}.{os.getpid()}.tmp"
    try:
        shutil.copytree(source, partial, symlinks=True)
        if os.path.isdir(target):
            os.rmdir(target)
        os.rename(partial, target)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise DiskRefused(f"cannot copy to {target}: {error}", "check free space and permissions") from error
