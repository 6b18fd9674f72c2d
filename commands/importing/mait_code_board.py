"""board.db of mait-code: cards, told again as the events that led to what they are."""

from __future__ import annotations

from mait_code.commands.importing.records import Fact, Record
from mait_code.commands.importing.rows import Lost, nothing_kept
from mait_code.commands.importing.texts import fit, name
from mait_code.journal import clock
from mait_code.journal.ids import derived_entity
from mait_code.projections.cards import COLUMNS, PRIORITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.importing.rows import Source
    from mait_code.commands.importing.values import Row

#: Tables of what hangs on cards.
_PARTS = ("card_comments", "card_tags", "card_references")
#: A time that comes after all others.
_LATEST = clock.LAST_MICROS


def records(source: Source) -> Iterator[Record]:
    """Every card with its comments, tags and references."""
    parts: dict[int, list[Row]] = {}
    for table in _PARTS:
        for row in source.rows(table):
            card = row.whole("card_id")
            if card is None:
                source.lost.append(Lost(table, row.id, "it names no card"))
            else:
                parts.setdefault(card, []).append(row)
    for row in source.rows("cards", ("title",)):
        if row.text("title") is None:
            source.lost.append(Lost("cards", row.id, "it has no title"))
            continue
        yield _Card(row, source, parts.pop(row.id, [])).record()
    for card, rows in parts.items():
        for row in rows:
            source.lost.append(Lost(row.table, row.id, f"its card {card} is not there"))


class _Card:
    def __init__(self, row: Row, source: Source, parts: list[Row]) -> None:
        self.row = row
        self.source = source
        self.parts = parts
        self.key = f"mait-code card {row.id}\0{row.text('created_at')}"
        self.entity = derived_entity("card", self.key)
        self.notes = list(row.notes)
        self.created = row.moment("created_at", "updated_at", "completed_at")
        self.updated = row.moment("updated_at") or self.created

    def record(self) -> Record:
        """The card: made, then everything else in the order of its time."""
        fields = self._fields()
        status = self._status()
        first = self._fact(
            "card.created",
            self.created,
            "",
            column=COLUMNS[0],
            number=self.row.id if self.row.id > 0 else None,
            origin=f"mait-code card {self.row.id}",
            **{key: value for key, value in fields.items() if key != "completion_summary"},
        )
        rest = [*self._edits(fields), *self._attached(), *self._moves(status)]
        rest.sort(key=lambda fact: fact.wall if fact.wall is not None else _LATEST)
        return Record("cards", "cards", self.row.id, [first, *rest], self.notes)

    def _fact(self, kind: str, wall: int | None, key: str, **data: Any) -> Fact:
        return Fact(kind, self.entity, f"{self.key}\0{key}" if key else self.key, wall, data)

    def _fields(self) -> dict[str, Any]:
        row = self.row
        texts, notes = fit(
            {
                "title": " ".join((row.text("title") or "").splitlines()).strip(),
                "description": row.text("description"),
                "acceptance criteria": row.text("acceptance_criteria"),
                "summary": row.text("completion_summary"),
            }
        )
        self.notes += notes
        priority = (row.text("priority") or "medium").strip().lower()
        if priority not in PRIORITIES:
            self.notes.append(f"its priority {priority[:40]!r} is none of ours: taken as medium")
            priority = "medium"
        return {
            # Where all of it was private the writer refuses the card and says why.
            "title": texts.get("title", row.text("title")),
            "description": texts.get("description"),
            "acceptance_criteria": texts.get("acceptance criteria"),
            "priority": priority,
            "project": name(row.text("project"), end=True),
            "completion_summary": texts.get("summary"),
        }

    def _status(self) -> str:
        text = self.row.text("status") or COLUMNS[0]
        status = "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())
        if status in COLUMNS:
            return status
        self.notes.append(f"its status {text[:40]!r} is none of ours: taken as {COLUMNS[0]}, and kept as a comment")
        return f"?{text}"

    def _edits(self, fields: dict[str, Any]) -> Iterator[Fact]:
        """What the card says since it was last changed. An import after another change says it anew."""
        touched = self.created is not None and self.updated is not None and self.updated > self.created + clock.SECOND
        if not touched and not fields["completion_summary"]:
            return
        kept = {key: value for key, value in fields.items() if value is not None}
        yield self._fact("card.edited", self.updated, "\0".join(f"{key}={kept[key]}" for key in sorted(kept)), **kept)

    def _moves(self, status: str) -> Iterator[Fact]:
        done = self.row.moment("completed_at")
        if status.startswith("?"):
            body = f"Status before the import: {status[1:200]}"
            yield self._fact("card.commented", self.updated, body, body=body, author=_AUTHOR)
            return
        if done is not None or status == "done":
            at = done or self.updated
            yield self._fact("card.moved", at, f"done\0{at}", column="done")
        if status not in ("done", COLUMNS[0]) or (status == COLUMNS[0] and done is not None):
            # After all else, and after it was done.
            yield self._fact("card.moved", max(self.updated or 0, done or 0) or None, status, column=status)

    def _attached(self) -> Iterator[Fact]:
        for row in self.parts:
            self.notes += row.notes
            if row.table == "card_tags":
                tag = name(row.text("tag") or row.text("name"))
                if tag is None:
                    self.source.lost.append(Lost(row.table, row.id, "it is empty"))
                else:
                    yield self._fact("card.tagged", row.moment("created_at") or self.created, tag, tag=tag)
            elif row.table == "card_comments":
                yield from self._comment(row)
            else:
                yield from self._reference(row)

    def _comment(self, row: Row) -> Iterator[Fact]:
        texts, notes = fit({"comment": row.text("body")})
        self.notes += notes
        if not texts:
            self.source.lost.append(nothing_kept(row.table, row.id, row.text("body")))
            return
        key = f"{row.id}\0{row.text('created_at')}\0{row.text('body')}"
        author = name(row.text("author")) or "me"
        wall = row.moment("created_at") or self.updated
        yield self._fact("card.commented", wall, key, body=texts["comment"], author=author)

    def _reference(self, row: Row) -> Iterator[Fact]:
        texts, notes = fit({"label": row.text("label"), "value": row.text("value")})
        self.notes += notes
        if "value" not in texts:
            self.source.lost.append(nothing_kept(row.table, row.id, row.text("value")))
            return
        key = f"{row.id}\0{row.text('label')}\0{row.text('value')}"
        wall = row.moment("created_at") or self.created
        yield self._fact("card.referenced", wall, key, label=texts.get("label", "reference"), value=texts["value"])


_AUTHOR = "import"
