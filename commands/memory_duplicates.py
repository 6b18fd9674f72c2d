"""Pairs of living memories of one type and place that say nearly the same, or that may contradict each other.

By meaning they are compared by the vectors of what they say, each alone: search goes by vectors into which the entry
before leads in, and by these whatever follows one another would be close. By words, pieces of them say first which pairs
are worth comparing.
"""

from __future__ import annotations

from mait_code.commands import memory, memory_seen
from mait_code.journal import settings
from mait_code.journal.errors import MaitError
from mait_code.journal.sha import content_hash
from mait_code.projections import memory_queries
from mait_code.projections.memory_queries import ONE_OF_COPIES, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from mait_code.commands.memory_search import Meanings
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.near_pairs import Matrix
    from mait_code.projections.store import Store
    from mait_code.projections.vectors import Vectors

    Step = Callable[[int, int], None]

__all__ = ["Duplicates", "Pair", "duplicates"]

#: Seconds, and texts, that embedding may take before the comparison; the rest is left to reindex.
FILLING, FILLED = 2.0, 100
#: Pairs whose words are compared, for each that is wanted, and no fewer than LEAST.
_CANDIDATES, _LEAST = 20, 2000
#: How much less than the threshold the pieces of two texts may have in common for their words to be compared.
_SLACK = 0.5
_AT_ONCE = 500


class Pair:
    """Two memories, the older one first. `cosine` is None where one has no vector; `words` is their likeness, 0 to 1, and
    `similarity` the one of the two by which they were found."""

    __slots__ = ("cosine", "nearly_same", "newer", "older", "similarity", "words")

    def __init__(
        self, older: Memory, newer: Memory, cosine: float | None, words: float, similarity: float, nearly_same: bool
    ) -> None:
        self.older = older
        self.newer = newer
        self.cosine = cosine
        self.words = words
        self.similarity = similarity
        self.nearly_same = nearly_same

    @property
    def verdict(self) -> str:
        """What the two are to each other, for people."""
        return "nearly the same" if self.nearly_same else "close, may contradict"

    @property
    def commands(self) -> list[str]:
        """What settles it: one text for both, or the older one put away for what is true now."""
        older, newer = self.older.short, self.newer.short
        return [f"mait-code memory merge {older} {newer} --into TEXT", f"mait-code memory supersede {older} TEXT"]

    def json(self) -> dict[str, Any]:
        """What `duplicates --json` lists."""
        return {
            "verdict": self.verdict,
            "similarity": round(self.similarity, 4),
            "cosine": None if self.cosine is None else round(self.cosine, 4),
            "words": round(self.words, 4),
            "memories": [self.older.json(), self.newer.json()],
            "commands": self.commands,
        }


class Duplicates:
    """The closest pairs, and of how many memories they are.

    `more` is how many pairs are known beyond these. `model` is None where there is none: `reason` says why, or what else
    went wrong. `without_vectors` counts memories that only their words were compared of though there is a model.
    """

    def __init__(self, compared: int) -> None:
        self.pairs: list[Pair] = []
        self.compared = compared
        self.more = 0
        self.model: str | None = None
        self.reason = ""
        self.without_vectors = 0

    def json(self) -> dict[str, Any]:
        """What `duplicates --json` prints."""
        return {
            "pairs": [pair.json() for pair in self.pairs],
            "more": self.more,
            "compared": self.compared,
            "without_vectors": self.without_vectors,
            "model": self.model,
            "reason": self.reason,
        }


def duplicates(
    ws: Workspace,
    meanings: Meanings,
    *,
    limit: int = 20,
    type_: str = "",
    scope: str = "",
    project: str | None = None,
    branch: str | None = None,
    step: Step | None = None,
) -> Duplicates:
    """The closest pairs of memories seen from here, at most `limit`. `step` is told (done, all).

    Raises BadInput for a type there is not, Ambiguous for a project that is several.
    """
    seen = memory_seen.seen(ws, scope, project, branch, "memory_entries.")
    conditions = ["live", "content <> ''", ONE_OF_COPIES, *([seen.where] if seen.where else [])]
    bindings = list(seen.bindings)
    if type_:
        conditions.append("entry_type = ?")
        bindings.append(memory.type_named(type_))
    # What a memory of a wider scope says of project and branch is not where it belongs.
    place = "entry_type, scope, CASE scope WHEN 'global' THEN '' ELSE coalesce(project, '') END,"
    place += " CASE scope WHEN 'branch' THEN coalesce(branch, '') ELSE '' END"
    query = f"SELECT id, content, {place} FROM memory_entries WHERE {' AND '.join(conditions)}"  # noqa: S608
    rows = ws.reading("memory").query(f"{query} ORDER BY 3, 4, 5, 6, created_at, id", tuple(bindings))
    found = _Comparison(rows, limit, step)
    found.by_meaning(meanings)
    found.by_words()
    return found.finished(ws.reading("memory"))


class _Comparison:
    """One comparison: the memories in an order in which those of one type and place stand together, oldest first."""

    def __init__(self, rows: Sequence[Sequence[Any]], limit: int, step: Step | None) -> None:
        from mait_code.projections import likeness

        self.names = [row[0] for row in rows]
        self.contents = [row[1] for row in rows]
        self.words = [likeness.words(text) for text in self.contents]
        self.spans = _spans([tuple(row[2:]) for row in rows])
        self.limit = limit
        self.step = step
        self.vectors: Matrix | None = None
        self.has_vector: set[int] = set()
        self.by_cosine = float(settings.value("dedup-vector-threshold"))
        self.least_cosine = min(self.by_cosine, float(settings.value("dedup-conflict-threshold")))
        self.least_words = float(settings.value("dedup-string-threshold"))
        #: The likeness of words of those found, by their two places.
        self.pairs: dict[tuple[int, int], float] = {}
        self.count = 0
        self.done = Duplicates(len(rows))

    def by_meaning(self, meanings: Meanings) -> None:
        """Find the pairs that are closest by their vectors, as far as there are any."""
        cache = meanings.vectors
        self.done.reason = meanings.reason
        if cache is None or not self.names:
            return
        from mait_code.projections import near_pairs

        self.done.model = cache.name
        hashes = [content_hash(text) for text in self.contents]
        self.done.reason = _fill(meanings, dict(zip(hashes, self.contents, strict=True))) or self.done.reason
        self.vectors = near_pairs.by_meaning(self._kept(cache, hashes), len(hashes), cache.dimension)
        self.done.without_vectors = len(hashes) - len(self.has_vector)
        near, self.count = near_pairs.closest(self.vectors, self.spans, self.least_cosine, self.limit, self.step)
        for _cosine, one, two in near:
            self.pairs[one, two] = self._likeness(one, two)

    def _kept(self, cache: Vectors, hashes: list[bytes]) -> Iterator[tuple[int, list[bytes]]]:
        for start in range(0, len(hashes), _AT_ONCE):
            part = hashes[start : start + _AT_ONCE]
            kept = cache.of(part)
            for at, hash_ in enumerate(part, start):
                if hash_ in kept:
                    self.has_vector.add(at)
                    yield at, kept[hash_]

    def by_words(self) -> None:
        """Find the pairs that are closest by their words."""
        from mait_code.projections import likeness, near_pairs

        pieces = near_pairs.by_pieces(map(likeness.affirmed, self.words), len(self.words))
        most = max(_LEAST, self.limit * _CANDIDATES)
        near, _count = near_pairs.closest(pieces, self.spans, self.least_words - _SLACK, most, self.step)
        alike = []
        for _share, one, two in near:
            similarity = self._likeness(one, two)
            if similarity >= self.least_words:
                alike.append((-similarity, one, two))
                cosine = self._cosine(one, two)
                self.count += cosine is None or cosine < self.least_cosine
        for similarity, one, two in sorted(alike)[: self.limit]:
            self.pairs[one, two] = -similarity

    def finished(self, store: Store) -> Duplicates:
        """The closest of all of them."""
        from mait_code.projections import likeness

        ranked = sorted((-self._closeness(*pair), *pair) for pair in self.pairs)[: self.limit]
        for closeness, one, two in ranked:
            older, newer = (memory_queries.one(store, f"memory/{self.names[at]}") for at in (one, two))
            if older is not None and newer is not None:
                words = likeness.in_common(self.words[one], self.words[two], 0)
                self.done.pairs.append(
                    Pair(older, newer, self._cosine(one, two), words, -closeness, self._nearly_same(one, two))
                )
        self.done.more = max(0, self.count - len(ranked))
        return self.done

    def _likeness(self, one: int, two: int) -> float:
        from mait_code.projections import likeness

        return likeness.in_common(self.words[one], self.words[two], self.least_words)

    def _cosine(self, one: int, two: int) -> float | None:
        if self.vectors is None or not {one, two} <= self.has_vector:
            return None
        return min(1.0, float(self.vectors[one] @ self.vectors[two]))

    def _closeness(self, one: int, two: int) -> float:
        """By whichever it was found: the share of words below its threshold says nothing, nor does such a cosine."""
        cosine, words = self._cosine(one, two) or 0.0, self.pairs[one, two]
        return max(cosine, words if words >= self.least_words else 0.0)

    def _nearly_same(self, one: int, two: int) -> bool:
        from mait_code.projections import likeness

        cosine = self._cosine(one, two)
        if cosine is None or cosine < self.by_cosine:
            return False
        return not likeness.turned(self.words[one], self.words[two])


def _spans(places: Sequence[Any]) -> list[tuple[int, int]]:
    """Where those of one place begin and end."""
    starts = [at for at, place in enumerate(places) if not at or place != places[at - 1]]
    return list(zip(starts, [*starts, len(places)][1:], strict=True)) if starts else []


def _fill(meanings: Meanings, texts: dict[bytes, str]) -> str:
    """Embed some of what has no vectors yet, where it is little. Returns what went wrong, if anything: words are compared
    all the same."""
    from mait_code.projections.filling import fill

    vectors = meanings.vectors
    missing = [] if vectors is None else vectors.missing(texts)
    if vectors is None or not missing or len(missing) > FILLED:
        return ""
    try:
        fill(vectors, meanings.model(one_shot=True), [(hash_, texts[hash_]) for hash_ in missing], FILLING)
    except MaitError as error:
        return str(error)
    return ""
