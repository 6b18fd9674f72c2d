"""The commands of the start page: asking whether one may run here, and running it beside everything else."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from mait_code.commands import dashboard_run
from mait_code.commands.dashboard_run import Outcome
from mait_code.commands.output import counted
from mait_code.tui.dialog import Dialog
from mait_code.tui.keys_wait import start
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.dom import DOMNode

    from mait_code.tui.outline_reading import Line

__all__ = ["Allow", "Runs", "outcome_lines", "unapproved_lines"]

#: Commands that run at a time, and lines of one that a tile shows before it was allowed.
_AT_ONCE, _FEW = 4, 4
_GROUP = "tiles"


class Allow(Dialog[bool]):
    """Whether a command may run on this machine, from now on. It is shown whole; only y is yes."""

    KEYS_TITLE: ClassVar[str] = "Question"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Allow"),
        Binding("n,escape,q,enter", "answer(False)", "No"),
        Binding("down,j", "roll(1)", "Down", show=False),
        Binding("up,k", "roll(-1)", "Up", show=False),
        Binding("pagedown,space", "roll(10)", "Page down", show=False),
        Binding("pageup", "roll(-10)", "Page up", show=False),
    ]

    def __init__(self, command: str, then: str = "Allowed, it runs whenever home opens.") -> None:
        super().__init__()
        self._command = command
        self._then = then

    def compose(self) -> ComposeResult:
        lines = self._command.count("\n") + 1
        with Vertical(classes="dialog danger allow") as box:
            box.border_title = "Run this on this machine?"
            box.border_subtitle = "y allows it · n, Enter, Esc do not"
            with VerticalScroll(can_focus=False):
                yield Static(Content(visible(self._command, multiline=True)))
            size = f"{counted(lines, 'line')}, {counted(len(self._command), 'character')}"
            yield Static(f"{size}. Other machines may have written dashboard.toml. {self._then}", classes="detail")

    def action_answer(self, answer: bool) -> None:
        self.leave(answer)

    def action_roll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False, immediate=True)


class Runs:
    """What came of commands, by their text. `told` is called when there is something new to show."""

    def __init__(self, node: DOMNode, told: Callable[[], None]) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.under_way: set[str] = set()
        #: Those whose outcome is to be another one soon; it is shown until then.
        self._old: set[str] = set()
        self._node = node
        self._told = told
        self._turn = asyncio.Semaphore(_AT_ONCE)

    def run(self, commands: dict[str, int], timeout: float) -> None:
        """Run commands, each for a tile of so many cells, that do not run already."""
        for command, columns in commands.items():
            if command not in self.under_way:
                self.under_way.add(command)
                start(self._node, partial(self._run, command, timeout, columns), group=_GROUP)

    def forget(self) -> None:
        """Kill what runs, and have everything wanted anew."""
        self._node.workers.cancel_group(self._node, _GROUP)
        self.under_way.clear()
        self._old.update(self.outcomes)

    def wants(self, command: str) -> bool:
        """Whether a command has not run yet, or not since all was forgotten."""
        return command not in self.outcomes or command in self._old

    async def _run(self, command: str, timeout: float, columns: int) -> None:
        ended = threading.Event()  # set where nobody waits any more: the house was closed, or all is run again
        try:
            async with self._turn:
                outcome = await asyncio.to_thread(dashboard_run.run, command, timeout, columns, ended.is_set)
        except Exception as error:
            outcome = Outcome([], fault=f"it cannot be run: {error}")
        finally:
            ended.set()
        self.under_way.discard(command)
        self._old.discard(command)
        self.outcomes[command] = outcome
        self._told()


def outcome_lines(outcome: Outcome | None, runs: bool) -> list[Line]:
    """What a tile shows of a command; `runs` says that it is being run."""
    if outcome is None:
        return [[("dim", "running …" if runs else "")]]
    lines: list[Line] = [[("", text)] for text in outcome.lines]
    if outcome.more:
        lines.append([("dim", f"and {counted(outcome.more, 'more line', 'more lines')}")])
    if outcome.fault:
        lines.append([("error", f"✗ {outcome.fault}")])
    elif not lines:
        lines.append([("dim", "it said nothing")])
    return lines


def unapproved_lines(command: str) -> list[Line]:
    """What a tile shows of a command that was not allowed on this machine."""
    rows = command.strip().splitlines()
    lines: list[Line] = [[("warning", "Not allowed on this machine yet:")]]
    lines += [[("strong", row)] for row in rows[:_FEW]]
    if len(rows) > _FEW:
        lines.append([("dim", f"and {counted(len(rows) - _FEW, 'more line', 'more lines')}")])
    return [*lines, [("dim", "a shows it whole, and asks")]]
