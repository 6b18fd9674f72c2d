"""What a model is asked about a batch of memories, and what of its answer can be used.

Memories go out under keys (m1, p1) that mean something in one question only, so an answer can name nothing else. A bad
item costs itself: it is left out, and said why.
"""

from __future__ import annotations

import os
import re

import orjson

from mait_code.commands.model.access import Tool
from mait_code.journal.secrets import harmless
from mait_code.projections.memories import TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.projections.memory_queries import Memory

__all__ = ["TOOL", "Insight", "Operation", "Read", "prompt", "read"]

#: Characters of a memory that the model sees.
_SHOWN = 1000
#: Characters that an insight or a pinned line may have, and how many of each are taken from one answer.
_LONGEST, _MOST = 2000, 20

_KEYS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
_TEXT = {"type": "string", "minLength": 1, "maxLength": _LONGEST}
TOOL = Tool(
    "reflect",
    "Record what the notes come to: insights, and operations on the pinned lines.",
    {
        "type": "object",
        "properties": {
            "insights": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"text": _TEXT, "from": _KEYS},
                    "required": ["text", "from"],
                },
            },
            "operations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": {"type": "string", "enum": ["add", "rewrite", "merge", "retire"]},
                        "pins": {**_KEYS, "description": "Keys of the pinned lines it changes; none for add."},
                        "text": {**_TEXT, "description": "The new line; none for retire."},
                        "type": {"type": "string", "enum": list(TYPES), "description": "For add: what sort it is."},
                        "from": _KEYS,
                    },
                    "required": ["op", "from"],
                },
            },
        },
        "required": ["insights", "operations"],
    },
)


class Insight:
    """A text, and the memories it rests on."""

    __slots__ = ("backing", "text")

    def __init__(self, text: str, backing: list[Memory]) -> None:
        self.text = text
        self.backing = backing


class Operation:
    """A change to pinned memories: add, rewrite, merge or retire. `text` is empty for retire, `pins` for add."""

    __slots__ = ("applied", "backing", "op", "pins", "text", "type")

    def __init__(self, op: str, pins: list[Memory], text: str, type_: str, backing: list[Memory]) -> None:
        self.op = op
        self.pins = pins
        self.text = text
        self.type = type_
        self.backing = backing
        self.applied = False

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "op": self.op,
            "old": [{"id": one.id, "short": one.short, "content": one.content} for one in self.pins],
            "new": self.text or None,
            "entry_type": self.type if self.op == "add" else None,
            "entry_ids": [one.id for one in self.backing],
            "applied": self.applied,
        }


class Read:
    """What of an answer can be used, and why the rest cannot."""

    __slots__ = ("dropped", "insights", "operations")

    def __init__(self) -> None:
        self.insights: list[Insight] = []
        self.operations: list[Operation] = []
        self.dropped: list[str] = []


def keyed(memories: Iterable[Memory], letter: str) -> dict[str, Memory]:
    """Memories under the keys they go by in one question."""
    return {f"{letter}{number}": one for number, one in enumerate(memories, 1)}


# -- asking -----------------------------------------------------------------------------------------------------------


def prompt(project: str | None, pins: dict[str, Memory], memories: dict[str, Memory]) -> str:
    """The question about a batch. The words are in prompts/reflect.txt."""
    with open(os.path.join(os.path.dirname(__file__), "prompts", "reflect.txt"), encoding="utf-8") as file:
        template = file.read()
    filled = {
        "project": harmless(project) if project else "several things",
        "pins": _lines(pins) or "(none)",
        "memories": _lines(memories) or "(none)",
    }
    # One pass: what looks like a place to be filled inside a memory stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], template)


def _lines(memories: dict[str, Memory]) -> str:
    return "\n".join(
        orjson.dumps(
            {
                "key": key,
                "date": one.created_at[:10],
                "type": one.entry_type,
                "importance": one.importance,
                "scope": one.scope,
                "text": _cut(harmless(one.content)),
            }
        ).decode()
        for key, one in memories.items()
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


# -- reading ----------------------------------------------------------------------------------------------------------


def read(value: dict[str, Any], pins: dict[str, Memory], memories: dict[str, Memory]) -> Read:
    """What of a tool's input is as the schema says and names only what was shown."""
    found = Read()
    for number, raw in enumerate(_list(value, "insights", found), 1):
        try:
            found.insights.append(_insight(raw, pins, memories))
        except ValueError as error:
            found.dropped.append(f"insight {number}: {error}")
    taken: set[str] = set()
    for number, raw in enumerate(_list(value, "operations", found), 1):
        try:
            operation = _operation(raw, pins, memories)
            if taken & {one.id for one in operation.pins}:
                raise ValueError("a pinned line it changes is changed by another one already")
            taken |= {one.id for one in operation.pins}
            found.operations.append(operation)
        except ValueError as error:
            found.dropped.append(f"operation {number}: {error}")
    return found


def _list(value: dict[str, Any], name: str, found: Read) -> list[Any]:
    raw = value.get(name)
    if raw is None:
        return []
    if type(raw) is not list:
        found.dropped.append(f"{name}: no list")
        return []
    if len(raw) > _MOST:
        found.dropped.append(f"{name}: {len(raw) - _MOST} more than the {_MOST} that are taken from one answer")
    return raw[:_MOST]


def _insight(raw: Any, pins: dict[str, Memory], memories: dict[str, Memory]) -> Insight:
    if type(raw) is not dict:
        raise ValueError("no object")
    return Insight(_text(raw), _named(raw, "from", {**memories, **pins}))


def _operation(raw: Any, pins: dict[str, Memory], memories: dict[str, Memory]) -> Operation:
    if type(raw) is not dict:
        raise ValueError("no object")
    op = raw.get("op")
    if op not in ("add", "rewrite", "merge", "retire"):
        raise ValueError("there is no such operation")
    backing = _named(raw, "from", {**memories, **pins})
    changed = _named(raw, "pins", pins) if op != "add" else []
    if op == "rewrite" and len(changed) != 1:
        raise ValueError("a rewrite is of one pinned line")
    if op == "merge" and len(changed) < 2:
        raise ValueError("a merge is of two pinned lines or more")
    text = _text(raw) if op != "retire" else ""
    if op == "rewrite" and text == changed[0].content.strip():
        raise ValueError("the line says that already")
    type_ = raw.get("type")
    return Operation(op, changed, text, type_ if type_ in TYPES else "fact", backing)


def _text(raw: dict[str, Any]) -> str:
    text = raw.get("text")
    if type(text) is not str or not (text := harmless(text).strip()):
        raise ValueError("no text")
    if len(text) > _LONGEST:
        raise ValueError(f"a text of more than {_LONGEST} characters")
    return text


def _named(raw: dict[str, Any], field: str, known: dict[str, Memory]) -> list[Memory]:
    """The memories that a field names. Keys that were never shown are passed over where others are left."""
    keys = raw.get(field)
    if type(keys) is not list:
        raise ValueError(f"{field} is no list of keys")
    found = [known[key] for key in dict.fromkeys(one for one in keys if type(one) is str) if key in known]
    if not found:
        raise ValueError(f"{field} names nothing that was shown")
    return found
