"""What the reminders ask of the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.projections import reminder_queries
from mait_code.projections.reminder_queries import DISMISSED, OVERDUE
from mait_code.tui import list_reading
from mait_code.tui.list_reading import Listed, matching

if TYPE_CHECKING:
    from datetime import datetime

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.reminder_queries import Reminder

__all__ = ["DELETED", "GONE", "STANDING", "Due", "Question", "first"]

STANDING, GONE, DELETED = range(3)
#: So many of those that are dismissed or deleted are shown, the latest.
_LATEST = 500
#: The sections of what stands: key, heading.
_SECTIONS = (("#overdue", "Overdue"), ("#today", "Today"), ("#later", "Later"), ("#recurring", "Recurring"))


class Due:
    """A reminder as it is shown at a moment. Its words are made when it comes into sight."""

    __slots__ = ("deleted", "now", "reminder", "section", "viewer", "when_")

    def __init__(self, reminder: Reminder, now: datetime, viewer: str, section: str, deleted: bool) -> None:
        self.reminder = reminder
        self.now = now
        self.viewer = viewer
        self.section = section
        self.deleted = deleted
        self.when_ = ""

    @property
    def when(self) -> str:
        """When it is due, and how far off that is."""
        if not self.when_:
            self.when_ = self.reminder.shown(self.now, self.viewer)
        return self.when_


class Question:
    """What is to be shown: what stands, is dismissed or was deleted; with which words."""

    __slots__ = ("search", "view")

    def __init__(self, view: int, search: str) -> None:
        self.view = view
        self.search = search

    def __call__(self, ws: Workspace) -> Listed[Due]:
        from mait_code.projections import zones

        store = ws.reminders
        now = list_reading.moment()
        found: Listed[Due] = Listed(now)
        every = reminder_queries.listing(store, now, every=True)
        gone = [one for one in every if one.status == DISMISSED]
        number = store.value("SELECT count(*) FROM entities WHERE deleted = 1")
        found.counts = [len(every) - len(gone), len(gone), number]
        overdue = sum(one.status == OVERDUE for one in every)
        found.banner = (
            f"{overdue} overdue, {len(every) - len(gone)} in all" if overdue else f"{len(every) - len(gone)} in all"
        )
        if self.view == STANDING:
            items = [one for one in every if one.status != DISMISSED]
        elif self.view == GONE:
            items = sorted(gone, key=lambda one: (one.dismissed_at or "", one.id), reverse=True)[:_LATEST]
        else:
            items = reminder_queries.deleted(store, now)[:_LATEST]
        found.total = len(items)
        viewer = zones.local_zone()

        def due(one: Reminder, section: str) -> Due:
            return Due(one, now, viewer, section, self.view == DELETED)

        kept = matching(items, self.search, _words)
        if self.view != STANDING:
            for one in kept:
                found.add(one.id, due(one, ""))
            return found
        today = now.astimezone(zones.load_zone(viewer)).date()
        sorted_: dict[str, list[Reminder]] = {key: [] for key, _heading in _SECTIONS}
        for one in kept:
            sorted_[_section(one, now, today, viewer)].append(one)
        for key, heading in _SECTIONS:
            if sorted_[key]:
                found.head(key, f"{heading}\t{len(sorted_[key])}")
            for one in sorted_[key]:
                found.add(one.id, due(one, key))
        return found


def _section(one: Reminder, now: datetime, today: object, viewer: str) -> str:
    from mait_code.projections import zones

    if one.due <= now:
        return "#overdue"
    if one.due.astimezone(zones.load_zone(viewer)).date() == today:
        return "#today"
    return "#recurring" if one.rule is not None else "#later"


def first() -> Question:
    """What the reminders ask when they are opened."""
    return Question(STANDING, "")


def _words(one: Reminder) -> str:
    return f"{one.what}\n{one.short} {one.project or ''}"
