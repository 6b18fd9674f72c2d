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
    if ours is not None and grew(theirs, ours):
        kept, rest = ours, None
    elif theirs is not None and (grew(ours, theirs) or ours is None or not better(ours, theirs)):
        kept, rest = theirs, ours
    else:
        assert ours is not None
        kept, rest = ours, theirs
    extra = extra_lines(kept, *(one for one in (rest, base) if not grew(one, kept)))
    return Outcome(kept, extra, not grew(base, theirs) and (kept is ours or bool(extra)))


def better(one: bytes, other: bytes) -> bool:
    """Whether of two versions, neither of which continues the other, the first is the sounder: it has every event of
    the other and more, else fewer lines that are no events, else (the same events) the same choice on every machine.

    False when each has events that the other lacks and nothing else tells them apart: then the remote's stays in place.
    This looks at the bytes alone and not at who changed what: a repair and a damage look alike in the history, and two
    machines that each took the other's version for the damage would go on for ever.
    """
    ours, theirs = sound_lines(one), sound_lines(other)
    mine, yours = {name for name, _ in ours}, {name for name, _ in theirs}
    if mine > yours or mine < yours:
        return mine > yours
    bad, worse = _lines(one) - len(ours), _lines(other) - len(theirs)
    if bad != worse:
        return bad < worse
    return mine == yours and one < other


def _lines(content: bytes) -> int:
    """How many lines there are, those counted twice that something has put a carriage return or a mark around."""
    return sum(1 for line in content.split(b"\n") if line) + content.count(b"\r\n") + content.count(BOM)


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
