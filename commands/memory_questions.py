"""Questions by the line on stdin, each answered as soon as it has come."""

from __future__ import annotations

import sys
from typing import cast

from mait_code.journal.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

__all__ = ["waiting"]

#: Questions that are answered together where so many wait: enough for the model to be quick, and soon done.
AT_ONCE = 64
#: Bytes taken at a time: what a pipe holds.
_CHUNK = 64 * 1024


def waiting() -> Iterator[list[str]]:
    """The questions on stdin as they come, in lists of those that are waiting. Raises BadInput for a line that is not UTF-8,
    when the ones before it have been given."""
    number = 0
    lines: list[str] = []
    for found in _lines():
        for line in found:
            number += 1
            try:
                lines.append((line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).decode())
            except UnicodeDecodeError as error:
                if lines:
                    yield lines
                raise BadInput(f"line {number} is not UTF-8 (byte {error.start})", "convert it first") from error
            if len(lines) == AT_ONCE:
                yield lines
                lines = []
        if lines:
            yield lines
            lines = []


def _lines() -> Iterator[list[bytes]]:
    """Whole lines as they can be read, without their ends; the last one may lack its own."""
    stdin = cast("BufferedReader", sys.stdin.buffer)
    parts: list[bytes] = []
    while chunk := stdin.read1(_CHUNK):
        whole, end, rest = chunk.rpartition(b"\n")
        if end:
            yield [line.removesuffix(b"\r") for line in b"".join([*parts, whole]).split(b"\n")]
            parts = []
        parts.append(rest)
    last = b"".join(parts)
    if last:
        yield [last.removesuffix(b"\r")]
