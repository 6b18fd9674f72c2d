"""Reminders from the command line."""

from __future__ import annotations

from mait_code.commands.cli.board_closing import unchanged
from mait_code.commands.cli.board_options import text_or_stdin, words_or_stdin
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import IN_LIST, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.reminder_queries import Reminder

_HEADINGS = (("overdue", "OVERDUE", "red"), ("upcoming", "Upcoming", "bold"), ("dismissed", "Dismissed", "dim"))


def _now() -> datetime:
    from datetime import UTC, datetime

    return datetime.now(UTC)


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """The text summary of `mait-code reminders`: the same as its list."""
    _list(ws, out, every=False)


@command("list")
@option("--all", "every", is_flag=True, help="Show dismissed reminders too.")
@pass_workspace
def list_reminders(ws: Workspace, out: Output, every: bool) -> None:
    """List reminders by due time."""
    _list(ws, out, every)


def _list(ws: Workspace, out: Output, every: bool) -> None:
    from mait_code.commands import reminders

    now = _now()
    found = reminders.listing(ws, now, every)
    if out.json:
        out.data([one.json() for one in found])
        return
    if not found:
        out.line('No reminders. Set one: mait-code reminders set "friday EOD" "send the report"')
        return
    viewer = _viewer(out)
    for status, heading, colour in _HEADINGS:
        rows = [one for one in found if one.status == status]
        if rows:
            out.line(out.style(heading, colour, "bold") if colour != "bold" else out.style(heading, "bold"))
        for one in rows:
            _row(out, one, now, viewer)


def _viewer(out: Output) -> str:
    """The zone in which this machine's user sees times; where it cannot be used, that is said."""
    from mait_code.projections.zones import local_zone, zone_fault

    fault = zone_fault()
    if fault:
        out.warn(fault)
    return local_zone()


def _row(out: Output, one: Reminder, now: datetime, viewer: str) -> None:
    marks = "".join(f"  [{mark}]" for mark in _marks(one))
    more = " ..." if "\n" in one.what else ""
    heading = cut(one.heading, IN_LIST)
    out.line("  ", out.style(one.short, "yellow"), f"  {one.shown(now, viewer)}  {heading}{more}{marks}")


def _marks(one: Reminder) -> list[str]:
    marks = [one.recurrence] if one.recurrence else []
    if one.until and one.status != "dismissed":
        marks.append("put off")
    if one.conflicts:
        marks.append("in conflict: see mait-code conflicts")
    return marks


def _show(ws: Workspace, out: Output, one: Reminder) -> None:
    from mait_code.commands.times import local

    now = _now()
    out.line(out.style(one.short, "yellow", "bold"), f"  {one.status}")
    out.block(one.what, indent="  ")
    out.line(f"  due        {one.shown(now, _viewer(out))}")
    if one.recurrence:
        out.line(f"  recurs     {one.recurrence}")
    if one.until:
        from mait_code.projections.zones import show

        out.line(f"  put off    from {show(str(one.occurrence), one.zone, now, _viewer(out))}")
    if one.project:
        out.line(f"  project    {one.project}")
    if one.origin:
        from mait_code.commands.inbox import described

        out.line(f"  made from  {described(ws, one.origin)}")
    out.line(f"  set        {local(one.created_at)}")
    for name in one.conflicts:
        out.line(f"  conflict   {name}: see mait-code conflicts show {one.short}")


def _said(out: Output, one: Reminder, words: str) -> None:
    """What a command that changes a reminder prints; notes about it go to stderr."""
    _viewer(out)  # a time that was given was read in this machine's zone
    if out.json:
        out.data(one.json())
    else:
        if not unchanged(out, one.notes):
            out.line(words, " ", out.style(one.short, "yellow"), f": {cut(one.heading, IN_LIST)}")
        if one.status != "dismissed":
            recurs = f", {one.recurrence}" if one.recurrence else ""
            out.line(f"  {one.shown(_now(), _viewer(out))}{recurs}")
    for note in one.notes:
        out.note(note)


@command("set")
@argument("when")
@argument("what", nargs=-1, required=True)
@option("--project", metavar="NAME", help="The project it belongs to.")
@pass_workspace
def set_reminder(ws: Workspace, out: Output, when: str, what: tuple[str, ...], project: str | None) -> None:
    """Set a reminder.

    WHEN is one argument, so quote it: "friday EOD", "tomorrow morning", "in 2 weeks", "next tue 15:30",
    "2027-12-24 18:00", "every monday 9am", "every 2 weeks on friday", "first of the month". A single dash as the text
    reads stdin.
    """
    from mait_code.commands import reminders

    _said(out, reminders.set_reminder(ws, when, words_or_stdin(what), _now(), project), "Set")


@command("show")
@argument("id")
@pass_workspace
def show(ws: Workspace, out: Output, id: str) -> None:  # noqa: A002
    """Show one reminder whole."""
    from mait_code.commands import reminders

    one = reminders.find(ws, id, _now())
    if out.json:
        out.data(one.json())
    else:
        _show(ws, out, one)


@command("check")
@pass_workspace
def check(ws: Workspace, out: Output) -> None:
    """Print what is overdue.

    Prints nothing where nothing is.
    """
    from mait_code.commands import reminders

    now = _now()
    found = reminders.overdue(ws, now)
    if out.json:
        out.data([one.json() for one in found])
        return
    viewer = _viewer(out) if found else ""
    for one in found:
        _row(out, one, now, viewer)


@command("snooze")
@argument("id")
@argument("until", nargs=-1)
@pass_workspace
def snooze(ws: Workspace, out: Output, id: str, until: tuple[str, ...]) -> None:  # noqa: A002
    """Put a reminder off.

    UNTIL is a time or a length of time: 30m, 2h, 3d, "tomorrow 9am", monday. Without it an hour.
    """
    from mait_code.commands import reminders

    one = reminders.snooze(ws, id, " ".join(until) or reminders.DEFAULT_SNOOZE, _now())
    _said(out, one, "Put off")


@command("edit")
@argument("id")
@option("--when", metavar="WHEN", help="The new time, in words as for set.")
@option("--what", metavar="TEXT", help="The new text; - reads stdin.")
@option("--project", metavar="NAME", help="The new project; an empty one takes it away.")
@pass_workspace
def edit(
    ws: Workspace,
    out: Output,
    id: str,  # noqa: A002
    when: str | None,
    what: str | None,
    project: str | None,
) -> None:
    """Change the text or time of a reminder."""
    from mait_code.commands import reminders

    _said(out, reminders.edit(ws, id, _now(), when=when, what=text_or_stdin(what), project=project), "Changed")


@command("dismiss")
@argument("id")
@pass_workspace
def dismiss(ws: Workspace, out: Output, id: str) -> None:  # noqa: A002
    """Dismiss a reminder.

    Of a recurring one this dismisses the present occurrence; `remove` ends all of them.
    """
    from mait_code.commands import reminders

    _said(out, reminders.dismiss(ws, id, _now()), "Dismissed")


@command("remove")
@argument("id")
@pass_workspace
def remove(ws: Workspace, out: Output, id: str) -> None:  # noqa: A002
    """Delete a reminder."""
    from mait_code.commands import reminders

    one = reminders.remove(ws, id, _now())
    if out.json:
        out.data(one.json())
    else:
        out.line("Deleted ", out.style(one.short, "yellow"), f": {one.heading}")


@command("restore")
@argument("id")
@pass_workspace
def restore(ws: Workspace, out: Output, id: str) -> None:  # noqa: A002
    """Bring a reminder back.

    A deleted one is brought back; a dismissed one stands again.
    """
    from mait_code.commands import reminders

    _said(out, reminders.restore(ws, id, _now()), "Restored")
