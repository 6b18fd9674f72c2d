"""Making memory.db again, and saying what it holds."""

from __future__ import annotations

from mait_code.projections import stores
from mait_code.projections.rebuild import rebuild

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["held", "restore"]

#: What memory.db holds, for people and JSON, each with the question that counts it.
_COUNTS = {
    "memories": "SELECT count(*) FROM memory_entries WHERE live",
    "superseded": "SELECT count(*) FROM memory_entries WHERE superseded_by IS NOT NULL",
    "retired": "SELECT count(*) FROM memory_entries WHERE retired_at IS NOT NULL AND superseded_by IS NULL",
    "deleted": "SELECT count(*) FROM entities WHERE entity >= 'memory/' AND entity < 'memory0' AND deleted = 1",
    "pinned": "SELECT count(*) FROM memory_entries WHERE live AND pinned",
    "entities": "SELECT count(*) FROM memory_entities",
    "relationships": "SELECT count(*) FROM memory_relationships",
    "observations": "SELECT count(*) FROM entries WHERE kind = 'observation'",
    "summaries": "SELECT count(*) FROM entries WHERE kind = 'summary'",
    "prompts": "SELECT count(*) FROM entries WHERE kind = 'prompt'",
    "turns": "SELECT count(*) FROM entries WHERE kind = 'turn'",
    "reflections": "SELECT count(*) FROM reflections",
}


def restore(
    ws: Workspace, dry_run: bool = False, step: Callable[[int, int], None] | None = None
) -> tuple[int, dict[str, int]]:
    """Fold memory.db anew from the journal. Returns how many events that were, and what it holds.

    With `dry_run` the fold is kept in memory and thrown away: what is deleted or retired stays so in either case.
    """
    if not dry_run:
        store = ws.store("memory")
        events = rebuild(ws.home, [store], step)[store.name]
        return events, held(store)
    store = stores.OPENERS["memory"](ws.home)
    store.live_in_memory()
    try:
        events = rebuild(ws.home, [store], step)[store.name]
        return events, held(store)
    finally:
        store.close()


def held(store: Store) -> dict[str, int]:
    """How much of everything a memory store holds."""
    return {name: int(store.value(query) or 0) for name, query in _COUNTS.items()}
