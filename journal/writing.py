"""Appending: one action is one write, decided and written under one lock.

    with journal.writing(store) as writer:     # catch up; lock; catch up the difference
        state = store.state(card)              # decide on what is true now
        writer.append("card.moved", card, column="done")
    # written, unlocked, then on the disk

Leaving the block writes; leaving it by an exception writes nothing. Nobody may print success before the block is left.
"""

from __future__ import annotations

import errno
import os
import stat

import orjson

from mait_code.journal import clock, recent, replica, secrets, segments, spool
from mait_code.journal.errors import BadInput, Busy, DiskRefused, Refused
from mait_code.journal.event import LONGEST_LINE, Bad, Event, parse
from mait_code.journal.home import PRIVATE_FILE, Home, format_fault, make_directory, write_atomically
from mait_code.journal.ids import derived_replica, new_entity, new_event_id
from mait_code.journal.kinds import KINDS
from mait_code.journal.lock import Lock
from mait_code.journal.reading import last_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from types import TracebackType
    from typing import Any, Protocol, Self

    from mait_code.journal.event import Sees
    from mait_code.journal.journal import Journal

    class SeesHeads(Protocol):
        """What a writer needs of a store: to catch up, and the heads of an entity's registers."""

        @property
        def types(self) -> tuple[str, ...]: ...
        def catch_up(self, *, wait: bool = True) -> object: ...
        def heads(self, entity: str) -> dict[str, list[str]]: ...
        def largest_seen(self) -> str: ...


_APPENDING = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
#: A directory, a link or a pipe stands where the next segment belongs: the one after it is taken.
_IN_THE_WAY = (errno.EISDIR, errno.ELOOP, errno.ENXIO)
#: From so many events in an action on it pays to load what reads lines quickly.
MANY = 30
#: Bytes that a line may still grow by when a spooled event gets its place: more digits of `seq`, and `wall`.
_PLACE = 100


class Writer:
    """Collects the events of one action. Made by `Journal.writing`, valid inside its block."""

    def __init__(self, journal: Journal, stores: Sequence[SeesHeads], wait: float, spools: bool, durable: bool) -> None:
        self.journal = journal
        self.home: Home = journal.home
        self.stores = {type_: store for store in stores for type_ in store.types}
        self.events: list[Event] = []
        self._lines: list[bytes] = []
        self.undoes = ""
        self.spooled = ""
        #: What the log holds already is written as it is there, all of it: undo, conflicts pick.
        self.verbatim = False
        self._wait = wait
        self._spools = spools
        self._durable = durable
        self._lock = Lock(self.home.in_state("lock"))
        self._locked = False
        self._tail: Tail | None = None
        self._masked: list[str] = []
        #: Heads written earlier in this action: a second write of a register names the first.
        self._written: dict[str, dict[str, list[str]]] = {}

    def __enter__(self) -> Self:
        fault = format_fault(self.home)
        if fault:
            raise Refused(fault, "update mait-code; nothing was written")
        self.home.make()
        for store in self.stores.values():
            # Only to have less to do under the lock, so nobody is waited for.
            store.catch_up(wait=False)
        self._locked = self._lock.acquire(self._wait)
        if not self._locked:
            if self._spools:
                return self
            raise Busy(
                f"the journal is held by {self._lock.holder()}", "try again when it has ended; nothing was written"
            )
        try:
            self._lock.name_holder()
            self._tail = Tail(self.home, self.journal.label)
            self._drain()
            for store in self.stores.values():
                # A hook goes on with the heads the store knows, as it does when it spools.
                store.catch_up(wait=not self._spools)
            self._tail.lift([store.largest_seen() for store in self.stores.values()])
        except BaseException:
            self._close()
            raise
        return self

    def append(
        self,
        kind: str,
        entity: str = "",
        *,
        sees: Sees | None = None,
        id: str = "",  # noqa: A002
        wall: int | None = None,
        actor: str = "",
        verbatim: Collection[str] = (),
        **data: Any,
    ) -> Event:
        """Add an event to the action. Without `entity` it is a new one; without `sees` it names all present heads.

        `id` and `wall` (microseconds) are for facts from outside, `sees` for undo. `verbatim` names the fields whose
        value the log holds already: in all others private text is left out and secrets are masked. Raises BadInput
        where the data is not the kind's, all of it was private, or the line would be longer than 256 KiB.
        """
        declared = KINDS[kind]
        if not self.verbatim:
            data, notes = secrets.clean(declared, data, self.journal.allow_secret, verbatim)
            self._masked += notes
        fault = declared.fault(data)
        if fault:
            raise BadInput(f"{kind}: {fault}")
        event = Event()
        event.kind, event.v, event.data, event.declared = kind, declared.version, data, declared
        event.id = id or new_event_id()
        event.entity = entity or new_entity(declared.entity)
        event.actor = actor or self.journal.actor
        event.session = self.journal.session
        event.tx = self.events[0].id if self.events else event.id
        event.undoes = self.undoes
        event.sees = self._sees(event) if sees is None else sees
        self._stamp(event, clock.wall() if wall is None else wall, exact=wall is not None)
        line = self._checked(event)
        self._remember(event)
        self.events.append(event)
        self._lines.append(line)
        return event

    def _checked(self, event: Event) -> bytes:
        """The line of an event. Refuse what could not be read back."""
        try:
            line = event.line()
        except (orjson.JSONEncodeError, TypeError) as error:
            raise BadInput(f"{event.kind}: the text is not valid Unicode", "check the terminal's encoding") from error
        if len(line) > LONGEST_LINE - _PLACE:
            raise BadInput(f"{event.kind}: the text is too long for one line of the log (256 KiB)", "split it")
        read = parse
        if len(self.events) >= MANY:
            from mait_code.journal import quick

            read = quick.parse
        result = read(line)
        if isinstance(result, Bad):
            raise BadInput(f"{event.kind}: {result.reason}")
        return line

    def _stamp(self, event: Event, wall: int, exact: bool) -> None:
        if self._tail is not None:
            self._tail.stamp(event, wall, exact)
        else:
            event.at, event.seq, event.replica, event.wall = clock.text(wall), 1, "00000000", ""

    def _sees(self, event: Event) -> Sees:
        """The heads of every register the event writes, as this machine knows them."""
        writes = event.declared.writes(event.id, event.data)
        registers = [register for register, _ in writes]
        store = self.stores.get(event.declared.entity)
        if store is None and not event.declared.creates:
            # Without it the event would name no heads, and stand as a conflict with everything before it.
            raise LookupError(f"{event.kind} is written without its store")
        known = store.heads(event.entity) if store is not None else {}
        known = {**known, **self._written.get(event.entity, {})}
        sees = {register: known[register] for register in registers if known.get(register)}
        if ("deleted", True) in writes:
            every = {head for heads in known.values() for head in heads}
            if every:
                sees["*"] = sorted(every)
        return sees

    def _remember(self, event: Event) -> None:
        written = self._written.setdefault(event.entity, {})
        for register, _ in event.declared.writes(event.id, event.data):
            written[register] = [event.id]

    def _drain(self) -> None:
        assert self._tail is not None
        for action in spool.drain(self.home):
            self._tail.lift([action.seen])
            events = [spool.event_of(draft) for draft in action.drafts]
            for event in events:
                self._tail.stamp(event, action.wall)
            self._tail.write(events)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self.events:
                if self._tail is None:
                    self._spool()
                else:
                    self._tail.write(self.events, self._lines if len(self._lines) >= MANY else None)
                    self.journal.written.update((event.kind.partition(".")[0], event.id) for event in self.events)
                self.journal.masked += self._masked
        finally:
            handles = self._close()
            try:
                for handle in handles if self._durable and kind is None else ():
                    _flush(handle)
            finally:
                for handle in handles:
                    os.close(handle)

    def _spool(self) -> None:
        """Leave the action for whoever holds the lock next, with the largest time this process had seen: the clock
        must be lifted above it when the events get their place."""
        seen = max((store.largest_seen() for store in self.stores.values()), default="")
        action = spool.Action(clock.wall(), seen, [spool.draft_of(event) for event in self.events])
        self.spooled = spool.leave(self.home, action)

    def _close(self) -> list[int]:
        handles = self._tail.handles if self._tail is not None else []
        if self._tail is not None:
            self._tail.handles = []
        self._lock.release()
        return handles


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

    def write(self, events: list[Event], lines: list[bytes] | None = None) -> None:
        """Append an action in one write. A disk that takes only part of it is asked to forget that part: nothing half
        written stays. Raises DiskRefused."""
        lines = lines or [event.line() for event in events]
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


def _flush(handle: int) -> None:
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
    origins = sorted({event.replica for event in map(parse, lines) if isinstance(event, Event)})
    write_atomically(os.path.join(directory, "replica.json"), orjson.dumps({"adopted_from": origins}) + b"\n")
    write_atomically(os.path.join(directory, segments.name_of(1)), content)
    return name
