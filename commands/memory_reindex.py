"""Embedding everything that has no vectors yet, and forgetting the vectors of what is gone."""

from __future__ import annotations

from mait_code.commands.memory_search import Meanings
from mait_code.journal.errors import DiskRefused, Refused
from mait_code.journal.sha import content_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace


class Reindexed:
    """What reindexing came to. `pruned` counts texts whose vectors were forgotten, `others` names the models that were;
    `note` says where another model than the one asked for was used."""

    def __init__(self, model: str, dimension: int, note: str) -> None:
        self.model = model
        self.dimension = dimension
        self.note = note
        self.texts = 0
        self.embedded = 0
        self.pruned = 0
        self.others: list[str] = []

    def json(self) -> dict[str, Any]:
        """What `reindex --json` prints."""
        return {
            "texts": self.texts,
            "embedded": self.embedded,
            "pruned": self.pruned,
            "forgotten_models": self.others,
            "model": self.model,
            "dim": self.dimension,
            "note": self.note,
        }


def reindex(ws: Workspace, prune: bool, step: Callable[[int, int], None]) -> Reindexed:
    """Embed what has no vectors, in batches that are kept as they are done, so that it can be interrupted and goes on where
    it stopped. Fetches the model first where that is allowed. `step` is told (done, all).

    Raises Refused where there is no model, and says why; NotFetched, Busy, DiskRefused.
    """
    from mait_code.projections.fetching import obtain
    from mait_code.projections.filling import fill
    from mait_code.projections.model_files import Wanted

    obtain(ws.home, Wanted.from_settings())
    meanings = Meanings(ws)
    try:
        vectors = meanings.vectors
        if vectors is None and meanings.refused:
            raise DiskRefused(meanings.reason, "check free space and permissions; search goes by words meanwhile")
        if vectors is None:
            raise Refused(
                f"there is no model to embed with: {meanings.reason}",
                "search goes by words meanwhile; mait-code settings list shows what can be set",
            )
        done = Reindexed(vectors.name, vectors.dimension, meanings.reason)
        own = _own_texts(ws)
        hashes = {row[0] for row in ws.reading("memory").query("SELECT hash FROM entries")} | own.keys()
        done.texts = len(hashes)
        done.embedded = meanings.fill(step=step)
        if vectors.missing(own):
            done.embedded += fill(vectors, meanings.model(one_shot=False), own.items(), step=step)
        if prune:
            done.pruned = vectors.prune(hashes)
            done.others = vectors.forget_others()
        return done
    finally:
        meanings.close()


def missing(ws: Workspace) -> int:
    """How many texts have no vectors yet, of the model in use. All where there is no model here: reindexing may fetch it."""
    meanings = Meanings(ws)
    try:
        hashes = {row[0] for row in ws.reading("memory").query("SELECT hash FROM entries")} | _own_texts(ws).keys()
        vectors = meanings.vectors
        return len(hashes if vectors is None else vectors.missing(hashes))
    finally:
        meanings.close()


def _own_texts(ws: Workspace) -> dict[bytes, str]:
    """What each living memory says, by its hash. Search has the entry before in a session lead into a vector; memories are
    compared with each other by what they say alone."""
    rows = ws.reading("memory").query("SELECT content FROM memory_entries WHERE live AND content <> ''")
    return {content_hash(content): content for (content,) in rows}
