"""Embedding what has no vectors yet."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mait_code.projections.embedding import Model
    from mait_code.projections.vectors import Vectors

#: Texts embedded and kept at a time, for each that the model takes at once: enough to keep it busy, not much to lose.
BATCH = 64
#: With a time budget the first few show how long the rest will take; none of them has more characters than this.
FIRST = 4
FIRST_CHARACTERS = 4000


def fill(
    vectors: Vectors,
    model: Model,
    pairs: Iterable[tuple[bytes, str]],
    budget_seconds: float | None = None,
    step: Callable[[int, int], None] | None = None,
) -> int:
    """Embed those of the (hash, text) `pairs` that have no vectors, keeping each batch as it is done: what an interrupt or
    a kill leaves is taken up by the next call. Returns how many texts that were.

    With a budget it stops before the time is up, in the order given, leaves out what is too long for what is left of it,
    and embeds one batch at least. Loading the model counts. `step` is told (done, all). Raises NoModel, Busy or DiskRefused.
    """
    started = time.monotonic()
    if not vectors.available or (budget_seconds is not None and budget_seconds <= 0):
        return 0
    texts = dict(pairs)
    wanted = [(hash_, texts[hash_]) for hash_ in vectors.missing(texts)]
    texts.clear()
    if not wanted:
        return 0
    if budget_seconds is None:
        wanted.sort(key=lambda pair: -len(pair[1]))  # batches of one length waste least
        return _fill_all(vectors, model, wanted, step)
    model.load()
    return _fill_some(vectors, model, wanted, started + budget_seconds, step)


def _fill_all(
    vectors: Vectors, model: Model, wanted: list[tuple[bytes, str]], step: Callable[[int, int], None] | None
) -> int:
    done, size = 0, BATCH * model.workers
    for start in range(0, len(wanted), size):
        done += _embed(vectors, model, wanted[start : start + size])
        if step is not None:
            step(min(start + size, len(wanted)), len(wanted))
    return done


def _fill_some(
    vectors: Vectors,
    model: Model,
    wanted: list[tuple[bytes, str]],
    until: float,
    step: Callable[[int, int], None] | None,
) -> int:
    done, at, speed, most = 0, 0, 0.0, FIRST
    while at < len(wanted):
        left = until - time.monotonic()
        if at and left <= 0:
            break
        batch, at = _that_fits(wanted, at, most, left * speed if speed else FIRST_CHARACTERS)
        began = time.monotonic()
        embedded = _embed(vectors, model, batch)
        if embedded:
            done += embedded
            speed = sum(_cost(text) for _, text in batch) / max(time.monotonic() - began, 1e-6)
            most = FIRST * 8
        if step is not None:
            step(done, len(wanted))
    return done


def _that_fits(wanted: list[tuple[bytes, str]], at: int, most: int, room: float) -> tuple[list[tuple[bytes, str]], int]:
    """The next texts that there is room for, and where to go on. What is too long by itself is passed over."""
    batch: list[tuple[bytes, str]] = []
    while at < len(wanted) and len(batch) < most:
        cost = _cost(wanted[at][1])
        if cost <= room:
            batch.append(wanted[at])
            room -= cost
        elif batch:
            break
        at += 1
    return batch, at


def _cost(text: str) -> int:
    """How long a text takes, in characters: a short one is not for nothing."""
    return len(text) + 50


def _embed(vectors: Vectors, model: Model, batch: list[tuple[bytes, str]]) -> int:
    # Another process may be at the same texts.
    missing = set(vectors.missing([hash_ for hash_, _ in batch]))
    batch = [pair for pair in batch if pair[0] in missing]
    if batch:
        found = model.embed_documents([text for _, text in batch])
        vectors.add(zip([hash_ for hash_, _ in batch], found, strict=True))
    return len(batch)
