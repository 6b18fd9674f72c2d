"""Finding: what fits a question by its words and by its meaning, best first.

    score = (0.5 cosine / best cosine + 0.5 bm25 / best bm25) x names x recency x importance x place

The best fifty by words (FTS5's bm25, Robertson and Zaragoza 2009) and by meaning (cosine of sentence vectors) are
weighed together; whoever stands in only one list has the other value looked up or counts zero there. The factors are
mild: what is said counts, not when. `classic` orders the same findings by the formula of older companions.
"""

from __future__ import annotations

import re
from math import exp2

import orjson

from mait_code.projections.question import Question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from mait_code.projections.store import Store
    from mait_code.projections.vectors import Vectors

#: How many of each list are weighed.
CANDIDATES = 50
#: Weights of the columns of the full-text index: the text, the entry before it, pieces of words.
COLUMNS = (1.0, 0.5, 0.5)
#: What is added to the factor 1: who speaks is named in the question; a thing of the graph is, and the text tells of it;
#: told just now; importance 10 instead of 5; of this very branch instead of elsewhere.
SPEAKER, NAMED, RECENT, IMPORTANT, NEAR = 0.4, 0.1, 0.05, 0.05, 0.05

#: What a Finding is made of.
FIELDS = (
    "e.rowid, e.id, e.kind, e.type, e.title, e.text, e.session, e.project, e.branch, e.scope, e.importance, e.created_at,"
    " e.last_seen_at, e.hash, e.same, e.detail"
)


class Wanted:
    """What is looked for: the filters as SQL over `entries e`, and how to order.

    `near` is the (project, branch) that findings from elsewhere stand behind; `age` tells how many days ago a time was.
    """

    __slots__ = ("age", "bindings", "limit", "mode", "near", "rank", "where")

    def __init__(
        self,
        limit: int = 10,
        mode: str = "hybrid",
        where: str = "",
        bindings: Sequence[Any] = (),
        near: tuple[str | None, str | None] = (None, None),
        age: Callable[[str], float] | None = None,
        rank: Callable[[Finding], float] | None = None,
    ) -> None:
        self.limit = limit
        self.mode = mode
        self.where = where
        self.bindings = tuple(bindings)
        self.near = near
        self.age = age
        self.rank = rank


class Finding:
    """One entry that was found. `score` is at most about 1; `words` and `meaning` are what it is made of, of at most 1."""

    __slots__ = (
        "branch",
        "cosine",
        "created_at",
        "detail",
        "hash",
        "id",
        "importance",
        "kind",
        "last_seen_at",
        "meaning",
        "project",
        "refs",
        "rowid",
        "same",
        "scope",
        "score",
        "session",
        "text",
        "title",
        "type",
        "words",
    )  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        (
            self.rowid, self.id, self.kind, self.type, self.title, self.text, self.session, self.project, self.branch,
            self.scope, self.importance, self.created_at, self.last_seen_at, self.hash, self.same, detail,
        ) = row  # fmt: skip
        self.detail: dict[str, Any] = orjson.loads(detail)
        self.refs: list[str] = list(self.detail.get("refs", ()))
        self.words = self.meaning = self.score = 0.0
        self.cosine: float | None = None

    @property
    def entity(self) -> str:
        """`kind/id`."""
        return f"{self.kind}/{self.id}"


def find(
    store: Store, text: str, wanted: Wanted, vectors: Vectors | None = None, vector: bytes | None = None
) -> list[Finding]:
    """The entries that fit `text`, best first, at most `wanted.limit`. Without the vector of the text words alone count.

    Of entries that say the same in the same place the best stands for all, with the keys of all.
    """
    question = Question(text)
    found: dict[int, Finding] = {}
    if wanted.mode != "vector":
        for finding, score in by_words(store, question, wanted):
            finding.words = score
            found[finding.rowid] = finding
    if wanted.mode != "fts" and vectors is not None and vector is not None:
        _add_by_meaning(store, vectors, vector, wanted, found)
    return _best(_scored(store, question, list(found.values()), wanted), wanted.limit)


# -- by words ---------------------------------------------------------------------------------------------------------


def by_words(store: Store, question: Question, wanted: Wanted, most: int = CANDIDATES) -> list[tuple[Finding, float]]:
    """The best by bm25, with it (larger is better). Words that stand nowhere are looked for as parts of longer ones."""
    found = _matching(store, question.match(), wanted, most)
    if len(found) < most:
        odd = [word for word in question.words if not _stands(store, word)]
        known = {finding.rowid for finding, _ in found}
        found += [one for one in _matching(store, question.loose(odd), wanted, most) if one[0].rowid not in known]
    return found[:most]


def _matching(store: Store, match: str, wanted: Wanted, most: int) -> list[tuple[Finding, float]]:
    if not match:
        return []
    weights = ", ".join(map(str, COLUMNS))
    where = f" AND {wanted.where}" if wanted.where else ""
    joined = " JOIN entries e ON e.rowid = entries_fts.rowid" if where else ""
    rows = store.query(
        f"SELECT {FIELDS}, -near.fit FROM (SELECT entries_fts.rowid AS row, bm25(entries_fts, {weights}) AS fit"
        f" FROM entries_fts{joined} WHERE entries_fts MATCH ?{where} ORDER BY fit LIMIT ?) near"
        " JOIN entries e ON e.rowid = near.row ORDER BY near.fit, e.rowid",
        (match, *wanted.bindings, most),
    )
    return [(Finding(row[:-1]), row[-1]) for row in rows]


def _stands(store: Store, word: str) -> bool:
    quoted = '"' + word.replace('"', '""') + '"'
    return store.value("SELECT 1 FROM entries_fts WHERE entries_fts MATCH ? LIMIT 1", (quoted,)) is not None


# -- by meaning -------------------------------------------------------------------------------------------------------


def _add_by_meaning(store: Store, vectors: Vectors, vector: bytes, wanted: Wanted, found: dict[int, Finding]) -> None:
    if wanted.where:
        among = {row[0] for row in store.query(f"SELECT hash FROM entries e WHERE {wanted.where}", wanted.bindings)}
        near = vectors.nearest_among(vector, among, CANDIDATES)
    else:
        near = vectors.nearest(vector, CANDIDATES)
    for finding in _with_hashes(store, [hash_ for hash_, _ in near], wanted):
        found.setdefault(finding.rowid, finding)
    cosines = vectors.cosines(vector, {finding.hash for finding in found.values()})
    for finding in found.values():
        finding.cosine = cosines.get(finding.hash)
        finding.meaning = max(0.0, finding.cosine or 0.0)


def _with_hashes(store: Store, hashes: list[bytes], wanted: Wanted) -> list[Finding]:
    if not hashes:
        return []
    where = f" AND {wanted.where}" if wanted.where else ""
    marks = ", ".join("?" * len(hashes))
    rows = store.query(
        f"SELECT {FIELDS} FROM entries e WHERE e.hash IN ({marks}){where} ORDER BY e.rowid LIMIT ?",
        (*hashes, *wanted.bindings, CANDIDATES * 4),
    )
    return [Finding(row) for row in rows]


# -- weighing ---------------------------------------------------------------------------------------------------------


def _scored(store: Store, question: Question, found: list[Finding], wanted: Wanted) -> list[Finding]:
    most_words = max((one.words for one in found), default=0.0) or 1.0
    most_meaning = max((one.meaning for one in found), default=0.0) or 1.0
    by_both = any(one.words for one in found) and any(one.meaning for one in found)
    things = known_names(store, question)
    for one in found:
        words, meaning = one.words / most_words, one.meaning / most_meaning
        base = 0.5 * words + 0.5 * meaning if by_both else words + meaning
        one.words, one.meaning = words, meaning
        one.score = base * _factor(one, question.names, things, wanted)
    if wanted.rank is not None:
        for one in found:
            one.score = wanted.rank(one)
    return found


def _factor(one: Finding, names: set[str], things: set[str], wanted: Wanted) -> float:
    factor = 1 + SPEAKER if speaks(one, names) else 1 + NAMED if things and tells_of(one, things) else 1.0
    if wanted.age is not None:
        factor *= 1 + RECENT * exp2(-max(0.0, wanted.age(one.last_seen_at)) / 90)
    factor *= 1 + IMPORTANT * (one.importance - 5) / 5
    project, branch = wanted.near
    if project is not None and one.project == project:
        factor *= 1 + NEAR * (1.0 if branch is not None and one.branch == branch else 0.5)
    return float(factor)


def speaks(one: Finding, names: set[str]) -> bool:
    """Whether the question names who speaks: a text that begins with `Name:`."""
    head, colon, _ = one.text[:60].partition(":")
    return bool(colon) and head.lower() in names


def tells_of(one: Finding, things: set[str]) -> bool:
    """Whether a text tells of one of these things, by its name as a word."""
    text = one.text.lower()
    return any(thing in text and re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", text) for thing in things)


def known_names(store: Store, question: Question) -> set[str]:
    """Things of the graph that the question names, in whatever case."""
    if not question.words:
        return set()
    marks = ", ".join("?" * len(question.words))
    rows = store.query(
        f"SELECT lower(name) FROM memory_entities WHERE name COLLATE NOCASE IN ({marks})", tuple(question.words)
    )
    return {row[0] for row in rows}


def _best(found: list[Finding], limit: int) -> list[Finding]:
    """In order, each thing that is said twice once: in the place of the best of them the oldest, as lists show it."""
    kept: dict[str, Finding] = {}
    for one in sorted(found, key=lambda one: (-one.score, one.created_at, one.id)):
        best = kept.setdefault(one.same, one)
        if best is not one:
            shown, other = sorted((best, one), key=lambda one: (one.created_at, one.id))
            shown.score = best.score
            shown.refs += [ref for ref in other.refs if ref not in shown.refs]
            kept[one.same] = shown
    return list(kept.values())[:limit]
