"""The program about itself: its version, and completion for shells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import Group, argument, command, pass_output

if TYPE_CHECKING:
    from mait_code.commands.output import Output

PROGRAMS = ("mait-code", "mait", "mc-tool-board", "mc-tool-inbox", "mc-tool-reminders", "mc-tool-memory")


@command("version")
@pass_output
def version(out: Output) -> None:
    """Print the version."""
    from mait_code.commands.install.record import version as installed

    number = installed()
    if out.json:
        out.data({"version": number})
    else:
        out.line(number)


@command("completion")
@argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_output
def completion(out: Output, shell: str) -> None:
    """Print a completion script for your shell.

    For bash put `eval "$(mait-code completion bash)"` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc; for fish
    write the output to ~/.config/fish/completions/mait-code.fish.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    assert found is not None, "click knows the three shells that the argument offers"
    assert isinstance(root, Group)
    for program in PROGRAMS:
        variable = f"_{program}_COMPLETE".replace("-", "_").upper()
        out.block(found(root, {}, program, variable).source())
