"""Running the command of a tile: through the shell, for so long, and so many lines of it.

Whoever calls this has made sure that the command may run here (dashboard_approval).
"""

from __future__ import annotations

import os
import re
import time

from mait_code.commands.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen

__all__ = ["MOST_LINES", "Outcome", "run"]

#: Lines that a tile shows at most.
MOST_LINES = 20
#: Bytes that are kept of the output, and after which a command is stopped: it is not going to say anything shorter.
_KEPT, _ENOUGH = 1 << 16, 1 << 24
#: Characters of a line, seconds between looks whether to stop, and seconds for what is still in the pipe at the end.
_LONGEST, _LOOK, _LEFT_OVER = 500, 0.05, 0.2
#: Colours, cursor movements and titles, which mean something to a terminal only.
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\x1b\([A-B0-2]")


class Outcome:
    """What came of a command: the `lines` to show, how many `more` there were, and what went wrong, in words (`fault`)."""

    __slots__ = ("fault", "lines", "more")

    def __init__(self, lines: list[str], more: int = 0, fault: str = "") -> None:
        self.lines = lines
        self.more = more
        self.fault = fault


def run(command: str, timeout: float, columns: int = 80, stop: Callable[[], bool] = lambda: False) -> Outcome:
    """Run a command in this directory with no input, and give what it said, both its output and its errors.

    What does not end within `timeout` seconds, or when `stop` says so, is killed with all that it started. Raises nothing.
    """
    from subprocess import DEVNULL, PIPE, STDOUT, Popen

    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    try:
        process = Popen(
            ["/bin/sh", "-c", command],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            env=environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Outcome([], fault=f"it cannot be started: {getattr(error, 'strerror', None) or error}")
    try:
        output, dropped, why = _read(process, time.monotonic() + timeout, stop)
    finally:
        _end(process)
        if process.stdout is not None:
            process.stdout.close()
    return _outcome(output, dropped, _fault(process.returncode, why, timeout))


def _read(process: Popen[bytes], until: float, stop: Callable[[], bool]) -> tuple[bytes, int, str]:
    """The output, how many lines of it were dropped, and why reading ended before the command did."""
    import select

    assert process.stdout is not None
    handle = process.stdout.fileno()
    os.set_blocking(handle, False)
    # poll, not select: a process with more than 1024 open files has numbers that select does not take.
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    kept, total, dropped, ended = bytearray(), 0, 0, 0.0
    while True:
        now = time.monotonic()
        if stop():
            return bytes(kept), dropped, "stopped"
        if now >= until:
            return bytes(kept), dropped, "late"
        if not ended and process.poll() is not None:
            ended = now + _LEFT_OVER  # something that it left behind may hold the pipe open for ever
        if ended and now >= ended:
            return bytes(kept), dropped, ""
        if not waiting.poll(int(_LOOK * 1000)):
            continue
        piece = os.read(handle, 65536)
        if not piece:
            _wait(process, until, stop)
            return bytes(kept), dropped, "" if process.poll() is not None else "stopped" if stop() else "late"
        total += len(piece)
        fits = piece[: max(_KEPT - len(kept), 0)]
        kept += fits
        dropped += piece[len(fits) :].count(b"\n")
        if total > _ENOUGH:
            return bytes(kept), dropped, "long"


def _wait(process: Popen[bytes], until: float, stop: Callable[[], bool]) -> None:
    """Wait for a command that has closed its output."""
    while process.poll() is None and time.monotonic() < until and not stop():
        time.sleep(_LOOK / 5)


def _end(process: Popen[bytes]) -> None:
    """Kill what is left of the command, and of what it started."""
    import signal

    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass  # all of it has ended
    process.wait()


def _fault(code: int, why: str, timeout: float) -> str:
    if why:
        told = {"late": f"it took longer than {timeout:g} s", "stopped": "it was stopped", "long": "it does not end"}
        return told[why]
    if code < 0:
        import signal

        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"it was ended by signal {-code}"
    return f"it failed with exit code {code}" if code else ""


def _outcome(output: bytes, dropped: int, fault: str) -> Outcome:
    text = _SEQUENCES.sub("", output.decode("utf-8", "replace")).expandtabs(4)
    # What overwrites its own line, as progress does, is shown as it would stand at the end.
    rows = [row.rstrip("\r").rpartition("\r")[2].rstrip() for row in text.split("\n")]
    while rows and not rows[-1]:
        rows.pop()
    shown = [visible(row[:_LONGEST]) for row in rows[:MOST_LINES]]
    return Outcome(shown, len(rows) - len(shown) + dropped, fault)
