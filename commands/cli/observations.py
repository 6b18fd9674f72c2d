"""Observations from the command line: the days, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.board_closing import local_time
from mait_code.commands.cli.frame import command, option, pass_workspace
from mait_code.commands.output import IN_LIST, counted, cut

if TYPE_CHECKING:
    from mait_code.commands.observed_days import Day
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Days, and sessions of each of them, that are told.
LIMIT, _EACH = 14, 5
_SIGNS = {"pending": ("● ", "yellow"), "reflected": ("✓ ", "green"), "": ("· ", "dim")}


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What bare `mait-code observations` prints: the latest days with their sessions."""
    _list(ws, out, None, False, LIMIT)


@command("list")
@option("--project", metavar="NAME", help="Those of this project instead of this directory's; empty for those of none.")
@option("--all", "every", is_flag=True, help="Those of every project.")
@option("--limit", "-n", type=click.IntRange(1), default=LIMIT, show_default=True, help="How many days at most.")
@pass_workspace
def list_days(ws: Workspace, out: Output, project: str | None, every: bool, limit: int) -> None:
    """List days with their sessions, the latest first."""
    _list(ws, out, project, every, limit)


def _list(ws: Workspace, out: Output, project: str | None, every: bool, limit: int) -> None:
    from mait_code.commands import observed_days, sessions

    found = observed_days.days(ws, sessions.projects(ws, project, every))
    shown = found[:limit]
    for day in shown:
        observed_days.complete(ws.reading("memory"), day.sessions)
    if out.json:
        out.data([day.json() for day in shown])
    elif not found:
        out.line("No session is recorded here yet; mait-code observations list --all shows those of other projects.")
    else:
        for day in shown:
            _day(out, day)
        if len(found) > len(shown):
            out.note(f"{counted(len(found) - len(shown), 'earlier day')}: mait-code observations list -n {len(found)}")


def _day(out: Output, day: Day) -> None:
    sign, style = _SIGNS[day.state]
    pending = f", {day.count('pending')} pending" if day.count("pending") else ""
    about = f"{counted(len(day.sessions), 'session')}, {counted(day.count('observations'), 'observation')}{pending}"
    out.line(out.style(sign, style), out.style(day.date, "bold"), f"  {about}")
    for one in day.sessions[:_EACH]:
        sign, style = _SIGNS[one.state]
        title = cut(" ".join(one.title.split()), IN_LIST)
        out.line(
            "  ", out.style(sign, style), out.style(one.short, "bold"), f"  {local_time(one.at)[11:16]}",
            f"  {counted(one.observations, 'observation')}", f": {title}" if title else "",
        )  # fmt: skip
    if len(day.sessions) > _EACH:
        out.line(f"  and {counted(len(day.sessions) - _EACH, 'more session')}")
