"""Kinds of memories: what somebody or a session found worth keeping. One entity per memory.

Every field is a register of its own, and so is every tag. What was said again (`memory.seen`) is kept in its own words and
writes nothing, unless it raises the importance.
"""

from __future__ import annotations

from mait_code.journal.kinds.declare import (
    NAME,
    NAMES,
    OBJECT,
    TEXT,
    TIME,
    Field,
    deletion,
    kind,
    register_of,
    reopening,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes

IMPORTANCE = Field("an importance from 1 to 10", lambda value: type(value) is int and 1 <= value <= 10)

_LISTS = {"tags": True, "untagged": False}


def _writes_fields(_event_id: str, data: Data) -> Writes:
    """Fields are registers; each tag is one, so that two machines may tag at the same time."""
    found: Writes = [(key, value) for key, value in data.items() if key in _FIELDS]
    for key, carried in _LISTS.items():
        found += [(f"tag:{tag}", carried) for tag in dict.fromkeys(data.get(key) or ())]
    return found


def _seen(_event_id: str, data: Data) -> Writes:
    return [("importance", data["importance"])] if data.get("importance") is not None else []


STORED = kind(
    "memory.stored",
    creates=True,
    writes=_writes_fields,
    content=TEXT,
    type=NAME,
    importance=IMPORTANCE.optional(),
    scope=NAME.optional(),
    project=NAME.optional(),
    branch=NAME.optional(),
    tags=NAMES.optional(),
    session=NAME.optional(),  # the conversation it comes from, where that is not the session that wrote it
    ref=TEXT.optional(),  # the caller's own key
    source=OBJECT.optional(),  # {session, prompt, file ...}: the evidence
    origin=NAME.optional(),  # the entity it was made from (triage), or the outside key of an imported row
)
#: The same memory told once more: how it was worded this time, and the caller's key.
SEEN = kind(
    "memory.seen",
    content=TEXT.optional(),
    ref=TEXT.optional(),
    importance=IMPORTANCE.optional(),
    origin=NAME.optional(),
    writes=_seen,
)
EDITED = kind(
    "memory.edited",
    writes=_writes_fields,
    content=TEXT.optional(),
    type=NAME.optional(),
    importance=IMPORTANCE.optional(),
    scope=NAME.optional(),
    project=NAME.optional(),
    branch=NAME.optional(),
    tags=NAMES.optional(),
    untagged=NAMES.optional(),
    untold=NAMES.optional(),  # ids of memory.seen that count no longer, and of those that do again (undo)
    told=NAMES.optional(),
)
#: `by` is the memory that takes its place.
SUPERSEDED = kind("memory.superseded", by=NAME, writes=lambda _id, data: [("superseded", data["by"])])
RETIRED = kind("memory.retired", writes=lambda _id, _data: [("retired", True)])
#: `at` is when it was looked at and found true; null where no review counts any more (undo).
REVIEWED = kind("memory.reviewed", at=TIME.optional(), writes=lambda _id, data: [("reviewed", data.get("at"))])
PINNED = kind("memory.pinned", writes=lambda _id, _data: [("pinned", True)])
UNPINNED = kind("memory.unpinned", writes=lambda _id, _data: [("pinned", False)])
DELETED = kind("memory.deleted", writes=deletion)
RESTORED = kind("memory.restored", register=register_of("deleted", "superseded", "retired"), writes=reopening)

_FIELDS = frozenset((*STORED.fields, *EDITED.fields)) - _LISTS.keys() - {"told", "untold"}

KINDS = (STORED, SEEN, EDITED, SUPERSEDED, RETIRED, REVIEWED, PINNED, UNPINNED, DELETED, RESTORED)
