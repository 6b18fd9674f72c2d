"""Documents that are a projection and edited by hand all the same, and reflections on memories as a whole."""

from __future__ import annotations

from mait_code.projections import register
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.projections.projection import Row
    from mait_code.projections.register import State


class Documents(Projection):
    """Folds document.text: the user's own text in a document, as one register."""

    family = entity = "document"
    known_by_name = True
    settled = naming = ("name",)
    tables: ClassVar[dict[str, str]] = {"documents": "id TEXT PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL"}

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        yield (
            "documents",
            (entity, str(register.value(state, "name") or ""), str(register.value(state, "text") or "")),
        )

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        named = (value if name == "name" else register.value(state, "name")) or "memory/MEMORY.md"
        text = value if name == "text" else register.value(state, "text")
        if text is None:
            from mait_code.projections.memory_file import DEFAULT

            text = DEFAULT  # a document in which nobody had written is as it is made
        return "document.text", {"name": named, "text": text}


class Reflections(Projection):
    """Folds reflection.* events. What is still to be reflected on is derived from what was."""

    family = entity = "reflection"
    tables: ClassVar[dict[str, str]] = {
        "reflections": "id TEXT PRIMARY KEY, created_at TEXT NOT NULL, project TEXT, generated_by TEXT, count INTEGER NOT NULL",
        "reflected": "reflection TEXT NOT NULL, memory TEXT NOT NULL",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS reflected_memory ON reflected (memory)",
        "CREATE INDEX IF NOT EXISTS reflected_reflection ON reflected (reflection)",
    )

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        covered = register.value(state, "memories") or []
        by = register.value(state, "by")
        yield "reflections", (entity, state["c"], register.value(state, "project"), by, len(covered))
        for memory in covered:
            yield "reflected", (entity, str(memory).partition("/")[2])

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        if name == "deleted":
            return ("reflection.deleted", {}) if value else ("reflection.restored", {"register": "deleted"})
        memories = register.value(state, "memories") or []
        return "reflection.made", {"memories": memories, name: value}
