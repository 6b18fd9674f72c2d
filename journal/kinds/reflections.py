"""Kinds of reflections: a look at memories as a whole. Which are still to be looked at is derived from what was."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, NAMES, deletion, kind, register_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes


def _restores(_event_id: str, data: Data) -> Writes:
    return [(data["register"], False)]


#: `memories` are the entities it covered, `insights` those it led to.
MADE = kind(
    "reflection.made",
    creates=True,
    project=NAME.optional(),
    memories=NAMES,
    insights=NAMES.optional(),
    by=NAME.optional(),
    origin=NAME.optional(),
)
DELETED = kind("reflection.deleted", writes=deletion)
RESTORED = kind("reflection.restored", register=register_of("deleted"), writes=_restores)

KINDS = (MADE, DELETED, RESTORED)
