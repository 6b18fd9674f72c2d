"""Which rows of a matrix are closest to each other: exact products, block by block, of which only the best are kept.

Ten thousand rows make fifty million pairs. No more than a block of them is in memory at a time, and once as many are
found as are wanted, the least of these is what the next one has to surpass.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    #: The cosine of two rows and their numbers, the smaller one first.
    Near = tuple[float, int, int]
    #: The best pairs so far: cosines, rows, other rows.
    Held = tuple[Matrix, npt.NDArray[np.int64], npt.NDArray[np.int64]]

#: Products held at a time: 4 bytes each, and as many times 8 for sorting out the best of them.
_CELLS = 2_000_000
#: Pieces of words that `by_pieces` tells apart, about: two that share a place count for each other only half the time.
PLACES = 512


def closest(
    rows: Matrix,
    spans: Iterable[tuple[int, int]],
    least: float,
    most: int,
    step: Callable[[int, int], None] | None = None,
) -> tuple[list[Near], int]:
    """The pairs of rows whose cosine is at least `least`, closest first, at most `most`; and how many there are of them.

    The rows have length 1 or 0; one of length 0 is near nothing. Only rows of the same span (start, end) are compared.
    `step` is told (products done, all).
    """
    spans = [(start, end) for start, end in spans if end - start > 1]
    total, done, count = sum((end - start) ** 2 for start, end in spans), 0, 0
    held: Held = np.empty(0, np.float32), np.empty(0, np.int64), np.empty(0, np.int64)
    floor = max(least, 1e-6)
    for start, end in spans:
        height = max(1, _CELLS // (end - start))
        for top in range(start, end, height):
            bottom = min(top + height, end)
            products = rows[top:bottom] @ rows[top:end].T
            products[np.tril_indices(bottom - top)] = -1  # each pair once, and none with itself
            count += int(np.count_nonzero(products >= max(least, 1e-6)))
            held = _best(held, products, floor, most, top)
            if len(held[0]) == most:
                floor = max(floor, float(held[0].min()))
            done += (bottom - top) * (end - start)
            if step is not None:
                step(done, total)
    found = [(min(1.0, float(cosine)), int(one), int(two)) for cosine, one, two in zip(*held, strict=True)]
    return sorted(found, key=lambda pair: (-pair[0], pair[1], pair[2])), count


def _best(held: Held, products: Matrix, floor: float, most: int, top: int) -> Held:
    """What is held and what a block has that is better, at most `most`."""
    cells = products.ravel()
    at = np.flatnonzero(cells >= floor)
    if len(at) > most:
        at = at[np.argpartition(-cells[at], most - 1)[:most]]
    one, two = np.divmod(at, products.shape[1])
    cosines = np.concatenate((held[0], cells[at]))
    ones = np.concatenate((held[1], one + top))
    twos = np.concatenate((held[2], two + top))
    if len(cosines) > most:
        kept = np.argpartition(-cosines, most - 1)[:most]
        return cosines[kept], ones[kept], twos[kept]
    return cosines, ones, twos


def by_meaning(vectors: Iterable[tuple[int, Sequence[bytes]]], count: int, dimension: int) -> Matrix:
    """`count` rows, of which those named have the vectors given: of several the middle. The others stay nothing, and so
    does a vector that is no number."""
    rows = np.zeros((count, dimension), np.float32)
    for at, windows in vectors:
        for window in windows:
            rows[at] += np.frombuffer(window, "<f4")
    return _of_length_one(rows)


def by_pieces(texts: Iterable[Sequence[str]], count: int) -> Matrix:
    """A row for each of `count` texts, given by its words: how often it has each piece of three characters, hashed to
    `PLACES` (Weinberger et al. 2009). Two texts that have most characters in common have most pieces in common."""
    known: dict[str, tuple[list[int], list[int]]] = {}
    rows = np.zeros((count, PLACES), np.float32)
    for row, words in zip(rows, texts, strict=True):
        places: list[int] = []
        signs: list[int] = []
        for word in words:
            found = known.get(word) or known.setdefault(word, _pieces(word))
            places += found[0]
            signs += found[1]
        if places:
            row += np.bincount(places, signs, PLACES)
    return _of_length_one(rows)


def _pieces(word: str) -> tuple[list[int], list[int]]:
    padded = f" {word} "
    hashes = [crc32(padded[at : at + 3].encode("utf-8", "surrogatepass")) for at in range(len(padded) - 2)]
    return [one % PLACES for one in hashes], [1 if one >> 31 else -1 for one in hashes]


def _of_length_one(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 1e-12)
    rows[~usable[:, 0]] = 0
    rows /= np.where(usable, lengths, 1)
    return rows
