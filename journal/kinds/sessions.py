"""Kinds of what happened in sessions: evidence (prompts, turns) and what was understood of it (observations, summaries).

All of them come from outside: entities and ids are derived from the record's own key, so what is recorded twice, or on two
machines, is one thing. A record that grew is written again: its fields are registers.
"""

from __future__ import annotations

from mait_code.journal.kinds.declare import (
    NAME,
    NAMES,
    NUMBER,
    OBJECT,
    OBJECTS,
    TEXT,
    TEXTS,
    deletion,
    kind,
    register_of,
    reopening,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Field, Kind


def _removal(name: str, entity: str) -> tuple[Kind, Kind]:
    return (
        kind(f"{name}deleted", entity=entity, writes=deletion),
        kind(f"{name}restored", entity=entity, writes=reopening, register=register_of("deleted")),
    )


#: Where a record belongs: the client's session, the project and branch it was in, the outside key of an imported row.
_PLACE: dict[str, Field] = {
    "session": NAME.optional(),
    "project": NAME.optional(),
    "branch": NAME.optional(),
    "origin": NAME.optional(),
}
_FILES: dict[str, Field] = {"files_read": TEXTS.optional(), "files_modified": TEXTS.optional()}

STARTED = kind(
    "session.started", 1, _PLACE, creates=True, how=NAME.optional(), title=TEXT.optional(), platform=NAME.optional()
)
#: A reason of null takes the end back.
ENDED = kind("session.ended", reason=NAME.optional(), writes=lambda _id, data: [("ended", data.get("reason"))])
#: `by` says who: `evidence`, or the model. `number` is that of the prompt it sums up to.
SUMMARISED = kind(
    "session.summarised",
    1,
    _PLACE,
    _FILES,
    entity="summary",
    creates=True,
    request=TEXT.optional(),
    investigated=TEXT.optional(),
    learned=TEXT.optional(),
    completed=TEXT.optional(),
    next_steps=TEXT.optional(),
    notes=TEXT.optional(),
    number=NUMBER.optional(),
    tokens=NUMBER.optional(),
    by=NAME.optional(),
)
SUBMITTED = kind("prompt.submitted", 1, _PLACE, creates=True, text=TEXT, number=NUMBER.optional())
TURN = kind(
    "turn.recorded",
    1,
    _PLACE,
    _FILES,
    creates=True,
    request=TEXT.optional(),
    answer=TEXT.optional(),
    commands=OBJECTS.optional(),  # {command, exit, ...}
    failures=TEXTS.optional(),
    tokens=OBJECT.optional(),
    duration=NUMBER.optional(),  # milliseconds
    number=NUMBER.optional(),
    agent=NAME.optional(),
)
OBSERVED = kind(
    "observation.recorded",
    1,
    _PLACE,
    _FILES,
    creates=True,
    type=NAME,
    title=TEXT.optional(),
    subtitle=TEXT.optional(),
    narrative=TEXT.optional(),
    facts=TEXTS.optional(),
    concepts=NAMES.optional(),
    number=NUMBER.optional(),
    tokens=NUMBER.optional(),
    by=NAME.optional(),
    agent=NAME.optional(),
)

KINDS = (
    STARTED,
    ENDED,
    *_removal("session.", "session"),
    SUMMARISED,
    *_removal("session.summary_", "summary"),
    SUBMITTED,
    *_removal("prompt.", "prompt"),
    TURN,
    *_removal("turn.", "turn"),
    OBSERVED,
    *_removal("observation.", "observation"),
)
