"""Patterns that are made when they are first used: making all of them takes longer than a command has."""

from __future__ import annotations

import re

__all__ = ["Lazy"]


class Lazy:
    """A regular expression; calling it gives the pattern."""

    __slots__ = ("_flags", "_made", "_source")

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._made: re.Pattern[str] | None = None

    def __call__(self) -> re.Pattern[str]:
        if self._made is None:
            self._made = re.compile(self._source, self._flags)
        return self._made
