"""Which bytes a file of the journal has after a merge. Pure functions on bytes; git and the disk are elsewhere.

A merge never takes lines away from a segment. Where one side continues the other, the longer one is the result. Where
neither does, one side keeps its place whole, and the sound events that only the other side has are handed back as
`extra`, to be adopted into a directory of their own.
"""

from __future__ import annotations

import re

import orjson

from mait_code.journal import root, segments
from mait_code.journal.event import BOM, Bad, parse
from mait_code.journal.home import DOCUMENTS
from mait_code.journal.ids import REPLICA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEGMENT, NOTE, FORMAT, DOCUMENT, OTHER = "segment", "note", "format", "document", "other"

_CONFLICT_FILE = re.compile(r"(.+)\.conflict-[0-9a-f]{7,40}(\.[a-z]+)")


def sort_of(path: str) -> str:
    """What a path of the data directory is: a segment, a replica's note, a format file, a document, something else."""
    if path in root.FILES:
        return FORMAT
    if is_document(path):
        return DOCUMENT
    parts = path.split("/")
    if len(parts) == 3 and parts[0] == "journal" and REPLICA.fullmatch(parts[1]):
        if segments.is_segment(parts[2]):
            return SEGMENT
        if parts[2] == "replica.json":
            return NOTE
    return OTHER


def is_document(path: str) -> bool:
    """Whether a path is one of the user's documents, or the other text of one that was edited twice."""
    found = _CONFLICT_FILE.fullmatch(path)
    return path in DOCUMENTS or (found is not None and found[1] + found[2] in DOCUMENTS)


class Outcome:
    """What stands in a segment after a merge, and the lines that lost their place. `shrank`: the other side took away
    or changed what it once held."""

    __slots__ = ("content", "extra", "shrank")

    def __init__(self, content: bytes, extra: list[bytes] | None = None, shrank: bool = False) -> None:
        self.content = content
        self.extra = extra or []
        self.shrank = shrank


def grew(before: bytes | None, after: bytes | None) -> bool:
    """Whether `after` is `before` or a continuation of it. A later part lets redacted lines change here."""
    return before is None or (after is not None and after.startswith(before))


def segment(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> Outcome:
    """Merge the two sides of one segment. None where a side has no such file; not both."""
    shrank = not grew(base, theirs)
    if ours is not None and grew(theirs, ours):
        return Outcome(ours, shrank=shrank)
    if theirs is not None and grew(ours, theirs):
        return Outcome(theirs, extra_lines(theirs, base), shrank)
    assert ours is not None
    assert theirs is not None
    if shrank and grew(base, ours):
        return Outcome(ours, extra_lines(ours, theirs), shrank)
    return Outcome(theirs, extra_lines(theirs, ours, base), shrank)


def extra_lines(kept: bytes, *others: bytes | None) -> list[bytes]:
    """The sound lines of `others` whose ids `kept` does not hold, in their order, each once."""
    known = {name for name, _ in sound_lines(kept)} if any(others) else set()
    found = []
    for other in others:
        for name, line in sound_lines(other or b""):
            if name not in known:
                known.add(name)
                found.append(line)
    return found


def sound_lines(content: bytes) -> list[tuple[str, bytes]]:
    """(id, line) of every line that is an event, newer kinds included. What editors and mail put around a line is
    off."""
    found = []
    for line in content.split(b"\n"):
        line = line.strip(b"\r").removeprefix(BOM)
        if line:
            event = parse(line)
            if not isinstance(event, Bad):
                found.append((event.id, line))
    return found


def format_file(ours: bytes, theirs: bytes) -> bytes:
    """The `format.json` of the highest generation; of two alike the same one on every machine."""
    return max(ours, theirs, key=lambda content: (_number(content, "generation"), _number(content, "format"), content))


def needed_reader(content: bytes) -> int:
    """The lowest format a program must know to work with this journal."""
    return _number(content, "min_reader")


def _number(content: bytes, key: str) -> int:
    try:
        raw: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        return -1
    value = raw.get(key) if type(raw) is dict else None
    return value if type(value) is int else -1


def note(ours: bytes, theirs: bytes) -> bytes:
    """A replica's note is written once. Should two differ, every machine chooses the same."""
    return min(ours, theirs)
