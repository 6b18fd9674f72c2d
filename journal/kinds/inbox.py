"""Kinds of the inbox: stray thoughts, caught as they come and dealt with later."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, TEXT, deletion, kind, register_of, reopening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes


def _done(_event_id: str, data: Data) -> Writes:
    value = {"outcome": data["outcome"]}
    if data.get("ref"):
        value["ref"] = data["ref"]
    return [("done", value)]


CAPTURED = kind("inbox.captured", creates=True, body=TEXT, project=NAME.optional())
EDITED = kind("inbox.edited", body=TEXT.optional(), project=NAME.optional())
#: `outcome` is what became of it (done, card, reminder, memory); `ref` the entity it became.
DONE = kind("inbox.done", outcome=NAME, ref=NAME.optional(), writes=_done)
DELETED = kind("inbox.deleted", writes=deletion)
RESTORED = kind("inbox.restored", register=register_of("deleted", "done"), writes=reopening)

KINDS = (CAPTURED, EDITED, DONE, DELETED, RESTORED)
