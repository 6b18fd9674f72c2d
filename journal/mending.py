"""The work tree against what is committed: what was added goes into a commit, what was taken away is put back.

A segment only grows. One that is gone, shorter or changed in the work tree was damaged by hand or by another program:
the committed bytes go back in their place, and sound lines that only the damaged file had are adopted. Only a document
may be deleted.
"""

from __future__ import annotations

import os

from mait_code.journal import reconcile, segments, tail
from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.home import Home, make_directory, write_atomically
from mait_code.journal.lock import Lock
from mait_code.journal.reconcile import DOCUMENT, FORMAT, NOTE, SEGMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from mait_code.journal.repository import Repository

#: Seconds a sync waits for the writers' lock.
PATIENCE = 30.0

_OURS = (SEGMENT, NOTE, FORMAT, DOCUMENT)
_PATHS = ("journal", ".gitattributes", ".gitignore")


class AppendLock(Lock):
    """The writers' lock, as a sync takes it: it has time, and must not give up because many are writing."""

    def __init__(self, home: Home, patience: float = PATIENCE) -> None:
        super().__init__(home.in_state("lock"))
        self.patience = patience

    def __enter__(self) -> Self:
        if not self.acquire(self.patience):
            raise Busy(f"the journal is held by {self.holder()}", "sync again when it has ended; nothing is lost")
        return self


class Changes:
    """How the work tree differs from the last commit, as far as it is ours to commit.

    `head` is that commit and `branch` its branch, `tracked` holds (path, its committed blob or nothing), `new` the
    paths no commit has, `unmerged` every path with an open conflict, the user's own files included.
    """

    __slots__ = ("branch", "head", "new", "tracked", "unmerged")

    def __init__(self) -> None:
        self.head = ""
        self.branch = ""
        self.tracked: list[tuple[str, str]] = []
        self.new: list[str] = []
        self.unmerged: list[str] = []


def look(repository: Repository) -> Changes:
    """Compare. Two processes; what is ignored by some rule of the user's is seen all the same."""
    found = Changes()
    words = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=no", "--no-renames", "--no-ahead-behind")
    for entry in os.fsdecode(repository.run(*words)).split("\0"):
        if entry.startswith("# branch.oid ") and "(initial)" not in entry:
            found.head = entry.rpartition(" ")[2]
        elif entry.startswith("# branch.head "):
            found.branch = entry[len("# branch.head ") :]
        elif entry.startswith("1 "):
            _, _, _, head_mode, _, _, blob, _, path = entry.split(" ", 8)
            if reconcile.sort_of(path) in _OURS:
                found.tracked.append((path, blob if head_mode.startswith("100") else ""))
        elif entry.startswith("u "):
            found.unmerged.append(entry.split(" ", 10)[10])
    listed = os.fsdecode(repository.run("ls-files", "-o", "-z", "--", *_PATHS, ":(top,glob)*.md", ":(top,glob)*.toml"))
    found.new = [
        path
        for path in listed.split("\0")[:-1]
        if reconcile.sort_of(path) in _OURS and is_plain(repository.home, path) and not _stays(repository.home, path)
    ]
    return found


def _stays(home: Home, path: str) -> bool:
    """Whether a path is in a directory that does not leave this machine."""
    parts = path.split("/")
    return len(parts) == 3 and segments.stays(home.journal, parts[1])


def is_plain(home: Home, path: str) -> bool:
    """Whether a path of the data directory is a regular file, and no link to one."""
    full = home.in_data(path)
    return os.path.isfile(full) and not os.path.islink(full)


class Mended:
    """What was put back: `restored` paths, and how many lines were `adopted`."""

    __slots__ = ("adopted", "restored")

    def __init__(self) -> None:
        self.restored: list[str] = []
        self.adopted = 0


def put_back(repository: Repository, committed: list[tuple[str, str]], mended: Mended) -> None:
    """Put back those of the committed (path, blob) that the work tree no longer continues, unless it holds a sounder
    version of them: a repair. Documents are left alone.

    For our own segments call it under the append lock. Raises DiskRefused where one is there and cannot be read: it may
    hold more than the committed one.
    """
    home = repository.home
    guarded = [(path, blob) for path, blob in committed if blob and reconcile.sort_of(path) in (SEGMENT, NOTE, FORMAT)]
    contents = repository.blobs(blob for _, blob in guarded)
    for path, blob in guarded:
        before, now = contents[blob], _present(home, path)
        if reconcile.sort_of(path) != SEGMENT:
            if not now:
                _write(home, path, before)
                mended.restored.append(path)
        elif now is None or not reconcile.grew(before, now):
            repaired = now is not None and reconcile.better(now, before)
            kept, lost = (now, before) if now is not None and repaired else (before, now)
            mended.adopted += adopt(home, reconcile.extra_lines(kept, lost))
            if not repaired:
                _write(home, path, before)
                mended.restored.append(path)


def _present(home: Home, path: str) -> bytes | None:
    try:
        return segments.read_or_raise(home.in_data(path))
    except OSError as error:
        raise DiskRefused(
            f"cannot read {home.in_data(path)}: {error.strerror}", "check its owner and permissions, then sync again"
        ) from error


def adopt(home: Home, lines: list[bytes]) -> int:
    """Put lines that lose their place into a directory of their own, but for those that already stand somewhere
    else."""
    lines = _unknown(home, lines)
    if lines:
        tail.adopt(home, lines)
    return len(lines)


def _unknown(home: Home, lines: list[bytes]) -> list[bytes]:
    """The lines that no adopted directory holds yet: a second sync after an interrupted one finds them there."""
    if not lines:
        return []
    held: set[bytes] = set()
    for directory in segments.directories(home.journal):
        note = segments.read(os.path.join(home.journal, directory, "replica.json")) or b""
        if b'"adopted_from"' in note:
            for name, _ in segments.in_directory(home.journal, directory):
                held.update((segments.read(os.path.join(home.journal, directory, name)) or b"").split(b"\n"))
    return [line for line in lines if line not in held]


def _write(home: Home, path: str, content: bytes) -> None:
    full = home.in_data(path)
    if not os.path.isdir(os.path.dirname(full)):
        make_directory(os.path.dirname(full))
    write_atomically(full, content)


def flush(home: Home, paths: list[str]) -> None:
    """Put segments and their directories on the disk before a commit speaks of them."""
    directories = {os.path.dirname(path) for path in paths}
    for name in [*paths, *sorted(directories)]:
        try:
            handle = os.open(home.in_data(name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise DiskRefused(f"the disk did not confirm {name}: {error.strerror}", "check the disk") from error
