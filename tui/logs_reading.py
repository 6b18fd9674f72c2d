"""What the logs ask of the invocation log. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import invocation_log
from mait_code.commands.invocation_log import Reader, Record
from mait_code.commands.output import counted
from mait_code.commands.times import local
from mait_code.tui.observations_reading import day_text
from mait_code.tui.outline_reading import Branch, Outline, Text

if TYPE_CHECKING:
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line

__all__ = ["A_DAY", "FLOORS", "Logs", "Question", "day", "first", "record"]

#: From which level on records are shown; each with its words.
FLOORS = {"": "", "WARNING": "what failed", "ERROR": "faults"}
#: Rows of a day at most.
A_DAY = 500
#: Commands that the text of a day tells of.
_FEW = 12


class Logs(Outline[Record]):
    """The answer: days with their records, all of them by day and by command too, for those who choose."""

    __slots__ = ("by_day", "commands", "days")

    def __init__(self, where: str) -> None:
        super().__init__(where)
        #: What is shown of each day, whether there is a row for it or not.
        self.by_day: dict[str, list[Record]] = {}
        #: (name, how often), of everything that is not filtered by command.
        self.commands: list[tuple[str, int]] = []
        #: (day, how many), of everything.
        self.days: list[tuple[str, int]] = []


class Question:
    """What ran, by these choices; `reader` knows the files that were read before."""

    __slots__ = ("command", "day", "floor", "reader", "words")

    def __init__(
        self, reader: Reader, words: str = "", floor: str = "", command: str | None = None, day: str = ""
    ) -> None:
        self.reader = reader
        self.words = words
        self.floor = floor
        self.command = command
        self.day = day

    def __call__(self, ws: Workspace) -> Logs:  # noqa: ARG002
        every = self.reader.read()
        shown = invocation_log.matching(every, self.words, self.floor, self.command, self.day)
        found = Logs(self._where())
        found.total = len(every)
        found.commands = invocation_log.commands(every)
        found.days = list(_by_day(every).items())
        for one in shown:
            found.by_day.setdefault(one.day, []).append(one)
        for number, (day, records) in enumerate(found.by_day.items()):
            detail = str(len(records)) if len(records) <= A_DAY else f"the last {A_DAY} of {len(records)}"
            name = day_text(day) if day else "at an unknown time"
            branch = Branch(f"day:{day}", name, detail, count=len(records), is_open=not number or len(shown) <= A_DAY)
            branch.leaves = [one.key for one in records[:A_DAY]]
            found.branches.append(branch)
            found.items.update((one.key, one) for one in records[:A_DAY])
        faults = sum(one.level == "ERROR" for one in shown)
        found.banner = counted(len(shown), "line") + (f", {counted(faults, 'fault')}" if faults else "")
        return found

    def _where(self) -> str:
        command = None if self.command is None else self.command or "without a command"
        return ", ".join(filter(None, (FLOORS[self.floor], command, day_text(self.day) if self.day else "")))


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question(Reader())


def _by_day(records: list[Record]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for one in records:
        counts[one.day] = counts.get(one.day, 0) + 1
    return counts


def record(one: Record) -> Text:
    """A record whole, with its traceback."""
    if one.raw:
        lines: list[Line] = [[("warning", "This line of the log cannot be read.")], []]
        return Text("", [], "", lines=[*lines, *([("", line)] for line in one.raw.split("\n"))])
    style = {"ERROR": "error", "WARNING": "warning"}.get(one.level, "success")
    when = ", ".join(filter(None, (local(one.ts, seconds=True), invocation_log.took(one))))
    ended = one.outcome or "it is not known how it ended"
    lines = [[(style, ended), ("strong", f"  {one.error}" if one.error else ""), ("dim", f"  {when}")], []]
    if one.traceback:
        told = invocation_log.traceback_text(one) or "The file with the traceback is not there any more."
        lines += [*([("", line)] for line in told.rstrip("\n").split("\n")), []]
    facts = [
        ("exit", "" if one.code is None else str(one.code)),
        ("level", one.level),
        ("process", "" if one.pid is None else str(one.pid)),
        ("file", one.traceback),
    ]
    lines += [[("dim", f"{name:<9}"), ("", value)] for name, value in facts if value]
    return Text(one.command or "mait-code", [], "", lines=lines)


def day(found: Logs, key: str) -> Text | None:
    """A day in numbers; None where nothing is shown of it."""
    date = key.removeprefix("day:")
    records = found.by_day.get(date)
    if records is None:
        return None
    failed = sum(one.level == "WARNING" for one in records)
    faults = sum(one.level == "ERROR" for one in records)
    slowest = max(records, key=lambda one: one.milliseconds or 0)
    lines: list[Line] = [
        [("", counted(len(records), "line"))],
        [
            ("warning" if failed else "dim", f"{failed} failed"),
            ("error" if faults else "dim", f"  {counted(faults, 'fault')}"),
        ],
        [("dim", "the slowest: "), ("", f"{slowest.command or 'mait-code'}  {invocation_log.took(slowest)}")],
        [],
    ]
    for name, count in invocation_log.commands(records)[:_FEW]:
        lines.append([("dim", f"{count:>6}  "), ("", name or "mait-code")])
    return Text(day_text(date) if date else "At an unknown time", [], "", lines=lines)
