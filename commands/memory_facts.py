"""What is known of a memory besides its text, in words: what `memory show` and the screens tell."""

from __future__ import annotations

from mait_code.commands.times import local
from mait_code.projections import ids, memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory

__all__ = ["facts", "known"]


def facts(ws: Workspace, one: Memory) -> list[tuple[str, str]]:
    """Names and values, in the order in which they are told; a value is empty where there is none."""
    store = ws.reading("memory")
    before = ", ".join(other.short for other in memory_queries.predecessors(store, one.id))
    successor = ids.short_of(store, one.superseded_by) if one.superseded_by else ""
    if successor and memory_queries.one(store, f"memory/{one.superseded_by}") is None:
        successor += " (deleted: restore-entry makes this one count again)"
    more = {
        "superseded": f"by {successor}, {local(one.superseded_at or '')}" if successor else "",
        "supersedes": before,
        "from": _origin(ws, one.origin or ""),
        "copies": ", ".join(ids.short_of(store, id_) for id_ in one.copies),
    }
    return [(name, more.get(name, value)) for name, value in known(one)]


def known(one: Memory) -> list[tuple[str, str]]:
    """The same without asking a store: nothing of what it superseded, of where it came from, and of its copies their number."""
    return [
        ("type", f"{one.entry_type} ({one.memory_class})"),
        ("importance", str(one.importance)),
        ("scope", " ".join(filter(None, (one.scope, one.project, one.branch)))),
        ("stored", local(one.created_at)),
        ("seen", f"{one.seen_count} times, last {local(one.last_seen_at)}" if one.seen_count > 1 else ""),
        ("reviewed", local(one.reviewed_at) if one.reviewed_at else ""),
        ("superseded", f"by {one.superseded_by}" if one.superseded_by else ""),
        ("supersedes", ""),
        ("retired", local(one.retired_at) if one.retired_at else ""),
        ("pinned", "yes" if one.pinned else ""),
        ("tags", ", ".join(one.tags)),
        ("refs", ", ".join(one.refs)),
        ("session", one.session or ""),
        ("from", one.origin or ""),
        ("copies", str(len(one.copies)) if one.copies else ""),
        ("conflict", f"{', '.join(one.conflicts)} (mait-code conflicts shows both sides)" if one.conflicts else ""),
        ("id", f"{one.id} (short {one.short})"),
    ]


def _origin(ws: Workspace, origin: str) -> str:
    if not origin.startswith("inbox/"):
        return origin
    from mait_code.commands.inbox import described

    return described(ws, origin)
