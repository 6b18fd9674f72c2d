"""Appending: one process, and fifty at once."""

from __future__ import annotations

import os
import subprocess
import time

import measure
import orjson
from measure import Row, probe, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from environment import Environment

WRITERS = 50
#: Seconds that fifty interpreters get to start.
GATHER = 12.0


def rows(environment: Environment, scratch: str, count: int, each: int) -> list[Row]:
    """`count` appends per round in one process; `each` in every one of fifty processes."""
    return [_one(environment, scratch, count), _many(environment, scratch, each)]


def _one(environment: Environment, scratch: str, count: int) -> Row:
    say("appending in one process")
    home = os.path.join(scratch, "appending")
    arguments = ("loop", f"{home}/data", str(count))
    taken, _ = probe(environment.python, "probe_append.py", environment.variables(home), *arguments, scratch=scratch)
    ours, bare = ([value * 1000 for value in taken[name]] for name in ("ours", "bare"))
    note = "floor: lock, look at the tail, write, nothing else"
    return measure.row("append", "append with lock and tail check", "µs", ours, bare, None, note)


def _many(environment: Environment, scratch: str, each: int) -> Row:
    say(f"{WRITERS} processes appending {each} events each")
    home = os.path.join(scratch, "burst")
    variables = environment.variables(home)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe_append.py")
    at = str(time.time() + GATHER)
    command = [environment.python, script, "burst", f"{home}/data", str(each), at]
    running = [subprocess.Popen(command, env=variables, stdout=subprocess.PIPE) for _ in range(WRITERS)]
    ended = [orjson.loads(process.communicate()[0]) for process in running]
    found, _ = probe(environment.python, "probe_append.py", variables, "check", f"{home}/data", scratch=scratch)
    wanted = WRITERS * each
    if found != {"lines": wanted, "sound": wanted, "gaps": False}:
        raise SystemExit(f"bench: {wanted} events were appended, and the journal has {found}")
    seconds = max(one["ended"] for one in ended) - min(one["began"] for one in ended)
    note = "wall time; every line sound, no number missing"
    return Row("append", f"{WRITERS} processes at once", "/s", wanted / seconds, note=note)
