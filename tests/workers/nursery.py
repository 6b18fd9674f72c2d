"""A process that has everything imported and forks victims on request: `python -m workers.nursery`.

One JSON object per line on its input: {"place": folder, "machine": id, "closed_at": bytes, "victims": [victim, ...]}. All
victims run at once. A victim is {"task": name, "seed": n, "acks": path} with at most one way to die:

    "after": seconds     killed from outside, at that moment; with "group" its git processes as well
    "call": n            kills itself before its n-th call that touches the disk, counted from 1
    "half": n            the same, but where that call is a write, half of it is done first

The answer is a line of JSON: a list of {"killed": bool, "error": text, "calls": names of the calls it came to}. With
"trusting" stamps are trusted at once: nothing else is at work on the files, and what a kill leaves must do without a
second look.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

import apsw

from mait_code.journal import reading, segments
from workers.place import Place
from workers.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

#: Calls before which a victim may be told to die, besides every statement of SQL.
CALLS = ["write", "pwrite", "replace", "rename", "unlink", "fsync", "fdatasync", "mkdir", "ftruncate", "open"]
#: A victim that hangs is a failure of the test, not of the machine.
PATIENCE = 60.0

_write = os.write


class Executioner:
    """Counts a victim's calls, and kills it before the one it is told."""

    def __init__(self, call: int, half: bool) -> None:
        self.call = call
        self.half = half
        self.made: list[str] = []
        self.armed = False

    def arm(self) -> None:
        for name in CALLS:
            setattr(os, name, self._watched(name, getattr(os, name)))
        apsw.connection_hooks.append(self._watch_connection)
        self.armed = True

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **more: Any) -> Any:
            if self._is_due(name):
                if self.half and name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **more)

        return watched

    def _watch_connection(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self._before_statement

    def _before_statement(self, *_statement: object) -> bool:
        if self._is_due("sql"):
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def _is_due(self, name: str) -> bool:
        if self.armed:
            self.made.append(name)
        return len(self.made) == self.call and self.armed


def run_victim(place: Place, victim: dict[str, Any], result: int) -> None:
    """In the child: run the task, and leave what came of it in a pipe."""
    acks = os.open(victim["acks"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def acknowledge(ids: list[str]) -> None:
        _write(acks, "".join(f"{one}\n" for one in ids).encode())

    executioner = Executioner(victim.get("call", 0) or victim.get("half", 0), "half" in victim)
    if "call" in victim or "half" in victim or victim.get("count"):
        executioner.arm()
    error = ""
    try:
        TASKS[victim["task"]](place, victim["seed"], acknowledge)
    except Exception:
        error = traceback.format_exc()
    executioner.armed = False
    _write(result, json.dumps({"killed": False, "error": error, "calls": executioner.made}).encode())


def run(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the victims of one request and see each of them end."""
    segments.CLOSED_AT = request["closed_at"]
    reading.RACY_NANOSECONDS = -1 if request["trusting"] else 2_000_000_000
    os.environ["MAIT_CODE_MACHINE_ID"] = request["machine"]
    place = Place(request["place"], request["machine"])
    children = []
    for victim in request["victims"]:
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.setsid()
            os.close(ours)
            run_victim(place, victim, theirs)
            os._exit(0)
        os.close(theirs)
        children.append((child, ours, victim))
    _kill_in_time(children)
    return [_outcome(child, ours) for child, ours, _victim in children]


def _kill_in_time(children: list[tuple[int, int, dict[str, Any]]]) -> None:
    start = time.monotonic()
    for child, _result, victim in sorted(children, key=lambda one: one[2].get("after", 0.0)):
        if "after" in victim:
            time.sleep(max(0.0, start + victim["after"] - time.monotonic()))
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if victim.get("group") else os.kill)(child, signal.SIGKILL)


def _outcome(child: int, result: int) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGABRT)
            os.waitpid(child, 0)
            os.close(result)
            return {"killed": False, "error": f"hung for {PATIENCE} s", "calls": []}
        time.sleep(0.0005)
    os.set_blocking(result, False)
    try:
        said = os.read(result, 1 << 20)
    except BlockingIOError:
        said = b""
    os.close(result)
    if said:
        answer: dict[str, Any] = json.loads(said)
        return answer
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return {"killed": killed, "error": "" if killed else f"ended with {status}", "calls": []}


def main() -> int:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
