"""The state of a journal, computed from the definition of a register and nothing else.

    The heads of a register are the events that write it and that no event's `sees` names. Its value is that of the head
    with the largest order key. Heads with more than one value are a conflict.

This is slow, and shares no code with the product: lines are read with `json` and `hashlib`, every question is answered
from the set of all events.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Key = tuple[str, str, int, str]
    Writes = dict[str, Any]

#: By store: the families that share memory.db go by its name.
FAMILIES = ("card", "inbox", "reminder", "memory", "project", "journal")
SHARED = dict.fromkeys(("entity", "session", "prompt", "turn", "observation", "document", "reflection"), "memory")
CREATING = (
    "card.created",
    "inbox.captured",
    "reminder.set",
    "memory.stored",
    "entity.mentioned",
    "session.started",
    "session.summarised",
    "prompt.submitted",
    "turn.recorded",
    "observation.recorded",
    "reflection.made",
)
#: Things that are what their name says, and need nothing that makes them.
KNOWN_BY_NAME = ("replica", "document", "session", "project")
#: Registers of which a rule names the winner, by the type of the thing.
SETTLED = {
    "card": ("binding",),
    "memory": ("reviewed",),
    "entity": ("name", "type", "link:"),
    "document": ("name",),
}
_SUM = re.compile(rb',"sum":"([0-9a-f]{16})"')


def _fields(*names: str) -> Callable[[str, dict[str, Any]], Writes]:
    return lambda _id, data: {name: data[name] for name in names if name in data}


def _done(_id: str, data: dict[str, Any]) -> Writes:
    return {"done": {"outcome": data["outcome"]} | ({"ref": data["ref"]} if data.get("ref") else {})}


_PLACE = ("session", "project", "branch", "origin")
_FILES = ("files_read", "files_modified")


def _memory(_id: str, data: dict[str, Any]) -> Writes:
    names = ("content", "type", "importance", "scope", "project", "branch", "session", "ref", "source", "origin")
    found = {name: data[name] for name in names if name in data}
    found |= {f"tag:{tag}": True for tag in data.get("tags") or []}
    return found | {f"tag:{tag}": False for tag in data.get("untagged") or []}


def _mention(_id: str, data: dict[str, Any]) -> Writes:
    return {"name": data["name"]} | ({"type": data["type"]} if data.get("type") is not None else {})


def _link(_id: str, data: dict[str, Any]) -> Writes:
    context = {"context": data["context"]} if data.get("context") is not None else {}
    return {f"link:{data['relation']}:{data['target']}": context}


def _deleted(_id: str, _data: dict[str, Any]) -> Writes:
    return {"deleted": True}


def _reopened(_id: str, data: dict[str, Any]) -> Writes:
    return {data["register"]: False if data["register"] == "deleted" else None}


#: Which registers an event of each kind writes, and with what.
WRITES: dict[str, Callable[[str, dict[str, Any]], Writes]] = {
    "card.created": _fields(
        "title", "description", "acceptance_criteria", "priority", "column", "project", "number", "origin"
    ),
    "card.edited": _fields("title", "description", "acceptance_criteria", "priority", "project", "completion_summary"),
    "card.moved": _fields("column"),
    "card.tagged": lambda _id, data: {f"tag:{data['tag']}": True},
    "card.untagged": lambda _id, data: {f"tag:{data['tag']}": False},
    "card.commented": lambda id_, _data: {f"comment:{id_}": True},
    "card.comment_deleted": lambda _id, data: {f"comment:{data['comment']}": False},
    "card.referenced": lambda id_, _data: {f"reference:{id_}": True},
    "card.unreferenced": lambda _id, data: {f"reference:{data['reference']}": False},
    "card.bound": lambda _id, data: {"binding": data["by"]},
    "card.unbound": lambda _id, _data: {"binding": None},
    "card.deleted": lambda _id, _data: {"deleted": True},
    "card.restored": lambda _id, data: {data["register"]: data["register"] != "deleted"},
    "inbox.captured": _fields("body", "project"),
    "inbox.edited": _fields("body", "project"),
    "inbox.done": _done,
    "inbox.deleted": lambda _id, _data: {"deleted": True},
    "inbox.restored": lambda _id, data: {data["register"]: False if data["register"] == "deleted" else None},
    "reminder.set": _fields("what", "when", "project", "origin"),
    "reminder.edited": _fields("what", "when", "project"),
    "reminder.snoozed": lambda _id, data: {f"occurrence:{data['occurrence']}": {"until": data["until"]}},
    "reminder.dismissed": lambda _id, data: {f"occurrence:{data['occurrence']}": {"dismissed": True}},
    "reminder.notified": lambda _id, _data: {},
    "reminder.deleted": lambda _id, _data: {"deleted": True},
    "reminder.restored": lambda _id, data: {data["register"]: False if data["register"] == "deleted" else None},
    "journal.replica_labelled": _fields("label", "of"),
    "memory.stored": _memory,
    "memory.seen": lambda _id, data: {"importance": data["importance"]} if data.get("importance") is not None else {},
    "memory.edited": _memory,
    "memory.superseded": lambda _id, data: {"superseded": data["by"]},
    "memory.retired": lambda _id, _data: {"retired": True},
    "memory.reviewed": lambda _id, data: {"reviewed": data.get("at")},
    "memory.pinned": lambda _id, _data: {"pinned": True},
    "memory.unpinned": lambda _id, _data: {"pinned": False},
    "memory.deleted": _deleted,
    "memory.restored": _reopened,
    "entity.mentioned": _mention,
    "entity.linked": _link,
    "entity.merged": lambda _id, data: {"merged": data.get("into")},
    "entity.removed": lambda _id, data: {data["link"]: None} if data.get("link") is not None else {"deleted": True},
    "entity.restored": _reopened,
    "session.started": _fields(*_PLACE, "how", "title", "platform"),
    "session.ended": lambda _id, data: {"ended": data.get("reason")},
    "session.deleted": _deleted,
    "session.restored": _reopened,
    "session.summarised": _fields(
        *_PLACE,
        *_FILES,
        "request",
        "investigated",
        "learned",
        "completed",
        "next_steps",
        "notes",
        "number",
        "tokens",
        "by",
    ),
    "session.summary_deleted": _deleted,
    "session.summary_restored": _reopened,
    "prompt.submitted": _fields(*_PLACE, "text", "number"),
    "prompt.deleted": _deleted,
    "prompt.restored": _reopened,
    "turn.recorded": _fields(
        *_PLACE, *_FILES, "request", "answer", "commands", "failures", "tokens", "duration", "number", "agent"
    ),
    "turn.deleted": _deleted,
    "turn.restored": _reopened,
    "observation.recorded": _fields(
        *_PLACE,
        *_FILES,
        "type",
        "title",
        "subtitle",
        "narrative",
        "facts",
        "concepts",
        "number",
        "tokens",
        "by",
        "agent",
    ),
    "observation.deleted": _deleted,
    "observation.restored": _reopened,
    "document.text": _fields("name", "text"),
    "reflection.made": _fields("project", "memories", "insights", "by", "origin"),
    "reflection.deleted": _deleted,
    "reflection.restored": _reopened,
    "project.aliased": lambda _id, data: {"name": {"alias": data["alias"], "name": data["name"]}},
    "project.unaliased": lambda _id, _data: {"name": None},
}


@dataclass(frozen=True)
class Fact:
    """One line of the journal that is an event."""

    id: str
    kind: str
    version: int
    key: Key
    entity: str
    shown: str
    actor: str
    sees: dict[str, list[str]]
    data: dict[str, Any]
    line: bytes

    @property
    def family(self) -> str:
        first = self.kind.partition(".")[0]
        return SHARED.get(first, first)

    @property
    def is_understood(self) -> bool:
        return self.kind in WRITES and self.version == 1

    @cached_property
    def writes(self) -> Writes:
        return WRITES[self.kind](self.id, self.data) if self.is_understood else {}


def read(line: bytes) -> Fact | None:
    """The event of one line, or None for what is none. Only the damage that the histories do has to be told apart."""
    line = line.rstrip(b"\r").removeprefix(b"\xef\xbb\xbf")
    found = _SUM.search(line)
    if not found or hashlib.sha256(line[: found.start()] + line[found.end() :]).hexdigest()[:16].encode() != found[1]:
        return None
    raw = json.loads(line)
    return Fact(
        raw["id"],
        raw["kind"],
        raw["v"],
        (raw["at"], raw["replica"], raw["seq"], raw["id"]),
        raw["entity"],
        raw.get("wall") or raw["at"],
        raw["actor"],
        raw.get("sees") or {},
        raw["data"],
        line,
    )


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


class Entity:
    """What the events of one entity say together."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.facts = sorted(facts, key=lambda fact: fact.key)

    def upto(self, count: int) -> Entity:
        """The entity as the first `count` events of the order leave it."""
        return Entity(self.facts[:count])

    @cached_property
    def understood(self) -> list[Fact]:
        return [fact for fact in self.facts if fact.is_understood]

    @cached_property
    def registers(self) -> list[str]:
        return sorted({register for fact in self.understood for register in fact.writes})

    def heads(self, register: str) -> list[Fact]:
        named = {one for fact in self.understood for one in fact.sees.get(register, ())}
        return [fact for fact in self.understood if register in fact.writes and fact.id not in named]

    def value(self, register: str, default: Any = None) -> Any:
        heads = self.heads(register)
        return heads[-1].writes[register] if heads else default

    @property
    def is_created(self) -> bool:
        return any(fact.kind in CREATING for fact in self.understood)

    @property
    def deletions(self) -> list[Fact]:
        return [fact for fact in self.heads("deleted") if fact.writes["deleted"]]

    @property
    def is_deleted(self) -> bool:
        return bool(self.deletions)

    def conflicts(self) -> list[str]:
        """The registers in conflict. A deleted entity has at most one: whether it is to stay deleted."""
        if self.is_deleted:
            named = {one for fact in self.deletions for one in fact.sees.get("*", ())}
            escaped = any(
                fact.id not in named
                for register in self.registers
                if register != "deleted"
                for fact in self.heads(register)
            )
            restored = len(self.heads("deleted")) > len(self.deletions)
            return ["deleted"] if escaped or restored else []
        return [register for register in self.registers if self._differs(register)]

    def _differs(self, register: str) -> bool:
        values = {_canonical(fact.writes[register]) for fact in self.heads(register)}
        type_ = self.facts[0].entity.partition("/")[0]
        settled = register.startswith(SETTLED.get(type_, ("\0",)))
        if settled or (register.startswith("occurrence:") and '{"dismissed": true}' in values):
            return False  # a rule names the winner
        return len(values) > 1


class Model:
    """Every entity of a set of lines, by family. Of several lines with one id the one with the lowest key counts."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        kept: dict[tuple[str, str], Fact] = {}
        for fact in filter(None, map(read, lines)):
            place = (fact.family, fact.id)
            if place not in kept or (fact.key, fact.line) < (kept[place].key, kept[place].line):
                kept[place] = fact
        self.facts = {fact.id: fact for fact in kept.values()}
        self.families: dict[str, dict[str, Entity]] = {family: {} for family in FAMILIES}
        grouped: dict[tuple[str, str], list[Fact]] = {}
        for fact in kept.values():
            if fact.family == "journal" and not fact.is_understood:
                continue  # the journal's own entities are labels; newer lines about them are listed, not folded
            if fact.family in self.families:
                grouped.setdefault((fact.family, fact.entity), []).append(fact)
        for (family, entity), facts in grouped.items():
            self.families[family][entity] = Entity(facts)
