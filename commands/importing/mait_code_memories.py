"""memory.db of mait-code: memories, the graph, and how far it was reflected upon."""

from __future__ import annotations

from mait_code.commands.graph_names import entity_of, one_spelling, relation_named, type_named
from mait_code.commands.importing.records import Fact, Record
from mait_code.commands.importing.rows import Lost
from mait_code.commands.importing.texts import fit, name
from mait_code.journal import clock
from mait_code.journal.ids import derived_entity
from mait_code.projections.graph import UNKNOWN
from mait_code.projections.memories import SCOPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.importing.rows import Source
    from mait_code.commands.importing.values import Row

#: So many mentions of one thing are taken: an event each.
MENTIONS = 100
#: Memories that one event of a reflection names.
_COVERED = 2_000


class Memories:
    """The memories of one database, and which entity each of its rows is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rows: list[Row] = []
        self.entities: dict[int, str] = {}
        for row in source.rows("memory_entries", ("content",)):
            if row.text("content") is None:
                source.lost.append(Lost(row.table, row.id, "it has no content"))
                continue
            self.rows.append(row)
            self.entities[row.id] = derived_entity("memory", _key(row))

    def records(self) -> Iterator[Record]:
        """Every memory with what became of it."""
        for row in self.rows:
            yield self._record(row)

    def _record(self, row: Row) -> Record:
        entity, key = self.entities[row.id], _key(row)
        texts, notes = fit({"content": row.text("content")})
        wall = row.moment("created_at")
        data: dict[str, Any] = {
            "content": texts.get("content", row.text("content")),
            "type": (name(row.text("entry_type")) or "fact").lower(),
            "importance": _importance(row),
            **_place(row),
            "origin": f"mait-code memory {row.id}",
        }
        record = Record("memories", row.table, row.id, [Fact("memory.stored", entity, key, wall, data)])
        record.notes = [*row.notes, *notes, *_undated(wall)]
        if wall is not None:
            seen = {"importance": data["importance"], "origin": data["origin"]}
            record.again = Fact("memory.seen", entity, f"{key}\0{clock.text(wall)}", wall, seen)
        record.facts += self._fate(row, entity, key, wall, record.notes)
        return record

    def _fate(self, row: Row, entity: str, key: str, stored: int | None, notes: list[str]) -> Iterator[Fact]:
        """What became of a memory: reviewed, retired, superseded."""
        reviewed = row.moment("reviewed_at")
        if reviewed is not None:
            told = clock.text(reviewed)
            yield Fact("memory.reviewed", entity, f"{key}\0{told}", reviewed, {"at": told})
        successor = row.whole("superseded_by")
        at = row.moment("superseded_at")
        if successor is None:
            if row.values.get("superseded_at") is not None:
                yield Fact("memory.retired", entity, key, at or stored, {})
            return
        by = self.entities.get(successor)
        if by is None or by == entity:
            what = "itself" if by else f"row {successor}, which is not there"
            notes.append(f"it is superseded by {what}: taken as retired")
            yield Fact("memory.retired", entity, key, at or stored, {})
        else:
            yield Fact("memory.superseded", entity, f"{key}\0{by}", at or stored, {"by": by})

    def reflections(self) -> Iterator[Record]:
        """What was reflected upon: the watermark of each project, told as the memories below it."""
        for row in self.source.rows("reflection_watermark"):
            last = next((row.whole(one) for one in row.values if "last" in one and one.endswith("id")), None)
            project = name(row.text("project"), end=True)
            if last is None:
                self.source.lost.append(Lost(row.table, row.id, "it names no memory"))
                continue
            covered = [
                self.entities[one.id]
                for one in self.rows
                if one.id <= last and _place(one).get("project") in (None, project)
            ]
            wall = row.moment(*(one for one in row.values if one.endswith("at")))
            for start in range(0, len(covered), _COVERED):
                some = covered[start : start + _COVERED]
                key = "\0".join(("mait-code reflection", project or "", *some))
                data = {"project": project, "memories": some, "by": "mait-code"}
                fact = Fact("reflection.made", derived_entity("reflection", key), key, wall, data)
                yield Record("reflections", row.table, row.id, [fact])


def _key(row: Row) -> str:
    """What makes a memory the same on two machines. Not the time: the peer puts that forward when it hears it again."""
    return f"mait-code memory {row.id}\0{row.text('entry_type')}\0{row.text('content')}"


def _importance(row: Row) -> int | None:
    found = row.whole("importance")
    return None if found is None else min(max(found, 1), 10)


def _place(row: Row) -> dict[str, str]:
    """Scope, project and branch, as far as they make sense together."""
    scope = (row.text("scope") or "").strip().lower()
    project, branch = name(row.text("project"), end=True), name(row.text("branch"), end=True)
    if scope not in SCOPES:
        scope = "branch" if project and branch else "project" if project else "global"
    elif scope != "global" and not project:
        scope = "global"
    elif scope == "branch" and not branch:
        scope = "project"
    place = {"scope": scope}
    # What a memory that is seen everywhere came from is kept.
    place |= {key: value for key, value in (("project", project), ("branch", branch)) if value}
    return place


def _undated(wall: int | None) -> list[str]:
    if wall is None:
        return ["it has no date that can be read: dated now"]
    return ["its date is in the future: dated now"] if wall > clock.wall() else []


# -- the graph --------------------------------------------------------------------------------------------------------


class Graph:
    """The things and relations of one database."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[int, str] = {}
        self.times: dict[int, int | None] = {}

    def things(self) -> Iterator[Record]:
        """Every thing, with its mentions: the first as old as it is, the rest as new as the last."""
        for row in self.source.rows("memory_entities", ("name",)):
            called = one_spelling(name(row.text("name")) or "")
            if not called:
                self.source.lost.append(Lost(row.table, row.id, "it has no name"))
                continue
            self.names[row.id] = called
            first, last = row.moment("first_seen", "created_at"), row.moment("last_seen", "updated_at")
            self.times[row.id] = last or first
            type_ = type_named(row.text("entity_type") or row.text("type"))
            data = {"name": called, "type": None if type_ == UNKNOWN else type_}
            data["origin"] = "mait-code"
            told = row.whole("mention_count") or 1
            count = min(max(told, 1), MENTIONS)
            key = f"mait-code entity {called.casefold()}\0{first}"
            entity = entity_of(called)
            facts = [
                Fact("entity.mentioned", entity, f"{key}\0{number}", last if number and last else first or last, data)
                for number in range(count)
            ]
            notes = [f"it was mentioned {told} times, of which {count} are kept"] if told > count else []
            yield Record("entities", row.table, row.id, facts, notes)

    def links(self) -> Iterator[Record]:
        """Every relation whose two ends are known. Call it after `things`."""
        for row in self.source.rows("memory_relationships"):
            ends = [_end(row, "source"), _end(row, "target")]
            source, target = map(self.names.get, ends)
            if source is None or target is None:
                self.source.lost.append(Lost(row.table, row.id, "it leads to or from a thing that is not there"))
                continue
            relation = relation_named(row.text("relationship_type") or row.text("type"))
            texts, notes = fit({"context": row.text("context")})
            key = f"mait-code relation {source.casefold()}\0{relation}\0{target.casefold()}\0{row.text('context')}"
            data = {
                "relation": relation,
                "target": entity_of(target),
                "context": texts.get("context"),
                "origin": "mait-code",
            }
            wall = row.moment("first_seen", "created_at", "last_seen", "updated_at")
            if wall is None:
                wall = self.times.get(ends[0])
            fact = Fact("entity.linked", entity_of(source), key, wall, data)
            yield Record("relations", row.table, row.id, [fact], notes)


def _end(row: Row, which: str) -> int:
    """The row of the thing at one end of a relation; 0, which no row has, where it is not said."""
    for column in (f"{which}_entity_id", f"{which}_id", which, f"{which}_entity"):
        found = row.whole(column)
        if found is not None:
            return found
    return 0
