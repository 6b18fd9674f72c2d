"""Questions to memory.db about the graph: things and how they relate, as people see them.

What was merged shows under what it went into; what only deleted memories spoke of does not show. Both are found out when
somebody asks, so that whatever order events arrive in the answer is the same.
"""

from __future__ import annotations

import orjson

from mait_code.projections import ids
from mait_code.projections.graph import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.projections.store import Store

    #: Source, relation, target: 12 characters, a name, 12 characters.
    Link = tuple[str, str, str]

__all__ = ["Graph", "Relation", "Thing", "speaking_of"]

_MENTIONED, _LINKED = b'{"kind":"entity.mentioned"', b'{"kind":"entity.linked"'


class Thing:
    """Somebody or something that memories speak of. Times are ISO 8601 UTC. `merged` holds the other names it has."""

    __slots__ = ("entity_type", "first_seen", "id", "last_seen", "mention_count", "merged", "name", "short")

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.id: str = row[0]
        self.name: str = row[1]
        self.entity_type: str = row[2]
        self.first_seen: str = row[3]
        self.last_seen: str = row[4]
        self.mention_count: int = row[5]
        self.merged: list[str] = []
        self.short = self.id

    @property
    def entity(self) -> str:
        """`entity/` and the id, as events name it."""
        return f"entity/{self.id}"

    def take_in(self, other: Thing) -> None:
        """Count in what was merged into this one."""
        self.merged.append(other.name)
        self.mention_count += other.mention_count
        self.first_seen = min(self.first_seen, other.first_seen)
        self.last_seen = max(self.last_seen, other.last_seen)
        if self.entity_type == UNKNOWN:
            self.entity_type = other.entity_type

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "id": self.id,
            "short": self.short,
            "name": self.name,
            "entity_type": self.entity_type,
            "first_seen": self.first_seen,
            "last_seen": self.last_seen,
            "mention_count": self.mention_count,
            "merged": self.merged,
        }


class Relation:
    """How a thing relates to another, seen from the first: `outward` where it is the source."""

    __slots__ = ("context", "other", "outward", "relation")

    def __init__(self, relation: str, other: Thing, outward: bool, context: str | None) -> None:
        self.relation = relation
        self.other = other
        self.outward = outward
        self.context = context

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "direction": "out" if self.outward else "in",
            "relationship_type": self.relation,
            "entity": {key: value for key, value in self.other.json().items() if key in _BRIEF},
            "context": self.context,
        }


_BRIEF = ("id", "short", "name", "entity_type")


class Graph:
    """The whole graph as it is now, read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        rows = store.query(
            "SELECT id, name, entity_type, first_seen, last_seen, mention_count, merged_into FROM memory_entities ORDER BY id"
        )
        self._rows = {row[0]: row for row in rows}
        self._removed = _deleted(store, "entity")
        mentions, unfounded = _forgotten(store)
        #: Every link as it was written, with its context.
        self.links: dict[Link, str | None] = {
            (source, relation, target): context
            for source, relation, target, context in store.query(
                "SELECT source, relationship_type, target, context FROM memory_relationships ORDER BY source, rowid"
            )
            if (source, relation, target) not in unfounded
        }
        self.things = self._shown(mentions)

    def _shown(self, forgotten: dict[str, int]) -> dict[str, Thing]:
        found: dict[str, Thing] = {}
        merged: list[tuple[str, Thing]] = []
        linked = {end for source, _relation, target in self.links for end in (source, target)}
        for id_, row in self._rows.items():
            thing = Thing(row)
            thing.mention_count -= forgotten.get(id_, 0)
            kept = thing.mention_count > 0 or id_ not in forgotten or id_ in linked
            shown_as = self.canonical(id_)
            if shown_as == id_ and kept:
                found[id_] = thing
            elif shown_as is not None and kept:
                merged.append((shown_as, thing))
        for id_, thing in merged:
            if id_ not in found:  # nothing living speaks of it by that name
                found[id_] = Thing(self._rows[id_])
                found[id_].mention_count = 0
            found[id_].take_in(thing)
        shorts = ids.shorts(self._store, "entity")
        for id_, thing in found.items():
            thing.short = shorts[id_]
        return found

    def canonical(self, id_: str) -> str | None:
        """What a thing is shown as: itself, or what it was merged into; None where that is removed or unknown.

        Two machines may each have merged one of two into the other: then it is the smaller of the ids.
        """
        path: list[str] = []
        while id_ not in path:
            if id_ in self._removed or id_ not in self._rows:
                return None
            path.append(id_)
            into = self._rows[id_][6]
            if into is None or (into not in self._rows and into not in self._removed):
                return id_  # the event that tells of the other one has not arrived yet
            id_ = into
        return min(path[path.index(id_) :])

    def members(self, id_: str) -> set[str]:
        """A thing and everything that is shown as it."""
        return {one for one in self._rows if self.canonical(one) == id_}

    def shown_links(self) -> dict[Link, str | None]:
        """The links between what is shown, each once, without those from a thing to itself."""
        found: dict[Link, str | None] = {}
        for (source, relation, target), context in self.links.items():
            start, end = self.canonical(source), self.canonical(target)
            if start in self.things and end in self.things and start != end:
                assert start is not None, "it is shown"
                assert end is not None, "it is shown"
                found[start, relation, end] = found.get((start, relation, end)) or context
        return found

    def relations(self, id_: str) -> list[Relation]:
        """How a thing relates to others: outward ones first, by relation and name."""
        found = []
        for (source, relation, target), context in self.shown_links().items():
            if id_ in (source, target):
                other = self.things[target if source == id_ else source]
                found.append(Relation(relation, other, source == id_, context))
        return sorted(found, key=lambda one: (not one.outward, one.relation, one.other.name.casefold()))

    def matching(self, query: str = "") -> list[Thing]:
        """Things whose name, or a name that was merged into it, holds `query`; the most mentioned first."""
        wanted = " ".join(query.split()).casefold()
        found = [one for one in self.things.values() if any(wanted in n.casefold() for n in (one.name, *one.merged))]
        return sorted(found, key=lambda one: (-one.mention_count, one.name.casefold(), one.id))


def speaking_of(store: Store, members: Iterable[str], limit: int) -> list[str]:
    """The memories (12 characters each) that speak of a thing with these ids, the last told first."""
    found: dict[str, str] = {}
    for id_ in sorted(members):
        for at, line in store.query("SELECT at, line FROM events WHERE entity = ?", (f"entity/{id_}",)):
            if line.startswith(_MENTIONED):
                memory = str(orjson.loads(line)["data"].get("memory") or "").partition("/")[2]
                found[memory] = max(found.get(memory, ""), at)
    found.pop("", None)
    return sorted(found, key=lambda memory: (found[memory], memory), reverse=True)[:limit]


def _deleted(store: Store, type_: str) -> set[str]:
    """The 12 characters of every deleted entity of a type."""
    query = "SELECT entity FROM entities WHERE entity >= ? AND entity < ? AND deleted = 1"
    return {row[0].partition("/")[2] for row in store.query(query, (f"{type_}/", f"{type_}0"))}


def _forgotten(store: Store) -> tuple[dict[str, int], set[Link]]:
    """What rests on deleted memories: how many mentions of each thing, and the links that nothing else speaks of."""
    deleted = _deleted(store, "memory")
    if not deleted:
        return {}, set()
    mentions: dict[str, int] = {}
    founded: dict[Link, bool] = {}
    rows = store.query("SELECT id, entity, line FROM events WHERE entity >= 'entity/' AND entity < 'entity0'")
    for entity, line in {row[0]: row[1:] for row in rows}.values():
        id_ = entity.partition("/")[2]
        if line.startswith(_MENTIONED):
            memory = orjson.loads(line)["data"].get("memory")
            if str(memory).partition("/")[2] in deleted:
                mentions[id_] = mentions.get(id_, 0) + 1
        elif line.startswith(_LINKED):
            data = orjson.loads(line)["data"]
            link = (id_, data["relation"], data["target"].partition("/")[2])
            origin = str(data.get("origin")).partition("/")
            founded[link] = founded.get(link, False) or origin[0] != "memory" or origin[2] not in deleted
    return mentions, {link for link, stands in founded.items() if not stands}
