"""The one family of errors that people see.

Every error carries a message (what, where) and a hint (what to do). The library only raises them; the command-line
frame prints them and turns them into an exit code. No hint holds a destructive command ready to paste.
"""

from __future__ import annotations

__all__ = ["Ambiguous", "BadInput", "Busy", "DiskRefused", "GitFailed", "MaitError", "NotFound", "Refused"]


class MaitError(Exception):
    """A request that could not be carried out. `exit_code` is what the process ends with."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(MaitError):
    """Usage: a value or combination of options that cannot be meant."""

    exit_code = 2


class NotFound(MaitError):
    """Nothing here has that id or name."""


class Ambiguous(MaitError):
    """Several things answer to that id; `candidates` holds their full short forms."""

    def __init__(self, message: str, candidates: list[str], hint: str = "") -> None:
        super().__init__(message, hint)
        self.candidates = candidates


class Refused(MaitError):
    """The state of things forbids it (already deleted, changed since, not in progress ...)."""


class Busy(MaitError):
    """Another process holds a lock for longer than this one may wait."""


class GitFailed(MaitError):
    """git answered with an error that the user has to see."""


class DiskRefused(MaitError):
    """The disk is full, read-only or not ours to write. Nothing was half written."""

    exit_code = 74
