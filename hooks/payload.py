"""What the client writes to a hook's stdin: one JSON object, in whatever state it comes."""

from __future__ import annotations

import os
import stat

import orjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Bytes of stdin that are looked at: tool inputs and results hold whole files.
LARGEST = 64 * 1024 * 1024


class Payload:
    """The fields of a payload, each of the type it should have; what is missing or of another type is empty."""

    __slots__ = ("_raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self._raw = raw

    def text(self, name: str) -> str:
        """A field that is text, without halves of surrogate pairs and NULs, which no path and no text of ours has."""
        value = self._raw.get(name)
        return value.encode("utf-8", "replace").decode().replace("\0", "") if type(value) is str else ""

    def number(self, name: str) -> float | None:
        """A field that is a number; None where it is missing."""
        value = self._raw.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def inside(self, name: str) -> Payload:
        """A field that is an object."""
        value = self._raw.get(name)
        return Payload(value if type(value) is dict else {})

    @property
    def session(self) -> str:
        """The client's session."""
        return self.text("session_id")[:200]

    @property
    def directory(self) -> str:
        """Where the session works now."""
        return self.text("cwd") or os.environ.get("CLAUDE_PROJECT_DIR", "") or _working_directory()

    @property
    def transcript(self) -> str:
        """The session's transcript; where the payload names none, the newest of the working directory's. May be empty, and
        may not be there yet."""
        named = self.text("transcript_path")
        if named:
            return named if _may_be_file(named) else ""
        return "" if self._raw else newest_transcript(self.directory)


def read(stdin: bytes) -> Payload:
    """The payload of a hook. What cannot be read counts as none."""
    try:
        raw = orjson.loads(stdin.strip() or b"{}")
    except orjson.JSONDecodeError:
        import json

        try:
            raw = json.loads(stdin.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raw = {}
    return Payload(raw if type(raw) is dict else {})


def read_stdin() -> bytes:
    """All of stdin, to its end: the client waits until it has written everything. What is too large is drained."""
    parts, size = [], 0
    while True:
        try:
            part = os.read(0, 1 << 16)
        except OSError:
            break
        if not part:
            break
        size += len(part)
        if size <= LARGEST:
            parts.append(part)
    return b"".join(parts) if size <= LARGEST else b""


def newest_transcript(directory: str) -> str:
    """The transcript that was written last of those the client keeps for a directory; empty where there is none."""
    from mait_code.commands import claude_files

    folder = claude_files.project_directory(directory)
    newest, when = "", -1
    try:
        with os.scandir(folder or os.devnull) as entries:
            for entry in entries:
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                    written = entry.stat().st_mtime_ns
                    if written > when:
                        newest, when = entry.path, written
    except OSError:
        return ""
    return newest


def _may_be_file(path: str) -> bool:
    """Whether a file is there, or nothing yet."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
