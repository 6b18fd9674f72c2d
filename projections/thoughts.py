"""The inbox: one entity per captured thought."""

from __future__ import annotations

from mait_code.projections import register
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State


class Thoughts(Projection):
    """Folds inbox.* events. `inbox_items` holds what is still to be dealt with, `inbox_done` what became of the rest.

    Derived in `x`: `done_at`, when it was last said to be dealt with.
    """

    family = entity = "inbox"
    tables: ClassVar[dict[str, str]] = {
        "inbox_items": "id TEXT PRIMARY KEY, body TEXT NOT NULL, project TEXT, created_at TEXT NOT NULL,"
        " newer INTEGER NOT NULL",
        "inbox_done": "id TEXT PRIMARY KEY, body TEXT NOT NULL, project TEXT, created_at TEXT NOT NULL, outcome TEXT NOT NULL,"
        " ref TEXT, done_at TEXT NOT NULL, newer INTEGER NOT NULL",
    }
    indexes = ("CREATE INDEX IF NOT EXISTS inbox_items_created ON inbox_items (created_at, id)",)

    def derive(self, state: State, event: Event) -> None:
        if event.kind == "inbox.done":
            state["x"]["done_at"] = event.shown

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        body, project = register.value(state, "body") or "", register.value(state, "project")
        done, newer = register.value(state, "done"), int("n" in state)
        if done:
            outcome, ref, done_at = str(done["outcome"]), done.get("ref"), state["x"].get("done_at", state["u"])
            yield "inbox_done", (entity, body, project, state["c"], outcome, ref, done_at, newer)
        else:
            yield "inbox_items", (entity, body, project, state["c"], newer)

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        if name == "deleted":
            return ("inbox.deleted", {}) if value else ("inbox.restored", {"register": "deleted"})
        if name == "done":
            return ("inbox.done", dict(value)) if value else ("inbox.restored", {"register": "done"})
        return "inbox.edited", {name: value}
