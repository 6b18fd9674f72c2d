"""Kinds of projects: the other names a project went by. The entity is derived from the case-folded other name."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.kinds.declare import Data, Writes


def _aliased(_event_id: str, data: Data) -> Writes:
    return [("name", {"alias": data["alias"], "name": data["name"]})]


#: `alias` is another name of the project `name`: one fact, so one register.
ALIASED = kind("project.aliased", alias=NAME, name=NAME, writes=_aliased)
UNALIASED = kind("project.unaliased", writes=lambda _id, _data: [("name", None)])

KINDS = (ALIASED, UNALIASED)
