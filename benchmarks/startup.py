"""Start-up: a whole command against an interpreter that imports the same libraries and does nothing.

A command may cost 1.5 times `python -c "import click, orjson, apsw"`, a hook 1.5 times
`python -c "import orjson, apsw"`, with its work, on a home that exists.
"""

from __future__ import annotations

import os

import measure
from measure import Row, probe, say, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from environment import Environment

BUDGET = 1.5
COMMAND_FLOOR = "import click, orjson, apsw"
HOOK_FLOOR = "import orjson, apsw"
_HOOK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_hook.py")


def _cases(environment: Environment, cards: list[str]) -> dict[str, Callable[[int], list[str]]]:
    """Argument vectors by round. Every round moves a card that has not been moved."""
    mait, python = environment.program("mait-code"), environment.python
    return {
        COMMAND_FLOOR: lambda _round: [python, "-c", COMMAND_FLOOR],
        HOOK_FLOOR: lambda _round: [python, "-c", HOOK_FLOOR],
        "mait-code --help": lambda _round: [mait, "--help"],
        "inbox add": lambda number: [mait, "inbox", "add", f"thought {number} about the parser and the café"],
        "board move": lambda number: [mait, "board", "move", cards[number % len(cards)], "archived"],
        "board list": lambda _round: [mait, "board", "list"],
        "reminders check": lambda _round: [mait, "reminders", "check"],
        "a hook's append": lambda _round: [python, _HOOK],
    }


def rows(environment: Environment, scratch: str, rounds: int) -> list[Row]:
    """The start-up rows on a small home (200 cards)."""
    home = os.path.join(scratch, "small")
    os.makedirs(home)
    variables = environment.variables(home)
    cards, _ = probe(environment.python, "probe_seed.py", variables, f"{home}/data", scratch=scratch)
    say(f"start-up, {rounds} rounds")
    return _measure(environment, home, cards, rounds, "start-up")  # type: ignore[arg-type]


def rows_of_large_home(environment: Environment, home: str, cards: list[str], rounds: int, events: int) -> list[Row]:
    """The commands that touch a store, on a home with a long history."""
    say(f"start-up with {events:,} events behind it, {rounds} rounds")
    leave_out = ("mait-code --help", "board list")
    return _measure(environment, home, cards, rounds, f"start-up, {events:,} events", leave_out)


def _measure(
    environment: Environment, home: str, cards: list[str], rounds: int, group: str, leave_out: tuple[str, ...] = ()
) -> list[Row]:
    variables = environment.variables(home)

    def timed(argv: Callable[[int], list[str]]) -> Callable[[int], float]:
        return lambda number: spawn(argv(number), variables).cpu

    cases = _cases(environment, cards)
    taken = measure.in_turns({name: timed(argv) for name, argv in cases.items() if name not in leave_out}, rounds)
    floors = (COMMAND_FLOOR, HOOK_FLOOR)
    return [
        measure.row(group, name, "ms", values, taken[floors[name == "a hook's append"]], BUDGET)
        for name, values in taken.items()
        if name not in floors
    ]


def instructions(environment: Environment, scratch: str) -> list[Row]:
    """The same ratios in instructions, as valgrind counts them: no machine's load changes them."""
    import re
    import shutil
    import subprocess

    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise SystemExit("bench: --instructions needs valgrind")
    home = os.path.join(scratch, "small")
    variables = environment.variables(home, PYTHONHASHSEED="0")
    cards, _ = probe(environment.python, "probe_seed.py", variables, f"{home}/data", scratch=scratch)
    counts: dict[str, float] = {}
    for name, argv in _cases(environment, cards).items():  # type: ignore[arg-type]
        say(f"counting the instructions of {name}")
        command = [valgrind, "--tool=callgrind", f"--callgrind-out-file={os.devnull}", *argv(1)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if found is None:
            raise SystemExit(f"bench: valgrind counted nothing for {name}\n{done.stderr}")
        counts[name] = int(found[1]) / 1e6
    made = []
    for name, count in counts.items():
        if name not in (COMMAND_FLOOR, HOOK_FLOOR):
            floor = counts[HOOK_FLOOR if name == "a hook's append" else COMMAND_FLOOR]
            made.append(Row("start-up, instructions", name, "M", count, floor, count / floor, BUDGET))
    return made
