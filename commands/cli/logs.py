"""What ran on this machine, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import command, option, pass_output

if TYPE_CHECKING:
    from mait_code.commands.invocation_log import Record
    from mait_code.commands.output import Output

#: Commands that are told.
LIMIT = 50
_STYLES = {"ERROR": "red", "WARNING": "yellow"}


@pass_output
def overview(out: Output) -> None:
    """What bare `mait-code logs` prints: the last commands that ran."""
    _list(out, LIMIT)


@command("list")
@option("--limit", "-n", type=click.IntRange(1, 1_000_000), default=LIMIT, show_default=True, help="How many lines.")
@option("--words", default="", metavar="WORDS", help="Those with all these words.")
@option("--level", type=click.Choice(("INFO", "WARNING", "ERROR"), case_sensitive=False), help="From this level on.")
@option("--command", "name", metavar="NAME", help='Those of this command, as "board add".')
@option("--day", metavar="DATE", default="", help="Those of this day, as 2026-03-02.")
@pass_output
def list_logs(out: Output, limit: int, words: str, level: str | None, name: str | None, day: str) -> None:
    """List what ran here last, how long it took and how it ended.

    The newest come last. Of a traceback its file is named, beside the log.
    """
    _list(out, limit, words, level or "", name, day)


def _list(out: Output, limit: int, words: str = "", level: str = "", name: str | None = None, day: str = "") -> None:
    from mait_code.commands import invocation_log

    every = invocation_log.Reader().read()
    shown = invocation_log.matching(every, words, level, name, day)[:limit][::-1]
    if out.json:
        out.data([one.json() for one in shown])
        return
    for one in shown:
        _line(out, one)
    if not shown:
        out.note("no line of the log is like that" if every else "nothing was logged here yet")


def _line(out: Output, one: Record) -> None:
    from mait_code.commands.invocation_log import took
    from mait_code.commands.times import local

    when = local(one.ts, seconds=True) if one.ts else "no time"
    if one.raw:
        out.line(f"{when}  ", out.style("cannot be read", "yellow"), f"  {one.raw[:200]}")
        return
    ended = f"{one.outcome or 'no outcome'}" + (f" ({one.error})" if one.error else "")
    style = _STYLES.get(one.level, "dim")
    parts = [one.command or "mait-code", took(one), one.traceback]
    out.line(f"{when}  ", out.style(ended, style), "  ", "  ".join(filter(None, parts)))
