"""Memories as JSON lines, out and in; and making what helps to find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.cli.board_closing import close
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import Styled, counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("export")
@option("--out", "file", metavar="FILE", help="Write to a file instead of stdout.")
@pass_workspace
def export(ws: Workspace, out: Output, file: str | None) -> None:
    """Write everything that is remembered as JSON lines.

    Superseded and retired memories too, the graph, and what was recorded of sessions. `memory import` reads it.
    """
    from mait_code.commands import memory_export

    if file is None or file == "-":
        for line in memory_export.lines(ws):
            out.line(Styled(line))  # safe as it is: what acts on a terminal stands in it as a JSON escape
        return
    from mait_code.commands.board_export import write

    every = list(memory_export.lines(ws))
    path = write(file, "\n".join(every) + "\n")
    if out.json:
        out.data({"file": path, "lines": len(every)})
    else:
        out.line(f"Wrote {counted(len(every) - 1, 'thing')} to ", path)
    close(ws, out)


@command("import")
@argument("file", metavar="FILE|-")
@pass_workspace
def import_lines(ws: Workspace, out: Output, file: str) -> None:
    """Take in what `memory export` wrote.

    Ids, dates and states are kept. What is here already stays as it is, so a second time nothing happens. A dash reads
    stdin. All of it is taken in, or nothing.
    """
    import os
    import sys

    from mait_code.commands import memory_import

    if file == "-":
        content = sys.stdin.buffer.read()
    else:
        content = _read(os.path.expanduser(file))
    with out.progress("importing") as progress:
        done = memory_import.take_in(ws, content, progress.at)
    if out.json:
        out.data(done.json())
    else:
        new = sum(done.new.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in done.new.items())
        out.line(f"Imported {new}{f' ({kinds})' if kinds else ''}, {counted(done.known, 'was', 'were')} here already.")
    notes = []
    if done.deleted:
        notes.append(
            counted(
                done.deleted,
                "of these was deleted here, and stays deleted",
                "of these were deleted here, and stay deleted",
            )
        )
    if done.unknown:
        notes.append(
            f"{counted(done.unknown, 'line is of a kind', 'lines are of kinds')} that this version does not know;"
            f" update mait-code to take {'it' if done.unknown == 1 else 'them'} in"
        )
    if done.new:
        notes.append("mait-code memory reindex embeds them at once; search does it little by little")
    close(ws, out, notes)


def _read(path: str) -> bytes:
    from mait_code.journal.errors import NotFound

    hint = "name a file that mait-code memory export --out FILE wrote; a dash reads stdin"
    try:
        with open(path, "rb") as opened:
            return opened.read()
    except FileNotFoundError as error:
        raise NotFound(f"{path} is not there", hint) from error
    except IsADirectoryError as error:
        raise NotFound(f"{path} is a directory, not a file", hint) from error


def _all(texts: int) -> str:
    return "the only one has" if texts == 1 else f"all {texts} have"


@command("reindex")
@option("--prune", is_flag=True, help="Forget the vectors of what is gone, and of other models.")
@pass_workspace
def reindex(ws: Workspace, out: Output, prune: bool) -> None:
    """Embed everything that has no vectors yet.

    It can be interrupted, and goes on where it stopped.
    """
    from mait_code.commands import memory_reindex

    with out.progress("embedding") as progress:
        try:
            done = memory_reindex.reindex(ws, prune, progress.at)
        except KeyboardInterrupt:
            progress.clear()
            out.note(f"{counted(progress.done, 'text')} embedded; the next reindex goes on from there")
            raise
    if out.json:
        out.data(done.json())
    else:
        out.line(f"Embedded {counted(done.embedded, 'text')} with ", done.model, f"; {_all(done.texts)} vectors.")
        if prune:
            others = f" and those of {', '.join(done.others)}" if done.others else ""
            out.line(f"Forgot the vectors of {counted(done.pruned, 'text')}{others}.")
    close(ws, out, [done.note] if done.note else [])
