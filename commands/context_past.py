"""What a session may be told of the past: the sessions before it, observations, and memories that are not in MEMORY.md."""

from __future__ import annotations

from mait_code.commands.context_sections import marks
from mait_code.commands.context_text import Item, Section, one_line
from mait_code.projections import entries, ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.commands.context_sections import Scene

    Row = tuple[Any, ...]

__all__ = ["memories", "observations", "sessions"]

#: Entries of a project that are looked through, the latest; and outside any project all of them.
_LATEST = 2000
#: Entities of one type that are looked at among the news.
_NEWS = 200
_MEMORIES = 12
#: Memories of one importance and project that are weighed, the latest: some may say the same.
_WEIGHED = 16
#: What a memory counts more, besides its importance of 1 to 10, for being of this branch or this project, and at most for
#: being new; after so many days half of the last is left.
_OF_BRANCH, _OF_PROJECT, _NEW, _HALF_LIFE = 2.5, 1.5, 3.0, 30.0
_TEXT = 260


def _latest(
    scene: Scene, kind: str, columns: str, limit: int, where: str = "1", bindings: tuple[Any, ...] = ()
) -> list[Row]:
    """Columns of the latest entries of a kind in the project (as news of the new ones only) that meet a condition over these
    columns. The last column is their order."""
    store = scene.ws.reading("memory")
    fields = f"{columns}, place"
    chosen = f"WHERE {where} ORDER BY place DESC LIMIT ?"
    if scene.news is not None:
        new = tuple(entity.partition("/")[2] for entity in scene.news.changed(store, kind)[:_NEWS])
        within = f"id IN ({marks(len(new))})"
        if scene.names:
            within += f" AND project IN ({marks(len(scene.names))})"
        query = f"SELECT * FROM (SELECT {fields} FROM entries WHERE {within}) {chosen}"  # noqa: S608
        return store.query(query, (*new, *scene.names, *bindings, limit))
    if not scene.names:
        inner = f"SELECT {fields}, kind FROM entries ORDER BY place DESC LIMIT {_LATEST}"  # noqa: S608
        query = f"SELECT {fields} FROM ({inner}) {chosen.replace('WHERE', 'WHERE kind = ? AND')}"  # noqa: S608
        return store.query(query, (kind, *bindings, limit))
    inner = f"SELECT {fields} FROM entries WHERE project = ? AND kind = ? AND importance = ?"  # noqa: S608
    query = f"SELECT * FROM ({inner} ORDER BY place DESC LIMIT {_LATEST}) {chosen}"  # noqa: S608
    rows = [
        row for name in scene.names for row in store.query(query, (name, kind, entries.IMPORTANCE, *bindings, limit))
    ]
    return sorted(rows, key=lambda row: str(row[-1]), reverse=True)[:limit]


def _local(at: str) -> str:
    from mait_code.commands.times import local

    return local(at).rpartition(" ")[0]


# -- sessions ---------------------------------------------------------------------------------------------------------


def sessions(scene: Scene, count: int) -> list[Section]:
    """The last sessions before this one, each a section: what was asked, what came of it, what is next."""
    found: dict[str, str] = {}
    while len(found) < count:
        latest = _latest_session(scene, (scene.session, *found))
        if latest is None:
            break
        found[latest[0]] = latest[1]
    told = [_session(scene, session, at) for session, at in found.items()]
    return [section for section in told if section.items]


def _latest_session(scene: Scene, without: tuple[str, ...]) -> tuple[str, str] | None:
    """The session that something was done in last, and when; as news only where that, or a word on it, is new."""
    kinds = ("turn", "summary") if scene.news is not None else ("turn",)
    condition = f"session NOT IN ({marks(len(without))})"
    rows = [row for kind in kinds for row in _latest(scene, kind, "session, created_at", 1, condition, without)]
    last = max(rows, key=lambda row: str(row[-1]), default=None)
    return None if last is None else (last[0], last[1])


def _session(scene: Scene, session: str, at: str) -> Section:
    store = scene.ws.reading("memory")
    rows = store.query("SELECT id, project, branch, ended FROM sessions WHERE session_id = ? LIMIT 1", (session,))
    id_, project, branch, ended = rows[0] if rows else (None, None, None, None)
    short = ids.short_of(store, id_, type_="session") if id_ else session
    about = [_local(at), *(one_line(name, 60) for name in (project, branch) if name and name != scene.project)]
    about.append(f"ended: {one_line(ended, 30)}" if ended else "no end recorded")
    told = _told(scene, session)
    data = {"id": id_, "short": short, "session": session, "project": project, "branch": branch, "ended": ended}
    items = [Item(f"{name}: {text}", {**data, name.replace(" ", "_"): text}) for name, text in told]
    title = "An earlier session" if scene.news is None else "Another session"
    return Section("session", f"{title} ({', '.join(about)}; mait-code sessions show {short})", items)


def _told(scene: Scene, session: str) -> list[tuple[str, str]]:
    """(name, text) of what is known of a session, by its summaries, and from its last turns what they do not say."""
    store = scene.ws.reading("memory")
    said: dict[str, Any] = {}
    names = ("request", "investigated", "learned", "completed", "next_steps", "notes", "generated_by")
    columns = ", ".join(names)
    query = f"SELECT {columns} FROM session_summaries WHERE session_id = ? ORDER BY created_at DESC, id LIMIT 20"  # noqa: S608
    for row in store.query(query, (session,)):
        for name, value in zip(names, row, strict=True):
            # What was asked is in the first part of a session, what is next in the last one.
            if value and (name == "request" or name not in said):
                said[name] = value
    turns = _turns(scene, session)
    if turns and not said:
        said = {"completed": turns[0][3]}
    if turns and not said.get("request"):
        said["request"] = turns[0][2]
    found = [("request", one_line(said["request"], 300))] if said.get("request") else []
    outcome = [line for line in str(said.get("completed") or "").splitlines() if line.strip()]
    found += [("outcome", one_line(line, 400)) for line in outcome[:4]]
    if said.get("generated_by") != "evidence":
        found += [
            (name, one_line(", ".join(held), 400))
            for name, held in (("files", _held(turns, 0)[:12]), ("failed", _held(turns, 1)[:3]))
            if held
        ]
    more = ("investigated", "learned", "next_steps", "notes")
    return found + [(name.replace("_", " "), one_line(said[name], 400)) for name in more if said.get(name)]


def _turns(scene: Scene, session: str) -> list[Row]:
    """Files changed, failures, request and answer of a session's last turns, the last one first."""
    query = (
        "SELECT t.files_modified, t.failures, t.request, t.answer FROM (SELECT id FROM entries WHERE session = ?"
        " AND kind = 'turn' ORDER BY place DESC LIMIT 30) e JOIN turns t ON t.id = e.id"
    )
    return scene.ws.reading("memory").query(query, (session,))


def _held(turns: Sequence[Row], column: int) -> list[str]:
    import orjson

    lists = [orjson.loads(row[column]) for row in turns if row[column]]
    return list(dict.fromkeys(one_line(one, 120) for held in lists for one in held))


# -- observations -----------------------------------------------------------------------------------------------------


def observations(scene: Scene, count: int) -> Section | None:
    """An index of what was understood lately, the newest first; as news that of other sessions."""
    if not count:
        return None
    store = scene.ws.reading("memory")
    columns = "id, type, title, created_at, session"
    rows = _latest(scene, "observation", columns, count if scene.news is None else _NEWS)
    if scene.news is not None:
        rows = [row for row in rows if row[4] != scene.session][:count]
    items = []
    for id_, type_, title, at, session, _place in rows:
        short = ids.short_of(store, id_, type_="observation")
        data = {"id": id_, "short": short, "type": type_, "title": title, "created_at": at, "session": session}
        items.append(Item(f"{short} {_local(at)} {one_line(type_, 30)}: {one_line(title or '', 120)}", data))
    title = "Recent observations, from transcripts (mait-code memory show ID opens one)"
    return Section("observations", title, items) if items else None


# -- memories ---------------------------------------------------------------------------------------------------------

#: What is weighed, of some entries and where something more holds.
_MEMORY = (
    "SELECT e.id, e.type, substr(e.text, 1, 1100), e.importance, e.created_at, e.scope, e.branch, e.same, m.session"
    " FROM {entries} e JOIN memory_entries m ON m.id = e.id"
    " WHERE NOT m.pinned AND (e.scope <> 'branch' OR e.branch IS ?) {more}"
)
_OF_ONE_IMPORTANCE = _MEMORY.format(
    entries="(SELECT * FROM entries WHERE project IS ? AND kind = 'memory' AND importance = ? ORDER BY place DESC LIMIT 200)",
    more="LIMIT ?",
)


def memories(scene: Scene) -> Section | None:
    """What is remembered and not pinned, weighed by its importance, by how near it is to this place, and by how new."""
    store = scene.ws.reading("memory")
    pinned = {row[0] for row in store.query("SELECT same FROM memory_entries WHERE pinned AND live")}
    found: dict[str, tuple[float, Row]] = {}

    def weigh(rows: Sequence[Row]) -> None:
        for row in rows:
            weight = _weight(scene, row)
            if row[7] not in pinned and (row[7] not in found or found[row[7]][0] < weight):
                found[row[7]] = (weight, row)

    if scene.news is not None:
        weigh(_new_memories(scene))
    else:
        for importance in range(10, 0, -1):
            weights = sorted((weight for weight, _row in found.values()), reverse=True)[:_MEMORIES]
            if len(weights) == _MEMORIES and weights[-1] >= importance + _OF_BRANCH + _NEW:
                break  # nothing less important can weigh more
            for name in (*scene.names, None):
                weigh(store.query(_OF_ONE_IMPORTANCE, (name, importance, scene.branch, _WEIGHED)))
    best = sorted(found.values(), key=lambda one: (-one[0], one[1][0]))[:_MEMORIES]
    items = [_memory(scene, row) for _weight_, row in best]
    title = "Memories that are not in MEMORY.md (mait-code memory show ID opens one)"
    return Section("memories", title, items) if items else None


def _new_memories(scene: Scene) -> list[Row]:
    """What other sessions stored or changed since, of those that are seen from here."""
    assert scene.news is not None, "asked for news only"
    store = scene.ws.reading("memory")
    new = tuple(entity.partition("/")[2] for entity in scene.news.by_others(store, "memory")[:_NEWS])
    seen = f"e.id IN ({marks(len(new))}) AND (e.project IS NULL OR e.project IN ({marks(len(scene.names))}))"
    rows = store.query(_MEMORY.format(entries="entries", more=f"AND {seen}"), (scene.branch, *new, *scene.names))
    return [row for row in rows if not scene.session or row[8] != scene.session]


def _weight(scene: Scene, row: Row) -> float:
    from mait_code.journal import clock

    _id, _type, _text, importance, at, scope, branch, _same, _session = row
    near = _OF_BRANCH if branch and branch == scene.branch else _OF_PROJECT if scope != "global" else 0.0
    days = max(0.0, (clock.micros_of(scene.now) - clock.micros(at)) / (86_400 * clock.SECOND))
    return float(importance + near + _NEW * 0.5 ** (days / _HALF_LIFE))


def _memory(scene: Scene, row: Row) -> Item:
    id_, type_, text, importance, at, scope, branch, _same, _session = row
    short = ids.short_of(scene.ws.reading("memory"), id_, type_="memory")
    said = [
        one_line(type_, 30),
        *([f"importance {importance}"] if importance > 5 else []),
        *([scope] if scope == "global" else []),
    ]
    if scope == "branch":
        said.append(f"branch {one_line(branch, 60)}")
    data = {"id": id_, "short": short, "entry_type": type_, "importance": importance, "scope": scope, "branch": branch}
    return Item(f"{short} ({', '.join(said)}) {one_line(text, _TEXT)}", {**data, "created_at": at, "content": text})
