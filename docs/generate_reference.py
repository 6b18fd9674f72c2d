"""Writes docs/reference/cli.md and settings.md from the commands and the registry themselves: `./dev docs`.

With --check nothing is written; the exit code is 1 where a page is not what would be written.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import GLOBAL_OPTIONS, Context, Group, Table
from mait_code.commands.cli.table import ROOT
from mait_code.journal.settings import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by ./dev docs. Change the command or the registry, not this page. -->"


CLI_HEAD = """
A group without a command prints its summary, or where it has none its help. After `--` everything is text, also what
begins with a dash.

Exit codes: 0 fine, 1 the request failed, 2 usage, 74 the disk refused, 130 interrupted; a command that has others names
them below.

## Everywhere

These stand before or after a command, at any level.
"""

SETTINGS_HEAD = """
`mait-code settings list` shows what is in force and where each value comes from: the environment, else
`$XDG_CONFIG_HOME/mait-code/settings.toml` (`~/.config` where that is not set), else the default. What cannot be used
falls back for its own key and is named by `settings list`.
"""

SETTINGS_TAIL = """
Changing `data-dir` with `settings set` asks whether the directory moves along (`--move-data`) or stays
(`--no-move-data`).

## Variables for every run

The table `[env]` holds variables that every run gets unless the environment has them already:
`mait-code settings set env.NAME VALUE`. Those that look like secrets are shown by their last four characters only.
`MAIT_CODE_*` cannot be set there.
"""


def programs() -> str:
    """Which program is which group, from the package's own list."""
    scripts = tomllib.loads((HERE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    groups = [name.removeprefix("mc-tool-") for name in sorted(scripts) if name.startswith("mc-tool-")]
    tools = [f"`mc-tool-{name}`" for name in groups]
    are = [f"`mait-code {groups[0]}`", *(f"`{name}`" for name in groups[1:])]
    lists = [f"{', '.join(words[:-1])} and {words[-1]}" for words in (tools, are)]
    return textwrap.fill(f"{lists[0]} are {lists[1]}; `mait` is `mait-code`.", 120)


def cli_page() -> str:
    """The reference of every command."""
    root = Group("mait-code", ROOT)
    context = Context(root, info_name="mait-code")
    parts = ["# Commands", NOTE, programs(), CLI_HEAD.strip(), options(context, list(GLOBAL_OPTIONS))]
    parts += ["## Commands", contents(ROOT, "mait-code"), *sections(root, context)]
    return "\n\n".join(part for part in parts if part) + "\n"


def contents(table: Table, path: str) -> str:
    """One line for each command of a group."""
    rows = [f"- [`{path} {name}`](#{anchor(f'{path} {name}')}): {table.help_of(name)}" for name in table.commands]
    return "\n".join(rows)


def anchor(title: str) -> str:
    """A heading's anchor as Markdown renderers make it."""
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def sections(group: Group, context: click.Context) -> Iterator[str]:
    """The sections of a group's commands, groups first themselves, then what they hold."""
    for name in group.table.commands:
        found = group.get_command(context, name)
        assert found is not None
        below = Context(found, info_name=name, parent=context)
        yield f"### {below.command_path}"
        yield prose(found.help or "")
        yield f"```\n{found.get_usage(below).removeprefix('Usage: ')}\n```"
        yield arguments(below, found.params)
        yield options(below, [one for one in found.params if isinstance(one, click.Option)])
        if isinstance(found, Group):
            if found.table.screen:
                yield "On a terminal it opens its screen; with `--plain` it prints text there, too."
            yield contents(found.table, below.command_path)
            yield from sections(found, below)


def prose(text: str) -> str:
    """A docstring as Markdown: paragraphs unwrapped, lists and blocks left as they are."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    unwrapped = [
        one.removeprefix("\b\n") if one.startswith(("\b", "-", " ")) else one.replace("\n", " ") for one in paragraphs
    ]
    joined = "\n\n".join(unwrapped)
    return joined if joined.endswith((".", ":", "`", ")")) else f"{joined}."


def arguments(context: click.Context, parameters: list[click.Parameter]) -> str:
    """The arguments that have a help text."""
    found = [one for one in parameters if isinstance(one, click.Argument) and one.help]
    return "\n".join(f"- `{one.make_metavar(context)}`: {one.help}" for one in found)


def options(context: click.Context, parameters: list[click.Option]) -> str:
    """A line for each option, as --help has it."""
    rows = []
    for parameter in parameters:
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(f"- `{record[0]}`: {record[1]}")
    return "\n".join(rows)


def settings_page() -> str:
    """The reference of every setting."""
    rows = ["| key | variable | default | takes | what it is |", "|---|---|---|---|---|"]
    for one in REGISTRY:
        default = f"`{one.shown_default}` {one.unit}".strip()
        rows.append(f"| `{one.key}` | `{one.variable}` | {default} | {one.accepts} | {one.help} |")
    parts = ["# Settings", NOTE, SETTINGS_HEAD.strip(), "\n".join(rows), SETTINGS_TAIL.strip()]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, page in (("cli.md", cli_page()), ("settings.md", settings_page())):
        path = HERE / name
        if path.is_file() and path.read_text(encoding="utf-8") == page:
            continue
        stale.append(name)
        if "--check" not in arguments:
            HERE.mkdir(exist_ok=True)
            path.write_text(page, encoding="utf-8")
            print(f"wrote docs/reference/{name}")
    if stale and "--check" in arguments:
        print(f"not current: {', '.join(stale)}; run ./dev docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
