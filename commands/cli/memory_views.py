"""Looking at memories from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.board_closing import about_conflicts, close, local_time
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.cli.memory import beginning, for_place, marks, row
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.memory_views import Record
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory
    from mait_code.projections.search import Finding

EMPTY = 'Nothing is remembered here yet; mait-code memory store "..." stores a memory.'


@command("list")
@option("--limit", "-n", type=click.IntRange(1), default=10, show_default=True, help="How many at most.")
@option("--type", "type_", metavar="TYPE", default="", help="Only this type.")
@option("--since", metavar="WHEN", help="Only what is not older: 24h, 7d, 1w, or a date.")
@option("--until", metavar="WHEN", help="Only what is older.")
@option("--tag", metavar="TAG", default="", help="Only what has this tag.")
@option("--pinned", is_flag=True, help="Only what is pinned.")
@option("--include-superseded", is_flag=True, help="Superseded and retired ones too.")
@option("--deleted", is_flag=True, help="Deleted ones, for memory restore-entry.")
@for_place
@pass_workspace
def list_memories(
    ws: Workspace,
    out: Output,
    limit: int,
    type_: str,
    since: str | None,
    until: str | None,
    tag: str,
    pinned: bool,
    include_superseded: bool,
    deleted: bool,
    scope: str | None,
    project: str | None,
    branch: str | None,
) -> None:
    """List memories, newest first."""
    from mait_code.commands import memory_times, memory_views

    if deleted:
        found = memory_views.deleted(ws, limit)
    else:
        found = memory_views.listing(
            ws, limit=limit, type_=type_, since=memory_times.since(since), until=memory_times.since(until), tag=tag,
            superseded=include_superseded, pinned=pinned, scope=scope or "", project=project, branch=branch,
        )  # fmt: skip
    narrowed = any((type_, since, until, tag, pinned, deleted, scope, project, branch))
    if out.json:
        out.data([one.json() for one in found])
    elif not found:
        out.line("Nothing here." if narrowed else EMPTY)
    else:
        for one in found:
            row(out, one)
    _end(ws, out, found)


def _end(ws: Workspace, out: Output, found: list[Memory]) -> None:
    close(ws, out, about_conflicts(found, "memories"))


@command("show")
@argument("ids", nargs=-1, required=True, metavar="ID...")
@pass_workspace
def show(ws: Workspace, out: Output, ids: tuple[str, ...]) -> None:
    """Show memories whole, or observations, summaries, prompts and turns."""
    from mait_code.commands import memory_views
    from mait_code.projections.memory_queries import Memory

    found = [memory_views.whole(ws, one) for one in dict.fromkeys(ids)]
    if out.json:
        data = [{"kind": "memory", **one.json()} if isinstance(one, Memory) else one.json() for one in found]
        out.data(data[0] if len(ids) == 1 else data)
    else:
        for place, one in enumerate(found):
            if place:
                out.line()
            _memory(ws, out, one) if isinstance(one, Memory) else _record(out, one)
    close(ws, out)


def _memory(ws: Workspace, out: Output, one: Memory) -> None:
    from mait_code.commands import memory_facts

    out.block(one.content)
    _facts(out, memory_facts.facts(ws, one))


def _record(out: Output, one: Record) -> None:
    out.block(one.entry.text)
    facts = [("kind", f"{one.entry.kind}{f' ({one.entry.type})' if one.entry.type else ''}")]
    facts.append(("recorded", local_time(one.entry.created_at)))
    told = {
        "created_at",
        "newer",
        "type",
        "prompt_text",
        "request",
        "answer",
        "title",
        "subtitle",
        "narrative",
        "facts",
    }
    for name, value in one.columns.items():
        if name not in told and value not in (None, [], {}):
            facts.append(
                (name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            )
    facts.append(("id", f"{one.entry.id} (short {one.short})"))
    _facts(out, facts)


def _facts(out: Output, facts: list[tuple[str, str]]) -> None:
    for name, value in facts:
        if value:
            out.line(out.style(f"  {name:<12}", "dim"), value)


@command("timeline")
@argument("id", required=False, metavar="[ID]")
@option("--query", metavar="QUESTION", help="Around what fits this question best, instead of an id.")
@option("--before", type=click.IntRange(0, 1000), default=10, show_default=True, help="How many before it.")
@option("--after", type=click.IntRange(0, 1000), default=10, show_default=True, help="How many after it.")
@option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind of thing around it; repeatable.")
@for_place
@pass_workspace
def timeline(
    ws: Workspace,
    out: Output,
    id: str | None,  # noqa: A002
    query: str | None,
    before: int,
    after: int,
    kinds: tuple[str, ...],
    scope: str | None,
    project: str | None,
    branch: str | None,
) -> None:
    """Show what came before and after something, in the order of time."""
    from mait_code.commands import memory_views
    from mait_code.journal.errors import BadInput

    if (id is None) == (query is None):
        raise BadInput("name one thing: an id, or --query with a question", "mait-code memory list shows ids")
    if query is not None and not query.strip():
        raise BadInput("the question is empty", "write it after --query")
    place: dict[str, Any] = {"scope": scope or "", "project": project, "branch": branch}
    anchor = id if id is not None else memory_views.best(ws, query or "", **place)
    _print_timeline(ws, out, memory_views.around(ws, anchor, before=before, after=after, kinds=kinds, **place))
    close(ws, out)


def _print_timeline(ws: Workspace, out: Output, found: Any) -> None:
    from mait_code.projections import ids

    shorts = ids.Shorts(ws.reading("memory"))
    sides = [(one, False) for one in found.before], [(found.anchor, True)], [(one, False) for one in found.after]
    every: list[tuple[Finding | Memory, bool]] = [pair for side in sides for pair in side]
    if out.json:
        out.data([{**_timed(one, shorts.of), "anchor": anchor} for one, anchor in every])
        return
    for one, anchor in every:
        _timeline_row(out, one, anchor, shorts.of)


def _timed(one: Finding | Memory, short: Callable[[str], str]) -> dict[str, Any]:
    from mait_code.commands.memory_search import hit
    from mait_code.projections.memory_queries import Memory

    if isinstance(one, Memory):
        return {"kind": "memory", **one.json()}
    data = hit(one, short(one.entity))
    del data["score"]
    return data


def _timeline_row(out: Output, one: Finding | Memory, anchor: bool, short: Callable[[str], str]) -> None:
    from mait_code.projections.memory_queries import Memory

    if isinstance(one, Memory):
        what, text = f"{one.entry_type}, {one.state}" if one.state else one.entry_type, one.content
    else:
        what = (one.type or "") if one.kind == "memory" else f"{one.kind}{f' ({one.type})' if one.type else ''}"
        text = one.title or one.text
    out.line(
        out.style("> " if anchor else "  ", "yellow"),
        out.style(f"{short(one.entity):<6}", "bold"),
        out.style(f" {local_time(one.created_at)[:16]}  {what:<12} ", "dim"),
        beginning(text, 100),
    )


@command("review")
@option("--limit", "-n", type=click.IntRange(1), default=10, show_default=True, help="How many at most.")
@for_place
@pass_workspace
def review(ws: Workspace, out: Output, limit: int, scope: str | None, project: str | None, branch: str | None) -> None:
    """List memories that are due for review, most decayed first.

    For each: `reviewed` if it is still true, `supersede` if it has changed, `retire` if it is true no longer.
    """
    _due(ws, out, limit, scope or "", project, branch)


@command("list")
@option("--limit", "-n", type=click.IntRange(1), default=10, show_default=True, help="How many at most.")
@for_place
@pass_workspace
def list_due(
    ws: Workspace, out: Output, limit: int, scope: str | None, project: str | None, branch: str | None
) -> None:
    """List memories that are due for review, most decayed first."""
    _due(ws, out, limit, scope or "", project, branch)


@pass_workspace
def due_overview(ws: Workspace, out: Output) -> None:
    """What bare `mait-code review` prints: the same list."""
    _due(ws, out)


def _due(
    ws: Workspace,
    out: Output,
    limit: int = 10,
    scope: str = "",
    project: str | None = None,
    branch: str | None = None,
) -> None:
    from mait_code.commands import memory_review

    found, count = memory_review.due(ws, limit, scope, project, branch)
    if out.json:
        out.data({"due": [one.json() for one in found]})
    elif not found:
        out.line("Nothing is due for review.")
    else:
        for one in found:
            out.line(
                out.style(f"{one.memory.short:<6}", "bold"),
                out.style(f" {round(one.recall * 100):>3} %  {one.memory.entry_type:<12} ", "dim"),
                one.memory.first_line,
            )
        if count > len(found):
            more = counted(count - len(found), "more is", "more are")
            out.note(f"{more} due: mait-code memory review --limit {count} lists them all")
    close(ws, out)


@command("stats")
@pass_workspace
def stats(ws: Workspace, out: Output) -> None:
    """Count memories by type, class, scope and project, and what has vectors."""
    from mait_code.commands import memory_views

    found = memory_views.stats(ws)
    out.data(found) if out.json else _print_stats(out, found)
    lost = len(found["lost"])
    have = counted(lost, "superseded memory has", "superseded memories have")
    note = f"{have} no successor any more: {_few(found['lost'])}; restore-entry brings {'it' if lost == 1 else 'them'} back"
    close(ws, out, [note] if lost else [])


def _few(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (" ..." if len(names) > most else "")


def _print_stats(out: Output, found: dict[str, Any]) -> None:
    out.line(
        f"{counted(found['live'], 'memory', 'memories')}; {found['superseded']} superseded, {found['retired']} retired,"
        f" {found['deleted']} deleted; {found['pinned']} pinned"
    )
    for title, key in (("type", "by_type"), ("class", "by_class"), ("scope", "by_scope"), ("project", "by_project")):
        if found[key]:
            out.line(out.style(f"by {title}", "bold"))
            for name, count in found[key].items():
                out.line(f"  {count:>6}  ", name or "(none)")
    others = {kind: count for kind, count in found["entries"].items() if kind != "memory"}
    if others:
        out.line(out.style("also found by search", "bold"))
        for name, count in others.items():
            out.line(f"  {count:>6}  ", name)
    vectors = found["embeddings"]
    out.line(out.style("vectors", "bold"))
    out.line(
        f"  {vectors['embedded']} of {counted(vectors['texts'], 'text')}", "" if vectors["available"] else " (no model)"
    )
    if vectors["available"]:
        out.line(f"  {vectors['provider']}, ", str(vectors["model"]), f", {vectors['dim']} numbers each")
    if vectors["reason"]:
        out.line("  ", vectors["reason"])
    out.line(out.style("reflection", "bold"))
    last = local_time(found["last_reflection"]) or "never"
    out.line(f"  {counted(found['unreflected'], 'memory waits', 'memories wait')} for it; last: {last}")


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """Memories as text: of each type the newest five that are seen from here."""
    from mait_code.commands import memory_views

    found = memory_views.by_type(ws)
    if out.json:
        out.data([one.json() for _name, _count, memories in found for one in memories])
    elif not found:
        out.line(EMPTY)
    else:
        for name, count, memories in found:
            out.line(out.style(f"{name} ({count})", "bold"))
            for one in memories:
                out.line(
                    "  ",
                    out.style(f"{one.short:<6}", "bold"),
                    " ",
                    beginning(one.first_line, 100),
                    out.style(marks(one), "yellow"),
                )
    _end(ws, out, [one for _name, _count, memories in found for one in memories])
