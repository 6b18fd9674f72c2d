"""Segments: the files of the log. `journal/<replica>/000001.jsonl`, a new one once the last has reached 64 KiB.

A commit stores a changed file whole, so small segments keep the repository small: with one 2.4 MB file each commit of five
events added 982 KiB, with 64 KiB segments 36.
"""

from __future__ import annotations

import errno
import os
import re
import stat

from mait_code.journal.ids import REPLICA

#: A segment of at least this many bytes is closed; the next action opens a new one.
CLOSED_AT = 64 * 1024
#: Nothing stands there, or a link or a socket.
ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EISDIR})

#: A directory that holds this file holds segments that stay on their machine. Every git leaves it out by itself.
STAYS, STAYS_CONTENT = ".gitignore", b"*\n"

_NAME = re.compile(r"[0-9]{6,12}\.jsonl", re.ASCII)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def name_of(number: int) -> str:
    """The file name of a segment."""
    return f"{number:06d}.jsonl"


def is_segment(name: str) -> bool:
    """Whether a file name is a segment's. Copies that sync tools leave (`000001 2.jsonl`) are not."""
    return _NAME.fullmatch(name) is not None


def directories(journal: str) -> list[str]:
    """The names of the replica (and adopted) directories, sorted. Symbolic links are not followed."""
    try:
        with os.scandir(journal) as entries:
            return sorted(
                entry.name for entry in entries if REPLICA.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except (FileNotFoundError, NotADirectoryError):
        return []


def stays(journal: str, directory: str) -> bool:
    """Whether the segments of a directory stay on this machine."""
    return read(os.path.join(journal, directory, STAYS)) == STAYS_CONTENT


def staying(journal: str) -> set[str]:
    """The directories whose segments stay on this machine."""
    return {name for name in directories(journal) if stays(journal, name)}


def in_directory(journal: str, directory: str) -> list[tuple[str, os.stat_result]]:
    """The segments of one directory in order of their number, each with its stat. Only regular files."""
    found = []
    try:
        with os.scandir(os.path.join(journal, directory)) as entries:
            for entry in entries:
                if not is_segment(entry.name):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    found.append((entry.name, status))
    except (FileNotFoundError, NotADirectoryError):
        return []
    found.sort(key=lambda item: (len(item[0]), item[0]))
    return found


def strangers(journal: str) -> Iterator[tuple[str, str]]:
    """Files in the journal that are never folded, each with the reason: copies of sync tools, links, other names."""
    expected = {"format.json"}
    for place, folders, files in os.walk(journal):
        inside = os.path.relpath(place, journal)
        for folder in list(folders):
            path = os.path.join(place, folder)
            relative = os.path.normpath(os.path.join(inside, folder))
            if os.path.islink(path):
                yield relative, "a symbolic link"
            elif inside != "." or not REPLICA.fullmatch(folder):
                yield relative, "a directory that is no replica's"
        for file in files:
            relative = os.path.normpath(os.path.join(inside, file))
            if os.path.islink(os.path.join(place, file)):
                yield relative, "a symbolic link"
            elif inside == "." and file not in expected:
                yield relative, "not part of the journal"
            elif inside != "." and file not in ("replica.json", STAYS) and not is_segment(file):
                yield relative, "a copy left by a sync tool, or not part of the journal"


def is_absent(path: str) -> bool:
    """Whether nothing is there, as against something that one may not look at."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno in ABSENT
    return False


def read(path: str, start: int = 0, most: int = -1) -> bytes | None:
    """The bytes of a file from `start` on, at most `most` where given; None where no such regular file can be read. Links
    are not followed, and a pipe in a file's place is not waited for."""
    try:
        return read_or_raise(path, start, most)
    except OSError:
        return None


def read_or_raise(path: str, start: int = 0, most: int = -1) -> bytes | None:
    """The same, for a caller to whom a file that is there and cannot be read is not a file that is gone: None is said of
    the one (or of what is no file), OSError of the other."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in ABSENT:
            return None
        raise
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        if most >= 0:
            return os.pread(handle, most, start)
        parts: list[bytes] = []
        offset = start
        while True:
            part = os.pread(handle, max(status.st_size - offset, 65536), offset)
            if not part:
                return b"".join(parts) if len(parts) != 1 else parts[0]
            parts.append(part)
            offset += len(part)
    finally:
        os.close(handle)
