"""The database of claude-mem: sessions, prompts, observations and summaries.

Row ids differ between two machines that merged their databases, so a row is known by what it says and when, and of
equal rows by which of them it is.
"""

from __future__ import annotations

from mait_code.commands.importing.records import Fact, Record
from mait_code.commands.importing.rows import Lost, Source, nothing_kept
from mait_code.commands.importing.texts import fit, name, names
from mait_code.commands.importing.values import listed
from mait_code.journal.errors import Refused
from mait_code.journal.ids import derived_entity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.importing.records import Importer
    from mait_code.commands.importing.values import Row

NAME = "claude-mem"
TABLES = ("sdk_sessions", "user_prompts", "observations", "session_summaries")
_SAID = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def bring(importer: Importer, path: str) -> None:
    """Bring in everything a database of claude-mem holds. Raises NotFound and Refused where it is none."""
    with Source(path) as source:  # to refuse what is none, before anything is written
        if not source.tables.intersection(TABLES):
            raise Refused(f"{path} is no database of claude-mem", "usually it is ~/.claude-mem/claude-mem.db")
    importer.read(path, _take)
    importer.finish(("memory",))


def _take(importer: Importer, source: Source) -> None:
    rows = _Rows(source)
    importer.bring("memory", rows.sessions())
    importer.bring("memory", rows.prompts())
    importer.bring("memory", rows.first_prompts())
    importer.bring("memory", rows.observations())
    importer.bring("memory", rows.summaries())


class _Rows:
    """One database. Sessions are read first: the other tables name them by three kinds of id."""

    def __init__(self, source: Source) -> None:
        self.source = source
        #: The client's session by the observer's id and by row; its project.
        self._client: dict[str, str] = {}
        self._by_row: dict[int, str] = {}
        self._projects: dict[str, str] = {}
        #: First prompts that stand with their session, until a row of their own is found.
        self._first: dict[str, tuple[Row, str]] = {}
        self._times: dict[str, int] = {}

    def sessions(self) -> Iterator[Record]:
        """Every session, with its end."""
        for row in self.source.rows("sdk_sessions"):
            session = name(row.text("content_session_id") or row.text("claude_session_id"))
            observer = name(row.text("memory_session_id") or row.text("sdk_session_id"))
            session = session or observer
            if session is None:
                self.source.lost.append(Lost(row.table, row.id, "it has no id"))
                continue
            self._client[observer or session] = self._by_row[row.id] = session
            project = name(row.text("project"), end=True)
            if project:
                self._projects[session] = project
            prompt = row.text("user_prompt")
            if prompt:
                self._first[session] = (row, prompt)
            yield self._session(row, session, project)

    def _session(self, row: Row, session: str, project: str | None) -> Record:
        texts, notes = fit({"title": row.text("custom_title")})
        key = f"claude-mem session {session}\0{row.text('platform_source')}"
        entity = derived_entity("session", session)
        data = {
            "session": session,
            "project": project,
            "title": texts.get("title"),
            "platform": name(row.text("platform_source")),
            "origin": NAME,
        }
        started = row.moment("started_at_epoch", "started_at")
        facts = [Fact("session.started", entity, key, started, data)]
        status = name(row.text("status"))
        ended = row.moment("completed_at_epoch", "completed_at")
        if status not in (None, "active") or ended is not None:
            reason = status if status not in (None, "active") else "completed"
            facts.append(Fact("session.ended", entity, key, ended or started, {"reason": reason}))
        return Record("sessions", row.table, row.id, facts, [*row.notes, *notes])

    def _place(self, row: Row) -> dict[str, Any]:
        """The session a row is of, and the project."""
        observer = name(row.text("memory_session_id") or row.text("sdk_session_id"))
        session = name(row.text("content_session_id") or row.text("claude_session_id"))
        session = session or self._by_row.get(row.whole("session_db_id") or 0)
        session = session or (self._client.get(observer, observer) if observer else None)
        project = name(row.text("merged_into_project") or row.text("project"), end=True)
        return {"session": session, "project": project or self._projects.get(session or "")}

    def _key(self, what: str, wall: int | None, *parts: str | None) -> str:
        """What makes a row the same on two machines; the second of two equal rows has a number besides."""
        key = "\0".join((f"claude-mem {what}", str(wall), *(part or "" for part in parts)))
        count = self._times[key] = self._times.get(key, 0) + 1
        return key if count == 1 else f"{key}\0{count}"

    def prompts(self) -> Iterator[Record]:
        """Every prompt."""
        for row in self.source.rows("user_prompts", ("prompt_text",)):
            place = self._place(row)
            self._first.pop(place["session"] or "", None)
            text = row.text("prompt_text")
            record = self._prompt(row, text, place, row.whole("prompt_number"), _when(row))
            if record is not None:
                yield record

    def first_prompts(self) -> Iterator[Record]:
        """The prompts that stand with their session alone. Call it after `prompts`."""
        for session, (row, text) in self._first.items():
            place = {"session": session, "project": self._projects.get(session)}
            record = self._prompt(row, text, place, 1, row.moment("started_at_epoch", "started_at"))
            if record is not None:
                yield record

    def _prompt(
        self, row: Row, text: str | None, place: dict[str, Any], number: int | None, wall: int | None
    ) -> Record | None:
        texts, notes = fit({"prompt": text})
        if not texts:
            self.source.lost.append(nothing_kept(row.table, row.id, text))
            return None
        key = self._key("prompt", wall, place["session"], str(number), text)
        data = {
            **place,
            "text": texts["prompt"],
            "number": _counted(number),
            "origin": NAME,
        }
        fact = Fact("prompt.submitted", derived_entity("prompt", key), key, wall, data)
        return Record("prompts", row.table, row.id, [fact], [*row.notes, *notes])

    def observations(self) -> Iterator[Record]:
        """Every observation."""
        for row in self.source.rows("observations"):
            facts = listed(row.text("facts"))
            narrative, legacy = row.text("narrative"), row.text("text")
            if legacy and narrative:
                facts.append(legacy)
            said = {
                "title": row.text("title"),
                "subtitle": row.text("subtitle"),
                "narrative": narrative or legacy,
                "facts": facts,
                **_files(row, "files_modified"),
            }
            texts, notes = fit(said)
            if not any(texts.get(one) for one in ("title", "subtitle", "narrative", "facts")):
                had = any(said[one] for one in ("title", "subtitle", "narrative", "facts"))
                self.source.lost.append(nothing_kept(row.table, row.id, had))
                continue
            wall, place = _when(row), self._place(row)
            told = (row.text(one) for one in ("title", "subtitle", "narrative", "text", "facts"))
            key = self._key("observation", wall, place["session"], row.text("type"), *told)
            data = {
                **place,
                **texts,
                "type": name(row.text("type")) or "discovery",
                "concepts": names(listed(row.text("concepts"))) or None,
                "number": _counted(row.whole("prompt_number")),
                "tokens": _counted(row.whole("discovery_tokens")),
                "by": name(row.text("generated_by_model")) or NAME,
                "agent": name(row.text("agent_type")),
                "origin": NAME,
            }
            fact = Fact("observation.recorded", derived_entity("observation", key), key, wall, data)
            yield Record("observations", row.table, row.id, [fact], [*row.notes, *notes])

    def summaries(self) -> Iterator[Record]:
        """Every summary."""
        for row in self.source.rows("session_summaries"):
            said = {one: row.text(one) for one in _SAID}
            texts, notes = fit({**said, **_files(row, "files_edited")})
            if not any(one in texts for one in _SAID):
                self.source.lost.append(nothing_kept(row.table, row.id, any(said.values())))
                continue
            wall, place = _when(row), self._place(row)
            key = self._key("summary", wall, place["session"], str(row.whole("prompt_number")), *said.values())
            data = {
                **place,
                **texts,
                "number": _counted(row.whole("prompt_number")),
                "tokens": _counted(row.whole("discovery_tokens")),
                "by": name(row.text("generated_by_model")) or NAME,
                "origin": NAME,
            }
            fact = Fact("session.summarised", derived_entity("summary", key), key, wall, data)
            yield Record("summaries", row.table, row.id, [fact], [*row.notes, *notes])


def _files(row: Row, modified: str) -> dict[str, str | list[str] | None]:
    return {"files_read": listed(row.text("files_read")), "files_modified": listed(row.text(modified))}


def _when(row: Row) -> int | None:
    return row.moment("created_at_epoch", "created_at")


def _counted(number: int | None) -> int | None:
    """A number from 1, or None: events have no place for none."""
    return number if number is not None and 1 <= number < 2**53 else None
