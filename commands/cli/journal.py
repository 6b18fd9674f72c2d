"""Looking after the journal from the command line."""

from __future__ import annotations

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

STORES = ("board", "inbox", "reminders", "memory", "projects", "journal")


@command("verify")
@pass_workspace
def verify(ws: Workspace, out: Output) -> int:
    """Check the journal and the stores.

    Reads every line again. Exit code 0: clean, 3: bad lines, 4: events are missing, 5: a store is not what the journal
    says, 74: a file of the journal cannot be read.
    """
    from mait_code.commands import journal_check

    with out.progress("reading the journal") as progress:
        found = journal_check.verify(ws, lambda _done, _total: progress.step())
    if out.json:
        out.data(found.json())
        return found.exit_code
    out.line(counted(found.events, "event"))
    for path, reason in sorted(found.unreadable.items()):
        out.line(f"unreadable: {path}: {reason}")
    if found.unreadable:
        out.line("What is missing, and whether the stores agree, cannot be told until that can be read.")
    for what, rows in (
        ("bad line", found.lines.bad),
        ("bad line, but accepted since", found.lines.accepted),
        ("torn", found.lines.torn),
        ("newer than this program", found.lines.newer),
        ("odd, but read", found.lines.notes),
    ):
        for file, line, reason in rows:
            out.line(f"{what}: journal/{file}:{line}: {reason}")
    for gap in found.gaps:
        span = f"event {gap.first}" if gap.first == gap.last else f"events {gap.first} to {gap.last}"
        out.line(f"missing: {span} of replica {gap.replica}")
    if found.gone:
        out.line(
            f"missing: {found.gone} that were here and are in no file now; mait-code doctor --fix writes them again"
        )
    for name in found.differing:
        out.line(f"differs: {name} is not what the journal says; mait-code rebuild {name} makes it again")
    if found.exit_code == 0:
        out.line("The journal is clean and the stores agree with it.")
    return found.exit_code


@command("rebuild")
@argument("store", required=False, type=click.Choice(STORES), metavar="[STORE]")
@option("--check", is_flag=True, help="Only compare the stores with the journal; exit code 5 where one differs.")
@pass_workspace
def rebuild(ws: Workspace, out: Output, store: str | None, check: bool) -> int:
    """Make the stores again from the journal.

    STORE is board, inbox, reminders, memory, projects or journal; without it all are made again, in one pass.
    """
    from mait_code.commands import journal_check

    names = [store] if store else list(STORES)
    with out.progress("folding the journal") as progress:
        if check:
            differing = journal_check.differing(ws, names, lambda _done, _total: progress.step())
            return _compared(out, names, differing)
        counts = journal_check.rebuild(ws, names, lambda _done, _total: progress.step())
    if out.json:
        out.data([{"store": name, "events": count} for name, count in counts.items()])
        return 0
    for name, count in counts.items():
        out.line(f"{name}: {counted(count, 'event')}")
    return 0


def _compared(out: Output, names: list[str], differing: list[str]) -> int:
    from mait_code.commands import journal_check

    if out.json:
        out.data([{"store": name, "differs": name in differing} for name in names])
    else:
        for name in names:
            out.line(f"{name}: {'differs from the journal' if name in differing else 'as the journal says'}")
    return journal_check.STORES_DIFFER if differing else 0


@command("digest")
@pass_workspace
def digest(ws: Workspace, out: Output) -> None:
    """Print a fingerprint of everything that is known.

    Two machines with the same digest know the same. Nothing of one machine alone goes into it.
    """
    from mait_code.commands import journal_check

    stores, total = journal_check.digest(ws)
    if out.json:
        out.data({**dict(stores), "total": total})
        return
    for name, value in (*stores, ("total", total)):
        out.line(f"{name:<10}{value}")


@command("replicas")
@pass_workspace
def replicas(ws: Workspace, out: Output) -> None:
    """List the machines that wrote here."""
    from mait_code.commands import journal_check
    from mait_code.commands.times import local, span

    found = journal_check.replicas(ws)
    if out.json:
        out.data(found)
        return
    if not found:
        out.line("No machine has written here yet.")
    for one in found:
        name = one["label"] or ("adopted lines" if one["adopted_from"] else "no label")
        here = "  (this machine)" if one["this_machine"] else "  (stays here)" if one["stays"] else ""
        count = counted(one["events"], "event")
        active = f", {local(one['first'])} to {local(one['last'])}" if one["first"] else ""
        out.line(out.style(one["replica"], "bold"), f"  {name}{here}  {count}{active}")
        if one["forked_from"]:
            out.line(f"          continues {one['forked_from']}, which was copied or put back to an earlier day")
        if one["clock_ahead_seconds"]:
            out.line(f"          its clock runs {span(one['clock_ahead_seconds'])} ahead of this machine's")
