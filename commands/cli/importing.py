"""Bringing in what other tools hold, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.importing.records import Importer
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: So many changed rows are told of one by one.
_TOLD = 100


def dry(function: Any) -> Any:
    """The option that only counts."""
    return option("--dry-run", is_flag=True, help="Count what would be brought in, and write nothing.")(function)


@command("mait-code")
@argument("directory", metavar="DIR")
@dry
@pass_workspace
def mait_code(ws: Workspace, out: Output, directory: str, dry_run: bool) -> int:
    """Bring in a data directory of mait-code as it was before: memories, board, inbox, reminders.

    Entities, relations, observations and project aliases come with them. The directory is read and never written.
    Importing again brings only what is new; so does another machine with a copy of the same directory. What cannot be
    read is named and left out, and the exit code is then 1.
    """
    from mait_code.commands.importing import mait_code_data

    return _run(ws, out, "mait-code", dry_run, lambda importer: mait_code_data.bring(importer, directory))


@command("claude-mem")
@argument("database", metavar="DB")
@dry
@pass_workspace
def claude_mem(ws: Workspace, out: Output, database: str, dry_run: bool) -> int:
    """Bring in a database of claude-mem: sessions, prompts, observations, summaries.

    The file is read and never written. Importing again brings only what is new; so does another machine with a copy of
    the same database. What cannot be read is named and left out, and the exit code is then 1.
    """
    from mait_code.commands.importing import claude_mem as reader

    return _run(ws, out, "claude-mem", dry_run, lambda importer: reader.bring(importer, database))


@command("claude-native")
@argument("directory", metavar="[DIR]", required=False)
@dry
@pass_workspace
def claude_native(ws: Workspace, out: Output, directory: str | None, dry_run: bool) -> int:
    """Bring in the memory files that Claude Code keeps itself.

    DIR is the client's directory (~/.claude by default), one project's directory in it, or a directory of memory files.
    Importing again brings only what is new; a file that changed since takes the place of what it said before.
    """
    from mait_code.commands.importing import claude_native as reader

    return _run(ws, out, "claude-native", dry_run, lambda importer: reader.bring(importer, directory))


def _run(ws: Workspace, out: Output, name: str, dry_run: bool, bring: Callable[[Importer], None]) -> int:
    from mait_code.commands.importing.records import Importer

    with out.progress("rows read" if dry_run else "rows brought in") as progress:
        importer = Importer(ws, name, dry_run, progress.step)
        bring(importer)
    _tell_changes(out, importer)
    for lost in importer.lost:
        out.note(f"left out: {lost}") if lost.meant else out.warn(f"left out: {lost}")
    _tell_counts(out, importer)
    return 0 if all(lost.meant for lost in importer.lost) else 1


def _tell_changes(out: Output, importer: Importer) -> None:
    for note in importer.notes[:_TOLD]:
        out.note(note)
    if len(importer.notes) > _TOLD:
        out.note(f"and {counted(len(importer.notes) - _TOLD, 'more such change')}")


def _tell_counts(out: Output, importer: Importer) -> None:
    if out.json:
        out.data(
            {
                "dry_run": importer.dry_run,
                "counts": {what: count.json() for what, count in importer.counts.items()},
                "lost": [lost.json() for lost in importer.lost],
            }
        )
        return
    if not importer.counts:
        out.line("There is nothing to bring in.")
        return
    would = "would be new" if importer.dry_run else "new"
    width = max(map(len, importer.counts))
    for what, count in importer.counts.items():
        parts = [f"{count.new} {would}"]
        parts += [f"{count.changed} changed"] if count.changed else []
        parts += [f"{count.known} known already"] if count.known else []
        out.line(f"{what:<{width}}  ", ", ".join(parts))
