"""Recording what a transcript shows: sessions, prompts, turns, and a summary from the evidence alone.

Everything is known by the transcript's own ids, and compared with what is recorded under the journal's lock. So a
transcript that is read twice, by two processes at once, resumed, forked or compacted adds nothing twice; a turn that has grown
is amended.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from mait_code.commands.capture import cursors, evidence, lines, turns
from mait_code.journal import ids, settings
from mait_code.projections import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.capture.cursors import Cursor
    from mait_code.commands.capture.turns import Turn
    from mait_code.commands.workspace import Workspace
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
    closes: bool = False,
) -> Recorded:
    """Record what is new in a transcript and in those of its subagents.

    `reason` says why the session ended, where it did. `answer` is the last one, which the transcript may not hold yet.
    `hurried` is for hooks, which wait for nobody. `closes` says that nothing more is to come, though no reason is known now.
    Raises what the journal raises.
    """
    with observing(ws):
        return _record(ws, path, reason, answer, hurried, closes)


@contextmanager
def observing(ws: Workspace) -> Iterator[None]:
    """What is written meanwhile is nobody's doing: plain `undo` leaves it alone."""
    actor, ws.journal.actor = ws.journal.actor, ACTOR
    try:
        yield
    finally:
        ws.journal.actor = actor


def _record(ws: Workspace, path: str, reason: str | None, answer: str, hurried: bool, closes: bool) -> Recorded:
    found = Recorded(session_of(path))
    cursor = cursors.load(ws.home, path)
    _record_file(ws, path, cursor, found, answer, hurried)
    for agent_path, agent in agents_of(path):
        own = cursors.load(ws.home, agent_path)
        if os.path.getsize(agent_path) != own.size:
            _record_file(ws, agent_path, own, found, "", hurried, agent)
    if found.turns or (reason and not cursor.closed):
        _conclude(ws, found, reason, hurried)
    if reason or closes:
        cursor.closed = True
        cursors.store(ws.home, cursor)
    return found


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
    ws: Workspace, path: str, cursor: Cursor, found: Recorded, answer: str, hurried: bool, agent: str = ""
) -> None:
    size = os.path.getsize(path)
    start = cursor.place if cursor.place < size and _is_there(path, cursor) else 0
    batch: list[Turn] = []
    last: Turn | None = None
    for turn in turns.read(lines.read(path, start), agent):
        last = turn
        batch.append(turn)
        if len(batch) >= _AT_A_TIME:
            found.turns += _write(ws, batch, found, hurried)
            batch = []
    if last is not None and answer and not agent:
        last.answer = answer
    if batch:
        found.turns += _write(ws, batch, found, hurried)
    if last is not None:
        cursor.place, cursor.uuid = last.start, last.uuid
    cursor.size, cursor.closed = size, False
    cursors.store(ws.home, cursor)


def _is_there(path: str, cursor: Cursor) -> bool:
    """Whether the turn still begins where it did: the file may have been written anew."""
    for line in lines.read(path, cursor.place):
        return line.start == cursor.place and line.record.get("uuid") == cursor.uuid
    return False


def _write(ws: Workspace, batch: list[Turn], found: Recorded, hurried: bool) -> int:
    """Append what is not recorded yet of some turns. Returns how many are new or have grown."""
    memories = ws.store("memory")
    ready = [(turn, _place(turn, found), evidence.of(turn), evidence.cleaned(turn.request)) for turn in batch]
    apart = not settings.value("sync-evidence")
    if apart:
        with _writing(ws.journal, memories, hurried) as writer:
            for turn, place, _data, _request in ready:
                _start(writer, memories, turn, place)
    count = 0
    with _writing(ws.local_journal if apart else ws.journal, memories, hurried) as writer:
        for turn, place, data, request in ready:
            if not apart:
                _start(writer, memories, turn, place)
            if turn.typed and not turn.agent:
                _append(writer, memories, "prompt.submitted", turn, {"text": evidence.cut(request, _PROMPT)}, place)
            count += _append(writer, memories, "turn.recorded", turn, data, place)
    if count and not writer.spooled:
        ws.refreshed("memory")
    return count


def _writing(journal: Journal, memories: Store, hurried: bool) -> Writer:
    return journal.writing_from_hook(memories) if hurried else journal.writing(memories)


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


def _append(writer: Writer, memories: Store, kind: str, turn: Turn, data: Data, place: Data) -> int:
    """Write a record, or what has changed of it. A record somebody deleted stays so."""
    entity = ids.derived_entity(kind.partition(".")[0], turn.uuid)
    known = memories.state(entity)
    if known is None:
        if any(event.entity == entity for event in writer.events):
            return 0
        made = ids.derived_event_id(kind, turn.uuid)
        writer.append(kind, entity, id=made, wall=turn.at or None, **place, **data)
        return 1
    changed = {name: value for name, value in data.items() if register.value(known, name) != value}
    if not changed or register.is_deleted(known) or kind == "prompt.submitted":
        return 0
    writer.append(kind, entity, wall=turn.last or None, **changed)
    return 1


def _conclude(ws: Workspace, found: Recorded, reason: str | None, hurried: bool) -> None:
    """Sum the session up from its evidence, and say that it ended. What a model said of it stays."""
    memories = ws.store("memory")
    with _writing(ws.journal, memories, hurried) as writer:
        started = memories.state(ids.derived_entity("session", found.session))
        if started is None:
            return
        said = evidence.summary(_turns_of(memories, found.session))
        entity = ids.derived_entity("summary", found.session)
        known = memories.state(entity)
        by = register.value(known, "by") if known is not None else None
        if said and by in (None, "evidence") and not (known is not None and register.is_deleted(known)):
            changed = {name: one for name, one in said.items() if known is None or register.value(known, name) != one}
            if changed:
                place = {
                    name: value for name in ("session", "project", "branch") if (value := register.value(started, name))
                }
                writer.append(
                    "session.summarised", entity, **(place if known is None else {}), **changed, by="evidence"
                )
        if reason and register.value(started, "ended") != reason:
            writer.append("session.ended", ids.derived_entity("session", found.session), reason=reason[:100])
    if writer.events and not writer.spooled:
        ws.refreshed("memory")


def _turns_of(memories: Store, session: str) -> list[Data]:
    """The data of a session's turns in order."""
    import orjson

    rows = memories.query(
        "SELECT request, answer, files_modified, commands, failures, agent FROM turns WHERE session_id = ?"
        " ORDER BY created_at, id",
        (session,),
    )
    names = ("request", "answer", "files_modified", "commands", "failures", "agent")
    held = ("files_modified", "commands", "failures")
    return [
        {name: orjson.loads(one) if name in held else one for name, one in zip(names, row, strict=True) if one}
        for row in rows
    ]
