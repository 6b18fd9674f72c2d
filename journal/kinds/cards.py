"""Kinds of the board. One entity per card; every field, tag, comment and reference is a register of its own."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, NUMBER, OBJECT, TEXT, deletion, kind, register_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes


def _restores(_event_id: str, data: Data) -> Writes:
    register = data["register"]
    return [(register, register != "deleted")]


CREATED = kind(
    "card.created",
    creates=True,
    title=TEXT,
    description=TEXT.optional(),
    acceptance_criteria=TEXT.optional(),
    priority=NAME.optional(),
    column=NAME.optional(),
    project=NAME.optional(),
    number=NUMBER.optional(),
    origin=NAME.optional(),  # the entity this card was made from (triage)
)
EDITED = kind(
    "card.edited",
    title=TEXT.optional(),
    description=TEXT.optional(),
    acceptance_criteria=TEXT.optional(),
    priority=NAME.optional(),
    project=NAME.optional(),
    completion_summary=TEXT.optional(),
)
MOVED = kind("card.moved", column=NAME)
TAGGED = kind("card.tagged", tag=NAME, writes=lambda _id, data: [(f"tag:{data['tag']}", True)])
UNTAGGED = kind("card.untagged", tag=NAME, writes=lambda _id, data: [(f"tag:{data['tag']}", False)])
#: The comment is known by the id of its event; its register says whether it still stands.
COMMENTED = kind(
    "card.commented", body=TEXT, author=NAME.optional(), writes=lambda event_id, _data: [(f"comment:{event_id}", True)]
)
COMMENT_DELETED = kind(
    "card.comment_deleted", comment=NAME, writes=lambda _id, data: [(f"comment:{data['comment']}", False)]
)
REFERENCED = kind(
    "card.referenced", label=TEXT, value=TEXT, writes=lambda event_id, _data: [(f"reference:{event_id}", True)]
)
UNREFERENCED = kind(
    "card.unreferenced", reference=NAME, writes=lambda _id, data: [(f"reference:{data['reference']}", False)]
)
#: `by` is an object with the session's id, so that a newer program can say more about who holds the card.
BOUND = kind("card.bound", by=OBJECT, writes=lambda _id, data: [("binding", data["by"])])
UNBOUND = kind("card.unbound", writes=lambda _id, _data: [("binding", None)])
DELETED = kind("card.deleted", writes=deletion)
RESTORED = kind("card.restored", register=register_of("deleted", "comment:", "reference:"), writes=_restores)

KINDS = (
    CREATED,
    EDITED,
    MOVED,
    TAGGED,
    UNTAGGED,
    COMMENTED,
    COMMENT_DELETED,
    REFERENCED,
    UNREFERENCED,
    BOUND,
    UNBOUND,
    DELETED,
    RESTORED,
)
