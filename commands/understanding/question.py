"""What a model is asked about a window: the words are in prompts/understand.txt, types and concepts in the mode."""

from __future__ import annotations

import os
import re

from mait_code.commands.model.access import Tool
from mait_code.journal.secrets import harmless
from mait_code.projections.graph import RELATIONS
from mait_code.projections.graph import TYPES as THINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.understanding.modes import Mode
    from mait_code.commands.understanding.windows import Window

__all__ = ["MEMORIES", "SAID", "prompt", "tool"]

#: The parts of a summary, and the sorts of memories with the types they become.
SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")
MEMORIES = {
    "fact": "fact", "preference": "preference", "decision": "decision", "procedure": "procedure", "fix": "event",
}  # fmt: skip
SCOPES = ("global", "project", "branch")
#: The value of `language` that leaves it to each session.
_AS_SPOKEN = "conversation"

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}


def tool(mode: Mode) -> Tool:
    """What an answer has to look like."""
    observation = {
        "type": {"type": "string", "enum": list(mode.types)},
        "title": _TEXT,
        "subtitle": _TEXT,
        "narrative": _TEXT,
        "facts": _TEXTS,
        "concepts": {"type": "array", "items": {"type": "string", "enum": list(mode.concepts)}} if mode.concepts else _TEXTS,
        "turns": {"type": "array", "items": {"type": "integer"}},
    }  # fmt: skip
    memory = {
        "type": {"type": "string", "enum": list(MEMORIES)},
        "text": _TEXT,
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "scope": {"type": "string", "enum": list(SCOPES)},
    }
    thing = {"name": _TEXT, "type": {"type": "string", "enum": list(THINGS)}, "context": _TEXT}
    relation = {"source": _TEXT, "relation": {"type": "string", "enum": list(RELATIONS)}, "target": _TEXT}
    fields = {
        "summary": _object(dict.fromkeys(SAID, _TEXT), ("request",)),
        "observations": _list(observation, ("type", "title", "narrative")),
        "memories": _list(memory, tuple(memory)),
        "entities": _list(thing, ("name", "type")),
        "relations": _list({**relation, "context": _TEXT}, tuple(relation)),
    }
    return Tool("record", "Record what is worth knowing of the session.", _object(fields, tuple(fields)))


def _object(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _list(properties: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties, required)}


def prompt(window: Window, mode: Mode, project: str | None, language: str, so_far: dict[str, str]) -> str:
    """The question about a window."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "prompts")
    with open(os.path.join(folder, "understand.txt"), encoding="utf-8") as file:
        template = file.read()
    filled = {
        "about": harmless(mode.about) or "something",
        "project": harmless(project) if project else "not known",
        "guidance": harmless(mode.guidance),
        "types": _named(mode.types),
        "concepts": _named(mode.concepts) or "  (none are given)",
        "language": _language(language),
        "so_far": "\n".join(f"{name}: {harmless(text)}" for name, text in so_far.items()) or "(nothing)",
        "session": window.text,
    }
    # One pass: what looks like a place to be filled inside a session stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], template)


def _named(meanings: dict[str, str]) -> str:
    return "\n".join(f"  {name}: {harmless(says)}" for name, says in meanings.items())


def _language(language: str) -> str:
    named = " ".join(language.split())[:100]
    if named.lower() == _AS_SPOKEN:
        return "Write in the language that the person writes in. Types, concepts and names stay as they are."
    return f"Write in this language: {named}. Types, concepts and names stay as they are."
