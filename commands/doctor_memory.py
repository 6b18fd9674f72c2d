"""What doctor says of memory: whether MEMORY.md can be read and written, whether there is a model for finding by meaning, and
whether everything has its vectors."""

from __future__ import annotations

import os

from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.commands.workspace import Workspace

    Found = Iterator[tuple[str, str, str, str]]


def look(ws: Workspace) -> Found:
    """(name, level, message, hint) of each thing looked at. Opens no model."""
    yield _memory_file(ws)
    yield from _meaning(ws)


def _memory_file(ws: Workspace) -> tuple[str, str, str, str]:
    from mait_code.commands.memory_file_state import File

    file = File.of(ws.home)
    file.read()
    directory = os.path.dirname(file.path)
    if file.fault:
        hint = "mend it, or move it away: it is then made again from what is pinned"
        return "memory-file", "warn", f"{file.path} is neither read nor written: {file.fault}", hint
    if os.path.lexists(directory) and not os.path.isdir(directory):
        return "memory-file", "warn", f"{file.path} cannot be made: {directory} is no directory", "move that away"
    if os.path.isdir(directory) and not os.access(directory, os.W_OK | os.X_OK):
        message = f"{file.path} cannot be written: {directory} takes no files"
        return "memory-file", "warn", message, "check its owner and permissions"
    return "memory-file", "ok", f"{file.path} is not there yet" if file.missing else file.path, ""


def _meaning(ws: Workspace) -> Found:
    from mait_code.commands.memory_search import Meanings

    meanings = Meanings(ws)
    try:
        vectors = meanings.vectors
        if vectors is None:
            hint = _KEEP if meanings.refused else "the model comes with mait-code: install it again the way you did"
            yield "meaning", "warn", f"memories are found by their words alone: {meanings.reason}", hint
            return
        said = f"{vectors.name}, {vectors.dimension} dimensions"
        if meanings.reason:
            yield "meaning", "warn", f"{said}; {meanings.reason}", "mait-code settings get embedding-model"
        else:
            yield "meaning", "ok", said, ""
        hashes = [row[0] for row in ws.reading("memory").query("SELECT DISTINCT hash FROM entries")]
        missing = len(vectors.missing(hashes))
        if not vectors.available:
            yield "vectors", "warn", vectors.reason, _KEEP
        elif missing:
            yield "vectors", "warn", f"{counted(missing, 'text')} without a vector yet", "mait-code memory reindex"
        else:
            yield "vectors", "ok", f"{counted(len(hashes), 'text')}, each with its vector", ""
    finally:
        meanings.close()


_KEEP = "check free space, and the owner and permissions of the state directory; search goes by words meanwhile"
