"""Setting up and syncing from the command line."""

from __future__ import annotations

from mait_code.commands.cli.frame import command, option, pass_workspace
from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.exchange import Exchange
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Bad lines named one by one; `verify` has the rest.
_NAMED = 5
_ARRIVED = {
    "added": "which is new",
    "changed": "which another machine changed: it has the place of what was here",
    "removed": "which another machine removed: so it is gone here too",
}
#: Characters of a value in the line of its conflict.
_IN_LINE = 60


@command("init")
@option(
    "--remote", metavar="URL", help="Where the machines exchange: any git remote, empty or filled by another machine."
)
@option("--label", metavar="NAME", help="What to call this machine; its host name otherwise.")
@pass_workspace
def init(ws: Workspace, out: Output, remote: str | None, label: str | None) -> None:
    """Make the data directory a git repository, with a remote if you name one.

    Calling it again does no harm: it changes the remote or the label.
    """
    from mait_code.commands import exchange

    with out.progress("talking to the remote"):
        setup = exchange.init(ws, remote, label)
    if out.json:
        out.data(setup.json())
        return
    out.line(f"{'Made' if setup.made else 'Found'} the repository in {setup.data}")
    out.line("This machine is ", out.style(setup.label or "unnamed", "bold"), f" ({setup.replica})")
    if setup.remote:
        out.line(f"Remote: {setup.remote}")
        if setup.offline:
            out.warn(f"the remote was not reached: {setup.offline}")
        out.note("next: mait-code sync")
    else:
        out.note("to share it with another machine: mait-code init --remote URL")


@command("sync")
@pass_workspace
def sync(ws: Workspace, out: Output) -> int:
    """Exchange events with the other machines.

    Commits what happened here, merges what the others sent, sends the rest. Offline it commits and says what waits.
    Exit code 1 also where the remote had lost lines: they were kept here and sent again.
    """
    from mait_code.commands import exchange

    with out.progress("syncing"):
        done = exchange.sync(ws)
    for note in done.notes:
        out.note(note)
    if out.json:
        out.data(done.json())
        return done.exit_code
    _outcome(out, done)
    _repairs(out, done)
    for conflict in done.conflicts:
        sides = " | ".join(_brief(conflict.words(side)) for side in conflict.sides)
        out.line(out.style("conflict", "yellow"), f"  {conflict.short} {conflict.title}: {conflict.field}: {sides}")
    if done.conflicts:
        out.note("both sides are kept; choose with: mait-code conflicts pick ID FIELD NUMBER")
    for line in done.bad[:_NAMED]:
        out.warn(f"{line}; skipped")
    if len(done.bad) > _NAMED:
        out.warn(f"and {counted(len(done.bad) - _NAMED, 'more bad line')}; mait-code verify names them")
    for one in done.ahead:
        from mait_code.commands.times import span

        out.warn(
            f"the clock of {one['label'] or one['replica']} ran {span(one['clock_ahead_seconds'])} ahead of this one"
        )
    return done.exit_code


def _outcome(out: Output, done: Exchange) -> None:
    report = done.report
    if not report.remote:
        out.line("Committed here." if report.committed else "Nothing new to commit.")
        out.note("there is no remote; to share with another machine: mait-code init --remote URL")
    elif report.offline:
        waiting = f"{counted(report.commits_waiting, 'commit')} waiting"
        out.line(f"{'Committed here' if report.committed else 'Nothing new here'}, {waiting}.")
        out.note(f"the remote was not reached: {report.offline}")
    elif report.sent or report.received:
        out.line(f"Sent {counted(report.sent, 'event')}, received {counted(report.received, 'event')}.")
    elif report.tries or not report.arrived:
        # Documents travel as well, and are no events.
        out.line("Sent what was changed." if report.tries else "Up to date.")
    for path, how in report.arrived.items():
        out.line(f"Received {path}, {_ARRIVED[how]}.")


def _repairs(out: Output, done: Exchange) -> None:
    report = done.report
    for path in report.restored:
        out.warn(f"{path} was damaged or gone here and was put back")
    if report.adopted:
        out.warn(f"{counted(report.adopted, 'event')} had lost their file and were moved into a directory of their own")
    if report.new_identity:
        out.warn(f"another machine wrote under this one's id; this one is {report.new_identity} now")
    for path in report.shrank:
        out.warn(f"the remote had cut {path}; yours was kept and sent again")
    for path in report.aside:
        out.warn(
            f"a file that is not of the journal made way for another machine's of the same name; yours is {path} now"
        )
    for path in report.documents:
        out.warn(f"a document was edited on two machines; the older text is in {path}")


def _brief(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= _IN_LINE else line[: _IN_LINE - 1] + "…"
