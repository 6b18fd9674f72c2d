"""What the inbox asks of the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import inbox
from mait_code.commands.output import counted
from mait_code.projections import inbox_queries
from mait_code.tui import list_reading
from mait_code.tui.list_reading import Listed, matching

if TYPE_CHECKING:
    from datetime import datetime

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.inbox_queries import Item
    from mait_code.projections.store import Store

__all__ = ["DELETED", "FINISHED", "WAITING", "Question", "Thought", "first", "projects"]

WAITING, FINISHED, DELETED = range(3)
#: So many of those that were dealt with or deleted are shown, the latest.
_LATEST = 500


class Thought:
    """An item of the inbox as it is shown at a moment: `came` is when it was captured, or dealt with; `became` what became
    of it."""

    __slots__ = ("became", "came", "item", "now")

    def __init__(self, item: Item, came: str, became: str, now: datetime) -> None:
        self.item = item
        self.came = came
        self.became = became
        self.now = now

    @property
    def age(self) -> str:
        """How long ago it came: "3 days ago"."""
        from datetime import UTC, datetime

        from mait_code.projections.zones import distance, load_zone, local_zone

        try:
            then = datetime.fromisoformat(self.came)
        except ValueError:
            return ""
        return distance(then if then.tzinfo else then.replace(tzinfo=UTC), self.now, load_zone(local_zone()) or UTC)


class Question:
    """What is to be shown: what waits, was dealt with or was deleted; of which project (None: of all); with which words."""

    __slots__ = ("project", "search", "view")

    def __init__(self, view: int, project: str | None, search: str) -> None:
        self.view = view
        self.project = project
        self.search = search

    def __call__(self, ws: Workspace) -> Listed[Thought]:
        store = ws.inbox
        now = list_reading.moment()
        found: Listed[Thought] = Listed(now)
        items = self._items(ws, store)
        found.total = len(items)
        found.counts = _counts(store)
        waiting = found.counts[WAITING] or 0
        found.banner = f"{self.project or 'no project'}  " * (self.project is not None) + f"{waiting} waiting"
        for item in matching(items, self.search, _words):
            came = item.done_at if self.view == FINISHED and item.done_at else item.created_at
            found.add(item.id, Thought(item, came, _became(ws, item), now))
        return found

    def _items(self, ws: Workspace, store: Store) -> list[Item]:
        if self.view == FINISHED and self.project is None:
            return inbox_queries.finished(
                store, "id IN (SELECT id FROM inbox_done ORDER BY done_at DESC, id LIMIT ?)", (_LATEST,)
            )
        items = inbox.listing(ws, project=self.project, finished=self.view == FINISHED, deleted=self.view == DELETED)
        return items if self.view == WAITING else items[:_LATEST]


def first() -> Question:
    """What the inbox asks when it is opened."""
    return Question(WAITING, None, "")


def projects(ws: Workspace) -> list[tuple[str, str]]:
    """The projects of what waits, with how much there is of each in words; an empty name for none."""
    rows = ws.inbox.query("SELECT coalesce(project, ''), count(*) FROM inbox_items GROUP BY 1 ORDER BY 1")
    return [(name, counted(count, "item")) for name, count in rows]


def _counts(store: Store) -> list[int | None]:
    return [
        inbox_queries.count(store),
        store.value("SELECT count(*) FROM inbox_done"),
        store.value("SELECT count(*) FROM entities WHERE deleted = 1"),
    ]


def _became(ws: Workspace, item: Item) -> str:
    if not item.ref:
        return item.outcome
    return f"{item.ref.partition('/')[0]} {inbox.short_of_ref(ws, item.ref)}"


def _words(item: Item) -> str:
    return f"{item.body}\n{item.short} {item.project or ''}"
