"""The first commit of every data directory: the same bytes on every machine, for ever.

Two machines that never met then share history, and a plain `git pull` between them works. Nothing here may change:
later versions of these files are later commits.
"""

from __future__ import annotations

import os

from mait_code.journal.home import Home, make_directory, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ATTRIBUTES = ".gitattributes"
IGNORES = ".gitignore"
FORMAT = "journal/format.json"

#: The files of format 1, byte for byte.
FILES: dict[str, bytes] = {
    ATTRIBUTES: b"journal/** -text merge=binary\n",
    IGNORES: b"memory/MEMORY.md\n*.tmp\n",
    FORMAT: b'{"format": 1, "min_reader": 1, "generation": 1}\n',
}
#: The id of the commit that `objects` ends with.
COMMIT = "5eb7c27b3e8f4ce357570b017cb5ba98fd5f55bb"

_WHO = b"mait-code <mait-code@localhost> 1767225600 +0000"
_MESSAGE = b"mait-code journal, format 1\n"


def _id(kind: str, content: bytes) -> bytes:
    import hashlib

    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)) + content, usedforsecurity=False).digest()


def objects() -> Iterator[tuple[str, bytes]]:
    """The git objects of the root commit, (type, content), each after those it names; the commit is the last."""
    blobs = {name: _id("blob", content) for name, content in FILES.items()}
    for content in FILES.values():
        yield "blob", content
    folder = b"100644 format.json\0" + blobs[FORMAT]
    yield "tree", folder
    top = b"100644 .gitattributes\0" + blobs[ATTRIBUTES]
    top += b"100644 .gitignore\0" + blobs[IGNORES]
    top += b"40000 journal\0" + _id("tree", folder)
    yield "tree", top
    head = b"tree " + _id("tree", top).hex().encode() + b"\nauthor " + _WHO + b"\ncommitter " + _WHO
    yield "commit", head + b"\n\n" + _MESSAGE


def write_missing(home: Home) -> bool:
    """Write those of the three files that are not in the work tree, and say whether any was missing. What stands there
    is left as it is."""
    wrote = False
    for name, content in FILES.items():
        path = home.in_data(name)
        if not os.path.lexists(path):
            if not os.path.isdir(os.path.dirname(path)):
                make_directory(os.path.dirname(path))
            write_atomically(path, content)
            wrote = True
    return wrote
