"""Writing on cards from the command line: fields, tags, blocks, comments, references."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli import board_view
from mait_code.commands.cli.board_closing import close
from mait_code.commands.cli.board_options import PRIORITY, for_project, text_or_stdin, words_or_stdin
from mait_code.commands.cli.frame import argument, command, option, pass_workspace

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("edit")
@argument("card")
@option("--title", metavar="TEXT", help="Its title.")
@option("--description", metavar="TEXT", help="What it is about; - reads stdin, empty clears it.")
@option("--acceptance", metavar="TEXT", help="When it counts as done; - reads stdin, empty clears it.")
@option("--priority", type=PRIORITY, help="How urgent.")
@for_project("Give it to this project; empty for none.")
@pass_workspace
def edit(
    ws: Workspace,
    out: Output,
    card: str,
    title: str | None,
    description: str | None,
    acceptance: str | None,
    priority: str | None,
    project: str | None,
) -> None:
    """Change the fields of a card."""
    from mait_code.commands import board_edits

    edited = board_edits.edit(
        ws,
        card,
        title=title,
        description=text_or_stdin(description),
        acceptance=text_or_stdin(acceptance),
        priority=priority,
        project=project,
    )
    board_view.changed(ws, out, edited, "Edited")


@command("tag")
@argument("card")
@argument("tag")
@for_project()
@pass_workspace
def tag(ws: Workspace, out: Output, card: str, tag: str, project: str | None) -> None:
    """Tag a card."""
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.tag(ws, card, tag, project), "Tagged")


@command("untag")
@argument("card")
@argument("tag")
@for_project()
@pass_workspace
def untag(ws: Workspace, out: Output, card: str, tag: str, project: str | None) -> None:
    """Take a tag off a card."""
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.untag(ws, card, tag, project), "Untagged")


@command("block")
@argument("card")
@argument("reason", nargs=-1)
@for_project()
@pass_workspace
def block(ws: Workspace, out: Output, card: str, reason: tuple[str, ...], project: str | None) -> None:
    """Mark a card as blocked.

    `board next` passes over it. A reason becomes a comment.
    """
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.block(ws, card, words_or_stdin(reason), project), "Blocked")


@command("unblock")
@argument("card")
@for_project()
@pass_workspace
def unblock(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Take the blocked mark off a card."""
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.unblock(ws, card, project), "Unblocked")


@command("comment")
@argument("card")
@argument("body", nargs=-1, required=True)
@option("--author", type=click.Choice(["me", "claude"]), help="Whose comment it is (of whoever is acting by default).")
@for_project()
@pass_workspace
def comment(
    ws: Workspace, out: Output, card: str, body: tuple[str, ...], author: str | None, project: str | None
) -> None:
    """Comment on a card.

    A single dash as the body reads stdin.
    """
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.comment(ws, card, words_or_stdin(body), author, project), "Commented on")


@command("add")
@argument("card")
@argument("label")
@argument("value", nargs=-1, required=True)
@for_project()
@pass_workspace
def ref_add(ws: Workspace, out: Output, card: str, label: str, value: tuple[str, ...], project: str | None) -> None:
    """Add a reference to a card."""
    from mait_code.commands import board_edits

    board_view.changed(ws, out, board_edits.add_reference(ws, card, label, " ".join(value), project), "Referenced")


@command("remove")
@argument("card")
@argument("position", type=click.IntRange(1))
@for_project()
@pass_workspace
def ref_remove(ws: Workspace, out: Output, card: str, position: int, project: str | None) -> None:
    """Remove a reference by its position."""
    from mait_code.commands import board_edits

    changed = board_edits.remove_reference(ws, card, position, project)
    board_view.changed(ws, out, changed, "Removed the reference from")


@command("list")
@argument("card")
@for_project()
@pass_workspace
def ref_list(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """List the references of a card."""
    from mait_code.commands import board

    found = board.show(ws, card, project)
    if out.json:
        out.data(board_view.card_json(ws, found)["references"])
    elif found.references:
        for place, (_id, label, value) in enumerate(found.references, 1):
            out.line(f"{place}  {label}: {value}")
    else:
        out.line(f"{found.short} has no references; mait-code board ref add {found.short} LABEL VALUE adds one.")
    close(ws, out)
