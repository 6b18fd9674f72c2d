"""The graph: people, projects, tools and ideas that memories speak of, and how they relate."""

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

UNKNOWN = "unknown"
TYPES = ("person", "project", "tool", "service", "concept", "org", UNKNOWN)
RELATIONS = ("uses", "owns", "contributes_to", "depends_on", "manages", "related_to")
_LINK = "link:"


class Things(Projection):
    """Folds entity.* events. Derived in `x`: `mentions`, how often it was mentioned, and `last`, when."""

    family = entity = "entity"
    settled = ("name", "type", _LINK)
    tables: ClassVar[dict[str, str]] = {
        "memory_entities": "id TEXT PRIMARY KEY, name TEXT NOT NULL, entity_type TEXT NOT NULL, first_seen TEXT NOT NULL,"
        " last_seen TEXT NOT NULL, mention_count INTEGER NOT NULL, merged_into TEXT",
        "memory_relationships": "source TEXT NOT NULL, target TEXT NOT NULL, relationship_type TEXT NOT NULL, context TEXT",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS memory_entities_name ON memory_entities (name COLLATE NOCASE)",
        "CREATE INDEX IF NOT EXISTS memory_relationships_source ON memory_relationships (source)",
        "CREATE INDEX IF NOT EXISTS memory_relationships_target ON memory_relationships (target)",
    )

    def derive(self, state: State, event: Event) -> None:
        if event.kind == "entity.mentioned":
            extra = state["x"]
            extra["mentions"] = extra.get("mentions", 0) + 1
            extra["last"] = max(extra.get("last", ""), event.shown)

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        extra = state["x"]
        into = register.value(state, "merged")
        yield (
            "memory_entities",
            (
                entity,
                str(register.value(state, "name") or ""),
                register.value(state, "type") or UNKNOWN,
                state["c"],
                extra.get("last", state["c"]),
                extra.get("mentions", 0),
                into.partition("/")[2] if into else None,
            ),
        )
        for name, heads in sorted(state["r"].items()):
            value = heads[-1][1] if heads and name.startswith(_LINK) else None
            if value is not None:
                _, relation, target = name.split(":", 2)
                yield "memory_relationships", (entity, target.partition("/")[2], relation, value.get("context"))

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        if name == "deleted":
            return ("entity.removed", {}) if value else ("entity.restored", {"register": "deleted"})
        if name == "merged":
            return "entity.merged", {"into": value}
        if name.startswith(_LINK):
            if value is None:
                return "entity.removed", {"link": name}
            _, relation, target = name.split(":", 2)
            return "entity.linked", {"relation": relation, "target": target, **value}
        called = register.value(state, "name") or UNKNOWN
        return "entity.mentioned", {"name": called, name: value} if value is not None else {"name": called}
