"""The timeline from the command line: the same events as text, with the same filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import command, option, pass_workspace

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Events that are printed.
LIMIT = 50
#: The names of event_words.FAMILIES; a test compares them. Help must not load the kinds of events.
KINDS = ("board", "inbox", "reminders", "memory", "graph", "sessions", "documents", "projects", "machines")


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What bare `mait-code timeline` prints: the latest events, as `log` does."""
    _list(ws, out, LIMIT)


@command("list")
@option("--limit", "-n", type=click.IntRange(1, 1_000_000), default=LIMIT, show_default=True, help="How many events.")
@option("--words", default="", metavar="WORDS", help="Those with all these words: in what was written, a title, an id.")
@option("--project", metavar="NAME", help="Those of things of this project; empty for things of none.")
@option("--machine", metavar="NAME", help="Those written on this machine, by its label or id.")
@option("--kind", type=click.Choice(KINDS), help="Those of this kind.")
@pass_workspace
def list_events(
    ws: Workspace, out: Output, limit: int, words: str, project: str | None, machine: str | None, kind: str | None
) -> None:
    """List the latest events, all or some of them.

    The newest come last, as with `log`; both print the same lines. Only as much of the journal is read as it takes to find
    that many.
    """
    _list(ws, out, limit, words, project, machine, kind)


def _list(
    ws: Workspace,
    out: Output,
    limit: int,
    words: str = "",
    project: str | None = None,
    machine: str | None = None,
    kind: str | None = None,
) -> None:
    from mait_code.commands import history, project_aliases, timeline
    from mait_code.commands.cli.history import print_events

    names = timeline.EVERY
    if project is not None:
        names = project_aliases.names_of(ws, project) if project else ()
    wanted = timeline.Filter(words, names, timeline.machine_named(ws, machine) if machine else "", kind or "")
    hits = timeline.Window(wanted).look(ws, limit)
    shown = history.logged(ws, [hit.place for hit in reversed(hits)])
    if out.json:
        out.data([one.json() for one in shown])
    elif shown:
        print_events(out, shown)
    elif wanted.is_empty:
        out.note('nothing has happened here yet; try: mait-code inbox add "a thought"')
    else:
        out.note("no event is like that")
