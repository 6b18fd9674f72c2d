"""The digest: one line by which people on two machines see that they know the same.

It hashes the canonical entity states of a store in the order of their ids. Nothing of one machine alone goes in: no
places, no cursors, no time zones, no events that stay on their machine.
"""

from __future__ import annotations

import orjson

from mait_code.journal import segments
from mait_code.journal.sha import sha256
from mait_code.projections.store_file import states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from mait_code.projections.store import Store


def digest(store: Store) -> str:
    """64 hexadecimal digits over every entity and its state."""
    local = segments.staying(store.home.journal)
    return store.ask(lambda db: _digest(db, _shared(store, db, local) if local else {}))


def _digest(db: apsw.Connection, instead: dict[str, bytes | None]) -> str:
    total = sha256()
    for entity, state in states(db):
        shown = instead.get(entity, state)
        if shown is not None:
            total.update(b"%b\0%b\n" % (entity.encode(), _bytes(shown)))
    found: str = total.hexdigest()
    return found


def _shared(store: Store, db: apsw.Connection, local: set[str]) -> dict[str, bytes | None]:
    """The states that others know of those entities of which something stays on this machine; None where all of it does."""
    index = store.index()
    marks = ", ".join("?" * len(local))
    rows = db.execute(f"SELECT DISTINCT entity FROM events WHERE replica IN ({marks})", tuple(local)).fetchall()
    found: dict[str, bytes | None] = {}
    for entity in (str(row[0]) for row in rows):
        events = [event for event in index.events_of(entity) if event.replica not in local]
        state = store.projection.fold_all(None, events) if events else None
        found[entity] = None if state is None else orjson.dumps(state, option=orjson.OPT_SORT_KEYS)
    return found


def _bytes(state: object) -> bytes:
    """A state as it stands in the store; somebody may have put text there by hand, which is to differ, not to fail."""
    return state if isinstance(state, bytes) else repr(state).encode()


def total(digests: Iterable[tuple[str, str]]) -> str:
    """One digest over (store name, digest) pairs, in the order of the names."""
    found: str = sha256("".join(f"{name} {value}\n" for name, value in sorted(digests)).encode()).hexdigest()
    return found
