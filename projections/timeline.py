"""What happened before and after: entries of all kinds in the order of time, which ids say nothing of."""

from __future__ import annotations

from mait_code.projections.search import FIELDS, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.projections.store import Store

#: SQL: of memories that say the same in the same place the oldest alone.
_ONCE = (
    "NOT (e.kind = 'memory' AND EXISTS (SELECT 1 FROM memory_entries o WHERE o.same = e.same AND o.live"
    " AND (o.created_at, o.id) < (e.created_at, e.id)))"
)


def entry(store: Store, id_: str) -> Finding | None:
    """An entry by its 12 characters; None where there is none, as for a superseded memory."""
    rows = store.query(f"SELECT {FIELDS} FROM entries e WHERE e.id = ?", (id_,))
    return Finding(rows[0]) if rows else None


def place_of(store: Store, id_: str) -> str | None:
    """Where an entry stands in the order; None where it is none."""
    found = store.value("SELECT place FROM entries WHERE id = ?", (id_,))
    return found if isinstance(found, str) else None


def around(
    store: Store, place: str, before: int, after: int, where: str = "", bindings: tuple[Any, ...] = ()
) -> tuple[list[Finding], list[Finding]]:
    """The entries next to a place in the order, on both sides, in order. `where` is SQL over `entries e`."""
    conditions = " AND ".join(one for one in (where, _ONCE) if one)

    def side(sign: str, direction: str, limit: int) -> list[Finding]:
        rows = store.query(
            f"SELECT {FIELDS} FROM entries e WHERE e.place {sign} ? AND {conditions} ORDER BY e.place {direction} LIMIT ?",
            (place, *bindings, limit),
        )
        return [Finding(row) for row in rows]

    return side("<", "DESC", before)[::-1], side(">", "ASC", after)
