"""MEMORY.md as it stands in the data directory, and what this machine knows of how it was left."""

from __future__ import annotations

import os
import stat
import time

import orjson

from mait_code.journal.errors import DiskRefused
from mait_code.journal.home import PRIVATE_FILE
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home

#: The file, in the data directory.
FILE = "memory/MEMORY.md"
_STATE = "memory-file.json"
#: The form of the state.
_FORM = 1
#: Nanoseconds in which a file can change without looking otherwise, and in which an editor empties it to fill it again.
YOUNG = 2_000_000_000
#: Bytes of a file that one line of the log can hold, escapes and all.
_LARGEST = 240 * 1024
#: Seconds for which a file that an editor keeps beside the one it has open is taken for a sign of life.
_OPEN_FOR = 3600
_EDITORS = (".MEMORY.md.swp", ".MEMORY.md.swo", ".#MEMORY.md", ".~lock.MEMORY.md#", ".MEMORY.md.kate-swp")


class File:
    """The file as it is. `fault` says why it cannot be read as text; `stamp` how it looks; `young` that it may change again
    without looking otherwise."""

    __slots__ = ("content", "fault", "missing", "path", "stamp", "young")

    def __init__(self, path: str) -> None:
        self.path = path
        self.content = b""
        self.fault = self.stamp = ""
        self.missing = self.young = False
        try:
            status = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            self.missing = True
            return
        except OSError as error:
            self.fault = str(error.strerror)
            return
        self.stamp = f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
        self.young = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < YOUNG
        if not stat.S_ISREG(status.st_mode):
            self.fault = "it is a directory" if stat.S_ISDIR(status.st_mode) else "it is no file"

    @classmethod
    def of(cls, home: Home) -> File:
        # A link is the user's arrangement: what it leads to is written.
        return cls(os.path.realpath(home.in_data(FILE)))

    def read(self) -> None:
        """Read the content, and see whether it is text that the log can hold."""
        if self.missing or self.fault:
            return
        try:
            with open(self.path, "rb") as file:
                self.content = file.read()
        except FileNotFoundError:
            self.missing = True
            return
        except OSError as error:
            self.fault = str(error.strerror)
            return
        if b"\0" in self.content:
            self.fault = "it is no text in UTF-8"
            return
        try:
            text = self.content.decode()
        except UnicodeDecodeError:
            self.fault = "it is no text in UTF-8"
            return
        if len(self.content) > _LARGEST or len(orjson.dumps(text)) > _LARGEST:
            self.fault = f"it is longer than {_LARGEST // 1024} KiB"

    @property
    def text(self) -> str:
        return self.content.decode()


class State:
    """What was last written, in the state directory: `raw` as JSON, empty where nothing was or it cannot be read."""

    __slots__ = ("path", "raw")

    def __init__(self, home: Home) -> None:
        self.path = home.in_state(_STATE)
        self.raw: dict[str, Any] = {}
        try:
            with open(self.path, "rb") as file:
                raw = orjson.loads(file.read())
        except (OSError, orjson.JSONDecodeError):
            return
        if type(raw) is dict and raw.get("form") == _FORM:
            self.raw = raw

    @property
    def was_written(self) -> bool:
        """Whether the file has ever been written, or taken over, as far as is known here."""
        return bool(self.raw.get("digest"))

    def is_of(self, file: File) -> bool:
        """Whether the file is as it was left, by its looks alone."""
        return bool(file.stamp) and self.raw.get("stamp") == file.stamp

    def holds(self, file: File) -> bool:
        """Whether the file's content is what was last written or taken over."""
        return self.raw.get("digest") == hex_prefix(file.content)

    def save(self, file: File, **more: Any) -> None:
        """Note how the file looks now, and what else is known of it. A file that may change again without looking otherwise
        is read again next time."""
        self.raw |= {"form": _FORM, "stamp": "" if file.young else file.stamp, "digest": hex_prefix(file.content)}
        self.raw |= more
        temporary = f"{self.path}.{os.getpid()}.tmp"
        fill(temporary, orjson.dumps(self.raw))
        os.replace(temporary, self.path)


def fill(path: str, content: bytes) -> None:
    """Write a new file. It need not be on the disk: what is lost with the power is made again."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        if os.write(handle, content) != len(content):
            raise DiskRefused(f"cannot write {path}: the disk is full", "free some space and try again")
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(handle)


def is_open(path: str) -> bool:
    """Whether an editor seems to have the file open: it would write its older text over ours."""
    directory = os.path.dirname(path)
    for name in _EDITORS:
        try:
            status = os.lstat(os.path.join(directory, name))
        except OSError:
            continue
        if time.time() - status.st_mtime < _OPEN_FOR:
            return True
    return False
