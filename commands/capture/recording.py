"""Recording what a transcript shows: sessions, prompts, turns, and a summary from the evidence alone.

Everything is known by the transcript's own ids, and compared with what is recorded under the journal's lock. So a
transcript that is read twice, by two processes at once, resumed, forked or compacted adds nothing twice; a turn that has grown
is amended.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

import orjson

from mait_code.commands.capture import cursors, evidence, lines, policy, turns
from mait_code.journal import ids, settings
from mait_code.projections import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.capture.cursors import Cursor
    from mait_code.commands.capture.turns import Turn
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event
    from mait_code.journal.journal import Journal
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

    Data = dict[str, Any]

ACTOR = "observer"
#: Characters of a prompt that are kept.
_PROMPT = 2000
#: Turns recorded in one action: a transcript of years is no one line block.
_AT_A_TIME = 50


class Recorded:
    """What came of reading a transcript: its session, how many turns are new or have grown, and its project."""

    __slots__ = ("project", "session", "turns")

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.project: str | None = None
        self.turns = 0


def record(
    ws: Workspace,
    path: str,
    *,
    reason: str | None = None,
    answer: str = "",
    hurried: bool = False,
    folds: bool = True,
    closes: bool = False,
) -> Recorded:
    """Record what is new in a transcript and in those of its subagents.

    Nothing is recorded of a session that began where `capture` is off, nor of turns while it was in such a place.
    `reason` says why the session ended, where it did. `answer` is the last one, which the transcript may not hold yet.
    `hurried` is for hooks, which wait for nobody, and without `folds` somebody else reads the store at once. `closes` says
    that nothing more is to come, though no reason is known now.
    Raises what the journal raises.
    """
    with observing(ws):
        return _record(ws, path, reason, answer, _Pace(hurried, folds), closes)


@contextmanager
def observing(ws: Workspace) -> Iterator[None]:
    """What is written meanwhile is nobody's doing: plain `undo` leaves it alone."""
    actor, ws.journal.actor = ws.journal.actor, ACTOR
    try:
        yield
    finally:
        ws.journal.actor = actor


def _record(ws: Workspace, path: str, reason: str | None, answer: str, pace: _Pace, closes: bool) -> Recorded:
    found = Recorded(session_of(path))
    cursor = cursors.load(ws.home, path)
    if policy.capture_of(path) == "off":
        cursor.size, cursor.closed = os.path.getsize(path), bool(reason) or closes
        cursors.store(ws.home, cursor)
        return found
    if pace.hurried and not reason:
        cursor.closed = False  # the session goes on: its client runs the hook
    agents = [
        (agent_path, agent, own)
        for agent_path, agent in agents_of(path)
        if os.path.getsize(agent_path) != (own := cursors.load(ws.home, agent_path)).size
    ]
    ending = _Ending(reason, bool(reason) and not cursor.closed)
    _record_file(ws, path, cursor, found, answer, pace, ending=None if agents else ending)
    for agent_path, agent, own in agents:
        _record_file(ws, agent_path, own, found, "", pace, agent)
    if not ending.told and (found.turns or ending.due):
        with _writing(ws.journal, ws.store("memory"), pace) as writer:
            _sum_up(writer, ws.store("memory"), found, ending, {})
        if pace.folds and writer.events and not writer.spooled:
            ws.refreshed("memory")
    if reason or closes:
        cursor.closed = True
        cursors.store(ws.home, cursor)
    return found


class _Pace:
    """Whether nobody may be waited for, and whether the store is brought up to what was written."""

    __slots__ = ("folds", "hurried")

    def __init__(self, hurried: bool, folds: bool) -> None:
        self.hurried = hurried
        self.folds = folds


class _Ending:
    """What is said of a session once its turns are recorded: its summary, and why it ended (`reason`), which is `due` where
    nobody said so yet. `told` when it has been."""

    __slots__ = ("due", "reason", "told")

    def __init__(self, reason: str | None, due: bool) -> None:
        self.reason = reason
        self.due = due
        self.told = False


def session_of(path: str) -> str:
    """The session whose transcript this is, by its name."""
    return os.path.splitext(os.path.basename(path))[0][:200]


def agents_of(path: str) -> Iterator[tuple[str, str]]:
    """(transcript, name) of each subagent of a session. Older clients put those of all sessions beside these."""
    own = os.path.join(os.path.splitext(path)[0], "subagents")
    for folder in (own, os.path.dirname(path)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            place = os.path.join(folder, name)
            if cursors.is_agent(place) and (folder == own or _belongs(place, session_of(path))):
                yield place, _agent_type(place) or name[6:-6]


def _belongs(path: str, session: str) -> bool:
    first = next(lines.read(path), None)
    return first is not None and first.record.get("sessionId") == session


def _agent_type(path: str) -> str:
    try:
        with open(f"{path[:-6]}.meta.json", "rb") as file:
            described = lines.decode(file.read(65536))
    except OSError:
        return ""
    return lines.text((described or {}).get("agentType"))[:100]


def _record_file(
    ws: Workspace,
    path: str,
    cursor: Cursor,
    found: Recorded,
    answer: str,
    pace: _Pace,
    agent: str = "",
    ending: _Ending | None = None,
) -> None:
    size = os.path.getsize(path)
    start = cursor.place if cursor.place < size and _is_there(path, cursor) else 0
    batch: list[Turn] = []
    last: Turn | None = None
    may: dict[str, bool] = {}
    for turn in turns.read(lines.read(path, start), agent):
        last = turn
        if turn.directory not in may:
            may[turn.directory] = not turn.directory or policy.capture_in(turn.directory) != "off"
        if may[turn.directory]:
            batch.append(turn)
        if len(batch) >= _AT_A_TIME:
            found.turns += _write(ws, batch, found, pace)
            batch = []
    if last is not None and answer and not agent:
        last.answer = answer
    if batch:
        found.turns += _write(ws, batch, found, pace, ending)
    if last is not None:
        cursor.place, cursor.uuid = last.start, last.uuid
    cursor.size = size
    cursors.store(ws.home, cursor)


def _is_there(path: str, cursor: Cursor) -> bool:
    """Whether the turn still begins where it did: the file may have been written anew."""
    for line in lines.read(path, cursor.place):
        return line.start == cursor.place and line.record.get("uuid") == cursor.uuid
    return False


def _write(ws: Workspace, batch: list[Turn], found: Recorded, pace: _Pace, ending: _Ending | None = None) -> int:
    """Append what is not recorded yet of some turns, and with the last of them what is said of the session: one action, which
    is folded once. Returns how many turns are new or have grown."""
    memories = ws.store("memory")
    ready = [(turn, _place(turn, found), evidence.of(turn), evidence.cleaned(turn.request)) for turn in batch]
    apart = not settings.value("sync-evidence")
    if apart:
        with _writing(ws.journal, memories, pace) as writer:
            for turn, place, _data, _request in ready:
                _start(writer, memories, turn, place)
    told: dict[str, tuple[Event, Data]] = {}
    with _writing(ws.local_journal if apart else ws.journal, memories, pace) as writer:
        for turn, place, data, request in ready:
            if not apart:
                _start(writer, memories, turn, place)
            if turn.typed and not turn.agent:
                _append(writer, memories, "prompt.submitted", turn, {"text": evidence.cut(request, _PROMPT)}, place)
            event = _append(writer, memories, "turn.recorded", turn, data, place)
            if event is not None:
                told[event.entity.partition("/")[2]] = event, data
        if ending is not None and not apart and (found.turns or told or ending.due):
            _sum_up(writer, memories, found, ending, told)
    if pace.folds and writer.events and not writer.spooled:
        ws.refreshed("memory")
    return len(told)


def _writing(journal: Journal, memories: Store, pace: _Pace) -> Writer:
    return journal.writing_from_hook(memories) if pace.hurried else journal.writing(memories)


def _place(turn: Turn, found: Recorded) -> Data:
    from mait_code.commands import project

    if found.project is None and turn.directory:
        found.project = project.here(turn.directory)
    place = {"session": found.session, "project": found.project, "branch": evidence.branch_of(turn)}
    return {name: value for name, value in place.items() if value}


def _start(writer: Writer, memories: Store, turn: Turn, place: Data) -> None:
    entity = ids.derived_entity("session", place["session"])
    if memories.state(entity) is None and not any(event.entity == entity for event in writer.events):
        writer.append(
            "session.started",
            entity,
            id=ids.derived_event_id("session.started", place["session"]),
            wall=turn.at or None,
            **place,
        )


def _append(writer: Writer, memories: Store, kind: str, turn: Turn, data: Data, place: Data) -> Event | None:
    """Write a record, or what has changed of it; None where there is nothing to write. A record somebody deleted stays so."""
    entity = ids.derived_entity(kind.partition(".")[0], turn.uuid)
    known = memories.state(entity)
    if known is None:
        if any(event.entity == entity for event in writer.events):
            return None
        made = ids.derived_event_id(kind, turn.uuid)
        return writer.append(kind, entity, id=made, wall=turn.at or None, **place, **data)
    changed = {name: value for name, value in data.items() if register.value(known, name) != value}
    if not changed or register.is_deleted(known) or kind == "prompt.submitted":
        return None
    return writer.append(kind, entity, wall=turn.last or None, **changed)


def _sum_up(
    writer: Writer, memories: Store, found: Recorded, ending: _Ending, told: dict[str, tuple[Event, Data]]
) -> None:
    """Sum the session up from its evidence, and say that it ended. What a model said of it stays. `told` are the turns of this
    action by their id: the event, and all that it says."""
    ending.told = True
    session = ids.derived_entity("session", found.session)
    known, reason = memories.state(session), ending.reason
    begun = next((event.data for event in writer.events if event.entity == session), None)
    if known is None and begun is None:
        return
    place = {
        name: register.value(known, name) if known is not None else (begun or {}).get(name)
        for name in ("session", "project", "branch")
    }
    _summarise(writer, memories, place, evidence.summary(_turns_of(memories, found.session, told)))
    if reason and (known is None or register.value(known, "ended") != reason):
        writer.append("session.ended", session, reason=reason[:100])


def _summarise(writer: Writer, memories: Store, place: Data, said: Data) -> None:
    entity = ids.derived_entity("summary", place["session"])
    known = memories.state(entity)
    if known is not None and (register.value(known, "by") not in (None, "evidence") or register.is_deleted(known)):
        return
    changed = {name: one for name, one in said.items() if known is None or register.value(known, name) != one}
    if changed:
        new = {name: value for name, value in place.items() if value} if known is None else {}
        writer.append("session.summarised", entity, **new, **changed, by="evidence")


def _turns_of(memories: Store, session: str, told: dict[str, tuple[Event, Data]]) -> list[Data]:
    """The data of a session's turns in order: of those that are recorded, and of those that are being."""
    names = ("request", "answer", "files_modified", "commands", "failures", "agent")
    held = ("files_modified", "commands", "failures")
    rows = memories.query(
        "SELECT id, created_at, request, answer, files_modified, commands, failures, agent FROM turns WHERE session_id = ?",
        (session,),
    )
    turns = {
        (at, id_): {
            name: orjson.loads(one) if name in held else one for name, one in zip(names, row, strict=True) if one
        }
        for id_, at, *row in rows
    }
    places = {id_: (at, id_) for at, id_ in turns}
    for id_, (event, data) in told.items():
        if id_ in places:
            turns[places[id_]] |= data
        elif event.data.get("session") == session:  # else it was first recorded, or is deleted, elsewhere
            turns[event.shown, id_] = data
    return [turns[place] for place in sorted(turns)]
