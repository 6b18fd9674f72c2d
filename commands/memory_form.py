"""A memory as a form: what is to stand in its place, saved as one action."""

from __future__ import annotations

from mait_code.commands import forms, memory_edits
from mait_code.commands.memory import importance_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory

__all__ = ["refine", "texts"]


def texts(memory: Memory) -> dict[str, str]:
    """The fields of a memory."""
    return {"content": memory.content, "importance": str(memory.importance)}


def refine(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Memory:
    """Put what a form says in the place of a memory. `seen` is what the form showed when it was filled.

    Raises ChangedMeanwhile where the memory is not like that any more, and as memory_edits.supersede does.
    """

    def check(found: Memory) -> None:
        forms.check(found.short, seen, texts(found))

    given = wanted["importance"].strip()
    importance = importance_of(int(given) if given.isdecimal() else given)
    return memory_edits.supersede(ws, text, wanted["content"], importance, check)
