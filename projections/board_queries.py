"""Questions to board.db: cards with everything to print, the projects there are, how many cards each column holds."""

from __future__ import annotations

import orjson

from mait_code.projections.cards import COLUMNS, PRIORITIES, Cards
from mait_code.projections.ids import short_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from mait_code.projections.store import Store

__all__ = [
    "Card",
    "Comment",
    "Place",
    "cards",
    "counts",
    "counts_by_project",
    "deleted_cards",
    "ids_by_column",
    "one",
    "places",
    "projects",
    "shown_register",
    "tags",
]

_COLUMNS = (
    "id, number, project, title, description, acceptance_criteria, status, priority, completion_summary, created_at,"
    " updated_at, completed_at, bound_session, bound_replica, origin, newer"
)
#: The same without the bodies, which can be long and which a list does not show.
_BRIEF = _COLUMNS.replace("description, acceptance_criteria", "NULL, NULL").replace("completion_summary", "NULL")
_RANK = (
    "CASE priority " + " ".join(f"WHEN '{name}' THEN {rank}" for rank, name in enumerate(PRIORITIES)) + " ELSE 9 END"
)
_ORDER = f"ORDER BY {_RANK}, created_at, id"


def shown_register(register: str) -> str:
    """What people call a register: the event field `column` is `status` everywhere outside the log."""
    return "status" if register == "column" else register


class Comment:
    """One comment. `id` is the id of the event that made it."""

    __slots__ = ("author", "body", "created_at", "id")

    def __init__(self, id_: str, author: str, body: str, created_at: str) -> None:
        self.id = id_
        self.author = author
        self.body = body
        self.created_at = created_at


class Card:
    """A card as it is now. Times are ISO 8601 UTC; `short` is what people type; `conflicts` names fields in conflict.

    `comments` is None where they were not asked for. `notes` is what a command has to say about what it did, on stderr.
    """

    __slots__ = (
        "acceptance_criteria",
        "bound_replica",
        "bound_session",
        "comments",
        "completed_at",
        "completion_summary",
        "conflicts",
        "created_at",
        "description",
        "id",
        "newer",
        "notes",
        "number",
        "origin",
        "priority",
        "project",
        "references",
        "short",
        "status",
        "tags",
        "title",
        "updated_at",
    )

    def __init__(self, row: Sequence[Any]) -> None:
        self.id: str = row[0]
        self.number: int | None = row[1]
        self.project: str | None = row[2]
        self.title: str = row[3]
        self.description: str | None = row[4]
        self.acceptance_criteria: str | None = row[5]
        self.status: str = row[6]
        self.priority: str = row[7]
        self.completion_summary: str | None = row[8]
        self.created_at: str = row[9]
        self.updated_at: str = row[10]
        self.completed_at: str | None = row[11]
        self.bound_session: str | None = row[12]
        self.bound_replica: str | None = row[13]
        self.origin: str | None = row[14]
        self.newer = bool(row[15])
        self.short = f"{self.number}{self.id[:2]}" if self.number is not None else self.id
        self.tags: list[str] = []
        #: (event id, label, value), in order: the position people use is the place in this list, from 1.
        self.references: list[tuple[str, str, str]] = []
        self.comments: list[Comment] | None = None
        self.conflicts: list[str] = []
        self.notes: list[str] = []

    @property
    def entity(self) -> str:
        """`card/` and the id, as events name it."""
        return f"card/{self.id}"

    @property
    def blocked(self) -> bool:
        """Whether it carries the tag that keeps it from being picked up."""
        return "blocked" in self.tags


def one(store: Store, entity: str) -> Card | None:
    """A card with its comments, or None where no living card is known by that entity."""
    found = cards(store, "id = ?", (entity.partition("/")[2],), comments=True)
    return found[0] if found else None


def cards(
    store: Store,
    where: str = "1",
    bindings: tuple[Any, ...] = (),
    *,
    comments: bool = False,
    brief: bool = False,
    limit: int = -1,
) -> list[Card]:
    """Cards, most urgent first, then oldest first. `where` is SQL over the table `cards`.

    A handful of queries, however many cards there are. `brief` leaves out the bodies, `comments` adds the comments.
    """
    columns = _BRIEF if brief else _COLUMNS
    query = f"SELECT {columns} FROM cards WHERE {where} {_ORDER} LIMIT ?"
    found = {row[0]: Card(row) for row in store.query(query, (*bindings, limit))}
    if not found:
        return []
    _attach(store, found, comments)
    for card in found.values():
        if card.number is None:
            card.short = short_of(store, card.id)
    return list(found.values())


def _attach(store: Store, found: dict[str, Card], comments: bool) -> None:
    """Give cards what stands in other tables."""
    # A few cards are looked up one by one, many by a pass over the whole of each small table.
    chosen = f"IN ({', '.join('?' * len(found))})" if len(found) <= 50 else ""
    ids = tuple(found) if chosen else ()

    def more(table: str, key: str, columns: str, order: str) -> Iterable[tuple[Card, tuple[Any, ...]]]:
        condition = f"WHERE {key} {chosen}" if chosen else ""
        for row in store.query(f"SELECT {key}, {columns} FROM {table} {condition} ORDER BY {order}", ids):
            card = found.get(row[0])
            if card is not None:
                yield card, row[1:]

    for card, (tag,) in more("card_tags", "card_id", "tag", "tag"):
        card.tags.append(tag)
    for card, (id_, label, value) in more("card_references", "card_id", "id, label, value", "card_id, position"):
        card.references.append((id_, label, value))
    for card, (register,) in more("conflicts", "id", "register", "register"):
        card.conflicts.append(shown_register(register))
    if comments:
        said: dict[str, list[Comment]] = {id_: [] for id_ in found}
        # The rows of a card were written in the order of the log, which is not always that of the clocks.
        for card, row in more("card_comments", "card_id", "id, author, body, created_at", "rowid"):
            said[card.id].append(Comment(*row))
        for id_, card in found.items():
            card.comments = said[id_]


def deleted_cards(store: Store, entity: str = "") -> list[Card]:
    """Deleted cards as they were (or the one named), last changed first. They have no readable rows, only a state."""
    projection = Cards()
    found = []
    condition = "deleted = 1" + (" AND entity = ?" if entity else "")
    rows = store.query(f"SELECT entity, state FROM entities WHERE {condition}", (entity,) if entity else ())
    conflicts = {id_ for (id_,) in store.query("SELECT DISTINCT id FROM conflicts WHERE register = 'deleted'")}
    for name, raw in rows:
        state = orjson.loads(raw)
        id_ = name.partition("/")[2]
        card: Card | None = None
        for table, row in projection.rows(id_, state):
            if table == "cards":
                card = Card(row)
                card.comments = []
            elif card is not None and table == "card_tags":
                card.tags.append(row[1])
            elif card is not None and table == "card_references":
                card.references.append((row[1], row[3], row[4]))
            elif card is not None and table == "card_comments" and card.comments is not None:
                card.comments.append(Comment(*row[1:]))
        if card is not None and state["c"]:
            card.conflicts = ["deleted"] if id_ in conflicts else []
            found.append(card)
    return sorted(found, key=lambda card: (card.updated_at, card.id), reverse=True)


class Place:
    """Where a card stands, and what it is found by: all that a screen holds of cards that it does not show."""

    __slots__ = ("id", "number", "status", "title")

    def __init__(self, id_: str, status: str, number: int | None, title: str) -> None:
        self.id = id_
        self.status = status
        self.number = number
        self.title = title


#: As a column shows its cards: the most urgent first, those done by when they were done, the latest first.
_IN_COLUMN = f"completed_at DESC, {_RANK}, created_at, id"


def ids_by_column(store: Store, where: str = "1", bindings: tuple[Any, ...] = ()) -> dict[str, list[str]]:
    """The ids of each column in its order: one row for each, as ten thousand would be for ever on their way."""
    query = f"SELECT status, json_group_array(id ORDER BY {_IN_COLUMN}) FROM cards WHERE {where} GROUP BY status"
    return {status: orjson.loads(ids) for status, ids in store.query(query, bindings)}


def places(store: Store, where: str = "1", bindings: tuple[Any, ...] = ()) -> list[Place]:
    """Where cards stand, in the order of columns."""
    rows = store.query(f"SELECT id, status, number, title FROM cards WHERE {where} ORDER BY {_IN_COLUMN}", bindings)
    return [Place(*row) for row in rows]


def tags(store: Store) -> dict[str, list[str]]:
    """Every tag there is, with the ids of the cards that carry it."""
    found: dict[str, list[str]] = {}
    for tag, id_ in store.query("SELECT tag, card_id FROM card_tags ORDER BY tag"):
        found.setdefault(tag, []).append(id_)
    return found


def projects(store: Store) -> list[str]:
    """Every project that has a card."""
    return [
        row[0] for row in store.query("SELECT DISTINCT project FROM cards WHERE project IS NOT NULL ORDER BY project")
    ]


def counts_by_project(store: Store) -> dict[str, int]:
    """How many cards each project has, under the names that stand on the cards."""
    query = "SELECT project, count(*) FROM cards WHERE project IS NOT NULL GROUP BY project ORDER BY project"
    return dict(store.query(query))


def counts(store: Store, where: str = "1", bindings: tuple[Any, ...] = ()) -> dict[str, int]:
    """How many cards stand in each column; columns of a newer version come last."""
    found = dict.fromkeys(COLUMNS, 0)
    query = f"SELECT status, count(*) FROM cards WHERE {where} GROUP BY status ORDER BY status"
    for status, count in store.query(query, bindings):
        found[status] = count
    return found
