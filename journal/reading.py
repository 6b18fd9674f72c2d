"""Finding what is new in the journal, without looking at what is old.

A store keeps a small mark: the modification time of the journal and of each directory in it, and size and time of each
directory's last segment. While those hold, nothing is new, and checking them costs the same with ten segments as with ten
thousand. Closed segments are looked at when their directory changed; `verify` looks at everything.
"""

from __future__ import annotations

import os
import re
import time

from mait_code.journal import segments
from mait_code.journal.event import Event, parse
from mait_code.journal.sha import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from mait_code.journal.home import Home

#: A directory changed this recently could change again within the granularity of its time stamp.
RACY_NANOSECONDS = 2_000_000_000

_AT = re.compile(rb'"at":"([^"]{27})"')


class Cursor:
    """How much of a segment a store has folded: bytes up to the last newline, their digest and lines, and the file's
    size and time as they were."""

    __slots__ = ("digest", "directory", "key", "lines", "modified", "name", "size", "total")

    def __init__(
        self,
        directory: str,
        name: str,
        key: int = -1,
        size: int = 0,
        digest: str = "",
        lines: int = 0,
        total: int = -1,
        modified: int = -1,
    ) -> None:
        self.directory = directory
        self.name = name
        self.key = key
        self.size = size
        self.digest = digest
        self.lines = lines
        self.total = total
        self.modified = modified


class Mark:
    """What a store last saw of the journal's directories. Goes into the store as JSON."""

    __slots__ = ("directories", "root")

    def __init__(self, root: int = 0, directories: dict[str, list[Any]] | None = None) -> None:
        self.root = root
        #: name -> [directory time, last segment's name, its size, its time]; a time of 0 is never trusted.
        self.directories: dict[str, list[Any]] = directories if directories is not None else {}

    def dump(self) -> list[Any]:
        return [self.root, self.directories]

    @classmethod
    def load(cls, raw: list[Any]) -> Mark:
        return cls(raw[0], raw[1])


def _directory_unchanged(path: str, mark: list[Any]) -> bool:
    return os.stat(path).st_mtime_ns == mark[0]


def _last_unchanged(path: str, mark: list[Any]) -> bool:
    if not mark[1]:
        return True
    status = os.stat(f"{path}/{mark[1]}")
    return bool(status.st_size == mark[2] and status.st_mtime_ns == mark[3])


def unchanged(home: Home, mark: Mark) -> bool:
    """Whether nothing in the journal has changed since `mark` was taken."""
    try:
        if os.stat(home.journal).st_mtime_ns != mark.root:
            return False
        for name, one in mark.directories.items():
            path = f"{home.journal}/{name}"
            if not (_directory_unchanged(path, one) and _last_unchanged(path, one)):
                return False
    except FileNotFoundError:
        return not mark.directories and mark.root == 0
    return True


class Change:
    """A segment with something to fold. `load` reads it; `reset` says that what was folded of it must go first."""

    __slots__ = ("content", "cursor", "first_line", "path", "reset", "start")

    def __init__(self, path: str, cursor: Cursor) -> None:
        self.path = path
        self.cursor = cursor
        self.reset = False
        self.content = b""
        self.start = 0
        self.first_line = 1

    def load(self, hold_cut: bool) -> bool:
        """Read what is new and move the cursor. False when there is nothing to do now: the file is gone or was cut
        while git works on it (`hold_cut`), and is looked at again next time."""
        content = segments.read(self.path)
        cursor = self.cursor
        if content is None or (len(content) < cursor.size and hold_cut):
            return False
        end = content.rfind(b"\n") + 1
        self.start, self.first_line = cursor.size, cursor.lines + 1
        if cursor.size and (len(content) < cursor.size or _digest(content[: cursor.size]) != cursor.digest):
            self.reset = True
            self.start, self.first_line, cursor.lines = 0, 1, 0
        if end < self.start:
            end = self.start
        self.content = content[self.start : end]
        if end != cursor.size or self.reset:
            cursor.digest = _digest(content[:end])
        cursor.size = end
        cursor.lines += self.content.count(b"\n")
        cursor.total = len(content)
        return True

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(offset in the file, line without newline) of every new line."""
        offset = self.start
        for line in self.content.split(b"\n")[:-1]:
            yield offset, line
            offset += len(line) + 1

    def last_at(self) -> str:
        """The time on the last new line that is sound, or an empty string: within one replica it is the largest. A
        damaged line does not count, for its time would lift this machine's clock for ever."""
        event = last_event(self.content)
        return event.at if event is not None else ""

    def first_at(self) -> bytes:
        """The time on the first line, to read segments of several machines in about the order things happened."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.cursor.size)
                found = _AT.search(file.read(1000))
        except OSError:
            return b""
        return found[1] if found else b""


def last_event(content: bytes, of: str = "") -> Event | None:
    """The last sound line in a segment's bytes, written by replica `of` when given."""
    end = len(content)
    while end > 0:
        start = content.rfind(b"\n", 0, end) + 1
        if end - start > 2:
            event = parse(content[start:end])
            if isinstance(event, Event) and (not of or event.replica == of):
                return event
        end = start - 1
    return None


def _digest(content: bytes) -> str:
    # BLAKE2 rather than SHA-256: three times as fast here, and it never leaves this machine.
    return blake2b(content, digest_size=16).hexdigest()


class Plan:
    """What has to be done to bring a store up to the journal: segments to read, segments that are gone, the new mark."""

    __slots__ = ("changes", "gone", "held", "mark")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.gone: list[Cursor] = []
        self.mark = Mark()
        self.held = False


def git_is_working(home: Home) -> bool:
    """Whether git is in the middle of something: a segment missing or cut now may be back in a moment."""
    return os.path.exists(home.in_data(".git/index.lock")) or os.path.exists(home.in_data(".git/MERGE_HEAD"))


def plan(home: Home, mark: Mark, cursors: Callable[[str], dict[str, Cursor]], thorough: bool = False) -> Plan:
    """Compare the journal with `mark`. `cursors(directory)` gives the cursors a store holds for one directory; it is
    asked only for directories that changed. `thorough` trusts no mark and looks at every segment."""
    found = Plan()
    now = time.time_ns()
    try:
        root = os.stat(home.journal).st_mtime_ns
    except FileNotFoundError:
        root = 0
    present = mark.directories.keys() if root and root == mark.root and not thorough else segments.directories(home.journal)
    for name in sorted(present):
        _look(found, home, name, mark.directories.get(name), cursors, now, thorough)
    for name in mark.directories.keys() - set(present):
        found.gone.extend(cursors(name).values())
    found.mark.root = _trusted(root, now)
    if found.gone and git_is_working(home):
        _hold(found, mark)
    found.changes.sort(key=Change.first_at)
    return found


def _trusted(modified: int, now: int) -> int:
    return modified if abs(now - modified) > RACY_NANOSECONDS else 0


def _hold(found: Plan, mark: Mark) -> None:
    """Leave gone segments for next time: keep them, and keep a mark that will not hold."""
    for cursor in found.gone:
        found.mark.directories[cursor.directory] = [0, "", 0, 0]
    found.gone = []
    found.mark.root = 0
    found.held = True


def _look(
    found: Plan,
    home: Home,
    name: str,
    mark: list[Any] | None,
    cursors: Callable[[str], dict[str, Cursor]],
    now: int,
    thorough: bool,
) -> None:
    path = f"{home.journal}/{name}"
    try:
        modified = os.stat(path).st_mtime_ns
        if mark is not None and modified == mark[0] and not thorough:
            if _last_unchanged(path, mark):
                found.mark.directories[name] = mark
                return
            status = os.stat(f"{path}/{mark[1]}")
            known = cursors(name).get(mark[1]) or Cursor(name, mark[1])
            _compare(found, path, known, status, thorough)
            found.mark.directories[name] = [modified, mark[1], status.st_size, status.st_mtime_ns]
            return
    except FileNotFoundError:
        modified = 0
    have = cursors(name)
    listed = segments.in_directory(home.journal, name)
    for segment, status in listed:
        _compare(found, path, have.pop(segment, None) or Cursor(name, segment), status, thorough)
    found.gone.extend(have.values())
    last = [listed[-1][0], listed[-1][1].st_size, listed[-1][1].st_mtime_ns] if listed else ["", 0, 0]
    found.mark.directories[name] = [_trusted(modified, now), *last]


def _compare(found: Plan, path: str, cursor: Cursor, status: os.stat_result, thorough: bool) -> None:
    if cursor.total == status.st_size and cursor.modified == status.st_mtime_ns and not thorough:
        return
    cursor.modified = status.st_mtime_ns
    found.changes.append(Change(f"{path}/{cursor.name}", cursor))


def whole(home: Home) -> Iterable[Change]:
    """Every segment from its start, oldest first: for rebuilding, verifying and searching."""
    return plan(home, Mark(), lambda _directory: {}, thorough=True).changes
