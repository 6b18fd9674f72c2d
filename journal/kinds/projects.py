"""Kinds of projects: the other names a project went by. The entity is derived from the case-folded other name."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, kind

#: `alias` is another name of the project `name`.
ALIASED = kind("project.aliased", alias=NAME, name=NAME)
UNALIASED = kind("project.unaliased", writes=lambda _id, _data: [("name", None)])

KINDS = (ALIASED, UNALIASED)
