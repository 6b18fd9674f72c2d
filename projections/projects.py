"""Projects: the other names they go by."""

from __future__ import annotations

from mait_code.projections import register
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.projections.projection import Row
    from mait_code.projections.register import State


class Projects(Projection):
    """Folds project.* events: one entity per other name."""

    family = entity = "project"
    known_by_name = True
    tables: ClassVar[dict[str, str]] = {
        "project_aliases": "id TEXT PRIMARY KEY, alias TEXT NOT NULL, name TEXT NOT NULL"
    }

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        said = register.value(state, "name")
        if said:
            yield "project_aliases", (entity, said["alias"], said["name"])

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        return ("project.aliased", value) if value else ("project.unaliased", {})
