"""Sessions of Claude Code as they were recorded: which there were, and what happened in one of them."""

from __future__ import annotations

import orjson

from mait_code.journal.errors import Ambiguous, BadInput, NotFound, Refused
from mait_code.projections import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

    Row = dict[str, Any]

__all__ = ["Recorded", "Session", "find", "listing", "projects", "show"]

_SESSION = ("id", "session_id", "project", "branch", "created_at", "how", "title", "platform", "ended")
_JSON = ("files_read", "files_modified", "commands", "failures", "tokens", "facts", "concepts")
#: What is listed of each kind of record; its table has these columns.
_COLUMNS = {
    "user_prompts": ("id", "created_at", "prompt_text"),
    "turns": (
        "id", "created_at", "branch", "request", "answer", "files_read", "files_modified", "commands", "failures",
        "tokens", "duration_ms", "agent",
    ),
    "session_summaries": (
        "id", "created_at", "request", "investigated", "learned", "completed", "next_steps", "notes", "files_read",
        "files_modified", "generated_by",
    ),
    "observations": (
        "id", "created_at", "type", "title", "subtitle", "narrative", "facts", "concepts", "files_read",
        "files_modified", "generated_by",
    ),
}  # fmt: skip
#: The type of the entities in each table.
_TYPES = {"user_prompts": "prompt", "turns": "turn", "session_summaries": "summary", "observations": "observation"}
#: From this length on the beginning of the client's own id names a session.
_SHORTEST = 4


class Session:
    """One session. Times are ISO 8601 UTC; `ended_at` is None while no end is recorded, and `last_at` is when its last turn
    was over. `turns` are the user's, `agent_turns` those of subagents; `tokens` counts all of them, by sort."""

    __slots__ = (
        "agent_turns", "branch", "ended", "ended_at", "how", "id", "last_at", "platform", "project", "request", "session",
        "short", "started_at", "title", "tokens", "turns",
    )  # fmt: skip

    def __init__(self, row: Sequence[Any]) -> None:
        self.id, self.session, self.project, self.branch, self.started_at = row[:5]
        self.how, self.title, self.platform, self.ended = row[5:9]
        self.short: str = self.id
        self.last_at: str = self.started_at
        self.ended_at: str | None = None
        self.turns = self.agent_turns = 0
        self.request: str | None = None
        self.tokens: dict[str, int] = {}

    def json(self) -> dict[str, Any]:
        """The session as `--json` prints it."""
        return {
            "id": self.id, "short": self.short, "session": self.session, "project": self.project, "branch": self.branch,
            "started_at": self.started_at, "last_at": self.last_at, "ended_at": self.ended_at, "ended": self.ended,
            "how": self.how, "title": self.title, "platform": self.platform, "turns": self.turns,
            "agent_turns": self.agent_turns, "request": self.request, "tokens": self.tokens,
        }  # fmt: skip


class Recorded:
    """Everything that is recorded of a session, each list in the order of time."""

    __slots__ = ("observations", "prompts", "session", "summaries", "turns")

    def __init__(self, session: Session, found: dict[str, list[Row]]) -> None:
        self.session = session
        self.prompts = found["user_prompts"]
        self.turns = found["turns"]
        self.summaries = found["session_summaries"]
        self.observations = found["observations"]

    def in_order(self) -> list[Row]:
        """Turns, and those prompts that no turn came of; a turn's request is its prompt, which may be longer."""
        prompts = {one["created_at"]: one for one in self.prompts}
        shown = []
        for turn in self.turns:
            prompt = None if turn["agent"] else prompts.pop(turn["created_at"], None)
            shown.append({**turn, "request": prompt["prompt_text"] if prompt else turn["request"]})
        return sorted([*shown, *prompts.values()], key=lambda one: str(one["created_at"]))

    def json(self) -> dict[str, Any]:
        """The same as `show --json` prints it."""
        lists = ("prompts", "turns", "summaries", "observations")
        # How many turns there are stands beside what they were.
        counts = {"turn_count": self.session.turns, "agent_turn_count": self.session.agent_turns}
        return {**self.session.json(), **counts, **{name: getattr(self, name) for name in lists}}


# -- lists ------------------------------------------------------------------------------------------------------------


def projects(
    ws: Workspace, project: str | None = None, every: bool = False, directory: str | None = None
) -> tuple[str, ...] | None:
    """The names of the project that is meant: the one named, else this directory's. None means every project, as outside any
    project. Raises BadInput, and Ambiguous for a short name of several."""
    from mait_code.commands import memory_seen, project_aliases
    from mait_code.commands import project as places

    if every:
        if project is not None:
            raise BadInput("--all and --project contradict each other", "give one of them")
        return None
    name = places.here(directory) if project is None else memory_seen.known_as(ws, project)
    if name is None:
        return None if project is None else ()
    return project_aliases.names_of(ws, name)


def listing(ws: Workspace, names: tuple[str, ...] | None = None, limit: int = 20) -> list[Session]:
    """Sessions, the one that something was done in last first. `names` are those of a project; none at all means sessions
    outside any project, None every one."""
    marks = ", ".join("?" * len(names or ()))
    where = "1" if names is None else f"project IN ({marks})" if names else "project IS NULL"
    query = (
        f"SELECT {', '.join(_SESSION)}, coalesce((SELECT max(created_at) FROM turns t WHERE t.session_id = s.session_id),"  # noqa: S608
        f" created_at) AS last FROM sessions s WHERE {where} ORDER BY last DESC, id LIMIT ?"
    )
    store = ws.reading("memory")
    return [_counted(store, Session(row)) for row in store.query(query, (*(names or ()), limit))]


def _counted(store: Store, one: Session) -> Session:
    """A session with its short id, and what its turns come to."""
    one.short = ids.short_of(store, one.id, type_="session")
    query = (
        "SELECT request, tokens, agent, created_at, duration_ms FROM turns WHERE session_id = ? ORDER BY created_at, id"
    )
    for request, tokens, agent, at, duration in store.query(query, (one.session,)):
        one.turns += not agent
        one.agent_turns += bool(agent)
        one.last_at = max(one.last_at, _after(at, duration))
        if request and not agent and one.request is None:
            one.request = request
        for name, count in (orjson.loads(tokens) if tokens else {}).items():
            if type(count) is int:
                one.tokens[name] = one.tokens.get(name, 0) + count
    if one.request is None:
        query = "SELECT prompt_text FROM user_prompts WHERE session_id = ? ORDER BY created_at, id LIMIT 1"
        one.request = store.value(query, (one.session,))
    if one.ended:
        ends = [event.shown for event in store.events_of(f"session/{one.id}") if event.kind == "session.ended"]
        one.ended_at = ends[-1] if ends else None
    return one


def _after(at: str, milliseconds: int | None) -> str:
    from mait_code.journal import clock

    return clock.text(clock.micros(at) + (milliseconds or 0) * 1000)


# -- one --------------------------------------------------------------------------------------------------------------


def find(ws: Workspace, text: str) -> Session:
    """The session that an id names: a short one of ours, or the client's own, or the beginning of it.

    Raises NotFound, Ambiguous, and Refused where it was deleted.
    """
    store = ws.reading("memory")
    asked = text.strip()
    entities = _by_session(store, asked)
    try:
        named = ids.resolve(store, asked, ("session",))
        entities = list(dict.fromkeys([*entities, named]))
    except NotFound:
        if not entities:
            raise NotFound(f"no session {asked!r} here", "mait-code sessions list --all shows their ids") from None
    if len(entities) > 1:
        raise Ambiguous(f"{asked!r} names several sessions: {', '.join(entities[:10])}", entities, "give one of these")
    rows = store.query(f"SELECT {', '.join(_SESSION)} FROM sessions WHERE id = ?", (entities[0].partition("/")[2],))  # noqa: S608
    if not rows:
        raise Refused(f"{asked} was deleted", f"mait-code history {entities[0]} shows what happened")
    return _counted(store, Session(rows[0]))


def _by_session(store: Store, asked: str) -> list[str]:
    """Entities by the client's id, or by the beginning of it."""
    exact = store.query("SELECT id FROM sessions WHERE session_id = ? ORDER BY id", (asked,))
    if not exact and len(asked) >= _SHORTEST and "/" not in asked:
        query = "SELECT id FROM sessions WHERE session_id >= ? AND session_id < ? ORDER BY session_id, id LIMIT 20"
        low = asked.lower()
        exact = store.query(query, (low, low + "\U0010ffff"))
    return [f"session/{row[0]}" for row in exact]


def show(ws: Workspace, text: str) -> Recorded:
    """A session whole. Raises as `find` does."""
    store = ws.reading("memory")
    session = find(ws, text)
    return Recorded(session, {table: _records(store, table, session.session) for table in _COLUMNS})


def _records(store: Store, table: str, session: str) -> list[Row]:
    names = _COLUMNS[table]
    query = f"SELECT {', '.join(names)} FROM {table} WHERE session_id = ? ORDER BY created_at, id"  # noqa: S608
    found = []
    for row in store.query(query, (session,)):
        read = {name: _read(name, value) for name, value in zip(names, row, strict=True)}
        found.append({"id": read.pop("id"), "short": ids.short_of(store, row[0], type_=_TYPES[table]), **read})
    return found


def _read(name: str, value: Any) -> Any:
    return orjson.loads(value) if name in _JSON and isinstance(value, str) else value
