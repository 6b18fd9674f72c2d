"""What happened, and taking it back, from the command line."""

from __future__ import annotations

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event


@command("history")
@argument("id")
@pass_workspace
def history(ws: Workspace, out: Output, id: str) -> None:
    """Show every event of one thing.

    ID is a card, an inbox item or a reminder, deleted ones too. Each event tells when, who and where, and what it changed,
    field by field.
    """
    from mait_code.commands import history as logic
    from mait_code.commands import lookup
    from mait_code.commands.times import local

    store, entity, steps = logic.history(ws, id)
    if out.json:
        out.data([step.json() for step in steps])
        return
    state = store.state(entity)
    out.line(
        out.style(f"{entity.partition('/')[0]} {lookup.short(store, entity, state)}", "bold"), "  ", lookup.title(state)
    )
    for step in steps:
        event = step.event
        where = step.label or event.replica
        undone = f"  takes back {event.undoes[:8]}" if event.undoes else ""
        out.line(
            out.style(event.id[:8], "yellow"),
            "  ",
            local(event.shown, seconds=True),
            "  ",
            f"{event.actor} on {where}  {event.kind}{undone}",
        )
        for name, before, after in step.changes:
            _change(out, lookup.shown_register(name), lookup.words(before), lookup.words(after))
        if event.kind.endswith("commented") or event.kind.endswith("referenced"):
            out.block(
                str(event.data.get("body") or f"{event.data.get('label')}: {event.data.get('value')}"), indent="      "
            )


def _change(out: Output, field: str, before: str, after: str) -> None:
    if field.startswith(("comment:", "reference:")):
        return
    if "\n" in before or "\n" in after or len(before) + len(after) > 120:
        out.line(f"    {field}:")
        for mark, text in (("- ", before), ("+ ", after)):
            if text != "—":
                out.block(text, indent=f"      {mark}")
        return
    out.line(f"    {field}: {after}" if before == "—" else f"    {field}: {before} → {after}")


@command("log")
@option(
    "--limit", "-n", type=click.IntRange(1, 1_000_000), default=50, show_default=True, help="How many events to show."
)
@option("--follow", "-f", is_flag=True, help="Go on, and show events as they arrive.")
@pass_workspace
def log(ws: Workspace, out: Output, limit: int, follow: bool) -> None:
    """Show events as they happened.

    The newest come last. With --json each event is one object; with --follow one object per line.
    """
    from mait_code.commands import history as logic

    shown = logic.log(ws, limit)
    if out.json and not follow:
        out.data([logic.event_json(event, label) for event, label in shown])
        return
    if not shown and not follow:
        out.note('nothing has happened here yet; try: mait-code inbox add "a thought"')
    for event, label in shown:
        _event_line(out, event, label)
    if follow:
        out.flush()
        for event, label in logic.follow(ws):
            _event_line(out, event, label)
            out.flush()


def _event_line(out: Output, event: Event, label: str) -> None:
    from mait_code.commands import history as logic
    from mait_code.commands import lookup
    from mait_code.commands.times import local

    if out.json:
        out.data(logic.event_json(event, label))
        return
    kind, _, id_ = event.entity.partition("/")
    said = ", ".join(f"{lookup.shown_register(key)} {_brief(value)}" for key, value in event.data.items())
    out.line(
        out.style(event.tx[:8], "yellow"), "  ", local(event.shown, seconds=True), "  ",
        f"{event.actor} on {label or event.replica}  {event.kind}  {kind}/{id_[:5]}  {said}",
    )  # fmt: skip


def _brief(value: object) -> str:
    from mait_code.commands import lookup

    text = lookup.words(value).replace("\n", " ")
    return text if len(text) <= 60 else text[:59] + "…"


@command("undo")
@argument("what", required=False, metavar="[N|TX]")
@pass_workspace
def undo(ws: Workspace, out: Output, what: str | None) -> None:
    """Take back the last action, or a named one.

    Without an argument it takes back your last action on this machine, by you or by Claude; with a number N the last N,
    newest first; with an action's id (`log` and `history` show them) that one, an undo too. A thing that was made is
    deleted; everything else gets its earlier value. An undo is refused where something was written on top of it.
    """
    from mait_code.commands import undo as logic

    named = what is not None and not (what.isdecimal() and len(what) <= 4)
    undone = [logic.undo_named(ws, what)] if named and what is not None else logic.undo(ws, int(what or 1))
    if out.json:
        out.data(
            [
                {
                    "tx": one.tx,
                    "undo": one.events[0].tx,
                    "things": one.things,
                    "events": [event.id for event in one.events],
                }
                for one in undone
            ]
        )
        return
    for one in undone:
        kinds = ", ".join(dict.fromkeys(event.kind for event in one.action))
        out.line("Took back ", out.style(one.tx[:8], "yellow"), f" ({kinds}): {'; '.join(one.things)}")
