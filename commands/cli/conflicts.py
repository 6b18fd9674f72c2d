"""Conflicts from the command line."""

from __future__ import annotations

import click

from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.journal.errors import Ambiguous, BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.conflicts import Conflict
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Characters of a value that stands in one line with who wrote it.
_IN_LINE = 60


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
        out.line("No open conflicts.")
    _print_all(out, found)


@command("show")
@argument("id")
@argument("field", required=False)
@pass_workspace
def show(ws: Workspace, out: Output, id: str, field: str | None) -> None:  # noqa: A002
    """Show one conflict: who, where and when.

    ID is the card, inbox item or reminder, deleted ones too. FIELD chooses where several of its fields are in conflict.
    """
    from mait_code.commands import conflicts

    found = conflicts.of(ws, id, field)
    if out.json:
        out.data([conflict.json() for conflict in found])
        return
    _print_all(out, found)


@command("pick")
@argument("id")
@argument("field_and_number", nargs=-1, required=True, metavar="[FIELD] NUMBER")
@option("--value", is_flag=True, help="The last argument is the value of a side, not its number.")
@pass_workspace
def pick(ws: Workspace, out: Output, id: str, field_and_number: tuple[str, ...], value: bool) -> None:  # noqa: A002
    """Choose a value and close a conflict.

    NUMBER is that of the side you want, as `conflicts show` counts them. FIELD may be left out where only one field is
    in conflict. `undo` takes a pick back.
    """
    from mait_code.commands import conflicts

    *fields, chosen = field_and_number
    if len(fields) > 1:
        raise click.UsageError("too many words: give ID, FIELD and NUMBER, and quote a FIELD or a value with spaces")
    found = conflicts.of(ws, id, fields[0] if fields else None)
    if len(found) > 1:
        names = [conflict.field for conflict in found]
        raise Ambiguous(
            f"{id} is in conflict over {', '.join(names)}", names, "name the field: conflicts pick ID FIELD NUMBER"
        )
    conflict = found[0]
    number = _side(conflict, chosen, value)
    event = conflicts.pick(ws, conflict, number)
    side = conflict.sides[number - 1]
    if out.json:
        out.data({**conflict.json(), "picked": side.json(), "event": event.id})
        return
    out.line("Picked for ", out.style(conflict.short, "bold"), f" {conflict.title}; the conflict is closed.")
    _value(out, f"  {conflict.field}: ", conflict.words(side), "")


def _side(conflict: Conflict, text: str, by_value: bool) -> int:
    values = [conflict.words(side) for side in conflict.sides]
    if not by_value and text.isascii() and text.isdecimal():
        return int(text)
    if by_value and text in values:
        return values.index(text) + 1
    hint = "--value takes a value as conflicts show prints it" if by_value else "to pick by value add --value"
    raise BadInput(f"{text!r} is no side of this conflict", f"give a number from 1 to {len(values)}; {hint}")


def _print_all(out: Output, found: list[Conflict]) -> None:
    for conflict in found:
        _print(out, conflict)
    if found:
        example = found[0]
        field = example.field if " " not in example.field else f'"{example.field}"'
        out.note(f"close one by picking a side: mait-code conflicts pick {example.short} {field} 1")


def _print(out: Output, conflict: Conflict) -> None:
    kind = conflict.entity.partition("/")[0]
    out.line(out.style(f"{kind} {conflict.short}", "bold"), f"  {conflict.title}")
    out.line(f"  {conflict.field}:")
    for number, side in enumerate(conflict.sides, 1):
        mark = f"  ({side.who})" + ("  ← shown meanwhile" if side.stands else "")
        _value(out, f"    {number}  ", conflict.words(side), mark)


def _value(out: Output, before: str, text: str, after: str) -> None:
    """A value in its line, or, where it is long, beneath it."""
    if "\n" in text or len(text) > _IN_LINE:
        out.line(before.rstrip(), after)
        out.block(text, indent="         ")
    else:
        out.line(before, out.style(text, "bold"), after)
