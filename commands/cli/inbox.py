"""The inbox from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.board_closing import about_conflicts, close, local_time, unchanged
from mait_code.commands.cli.board_options import PRIORITY, text_or_stdin, words_or_stdin
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import IN_LIST, cut

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.inbox_queries import Item


def _json(ws: Workspace, item: Item) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": item.id,
        "short": item.short,
        "body": item.body,
        "project": item.project,
        "created_at": item.created_at,
        "conflicts": item.conflicts,
        "newer": item.newer,
    }
    if item.outcome:
        data |= {"outcome": item.outcome, "ref": item.ref, "done_at": item.done_at}
        if item.ref:
            from mait_code.commands.inbox import short_of_ref

            data["ref_short"] = short_of_ref(ws, item.ref)
    return data


def _changed(ws: Workspace, out: Output, item: Item, did: str, *more: str) -> None:
    if out.json:
        out.data(_json(ws, item))
    elif not unchanged(out, item.notes):
        out.line(did, " ", out.style(item.short, "bold"), ": ", cut(item.body, IN_LIST), *more)
    close(ws, out, item.notes)


@command("add")
@argument("body", nargs=-1, required=True)
@option("--project", metavar="NAME", help="The project it belongs to (this directory's by default; empty for none).")
@pass_workspace
def add(ws: Workspace, out: Output, body: tuple[str, ...], project: str | None) -> None:
    """Capture a thought.

    A single dash as the body reads stdin.
    """
    from mait_code.commands import inbox

    _changed(ws, out, inbox.add(ws, words_or_stdin(body), project), "Captured")


@command("list")
@option("--project", metavar="NAME", help="Only what was captured in this project.")
@option("--done", "finished", is_flag=True, help="What has been dealt with, and what became of it.")
@option("--deleted", is_flag=True, help="Deleted items, for inbox restore.")
@pass_workspace
def list_items(ws: Workspace, out: Output, project: str | None, finished: bool, deleted: bool) -> None:
    """List what is waiting, oldest first."""
    from mait_code.commands import inbox

    _print(ws, out, inbox.listing(ws, project=project, finished=finished, deleted=deleted), finished or deleted)


def _print(ws: Workspace, out: Output, items: list[Item], other: bool) -> None:
    if out.json:
        out.data([_json(ws, item) for item in items])
    elif items:
        _rows(ws, out, items)
    elif other:
        out.line("Nothing here.")
    else:
        out.line('The inbox is empty; mait-code inbox add "..." captures a thought.')
    close(ws, out, about_conflicts(items, "items"))


def _rows(ws: Workspace, out: Output, items: list[Item]) -> None:
    from mait_code.commands.project import short_names

    names = short_names({item.project for item in items if item.project})
    widest = max(len(item.short) for item in items)
    for item in items:
        short, captured = f"{item.short:<{widest}}  ", local_time(item.created_at)
        body = cut(item.body, IN_LIST)
        project = f" [{names[item.project]}]" if item.project else ""
        marks = f" -> {_became(ws, item)}" if item.outcome else ""
        if item.newer:
            marks += " (written by a newer version)"
        if item.conflicts:
            marks += f" !conflict: {', '.join(item.conflicts)}"
        if not out.colour:
            out.line(f"{short}{captured}  {body}{project}{marks}")
            continue
        out.line(
            out.style(short, "bold"),
            out.style(captured, "dim"),
            f"  {body}",
            out.style(project, "dim"),
            out.style(marks, "yellow" if item.conflicts or item.newer else "cyan"),
        )


def _became(ws: Workspace, item: Item) -> str:
    if not item.ref:
        return item.outcome
    from mait_code.commands.inbox import short_of_ref

    return f"{item.ref.partition('/')[0]} {short_of_ref(ws, item.ref)}"


@command("show")
@argument("item")
@pass_workspace
def show(ws: Workspace, out: Output, item: str) -> None:
    """Show one item whole."""
    from mait_code.commands import inbox

    found = inbox.show(ws, item)
    if out.json:
        out.data(_json(ws, found))
    else:
        out.block(found.body)
        became = f"{_became(ws, found)}, {local_time(found.done_at)}" if found.outcome else ""
        conflict = f"{', '.join(found.conflicts)} (mait-code conflicts shows both sides)" if found.conflicts else ""
        facts = [
            ("captured", local_time(found.created_at)),
            ("project", found.project or ""),
            ("became", became),
            ("conflict", conflict),
            ("id", f"{found.id} (short {found.short})"),
        ]
        for name, value in facts:
            if value:
                out.line(out.style(f"  {name:<10}", "dim"), value)
    close(ws, out, found.notes)


@command("count")
@pass_workspace
def count(ws: Workspace, out: Output) -> None:
    """Count what is waiting."""
    from mait_code.commands import inbox

    number = inbox.count(ws)
    if out.json:
        out.data({"count": number})
    else:
        out.line(str(number))
    close(ws, out)


@command("edit")
@argument("item")
@argument("body", nargs=-1, required=True)
@pass_workspace
def edit(ws: Workspace, out: Output, item: str, body: tuple[str, ...]) -> None:
    """Change the text of an item.

    A single dash as the text reads stdin.
    """
    from mait_code.commands import inbox

    _changed(ws, out, inbox.edit(ws, item, words_or_stdin(body)), "Edited")


@command("triage")
@argument("item")
@option("--to", required=True, type=click.Choice(["card", "reminder", "memory", "done"]), help="What it becomes.")
@option(
    "--title", metavar="TEXT", help="Title of the card, or what to be reminded of (the item's own text by default)."
)
@option("--description", metavar="TEXT", help="Description of the card (the whole text by default); - reads stdin.")
@option("--priority", type=PRIORITY, help="Priority of the card (medium by default).")
@option("--project", metavar="NAME", help="Project (the one it was captured in by default; empty for none).")
@option("--when", metavar="TIME", help='When to be reminded: "tomorrow 9am", "every monday 10:00".')
@option("--type", "type_", metavar="TYPE", help="Type of the memory (fact by default).")
@option("--importance", type=click.IntRange(1, 10), help="Importance of the memory.")
@option("--scope", type=click.Choice(["global", "project", "branch"]), help="Where the memory belongs (its project).")
@pass_workspace
def triage(
    ws: Workspace,
    out: Output,
    item: str,
    to: str,
    title: str | None,
    description: str | None,
    priority: str | None,
    project: str | None,
    when: str | None,
    type_: str | None,
    importance: int | None,
    scope: str | None,
) -> None:
    """Turn an item into a card, a reminder or a memory, or be done with it.

    It leaves the inbox in the same step, and the two name each other.
    """
    from mait_code.commands import inbox

    described = text_or_stdin(description)
    sorted_ = inbox.triage(
        ws, item, to, title=title, description=described, priority=priority, project=project, when=when, type_=type_,
        importance=importance, scope=scope,
    )  # fmt: skip
    _changed(ws, out, sorted_, "Triaged", f" -> {_became(ws, sorted_)}")


@command("done")
@argument("item")
@pass_workspace
def done(ws: Workspace, out: Output, item: str) -> None:
    """Mark an item as dealt with."""
    from mait_code.commands import inbox

    _changed(ws, out, inbox.done(ws, item), "Done")


@command("remove")
@argument("item")
@pass_workspace
def remove(ws: Workspace, out: Output, item: str) -> None:
    """Delete an item.

    It keeps its history, and `inbox restore` brings it back.
    """
    from mait_code.commands import inbox

    _changed(ws, out, inbox.remove(ws, item), "Removed")


@command("restore")
@argument("item")
@pass_workspace
def restore(ws: Workspace, out: Output, item: str) -> None:
    """Bring an item back.

    A deleted one returns as it was; one that was dealt with waits again. `inbox list --deleted` and `inbox list --done`
    show what there is.
    """
    from mait_code.commands import inbox

    _changed(ws, out, inbox.restore(ws, item), "Restored")


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """The inbox as text: what is waiting, oldest first."""
    from mait_code.commands import inbox

    _print(ws, out, inbox.listing(ws), other=False)
