"""Play random histories by the thousand: `python tests/convergence --copied 10000`.

Each part of `--each` histories has a number; a part that fails is named with the command that plays it again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) in sys.path:
    sys.path.remove(str(HERE))
sys.path.insert(0, str(HERE.parent))

from convergence import histories  # noqa: E402
from convergence.world import scratch  # noqa: E402

SORTS = {
    "copied": (histories.Concurrent, histories.STEPS),
    "over_git": (histories.OverGit, histories.STEPS_OVER_GIT),
    "sequential": (histories.Sequential, histories.STEPS),
}


def main() -> int:
    asked = arguments()
    alone = scratch()
    os.environ.update(HOME=alone, GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.devnull, TZ="UTC")
    os.chdir(alone)
    parts = [
        (sort, min(asked.each, count - begin), asked.seed + number)
        for sort in SORTS
        for count in [getattr(asked, sort)]
        for number, begin in enumerate(range(0, count, asked.each))
    ]
    began, tally, failed = time.monotonic(), Counter[str](), 0
    with ProcessPoolExecutor(asked.workers) as pool:
        running = {pool.submit(part, *one, asked.shrink): one for one in parts}
        for done, finished in enumerate(as_completed(running), 1):
            played, fault = finished.result()
            tally.update(played)
            if fault:
                failed += 1
                sort, count, number = running[finished]
                again = f"python tests/convergence --{sort.replace('_', '-')} {count} --each {count} --seed {number} --shrink"
                say(f"{fault}\nagain: {again}\n")
            if done % 10 == 0 or done == len(parts):
                say(f"{done}/{len(parts)} parts, {time.monotonic() - began:.0f} s: {told(tally)}\n")
    os.rmdir(alone) if not os.listdir(alone) else None
    say(f"{failed} of {len(parts)} parts failed\n" if failed else "every history converged\n")
    return 1 if failed else 0


def part(sort: str, count: int, number: int, shrink: bool) -> tuple[Counter[str], str]:
    """Play one part; what was played, and what went wrong."""
    history, steps = SORTS[sort]
    histories.TALLY.clear()
    fault = ""
    # --copied and the rest count what is played, and hypothesis may play a few more to get so many that are new.
    try:
        histories.play(history, count, steps, number, shrink)
    except Exception:
        fault = traceback.format_exc()
    return Counter(histories.TALLY), fault


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/convergence", description="Play random histories.")
    parser.add_argument("--copied", type=int, default=0, metavar="N", help="with segments copied between machines")
    parser.add_argument("--over-git", type=int, default=0, metavar="N", help="over real git")
    parser.add_argument("--sequential", type=int, default=0, metavar="N", help="without anything concurrent")
    parser.add_argument("--seed", type=int, default=1000, metavar="N", help="number of the first part (1000)")
    parser.add_argument("--each", type=int, default=50, metavar="N", help="histories in one part (50)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), metavar="N", help="processes")
    parser.add_argument("--shrink", action="store_true", help="cut a failing history down to what it needs")
    return parser.parse_args()


def told(tally: Counter[str]) -> str:
    return ", ".join(
        f"{tally[what]:,} {what}"
        for what in ("histories", "steps", "machines", "events acknowledged", "conflicts shown")
    )


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
