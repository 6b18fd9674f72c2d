"""Reading the invocation log: what ran on this machine, how long it took, how it ended, and where it broke.

`invocations` writes it. A line that says nothing sensible is told as such and hides no other; of a long file the last
lines are read.
"""

from __future__ import annotations

import os
import stat

import orjson

from mait_code.commands.invocations import log_path
from mait_code.commands.times import local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["LEVELS", "LINES", "Reader", "Record", "commands", "matching", "took", "traceback_text"]

#: From the quietest on. A line that cannot be read counts as a warning.
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
#: Lines that are read of a file, and the bytes that they may take.
LINES, _BYTES = 5000, 4 * 1024 * 1024
#: Seconds between a traceback and the line of the command that it is of.
_CLOSE = 10
_TRACEBACK = "traceback-"


class Record:
    """A line of the log: a command that ran. `raw` is the line where it could not be read, else empty.

    `traceback` is the name of the file beside the log that says where it broke.
    """

    __slots__ = (
        "code", "command", "day", "error", "key", "level", "milliseconds", "outcome", "pid", "raw", "traceback", "ts",
    )  # fmt: skip

    def __init__(self, key: str, ts: str) -> None:
        #: What it is known by as long as the file is not rewritten.
        self.key = key
        #: When it ended, UTC; of a line that cannot be read, when the one before it did.
        self.ts = ts
        #: Its local date ("2026-03-02"); empty where nothing says when it was.
        self.day = local(ts)[:10] if ts else ""
        self.level = "WARNING"
        self.command = ""
        self.milliseconds: float | None = None
        self.outcome = ""
        self.code: int | None = None
        self.error = ""
        self.pid: int | None = None
        self.raw = ""
        self.traceback = ""

    @property
    def loudness(self) -> int:
        """The place of its level among LEVELS."""
        return LEVELS.index(self.level)

    @property
    def words(self) -> str:
        """Everything it says, to be searched."""
        return " ".join([self.ts, self.level, self.command, self.outcome, self.error, str(self.pid or ""), self.raw])

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "ts": self.ts or None,
            "level": self.level,
            "command": self.command,
            "duration_ms": self.milliseconds,
            "outcome": self.outcome or None,
            "exit": self.code,
            "error": self.error or None,
            "pid": self.pid,
            "traceback": self.traceback or None,
            "unreadable": self.raw or None,
        }


def matching(
    records: Iterable[Record], words: str = "", level: str = "", command: str | None = None, day: str = ""
) -> list[Record]:
    """Those with all the words, at least of this level, of this command, of this local day."""
    asked = words.casefold().split()
    floor = LEVELS.index(level) if level else 0
    found = []
    for one in records:
        if one.loudness < floor or (command is not None and one.command != command) or (day and one.day != day):
            continue
        if asked:
            text = one.words.casefold()
            if not all(word in text for word in asked):
                continue
        found.append(one)
    return found


class Reader:
    """Reads the log and what was put aside of it; files that did not change since are not read again."""

    def __init__(self) -> None:
        #: Path -> (what it looked like, its records).
        self._known: dict[str, tuple[tuple[int, int, int], list[Record]]] = {}

    def read(self) -> list[Record]:
        """Every record, the newest first. Raises OSError where the directory or a file cannot be read."""
        path = log_path()
        directory, name = os.path.split(path)
        try:
            entries = sorted(os.listdir(directory))
        except (FileNotFoundError, NotADirectoryError):
            return []
        known, self._known = self._known, {}
        records: list[Record] = []
        for entry in entries:
            if entry == name or (entry.startswith(f"{name}.") and _is_day(entry[len(name) + 1 :][:10])):
                records += self._file(os.path.join(directory, entry), entry, known)
        tracebacks = [entry for entry in entries if entry.startswith(_TRACEBACK)]
        _join(records, tracebacks)
        records.sort(key=lambda one: one.ts)
        records.reverse()  # of one moment too, what was written later comes first
        return records

    def _file(self, path: str, name: str, known: dict[str, tuple[tuple[int, int, int], list[Record]]]) -> list[Record]:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return []  # put aside this moment: it is read under its other name, or with the next look
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return []
            looks = (status.st_ino, status.st_size, status.st_mtime_ns)
            before = known.get(path)
            if before is None or before[0] != looks:
                before = (looks, _records(handle, status.st_size, name))
            self._known[path] = before
            return list(before[1])
        finally:
            os.close(handle)


def _is_day(text: str) -> bool:
    return len(text) == 10 and text[4] == text[7] == "-" and (text[:4] + text[5:7] + text[8:]).isdecimal()


def _records(handle: int, size: int, name: str) -> list[Record]:
    """The records of the last lines, in order. A last line without its newline is still being written, unless it is whole."""
    start = max(0, size - _BYTES)
    content = os.pread(handle, size - start, start)
    lines = content.split(b"\n")
    if start:
        start += len(lines.pop(0)) + 1  # the rest of a line that began before
    places = []
    for line in lines:
        places.append((start, line))
        start += len(line) + 1
    found: list[Record] = []
    for place, line in places[-LINES - 1 :]:
        if line.strip():
            # The key holds when the file is put aside: what stands in a file that was is known by its own name.
            found.append(_record(f"{name}:{place}", line, found[-1].ts if found else ""))
    return found[-LINES:]


def _record(key: str, line: bytes, before: str) -> Record:
    try:
        raw = orjson.loads(line)
    except ValueError:
        raw = None
    if not isinstance(raw, dict) or not _is_time(raw.get("ts")):
        found = Record(key, before)
        found.raw = line.decode("utf-8", "replace")
        return found
    found = Record(key, raw["ts"])
    found.level = level if (level := raw.get("level")) in LEVELS else "INFO"
    found.command, found.outcome, found.error = (_text(raw.get(one)) for one in ("command", "outcome", "error"))
    found.milliseconds = _number(raw.get("duration_ms"))
    found.code, found.pid = _whole(raw.get("exit")), _whole(raw.get("pid"))
    return found


def _is_time(ts: Any) -> bool:
    """Whether a text is a time of a day that can be written in ten characters."""
    return isinstance(ts, str) and (shown := local(ts)) != ts and _is_day(shown[:10])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# -- tracebacks -------------------------------------------------------------------------------------------------------


def _join(records: list[Record], tracebacks: list[str]) -> None:
    """Give each traceback to the command that it is of; one that is of none is a record of its own."""
    by_pid: dict[int, list[Record]] = {}
    for one in records:
        one.traceback = ""
        if one.pid is not None and one.outcome not in ("ok", ""):
            by_pid.setdefault(one.pid, []).append(one)
    for name in tracebacks:
        ts, pid = _named(name)
        if not ts:
            continue
        near = [
            one for one in by_pid.get(pid, ()) if not one.traceback and abs(_seconds(one.ts) - _seconds(ts)) <= _CLOSE
        ]
        if near:
            min(near, key=lambda one: abs(_seconds(one.ts) - _seconds(ts))).traceback = name
            continue
        alone = Record(name, ts)
        alone.level, alone.outcome, alone.pid, alone.traceback = "ERROR", "crashed", pid, name
        records.append(alone)


def _named(name: str) -> tuple[str, int]:
    """The time and process in the name of a traceback ("traceback-2026-03-02T090000Z-1234.txt")."""
    stamp, _, rest = name.removeprefix(_TRACEBACK).partition("Z-")
    pid = rest.removesuffix(".txt")
    if len(stamp) != 17 or not pid.isdecimal():
        return "", 0
    return f"{stamp[:13]}:{stamp[13:15]}:{stamp[15:]}.000Z", int(pid)


def _seconds(ts: str) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(ts).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def traceback_text(record: Record) -> str:
    """What its traceback says; empty where it has none, or none any more."""
    if not record.traceback:
        return ""
    path = os.path.join(os.path.dirname(log_path()), record.traceback)
    try:
        with open(path, "rb") as file:
            return file.read(_BYTES // 16).decode("utf-8", "replace")
    except OSError:
        return ""


def took(record: Record) -> str:
    """How long it took, for people: "12 ms", "3.4 s"; empty where that is not known."""
    found = record.milliseconds
    if found is None:
        return ""
    return f"{found:.0f} ms" if found < 1000 else f"{found / 1000:.1f} s"


def commands(records: Iterable[Record]) -> list[tuple[str, int]]:
    """Every command with how often it ran, the most frequent first."""
    counts: dict[str, int] = {}
    for one in records:
        counts[one.command] = counts.get(one.command, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
