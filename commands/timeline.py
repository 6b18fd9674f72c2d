"""The journal from its newest event backwards, as far as somebody has looked, with a filter.

Only so much is read as is asked for: a journal of a million events opens as one of ten does. A `Window` remembers how far
back it has looked and what it found there; when the journal grows it looks at the segments that changed alone.
"""

from __future__ import annotations

import time

from mait_code.commands import lookup, project_aliases
from mait_code.commands.event_words import FAMILIES, said
from mait_code.journal import segments
from mait_code.journal.errors import Ambiguous, NotFound
from mait_code.projections import register
from mait_code.projections.index import OFFSET_BITS
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event
    from mait_code.projections.log import Log
    from mait_code.projections.register import State

    Key = tuple[str, str, int, str]

__all__ = ["EVERY", "Filter", "Hit", "Window", "machine_named", "state_of"]

#: The projects of a filter that lets events of any project through, and of none.
EVERY: tuple[str, ...] | None = None
_COLUMNS = "place, at, replica, seq, id, kind, entity, actor"
#: Keys that no event has: times begin with a digit.
_BEFORE_ALL: Key = ("", "", 0, "")
_AFTER_ALL: Key = ("~", "", 0, "")
#: Characters of an id from which on a word may be its beginning.
_OF_AN_ID = 3
#: Lines of the index that one question takes.
_BATCH = 500
#: From so many changed segments on, looking again is quicker than mending.
_MANY = 40
#: Segments that one question names.
_AT_ONCE = 20


class Filter:
    """Which events are wanted: with all these words, of a project, a machine (a replica's id), a family.

    `projects` holds every name of the project, case-folded; it is empty for what is of no project, and EVERY for all.
    """

    __slots__ = ("family", "projects", "replica", "words")

    def __init__(
        self,
        words: str = "",
        projects: tuple[str, ...] | None = EVERY,
        replica: str = "",
        family: str = "",
    ) -> None:
        self.words = words.casefold().split()
        self.projects = projects if projects is None else tuple(name.casefold() for name in projects)
        self.replica = replica
        self.family = family

    @property
    def is_empty(self) -> bool:
        """Whether everything passes."""
        return not (self.words or self.replica or self.family) and self.projects is None


class Hit:
    """An event that passed the filter: where it stands in the journal, and what the index says of it."""

    __slots__ = ("actor", "at", "entity", "id", "kind", "place", "replica", "seq")

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.place: int
        self.at: str
        self.replica: str
        self.seq: int
        self.id: str
        self.place, self.at, self.replica, self.seq, self.id, self.kind, self.entity, self.actor = row

    @property
    def key(self) -> Key:
        """Its place in the order of all events."""
        return (self.at, self.replica, self.seq, self.id)


def machine_named(ws: Workspace, name: str) -> str:
    """The replica's id of a machine, by its label or id. Raises NotFound, or Ambiguous where several are called so."""
    labels = ws.log.labels()
    names = segments.directories(ws.home.journal)
    if name in names:
        return name
    found = [one for one in names if labels.get(one, "").casefold() == name.casefold()]
    if not found:
        raise NotFound(f"no machine is called {name!r}", "mait-code replicas lists them")
    if len(found) > 1:
        raise Ambiguous(f"{name!r} names several machines: {', '.join(found)}", found, "give one of these")
    return found[0]


def state_of(ws: Workspace, entity: str) -> State | None:
    """What is known of a thing now; None where no store holds it."""
    kind = entity.partition("/")[0]
    return ws.reading(HOLDS[kind]).state(entity) if kind in HOLDS else None


class Window:
    """What was found so far. `look` brings it up to the journal, and further back until there are `want` hits."""

    def __init__(self, filter_: Filter) -> None:
        self.filter = filter_
        #: Newest first. Copies of one event that stand in several files are all here.
        self._hits: list[Hit] = []
        #: Down to which key everything was looked at; None before the first look.
        self._low: Key | None = None
        #: Segment -> the digest of what was looked at.
        self._segments: dict[int, str] = {}
        #: Whether the beginning of the journal has been reached.
        self.is_whole = False

    def look(self, ws: Workspace, want: int, seconds: float = 0.0) -> list[Hit]:
        """Up to `want` hits, newest first, each event once. After `seconds` (0: never) it ends with what it has."""
        log = ws.log
        test = _Test(ws, self.filter)
        self._mend(log, test)
        end = time.monotonic() + seconds if seconds else 0.0
        while len(self._hits) < want and not self.is_whole:
            self._further(log, test)
            if end and time.monotonic() >= end:
                break
        found: dict[str, Hit] = {}
        for hit in self._hits:
            found.setdefault(hit.id, hit)
        return list(found.values())[:want]

    @property
    def reached(self) -> str:
        """The time (UTC) down to which everything was looked at, or an empty string."""
        return self._low[0] if self._low else ""

    def _further(self, log: Log, test: _Test) -> None:
        """One batch further back."""
        rows = log.query(
            f"SELECT {_COLUMNS} FROM lines WHERE (at, replica, seq, id) < (?, ?, ?, ?)"  # noqa: S608
            " ORDER BY at DESC, replica DESC, seq DESC, id DESC LIMIT ?",
            (*(self._low or _AFTER_ALL), _BATCH),
        )
        hits = [Hit(row) for row in rows]
        self._hits += [hit for hit in hits if test.passes(hit)]
        if hits:
            self._low = hits[-1].key
        self.is_whole = len(hits) < _BATCH

    def _mend(self, log: Log, test: _Test) -> None:
        """Look again at the segments that changed since the last look."""
        present: dict[int, str] = dict(log.query("SELECT key, digest FROM segments"))
        before, self._segments = self._segments, present
        if self._low is None:
            self.is_whole = False
            return
        changed = [key for key in present.keys() | before.keys() if present.get(key) != before.get(key)]
        if len(changed) > _MANY:
            self._hits, self._low, self.is_whole = [], None, False
            return
        if changed:
            gone = set(changed)
            kept = [hit for hit in self._hits if hit.place >> OFFSET_BITS not in gone]
            low = _BEFORE_ALL if self.is_whole else self._low
            kept += [hit for hit in _within(log, changed) if hit.key >= low and test.passes(hit)]
            self._hits = sorted(kept, key=lambda hit: hit.key, reverse=True)


def _within(log: Log, keys: list[int]) -> list[Hit]:
    """Every line of these segments."""
    found: list[Hit] = []
    for start in range(0, len(keys), _AT_ONCE):
        spans = [(key << OFFSET_BITS, (key + 1) << OFFSET_BITS) for key in keys[start : start + _AT_ONCE]]
        where = " OR ".join("(place >= ? AND place < ?)" for _ in spans)
        bindings = tuple(end for span in spans for end in span)
        found += [Hit(row) for row in log.query(f"SELECT {_COLUMNS} FROM lines WHERE {where}", bindings)]  # noqa: S608
    return found


class _Test:
    """Whether events pass a filter, asked within one look. What is cheap to know is asked first."""

    def __init__(self, ws: Workspace, filter_: Filter) -> None:
        self._ws = ws
        self._filter = filter_
        self._firsts = FAMILIES.get(filter_.family, ())
        self._labels: dict[str, str] | None = None
        #: Entity -> (its project, case-folded; its title; "12kf" where it has a number), as far as they were asked for.
        self._things: dict[str, tuple[str, str, str]] = {}
        self._names = project_aliases.known(ws.reading("projects")) if filter_.projects is not None else None

    def passes(self, hit: Hit) -> bool:
        """Whether an event is wanted."""
        wanted = self._filter
        if wanted.replica and hit.replica != wanted.replica:
            return False
        if wanted.family and hit.kind.partition(".")[0] not in self._firsts:
            return False
        if wanted.projects is not None and not self._is_of_project(hit, wanted.projects):
            return False
        return not wanted.words or self._has_words(hit)

    def _is_of_project(self, hit: Hit, projects: tuple[str, ...]) -> bool:
        project = self._thing(hit.entity)[0]
        return project in projects if projects else not project

    def _thing(self, entity: str) -> tuple[str, str, str]:
        known = self._things.get(entity)
        if known is None:
            state = state_of(self._ws, entity)
            project = register.value(state, "project") if state is not None else None
            name = project if isinstance(project, str) else ""
            if self._names is not None and name:
                name = self._names.project(name)
            number = register.value(state, "number") if state is not None else None
            short = f"{number}{entity.partition('/')[2][:2]}" if isinstance(number, int) else ""
            known = self._things[entity] = (name.casefold(), lookup.title(state), short)
        return known

    def _has_words(self, hit: Hit) -> bool:
        if self._labels is None:
            self._labels = self._ws.log.labels()
        event = self._ws.log.event_at(hit.place)
        _project, title, short = self._thing(hit.entity)
        parts = [hit.kind, hit.actor, self._labels.get(hit.replica, hit.replica), title]
        names = [hit.entity, hit.entity.partition("/")[2], short, hit.id]
        if event is not None:
            parts += [said(event), *_texts(event)]
            names += [event.tx, event.session]
        text = "\n".join(parts).casefold()
        return all(word in text or _begins(word, names) for word in self._filter.words)


def _begins(word: str, names: list[str]) -> bool:
    """Whether an id begins so: digits in the midst of one are nothing that anybody looks for."""
    return len(word) >= _OF_AN_ID and any(name.startswith(word) for name in names)


def _texts(event: Event) -> list[str]:
    """Every text in an event's data, however deep."""
    found: list[str] = []
    left: list[Any] = [event.data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif value is not None:
            found.append(str(value))
    return found
