"""Measuring processes on a machine that others use too.

The measure is process CPU, user and system together, as the kernel accounts it to the finished process (`wait4`):
waiting for a core does not count. Other load still slows memory and caches, so what is measured and its floor run in
turns, and the ratio is the median of the ratios of neighbours: what slows one slows the other.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field

import orjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Variables = Mapping[str, str]


def say(text: str) -> None:
    """Progress, for people."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


@dataclass
class Row:
    """One line of the result.

    `budget` is a ratio where there is a floor, else in the row's own unit; None is no budget. A row with `absolute`
    holds its budget in the unit although a floor is shown beside it.
    """

    group: str
    name: str
    unit: str
    measured: float
    floor: float | None = None
    ratio: float | None = None
    budget: float | None = None
    absolute: bool = False
    note: str = ""
    samples: dict[str, list[float]] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether it is over its budget."""
        held = self.ratio if self.ratio is not None and not self.absolute else self.measured
        return self.budget is not None and held > self.budget

    def json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "name": self.name,
            "unit": self.unit,
            "measured": self.measured,
            "floor": self.floor,
            "ratio": self.ratio,
            "budget": self.budget,
            "budget_is": "absolute" if self.absolute or self.ratio is None else "ratio",
            "over": self.over,
            "note": self.note,
            "samples": self.samples,
        }


@dataclass(frozen=True)
class Used:
    """What one process used: milliseconds of CPU and of wall time, and its largest size in MiB."""

    cpu: float
    wall: float
    size: float


def spawn(argv: Sequence[str], variables: Variables, out: str = os.devnull, given: str = os.devnull) -> Used:
    """Run a process to its end, with the file `given` as its input. Raises RuntimeError where it fails: a benchmark of
    something broken says nothing."""
    with tempfile.TemporaryFile() as complaints:
        streams = [
            (os.POSIX_SPAWN_OPEN, 0, given, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_DUP2, complaints.fileno(), 2),
        ]
        began = time.perf_counter()
        process = os.posix_spawn(argv[0], argv, variables, file_actions=streams)
        _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - began
        if status != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace")
            raise RuntimeError(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}\n{said}")
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Used((usage.ru_utime + usage.ru_stime) * 1000, wall * 1000, usage.ru_maxrss / scale)


def probe(python: str, script: str, variables: Variables, *arguments: str, scratch: str) -> tuple[dict[str, Any], Used]:
    """Run a script of this directory with another interpreter; what it printed as JSON, and what it used."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), script)
    out = os.path.join(scratch, "probe.json")
    used = spawn([python, path, *arguments], variables, out)
    with open(out, "rb") as file:
        return orjson.loads(file.read()), used


def in_turns(cases: Mapping[str, Callable[[int], float]], rounds: int) -> dict[str, list[float]]:
    """Run every case once per round, `rounds` times, after one round that does not count. A case is told its round."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            value = case(number)
            if number:
                taken[name].append(value)
    return taken


def against(measured: Sequence[float], floor: Sequence[float]) -> float:
    """The median ratio of neighbours."""
    return statistics.median(one / other for one, other in zip(measured, floor, strict=True))


def row(
    group: str, name: str, unit: str, measured: list[float], floor: list[float], budget: float | None, note: str = ""
) -> Row:
    """A row of two series that ran in turns."""
    return Row(
        group,
        name,
        unit,
        statistics.median(measured),
        statistics.median(floor),
        against(measured, floor),
        budget,
        note=note,
        samples={"measured": measured, "floor": floor},
    )
