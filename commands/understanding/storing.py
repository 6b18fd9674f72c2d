"""Storing what was understood of a window: one action, whose ids are derived from the session and the window.

So a window that is understood twice, or on two machines, adds nothing twice: whoever comes second finds it there, before a
model is asked or at the latest under the journal's lock.
"""

from __future__ import annotations

from functools import partial

from mait_code.commands import graph, graph_names, memory, project
from mait_code.commands.capture.evidence import cleaned, cut, shown_path
from mait_code.commands.memory_scope import MAIN, Place
from mait_code.commands.understanding.question import SAID
from mait_code.journal import clock, ids
from mait_code.projections import memory_queries, register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.understanding.answer import Understood
    from mait_code.commands.understanding.windows import Window
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

    Data = dict[str, Any]

__all__ = ["Stored", "Where", "context_of", "is_stored", "said_before", "store", "understood_up_to"]

#: What stands between the uuid of a line and the number of its parts.
_PART = "#"
#: Files that an observation names, and characters of each.
_FILES, _PATH = 20, 200
_KINDS = ("session.summarised", "observation.recorded", "memory.stored", "memory.seen", "entity.mentioned")


class Stored:
    """How many observations and memories were new."""

    __slots__ = ("memories", "observations")

    def __init__(self) -> None:
        self.observations = self.memories = 0


class Where:
    """What a window is of: the session, its project and branch. `branch` is None on a main one."""

    __slots__ = ("branch", "project", "session")

    def __init__(self, session: str, project_: str | None, branch: str | None) -> None:
        self.session = session
        self.project = project_
        self.branch = branch

    def data(self) -> Data:
        """The same as fields of an event."""
        held = {"session": self.session, "project": self.project, "branch": self.branch}
        return {name: value for name, value in held.items() if value}


def context_of(ws: Workspace, session: str, window: Window) -> Where:
    """Where a window belongs: to the project its session was recorded under, else to that of its directory."""
    state = ws.store("memory").state(ids.derived_entity("session", session))
    recorded = register.value(state, "project") if state is not None else None
    found = recorded or (project.here(window.directory) if window.directory else None)
    branch = window.branch.strip()[:200]
    return Where(session, found, None if branch in ("", "HEAD", *MAIN) else branch)


def said_before(store: Store, session: str) -> dict[str, str]:
    """What a model said of a session before; nothing where only its evidence was summed up."""
    state = store.state(ids.derived_entity("summary", session))
    if state is None or register.value(state, "by") in (None, "evidence") or register.is_deleted(state):
        return {}
    return {name: str(text) for name in SAID if (text := register.value(state, name))}


def understood_up_to(store: Store, session: str) -> tuple[str, int]:
    """The last line that was understood of a session, by its uuid, and how many parts of it (0: all); empty where none was.
    This machine's own progress may be behind it: it was killed, lost its state, or another machine was there."""
    state = store.state(ids.derived_entity("summary", session))
    uuid, _, part = str((register.value(state, "origin") if state is not None else "") or "").partition(_PART)
    return uuid, int(part) if part.isascii() and part.isdigit() else 0


def _origin(session: str, window: Window, index: int) -> str:
    return f"{session}\0{window.key}\0{index}"


def is_stored(store: Store, session: str, window: Window) -> bool:
    """Whether something was stored of this window already, here or on another machine."""
    events = [ids.derived_event_id(kind, _origin(session, window, 0)) for kind in _KINDS]
    marks = ", ".join("?" * len(events))
    return bool(store.value(f"SELECT 1 FROM events WHERE id IN ({marks}) LIMIT 1", tuple(events)))  # noqa: S608


def store(ws: Workspace, where: Where, window: Window, found: Understood, by: str, tokens: int, late: bool) -> Stored:
    """Store what was understood, unless it is there. `late` where later windows of the session are understood already.

    Raises what the journal raises; then nothing is stored.
    """
    memories = ws.store("memory")
    stored = Stored()
    now = clock.wall()
    with ws.journal.writing(memories) as writer:
        if is_stored(memories, where.session, window):
            return stored
        action = _Action(writer, memories, where, window, by[:200], min(window.last, now) or now)
        action.summary(found.summary, tokens, late)
        stored.observations = action.observations(found.observations)
        stored.memories = action.memories(found.memories)
        action.graph(found.entities, found.relations)
    ws.refreshed("memory")
    return stored


class _Action:
    """The events of one window."""

    def __init__(self, writer: Writer, store: Store, where: Where, window: Window, by: str, wall: int) -> None:
        self._writer = writer
        self._store = store
        self._where = where
        self._window = window
        self._by = by
        self._wall = wall

    def _ids(self, kind: str, index: int) -> Data:
        return {"id": ids.derived_event_id(kind, _origin(self._where.session, self._window, index)), "wall": self._wall}

    def summary(self, said: dict[str, str], tokens: int, late: bool) -> None:
        """What the session came to, in place of what its evidence says. One that somebody deleted stays so."""
        entity = ids.derived_entity("summary", self._where.session)
        state = self._store.state(entity)
        if state is not None and register.is_deleted(state):
            return
        before = said_before(self._store, self._where.session)
        data: Data = self._where.data() if state is None else {}
        if said and not (late and before):
            data |= {**said, "by": self._by, **({"tokens": tokens} if tokens else {})}
            if state is not None and not before:
                # What the evidence had to say goes with it.
                data |= {name: None for name in SAID if name not in said and register.value(state, name) is not None}
        if not late:
            data["origin"] = self._window.uuid + (f"{_PART}{self._window.end.part}" if self._window.end.part else "")
        if not data:
            return
        self._writer.append("session.summarised", entity, **self._ids("session.summarised", 0), **data)

    def observations(self, found: list[Data]) -> int:
        """Each with the files of the turns it rests on, as evidence has them."""
        for index, one in enumerate(found):
            files = self._files(one.get("turns", ()))
            data = {name: value for name, value in one.items() if name != "turns"}
            entity = ids.derived_entity("observation", _origin(self._where.session, self._window, index))
            self._writer.append(
                "observation.recorded", entity, **self._ids("observation.recorded", index), **self._where.data(),
                **data, **files, by=self._by,
            )  # fmt: skip
        return len(found)

    def _files(self, turns: Any) -> Data:
        window = self._window
        wanted = [one for one in turns if 1 <= one <= window.turns] or range(1, window.turns + 1)
        modified = self._shown([path for turn in wanted for path in window.modified.get(turn, ())])
        read = [
            one for one in self._shown([p for turn in wanted for p in window.read.get(turn, ())]) if one not in modified
        ]
        held = {"files_read": read[:_FILES], "files_modified": modified[:_FILES]}
        return {name: value for name, value in held.items() if value}

    def _shown(self, paths: list[str]) -> list[str]:
        return list(dict.fromkeys(cut(cleaned(shown_path(one, self._window.directory)), _PATH) for one in paths))

    def memories(self, found: list[Data]) -> int:
        """Memories, each once; one that is there is told again, one that was put away stays so."""
        made: dict[str, str] = {}
        new = index = 0
        for one in found:
            draft = self._draft(one)
            if draft.same in made:
                continue
            known = memory_queries.living_same(self._store, draft.same)
            if known is None and memory_queries.put_away_same(self._store, draft.same) is not None:
                continue
            found_ids = partial(self._memory_ids, index)
            _entity, was_there = memory.append(self._writer, self._store, draft, made, ids=found_ids)
            new += not was_there
            index += 1
        return new

    def _draft(self, one: Data) -> memory.Draft:
        place, session = self._place(one), self._where.session
        data = {"content": one["content"], "type": one["type"], "scope": place.scope, "session": session}
        more = {"project": place.project, "branch": place.branch, "importance": one.get("importance")}
        data |= {name: value for name, value in more.items() if value}
        return memory.Draft({**data, "source": {"session": session, "by": self._by}}, self._wall)

    def _memory_ids(self, index: int, kind: str) -> Data:
        held = {"id": self._ids(kind, index)["id"]}
        if kind == "memory.stored":
            held["entity"] = ids.derived_entity("memory", _origin(self._where.session, self._window, index))
        return held

    def _place(self, one: Data) -> Place:
        """Where a memory belongs: as the model says where that can be, else as its type usually does."""
        where = self._where
        usual = {"preference": "global", "decision": "project", "procedure": "project"}
        scope = one.get("scope") or usual.get(one["type"]) or "branch"
        if where.project is None or scope == "global":
            return Place("global")
        if scope == "branch" and where.branch is not None:
            return Place("branch", where.project, where.branch)
        return Place("project", where.project)

    def graph(self, entities: list[Data], relations: list[Data]) -> None:
        """Things that matter, and how they relate."""
        index = 0
        said = set()
        ends = [{"name": one[end]} for one in relations for end in ("source", "target")]
        for one in (*entities, *ends):
            entity = graph_names.entity_of(one["name"])
            if entity in said:
                continue
            said.add(entity)
            more = {"origin": self._where.session, **self._ids("entity.mentioned", index)}
            made = graph.mention(
                self._writer, self._store, one["name"], one.get("type", "unknown"), one.get("context"), **more
            )
            index += made is not None
        for number, one in enumerate(relations):
            more = {"origin": self._where.session, **self._ids("entity.linked", number)}
            graph.link(
                self._writer, self._store, one["source"], one["relation"], one["target"], one.get("context"), **more
            )
