"""What a session is told when it starts, from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import command, option, pass_workspace

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

# As commands.context has it, which `--help` does without; a test compares the two.
SOURCES = ("startup", "clear", "compact", "resume", "fork")


@command("context")
@option("--session", metavar="ID", help="As this session is told (the one it runs in, inside of one).")
@option(
    "--source",
    type=click.Choice(SOURCES),
    default=SOURCES[0],
    show_default=True,
    help="How it begins; one that is resumed or forked is told only what is new.",
)
@pass_workspace
def context(ws: Workspace, out: Output, session: str | None, source: str) -> None:
    """Print what a session is told when it starts here.

    Nothing is noted: a session that is resumed afterwards is told the same as without this.
    """
    from mait_code.commands import context as contexts

    found = contexts.build(ws, session=(session or ws.session)[:200], source=source, told=False)
    if out.json:
        out.data(found.json())
    elif found.text:
        out.block(found.text)
    else:
        out.note(
            "nothing to say: no cards, reminders, thoughts, sessions or memories here"
            + (" that are new" if found.since else "")
        )
