"""Moving cards from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.cli import board_view
from mait_code.commands.cli.board_closing import close
from mait_code.commands.cli.board_options import STATUS, for_project, for_session, text_or_stdin
from mait_code.commands.cli.frame import argument, command, option, pass_workspace

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("move")
@argument("card")
@argument("status", nargs=-1, required=True, shell_complete=STATUS)
@for_project()
@for_session("Bind it to this session when it moves into in_progress; with --pid.")
@pass_workspace
def move(
    ws: Workspace,
    out: Output,
    card: str,
    status: tuple[str, ...],
    project: str | None,
    session: str | None,
    pid: int | None,
) -> None:
    """Move a card to a column.

    Columns are backlog, refined, in_progress, in_review, done and archived. Moving into in_progress binds the card to
    the session that runs the command, if there is one; moving out releases it.
    """
    from mait_code.commands import board_moves

    moved = board_moves.move(ws, card, " ".join(status), project, session, pid)
    board_view.changed(ws, out, moved, "Moved", f" -> {moved.status}")


@command("refine")
@argument("card")
@option("--description", metavar="TEXT", help="What it is about; - reads stdin.")
@option("--acceptance", metavar="TEXT", help="When it counts as done; - reads stdin.")
@for_project()
@pass_workspace
def refine(
    ws: Workspace, out: Output, card: str, description: str | None, acceptance: str | None, project: str | None
) -> None:
    """Describe a card and move it to refined."""
    from mait_code.commands import board_moves

    refined = board_moves.refine(
        ws, card, description=text_or_stdin(description), acceptance=text_or_stdin(acceptance), project=project
    )
    board_view.changed(ws, out, refined, "Refined")


@command("next")
@option("--claim", is_flag=True, help="Move it to in_progress and bind it to this session.")
@for_project("Among the cards of this project (this directory's by default).")
@for_session("Claim it for this session; with --pid.")
@pass_workspace
def next_card(
    ws: Workspace, out: Output, claim: bool, project: str | None, session: str | None, pid: int | None
) -> None:
    """Show or claim the next card to work on.

    Refined cards come first, then the backlog, each by priority and age. Blocked cards are passed over. Of many callers
    on one machine each claims another card.
    """
    from mait_code.commands import board_moves

    card = board_moves.next_card(ws, claim=claim, project=project, session=session, pid=pid)
    if card is None:
        if out.json:
            out.data(None)
        else:
            out.line(
                'Nothing to take: no unblocked card is refined or in the backlog; mait-code board add "..." adds one.'
            )
        close(ws, out)
    elif claim:
        board_view.changed(ws, out, card, "Claimed")
    else:
        if out.json:
            out.data(board_view.card_json(ws, card))
        else:
            board_view.whole(ws, out, card)
        close(ws, out, card.notes)


@command("complete")
@argument("card")
@option("--summary", metavar="TEXT", help="What was done; - reads stdin.")
@for_project()
@pass_workspace
def complete(ws: Workspace, out: Output, card: str, summary: str | None, project: str | None) -> None:
    """Move a card to done with a summary.

    Without one, the summary it has stays.
    """
    from mait_code.commands import board_moves

    board_view.changed(ws, out, board_moves.complete(ws, card, text_or_stdin(summary), project), "Completed")


@command("archive")
@argument("card")
@for_project()
@pass_workspace
def archive(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Put a card away."""
    from mait_code.commands import board_moves

    board_view.changed(ws, out, board_moves.archive(ws, card, project), "Archived")


@command("bind")
@argument("card")
@for_project()
@for_session()
@pass_workspace
def bind(ws: Workspace, out: Output, card: str, project: str | None, session: str | None, pid: int | None) -> None:
    """Bind a card to this session."""
    from mait_code.commands import board_moves

    board_view.changed(ws, out, board_moves.bind(ws, card, project, session, pid), "Bound")


@command("unbind")
@argument("card")
@for_project()
@pass_workspace
def unbind(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Release a card from its session."""
    from mait_code.commands import board_moves

    board_view.changed(ws, out, board_moves.unbind(ws, card, project), "Unbound")


@command("remove")
@argument("card")
@for_project()
@pass_workspace
def remove(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Delete a card.

    It keeps its history, and `board restore` brings it back.
    """
    from mait_code.commands import board_moves

    board_view.changed(ws, out, board_moves.remove(ws, card, project), "Removed")


@command("restore")
@argument("card")
@for_project()
@pass_workspace
def restore(ws: Workspace, out: Output, card: str, project: str | None) -> None:
    """Bring a deleted card back.

    `board list --deleted` shows what there is.
    """
    from mait_code.commands import board

    board_view.changed(ws, out, board.restore(ws, card, project), "Restored")
