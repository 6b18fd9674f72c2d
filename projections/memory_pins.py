"""Questions to memory.db about what is pinned: the lines of MEMORY.md."""

from __future__ import annotations

from mait_code.journal.ids import derived_entity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.projections.memory_file import Entry
    from mait_code.projections.store import Store

#: The document's name in the log.
NAME = "memory/MEMORY.md"
#: MEMORY.md, as the log names it.
DOCUMENT = derived_entity("document", NAME.casefold())

# A memory that took another's place stands where that one stood, so a line that is edited does not jump.
_PINNED = """
WITH RECURSIVE
    pinned AS (SELECT * FROM memory_entries WHERE pinned AND live),
    line(id, part, created) AS (
        SELECT id, id, created_at FROM pinned
        UNION
        SELECT line.id, m.id, m.created_at FROM line JOIN memory_entries m ON m.superseded_by = line.part
    )
SELECT p.id, p.content, p.entry_type, p.importance, p.project, p.branch, p.same,
    (SELECT min(created) FROM line WHERE line.id = p.id)
FROM pinned p ORDER BY p.id"""


def rows(store: Store) -> list[tuple[Any, ...]]:
    """What is pinned, in an order that is the same for the same memories. `entries` makes lines of it."""
    return store.query(_PINNED)


def entries(pinned: Sequence[tuple[Any, ...]]) -> list[Entry]:
    """The lines of MEMORY.md before they are chosen and ordered; what is said twice is one line."""
    from mait_code.projections.memory_file import Bullet, Entry, canonical, grouped, section_of

    found = []
    for id_, content, type_, importance, project, branch, same, created in pinned:
        text = canonical(content)
        if text:
            bullet = Bullet(section_of(type_), text, project or "", (branch or "") if project else "")
            found.append((Entry(bullet, id_, importance, created), same))
    return grouped(found)
