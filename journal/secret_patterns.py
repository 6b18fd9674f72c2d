"""Where secrets stand in a text, all kinds together."""

from __future__ import annotations

from mait_code.journal import secret_assignments, secret_formats, secret_keys, secret_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

__all__ = ["spans"]

_FINDERS = (secret_keys, secret_formats, secret_places, secret_assignments)


def spans(text: str) -> list[Span]:
    """(start, end, what it looks like) of each secret, in order and apart from each other.

    Where several were found in one place, the first named says what it is: a known format before a place.
    """
    ranked = [span for finder in _FINDERS for span in finder.found(text)]
    order = sorted(range(len(ranked)), key=lambda rank: (ranked[rank][0], rank))
    merged: list[tuple[int, int, int]] = []
    for rank in order:
        start, end, _label = ranked[rank]
        if start >= end:
            continue
        if merged and start < merged[-1][1]:
            before = merged[-1]
            merged[-1] = (before[0], max(before[1], end), min(before[2], rank))
        else:
            merged.append((start, end, rank))
    return [(start, end, ranked[rank][2]) for start, end, rank in merged]
