"""What the graph asks of the store, and what is told of a thing. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.output import counted
from mait_code.commands.times import local
from mait_code.projections import graph_queries, memory_queries
from mait_code.projections.graph_queries import Graph, Thing
from mait_code.tui.graph_ego import Ties, glyph
from mait_code.tui.outline_reading import Branch, Outline, Text

if TYPE_CHECKING:
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line

__all__ = ["LIST", "Question", "Shown", "first", "whole"]

#: What the heading of the list is known by.
LIST = "list:"
#: Mentions from which on something is more than noise, and relations and memories that the pane tells of.
_OFTEN, _RELATIONS, _MEMORIES = 2, 40, 12


class Shown(Outline[Thing]):
    """The answer: the things of the list, and the whole graph that neighbourhoods are taken from."""

    __slots__ = ("graph", "ties")

    def __init__(self, graph: Graph, ties: Ties, where: str) -> None:
        super().__init__(where)
        self.graph = graph
        self.ties = ties


class Question:
    """What is to be shown: things with these words in their names, those that are connected or all of them."""

    __slots__ = ("connected", "words")

    def __init__(self, words: str = "", connected: bool = True) -> None:
        self.words = words
        self.connected = connected

    def __call__(self, ws: Workspace) -> Shown:
        graph = Graph(ws.reading("memory"))
        ties = Ties(graph.things, graph.shown_links())
        found = Shown(graph, ties, "connected" if self.connected else "all")
        found.total = len(graph.things)
        listed = [
            one
            for one in graph.matching(self.words)
            if not self.connected or (one.mention_count >= _OFTEN and ties.count(one.id))
        ]
        branch = Branch(LIST, "the most mentioned first", str(len(listed)), count=len(listed))
        branch.leaves = [one.id for one in listed]
        if listed:
            found.branches.append(branch)
        found.items = {one.id: one for one in listed}
        found.banner = f"{len(listed)} of {counted(found.total, 'thing')}"
        return found


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question()


def whole(ws: Workspace, shown: Shown, id_: str) -> Text | None:
    """Everything that is known of a thing; None where it is gone."""
    thing = shown.graph.things.get(id_)
    if thing is None:
        return None
    style, sign = glyph(thing)
    lines: list[Line] = [[(style, f"{sign} "), ("", thing.entity_type), ("dim", f"  {thing.short}")]]
    lines += [[("", counted(thing.mention_count, "mention")), ("dim", f", {_when(thing)}")]]
    if thing.merged:
        lines += [[("dim", "also "), ("", ", ".join(thing.merged))]]
    relations = shown.graph.relations(id_)
    if relations:
        lines += [[], [("primary", counted(len(relations), "relation"))]]
    for one in relations[:_RELATIONS]:
        arrow = f"{one.relation} → " if one.outward else f"← {one.relation} "
        context = f"  {one.context}" if one.context else ""
        lines.append([("dim", arrow), ("strong", one.other.name), ("dim", context)])
    if len(relations) > _RELATIONS:
        lines.append([("dim", f"and {len(relations) - _RELATIONS} more")])
    store = ws.reading("memory")
    ids = graph_queries.speaking_of(store, shown.graph.members(id_), _MEMORIES)
    told = {one.id: one for one in memory_queries.by_id(store, ids)}
    if told:
        lines += [[], [("primary", "Memories that speak of it")]]
        lines += [[("dim", f"{told[one].short}  "), ("", told[one].first_line)] for one in ids if one in told]
    return Text(thing.name, [], "", lines=lines)


def _when(thing: Thing) -> str:
    first_day, last_day = local(thing.first_seen)[:10], local(thing.last_seen)[:10]
    return first_day if first_day == last_day else f"{first_day} to {last_day}"
