"""The crash test for as long as you like: `python -m tests.crash 1000 [SEED]`.

Rounds of random kills as in tests/test_crash.py, in worlds of fifty rounds each. Ends with 1 at the first world in which
anything acknowledged is lost or the machines do not agree, and prints its seed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from workers.crashing import CLOSED_AT, Nursery, World, acknowledged

from mait_code.journal import segments

ROUNDS_OF_A_WORLD = 50


def run_world(seed: int, rounds: int, nursery: Nursery) -> World:
    """Play one world to its end. Raises AssertionError where something did not hold."""
    folder = tempfile.mkdtemp(prefix="crash-")
    try:
        world = World(folder, seed, nursery)
        for round_ in range(rounds):
            world.round(with_sync=round_ % 3 == 0)
        world.settle()
        world.told = sum(len(acknowledged(machine)) for machine in world.machines)
        return world
    finally:
        shutil.rmtree(folder)


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    segments.CLOSED_AT = CLOSED_AT
    started, done, killed, finished, told = time.monotonic(), 0, 0, 0, 0
    with Nursery() as nursery:
        while done < rounds:
            part = min(ROUNDS_OF_A_WORLD, rounds - done)
            try:
                world = run_world(seed, part, nursery)
            except Exception:
                sys.stderr.write(f"failed with seed {seed}: python -m tests.crash {part} {seed}\n")
                raise
            done, seed = done + part, seed + 1
            killed, finished, told = killed + world.killed, finished + world.finished, told + world.told
            sys.stderr.write(f"\r{done} of {rounds} rounds, {killed} killed, {told} events acknowledged ")
    seconds = time.monotonic() - started
    sys.stderr.write("\n")
    sys.stdout.write(
        f"{done} rounds in {seconds:.0f} s: {killed} processes killed at work, {finished} ended by themselves,"
        f" {told} events acknowledged, none lost, no gap, both machines agree in all {-(-done // ROUNDS_OF_A_WORLD)} worlds\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
