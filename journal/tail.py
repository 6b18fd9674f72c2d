"""The end of this machine's log: where its next line goes, and the one write that puts it there.

Who the machine is, and whether its file is still as it left it, is looked at before each append: a copied machine takes a
new id, and what a git took away under us is put back.
"""

from __future__ import annotations

import errno
import os
import stat

import orjson

from mait_code.journal import clock, recent, replica, segments
from mait_code.journal.errors import DiskRefused
from mait_code.journal.event import Event, parse
from mait_code.journal.home import PRIVATE_FILE, Home, make_directory, write_atomically
from mait_code.journal.ids import derived_replica
from mait_code.journal.reading import last_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
#: A directory, a link or a pipe stands where the next segment belongs: the one after it is taken.
_IN_THE_WAY = (errno.EISDIR, errno.ELOOP, errno.ENXIO)


class Tail:
    """The end of this machine's log, held under the append lock: next `seq` and `at`, and the write itself."""

    def __init__(self, home: Home, label: str = "") -> None:
        self.home = home
        self.handles: list[int] = []
        self._clock = replica.Clock.load(home)
        identity = replica.load(home)
        if identity is None:
            identity = replica.take_new(home)
            self._clock = replica.Clock.load(home)
        elif replica.copied(home, identity, self._clock):
            cut = identity.fingerprint == replica.fingerprint(home)
            if cut:
                # The same machine put back to an earlier day: people go on calling it what they called it.
                label = label or str(replica.described(home, identity.replica).get("label") or "")
            identity = replica.take_new(home, forked_from=identity.replica)
            self._clock = replica.Clock.load(home)
            if cut:
                recent.remember_cut(home)
        if recent.is_unsettled(home):
            self._adopt_missing()
        self.identity = identity
        self.directory = os.path.join(home.journal, identity.replica)
        if not os.path.exists(os.path.join(self.directory, "replica.json")):
            replica.describe(home, identity, label)
        self._find_end()

    def _adopt_missing(self) -> None:
        """Our file was cut under us (a git that reset it): what it lost is put into a directory of its own."""
        if recent.git_is_at_it(self.home):
            return  # what is missing now may be back in a moment; the next writer looks
        lines = recent.missing(self.home)
        if lines:
            adopt(self.home, lines)
        recent.settle(self.home)

    def _find_end(self) -> None:
        """Continue after the last sound line of our own; the mark counts too, should the file have been damaged."""
        self.seq = self._clock.mark[4] if self._clock.mark else 0
        self.own = 0
        self.number = 1
        for name in self._own_segments():
            self.number = max(self.number, int(name.partition(".")[0]))
            content = segments.read(os.path.join(self.directory, name)) or b""
            last = last_event(content, self.identity.replica)
            if last is not None:
                self.seq = max(self.seq, last.seq)
                self.own = clock.micros(last.at)
                break

    def _own_segments(self) -> Iterator[str]:
        """Our segments, last first. The mark says where our last line stood, so the usual case lists no directory: an
        append must not cost a look at every segment there ever was."""
        if self._clock.mark is not None:
            number = marked = int(self._clock.mark[0].partition(".")[0])
            while os.path.lexists(os.path.join(self.directory, segments.name_of(number + 1))):
                number += 1
            yield from (segments.name_of(one) for one in range(number, marked - 1, -1))
        for name, _status in reversed(segments.in_directory(self.home.journal, self.identity.replica)):
            yield name

    def lift(self, seen: list[str]) -> None:
        """Raise the clock above what the stores have seen, and remember it for the next writer."""
        largest = max((clock.micros(at) for at in seen if at), default=0)
        if largest > self._clock.seen:
            self._clock.seen = largest

    def stamp(self, event: Event, wall: int, exact: bool = False) -> None:
        """Give an event its place: replica, seq, at, and the raw clock where it differs by more than a second; where it is
        the time of a fact from outside (`exact`), by anything at all."""
        micros = clock.tick(wall, self.own, self._clock.seen)
        self.own = micros
        self.seq += 1
        event.replica = self.identity.replica
        event.seq = self.seq
        event.at = clock.text(micros)
        event.wall = clock.text(wall) if abs(micros - wall) > (0 if exact else clock.SECOND) else ""

    def write(self, events: list[Event], lines: list[bytes]) -> None:
        """Append an action, whose events have these lines, in one write. A disk that takes only part of it is asked to
        forget that part: nothing half written stays. Raises DiskRefused."""
        block = b"\n".join(lines) + b"\n"
        path, handle, size = self._open()
        mark = self._clock.mark
        cut = mark is not None and mark[0] == os.path.basename(path) and size < mark[1] + mark[2]
        if size and os.pread(handle, 1, size - 1) != b"\n":
            # Somebody was killed in the middle of a line. It is isolated, never cut: it may be all that is left of it.
            block = b"\n" + block
        try:
            written = os.write(handle, block)
        except OSError as error:
            _cut_back(path, handle, size)
            raise _refused(path, error) from error
        if written != len(block):
            _cut_back(path, handle, size)
            raise DiskRefused(
                f"cannot write {path}: the disk is full", "free some space and try again; nothing was written"
            )
        recent.note(self.home, block)
        if not _is_in_place(path, handle, size, block):
            # In this very moment git put another file in the place of ours, and what we wrote went with the old one.
            recent.remember_cut(self.home)
            adopt(self.home, lines)
        if cut:
            recent.remember_cut(self.home)
            self._adopt_missing()
        self._mark(
            events[-1], os.path.basename(path), size + len(block) - len(lines[-1]) - 1, len(lines[-1]), lines[-1]
        )

    def _mark(self, last: Event, name: str, offset: int, length: int, line: bytes) -> None:
        start = line.find(b',"sum":"') + 8
        self._clock.mark = (name, offset, length, line[start : start + 16].decode("ascii"), last.seq)
        try:
            self._clock.store(self.home)
        except OSError:
            return  # the events are written, so this is no failure; an older mark still points at a line of ours

    def _open(self) -> tuple[str, int, int]:
        """Open the segment to append to, making the next one where the last is closed."""
        while True:
            path = os.path.join(self.directory, segments.name_of(self.number))
            try:
                handle = os.open(path, _APPENDING, PRIVATE_FILE)
            except OSError as error:
                if error.errno not in _IN_THE_WAY:
                    raise _refused(path, error) from error
                self.number += 1
                continue
            status = os.fstat(handle)
            if status.st_size < segments.CLOSED_AT and stat.S_ISREG(status.st_mode):
                self.handles.append(handle)
                if status.st_size == 0:
                    # The file's name has to reach the disk too, and of the first one so have the directories it made.
                    new = (self.directory, self.home.journal, self.home.data) if self.number == 1 else (self.directory,)
                    self.handles.extend(os.open(folder, os.O_RDONLY | os.O_CLOEXEC) for folder in new)
                return path, handle, status.st_size
            os.close(handle)
            self.number += 1


def _is_in_place(path: str, handle: int, size: int, block: bytes) -> bool:
    try:
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            return True
    except FileNotFoundError:
        return False
    return segments.read(path, size, len(block)) == block


def _cut_back(path: str, handle: int, size: int) -> None:
    # Safe because we hold the append lock and O_APPEND put our bytes at the end.
    try:
        os.ftruncate(handle, size)
        if size == 0:
            os.unlink(path)
    except OSError:
        return  # what is left is an unfinished line, which the next append isolates; the refusal is told either way


def _refused(path: str, error: OSError) -> DiskRefused:
    return DiskRefused(
        f"cannot write {path}: {error.strerror}", "check free space and permissions; nothing was written"
    )


def flush(handle: int) -> None:
    """Put a file (or a directory) on the disk. macOS has no fdatasync."""
    sync = getattr(os, "fdatasync", os.fsync)
    try:
        sync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise DiskRefused(f"the disk did not confirm the write: {error.strerror}", "check the disk") from error


def adopt(home: Home, lines: list[bytes]) -> str:
    """Put lines that lost their file into a directory of their own, byte for byte. Returns its name.

    The name is derived from the lines, so two machines that adopt the same ones write the same file. A directory of
    adopted lines is never appended to.
    """
    content = b"\n".join(lines) + b"\n"
    name = derived_replica(content)
    directory = os.path.join(home.journal, name)
    make_directory(directory)
    replica.keep_here(home, directory)
    origins = sorted({event.replica for event in map(parse, lines) if isinstance(event, Event)})
    write_atomically(os.path.join(directory, "replica.json"), orjson.dumps({"adopted_from": origins}) + b"\n")
    write_atomically(os.path.join(directory, segments.name_of(1)), content)
    return name
