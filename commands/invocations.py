"""The invocation log: one JSON line for each command that ran, on this machine only.

A line holds when, which command, how long, how it ended and in which process. Never what a user typed or stored: no
arguments, titles, queries or paths. A log that cannot be written never fails a command.

Many processes write at once: a line is one append, and the file is put aside by whoever first finds that it was begun
on another day (UTC). A writer that had it open then adds to the file that was put aside, and nothing is lost.
"""

from __future__ import annotations

import os
import stat
import time

from mait_code.journal import settings

__all__ = ["LEVELS", "log_path", "record", "write_traceback"]

#: How loud each outcome is; `log-level` says from where on a line is kept.
LEVELS = {
    "ok": "INFO",
    "interrupted": "INFO",
    "failed": "WARNING",
    "usage": "WARNING",
    "disk": "ERROR",
    "crashed": "ERROR",
}
_LOUDNESS = ("DEBUG", "INFO", "WARNING", "ERROR")
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK  # a pipe that nobody reads is refused, not waited for
_START = b'{"ts":"'


def log_path() -> str:
    """The file that is being written today."""
    return str(settings.value("log-file"))


def record(command: str, seconds: float, outcome: str, code: int, error_type: str = "") -> None:
    """Append the line of one finished command; `outcome` is a key of LEVELS. Does nothing where it cannot."""
    level = LEVELS[outcome]
    if _LOUDNESS.index(level) < _LOUDNESS.index(settings.value("log-level")):
        return
    now = time.time()
    stamp = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    # Every value is a number or a name of ours: the line needs no JSON library, which would cost more than the rest.
    line = (
        f'{{"ts":"{stamp}","level":"{level}","command":"{command}","duration_ms":{seconds * 1000:.1f},'
        f'"outcome":"{outcome}","exit":{code},"error":"{error_type}","pid":{os.getpid()}}}\n'
    )
    try:
        _append(log_path(), line.encode(), stamp[:10])
    except OSError:
        # By contract whether a command worked does not depend on its log.
        return


def _append(path: str, line: bytes, today: str) -> None:
    handle = _open(path)
    try:
        # Reading from a pipe or a terminal would wait for somebody to type.
        is_file = stat.S_ISREG(os.fstat(handle).st_mode)
        if is_file and _day_of(path) not in ("", today) and _put_aside(path, handle):
            os.close(handle)
            handle = _open(path)
        os.write(handle, line)
    finally:
        os.close(handle)


def _open(path: str) -> int:
    try:
        return os.open(path, _APPEND, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, _APPEND, 0o600)


def _day_of(path: str) -> str:
    """The day on which a log was begun, from its first line: its times may have been touched by a late writer."""
    with open(path, "rb", buffering=0) as file:
        start = file.read(len(_START) + 10)
    return start[len(_START) :].decode("ascii", "replace") if start.startswith(_START) else ""


def _put_aside(path: str, handle: int) -> bool:
    """Rename a log of another day and drop those past their time. False where another process is doing it."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    if os.stat(path).st_ino == os.fstat(handle).st_ino:
        base = aside = f"{path}.{_day_of(path)}"
        number = 1
        while os.path.exists(aside):
            number += 1
            aside = f"{base}.{number}"
        os.rename(path, aside)
        _prune(path)
    return True


def _prune(path: str) -> None:
    directory, name = os.path.split(path)
    oldest = time.strftime("%Y-%m-%d", time.gmtime(time.time() - settings.value("log-backup-count") * 86400))
    for entry in os.listdir(directory):
        for prefix in (f"{name}.", "traceback-"):
            day = entry[len(prefix) : len(prefix) + 10]
            if entry.startswith(prefix) and _is_day(day) and day < oldest:
                os.unlink(os.path.join(directory, entry))


def _is_day(text: str) -> bool:
    return len(text) == 10 and text[4] == text[7] == "-" and (text[:4] + text[5:7] + text[8:]).isdecimal()


def write_traceback(error: BaseException) -> str:
    """Write where an unexpected error came from beside the log; the path, or "" where it cannot be written.

    Frames and types only: an error's message may quote what the user stored.
    """
    import traceback

    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < 20:
        parts.insert(0, "".join(traceback.format_tb(seen.__traceback__)) + type(seen).__qualname__ + "\n")
        seen = seen.__cause__ or seen.__context__
    path = os.path.join(
        os.path.dirname(log_path()), f"traceback-{time.strftime('%Y-%m-%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt"
    )
    try:
        handle = _open(path)
        try:
            os.write(handle, "\n".join(parts).encode(errors="backslashreplace"))
        finally:
            os.close(handle)
    except OSError:
        return ""
    return path
