"""The data directory of mait-code: what of it there is, and in which order it is brought in."""

from __future__ import annotations

import os

from mait_code.commands.importing import mait_code_board
from mait_code.commands.importing.mait_code_memories import Graph, Memories
from mait_code.commands.importing.records import Fact, Record
from mait_code.commands.importing.rows import Lost, nothing_kept
from mait_code.commands.importing.texts import fit, name, names
from mait_code.commands.importing.values import moment
from mait_code.journal.errors import NotFound
from mait_code.journal.ids import derived_entity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.importing.records import Importer
    from mait_code.commands.importing.rows import Source

NAME = "mait-code"
DATABASES = ("memory.db", "board.db", "inbox.db", "reminders.db")
_ALIASES = "project-aliases.json"
_OBSERVATIONS = os.path.join("memory", "observations")
#: The lists of an extraction, and what one of their items is called.
_EXTRACTED = {
    "facts": "", "preferences": "Preference: ", "decisions": "Decision: ", "procedures": "Procedure: ",
    "bugs_fixed": "Fixed: ",
}  # fmt: skip


def bring(importer: Importer, directory: str) -> None:
    """Bring in everything a data directory of mait-code holds. Raises NotFound where it holds nothing of the kind."""
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise NotFound(f"{directory} is a file, not a directory", "name the data directory that holds it")
    if not any(os.path.exists(os.path.join(directory, one)) for one in (*DATABASES, _ALIASES, _OBSERVATIONS)):
        raise NotFound(
            f"{directory} is no data directory of mait-code: it has none of {', '.join(DATABASES)}",
            "usually it is ~/.claude/mait-code-data",
        )
    _aliases(importer, os.path.join(directory, _ALIASES))
    for database, take in (
        ("memory.db", _memory), ("board.db", _board), ("inbox.db", _inbox), ("reminders.db", _reminders),
    ):  # fmt: skip
        path = _database(directory, database)
        if path:
            importer.read(path, take)
    importer.bring("memory", _observations(importer, os.path.join(directory, _OBSERVATIONS)))
    importer.finish(("memory", "board", "inbox", "reminders", "projects"))


def _database(directory: str, database: str) -> str:
    """Where a database lies: in the directory, or in its `memory` as older versions had it."""
    for path in (os.path.join(directory, database), os.path.join(directory, "memory", database)):
        if os.path.exists(path):
            return path
    return ""


def _memory(importer: Importer, source: Source) -> None:
    memories, graph = Memories(source), Graph(source)
    importer.bring("memory", memories.records())
    importer.bring("memory", graph.things())
    importer.bring("memory", graph.links())
    importer.bring("memory", memories.reflections())


def _board(importer: Importer, source: Source) -> None:
    importer.bring("board", mait_code_board.records(source))


def _inbox(importer: Importer, source: Source) -> None:
    table = next((one for one in ("inbox_items", "inbox", "items") if one in source.tables), "inbox_items")
    importer.bring("inbox", _items(source, table))


def _items(source: Source, table: str) -> Iterator[Record]:
    for row in source.rows(table, ("body",)):
        body = row.text("body")
        texts, notes = fit({"text": body})
        if not texts:
            source.lost.append(nothing_kept(table, row.id, body))
            continue
        key = f"mait-code inbox {row.id}\0{row.text('created_at')}\0{body}"
        data = {"body": texts["text"], "project": name(row.text("project"), end=True)}
        fact = Fact("inbox.captured", derived_entity("inbox", key), key, row.moment("created_at"), data)
        yield Record("inbox items", table, row.id, [fact], [*row.notes, *notes])


def _reminders(importer: Importer, source: Source) -> None:
    importer.bring("reminders", _set(source))


def _set(source: Source) -> Iterator[Record]:
    for row in source.rows("reminders", ("what", "due")):
        texts, notes = fit({"text": row.text("what")})
        due = row.moment("due")
        if not texts:
            source.lost.append(nothing_kept("reminders", row.id, row.text("what")))
            continue
        if due is None:
            source.lost.append(Lost("reminders", row.id, "it has no time that can be read"))
            continue
        key = f"mait-code reminder {row.id}\0{row.text('created_at')}\0{row.text('what')}"
        entity = derived_entity("reminder", key)
        wall = row.moment("created_at")
        nominal = _nominal(due)
        data = {"what": texts["text"], "when": {"due": nominal, "zone": "UTC"}}
        facts = [Fact("reminder.set", entity, key, wall, {**data, "origin": f"mait-code reminder {row.id}"})]
        told = row.moment("notified_at")
        if told is not None:
            facts.append(Fact("reminder.notified", entity, key, told, {"occurrence": nominal}))
        dismissed = row.moment("dismissed_at")
        if row.whole("dismissed") or (dismissed is not None and row.values.get("dismissed") is None):
            facts.append(Fact("reminder.dismissed", entity, key, dismissed or wall, {"occurrence": nominal}))
        yield Record("reminders", "reminders", row.id, facts, [*row.notes, *notes])


def _nominal(micros: int) -> str:
    """A moment as reminders have it, in UTC."""
    from datetime import timedelta

    from mait_code.projections.zones import EPOCH, name_instant

    return name_instant(EPOCH + timedelta(microseconds=micros), "UTC", seconds=True)[0]


# -- files ------------------------------------------------------------------------------------------------------------


def _aliases(importer: Importer, path: str) -> None:
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return
    except OSError as error:
        importer.lost.append(Lost(_ALIASES, None, f"it cannot be read: {error.strerror}"))
        return
    import orjson

    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        importer.lost.append(Lost(_ALIASES, None, f"it is not JSON: {error}"))
        return
    if not isinstance(found, dict):
        importer.lost.append(Lost(_ALIASES, None, "it is no object"))
        return
    importer.bring("projects", _renamed(importer, found))


def _renamed(importer: Importer, found: dict[str, Any]) -> Iterator[Record]:
    for number, (old, new) in enumerate(found.items(), 1):
        alias, project = name(old, end=True), name(new if isinstance(new, str) else None, end=True)
        if alias is None or project is None or alias.casefold() == project.casefold():
            importer.lost.append(Lost(_ALIASES, number, "it names no other project"))
            continue
        entity = derived_entity("project", alias.casefold())
        key = f"mait-code alias {alias.casefold()}\0{project}"
        fact = Fact("project.aliased", entity, key, None, {"alias": alias, "name": project})
        yield Record("project aliases", _ALIASES, number, [fact])


def _observations(importer: Importer, directory: str) -> Iterator[Record]:
    """One observation of each batch that was captured, with everything that was found in it."""
    try:
        files = sorted(one for one in os.listdir(directory) if one.endswith(".jsonl"))
    except OSError:
        return
    import orjson

    for file in files:
        try:
            with open(os.path.join(directory, file), "rb") as opened:
                lines = opened.read().split(b"\n")
        except OSError as error:
            importer.lost.append(Lost(file, None, f"it cannot be read: {error.strerror}"))
            continue
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                raw = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                importer.lost.append(Lost(file, number, f"it is not JSON: {error}"))
                continue
            record = _observation(file, number, raw, line)
            if isinstance(record, Lost):
                importer.lost.append(record)
            elif record is not None:
                yield record


def _observation(file: str, number: int, raw: Any, line: bytes) -> Record | Lost | None:
    """The record of one line; why there is none; or None for a batch in which nothing was found."""
    from mait_code.journal.sha import sha256

    extraction = raw.get("extraction") if isinstance(raw, dict) else None
    if not isinstance(extraction, dict):
        return Lost(file, number, "it is no batch of observations")
    facts = [
        f"{called}{text}" for of, called in _EXTRACTED.items() for text in map(_content, _list(extraction, of)) if text
    ]
    things = [one for one in _list(extraction, "entities") if isinstance(one, dict)]
    facts += [text for text in map(_relation, _list(extraction, "relationships")) if text]
    texts, notes = fit({"fact": facts})
    concepts = names(str(one["name"]) for one in things if one.get("name"))
    if not texts:
        return nothing_kept(file, number, facts) if facts else None
    key = f"mait-code observation {raw.get('timestamp')}\0{sha256(line.strip()).hexdigest()}"
    data = {
        "type": name(_string(raw.get("trigger"))) or "session",
        "title": texts["fact"][0].partition("\n")[0],
        "facts": texts["fact"],
        "concepts": concepts or None,
        "project": name(_string(raw.get("project")), end=True),
        "branch": name(_string(raw.get("branch")), end=True),
        "by": NAME,
        "origin": f"mait-code {file[-180:]}",
    }
    fact = Fact("observation.recorded", derived_entity("observation", key), key, moment(raw.get("timestamp")), data)
    return Record("observations", file, number, [fact], notes)


def _list(extraction: dict[str, Any], of: str) -> list[Any]:
    found = extraction.get(of)
    return found if isinstance(found, list) else []


def _content(item: Any) -> str:
    found = item.get("content") if isinstance(item, dict) else item
    return found.strip() if isinstance(found, str) else ""


def _relation(item: Any) -> str:
    if not isinstance(item, dict) or not item.get("source") or not item.get("target"):
        return ""
    text = f"{item['source']} {str(item.get('relationship_type') or 'related_to').replace('_', ' ')} {item['target']}"
    return f"{text}: {item['context']}" if item.get("context") else text


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
