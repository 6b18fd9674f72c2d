"""Reading a transcript: one JSON object a line, written by another program while we read it.

Lines are taken one at a time, so that a transcript of hundreds of megabytes costs no more memory than its longest line. What
is no object, or is of a kind nobody here knows, is passed over; a last line without its end is read once it is whole.
"""

from __future__ import annotations

import errno
import os
import stat

import orjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Record = dict[str, Any]

#: Bytes of a line that is read at all: larger ones are images and the like.
LONGEST = 32 * 1024 * 1024
#: Bytes read at a time.
_CHUNK = 1024 * 1024
#: Lines of the client's own that hold whole prompts and requests: recognised by their beginning, never decoded.
_OWN = (b'{"type":"api-request', b'{"type": "api-request', b'{"type":"file-history', b'{"type":"queue-operation')


class Line:
    """One record with the place where it begins and the one behind it, in bytes."""

    __slots__ = ("end", "record", "start")

    def __init__(self, start: int, end: int, record: Record) -> None:
        self.start = start
        self.end = end
        self.record = record


def read(path: str, start: int = 0) -> Iterator[Line]:
    """The records of a transcript from a place on, where a line begins. Raises OSError, also for what is no file: a pipe or a
    device would be read for ever."""
    with open(path, "rb", buffering=_CHUNK, opener=_file) as file:
        file.seek(start)
        place = start
        while raw := file.readline(LONGEST):
            begins, place = place, place + len(raw)
            if len(raw) == LONGEST and raw[-1:] != b"\n":
                while (more := file.readline(_CHUNK)) and more[-1:] != b"\n":
                    place += len(more)
                place += len(more)
                continue
            record = decode(raw)
            if record is not None:
                yield Line(begins, place, record)
            elif raw[-1:] != b"\n":
                return


def _file(path: str, flags: int) -> int:
    handle = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "this is no file", path)
    return handle


def decode(raw: bytes) -> Record | None:
    """The object of a line; None where there is none, or none worth decoding."""
    raw = raw.strip()
    if not raw or raw.startswith(_OWN):
        return None
    try:
        record = orjson.loads(raw)
    except orjson.JSONDecodeError:
        record = _decode_leniently(raw)
    return record if type(record) is dict else None


def _decode_leniently(raw: bytes) -> object:
    """With halves of surrogate pairs, which the client's language lets through; `text` puts marks in their place."""
    import json

    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def text(value: object) -> str:
    """A text without halves of surrogate pairs; empty for what is none."""
    if type(value) is not str:
        return ""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def blocks_of(record: Record) -> list[Record]:
    """The blocks of a record's message; a message that is one text is a block of its own."""
    message = record.get("message")
    content = message.get("content") if type(message) is dict else None
    if type(content) is str:
        return [{"type": "text", "text": content}]
    return [one for one in content if type(one) is dict] if type(content) is list else []


def texts_of(content: object) -> str:
    """The texts of a message's content, which is a text or a list of blocks."""
    if type(content) is str:
        return text(content)
    if type(content) is not list:
        return ""
    found = [
        text(block.get("text")) if block.get("type") == "text" else f"[{block['type']}]"
        for block in content
        if type(block) is dict and block.get("type") in ("text", "image", "document")
    ]
    return "\n".join(one for one in found if one)
