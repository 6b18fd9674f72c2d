"""Where things live: the data directory (the user's, in git) and this machine's state directory (never committed)."""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import BadInput, DiskRefused
from mait_code.journal.sha import hex_prefix

#: The journal format this program reads and writes.
READER = 1
PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600

#: The user's own documents: ordinary files that travel with the journal.
DOCUMENTS = ("soul_document.md", "user_context.md", "communication_style.md", "dashboard.toml")


def state_root() -> str:
    """`$XDG_STATE_HOME/mait-code`, where this machine keeps what is never committed."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "mait-code")


def default_data_dir() -> str:
    """The data directory when nothing names another."""
    return os.path.expanduser("~/.claude/mait-code-data")


def make_directory(path: str) -> None:
    """Create a private directory and its parents. Raises DiskRefused where that cannot be."""
    try:
        os.makedirs(path, mode=PRIVATE_DIRECTORY, exist_ok=True)
    except FileExistsError as error:
        raise BadInput(f"{path} is a file, not a directory", "name another directory, or move the file away") from error
    except OSError as error:
        raise DiskRefused(f"cannot create {path}: {error.strerror}", "check the path and its permissions") from error


class Home:
    """The paths of one data directory and of its state directory. Creates nothing by itself.

    With `stays` it is the same directory for this machine's second replica, whose segments stand beside the others and never
    travel: that one has a state of its own, and with it a lock, a clock and a spool.
    """

    __slots__ = ("data", "journal", "real", "state", "stays", "unreadable")

    def __init__(self, data: str, *, stays: bool = False) -> None:
        self.data = os.path.abspath(os.path.expanduser(data))
        #: Links resolved: two names of one directory share one state, a copied directory gets its own.
        self.real = os.path.realpath(self.data)
        self.journal = os.path.join(self.data, "journal")
        self.stays = stays
        state = os.path.join(state_root(), hex_prefix(os.fsencode(self.real)))
        self.state = os.path.join(state, "local") if stays else state
        #: Files and directories of the journal that are there and cannot be read, each with the reason, as found by
        #: whoever read last: what they hold is unknown, which is not the same as nothing.
        self.unreadable: dict[str, str] = {}

    def in_state(self, name: str) -> str:
        """A file of the state directory."""
        return os.path.join(self.state, name)

    def in_data(self, name: str) -> str:
        """A file of the data directory."""
        return os.path.join(self.data, name)

    def make(self) -> None:
        """Create the data, journal and state directories where they are missing."""
        # Each by itself: the parents that makedirs adds are open to others.
        above = os.path.dirname(self.state)
        for path in (self.data, self.journal, *((os.path.dirname(above),) if self.stays else ()), above, self.state):
            if not os.path.isdir(path):
                make_directory(path)


def format_fault(home: Home) -> str:
    """Why this program must leave the journal alone: it was written for newer ones only. Empty where all is well."""
    try:
        with open(os.path.join(home.journal, "format.json"), "rb") as file:
            raw = orjson.loads(file.read())
    except (FileNotFoundError, NotADirectoryError, PermissionError, orjson.JSONDecodeError):
        return ""  # made on the next write; damage here says nothing about the lines
    least = raw.get("min_reader") if type(raw) is dict else None
    if type(least) is int and least > READER:
        return f"the journal in {home.data} needs a newer mait-code (format reader {least}, this one is {READER})"
    return ""


def write_atomically(path: str, content: bytes, mode: int = PRIVATE_FILE, *, durable: bool = True) -> None:
    """Replace a file in one step, private to the user unless another mode is asked for. The bytes are on disk before the name
    points at them, but for what is not `durable`: that may be empty after the power went, and nobody waits for the disk."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        try:
            if mode != PRIVATE_FILE:
                os.fchmod(handle, mode)
            written = os.write(handle, content)
            if written != len(content):
                raise DiskRefused(
                    f"cannot write {path}: the disk took only part of it", "free some space and try again"
                )
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except OSError as error:
        _discard(temporary)
        raise DiskRefused(f"cannot write {path}: {error.strerror}", "check free space and permissions") from error
    except DiskRefused:
        _discard(temporary)
        raise


def make_way(path: str, directory: bool = False) -> None:
    """Move what is no regular file (or no directory) out of the place of one that we need. Nothing is deleted."""
    right = os.path.isdir(path) if directory else os.path.isfile(path)
    if os.path.lexists(path) and (os.path.islink(path) or not right):
        import time

        try:
            os.rename(path, f"{path}.{time.time_ns()}.damaged")
        except OSError as error:
            raise DiskRefused(
                f"cannot move {path} out of the way: {error.strerror}", "move it away yourself"
            ) from error


def _discard(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
