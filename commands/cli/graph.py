"""The graph from the command line: things that memories speak of, and how they relate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


#: Things that are listed where nothing else is asked for.
_USUAL = 20


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What `mait-code graph` prints: the most mentioned."""
    _list(ws, out, "", _USUAL)


@command("list")
@argument("query", nargs=-1)
@option("--limit", "-n", type=click.IntRange(1, 100_000), default=_USUAL, show_default=True, help="How many at most.")
@pass_workspace
def list_things(ws: Workspace, out: Output, query: tuple[str, ...], limit: int) -> None:
    """List who and what memories speak of, the most mentioned first. QUERY is part of a name."""
    _list(ws, out, " ".join(query), limit)


@command("entities")
@argument("words", nargs=-1, metavar="[list] [QUERY] | merge SRC DST | remove NAME")
@option("--limit", "-n", type=click.IntRange(1, 100_000), default=_USUAL, show_default=True, help="How many at most.")
@pass_workspace
def entities(ws: Workspace, out: Output, words: tuple[str, ...], limit: int) -> None:
    """List who and what memories speak of; merge two of them, or remove one.

    QUERY is part of a name. A name of several words is one argument for merge and remove: "Ada Lovelace". Merging makes
    SRC show under DST, with its links. What was removed does not come back when it is mentioned again.
    """
    from mait_code.journal.errors import BadInput

    action = words[0] if words else "list"
    if action == "merge":
        if len(words) != 3:
            raise BadInput("merge takes exactly two names", "quote a name of several words")
        _merge(ws, out, words[1], words[2])
    elif action == "remove":
        if len(words) != 2:
            raise BadInput("remove takes exactly one name", "quote a name of several words")
        _remove(ws, out, words[1])
    else:
        _list(ws, out, " ".join(words[1:] if action == "list" else words), limit)


def _list(ws: Workspace, out: Output, query: str, limit: int) -> None:
    from mait_code.commands import graph

    found = graph.listing(ws, query, limit)
    if out.json:
        out.data([one.json() for one in found])
        return
    if not found:
        out.line(f"Nothing here has {query!r} in its name." if query else "Memories speak of nobody and nothing yet.")
    for one in found:
        also = f"  also {', '.join(one.merged)}" if one.merged else ""
        out.line(
            out.style(f"{one.short:<6}", "bold"),
            f"  {one.name}  ",
            out.style(f"{one.entity_type}, {counted(one.mention_count, 'mention')}{also}", "dim"),
        )


def _merge(ws: Workspace, out: Output, source: str, target: str) -> None:
    from mait_code.commands import graph

    done = graph.merge(ws, source, target)
    if out.json:
        out.data(done.json())
        return
    out.line(
        "Merged ",
        done.gone,
        " into ",
        out.style(done.thing.name, "bold"),
        f": {counted(done.repointed, 'link')} repointed, {done.deduplicated} there already,"
        f" {done.self_loops} dropped that would lead to itself",
    )


def _remove(ws: Workspace, out: Output, name: str) -> None:
    from mait_code.commands import graph

    gone = graph.remove(ws, name)
    if out.json:
        out.data(gone.json())
    else:
        out.line("Removed ", out.style(gone.name, "bold"), ": mait-code undo brings it back")


@command("relationships")
@argument("entity", nargs=-1, required=True)
@pass_workspace
def relationships(ws: Workspace, out: Output, entity: tuple[str, ...]) -> None:
    """Show how one of them relates to others.

    ENTITY is a name, in whatever case, or an id.
    """
    from mait_code.commands import graph

    thing, found = graph.relationships(ws, " ".join(entity))
    if out.json:
        out.data({**thing.json(), "relationships": [one.json() for one in found]})
        return
    out.line(out.style(thing.name, "bold"), f" ({thing.entity_type})")
    if not found:
        out.line("  no relations are known")
    for one in found:
        arrow = "→" if one.outward else "←"
        context = out.style(f"  {one.context}" if one.context else "", "dim")
        out.line(f"  {arrow} {one.relation:<14} {one.other.name} ({one.other.entity_type})", context)
