"""The user's own documents after both machines edited one: git's text merge, and where it cannot, both texts side by
side.

The text of the newer commit keeps its place and the other one goes beside it as `NAME.conflict-<id>.md`; a document
never holds conflict markers. Which is newer, and the name, come from the commits alone, so two machines agree.
"""

from __future__ import annotations

import os

from mait_code.journal.home import PRIVATE_FILE
from mait_code.journal.sha import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.repository import Repository

#: SHA-256 (hexadecimal) of texts that a program wrote and nobody edited: such a text always yields.
TEMPLATES: set[str] = set()

#: Exit codes of `git merge-file` up to this one count conflicts; above, it could not merge at all (a binary file).
_MOST_CONFLICTS = 127


def is_template(content: bytes) -> bool:
    """Whether a document is a template that nobody edited."""
    return bool(TEMPLATES) and sha256(content).hexdigest() in TEMPLATES


def merged(repository: Repository, base: bytes, ours: bytes, theirs: bytes, union: bool = False) -> bytes | None:
    """git's text merge of two sides; None where they contradict. With `union` both sides' lines stay, without
    markers."""
    paths = []
    try:
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            path = repository.home.in_state(f"merge-{name}.{os.getpid()}.tmp")
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
            paths.append(path)
            with open(handle, "wb") as file:
                file.write(content)
        words = ("--union",) if union else ()
        answer = repository.ask("merge-file", "-p", "-q", *words, *paths)
    finally:
        for path in paths:
            os.unlink(path)
    if answer.code == 0 or (union and 0 < answer.code <= _MOST_CONFLICTS):
        return answer.out
    return None


def beside(path: str, blob: str) -> str:
    """The name for the text that lost its place, from the id of its bytes."""
    stem, extension = os.path.splitext(path)
    return f"{stem}.conflict-{blob[:7]}{extension}"


def ours_is_newer(repository: Repository, path: str, ours: tuple[str, str], theirs: tuple[str, str]) -> bool:
    """Which side's last commit of a path is the newer one. Each side is (commit, blob); the blob settles a draw."""

    def written(commit: str) -> int:
        when = repository.run("log", "-1", "--format=%ct", commit, "--", path).split()
        return int(when[0]) if when else 0

    return (written(ours[0]), ours[1]) > (written(theirs[0]), theirs[1])


def has_markers(content: bytes) -> bool:
    """Whether a text still holds the markers that git leaves at a conflict."""
    lines = content.split(b"\n")
    return any(line.startswith(b"<<<<<<< ") for line in lines) and any(line.startswith(b">>>>>>> ") for line in lines)
