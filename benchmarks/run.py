"""Every budget of the product, measured by one command: `./dev bench`.

The wheel is built and installed into a fresh environment, and whatever is held to a ratio runs in turns with its
floor. The table says what was measured, against what, and whether it is within its budget; the exit code is 1 where a
budget is broken. None of this is a test: a stopwatch proves nothing on a machine that others use.

    ./dev bench                  everything, with the curve up to a million events
    ./dev bench --quick          below two minutes, without the curve
    ./dev bench --only start-up  some groups: start-up, hooks, fold, append, sync, memory, screens, curve
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import appending
import environment
import folding
import hooking
import opening
import orjson
import remembering
import startup
import syncing
from measure import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from measure import Row

GROUPS = ("start-up", "hooks", "fold", "append", "sync", "memory", "screens", "curve")
EVENTS = 100_000
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure every budget of the product.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and no curve: below two minutes")
    parser.add_argument("--json", action="store_true", help="write JSON to stdout, every sample included")
    parser.add_argument("--only", action="append", choices=GROUPS, help="measure this group (can be given again)")
    parser.add_argument("--instructions", action="store_true", help="count start-up in instructions (with valgrind)")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="sizes of the curve, in events")
    return parser.parse_args()


def _measure(options: argparse.Namespace, scratch: str) -> tuple[list[Row], list[Any]]:
    made = environment.make(Path(scratch))
    quick = options.quick
    chosen = options.only or [group for group in GROUPS if not quick or group != "curve"]
    rows: list[Row] = []
    points: list[Any] = []
    if "start-up" in chosen:
        rows += startup.rows(made, scratch, 15 if quick else 60)
    if options.instructions:
        rows += startup.instructions(made, scratch)
    if "hooks" in chosen:
        rows += hooking.rows(made, scratch, 15 if quick else 40)
    if "fold" in chosen:
        journal = folding.Journal(made, scratch, EVENTS)
        rows += folding.rebuild_rows(journal, 3 if quick else 9)
        rows += startup.rows_of_large_home(made, journal.home, journal.cards(), 8 if quick else 30, EVENTS)
        rows += folding.catch_up_rows(journal, 20 if quick else 50)
        journal.remove()
    if "append" in chosen:
        rows += appending.rows(made, scratch, 50 if quick else 200, 40 if quick else 200)
    if "sync" in chosen:
        rows += syncing.rows(made, scratch, 4 if quick else 15)
    if "memory" in chosen:
        rows += remembering.rows(made, scratch, 8 if quick else 30)
    if "screens" in chosen:
        rows += opening.rows(made, scratch, 4 if quick else 15)
    if "curve" in chosen:
        sizes = tuple(int(size) for size in options.sizes.split(","))
        more, points = folding.curve(made, scratch, sizes, 20)
        rows += more
    return rows, points


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return ""
    digits = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f} {unit}".strip()


def _line(row: Row) -> tuple[str, ...]:
    by_unit = row.absolute or row.ratio is None
    budget = "" if row.budget is None else f"{row.budget:g} {row.unit}" if by_unit else f"{row.budget:g}x"
    verdict = "" if row.budget is None else "OVER" if row.over else "ok"
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}x" if row.ratio < 100 else f"{row.ratio:,.0f}x"
    return (row.group, row.name, _number(row.measured, row.unit), _number(row.floor, row.unit), ratio, budget, verdict)


def table(rows: list[Row]) -> str:
    """The result for people."""
    lines = [("", "name", "measured", "floor", "ratio", "budget", "verdict"), *map(_line, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(7)]
    text, group = [], ""
    for line in lines:
        cells = [line[0] if line[0] != group else "", *line[1:]]
        group = line[0]
        aligned = [
            cell.ljust(width) if column in (0, 1, 6) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        text.append("  ".join(aligned).rstrip())
    notes = [f"{row.name}: {row.note}" for row in rows if row.note]
    return "\n".join([*text, "", *notes])


def main() -> int:
    options = _arguments()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mait-code-bench-") as scratch:
        rows, points = _measure(options, os.path.realpath(scratch))
    say(f"done in {time.monotonic() - began:.0f} s")
    if options.json:
        answer = {"rows": [row.json() for row in rows], "curve": points}
        sys.stdout.buffer.write(orjson.dumps(answer, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        print(table(rows))
        if points:
            print("\n" + folding.curve_table(points))
    over = [row.name for row in rows if row.over]
    if over:
        say("over budget: " + ", ".join(over))
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
