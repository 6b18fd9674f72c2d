"""Kinds of reflections: a look at memories as a whole. Which are still to be looked at is derived from what was."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, NAMES, deletion, kind, register_of, reopening

TYPE_CHECKING = False


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
RESTORED = kind("reflection.restored", register=register_of("deleted"), writes=reopening)

KINDS = (MADE, DELETED, RESTORED)
