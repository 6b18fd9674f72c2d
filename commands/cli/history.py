"""What happened, and taking it back, from the command line."""

from __future__ import annotations

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.commands.history import Logged, Step
    from mait_code.commands.output import Output
    from mait_code.commands.undo import Undone
    from mait_code.commands.workspace import Workspace

#: Characters of a value that stands within a line.
_IN_LINE = 60


@command("history")
@argument("id")
@pass_workspace
def history(ws: Workspace, out: Output, id: str) -> None:  # noqa: A002
    """Show every event of one thing.

    ID is a card, an inbox item or a reminder, deleted ones too: 12kf, a beginning of an id, or card/kfhq2m9xt47w. Each
    event tells when, who and where, and what it changed, field by field.
    """
    from mait_code.commands import history as logic
    from mait_code.commands import lookup

    store, entity, steps = logic.history(ws, id)
    if out.json:
        out.data([step.json() for step in steps])
        return
    state = store.state(entity)
    called = f"{entity.partition('/')[0]} {lookup.short(store, entity, state)}"
    out.line(out.style(called, "bold"), "  ", lookup.title(state))
    for step in steps:
        _step(out, step)
    out.note("undo ID takes one of these back, by the digits in front of it")


def _step(out: Output, step: Step) -> None:
    from mait_code.commands import lookup
    from mait_code.commands.times import local

    event = step.event
    undone = f"  takes back {event.undoes[:8]}" if event.undoes else ""
    newer = "  (by a newer version; update to see what it says)" if step.is_newer else ""
    where = f"{event.actor} on {step.label or event.replica}"
    out.line(
        out.style(event.id[:8], "yellow"),
        "  ",
        local(event.shown, seconds=True),
        f"  {where}  {event.kind}{undone}{newer}",
    )
    for name, before, after in step.changes:
        if not name.startswith(("comment:", "reference:")):
            _change(out, lookup.field_words(name), lookup.words(before), lookup.words(after))
    said = event.data.get("body") if event.kind.endswith("commented") else None
    if event.kind.endswith(".referenced"):
        said = f"{event.data.get('label')}: {event.data.get('value')}"
    if said is not None:
        out.block(str(said), indent="      ")


def _change(out: Output, field: str, before: str, after: str) -> None:
    if "\n" in before or "\n" in after or len(before) + len(after) > 2 * _IN_LINE:
        out.line(f"    {field}:")
        for mark, text in (("- ", before), ("+ ", after)):
            if text != "—":
                out.block(text, indent=f"      {mark}")
        return
    out.line(f"    {field}: {after}" if before == "—" else f"    {field}: {before} → {after}")


@command("log")
@option("--limit", "-n", type=click.IntRange(1, 1_000_000), default=50, show_default=True, help="How many events.")
@option("--follow", "-f", is_flag=True, help="Go on, and show events as they arrive; Ctrl-C ends it.")
@pass_workspace
def log(ws: Workspace, out: Output, limit: int, follow: bool) -> None:
    """Show events as they happened.

    The newest come last. With --json they are one array; with --follow each event is an object on a line of its own.
    """
    from mait_code.commands import history as logic

    shown = logic.log(ws, limit)
    if out.json and not follow:
        out.data([one.json() for one in shown])
        return
    out.terminal = out.terminal and not follow  # an object a line, on a terminal too
    print_events(out, shown)
    if follow:
        for batch in logic.follow(ws):
            print_events(out, batch)
    elif not shown:
        out.note('nothing has happened here yet; try: mait-code inbox add "a thought"')


def print_events(out: Output, events: Iterable[Logged]) -> None:
    """A line for each event, or with --json an object on a line of its own."""
    for one in events:
        if out.json:
            out.data(one.json())
        else:
            _event_line(out, one)
    out.flush()


def _event_line(out: Output, one: Logged) -> None:
    from mait_code.commands import lookup
    from mait_code.commands.times import local

    event = one.event
    said = ", ".join(f"{lookup.shown_register(key)} {_brief(value)}" for key, value in event.data.items())
    undone = f"  takes back {event.undoes[:8]}" if event.undoes else ""
    where = f"{event.actor} on {one.label or event.replica}"
    parts = [where, event.kind + undone, one.called, said]
    out.line(
        out.style(event.tx[:8], "yellow"), "  ", local(event.shown, seconds=True), "  ", "  ".join(filter(None, parts))
    )


def _brief(value: Any) -> str:
    from mait_code.commands import lookup

    text = lookup.words(value).replace("\n", " ")
    return text if len(text) <= _IN_LINE else text[: _IN_LINE - 1] + "…"


@command("undo")
@argument("what", required=False, metavar="[N|ID]")
@pass_workspace
def undo(ws: Workspace, out: Output, what: str | None) -> None:
    """Take back the last action, or a named one.

    Without an argument it takes back your last action on this machine, by you or by Claude; with a number N the last N,
    newest first; with an action's id (`log` and `history` show them) that one: another machine's, or an undo, which
    does the action again. A thing that was made is deleted; everything else gets its earlier value. Where something was
    written on top of an action its undo is refused, and says what.
    """
    from mait_code.commands import undo as logic

    done: list[Undone] = []
    count = _count(what)
    try:
        if count is None:
            done.append(logic.undo_named(ws, what or ""))
        else:
            done.extend(logic.undo(ws, count))  # what was yielded before a refusal is in the list
    finally:
        # A refusal half way does not hide what was taken back before it.
        _report(out, done)


def _count(what: str | None) -> int | None:
    """How many actions to take back; None where `what` names one."""
    if what is None:
        return 1
    if not (what.isdecimal() and what.isascii() and len(what) <= 4):
        return None
    if int(what) == 0:
        raise click.UsageError("0 takes nothing back; give a number from 1, or an action's id")
    return int(what)


def _report(out: Output, done: list[Undone]) -> None:
    if not done:
        return
    if out.json:
        out.data([one.json() for one in done])
    for one in done:
        if not out.json:
            things = "; ".join(thing.words for thing in one.things)
            out.line("Took back ", out.style(one.tx[:8], "yellow"), f" ({', '.join(one.kinds)}): {things}")
        for note in one.notes:
            out.note(note)
