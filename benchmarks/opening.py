"""Screens: from the command to its first content, on 10,000 cards, 100,000 memories and 1,000 projects.

Each is started on a pseudo-terminal of 120 columns and 40 lines. What is measured is the wall time until something that is
stored stands on it, as a person waits for it; the floor is a Textual app with one line of text, until that line is there.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import measure
from measure import Row, probe, say
from probe_screens import MARK
from remembering import WARM, Memories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from environment import Environment

BUDGET = 1.5
CARDS, PROJECTS = 10_000, 1_000
COLUMNS, LINES = 120, 40
#: Seconds that a screen may take at all, and that it gets to leave.
_PATIENCE, _LEAVING = 60.0, 5.0
_FLOOR = f"""
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("{MARK}")
Bare().run()
"""
#: What stands on each screen when it has something to show.
_CONTENT = {
    "home": MARK,
    "board": MARK,
    "inbox": MARK,
    "reminders": MARK,
    "memory": f"{WARM}",
    "review": "session",
    "timeline": MARK,
    "settings": "embedding-model",
}


def rows(environment: Environment, scratch: str, rounds: int) -> list[Row]:
    """Every screen that has something to show on one home."""
    memories = Memories(environment, scratch, WARM)
    say(f"making {CARDS:,} cards of {PROJECTS:,} projects")
    arguments = (f"{memories.home}/data", str(CARDS), str(PROJECTS))
    probe(environment.python, "probe_screens.py", memories.variables, *arguments, scratch=scratch)
    say(f"opening {len(_CONTENT)} screens, {rounds} rounds")
    variables = {**memories.variables, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    program = environment.program("mait-code")

    def opening(argv: list[str], mark: str) -> Callable[[int], float]:
        return lambda _round: _until_seen(argv, variables, memories.home, mark.encode())

    cases = {name: opening([program, name], mark) for name, mark in _CONTENT.items()}
    taken = measure.in_turns({"floor": opening([environment.python, "-c", _FLOOR], MARK), **cases}, rounds)
    memories.remove()
    floor = taken.pop("floor")
    return [measure.row("screens", name, "ms", took, floor, BUDGET, _HOW) for name, took in taken.items()]


_HOW = "wall time until something stored is on the screen"


def _until_seen(argv: list[str], variables: dict[str, str], directory: str, mark: bytes) -> float:
    """Milliseconds from the start of a program until `mark` was written to its terminal."""
    began = time.perf_counter()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(directory)
        os.execve(argv[0], argv, variables)
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        written = b""
        while mark not in written:
            more = _read(terminal, began + _PATIENCE)
            if not more:
                raise RuntimeError(f"{' '.join(argv)} never showed {mark!r}; the last of it:\n{written[-2000:]!r}")
            written += more
        took = time.perf_counter() - began
        _leave(process, terminal)
    finally:
        os.close(terminal)
    return took * 1000


def _read(terminal: int, end: float) -> bytes:
    """What a program wrote; nothing when it is over, or it is later than `end`."""
    ready, _, _ = select.select([terminal], [], [], max(end - time.perf_counter(), 0))
    if not ready:
        return b""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so that nobody is at the other end any more
        return b""


def _leave(process: int, terminal: int) -> None:
    """Ctrl+Q, and a kill for what does not leave."""
    os.write(terminal, b"\x11")
    end = time.perf_counter() + _LEAVING
    while _read(terminal, end):
        pass
    if os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.perf_counter() >= end:
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
