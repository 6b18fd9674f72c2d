"""The memory files that Claude Code keeps itself, as they stand on this machine: read, never written."""

from __future__ import annotations

import os

from mait_code.commands import claude_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["INDEX", "NativeFile", "files", "project_of", "text"]

#: The file that a session of Claude Code begins with: it stands before the others.
INDEX = "MEMORY.md"
#: Bytes of a file that are shown.
_MOST = 256 * 1024


class NativeFile:
    """A file: the directory of its project under the client's `projects`, its path beneath `memory`, and when it was last
    changed, in seconds since 1970."""

    __slots__ = ("changed", "full", "home", "path")

    def __init__(self, home: str, path: str, full: str, changed: float) -> None:
        self.home = home
        self.path = path
        self.full = full
        self.changed = changed

    @property
    def slug(self) -> str:
        """The client's name for the project's directory."""
        return os.path.basename(self.home)


def files() -> list[NativeFile]:
    """Every memory file, by project, the index of each first. What cannot be looked at is left out."""
    projects = os.path.join(claude_files.directory(), "projects")
    found = []
    for slug in _names(projects):
        home = os.path.join(projects, slug)
        found += sorted(_under(home), key=lambda one: (one.path != INDEX, one.path))
    return found


def _under(home: str) -> Iterator[NativeFile]:
    folder = os.path.join(home, "memory")
    for place, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(place, name)
            if name.endswith(".md") and os.path.isfile(full):
                try:
                    changed = os.stat(full).st_mtime
                except OSError:
                    continue
                yield NativeFile(home, os.path.relpath(full, folder), full, changed)


def project_of(home: str) -> str:
    """The project that a directory under the client's `projects` is of; the client's name for it where that cannot be told.

    It may look into transcripts and walk the disk: ask once.
    """
    from mait_code.commands.importing import claude_native

    return claude_native.project_of(home) or os.path.basename(home)


def text(full: str) -> str:
    """What stands in a file, up to a quarter of a megabyte. Raises OSError."""
    with open(full, "rb") as file:
        content = file.read(_MOST + 1)
    shown = content[:_MOST].decode("utf-8-sig", "replace").replace("\r\n", "\n")
    return shown if len(content) <= _MOST else f"{shown}\n\n…"


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
