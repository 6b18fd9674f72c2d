"""What happened in sessions: the sessions themselves, prompts, turns, observations and summaries."""

from __future__ import annotations

import orjson

from mait_code.projections import entries
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State


class _Record(Projection):
    """A record from outside, one row each. `columns` maps columns to registers; lists and objects become JSON.

    Derived in `x`: `o`, the order of the event that made it.
    """

    table = ""
    columns: ClassVar[dict[str, str]] = {}
    #: The kinds of its events, by what they do.
    recorded = deleted = restored = ""

    def derive(self, state: State, event: Event) -> None:
        if event.kind == self.recorded:
            state["x"].setdefault("o", [event.at, event.replica, event.seq])

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        values = {name: heads[-1][1] for name, heads in state["r"].items() if heads}
        held = tuple(_column(values.get(register)) for register in self.columns.values())
        yield self.table, (entity, state["c"], *held, int("n" in state))
        text = self.text(values)
        if text:
            title = (
                next((str(values[name]) for name in self.titles if values.get(name)), text).strip().partition("\n")[0]
            )
            detail = {name: values[name] for name in self.detailed if values.get(name)}
            yield entries.row(
                entity, self.entity, state, text, type_=values.get("type"), title=title, detail=_column(detail)
            )

    #: Registers whose texts are searched, those that name the entry, and those that filters look at.
    searched: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    detailed: tuple[str, ...] = ("files_read", "files_modified", "concepts")

    def text(self, values: dict[str, Any]) -> str:
        """What is searched of a record, one field a line."""
        found = []
        for name in self.searched:
            value = values.get(name)
            found += value if isinstance(value, list) else [value] if value else []
        return "\n".join(map(str, found))

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        if name == "deleted":
            return (self.deleted, {}) if value else (self.restored, {"register": "deleted"})
        return self.recorded, {**_required(state, self.required), name: value}

    #: Fields an event of this kind cannot be without.
    required: tuple[str, ...] = ()


def _required(state: State, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: heads[-1][1] for name in names if (heads := state["r"].get(name))}


def _column(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        # As the state will be when it is read back: its keys are sorted.
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return value


def _declared(columns: dict[str, str]) -> str:
    named = ", ".join(f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'}" for name in columns)
    return f"id TEXT PRIMARY KEY, created_at TEXT NOT NULL, {named}, newer INTEGER NOT NULL"


_NUMBERS = ("prompt_number", "discovery_tokens", "duration_ms")
_PLACE = {"session_id": "session", "project": "project", "branch": "branch", "origin": "origin"}
_FILES = {"files_read": "files_read", "files_modified": "files_modified"}


class Sessions(_Record):
    """Folds session.started, .ended and their deletion."""

    family = entity = "session"
    known_by_name = True
    table = "sessions"
    recorded, deleted, restored = "session.started", "session.deleted", "session.restored"
    columns: ClassVar = {**_PLACE, "how": "how", "title": "title", "platform": "platform", "ended": "ended"}
    tables: ClassVar = {table: _declared(columns)}
    indexes = ("CREATE INDEX IF NOT EXISTS sessions_session ON sessions (session_id)",)

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        if name == "ended":
            return "session.ended", {"reason": value}
        return super().inverse(name, value, state)


class Summaries(_Record):
    """Folds session.summarised: what a session, or a part of it, came to."""

    family, entity = "session", "summary"
    table = "session_summaries"
    recorded, deleted, restored = "session.summarised", "session.summary_deleted", "session.summary_restored"
    searched = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    titles = ("request", "completed", "learned")
    columns: ClassVar = {
        **_PLACE, **_FILES, "request": "request", "investigated": "investigated", "learned": "learned",
        "completed": "completed", "next_steps": "next_steps", "notes": "notes", "prompt_number": "number",
        "discovery_tokens": "tokens", "generated_by": "by",
    }  # fmt: skip
    tables: ClassVar = {table: _declared(columns)}
    indexes = ("CREATE INDEX IF NOT EXISTS session_summaries_session ON session_summaries (session_id)",)


class Prompts(_Record):
    """Folds prompt.* events."""

    family = entity = "prompt"
    table = "user_prompts"
    recorded, deleted, restored = "prompt.submitted", "prompt.deleted", "prompt.restored"
    required = ("text",)
    searched = ("text",)
    columns: ClassVar = {**_PLACE, "prompt_text": "text", "prompt_number": "number"}
    tables: ClassVar = {table: _declared(columns)}
    indexes = ("CREATE INDEX IF NOT EXISTS user_prompts_session ON user_prompts (session_id)",)


class Turns(_Record):
    """Folds turn.* events: the evidence of what was done."""

    family = entity = "turn"
    table = "turns"
    recorded, deleted, restored = "turn.recorded", "turn.deleted", "turn.restored"
    searched = ("request", "answer", "failures")
    titles = ("request",)
    columns: ClassVar = {
        **_PLACE, **_FILES, "request": "request", "answer": "answer", "commands": "commands", "failures": "failures",
        "tokens": "tokens", "duration_ms": "duration", "prompt_number": "number", "agent": "agent",
    }  # fmt: skip
    tables: ClassVar = {table: _declared(columns)}
    indexes = ("CREATE INDEX IF NOT EXISTS turns_session ON turns (session_id)",)


class Observations(_Record):
    """Folds observation.* events: what was understood of the work."""

    family = entity = "observation"
    table = "observations"
    recorded, deleted, restored = "observation.recorded", "observation.deleted", "observation.restored"
    required = ("type",)
    searched = ("title", "subtitle", "narrative", "facts")
    titles = ("title", "narrative")
    columns: ClassVar = {
        **_PLACE, **_FILES, "type": "type", "title": "title", "subtitle": "subtitle", "narrative": "narrative",
        "facts": "facts", "concepts": "concepts", "prompt_number": "number", "discovery_tokens": "tokens",
        "generated_by": "by", "agent": "agent",
    }  # fmt: skip
    tables: ClassVar = {table: _declared(columns)}
    indexes = ("CREATE INDEX IF NOT EXISTS observations_session ON observations (session_id)",)
