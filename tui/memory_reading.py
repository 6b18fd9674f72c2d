"""What the memory screen asks of the store. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import memory_seen
from mait_code.commands.like_words import patterns
from mait_code.commands.output import counted
from mait_code.projections import ids, memory_queries
from mait_code.projections.memories import TYPES
from mait_code.projections.memory_queries import ONE_OF_COPIES, ONE_OF_COPIES_AMONG_MANY
from mait_code.tui.outline_reading import Branch, Outline, Text, in_sight

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from mait_code.commands.memory_seen import Seen
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["EVERYWHERE", "HERE", "Line", "Question", "first", "leaves", "places", "whole"]

#: Places besides projects: what is seen from this directory, and everything. No project is called so.
HERE, EVERYWHERE = "\0here", "\0all"
#: The branch of what was asked for by meaning.
CLOSEST = "closest"
#: From so many memories on the types are closed at first.
_MANY = 300
#: Memories that are found by meaning, and told of under a branch.
_BY_MEANING, _FEW = 50, 10
#: Ids that one question names.
_AT_ONCE = 50
#: Seconds in which memories that have no vectors yet get theirs before a question.
_REFRESH = 2.0


class Line:
    """A memory as the list shows it. `score` is how close it is to what was asked, where something was."""

    __slots__ = ("id", "importance", "pinned", "score", "short", "text", "type")

    def __init__(self, id_: str, short: str, type_: str, text: str, pinned: bool, importance: int) -> None:
        self.id = id_
        self.short = short
        self.type = type_
        self.text = text
        self.pinned = pinned
        self.importance = importance
        self.score: float | None = None


class Question:
    """What is to be shown: from which place, with which words or close to what in meaning; which branches were opened or
    closed, and which leaves are in sight."""

    __slots__ = ("asked", "folds", "place", "seen", "words")

    def __init__(
        self,
        place: str = HERE,
        words: str = "",
        asked: str = "",
        folds: Mapping[str, bool] | None = None,
        seen: Iterable[str] = (),
    ) -> None:
        self.place = place
        self.words = words
        self.asked = asked
        self.folds = dict(folds or {})
        self.seen = list(seen)

    def __call__(self, ws: Workspace) -> Outline[Line]:
        scope, project = scope_of(self.place)
        where = memory_seen.seen(ws, scope, project, prefix="memory_entries.")
        found: Outline[Line] = Outline(named(self.place, where))
        if self.asked:
            _closest(ws, self.asked, scope, project, found)
        else:
            self._by_type(ws.reading("memory"), where, found)
        return found

    def _by_type(self, store: Store, seen: Seen, found: Outline[Line]) -> None:
        where = " AND ".join(one for one in ("live", seen.where, ONE_OF_COPIES_AMONG_MANY) if one)
        query = f"SELECT entry_type, count(*) FROM memory_entries WHERE {where} GROUP BY 1"  # noqa: S608
        counts = dict(store.query(query, tuple(seen.bindings)))
        found.total = sum(counts.values())
        open_at_first = bool(self.words.strip()) or found.total <= _MANY
        shown = [name for name in counts if self.folds.get(branch_of(name), open_at_first)]
        leaves = _leaves(store, where, seen.bindings, self.words, shown)
        for name in [*(one for one in TYPES if one in counts), *sorted(set(counts) - set(TYPES))]:
            keys = leaves.get(name, [])
            if self.words.strip() and name in shown and not keys:
                continue
            count = len(keys) if self.words.strip() and name in shown else counts[name]
            branch = Branch(branch_of(name), name, str(count), count=count, is_open=open_at_first)
            branch.leaves = keys
            found.branches.append(branch)
        listed = [key for keys in leaves.values() for key in keys]
        found.items = _lines(store, in_sight(listed, self.seen))
        matching = sum(map(len, leaves.values()))
        found.banner = counted(found.total, "memory", "memories")
        if self.words.strip():
            found.banner = f"{matching} of {found.banner}"


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question()


def branch_of(type_: str) -> str:
    """The key of a type's branch; ids have no colon."""
    return f"type:{type_}"


def scope_of(place: str) -> tuple[str, str | None]:
    """The scope and the project that a place means to commands."""
    return ("all", None) if place == EVERYWHERE else ("", None if place == HERE else place)


def named(place: str, seen: Seen) -> str:
    """A place in words."""
    if place == EVERYWHERE or (place == HERE and not seen.where):
        return "all projects"
    if place == "":
        return "in no project"
    return " ".join(filter(None, (seen.project or "", seen.branch or "")))


def _leaves(store: Store, where: str, bindings: list[Any], words: str, shown: list[str]) -> dict[str, list[str]]:
    """The ids of each of these types, newest first."""
    conditions, more = _with_words(words)
    found: dict[str, list[str]] = {name: [] for name in shown}
    if not shown:
        return found
    query = (
        f"SELECT id, entry_type FROM memory_entries WHERE {where}{conditions}"  # noqa: S608
        f" AND entry_type IN ({', '.join('?' * len(shown))}) ORDER BY created_at DESC, id DESC"
    )
    for id_, name in store.query(query, (*bindings, *more, *shown)):
        found[name].append(id_)
    return found


def _with_words(words: str) -> tuple[str, list[Any]]:
    """SQL for memories in which each word stands: in their text, tags or project, or at the beginning of their id."""
    conditions = ""
    bindings: list[Any] = []
    for word in words.split():
        tests = []
        for pattern in patterns(word):
            tests += [f"{column} LIKE ? ESCAPE '\\'" for column in ("content", "tags", "project")]
            bindings += [pattern] * 3
        tests.append("substr(id, 1, ?) = ?")
        bindings += [len(word), word.lower()]
        conditions += f" AND ({' OR '.join(tests)})"
    return conditions, bindings


def leaves(store: Store, wanted: Iterable[str]) -> dict[str, Line]:
    """The lines of memories by id."""
    return _lines(store, [key for key in wanted if ":" not in key and key != CLOSEST])


def _lines(store: Store, wanted: list[str]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        query = (
            "SELECT m.id, entry_type, substr(content, 1, 400), importance,"  # noqa: S608
            " pinned OR EXISTS (SELECT 1 FROM memory_entries o WHERE o.same = m.same AND o.live AND o.pinned)"
            f" FROM memory_entries m WHERE id IN ({', '.join('?' * len(part))})"
        )
        for id_, type_, text, importance, pinned in store.query(query, tuple(part)):
            found[id_] = Line(id_, ids.short_of(store, id_), type_, " ".join(text.split()), bool(pinned), importance)
    return found


# -- by meaning -------------------------------------------------------------------------------------------------------


def _closest(ws: Workspace, asked: str, scope: str, project: str | None, found: Outline[Line]) -> None:
    """What is closest to a question, best first, under one branch."""
    from mait_code.commands.memory_search import Asked, Meanings, search_all

    store, meanings = ws.reading("memory"), Meanings(ws)
    try:
        meanings.refresh(asked, _REFRESH)
        wanted = Asked(limit=_BY_MEANING, kinds=("memory",), scope=scope, project=project)
        hits = search_all(ws, [asked], wanted, meanings)[0]
    finally:
        meanings.close()
    lines = _lines(store, [one.id for one in hits])
    for one in hits:
        if one.id in lines:
            lines[one.id].score = one.score
    branch = Branch(CLOSEST, "closest in meaning", str(len(lines)), count=len(lines))
    if meanings.reason:
        branch.words, branch.detail = "closest in words", f"{len(lines)}; not by meaning: {meanings.reason}"
    branch.leaves = [one.id for one in hits if one.id in lines]
    if lines:
        found.branches.append(branch)
    found.items = lines
    found.total = len(lines)
    found.banner = f"{len(lines)} found"


# -- one --------------------------------------------------------------------------------------------------------------


def whole(ws: Workspace, key: str, place: str) -> Text | None:
    """A memory with all that is known of it, or the beginning of a type's."""
    if key.startswith("type:"):
        return _of_type(ws, key.partition(":")[2], place)
    if key == CLOSEST:
        return Text("", [], "Memories that fit the question best, the best first.\n\nEsc shows all again.", plain=True)
    from mait_code.commands import memory_facts

    found = memory_queries.one(ws.reading("memory"), f"memory/{key}")
    return None if found is None else Text("", memory_facts.facts(ws, found), found.content)


def _of_type(ws: Workspace, name: str, place: str) -> Text:
    seen = memory_seen.seen(ws, *scope_of(place), prefix="memory_entries.")
    where = " AND ".join(one for one in ("live", "entry_type = ?", seen.where, ONE_OF_COPIES) if one)
    query = f"SELECT content, pinned FROM memory_entries WHERE {where} ORDER BY created_at DESC, id DESC LIMIT ?"  # noqa: S608
    rows = ws.reading("memory").query(query, (name, *seen.bindings, _FEW))
    lines = [f"• {' '.join(content[:400].split())}" for content, _pinned in rows]
    return Text(name, [], "The newest:\n\n" + "\n\n".join(lines), plain=True)


def places(ws: Workspace) -> list[tuple[str, str, str]]:
    """Where memories can be looked at from: the key, its name, and how many memories are of it."""
    from mait_code.commands import memory_scope, project_aliases

    others = project_aliases.known(ws.reading("projects"))
    rows = ws.reading("memory").query(
        "SELECT coalesce(project, ''), count(*) FROM memory_entries WHERE live GROUP BY 1 ORDER BY 1"
    )
    counts: dict[str, tuple[str, int]] = {}
    for name, count in rows:
        now = others.project(name) if name else ""
        shown, already = counts.get(now.casefold(), (now, 0))
        counts[now.casefold()] = (shown, already + count)
    project, branch = memory_scope.context()
    here = [(HERE, f"Seen from here: {' '.join(filter(None, (project, branch)))}", "")] if project else []
    options = [*here, (EVERYWHERE if project else HERE, "All projects", "")]
    options.append(("", "In no project", counted(counts.get("", ("", 0))[1], "memory", "memories")))
    named_ = sorted(one for key, one in counts.items() if key)
    return [*options, *((name, name, counted(count, "memory", "memories")) for name, count in named_)]
