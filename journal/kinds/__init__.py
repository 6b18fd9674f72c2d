"""The kinds of event: what may be said, and which registers each of them writes.

A kind is one declaration in the module of its family plus one golden line in the tests. Kinds are for ever: a field may be
added, never given another meaning. `version` grows only when an older reader would misread the data; then `upcasts[n]`
turns data of version n into data of version n + 1 (dict to dict, pure).
"""

from __future__ import annotations

from mait_code.journal.kinds import (
    cards,
    documents,
    graph,
    inbox,
    memories,
    projects,
    reflections,
    reminders,
    replicas,
    sessions,
)
from mait_code.journal.kinds.declare import Kind

#: Names that later parts of the format will use. Nothing may be declared under them with another meaning.
RESERVED = ("journal.redacted",)

KINDS: dict[str, Kind] = {}
for _module in (cards, inbox, reminders, memories, graph, sessions, documents, reflections, projects, replicas):
    for _kind in _module.KINDS:
        KINDS[_kind.name] = _kind


def fingerprint() -> str:
    """Which kinds and versions this program understands. A store folded under another one is folded again."""
    return " ".join(sorted(f"{kind.name}:{kind.version}" for kind in KINDS.values()))


__all__ = ["KINDS", "RESERVED", "Kind", "fingerprint"]
