"""What the board asks of the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import board, project_aliases
from mait_code.projections import board_queries
from mait_code.projections.cards import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card, Place
    from mait_code.projections.store import Store

__all__ = ["Board", "Question", "first", "heading", "items", "projects"]

#: Cards that are read of a column before it is known how many are seen.
_FIRST = 40
#: Ids that one question names: more of them, and the store walks whole tables.
_AT_ONCE = 50


def heading(column: str) -> str:
    """A column as people call it."""
    return column.replace("_", " ").capitalize()


class Question:
    """What is to be shown: of which project, matching what, and which cards of each column are in sight.

    `project` is None for this directory's (outside any: all), "" for cards without one; `every` for all projects.
    """

    __slots__ = ("every", "project", "search", "seen")

    def __init__(self, project: str | None, every: bool, search: str, seen: dict[str, list[str]]) -> None:
        self.project = project
        self.every = every
        self.search = search
        self.seen = seen

    def __call__(self, ws: Workspace) -> Board:
        store = ws.board
        chosen = board.scope(store, self.project, self.every)
        found = Board(chosen)
        found.keys = board_queries.ids_by_column(store, *chosen.condition())
        found.counts |= {column: len(keys) for column, keys in found.keys.items()}
        if words := self.search.casefold().split():
            found.keys = _matching(store, board_queries.places(store, *chosen.condition()), words)
        wanted: list[str] = []
        for column, keys in found.keys.items():
            wanted += [key for key in self.seen.get(column, ()) if key] or keys[:_FIRST]
        found.items = items(store, wanted)
        if not any(found.counts.values()):
            found.elsewhere = sum(board_queries.counts(store).values())
        return found


def first() -> Question:
    """What the board asks when it is opened."""
    return Question(None, False, "", {})


class Board:
    """The answer: ids by column, in order, and the cards among them that were asked for."""

    __slots__ = ("counts", "elsewhere", "items", "keys", "scope")

    def __init__(self, scope: board.Scope) -> None:
        self.scope = scope
        self.keys: dict[str, list[str]] = {}
        self.counts: dict[str, int] = dict.fromkeys(COLUMNS, 0)
        self.items: dict[str, Card] = {}
        self.elsewhere = 0

    @property
    def where(self) -> str:
        """The project, in words."""
        return "all projects" if self.scope.every else self.scope.project or "no project"


def projects(ws: Workspace) -> list[tuple[str, int]]:
    """Every project with a card, and how many it has."""
    store = ws.board
    others = project_aliases.names_in(store)
    found: dict[str, tuple[str, int]] = {}
    for name, count in board_queries.counts_by_project(store).items():
        now = others.project(name)
        shown, already = found.get(now.casefold(), (now, 0))
        found[now.casefold()] = (shown, already + count)
    return sorted(found.values())


def items(store: Store, wanted: Iterable[str]) -> dict[str, Card]:
    """Cards by id, without their bodies."""
    ids = list(dict.fromkeys(wanted))
    found: dict[str, Card] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = tuple(ids[start : start + _AT_ONCE])
        marks = ", ".join("?" * len(some))
        found |= {card.id: card for card in board_queries.cards(store, f"id IN ({marks})", some, brief=True)}
    return found


def _matching(store: Store, places: list[Place], words: list[str]) -> dict[str, list[str]]:
    """By column the cards whose title, short id or tags hold each of the words."""
    tagged: dict[str, str] = {}
    for tag, ids in board_queries.tags(store).items():
        for id_ in ids:
            tagged[id_] = f"{tagged.get(id_, '')} #{tag}"
    found: dict[str, list[str]] = {}
    for place in places:
        short = f"{place.number}{place.id[:2]}" if place.number is not None else place.id
        text = f"{place.title}\n{short} {tagged.get(place.id, '')}".casefold()
        if all(word in text for word in words):
            found.setdefault(place.status, []).append(place.id)
    return found
