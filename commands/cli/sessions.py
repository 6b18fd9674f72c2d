"""Looking at recorded sessions from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.board_closing import local_time
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import IN_LIST, counted, cut

if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.output import Output
    from mait_code.commands.sessions import Session
    from mait_code.commands.workspace import Workspace

LIMIT = 20


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What bare `mait-code sessions` prints: the list."""
    _list(ws, out, None, False, LIMIT)


@command("list")
@option("--project", metavar="NAME", help="Those of this project instead of this directory's; empty for those of none.")
@option("--all", "every", is_flag=True, help="Those of every project.")
@option("--limit", "-n", type=click.IntRange(1), default=LIMIT, show_default=True, help="How many at most.")
@pass_workspace
def list_sessions(ws: Workspace, out: Output, project: str | None, every: bool, limit: int) -> None:
    """List sessions of Claude Code, the latest first."""
    _list(ws, out, project, every, limit)


def _list(ws: Workspace, out: Output, project: str | None, every: bool, limit: int) -> None:
    from mait_code.commands import sessions
    from mait_code.commands.project import short_names

    names = sessions.projects(ws, project, every)
    found = sessions.listing(ws, names, limit)
    if out.json:
        out.data([one.json() for one in found])
    elif not found:
        out.line(_empty(ws, names))
    else:
        shown = short_names({one.project for one in found if one.project}) if names is None else {}
        for one in found:
            _row(out, one, shown)


def _empty(ws: Workspace, names: tuple[str, ...] | None) -> str:
    from mait_code.commands import sessions

    if names is not None and sessions.listing(ws, None, 1):
        where = f"in {names[0]}" if names else "outside any project"
        return f"No session is recorded {where} yet; mait-code sessions list --all shows those of other projects."
    return "No session is recorded yet; sessions of Claude Code are, once its hooks are installed."


def _row(out: Output, one: Session, projects: dict[str, str]) -> None:
    project = f" [{projects[one.project]}]" if one.project in projects else ""
    branch = f" ({one.branch})" if one.branch else ""
    about = f"{counted(one.turns, 'turn')}{_tokens(one)}, {_end(one)}"
    request = cut(" ".join((one.title or one.request or "").split()), IN_LIST)
    out.line(
        out.style(one.short, "bold"), "  ", out.style(local_time(one.started_at), "dim"),
        f"{project}{branch}  {about}", f": {request}" if request else "",
    )  # fmt: skip


def _end(one: Session) -> str:
    if not one.ended:
        return "no end recorded"
    return f"ended {local_time(one.ended_at or one.last_at)} ({one.ended})"


def _tokens(one: Session) -> str:
    total = sum(one.tokens.values())
    return f", {_thousands(total)} tokens" if total else ""


def _thousands(count: int) -> str:
    return str(count) if count < 10_000 else f"{(count + 500) // 1000}k"


@command("show")
@argument("session", metavar="ID")
@pass_workspace
def show(ws: Workspace, out: Output, session: str) -> None:
    """Show what happened in one session.

    ID is a short id from the list, or the client's own id of the session, or the beginning of it.
    """
    from mait_code.commands import sessions

    found = sessions.show(ws, session)
    if out.json:
        out.data(found.json())
        return
    _about(out, found.session)
    for summary in found.summaries:
        _summary(out, summary)
    for record in found.in_order():
        _turn(out, record) if "request" in record else _prompt(out, record)
    if found.observations:
        _heading(out, "Observations", "mait-code memory show ID opens one")
        for one in found.observations:
            title = cut(one["title"] or one["narrative"] or "", IN_LIST)
            out.line(
                "  ", out.style(one["short"], "bold"), f"  {local_time(one['created_at'])}  {one['type']}  {title}"
            )


def _about(out: Output, one: Session) -> None:
    turns = counted(one.turns, "turn")
    if one.agent_turns:
        turns += f", and {one.agent_turns} of subagents"
    tokens = ", ".join(f"{_thousands(count)} {name.replace('_', ' ')}" for name, count in one.tokens.items() if count)
    if one.title:
        out.line(out.style(one.title, "bold"))
    for name, value in (
        ("session", one.session or ""),
        ("project", " ".join(filter(None, (one.project, one.branch and f"({one.branch})")))),
        ("started", local_time(one.started_at)),
        ("ended", f"{local_time(one.ended_at or one.last_at)} ({one.ended})" if one.ended else ""),
        ("last turn", "" if one.ended or not one.turns else f"{local_time(one.last_at)}; no end recorded"),
        ("turns", turns),
        ("tokens", tokens),
        ("id", f"{one.id} (short {one.short})"),
    ):
        _fact(out, name, value)


def _fact(out: Output, name: str, value: str) -> None:
    if value:
        out.line(out.style(f"  {name:<13}", "dim"), value)


def _heading(out: Output, title: str, more: str = "") -> None:
    out.line()
    out.line(out.style(title, "bold"), out.style(f"  {more}" if more else "", "dim"))


def _summary(out: Output, summary: dict[str, Any]) -> None:
    by = summary["generated_by"]
    _heading(out, "Summary", "from what was recorded, no model asked" if by == "evidence" else f"by {by}" if by else "")
    for name in ("request", "investigated", "learned", "completed", "next_steps", "notes"):
        for line in str(summary[name] or "").splitlines():
            _fact(out, name.replace("_", " "), line)
            name = ""


def _prompt(out: Output, prompt: dict[str, Any]) -> None:
    _heading(out, local_time(prompt["created_at"]), f"prompt {prompt['short']}")
    out.block(prompt["prompt_text"], "  ")


def _turn(out: Output, turn: dict[str, Any]) -> None:
    agent = f"{turn['agent']}, " if turn["agent"] else ""
    _heading(out, local_time(turn["created_at"]), f"{agent}turn {turn['short']}")
    if turn["request"]:
        out.block(turn["request"], "  > ")
    if turn["answer"]:
        out.block(turn["answer"], "  ")
    for name, field in (("changed", "files_modified"), ("read", "files_read")):
        _fact(out, name, ", ".join(map(str, turn[field] or ())))
    name = "ran"
    for one in turn["commands"] or ():
        status = one.get("exit")
        line = f"{one.get('command', '')}" + ("" if status is None else f"  (exit {status})")
        out.line(out.style(f"  {name:<13}", "dim"), out.style(line, *(["red"] if status else [])))
        name = ""
    name = "failed"
    for failure in turn["failures"] or ():
        _fact(out, name, str(failure))
        name = ""
