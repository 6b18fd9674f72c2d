"""Memories that say nearly the same, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.board_closing import close
from mait_code.commands.cli.frame import command, option, pass_workspace
from mait_code.commands.cli.memory import for_place, row
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.memory_duplicates import Duplicates, Pair
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("duplicates")
@option("--limit", "-n", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many pairs at most.")
@option("--type", "type_", metavar="TYPE", default="", help="Only this type.")
@for_place
@pass_workspace
def duplicates(
    ws: Workspace, out: Output, limit: int, type_: str, scope: str | None, project: str | None, branch: str | None
) -> None:
    """List pairs of memories that say nearly the same, closest first.

    Each with the commands that settle it; nothing is changed. Memories of one type and place are compared, by meaning as
    far as they have vectors, and by words.
    """
    from mait_code.commands import memory_duplicates, memory_search

    meanings = memory_search.Meanings(ws)
    try:
        with out.progress("comparing") as progress:
            found = memory_duplicates.duplicates(
                ws, meanings, limit=limit, type_=type_, scope=scope or "", project=project, branch=branch, step=progress.at
            )  # fmt: skip
    finally:
        meanings.close()
    if out.json:
        out.data(found.json())
    elif not found.pairs:
        out.line(f"No two of {counted(found.compared, 'memory', 'memories')} are close.")
    else:
        for number, pair in enumerate(found.pairs):
            if number:
                out.line()
            _pair(out, pair)
    close(ws, out, _notes(found))


def _pair(out: Output, pair: Pair) -> None:
    meaning = "no vector" if pair.cosine is None else f"meaning {_percent(pair.cosine)}"
    out.line(out.style(pair.verdict, "bold", "yellow"), out.style(f" ({meaning}, words {_percent(pair.words)})", "dim"))
    for memory in (pair.older, pair.newer):
        row(out, memory)
    for line in pair.commands:
        out.line("  ", line)


def _percent(share: float) -> str:
    return f"{min(99, round(max(0.0, share) * 100))} %"  # two that are here are never quite the same


def _notes(found: Duplicates) -> list[str]:
    notes = []
    if found.more:
        notes.append(
            f"at least {counted(found.more, 'more pair is', 'more pairs are')} close: --limit shows more of them, a higher"
            " dedup-conflict-threshold leaves out those that are less so"
        )
    if found.model is None:
        notes.append(f"compared by words alone: {found.reason}")
    elif found.without_vectors:
        notes.append(
            f"{counted(found.without_vectors, 'memory has', 'memories have')} no vector yet and"
            f" {'was' if found.without_vectors == 1 else 'were'} compared by words alone: mait-code memory reindex makes"
            f" {'it' if found.without_vectors == 1 else 'them'}"
        )
        if found.reason:
            notes.append(found.reason)
    return notes
