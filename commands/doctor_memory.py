"""What doctor says of memory: whether there is a model for finding by meaning, and whether everything has its vectors."""

from __future__ import annotations

from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.commands.workspace import Workspace


def look(ws: Workspace) -> Iterator[tuple[str, str, str, str]]:
    """(name, level, message, hint) of each thing looked at. Opens no model."""
    from mait_code.commands.memory_search import Meanings

    meanings = Meanings(ws)
    try:
        vectors = meanings.vectors
        if vectors is None:
            message = f"memories are found by their words alone: {meanings.reason}"
            yield "meaning", "warn", message, "pip install --force-reinstall mait-code brings the packaged model back"
            return
        said = f"{vectors.name}, {vectors.dimension} dimensions"
        if meanings.reason:
            yield "meaning", "warn", f"{said}; {meanings.reason}", "mait-code settings get embedding-model"
        else:
            yield "meaning", "ok", said, ""
        hashes = [row[0] for row in ws.reading("memory").query("SELECT DISTINCT hash FROM entries")]
        missing = len(vectors.missing(hashes))
        if missing:
            yield "vectors", "warn", f"{counted(missing, 'text')} without a vector yet", "mait-code memory reindex"
        else:
            yield "vectors", "ok", f"{counted(len(hashes), 'text')}, each with its vector", ""
    finally:
        meanings.close()
