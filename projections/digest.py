"""The digest: one line by which people on two machines see that they know the same.

It hashes the canonical entity states of a store in the order of their ids. Nothing of one machine alone goes in: no
places, no cursors, no time zones.
"""

from __future__ import annotations

from mait_code.journal.sha import sha256
from mait_code.projections.store_file import states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from mait_code.projections.store import Store


def digest(store: Store) -> str:
    """64 hexadecimal digits over every entity and its state."""
    return store.ask(_digest)


def _digest(db: apsw.Connection) -> str:
    total = sha256()
    for entity, state in states(db):
        total.update(b"%b\0%b\n" % (entity.encode(), _bytes(state)))
    found: str = total.hexdigest()
    return found


def _bytes(state: object) -> bytes:
    """A state as it stands in the store; somebody may have put text there by hand, which is to differ, not to fail."""
    return state if isinstance(state, bytes) else repr(state).encode()


def total(digests: Iterable[tuple[str, str]]) -> str:
    """One digest over (store name, digest) pairs, in the order of the names."""
    found: str = sha256("".join(f"{name} {value}\n" for name, value in sorted(digests)).encode()).hexdigest()
    return found
