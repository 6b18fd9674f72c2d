"""What of a model's answer can be used: looked at item by item, so that a bad one costs itself only."""

from __future__ import annotations

from mait_code.commands import graph_names
from mait_code.commands.capture import lines
from mait_code.commands.capture.evidence import cut
from mait_code.commands.understanding.question import MEMORIES, SAID, SCOPES
from mait_code.journal.secrets import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.understanding.modes import Mode

    Data = dict[str, Any]

__all__ = ["Understood", "read"]

#: So many of each are taken from one answer.
_MOST = {"observations": 20, "memories": 20, "entities": 40, "relations": 40}
#: Characters of each text, and how many facts and concepts there are of one observation.
_PART, _TITLE, _SUBTITLE, _NARRATIVE, _FACT, _MEMORY, _CONTEXT = 2000, 200, 300, 4000, 600, 2000, 300
_FACTS, _CONCEPTS = 20, 8


class Understood:
    """What an answer says. `dropped` tells what was left out, and why."""

    __slots__ = ("dropped", "entities", "memories", "observations", "relations", "summary")

    def __init__(self) -> None:
        self.summary: dict[str, str] = {}
        #: Data of observations, with `turns`: the numbers of those they rest on.
        self.observations: list[Data] = []
        self.memories: list[Data] = []
        self.entities: list[Data] = []
        self.relations: list[Data] = []
        self.dropped: list[str] = []


def read(value: dict[str, Any], mode: Mode) -> Understood:
    """What can be used of a tool's input."""
    found = Understood()
    found.summary = _summary(value.get("summary"), found)
    _each(value, "observations", found, lambda raw: _observation(raw, mode), found.observations)
    _each(value, "memories", found, _memory, found.memories)
    _each(value, "entities", found, _entity, found.entities)
    _each(value, "relations", found, _relation, found.relations)
    return found


def _each(value: dict[str, Any], name: str, found: Understood, taken: Callable[[Data], Data], into: list[Data]) -> None:
    raw = value.get(name)
    if raw is None:
        return
    if type(raw) is not list:
        found.dropped.append(f"{name}: no list")
        return
    most = _MOST[name]
    if len(raw) > most:
        found.dropped.append(f"{name}: {len(raw) - most} more than the {most} that are taken from one answer")
    for number, one in enumerate(raw[:most], 1):
        try:
            if type(one) is not dict:
                raise ValueError("no object")
            data = taken(one)
            if data not in into:
                into.append(data)
        except ValueError as error:
            found.dropped.append(f"{name} {number}: {error}")


def _summary(raw: Any, found: Understood) -> dict[str, str]:
    if type(raw) is not dict:
        found.dropped.append("summary: no object")
        return {}
    said = {name: text for name in SAID if (text := _text(raw, name, _PART))}
    if not said:
        found.dropped.append("summary: nothing in it")
    return said


def _observation(raw: Data, mode: Mode) -> Data:
    data: Data = {
        "type": _type(raw, mode),
        "title": _line(raw, "title", _TITLE),
        "subtitle": _line(raw, "subtitle", _SUBTITLE),
        "narrative": _text(raw, "narrative", _NARRATIVE),
        "facts": [text for one in _texts(raw, "facts")[:_FACTS] if (text := cut(one, _FACT))],
        "concepts": [one for one in map(_word, _texts(raw, "concepts")) if one in mode.concepts][:_CONCEPTS],
        "turns": [one for one in raw["turns"] if type(one) is int] if type(raw.get("turns")) is list else [],
    }
    if not data["title"]:
        raise ValueError("no title")
    if not data["narrative"] and not data["facts"]:
        raise ValueError("neither narrative nor facts")
    return {name: one for name, one in data.items() if one}


def _type(raw: Data, mode: Mode) -> str:
    """The type, or that of what has none of them: a word of the model's own is no reason to lose the rest."""
    word = _word(lines.text(raw.get("type")))
    return word if word in mode.types else mode.otherwise


def _word(text: str) -> str:
    # "how-it-works: explains the loop" and "How it works" are meant as how-it-works
    return "-".join(text.partition(":")[0].lower().replace("_", " ").replace("-", " ").split())


def _memory(raw: Data) -> Data:
    type_ = MEMORIES.get(_word(lines.text(raw.get("type"))))
    if type_ is None:
        raise ValueError("there is no such sort of memory")
    text = _text(raw, "text", _MEMORY)
    if not text:
        raise ValueError("no text")
    data: Data = {"type": type_, "content": text}
    importance = raw.get("importance")
    if type(importance) is int:
        data["importance"] = min(10, max(1, importance))
    scope = _word(lines.text(raw.get("scope")))
    if scope in SCOPES:
        data["scope"] = scope
    return data


def _entity(raw: Data) -> Data:
    data = {"name": _name(raw, "name"), "type": graph_names.type_named(lines.text(raw.get("type")))}
    return {**data, **_context(raw)}


def _relation(raw: Data) -> Data:
    source, target = _name(raw, "source"), _name(raw, "target")
    if graph_names.entity_of(source) == graph_names.entity_of(target):
        raise ValueError("it leads to itself")
    relation = graph_names.relation_named(lines.text(raw.get("relation")))
    return {"source": source, "relation": relation, "target": target, **_context(raw)}


def _context(raw: Data) -> Data:
    context = _line(raw, "context", _CONTEXT)
    return {"context": context} if context else {}


def _name(raw: Data, field: str) -> str:
    name = graph_names.lasting(harmless(lines.text(raw.get(field))))
    if not name:
        raise ValueError(f"{field} is no name that lasts")
    return name


def _line(raw: Data, field: str, length: int) -> str:
    return cut(" ".join(_text(raw, field, 4 * length).split()), length)


def _text(raw: Data, field: str, length: int) -> str:
    """A text, cleaned before it is cut; empty where there is none."""
    return cut(harmless(lines.text(raw.get(field))).replace("\0", "").strip(), length)


def _texts(raw: Data, field: str) -> list[str]:
    found = raw.get(field)
    if type(found) is str:
        found = [found]
    kept = [harmless(lines.text(one)).replace("\0", "").strip() for one in found] if type(found) is list else []
    return list(dict.fromkeys(one for one in kept if one))
