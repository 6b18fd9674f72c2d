"""Texts to vectors: the models that `model_files.resolve` finds, each behind the same two methods.

A vector is float32, little endian, of length 1, as bytes: what SQLite stores and compares. A text longer than a model's
window gets several, because one vector for all of it says little about any part of it.
"""

from __future__ import annotations

import os

from mait_code.journal.errors import MaitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from mait_code.projections.model_files import Found

    #: Told (done, all) of the parts of texts being embedded.
    Progress = Callable[[int, int], None]
    #: What a model takes at a time: the numbers of tokens, or a text.
    Piece = Any

#: Tokens that neighbouring windows share, so that a sentence on the border is whole in one of them.
OVERLAP = 32
#: Of a text longer than this (about 60 KB of English) the end is not embedded; it is still found by its words.
MOST_WINDOWS = 64
#: A question is one vector: the middle of those of its first windows.
QUESTION_WINDOWS = 4
#: No text has longer tokens than this on average, in characters, so no more of it is looked at.
CHARACTERS_A_TOKEN = 16


class NoModel(MaitError):  # noqa: N818
    """The model cannot be opened, or gave no answer. Search goes on with keywords alone."""


def open_model(found: Found, one_shot: bool) -> Model:
    """The model, not loaded yet: that happens at the first text. `one_shot` is for a question or a handful of texts: it is
    loaded ten times as fast and is a little slower for each text. Raises NoModel, here or then."""
    if found.kind == "packaged":
        from mait_code.projections.packaged_model import Packaged

        return Packaged(found, one_shot)
    if found.kind == "bedrock":
        from mait_code.projections.bedrock import Bedrock

        return Bedrock(found, one_shot)
    from mait_code.projections.named_models import Named

    return Named(found, one_shot)


class Model:
    """A model behind the methods that all share. What differs is how it loads, cuts texts and embeds the parts."""

    #: Parts embedded in one call, and calls at a time.
    batch = 1
    window = 256

    def __init__(self, found: Found, one_shot: bool) -> None:
        self.found = found
        self.one_shot = one_shot
        self.workers = 1 if one_shot else processors()
        self._is_loaded = False

    @property
    def name(self) -> str:
        """The model's name; with `revision` it says which vectors may be compared."""
        return self.found.name

    @property
    def revision(self) -> str:
        """The state of the model's weights and of how they are used."""
        return self.found.revision

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.found.dimension

    def embed_query(self, text: str) -> bytes:
        """The vector of a question."""
        return self.embed_queries([text])[0]

    def embed_queries(self, texts: Sequence[str], progress: Progress | None = None) -> list[bytes]:
        """The vector of each question."""
        if not texts:
            return []
        self.load()
        cut = [self._cut(clean(text), True)[:QUESTION_WINDOWS] for text in texts]
        found = self._embed_parts(cut, True, progress)
        return [vectors[0] if len(vectors) == 1 else _middle(vectors) for vectors in found]

    def embed_documents(self, texts: Sequence[str], progress: Progress | None = None) -> list[list[bytes]]:
        """The vectors of each text, at least one. `progress` is called in this thread."""
        if not texts:
            return []
        self.load()
        return self._embed_parts(self._cut_all([clean(text) for text in texts]), False, progress)

    def _embed_parts(self, cut: list[list[Piece]], is_query: bool, progress: Progress | None) -> list[list[bytes]]:
        places = [(text, part) for text, pieces in enumerate(cut) for part in range(len(pieces))]
        # Longest first: parts of like length fill a batch without padding, and no thread is left with a long one at the end.
        places.sort(key=lambda at: -len(cut[at[0]][at[1]]))
        batches = list(_batches(places, self.batch))
        spread = self._spread([[cut[text][part] for text, part in batch] for batch in batches], is_query)
        found: dict[tuple[int, int], bytes] = {}
        for batch, vectors in zip(batches, spread, strict=True):
            found.update(zip(batch, vectors, strict=True))
            if progress is not None:
                progress(len(found), len(places))
        return [[found[text, part] for part in range(len(pieces))] for text, pieces in enumerate(cut)]

    def _spread(self, batches: list[list[Piece]], is_query: bool) -> Iterator[list[bytes]]:
        """The vectors of each batch, in order, worked out on all processors."""
        workers = min(self.workers, len(batches))
        if workers <= 1:
            yield from (self._embed(batch, is_query) for batch in batches)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            try:
                # onnxruntime and a socket let other threads run while they work.
                yield from pool.map(lambda batch: self._embed(batch, is_query), batches)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # an interrupted command does not work through the rest
                raise

    def load(self) -> None:
        """Load the model now and not at the first text. Raises NoModel."""
        if not self._is_loaded:
            self._load()
            self._is_loaded = True

    def _load(self) -> None:
        raise NotImplementedError

    def _cut(self, text: str, is_query: bool, /) -> list[Piece]:
        """The parts of one text that fit the window, at least one."""
        raise NotImplementedError

    def _cut_all(self, texts: list[str]) -> list[list[Piece]]:
        return [self._cut(text, False) for text in texts]

    def _embed(self, pieces: list[Piece], is_query: bool, /) -> list[bytes]:
        raise NotImplementedError


def spans(tokens: int, window: int, overlap: int) -> list[tuple[int, int]]:
    """The (start, end) of windows over so many tokens: as few as can be, all of about one length, at most MOST_WINDOWS."""
    if tokens <= window:
        return [(0, tokens)]
    step = window - overlap
    tokens = min(tokens, MOST_WINDOWS * step + overlap)
    count = -(-(tokens - overlap) // step)
    # Even ones: a last window of three words would be a vector that says next to nothing.
    starts = [number * (tokens - overlap) // count for number in range(count + 1)]
    return [(starts[number], starts[number + 1] + overlap) for number in range(count)]


def clean(text: str) -> str:
    """The text as the libraries take it: half characters, which come from arguments that are no UTF-8, are replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def normalised(rows: Any) -> list[bytes]:
    """The rows of a matrix as vectors of length 1."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return [row.tobytes() for row in (rows / np.maximum(lengths, 1e-12)).astype("<f4")]


def _middle(vectors: list[bytes]) -> bytes:
    import numpy as np

    return normalised(np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1).mean(0, keepdims=True))[0]


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def quiet_numpy() -> None:
    """Import numpy, before anything else does, without the threads of its linear algebra: starting them costs more than all
    that is done with it."""
    import sys

    if "numpy" in sys.modules or "OPENBLAS_NUM_THREADS" in os.environ:
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        import numpy as np  # noqa: F401
    finally:
        del os.environ["OPENBLAS_NUM_THREADS"]


def _batches(items: Sequence[Any], size: int) -> Iterator[Any]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
