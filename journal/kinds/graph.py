"""Kinds of the graph: people, projects, tools and ideas that memories speak of, and how they relate.

A thing is known by its name: its entity is derived from the case-folded name, so all machines mean the same one.
"""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, TEXT, deletion, kind, register_of, reopening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes


def _mentions(_event_id: str, data: Data) -> Writes:
    found: Writes = [("name", data["name"])]
    if data.get("type") is not None:
        found.append(("type", data["type"]))
    return found


def _links(_event_id: str, data: Data) -> Writes:
    value = {"context": data["context"]} if data.get("context") is not None else {}
    return [(f"link:{data['relation']}:{data['target']}", value)]


def _removes(event_id: str, data: Data) -> Writes:
    return [(data["link"], None)] if data.get("link") is not None else deletion(event_id, data)


#: `memory` is the entity that mentions it.
MENTIONED = kind(
    "entity.mentioned",
    creates=True,
    writes=_mentions,
    name=NAME,
    type=NAME.optional(),
    context=TEXT.optional(),
    memory=NAME.optional(),
    origin=NAME.optional(),
)
#: `target` is the entity the relation leads to.
LINKED = kind(
    "entity.linked", relation=NAME, target=NAME, context=TEXT.optional(), origin=NAME.optional(), writes=_links
)
#: Into which entity this one went; null takes it out again.
MERGED = kind("entity.merged", into=NAME.optional(), writes=lambda _id, data: [("merged", data.get("into"))])
#: The whole thing, or with `link` one relation by the name of its register.
REMOVED = kind("entity.removed", link=register_of("link:").optional(), writes=_removes)
RESTORED = kind("entity.restored", register=register_of("deleted", "merged"), writes=reopening)

KINDS = (MENTIONED, LINKED, MERGED, REMOVED, RESTORED)
