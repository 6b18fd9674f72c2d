"""Finding what is new in the journal, without looking at what is old.

A store keeps a small mark: how the journal and each directory in it looked, and how each directory's last segment did. While
those look the same, nothing is new, and checking them costs the same with ten segments as with ten thousand. Closed segments
are looked at when their directory changed; `verify` looks at everything.

How a file looks is its stamp: size, modification and change time. The change time cannot be set by a program, so a copy that
brings an old modification time with it is noticed. (An inode proves nothing: numbers are handed out again, and some network
file systems make up new ones.) A stamp taken while its file is young is not kept: the file
could change again within one tick of the clock and look the same. Young files are compared by their bytes.
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

#: A file changed this recently could change again within the granularity of its time stamps (2 s on FAT).
RACY_NANOSECONDS = 2_000_000_000
#: What stands while git rewrites the work tree, in several steps of which not every one holds a lock.
_GIT_AT_WORK = ("index.lock", "MERGE_HEAD", "rebase-merge", "rebase-apply")

_AT = re.compile(rb'"at":"([^"]{27})"')


class Cursor:
    """How much of a segment a store has folded: bytes, their digest and lines, and the file's size and stamp as they were.

    The bytes end with a newline, or with a whole event that lacks one.
    """

    __slots__ = ("digest", "directory", "key", "lines", "name", "size", "stamp", "total")

    def __init__(
        self,
        directory: str,
        name: str,
        key: int = -1,
        size: int = 0,
        digest: str = "",
        lines: int = 0,
        total: int = -1,
        stamp: str = "",
    ) -> None:
        self.directory = directory
        self.name = name
        self.key = key
        self.size = size
        self.digest = digest
        self.lines = lines
        self.total = total
        self.stamp = stamp


class Mark:
    """What a store last saw of the journal's directories. Goes into the store as JSON. An empty stamp is never trusted."""

    __slots__ = ("directories", "root")

    def __init__(self, root: str = "", directories: dict[str, list[str]] | None = None) -> None:
        self.root = root
        #: name -> [the directory's stamp, its last segment, that segment's stamp]
        self.directories: dict[str, list[str]] = directories if directories is not None else {}

    def distrust(self, directory: str) -> None:
        """Have a directory looked at next time, whatever it looks like."""
        self.directories[directory] = ["", "", ""]

    @property
    def holds(self) -> bool:
        """Whether every stamp can be trusted, so that nothing need be looked at while they stay."""
        return bool(self.root) and all(one[0] and (one[2] or not one[1]) for one in self.directories.values())

    def dump(self) -> list[Any]:
        return [self.root, self.directories]

    @classmethod
    def load(cls, raw: Any) -> Mark:
        """The inverse of `dump`. Raises ValueError for anything else."""
        sound = type(raw) is list and len(raw) == 2 and type(raw[0]) is str and type(raw[1]) is dict
        if sound and all(type(one) is list and [type(part) for part in one] == [str] * 3 for one in raw[1].values()):
            return cls(raw[0], raw[1])
        raise ValueError("not a mark")


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def _look_at(path: str, follow: bool = False) -> tuple[str, str]:
    """A path's stamp, and the same or an empty string where it is too young to be kept. Raises OSError."""
    before = time.time_ns()
    status = os.stat(path, follow_symlinks=follow)
    return _stamp(status), _kept(status, before)


def _kept(status: os.stat_result, before: int) -> str:
    """The stamp of a file looked at after the time `before`, or an empty string where it is young. Times in the future
    are fine: a change that comes now will not have them."""
    after = time.time_ns()
    for stamped in (status.st_mtime_ns, status.st_ctime_ns):
        if before - RACY_NANOSECONDS < stamped < after + RACY_NANOSECONDS:
            return ""
    return _stamp(status)


def unchanged(home: Home, mark: Mark) -> bool:
    """Whether nothing in the journal has changed since `mark` was taken."""
    journal = home.journal
    if not mark.holds:
        return not mark.root and not mark.directories and segments.is_absent(journal)
    try:
        if _stamp(os.stat(journal)) != mark.root:
            return False
        for name, (directory, last, stamp) in mark.directories.items():
            if _stamp(os.lstat(f"{journal}/{name}")) != directory:
                return False
            if last and _stamp(os.lstat(f"{journal}/{name}/{last}")) != stamp:
                return False
    except OSError:
        return False
    return True


class Change:
    """A segment with something to fold. `load` reads it; `reset` says that what was folded of it must go first."""

    __slots__ = ("content", "cursor", "first_line", "home", "path", "reset", "start")

    def __init__(self, home: Home, cursor: Cursor) -> None:
        self.home = home
        self.path = f"{home.journal}/{cursor.directory}/{cursor.name}"
        self.cursor = cursor
        self.reset = False
        self.content = b""
        self.start = 0
        self.first_line = 1

    def load(self, working: Callable[[], bool]) -> bool:
        """Read what is new and move the cursor. False when there is nothing to do now: the file is gone, cannot be read
        (the home is told), or was cut while git works on it (`working` is asked), and is looked at again next time."""
        content = self._read()
        cursor = self.cursor
        if content is not None and len(content) < cursor.size:
            if working():
                return False
            content = self._read()  # git may have finished in between
        if content is None:
            return False
        self.start, self.first_line = cursor.size, cursor.lines + 1
        if cursor.size and not _continues(content, cursor):
            self.reset = True
            self.start, self.first_line, cursor.lines = 0, 1, 0
        end = max(_sound_end(content), self.start)
        self.content = content[self.start : end]
        if end != cursor.size or self.reset:
            cursor.digest = _digest(content[:end])
        cursor.size = end
        cursor.lines += self.content.count(b"\n") + (self.content[-1:] not in (b"", b"\n"))
        cursor.total = len(content)
        return True

    def _read(self) -> bytes | None:
        try:
            content = segments.read_or_raise(self.path)
        except OSError as error:
            _refused(self.home, self.path, error)
            return None
        self.home.unreadable.pop(self.path, None)
        return content

    def unread(self) -> int:
        """Bytes that stand behind what has been folded."""
        try:
            return os.stat(self.path).st_size - self.cursor.size
        except OSError:
            return 0

    def is_as_folded(self) -> bool:
        """Whether the file still holds exactly the bytes that were folded."""
        content = segments.read(self.path)
        cursor = self.cursor
        if content is None or not len(content) == cursor.size == cursor.total:
            return False
        return not content or _digest(content) == cursor.digest

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """(offset in the file, line without newline) of every new line."""
        offset = self.start
        pieces = self.content.split(b"\n")
        if not pieces[-1]:
            pieces.pop()
        for line in pieces:
            yield offset, line
            offset += len(line) + 1

    def last_at(self) -> str:
        """The time on the last new line that is sound, or an empty string: within one replica it is the largest. A
        damaged line does not count, for its time would lift this machine's clock for ever."""
        event = last_event(self.content)
        return event.at if event is not None else ""

    def first_at(self) -> bytes:
        """The time on the first line, to read segments of several machines in about the order things happened."""
        found = _AT.search(segments.read(self.path, self.cursor.size, 1000) or b"")
        return found[1] if found else b""


def _continues(content: bytes, cursor: Cursor) -> bool:
    """Whether a file's bytes begin with those folded, so that what follows them is new lines."""
    size = cursor.size
    if len(content) < size or _digest(content[:size]) != cursor.digest:
        return False
    # What was folded as a whole event that lacked its newline may have become part of a longer line.
    return len(content) == size or content[size - 1] == 10


def _sound_end(content: bytes) -> int:
    """Where the lines that can be folded end: behind the last newline, or behind a last event that only lacks one."""
    end = content.rfind(b"\n") + 1
    rest = content[end:]
    return len(content) if not rest.strip(b"\r") or isinstance(parse(rest), Event) else end


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


def _refused(home: Home, path: str, error: OSError) -> None:
    """Tell the home of something that is there and cannot be read."""
    home.unreadable[path] = error.strerror or str(error)


class Plan:
    """What has to be done to bring a store up to the journal: segments to read, segments that are gone, cursors of which
    only the stamp is new, and the new mark. `held` says that something is left for next time."""

    __slots__ = ("changes", "gone", "held", "mark", "restamped")

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.gone: list[Cursor] = []
        self.restamped: list[Cursor] = []
        self.mark = Mark()
        self.held = False


def git_is_working(home: Home) -> bool:
    """Whether git is in the middle of something: a segment missing or cut now may be back in a moment."""
    return any(os.path.exists(home.in_data(f".git/{name}")) for name in _GIT_AT_WORK)


def plan(home: Home, mark: Mark, cursors: Callable[[str, str], dict[str, Cursor]], thorough: bool = False) -> Plan:
    """Compare the journal with `mark`.

    `cursors(directory, name)` gives the cursors a store holds for one directory, or, with a name, for that segment alone;
    it is asked only where something changed. `thorough` trusts no mark and looks at every segment.
    """
    found = Plan()
    working = git_is_working(home)
    try:
        root, found.mark.root = _look_at(home.journal, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        root = ""
    except OSError as error:
        return _nothing_known(found, home, mark, error)
    known = bool(root) and root == mark.root and not thorough
    try:
        present = mark.directories.keys() if known else segments.directories(home.journal)
    except OSError as error:
        return _nothing_known(found, home, mark, error)
    home.unreadable.pop(home.journal, None)
    for name in sorted(present):
        _look(found, home, name, mark.directories.get(name), cursors, thorough)
    for name in mark.directories.keys() - set(present):
        found.gone.extend(cursors(name, "").values())
    if found.gone and (working or git_is_working(home)):
        _hold(found)
    found.changes.sort(key=Change.first_at)
    return found


def _nothing_known(found: Plan, home: Home, mark: Mark, error: OSError) -> Plan:
    """The plan where the journal cannot be looked into: what was folded stays until it can."""
    _refused(home, home.journal, error)
    for name in mark.directories:
        found.mark.distrust(name)
    found.mark.root = ""
    found.held = True
    return found


def _hold(found: Plan) -> None:
    """Leave gone segments for next time: keep them, and keep a mark that will not hold."""
    for cursor in found.gone:
        found.mark.distrust(cursor.directory)
    found.gone = []
    found.mark.root = ""
    found.held = True


def _look(
    found: Plan,
    home: Home,
    name: str,
    mark: list[str] | None,
    cursors: Callable[[str, str], dict[str, Cursor]],
    thorough: bool,
) -> None:
    path = f"{home.journal}/{name}"
    try:
        stamp, kept = _look_at(path)
        if mark is not None and stamp == mark[0] and not thorough:
            found.mark.directories[name] = [stamp, mark[1], _look_at_last(found, home, name, mark, cursors)]
            return
    except OSError:
        kept = ""  # gone, or the listing below says what is the matter
    have = cursors(name, "")
    last = last_stamp = ""
    before = time.time_ns()
    try:
        for last, status in segments.in_directory(home.journal, name):
            cursor = have.pop(last) if last in have else Cursor(name, last)
            last_stamp = _compare(found, home, cursor, status, before, thorough)
    except OSError as error:
        # It cannot be listed now; what was folded of it stays until it can.
        _refused(home, path, error)
        found.mark.distrust(name)
        found.held = True
        return
    home.unreadable.pop(path, None)
    found.gone.extend(have.values())
    found.mark.directories[name] = [kept, last, last_stamp]


def _look_at_last(
    found: Plan, home: Home, name: str, mark: list[str], cursors: Callable[[str, str], dict[str, Cursor]]
) -> str:
    """Look at the last segment of a directory in which no file came or went. Returns the stamp to keep."""
    if not mark[1]:
        return ""
    before = time.time_ns()
    status = os.lstat(f"{home.journal}/{name}/{mark[1]}")
    if _stamp(status) == mark[2]:
        return mark[2]
    return _compare(found, home, cursors(name, mark[1]).get(mark[1]) or Cursor(name, mark[1]), status, before, False)


def _compare(found: Plan, home: Home, cursor: Cursor, status: os.stat_result, before: int, thorough: bool) -> str:
    """Put a segment into the plan when it has to be read. Returns its stamp to keep, or an empty string."""
    kept = _kept(status, before)
    if not thorough and kept and kept == cursor.stamp:
        return kept
    stamp, cursor.stamp = cursor.stamp, kept
    change = Change(home, cursor)
    if not thorough and cursor.total == status.st_size and change.is_as_folded():
        if kept != stamp:
            found.restamped.append(cursor)
    else:
        found.changes.append(change)
    return kept


def whole(home: Home) -> Iterable[Change]:
    """Every segment from its start, oldest first: for rebuilding, verifying and searching."""
    return plan(home, Mark(), lambda _directory, _name: {}, thorough=True).changes
