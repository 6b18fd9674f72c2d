"""Changing memories from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.board_closing import close
from mait_code.commands.cli.board_options import words_or_stdin
from mait_code.commands.cli.frame import Command, argument, command, option, pass_workspace
from mait_code.commands.cli.memory import marks

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory

IMPORTANCE = click.IntRange(1, 10)


def changed(ws: Workspace, out: Output, memory: Memory, did: str, **more: Any) -> None:
    """What a command that changes a memory prints: the memory as JSON, else one line. Notes go to stderr."""
    if out.json:
        out.data({**memory.json(), **more})
    else:
        out.line(did, " ", out.style(memory.short, "bold"), ": ", memory.first_line, out.style(marks(memory), "yellow"))
    close(ws, out, memory.notes)


@command("edit")
@argument("memory")
@argument("content", nargs=-1)
@option("--type", "type_", metavar="TYPE", help="Another type.")
@option("--importance", type=IMPORTANCE, help="From 1 to 10.")
@option("--scope", type=click.Choice(["global", "project", "branch"]), help="Where it belongs.")
@option("--project", metavar="NAME", help="The project it belongs to; empty for none.")
@option("--branch", metavar="NAME", help="The branch it belongs to; empty for none.")
@option("--tag", "tags", metavar="TAG", multiple=True, help="Add a tag; repeatable.")
@option("--untag", metavar="TAG", multiple=True, help="Take a tag off; repeatable.")
@pass_workspace
def edit(
    ws: Workspace,
    out: Output,
    memory: str,
    content: tuple[str, ...],
    type_: str | None,
    importance: int | None,
    scope: str | None,
    project: str | None,
    branch: str | None,
    tags: tuple[str, ...],
    untag: tuple[str, ...],
) -> None:
    """Correct a memory.

    For what has changed since, `supersede` keeps the old one. A single dash as the text reads stdin.
    """
    from mait_code.commands import memory_edits, memory_seen

    after = memory_edits.edit(
        ws, memory, content=words_or_stdin(content) if content else None, type_=type_, importance=importance, scope=scope,
        project=None if project is None else memory_seen.known_as(ws, project) or "", branch=branch, tags=tags, untag=untag,
    )  # fmt: skip
    changed(ws, out, after, "Edited")


@command("supersede")
@argument("memory")
@argument("content", nargs=-1, required=True)
@option("--importance", type=IMPORTANCE, help="From 1 to 10 (that of the old one by default).")
@pass_workspace
def supersede(ws: Workspace, out: Output, memory: str, content: tuple[str, ...], importance: int | None) -> None:
    """Put a new memory in the place of an old one.

    The old one is kept, and no longer found. A single dash as the text reads stdin.
    """
    from mait_code.commands import memory_edits

    after = memory_edits.supersede(ws, memory, words_or_stdin(content), importance)
    changed(ws, out, after, f"Superseded {memory} by")


class Merging(Command):
    """A command whose `--into` takes all the words that follow it, up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--into" in args:
            start = args.index("--into") + 1
            end = start
            while end < len(args) and (not args[end].startswith("-") or args[end] == "-"):
                end += 1
            if end > start:
                args = [*args[: start - 1], f"--into={' '.join(args[start:end])}", *args[end:]]
        return super().parse_args(ctx, args)


@click.command("merge", cls=Merging)
@argument("memories", nargs=-1, required=True)
@option("--into", metavar="TEXT...", required=True, help="What the one memory says; - reads stdin.")
@option("--importance", type=IMPORTANCE, help="From 1 to 10 (that of the most important one by default).")
@pass_workspace
def merge(ws: Workspace, out: Output, memories: tuple[str, ...], into: str, importance: int | None) -> None:
    """Make one memory of several.

    It belongs where the first belongs. Ids that name nothing living are passed over, and told.
    """
    from mait_code.commands import memory_edits

    done = memory_edits.merge(ws, memories, words_or_stdin((into,)), importance)
    for _text, reason in done.skipped:
        out.note(f"passed over: {reason}")
    taken = ", ".join(one.short for one in done.sources)
    changed(
        ws, out, done.memory, f"Merged {taken} into",
        merged=[one.id for one in done.sources],
        skipped=[{"id": text, "reason": reason} for text, reason in done.skipped],
    )  # fmt: skip


@command("retire")
@argument("memory")
@pass_workspace
def retire(ws: Workspace, out: Output, memory: str) -> None:
    """Put a memory away that is true no longer.

    It is kept, and no longer found; `restore-entry` makes it count again.
    """
    from mait_code.commands import memory_edits

    changed(ws, out, memory_edits.retire(ws, memory), "Retired")


@command("delete")
@argument("memory")
@pass_workspace
def delete(ws: Workspace, out: Output, memory: str) -> None:
    """Delete a memory.

    `restore-entry` brings it back. What it had superseded counts again.
    """
    from mait_code.commands import memory_edits

    changed(ws, out, memory_edits.delete(ws, memory), "Deleted")


@command("restore-entry")
@argument("memory")
@pass_workspace
def restore_entry(ws: Workspace, out: Output, memory: str) -> None:
    """Bring a deleted, retired or superseded memory back.

    `memory list --deleted` and `memory list --include-superseded` show what there is.
    """
    from mait_code.commands import memory_edits

    changed(ws, out, memory_edits.restore_entry(ws, memory), "Restored")


@command("pin")
@argument("memory")
@pass_workspace
def pin(ws: Workspace, out: Output, memory: str) -> None:
    """Pin a memory.

    MEMORY.md, which Claude Code reads at the start, holds what is pinned.
    """
    from mait_code.commands import memory_edits

    changed(ws, out, memory_edits.pin(ws, memory), "Pinned")


@command("unpin")
@argument("memory")
@pass_workspace
def unpin(ws: Workspace, out: Output, memory: str) -> None:
    """Unpin a memory.

    It is found as before.
    """
    from mait_code.commands import memory_edits

    changed(ws, out, memory_edits.unpin(ws, memory), "Unpinned")


@command("reviewed")
@argument("memory")
@pass_workspace
def reviewed(ws: Workspace, out: Output, memory: str) -> None:
    """Say that a memory is still true."""
    from mait_code.commands import memory_review

    changed(ws, out, memory_review.reviewed(ws, memory), "Reviewed")
