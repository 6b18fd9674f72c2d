"""Conflicts from the command line."""

from __future__ import annotations

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.journal.errors import Ambiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.conflicts import Conflict
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """The text summary of `mait-code conflicts`: the same as its list."""
    _list(ws, out)


@command("list")
@pass_workspace
def list_conflicts(ws: Workspace, out: Output) -> None:
    """List open conflicts."""
    _list(ws, out)


def _list(ws: Workspace, out: Output) -> None:
    from mait_code.commands import conflicts

    found = conflicts.listed(ws)
    if out.json:
        out.data([conflict.json() for conflict in found])
        return
    if not found:
        out.line("No conflicts: nothing was changed on two machines at once.")
        return
    for conflict in found:
        _print(out, conflict)
    out.note("close one with: mait-code conflicts pick ID FIELD NUMBER")


@command("show")
@argument("id")
@argument("field", required=False)
@pass_workspace
def show(ws: Workspace, out: Output, id: str, field: str | None) -> None:
    """Show one conflict: who, where and when."""
    from mait_code.commands import conflicts

    found = conflicts.of(ws, id, field)
    if out.json:
        out.data([conflict.json() for conflict in found])
        return
    for conflict in found:
        _print(out, conflict)


@command("pick")
@argument("id")
@argument("field_and_number", nargs=-1, required=True, metavar="[FIELD] NUMBER")
@option("--value", is_flag=True, help="NUMBER is the text of a side's value, not its number.")
@pass_workspace
def pick(ws: Workspace, out: Output, id: str, field_and_number: tuple[str, ...], value: bool) -> None:
    """Choose a value and close a conflict.

    NUMBER is that of the side you want, as `conflicts show` counts them. FIELD may be left out where only one field is in
    conflict. `undo` takes a pick back.
    """
    from mait_code.commands import conflicts, lookup

    if len(field_and_number) > 2:
        raise click.UsageError("give ID, FIELD and NUMBER")
    field = field_and_number[0] if len(field_and_number) == 2 else None
    found = conflicts.of(ws, id, field)
    if len(found) > 1:
        names = [conflict.field for conflict in found]
        raise Ambiguous(
            f"{id} is in conflict over {', '.join(names)}", names, "name the field: conflicts pick ID FIELD NUMBER"
        )
    conflict = found[0]
    number = _side(conflict, field_and_number[-1], value)
    conflicts.pick(ws, conflict, number)
    chosen = lookup.words(conflict.sides[number - 1].value)
    if out.json:
        out.data({**conflict.json(), "picked": conflict.sides[number - 1].json()})
        return
    out.line(f"{conflict.field} of {conflict.short} is ", out.style(chosen, "bold"), " now; the conflict is closed.")


def _side(conflict: Conflict, text: str, by_value: bool) -> int:
    from mait_code.commands import lookup

    values = [lookup.words(side.value) for side in conflict.sides]
    if not by_value and text.isdecimal():
        return int(text)
    if text in values:
        return values.index(text) + 1
    raise click.UsageError(f"{text!r} is no side of this conflict; give a number from 1 to {len(values)}")


def _print(out: Output, conflict: Conflict) -> None:
    from mait_code.commands import lookup
    from mait_code.commands.times import local

    kind = conflict.entity.partition("/")[0]
    out.line(out.style(f"{kind} {conflict.short}", "bold"), f"  {conflict.title}")
    out.line(f"  {conflict.field}:")
    for number, side in enumerate(conflict.sides, 1):
        value = _deletion(side.value) if conflict.field == "deleted" else lookup.words(side.value)
        who = (
            f"{side.event.actor} on {side.machine or side.event.replica}, {local(side.event.shown)}"
            if side.event
            else "unknown"
        )
        mark = "  ← shown meanwhile" if side.stands else ""
        if "\n" in value or len(value) > 60:
            out.line(f"    {number}  {who}{mark}")
            out.block(value, indent="         ")
        else:
            out.line(f"    {number}  ", out.style(value, "bold"), f"  ({who}){mark}")


def _deletion(value: object) -> str:
    return "deleted" if value else "kept, with what was written since"
