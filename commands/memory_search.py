"""Finding memories, and everything else that is found like them."""

from __future__ import annotations

import re
from math import exp2

import orjson

from mait_code.commands import memory_seen
from mait_code.commands.memory import type_named
from mait_code.commands.memory_review import half_lives
from mait_code.journal import clock, settings
from mait_code.journal.errors import BadInput, MaitError
from mait_code.projections import entries, search
from mait_code.projections.memories import class_of
from mait_code.projections.search import Finding, Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.embedding import Model
    from mait_code.projections.model_files import Found
    from mait_code.projections.vectors import Vectors

__all__ = ["Asked", "Meanings", "answers", "search_all"]

#: From so many questions on the model is made ready for many.
_MANY = 30
#: With a time budget no more texts than this are looked at.
_IN_A_HURRY = 200
_AT_ONCE = 500
#: What acts on a terminal and JSON does not escape by itself.
_ACTING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_DAY = 86_400 * clock.SECOND


class Asked:
    """What a search was asked: filters as people give them. Raises BadInput where one makes no sense."""

    def __init__(
        self,
        *,
        limit: int = 10,
        mode: str = "hybrid",
        rank: str = "",
        kinds: Sequence[str] = (),
        type_: str = "",
        concept: str = "",
        file: str = "",
        tag: str = "",
        session: str = "",
        since: str | None = None,
        until: str | None = None,
        scope: str = "",
        project: str | None = None,
        branch: str | None = None,
    ) -> None:
        self.limit = limit
        self.mode = mode
        self.rank = rank or str(settings.value("ranking"))
        self.conditions: list[str] = []
        self.bindings: list[Any] = []
        self.scope = scope
        self.project = project
        self.branch = branch
        if kinds:
            self._add(f"e.kind IN ({', '.join('?' * len(kinds))})", *map(_kind, kinds))
        if type_:
            self._add("e.type = ?", type_named(type_) if not kinds or "memory" in kinds else type_)
        if session:
            self._add("e.session = ?", session)
        if since:
            self._add("e.created_at >= ?", since)
        if until:
            self._add("e.created_at < ?", until)
        if concept:
            self._add(
                "EXISTS (SELECT 1 FROM json_each(e.detail, '$.concepts') WHERE value = ? COLLATE NOCASE)", concept
            )
        if tag:
            self._add("EXISTS (SELECT 1 FROM json_each(e.detail, '$.tags') WHERE value = ? COLLATE NOCASE)", tag)
        if file:
            suffix = "EXISTS (SELECT 1 FROM json_each(e.detail, '$.{}') WHERE value = ? OR value LIKE ? ESCAPE '\\')"
            ending = "%/" + file.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            both = f"({suffix.format('files_read')} OR {suffix.format('files_modified')})"
            self._add(both, file, ending, file, ending)

    def _add(self, condition: str, *bindings: Any) -> None:
        self.conditions.append(condition)
        self.bindings += bindings


def _kind(text: str) -> str:
    kind = text.strip().lower()
    if kind not in entries.KINDS:
        raise BadInput(f"there is no kind {text!r}", "kinds are " + ", ".join(entries.KINDS))
    return kind


class Meanings:
    """The model and its vectors, opened when they are needed. `reason` says why there are none; `refused` that it is not for
    want of a model, but because their file cannot be used."""

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self.reason = ""
        self.refused = False
        self._found: Found | None = None
        self._vectors: Vectors | None = None
        self._model: Model | None = None
        self._looked = False

    @property
    def vectors(self) -> Vectors | None:
        """The vectors of the model in use; None where there is no model here, or they cannot be kept."""
        if not self._looked:
            self._looked = True
            from mait_code.projections.model_files import Wanted as WantedModel
            from mait_code.projections.model_files import resolve
            from mait_code.projections.vectors import Vectors

            resolution = resolve(self.ws.home, WantedModel.from_settings())
            self._found, self.reason = resolution.found, resolution.reason
            if self._found is not None:
                self._vectors = Vectors(self.ws.home, self._found)
                if not self._vectors.available:
                    self.reason, self._vectors, self.refused = self._vectors.reason, None, True
        return self._vectors

    def model(self, one_shot: bool) -> Model:
        """The model itself, loaded when it embeds; anew where it was made ready for few and there are many."""
        if self._model is None or (self._model.one_shot and not one_shot):
            from mait_code.projections.embedding import open_model

            assert self._found is not None, "ask for the vectors first"
            self._model = open_model(self._found, one_shot)
        return self._model

    def of(self, texts: Sequence[str]) -> list[bytes | None]:
        """The vectors of questions, kept ones first; None where the model fails."""
        vectors = self.vectors
        if vectors is None:
            return [None] * len(texts)
        found: list[bytes | None] = [vectors.cached_query(text) for text in texts]
        asked = [text for text, vector in zip(texts, found, strict=True) if vector is None and text.strip()]
        if asked and vectors.count():
            try:
                made = dict(zip(asked, self.model(len(asked) < _MANY).embed_queries(asked), strict=True))
            except MaitError as error:
                self.reason = str(error)
                return found
            for text, vector in made.items():
                vectors.keep_query(text, vector)
            found = [one or made.get(text) for text, one in zip(texts, found, strict=True)]
        return found

    def fill(
        self, budget: float | None = None, step: Callable[[int, int], None] | None = None, many: bool = True
    ) -> int:
        """Embed what has no vectors yet, newest first. Returns how many texts. Raises MaitError."""
        vectors = self.vectors
        if vectors is None:
            return 0
        from mait_code.projections.filling import fill

        store = self.ws.reading("memory")
        missing = vectors.missing([row[0] for row in store.query("SELECT hash FROM entries ORDER BY place DESC")])
        if budget is not None:
            missing = missing[:_IN_A_HURRY]
        if not missing:
            return 0
        pairs = []
        for start in range(0, len(missing), _AT_ONCE):
            part = tuple(missing[start : start + _AT_ONCE])
            query = f"SELECT DISTINCT hash, text, lead FROM entries WHERE hash IN ({', '.join('?' * len(part))})"  # noqa: S608
            found = {hash_: entries.embedded(text, lead) for hash_, text, lead in store.query(query, part)}
            pairs += [(hash_, found[hash_]) for hash_ in part if hash_ in found]
        return fill(vectors, self.model(not many), pairs, budget, step)

    def refresh(self, text: str, budget: float) -> None:
        """Before a question is asked by meaning: embed some of what has no vectors yet, the newest first, where the model
        has to be loaded for the question anyway. A search is as good without, so what fails is only noted."""
        vectors = self.vectors
        if vectors is None or vectors.cached_query(text) is not None:
            return
        try:
            self.fill(budget, many=False)
        except MaitError as error:
            self.reason = str(error)

    def close(self) -> None:
        """Close the vectors."""
        if self._vectors is not None:
            self._vectors.close()


def search_all(ws: Workspace, texts: Sequence[str], asked: Asked, meanings: Meanings) -> list[list[Finding]]:
    """What each of the texts finds, best first."""
    return list(answers(ws, texts, asked, meanings))


def answers(ws: Workspace, texts: Sequence[str], asked: Asked, meanings: Meanings) -> Iterator[list[Finding]]:
    """The same, one after the other; the texts are embedded together."""
    store = ws.reading("memory")
    wanted = _wanted(ws, asked)
    vectors = meanings.vectors if asked.mode != "fts" else None
    found_vectors: list[bytes | None] = meanings.of(texts) if vectors is not None else [None] * len(texts)
    if vectors is None and asked.mode == "vector":
        raise BadInput(f"there is no search by meaning here: {meanings.reason}", "--mode fts searches by words")
    for text, vector in zip(texts, found_vectors, strict=True):
        yield search.find(store, text, wanted, vectors, vector)


def _wanted(ws: Workspace, asked: Asked) -> Wanted:
    seen = memory_seen.seen(ws, asked.scope, asked.project, asked.branch)
    project, branch = seen.project, seen.branch
    conditions = [one for one in (seen.where, *asked.conditions) if one]
    now = clock.wall()
    return Wanted(
        limit=asked.limit,
        mode=asked.mode,
        where=" AND ".join(conditions),
        bindings=[*seen.bindings, *asked.bindings],
        near=(project, branch),
        age=lambda at: max(0, now - clock.micros(at)) / _DAY,
        rank=classic(project, branch, asked.mode, now) if asked.rank == "classic" else None,
    )


def classic(project: str | None, branch: str | None, mode: str, now: int) -> Callable[[Finding], float]:
    """The formula of older companions: weighed recency, importance and relevance, times a factor for the place."""
    names = ("score-weight-recency", "score-weight-importance", "score-weight-relevance")
    weights = [float(settings.value(name)) for name in names]
    if abs(sum(weights) - 1) > 0.001:
        weights = [0.3, 0.3, 0.4]
    lives = half_lives()
    everywhere, elsewhere = (
        float(settings.value(name)) for name in ("scope-boost-global", "scope-boost-cross-project")
    )

    def place(one: Finding) -> float:
        if project is None:
            return 1.0
        if one.scope == "global" or one.project is None:
            return everywhere
        if one.project != project:
            return elsewhere
        return 1.0 if branch is not None and one.branch == branch else 0.85

    def rank(one: Finding) -> float:
        age = max(0, now - clock.micros(one.last_seen_at)) / _DAY
        recency = exp2(-age / lives[class_of(one.type or "")])
        relevance = 0.7 if mode == "fts" else max(0.0, one.cosine) if one.cosine is not None else 0.3
        importance = (min(10, max(1, one.importance)) - 1) / 9
        return float((weights[0] * recency + weights[1] * importance + weights[2] * relevance) * place(one))

    return rank


def hit(one: Finding, short: str) -> dict[str, Any]:
    """A finding as `search --json` prints it."""
    return {
        "id": one.id,
        "short": short,
        "kind": one.kind,
        "entry_type": one.type,
        "content": one.text,
        "title": one.title,
        "score": round(one.score, 4),
        "snippet": snippet(one.text),
        "importance": one.importance,
        "scope": one.scope,
        "project": one.project,
        "branch": one.branch,
        "session": one.session,
        "created_at": one.created_at,
        "last_seen_at": one.last_seen_at,
        "tags": one.detail.get("tags", []),
        "ref": one.refs[0] if one.refs else None,
        "refs": one.refs,
    }


def snippet(text: str, longest: int = 160) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def dumps(value: Any) -> str:
    """One line of JSON, safe to show on a terminal."""
    return _ACTING.sub(lambda one: f"\\u{ord(one[0]):04x}", orjson.dumps(value).decode())
