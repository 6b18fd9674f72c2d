"""What was made of the work, day by day: sessions, what was observed in them, and whether what is remembered of them was
reflected on."""

from __future__ import annotations

from datetime import UTC, datetime

from mait_code.commands.like_words import patterns
from mait_code.projections import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["Day", "Observed", "Worked", "complete", "days", "observations", "remembered", "summaries", "with_words"]

#: Of a memory that waits for reflection, as commands/reflect.py takes it up.
_PENDING = "m.entry_type <> 'insight' AND NOT EXISTS (SELECT 1 FROM reflected r WHERE r.memory = m.id)"


class Worked:
    """A session as a batch of what was captured. Times are ISO 8601 UTC. `pending` of its `memories` wait for reflection;
    `title` and `short` are filled in by `complete`. `id` is empty for a session of which only its records are known."""

    __slots__ = ("at", "branch", "id", "memories", "observations", "pending", "project", "session", "short", "title")

    def __init__(
        self, id_: str, session: str, project: str | None, branch: str | None, at: str, title: str | None
    ) -> None:
        self.id = id_
        self.session = session
        self.project = project
        self.branch = branch
        self.at = at
        self.title = title or ""
        self.short = ""
        self.observations = self.memories = self.pending = 0

    @property
    def state(self) -> str:
        """pending, reflected, or empty where nothing was understood or remembered."""
        return "pending" if self.pending else "reflected" if self.memories or self.observations else ""

    def json(self) -> dict[str, Any]:
        """The session as `--json` prints it."""
        hidden = ("id", "short", "state")
        return {"short": self.short, "state": self.state} | {
            name: getattr(self, name) for name in self.__slots__ if name not in hidden
        }


class Day:
    """A day of this place's clock (`date` is ISO 8601) and its sessions, the latest first."""

    __slots__ = ("date", "sessions")

    def __init__(self, date: str) -> None:
        self.date = date
        self.sessions: list[Worked] = []

    @property
    def state(self) -> str:
        """As for a session, of all of them."""
        states = {one.state for one in self.sessions}
        return next((state for state in ("pending", "reflected") if state in states), "")

    def count(self, name: str) -> int:
        """How many observations, memories or pending there are."""
        return sum(getattr(one, name) for one in self.sessions)

    def json(self) -> dict[str, Any]:
        """The day as `--json` prints it."""
        return {"date": self.date, "state": self.state, "sessions": [one.json() for one in self.sessions]}


class Observed:
    """An observation as a list shows it."""

    __slots__ = ("at", "id", "short", "title", "type")

    def __init__(self, id_: str, type_: str, title: str, at: str, short: str) -> None:
        self.id = id_
        self.type = type_
        self.title = title
        self.at = at
        self.short = short


def days(ws: Workspace, names: tuple[str, ...] | None = None, only: set[str] | None = None) -> list[Day]:
    """Days with a session that began on them, the latest first. `names` are those of a project, none at all means sessions
    outside any project, None every one; `only` are the sessions to look at, by the client's ids."""
    store = ws.reading("memory")
    found: dict[str, Day] = {}
    local = _Local()
    for one in sorted(_sessions(store), key=lambda one: (one.at, one.session), reverse=True):
        if (only is not None and one.session not in only) or not _is_of(one.project, names):
            continue
        date = local.day(one.at)
        found.setdefault(date, Day(date)).sessions.append(one)
    return sorted(found.values(), key=lambda day: day.date, reverse=True)


def _is_of(project: str | None, names: tuple[str, ...] | None) -> bool:
    return names is None or (project in names if names else project is None)


def _sessions(store: Store) -> Iterable[Worked]:
    found = {
        row[1]: Worked(*row)
        for row in store.query("SELECT id, session_id, project, branch, created_at, title FROM sessions")
        if row[1]
    }
    for table in ("observations", "memory_entries"):
        column = "session" if table == "memory_entries" else "session_id"
        live = "live AND " if table == "memory_entries" else ""
        query = (
            f"SELECT {column}, project, branch, min(created_at) FROM {table} WHERE {live}{column} IS NOT NULL"  # noqa: S608
            f" AND {column} NOT IN (SELECT session_id FROM sessions WHERE session_id IS NOT NULL) GROUP BY 1"
        )
        for session, project, branch, at in store.query(query):
            found.setdefault(session, Worked("", session, project, branch, at, None))
    for session, count in store.query(
        "SELECT session_id, count(*) FROM observations WHERE session_id IS NOT NULL GROUP BY 1"
    ):
        found[session].observations = count
    query = (
        f"SELECT session, count(*), sum({_PENDING}) FROM memory_entries m"  # noqa: S608
        " WHERE live AND session IS NOT NULL GROUP BY 1"
    )
    for session, count, pending in store.query(query):
        found[session].memories, found[session].pending = count, pending
    return found.values()


class _Local:
    """Days of this place's clock, each quarter of an hour worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], str] = {}

    def day(self, at: str) -> str:
        """The date of a UTC time here; of what is no time, its first ten characters."""
        key = (at[:13], int(at[14:16]) // 15 if at[14:16].isdecimal() else 0)
        if key not in self._known:
            try:
                moment = datetime.fromisoformat(at)
                moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
                self._known[key] = moment.astimezone().date().isoformat()
            except (ValueError, OverflowError, OSError):
                self._known[key] = at[:10]
        return self._known[key]


def complete(store: Store, sessions: Iterable[Worked]) -> None:
    """Fill in the short ids, and what was asked first where there is no title."""
    for one in sessions:
        one.short = ids.short_of(store, one.id, type_="session") if one.id else one.session[:8]
        if not one.title:
            query = "SELECT substr(prompt_text, 1, 400) FROM user_prompts WHERE session_id = ? ORDER BY created_at, id LIMIT 1"
            said = store.value(query, (one.session,)) or store.value(
                "SELECT substr(request, 1, 400) FROM turns WHERE session_id = ? AND request IS NOT NULL AND agent IS NULL"
                " ORDER BY created_at, id LIMIT 1",
                (one.session,),
            )
            one.title = " ".join(str(said or "").split())


def observations(store: Store, session: str) -> list[Observed]:
    """What was observed in a session, in the order of time."""
    query = (
        "SELECT id, type, coalesce(title, substr(narrative, 1, 200), ''), created_at FROM observations"
        " WHERE session_id = ? ORDER BY created_at, id"
    )
    return [
        Observed(id_, type_ or "", " ".join(title.split()), at, ids.short_of(store, id_, type_="observation"))
        for id_, type_, title, at in store.query(query, (session,))
    ]


def remembered(store: Store, session: str) -> list[tuple[str, str, str, bool]]:
    """What is remembered of a session: id, type, text, and whether it waits for reflection."""
    query = (
        f"SELECT m.id, m.entry_type, m.content, {_PENDING} FROM entries e JOIN memory_entries m ON m.id = e.id"  # noqa: S608
        " WHERE e.session = ? AND e.kind = 'memory' AND m.live ORDER BY e.place"
    )
    return [(id_, type_, text, bool(pending)) for id_, type_, text, pending in store.query(query, (session,))]


def summaries(store: Store, session: str) -> list[dict[str, Any]]:
    """What a session came to, in the order of time: the fields of each summary that say something, and who wrote it."""
    fields = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    query = (
        f"SELECT {', '.join(fields)}, generated_by FROM session_summaries WHERE session_id = ? ORDER BY created_at, id"  # noqa: S608
    )
    names = (*fields, "by")
    return [
        {name: value for name, value in zip(names, row, strict=True) if value} for row in store.query(query, (session,))
    ]


def with_words(store: Store, words: Sequence[str]) -> tuple[set[str], set[str]]:
    """The sessions, by the client's ids, in which each of these words stands somewhere in one of their records, in their title
    or in their project; and the ids of the observations that have all of them."""
    sessions, matching = set[str](), set[str]()
    found = [patterns(word) for word in words]
    bindings = tuple(pattern for one in found for pattern in one)

    def has(column: str) -> str:
        return " AND ".join(f"({' OR '.join([column + _LIKE] * len(one))})" for one in found)

    query = f"SELECT id, kind, session FROM entries WHERE session IS NOT NULL AND {has('text')}"  # noqa: S608
    for id_, kind, session in store.query(query, bindings):
        sessions.add(session)
        if kind == "observation":
            matching.add(id_)
    named = f"SELECT session_id FROM sessions WHERE {has(_NAMED)}"  # noqa: S608
    sessions.update(row[0] for row in store.query(named, bindings) if row[0])
    return sessions, matching


_LIKE = " LIKE ? ESCAPE '\\'"
_NAMED = "(coalesce(title, '') || ' ' || coalesce(project, '') || ' ' || coalesce(branch, '') || ' ' || session_id)"
