"""Runs inside the environment that is measured: appends. Prints JSON.

probe_append.py loop HOME COUNT       milliseconds per append, of ours and of the bare system calls, in turns
probe_append.py burst HOME COUNT AT   one of many processes that all begin at the time AT and append COUNT events
probe_append.py check HOME            how many lines there are, and whether any is torn, bad or missing
"""

from __future__ import annotations

import fcntl
import os
import sys
import time

import orjson

from mait_code.journal import segments
from mait_code.journal.event import Event, parse
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.journal.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BODY = "a thought about the parser, as long as thoughts are, that somebody has while they do something else"
ROUNDS = 20
#: Seconds that a writer of the burst waits for the lock.
PATIENCE = 60.0


def ours(journal: Journal, count: int) -> None:
    """Append through the journal: lock, identity, drain, tail, one write, the clock."""
    for _ in range(count):
        with journal.writing_from_hook() as writer:
            writer.append("inbox.captured", body=BODY)


def bare(path: str, lock: str, line: bytes, count: int) -> None:
    """What no writer can do without: take a lock, look at the tail, write the line."""
    for _ in range(count):
        holder = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(holder, fcntl.LOCK_EX)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        size = os.fstat(handle).st_size
        if size:
            os.pread(handle, 1, size - 1)
        os.write(handle, line)
        os.close(handle)
        os.close(holder)


def loop(home: Home, count: int) -> dict[str, Any]:
    """Ours and the bare calls in turns."""
    journal = Journal(home)
    ours(journal, 10)
    line = lines_of(home)[-1] + b"\n"
    taken: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        ours(journal, count)
        middle = time.process_time_ns()
        bare(home.in_state("bare.jsonl"), home.in_state("bare.lock"), line, count)
        taken["ours"].append((middle - began) / 1e6 / count)
        taken["bare"].append((time.process_time_ns() - middle) / 1e6 / count)
    return taken


def burst(home: Home, count: int, at: float) -> dict[str, Any]:
    """Append and wait for the lock as long as it takes, but not for the disk; when it began and ended."""
    journal = Journal(home)
    time.sleep(max(0.0, at - time.time()))
    began = time.time()
    for _ in range(count):
        with Writer(journal, (), PATIENCE, spools=False, durable=False) as writer:
            writer.append("inbox.captured", body=BODY)
    return {"began": began, "ended": time.time()}


def lines_of(home: Home) -> list[bytes]:
    found: list[bytes] = []
    for directory in segments.directories(home.journal):
        for name, _status in segments.in_directory(home.journal, directory):
            content = segments.read(os.path.join(home.journal, directory, name)) or b""
            found += content.split(b"\n")[:-1]
    return found


def check(home: Home) -> dict[str, Any]:
    """Whether every line is a sound event and no number is missing."""
    events = [event for event in map(parse, lines_of(home)) if isinstance(event, Event)]
    numbers = sorted(event.seq for event in events)
    return {"lines": len(lines_of(home)), "sound": len(events), "gaps": numbers != list(range(1, len(numbers) + 1))}


def main() -> None:
    action, home = sys.argv[1], Home(sys.argv[2])
    home.make()
    if action == "loop":
        answer = loop(home, int(sys.argv[3]))
    elif action == "burst":
        answer = burst(home, int(sys.argv[3]), float(sys.argv[4]))
    else:
        answer = check(home)
    sys.stdout.buffer.write(orjson.dumps(answer))


if __name__ == "__main__":
    main()
