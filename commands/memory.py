"""Memories: storing, one at a time or many, without ever swallowing the opposite."""

from __future__ import annotations

import orjson

from mait_code.commands import stored_text
from mait_code.commands.memory_scope import Place, here
from mait_code.journal.errors import BadInput
from mait_code.projections import memory_queries
from mait_code.projections.memories import DEFAULT_IMPORTANCE, SCOPES, TYPES, key_of, same
from mait_code.projections.memory_queries import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

__all__ = ["Memory", "Stored", "store", "store_all"]

#: So many close memories are told of.
_TOLD = 5


class Stored:
    """What storing came to: the memory, whether it was there already, and others close to it: (memory, similarity).

    `put_away` is one that said the same and was superseded or retired, and that stays so.
    """

    __slots__ = ("close", "joined", "memory", "put_away")

    def __init__(
        self, memory: Memory, joined: bool, close: list[tuple[Memory, float]], put_away: Memory | None = None
    ) -> None:
        self.put_away = put_away
        self.memory = memory
        self.joined = joined
        self.close = close


class Draft:
    """A memory about to be stored. `wall` is microseconds since 1970 where it is from another time than now."""

    __slots__ = ("_same", "data", "wall")

    def __init__(self, data: dict[str, Any], wall: int | None = None) -> None:
        self.data = data
        self.wall = wall
        self._same = ""

    @property
    def same(self) -> str:
        """What it shares with a memory that says the same in the same place."""
        if not self._same:
            one = self.data
            self._same = same(key_of(one["content"]), one["type"], one["scope"], one.get("project"), one.get("branch"))
        return self._same


def draft(
    content: str,
    type_: str = "fact",
    importance: int | None = None,
    place: Place | None = None,
    wall: int | None = None,
    **more: Any,
) -> tuple[Draft, list[str]]:
    """A memory ready to be stored, and what was changed about its text, in words. Raises BadInput."""
    texts, notes = stored_text.fitted({"text": stored_text.required(content, "the text")})
    place = place or here()
    data: dict[str, Any] = {"content": texts["text"], "type": type_named(type_)}
    if importance is not None:
        data["importance"] = importance_of(importance)
    data["scope"] = place.scope
    data |= {name: value for name, value in (("project", place.project), ("branch", place.branch)) if value}
    data |= {name: value for name, value in more.items() if value}
    return Draft(data, wall), notes


def type_named(text: str) -> str:
    """A type in its one spelling. Raises BadInput."""
    type_ = text.strip().lower()
    if type_ not in TYPES:
        raise BadInput(f"there is no type {text!r}", "types are " + ", ".join(TYPES))
    return type_


def importance_of(value: object) -> int:
    """An importance from 1 to 10. Raises BadInput."""
    if type(value) is not int or not 1 <= value <= 10:
        raise BadInput(f"an importance is a whole number from 1 to 10, not {value!r}", "5 is the usual one")
    return value


def scope_named(text: str) -> str:
    """A scope in its one spelling. Raises BadInput."""
    scope = text.strip().lower()
    if scope not in SCOPES:
        raise BadInput(f"there is no scope {text!r}", "scopes are " + ", ".join(SCOPES))
    return scope


def store(ws: Workspace, made: Draft) -> Stored:
    """Store one memory, or note that it was told again. Says what is close to it and might contradict it."""
    memories = ws.store("memory")
    with ws.journal.writing(memories) as writer:
        entity, joined = append(writer, memories, made, {})
        close = [] if joined else close_to(memories, made)
        put_away = None if joined else memory_queries.put_away_same(memories, made.same)
    found = memory_queries.one(ws.refreshed("memory"), entity)
    assert found is not None, "it was folded under the same lock"
    return Stored(found, joined, close, put_away)


def store_all(ws: Workspace, drafts: Iterable[Draft]) -> tuple[int, int]:
    """Store many in one action. Returns how many are new, and how many were there already or came twice."""
    memories = ws.store("memory")
    new = again = 0
    with ws.journal.writing(memories) as writer:
        drafts = list(drafts)
        made = memory_queries.living_sames(memories, [one.same for one in drafts])
        for one in drafts:
            _entity, joined = append(writer, memories, one, made)
            again, new = (again + 1, new) if joined else (again, new + 1)
    if new or again:
        ws.refreshed("memory")
    return new, again


def append(
    writer: Writer,
    memories: Store,
    one: Draft,
    made: dict[str, str],
    verbatim: Collection[str] = (),
    ids: Callable[[str], dict[str, Any]] = lambda _kind: {},
) -> tuple[str, bool]:
    """Write a memory as a new one, or that a living one was told again: of the store, or of those `made` in this action (by
    what they share; empty where it is known that there is none). Returns it, and whether it was there. `verbatim` names
    fields that the log holds already; `ids` gives the ids of what comes from outside, by kind."""
    verbatim = (*verbatim, "type", "scope")  # words of ours
    alike = one.same
    known = made[alike] if alike in made else memory_queries.living_same(memories, alike)
    if not known:
        event = writer.append("memory.stored", wall=one.wall, verbatim=verbatim, **ids("memory.stored"), **one.data)
        made[alike] = event.entity
        return event.entity, False
    seen: dict[str, Any] = {name: one.data[name] for name in ("content", "ref", "origin") if name in one.data}
    raised = one.data.get("importance", DEFAULT_IMPORTANCE)
    if raised > _importance(memories, known):
        seen["importance"] = raised
    writer.append("memory.seen", known, wall=one.wall, verbatim=verbatim, **ids("memory.seen"), **seen)
    told = one.data.get("tags")
    carried = _tags(memories, known) if told else []
    added = [tag for tag in told or () if tag not in carried]
    if added:
        writer.append("memory.edited", known, wall=one.wall, tags=added)
    return known, True


def _importance(memories: Store, entity: str) -> int:
    found = memories.value("SELECT importance FROM memory_entries WHERE id = ?", (entity.partition("/")[2],))
    return found if isinstance(found, int) else 10


def _tags(memories: Store, entity: str) -> list[str]:
    found = memories.value("SELECT tags FROM memory_entries WHERE id = ?", (entity.partition("/")[2],))
    return list(orjson.loads(found)) if isinstance(found, str) else []


def close_to(memories: Store, made: Draft) -> list[tuple[Memory, float]]:
    """Living memories of the same kind and place that read much like it: what it might contradict, closest first."""
    from mait_code.journal import settings
    from mait_code.projections import likeness, search
    from mait_code.projections.question import Question

    content, least = made.data["content"], float(settings.value("dedup-string-threshold"))
    terms = likeness.close_candidates_terms(content)
    wanted = search.Wanted(
        where="e.kind = 'memory' AND e.type = ? AND e.project IS ? AND e.branch IS ?",
        bindings=(made.data["type"], made.data.get("project"), made.data.get("branch")),
    )
    found = [
        (likeness.similarity(content, finding.text, least), finding.entity)
        for finding, _ in search.by_words(memories, Question(" ".join(terms)), wanted, 20)
    ]
    closest = sorted((one for one in found if one[0] >= least), key=lambda one: -one[0])[:_TOLD]
    told = ((memory_queries.one(memories, entity), similarity) for similarity, entity in closest)
    return [(memory, similarity) for memory, similarity in told if memory is not None]
