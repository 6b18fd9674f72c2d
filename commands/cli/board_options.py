"""Options that board and inbox commands share, and text that may come from stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from mait_code.commands.cli.frame import option, read_stdin

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PRIORITY", "STATUS", "for_project", "for_session", "text_or_stdin", "words_or_stdin"]

F = TypeVar("F", bound="Callable[..., Any]")

PRIORITY = click.Choice(["low", "medium", "high"], case_sensitive=False)


def STATUS(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: N802
    """Completion of a column's name."""
    from mait_code.projections.cards import COLUMNS

    return [column for column in COLUMNS if column.startswith(incomplete)]


def for_project(help_text: str = "The card is one of this project.") -> Callable[[F], F]:
    """`--project`, on every board command."""
    return option("--project", metavar="NAME", help=help_text)


def for_session(help_text: str = "Bind it to this session; with --pid.") -> Callable[[F], F]:
    """`--session` and `--pid`: a session other than the one the command runs in, always both."""

    def decorate(function: F) -> F:
        pid = option("--pid", type=click.IntRange(1), metavar="N", help="The process of that session; with --session.")
        return option("--session", metavar="ID", help=help_text)(pid(function))

    return decorate


def text_or_stdin(text: str | None) -> str | None:
    """The text, or all of stdin where it is a single dash."""
    return read_stdin() if text == "-" else text


def words_or_stdin(words: tuple[str, ...]) -> str:
    """The words as one text, or all of stdin where they are a single dash."""
    return read_stdin() if words == ("-",) else " ".join(words)
