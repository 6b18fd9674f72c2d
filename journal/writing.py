"""Appending: one action is one write, decided and written under one lock.

    with journal.writing(store) as writer:     # catch up; lock; catch up the difference
        state = store.state(card)              # decide on what is true now
        writer.append("card.moved", card, column="done")
    # written, unlocked, then on the disk

Leaving the block writes; leaving it by an exception writes nothing. Nobody may print success before the block is left.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal import clock, secrets, spool
from mait_code.journal.errors import BadInput, Busy, Refused
from mait_code.journal.event import LONGEST_LINE, Bad, Event, parse
from mait_code.journal.home import Home, format_fault
from mait_code.journal.ids import new_entity, new_event_id
from mait_code.journal.kinds import KINDS
from mait_code.journal.lock import Lock
from mait_code.journal.tail import Tail, flush

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
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


#: From so many events in an action on it pays to load what reads lines quickly.
MANY = 30
#: Bytes that a line may still grow by when a spooled event gets its place: more digits of `seq`, and `wall`.
_PLACE = 100


class Writer:
    """Collects the events of one action. Made by `Journal.writing`, valid inside its block."""

    def __init__(self, journal: Journal, stores: Sequence[SeesHeads], wait: float, spools: bool, durable: bool) -> None:
        self.journal = journal
        self.home: Home = journal.home
        self._stores = stores
        self._by_type = {type_: store for store in stores for type_ in store.types}
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
        #: What was written earlier in this action, by entity: a second write of a register names the first.
        self._written: dict[str, list[Event]] = {}

    def __enter__(self) -> Self:
        fault = format_fault(self.home)
        if fault:
            raise Refused(fault, "update mait-code; nothing was written")
        self.home.make()
        for store in self._stores:
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
            for store in self._stores:
                # A hook goes on with the heads the store knows, as it does when it spools.
                store.catch_up(wait=not self._spools)
            self._tail.lift([store.largest_seen() for store in self._stores])
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
        if sees is None:  # what begins here has no heads
            sees = self._sees(event) if entity or not declared.creates else {}
        event.sees = sees
        self._stamp(event, clock.wall() if wall is None else wall, exact=wall is not None)
        line = self._checked(event)
        self._written.setdefault(event.entity, []).append(event)
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

            read = quick.parse_to_write
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
        store = self._by_type.get(event.declared.entity)
        if store is None and not event.declared.creates:
            # Without it the event would name no heads, and stand as a conflict with everything before it.
            raise LookupError(f"{event.kind} is written without its store")
        known = store.heads(event.entity) if store is not None else {}
        for earlier in self._written.get(event.entity, ()):
            known = {**known, **{name: [earlier.id] for name, _ in earlier.declared.writes(earlier.id, earlier.data)}}
        sees = {register: known[register] for register in registers if known.get(register)}
        if ("deleted", True) in writes:
            every = {head for heads in known.values() for head in heads}
            if every:
                sees["*"] = sorted(every)
        return sees

    def _drain(self) -> None:
        assert self._tail is not None
        for action in spool.drain(self.home):
            self._tail.lift([action.seen])
            events = [spool.event_of(draft) for draft in action.drafts]
            for event in events:
                self._tail.stamp(event, action.wall)
            self._tail.write(events, [event.line() for event in events])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self.events:
                if self._tail is None:
                    self._spool()
                else:
                    self._tail.write(self.events, self._lines)
                    self.journal.actions.append(self.events[0].tx)
                    self.journal.written.update((event.kind.partition(".")[0], event.id) for event in self.events)
                self.journal.masked += self._masked
        finally:
            handles = self._close()
            try:
                for handle in handles if self._durable and kind is None else ():
                    flush(handle)
            finally:
                for handle in handles:
                    os.close(handle)

    def _spool(self) -> None:
        """Leave the action for whoever holds the lock next, with the largest time this process had seen: the clock
        must be lifted above it when the events get their place."""
        seen = max((store.largest_seen() for store in self._stores), default="")
        action = spool.Action(clock.wall(), seen, [spool.draft_of(event) for event in self.events])
        self.spooled = spool.leave(self.home, action)

    def _close(self) -> list[int]:
        handles = self._tail.handles if self._tail is not None else []
        if self._tail is not None:
            self._tail.handles = []
        self._lock.release()
        return handles
