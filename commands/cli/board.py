"""Cards from the command line: adding, listing, showing, counting, exporting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli import board_view
from mait_code.commands.cli.board_closing import about_conflicts, close
from mait_code.commands.cli.board_options import (
    PRIORITY,
    STATUS,
    for_project,
    for_session,
    text_or_stdin,
    words_or_stdin,
)
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.board import Scope
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("add")
@argument("title", nargs=-1, required=True)
@option("--description", metavar="TEXT", help="What it is about; - reads stdin.")
@option("--acceptance", metavar="TEXT", help="When it counts as done; - reads stdin.")
@option("--priority", type=PRIORITY, default="medium", show_default=True, help="How urgent.")
@for_project("The project it belongs to (this directory's by default; empty for none).")
@pass_workspace
def add(
    ws: Workspace,
    out: Output,
    title: tuple[str, ...],
    description: str | None,
    acceptance: str | None,
    priority: str,
    project: str | None,
) -> None:
    """Add a card to the backlog.

    A single dash as the title reads stdin.
    """
    from mait_code.commands import board

    card = board.add(
        ws,
        words_or_stdin(title),
        description=text_or_stdin(description),
        acceptance=text_or_stdin(acceptance),
        priority=priority,
        project=project,
    )
    board_view.changed(ws, out, card, "Added")


@command("list")
@option("--all", "every", is_flag=True, help="Cards of all projects.")
@for_project("Cards of this project (this directory's by default; empty for those without).")
@option(
    "--status", "statuses", metavar="STATUS", multiple=True, shell_complete=STATUS, help="Only this column; repeatable."
)
@option("--archived", is_flag=True, help="Archived cards too.")
@option("--search", "-q", metavar="WORDS", default="", help="Only cards that hold all these words.")
@option("--mine", is_flag=True, help="Cards in progress that this session holds, of all projects.")
@for_session("Cards in progress that another session holds; with --pid.")
@option("--deleted", is_flag=True, help="Deleted cards instead, for board restore.")
@pass_workspace
def list_cards(
    ws: Workspace,
    out: Output,
    every: bool,
    project: str | None,
    statuses: tuple[str, ...],
    archived: bool,
    search: str,
    mine: bool,
    session: str | None,
    pid: int | None,
    deleted: bool,
) -> None:
    """List cards, most urgent first."""
    from mait_code.commands import board

    held = mine or session is not None or pid is not None
    chosen = board.scope(ws.board, project, every or (project is None and (held or deleted)))
    if held:
        cards = board.held(ws, chosen, session, pid)
    elif deleted:
        cards = board.deleted(ws.board, chosen)
    else:
        cards = board.listing(ws.board, chosen, statuses=statuses, archived=archived, search=search, brief=not out.json)
    if out.json:
        out.data([board_view.card_json(ws, card) for card in cards])
    elif cards:
        board_view.columns(ws, out, cards)
    else:
        out.line(_nothing(ws, chosen, bool(statuses or search), held, deleted))
    close(ws, out, about_conflicts(cards, "cards"))


def _nothing(ws: Workspace, chosen: Scope, filtered: bool, held: bool, deleted: bool) -> str:
    """What to say instead of an empty list, with a next step."""
    if held:
        return "This session holds no card; mait-code board next --claim takes one."
    if deleted:
        return "No deleted cards."
    if filtered:
        return "No card matches; mait-code board list shows all of them."
    from mait_code.projections import board_queries

    elsewhere = 0 if chosen.every else sum(board_queries.counts(ws.board).values())
    where = "" if chosen.every else f" in {chosen.project}" if chosen.project else " without a project"
    more = f" ({elsewhere} in other projects or archived: mait-code board list --all)" if elsewhere else ""
    return f'No cards{where} yet; mait-code board add "..." adds one.{more}'


@command("show")
@argument("card")
@for_project("Look among the cards of this project.")
@pass_workspace
def show(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Show one card whole."""
    from mait_code.commands import board

    found = board.show(ws, card, project)
    if out.json:
        out.data(board_view.card_json(ws, found))
    else:
        board_view.whole(ws, out, found)
    close(ws, out, found.notes)


@command("summary")
@option("--all", "every", is_flag=True, help="Cards of all projects.")
@for_project("Cards of this project.")
@pass_workspace
def summary(ws: Workspace, out: Output, every: bool, project: str | None) -> None:
    """Count the cards of each column."""
    from mait_code.commands import board

    chosen = board.scope(ws.board, project, every)
    counts = board.summary(ws.board, chosen)
    if out.json:
        out.data({"project": chosen.project, "counts": counts})
    else:
        parts = ", ".join(f"{board_view.heading(column).lower()} {count}" for column, count in counts.items())
        out.line(f"{'All projects' if chosen.every else chosen.project or 'No project'}: {parts}")
    close(ws, out)


@command("export")
@argument("card", required=False)
@option(
    "--format", "form", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True, help="The form."
)
@option(
    "--out",
    "-o",
    "file",
    metavar="FILE",
    help="Write to this file instead of stdout; a file that is there is replaced.",
)
@option("--all", "every", is_flag=True, help="Cards of all projects.")
@for_project("Cards of this project.")
@option(
    "--status", "statuses", metavar="STATUS", multiple=True, shell_complete=STATUS, help="Only this column; repeatable."
)
@option("--archived", is_flag=True, help="Archived cards too.")
@option("--search", "-q", metavar="WORDS", default="", help="Only cards that hold all these words.")
@pass_workspace
def export(
    ws: Workspace,
    out: Output,
    card: str | None,
    form: str,
    file: str | None,
    every: bool,
    project: str | None,
    statuses: tuple[str, ...],
    archived: bool,
    search: str,
) -> None:
    """Write cards as Markdown or JSON.

    One card when its id is given, else those that `board list` would show with the same options.
    """
    from mait_code.commands import board, board_export

    if card is not None:
        cards = [board.show(ws, card, project)]
    else:
        chosen = board.scope(ws.board, project, every)
        cards = board.listing(ws.board, chosen, statuses=statuses, archived=archived, search=search, comments=True)
    as_json = form == "json" or out.json
    data = [board_view.card_json(ws, one) for one in cards]
    content = data[0] if card is not None else data
    if file is not None:
        path = board_export.write(file, board_export.json_text(content) if as_json else board_export.markdown(cards))
        if out.json:
            out.data({"path": path, "cards": len(cards)})
        else:
            out.line(f"Wrote {counted(len(cards), 'card')} to {path}")
    elif as_json:
        out.data(content)
    else:
        out.block(board_export.markdown(cards).removesuffix("\n"))
    close(ws, out)


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """The board as text: the columns of this directory's project, outside any project of all."""
    from mait_code.commands import board

    chosen = board.scope(ws.board)
    cards = board.listing(ws.board, chosen, brief=not out.json)
    if out.json:
        counts = board.summary(ws.board, chosen)
        out.data(
            {"project": chosen.project, "counts": counts, "cards": [board_view.card_json(ws, one) for one in cards]}
        )
    elif cards:
        out.line(out.style("All projects" if chosen.every else chosen.project or "", "bold"))
        out.line()
        board_view.columns(ws, out, cards)
    else:
        out.line(_nothing(ws, chosen, False, False, False))
    close(ws, out, about_conflicts(cards, "cards"))
