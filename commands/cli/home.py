"""Home from the command line: the text summary of everything."""

from __future__ import annotations

from mait_code.commands.cli.frame import command, pass_workspace
from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.home import Summary
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Overdue reminders named one by one; `reminders list` has the rest.
_NAMED = 5


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What bare `mait-code` prints where it opens no screen."""
    _tell(ws, out)


@command("show")
@pass_workspace
def show(ws: Workspace, out: Output) -> None:
    """Tell how things stand: board, reminders, inbox, memory, conflicts."""
    _tell(ws, out)


def _tell(ws: Workspace, out: Output) -> None:
    from datetime import UTC, datetime

    from mait_code.commands import home

    now = datetime.now(UTC)
    found = home.summary(ws, now)
    if out.json:
        out.data(found.json())
        return
    _line(out, "Board", _board(found))
    _line(out, "Reminders", _reminders(found))
    for one in found.overdue[:_NAMED]:
        heading = one.what.partition("\n")[0]
        out.line(" " * 11, out.style(one.short, "yellow"), f"  {one.shown(now)}  {heading}")
    if len(found.overdue) > _NAMED:
        out.line(" " * 11, f"and {len(found.overdue) - _NAMED} more: mait-code reminders list")
    waiting = f"{found.waiting} waiting: mait-code inbox list"
    _line(out, "Inbox", waiting if found.waiting else 'empty: mait-code inbox add "..." captures a thought')
    _line(out, "Memory", _memory(found))
    if found.conflicts:
        _line(out, "Conflicts", f"{found.conflicts} open: mait-code conflicts shows both sides")


def _line(out: Output, name: str, text: str) -> None:
    out.line(out.style(f"{name:<11}", "bold"), text)


def _memory(found: Summary) -> str:
    if not found.memories:
        return 'nothing yet: mait-code memory store "..." keeps something'
    due = f", {found.review} to look at: mait-code memory review" if found.review else ""
    return f"{counted(found.memories, 'memory', 'memories')} seen from here{due}"


def _board(found: Summary) -> str:
    where = f"  [{found.project}]" if found.project else ""
    others = f", {found.elsewhere} in other projects" if found.elsewhere else ""
    if not any(found.columns.values()):
        return f'no open cards{where}{others}: mait-code board add "..." adds one'
    counted = ", ".join(f"{count} {column.replace('_', ' ')}" for column, count in found.columns.items() if count)
    return f"{counted}{where}{others}"


def _reminders(found: Summary) -> str:
    overdue, upcoming = len(found.overdue), found.upcoming
    if not overdue and not upcoming:
        return 'none: mait-code reminders set "friday EOD" "..." sets one'
    parts = [f"{overdue} overdue"] if overdue else []
    if upcoming:
        parts.append(f"{upcoming} upcoming")
    return ", ".join(parts)
