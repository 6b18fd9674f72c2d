"""Settings from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands.cli.frame import argument, command, option, pass_output
from mait_code.journal.errors import BadInput

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.settings import Change


@pass_output
def overview(out: Output) -> None:
    """What `mait-code settings` prints: the list."""
    _print_list(out)


@command("list")
@pass_output
def list_settings(out: Output) -> None:
    """List every setting with its value and source."""
    _print_list(out)


def _print_list(out: Output) -> None:
    from mait_code.commands import settings
    from mait_code.journal.settings import path, problems

    listed, variables, found = settings.listing(), settings.variables(), problems()
    if out.json:
        env = [{"key": f"env.{name}", "value": value, "source": "settings"} for name, value in variables.items()]
        troubles = [{"where": one.where, "message": one.message, "key": one.key or None} for one in found]
        derived = settings.derived()
        out.data({"path": path(), "settings": listed, "env": env, "derived": derived, "problems": troubles})
        return
    rows = [(one["key"], _shown(one["value"], one["unit"]), one["source"]) for one in listed]
    rows += [(f"env.{name}", value, "settings") for name, value in variables.items()]
    rows += [(one["key"], _shown(one["value"]), one["source"]) for one in settings.derived()]
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for key, value, source in rows:
        out.line(out.style(key.ljust(keys), "bold"), "  ", value.ljust(values), "  ", out.style(f"({source})", "dim"))
    for problem in found:
        out.warn(str(problem))


def _shown(value: object, unit: str = "") -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{text} {unit}" if unit else text


@command("get")
@argument("key")
@pass_output
def get(out: Output, key: str) -> None:
    """Print one setting and its source."""
    from mait_code.commands import settings
    from mait_code.commands.output import Styled
    from mait_code.journal.settings import problems

    found = settings.one(key)
    if out.json:
        out.data(found)
    else:
        # A tab, so that `cut -f1` gives the value alone.
        out.line(_shown(found["value"]), Styled("\t"), f"({found['source']})")
    for problem in problems([key] if "default" in found else []):
        out.warn(str(problem))


@command("set")
@argument("key")
@argument("value")
@option(
    "--move-data/--no-move-data",
    default=None,
    help="For data-dir: take the present data directory to the new place, or leave it where it is.",
)
@pass_output
def set_setting(out: Output, key: str, value: str, move_data: bool | None) -> None:
    """Change a setting in settings.toml.

    KEY is one of those that `settings list` shows, or env.NAME for a variable that every run gets unless the
    environment has it already.
    """
    from mait_code.commands import settings
    from mait_code.journal.errors import BadInput

    if key == "data-dir":
        _print_change(out, settings.change_data_dir(value, move_data))
        return
    if move_data is not None:
        raise BadInput("--move-data is for data-dir only", f"{key} needs no move")
    _print_change(out, settings.change(key, value))


@command("unset")
@argument("key")
@pass_output
def unset(out: Output, key: str) -> None:
    """Return a setting to its default."""
    from mait_code.commands import settings

    if key == "data-dir":
        raise BadInput(
            "unset data-dir would leave your data where it is, unread",
            "set it to the place you want, with --move-data or --no-move-data",
        )
    _print_change(out, settings.change(key, None))


def _print_change(out: Output, change: Change) -> None:
    if out.json:
        out.data({"key": change.key, "before": change.before, "value": change.after, "source": change.source})
    else:
        before, after = (_quoted(value) for value in (change.before, change.after))
        out.line(out.style(change.key, "bold"), ": ", before, " → ", after)
    for note in change.notes:
        out.note(note)


def _quoted(value: object) -> str:
    return f"'{_shown(value)}'"
