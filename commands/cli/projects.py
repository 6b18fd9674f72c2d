"""Projects from the command line: their other names, and memories that stand under such a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: What is counted of a project, one and several.
_CALLED = {"cards": ("card", "cards"), "memories": ("memory", "memories")}


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What `mait-code projects` prints: the same as its list."""
    _list(ws, out)


@command("list")
@pass_workspace
def list_projects(ws: Workspace, out: Output) -> None:
    """List projects, with their other names."""
    _list(ws, out)


def _list(ws: Workspace, out: Output) -> None:
    from mait_code.commands import projects

    found = projects.listing(ws)
    if out.json:
        out.data([one.json() for one in found])
        return
    if not found:
        out.line("Nothing stands under a project yet.")
    for one in found:
        also = f", also {', '.join(one.aliases)}" if one.aliases else ""
        counts = ", ".join(
            counted(count, *_CALLED.get(what, (what, what))) for what, count in one.counts.items() if count
        )
        here = "  (this directory)" if one.here else ""
        out.line(out.style(one.name, "bold"), also, out.style(f"  {counts}{here}", "dim"))


@command("alias")
@argument("old")
@argument("new")
@pass_workspace
def alias(ws: Workspace, out: Output, old: str, new: str) -> None:
    """Say that a project went by another name.

    What stands under OLD is found from NEW and the other way round. NEW may be the short name of a known project.
    """
    from mait_code.commands import projects

    old, new, notes = projects.alias(ws, old, new)
    if out.json:
        out.data({"alias": old, "name": new})
    else:
        out.line(old, " is another name of ", out.style(new, "bold"))
    for note in notes:
        out.note(note)


@command("unalias")
@argument("old")
@pass_workspace
def unalias(ws: Workspace, out: Output, old: str) -> None:
    """Take another name back."""
    from mait_code.commands import projects

    old, before = projects.unalias(ws, old)
    if out.json:
        out.data({"alias": old, "name": None})
    else:
        out.line(old, " is no other name of ", before, " any more")


@command("canonicalize-projects")
@option("--dry-run", is_flag=True, help="Show what would move; change nothing.")
@pass_workspace
def canonicalize(ws: Workspace, out: Output, dry_run: bool) -> None:
    """Move memories under old names of projects to the present ones.

    Old names are those of `mait-code projects alias`, and the short name of the one known project that has it.
    """
    from mait_code.commands import projects

    moves = projects.canonicalize(ws, dry_run)
    if out.json:
        out.data([one.json() for one in moves])
        return
    for one in moves:
        many = counted(one.count, "memory", "memories")
        out.line(f"{'would move' if dry_run else 'moved'} {many} from ", one.old, " to ", one.new)
    if not moves:
        out.line("Every memory stands under its project's present name.")


@command("restore")
@option("--dry-run", is_flag=True, help="Fold the journal and say what comes of it; leave memory.db as it is.")
@pass_workspace
def restore(ws: Workspace, out: Output, dry_run: bool) -> None:
    """Make memory.db again from the journal, and say what it holds.

    Nothing comes back that was deleted, and dates stay: the journal is the only truth. Vectors are kept elsewhere and are
    not made again.
    """
    from mait_code.commands import restoring

    with out.progress("folding the journal") as progress:
        events, held = restoring.restore(ws, dry_run, progress.at)
    if out.json:
        out.data({"events": events, "dry_run": dry_run, **held})
        return
    out.line(f"{'Would fold' if dry_run else 'Folded'} {counted(events, 'event')} into memory.db:")
    for name, count in held.items():
        if count:
            out.line(f"  {name:<14}{count}")
