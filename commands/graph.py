"""The graph: people, projects, tools and ideas that memories speak of. Names, types and relations get one spelling here.

`mention` and `link` are for whoever reads memories for what they speak of; they write into an action that is open.
"""

from __future__ import annotations

from mait_code.commands import graph_names
from mait_code.commands.graph_names import entity_of, relation_named, type_named
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.projections import register
from mait_code.projections.graph import UNKNOWN
from mait_code.projections.graph_queries import Graph, Relation, Thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

__all__ = [
    "Merged", "Relation", "Thing", "link", "listing", "mention", "merge", "relationships", "remove",
]  # fmt: skip

#: Characters of a beginning of an id that is taken for one.
_SHORTEST_ID = 5


def _follow(store: Store, entity: str) -> str | None:
    """The thing that a mention of `entity` is about: itself or what it was merged into; None where that was removed."""
    path: list[str] = []
    while entity not in path:
        state = store.state(entity)
        if state is None:
            return path[-1] if path else entity
        if register.is_deleted(state):
            return None
        path.append(entity)
        into = register.value(state, "merged")
        if not into:
            return entity
        entity = into
    return min(path[path.index(entity) :])


def mention(
    writer: Writer,
    store: Store,
    name: str,
    type: str = UNKNOWN,  # noqa: A002
    context: str | None = None,
    memory: str | None = None,
    **more: Any,
) -> str | None:
    """Note that `memory` (`memory/id`) speaks of a thing. Returns its entity, `entity/id`.

    Nothing is written, and None returned, where the name is empty, longer than a name may be, or stands for something
    that passes (a version, a hash, a branch, a ticket), and where the thing was removed. A type is written only where
    none was known. `more` goes to Writer.append: `id`, `wall`, `origin`.
    """
    called = graph_names.lasting(name)
    entity = _follow(store, entity_of(called)) if called else None
    if entity is None:
        return None
    known_name, known_type = _known(writer, store, entity)
    data = {"context": context, "memory": memory, **more}
    if known_type == UNKNOWN and type_named(type) != UNKNOWN:
        data["type"] = type_named(type)
    given = {key: value for key, value in data.items() if value is not None}
    writer.append("entity.mentioned", entity, name=known_name or called, **given)
    return entity


def _known(writer: Writer, store: Store, entity: str) -> tuple[str, str]:
    """The name and type that a thing has, in this action or before it."""
    state = store.state(entity)
    name = "" if state is None else register.value(state, "name") or ""
    type_ = UNKNOWN if state is None else register.value(state, "type") or UNKNOWN
    for event in writer.events:
        if event.entity == entity and event.kind == "entity.mentioned":
            name = name or event.data["name"]
            type_ = event.data.get("type") or type_
    return name, type_


def link(
    writer: Writer,
    store: Store,
    source: str,
    relation: str,
    target: str,
    context: str | None = None,
    memory: str | None = None,
    **more: Any,
) -> bool:
    """Note that `memory` says how one thing relates to another; things that are not known yet are mentioned first.

    False, and nothing written, where one of them cannot be mentioned, both are the same, or all of it is known already.
    """
    names = [graph_names.lasting(one) for one in (source, target)]
    if not all(names):
        return False
    ends = [_follow(store, entity_of(one)) for one in names]
    if None in ends or ends[0] == ends[1]:
        return False
    for entity, name in zip(ends, names, strict=True):
        assert entity is not None, "both can be mentioned"
        if not _known(writer, store, entity)[0]:
            mention(writer, store, name, memory=memory)
    kind = relation_named(relation)
    start, end = ends
    assert start is not None, "both can be mentioned"
    state = store.state(start)
    known = None if state is None else register.value(state, f"link:{kind}:{end}")
    if memory is None and known is not None and context in (None, known.get("context")):
        return False
    data = {"context": context or (known or {}).get("context"), "origin": memory, **more}
    given = {key: value for key, value in data.items() if value is not None}
    writer.append("entity.linked", start, relation=kind, target=end, **given)
    return True


# -- looking ----------------------------------------------------------------------------------------------------------


def listing(ws: Workspace, query: str = "", limit: int | None = None) -> list[Thing]:
    """Things by how often they were mentioned, those whose name holds `query`."""
    return Graph(ws.reading("memory")).matching(query)[:limit]


def relationships(ws: Workspace, name: str) -> tuple[Thing, list[Relation]]:
    """A thing and how it relates to others. Raises NotFound."""
    graph = Graph(ws.reading("memory"))
    thing = find(graph, name)
    return thing, graph.relations(thing.id)


def find(graph: Graph, text: str, exactly: bool = False) -> Thing:
    """The thing that a name or an id stands for. A name that was merged stands for what it went into, unless `exactly`.

    Raises NotFound, and Refused for a merged name where `exactly` is set.
    """
    called = graph_names.one_spelling(text)
    if not called:
        raise BadInput("the name is empty", "write it after the command")
    id_ = entity_of(called).partition("/")[2]
    shown_as = graph.canonical(id_)
    if shown_as is None or shown_as not in graph.things:
        id_ = shown_as = _by_id(graph, called)
    if exactly and shown_as != id_:
        into = graph.things[shown_as]
        raise Refused(f"{called} was merged into {into.name}", "name that one; mait-code undo takes a merge back")
    return graph.things[shown_as]


def _by_id(graph: Graph, called: str) -> str:
    asked = called.removeprefix("entity/").casefold()
    found = [one for one in graph.things if one.startswith(asked)] if len(asked) >= _SHORTEST_ID else []
    if len(found) == 1:
        return found[0]
    from difflib import get_close_matches

    names = {one.name.casefold(): one.name for one in graph.things.values()}
    near = [names[one] for one in get_close_matches(called.casefold(), names)]
    hint = f"did you mean {' or '.join(near)}?" if near else "mait-code memory entities lists what there is"
    raise NotFound(f"nothing here is called {called!r}", hint)


# -- correcting -------------------------------------------------------------------------------------------------------


class Merged:
    """What merging came to: the thing that is left, the name that went, and what became of the links."""

    __slots__ = ("deduplicated", "gone", "repointed", "self_loops", "thing")

    def __init__(self, thing: Thing, gone: str) -> None:
        self.thing = thing
        self.gone = gone
        self.repointed = self.deduplicated = self.self_loops = 0

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        counts = {"repointed": self.repointed, "deduplicated": self.deduplicated, "self_loops": self.self_loops}
        return {**self.thing.json(), "source": self.gone, **counts}


def merge(ws: Workspace, source: str, target: str) -> Merged:
    """Make one thing of two: `source` shows under `target` from now on, and its links lead there, in one action."""
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        graph = Graph(store)
        one, other = find(graph, source), find(graph, target)
        if one.id == other.id:
            raise Refused(f"{source!r} and {target!r} are one already: {other.name}", "nothing changed")
        done = Merged(other, one.name)
        old = _repoint(writer, graph, one.id, other.id, done)
        writer.append("entity.merged", one.entity, into=other.entity)
        for start, relation, end in old:
            writer.append("entity.removed", f"entity/{start}", link=f"link:{relation}:entity/{end}")
    done.thing = Graph(ws.refreshed("memory")).things[other.id]
    return done


def _repoint(writer: Writer, graph: Graph, one: str, other: str, done: Merged) -> list[tuple[str, str, str]]:
    """Write the links of `one` anew for `other`. Returns the old ones."""
    members = graph.members(one)
    touched = [link for link in graph.links if link[0] in members or link[2] in members]
    there = {
        (graph.canonical(start), relation, graph.canonical(end))
        for start, relation, end in graph.links
        if start not in members and end not in members
    }
    for start, relation, end in touched:
        moved = (other if start in members else start, relation, other if end in members else end)
        shown = (graph.canonical(moved[0]), relation, graph.canonical(moved[2]))
        if shown[0] == shown[2]:
            done.self_loops += 1
        elif shown in there:
            done.deduplicated += 1
        else:
            there.add(shown)
            done.repointed += 1
            context = graph.links[start, relation, end]
            more: dict[str, Any] = {"context": context} if context is not None else {}
            target = f"entity/{moved[2]}"
            writer.append("entity.linked", f"entity/{moved[0]}", relation=relation, target=target, **more)
    return touched


def remove(ws: Workspace, name: str) -> Thing:
    """Remove a thing with everything that was merged into it: it does not come back when it is mentioned again."""
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        thing = find(Graph(store), name, exactly=True)
        heads = store.heads(thing.entity)
        sees = {"*": sorted({head for ids in heads.values() for head in ids})}
        if heads.get("deleted"):
            sees["deleted"] = heads["deleted"]
        writer.append("entity.removed", thing.entity, sees=sees)
    ws.refreshed("memory")
    return thing
