"""What a session may be told at its start, section by section, from the stores alone.

Every question is bounded, and answered from an index. With `news` a section holds only what others changed meanwhile; without
it everything. A section with nothing to say is None.
"""

from __future__ import annotations

from mait_code.commands.context_text import Item, Section, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from mait_code.commands.context_news import News
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card
    from mait_code.projections.reminder_queries import Reminder

__all__ = ["Scene", "board", "bound", "inbox", "overdue"]

#: Lines of cards and reminders, and units of what a person wrote in one of them.
_CARDS, _REMINDERS, _TITLE = 8, 8, 140
#: Columns in which nothing waits for anybody.
_SETTLED = ("done", "archived")


class Scene:
    """Where and when a session begins: the project by all its names (none outside any project), the branch where it is no
    main branch, and what is new where the session was told before."""

    __slots__ = ("branch", "names", "news", "now", "project", "session", "ws")

    def __init__(self, ws: Workspace, session: str, directory: str | None, now: datetime) -> None:
        from mait_code.commands import memory_scope, project_aliases

        self.ws = ws
        self.session = session
        self.now = now
        self.news: News | None = None
        found, self.branch = memory_scope.context(directory)
        self.names: tuple[str, ...] = project_aliases.names_of(ws, found) if found else ()
        self.project = self.names[0] if self.names else None


def marks(count: int) -> str:
    """Question marks of a list in SQL."""
    return ", ".join("?" * count)


# -- cards ------------------------------------------------------------------------------------------------------------


def bound(scene: Scene) -> Section | None:
    """The cards in progress that this session holds, of whatever project."""
    from mait_code.projections import board_queries

    if not scene.session:
        return None
    where, bindings = "bound_session = ? AND status = 'in_progress'", (scene.session,)
    found = board_queries.cards(scene.ws.board, where, bindings, brief=True, limit=_CARDS)
    if scene.news is not None:
        new = scene.news.by_others(scene.ws.board, "card")
        found = [card for card in found if card.entity in new]
    items = [_card(scene, card) for card in found]
    return Section("bound", "Cards bound to this session", items) if items else None


def board(scene: Scene) -> Section | None:
    """How many cards each column holds and what is in progress; as news the cards that others changed."""
    from mait_code.projections import board_queries

    store = scene.ws.board
    where, bindings = _on_board(scene)
    title = f"Board of {one_line(scene.project, 80)}" if scene.project else "Board, all projects"
    if scene.news is not None:
        new = scene.news.by_others(store, "card")[:200]
        ids = tuple(entity.partition("/")[2] for entity in new)
        held = f"{where} AND id IN ({marks(len(ids))}) AND bound_session IS NOT ?"
        changed = board_queries.cards(store, held, (*bindings, *ids, scene.session), brief=True, limit=200)
        items = [_card(scene, card, column=True) for card in changed[:_CARDS]]
        return Section("board", f"{title}: changed", items, len(changed), "mait-code board") if items else None
    counts = {name: count for name, count in board_queries.counts(store, where, bindings).items() if count}
    live = {name: count for name, count in counts.items() if name not in _SETTLED}
    if not live:
        return None
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in live.items())
    items = [Item(told, {"counts": live})]
    held = f"{where} AND status = 'in_progress' AND bound_session IS NOT ?"
    rest = board_queries.cards(store, held, (*bindings, scene.session or ""), brief=True, limit=_CARDS + 1)
    items += [_card(scene, card, column=True) for card in rest[:_CARDS]]
    more = counts.get("in_progress", 0) - _CARDS if len(rest) > _CARDS else 0
    return Section("board", title, items, len(items) + more, "mait-code board")


def _on_board(scene: Scene) -> tuple[str, tuple[str, ...]]:
    """SQL over `cards`: those of the project, in whatever case a clone's URL was written; all of them outside any."""
    from mait_code.projections import board_queries

    if not scene.names:
        return "1", ()
    folded = {name.casefold() for name in scene.names}
    known = [name for name in board_queries.projects(scene.ws.board) if name.casefold() in folded]
    names = tuple(dict.fromkeys([*scene.names, *known]))
    return f"project IN ({marks(len(names))})", names


def _card(scene: Scene, card: Card, column: bool = False) -> Item:
    said = [card.priority]
    if column:
        said.insert(0, card.status.replace("_", " "))
    if card.blocked:
        said.append("blocked")
    if card.project not in scene.names and card.project:
        said.append(one_line(card.project, 60))
    if card.bound_session and card.bound_session != scene.session:
        said.append("held by another session")
    data: dict[str, Any] = {"id": card.id, "short": card.short, "title": card.title, "status": card.status}
    data |= {"priority": card.priority, "project": card.project, "bound_session": card.bound_session}
    return Item(f"{card.short} {one_line(card.title, _TITLE)} ({', '.join(said)})", data)


# -- reminders and inbox ----------------------------------------------------------------------------------------------


def overdue(scene: Scene) -> Section | None:
    """What is overdue, longest first; as news what has come due since, or was set by others."""
    from mait_code.projections import reminder_queries

    store, at = scene.ws.reminders, scene.now.strftime(reminder_queries.ZULU)
    if not store.value("SELECT 1 FROM reminders WHERE next_at <= ? LIMIT 1", (at,)):
        return None
    query = "SELECT id FROM reminders WHERE next_at <= ? ORDER BY next_at LIMIT ?"
    several = 200 if scene.news is not None else _REMINDERS
    asked = [reminder_queries.one(store, f"reminder/{id_}", scene.now) for (id_,) in store.query(query, (at, several))]
    late = [one for one in asked if one is not None and one.status == reminder_queries.OVERDUE]
    found = [one for one in late if _is_news(scene, one)]
    total = len(found)
    if scene.news is None:  # the index says when each could be overdue at the earliest
        counted = int(store.value("SELECT count(*) FROM reminders WHERE next_at <= ?", (at,)) or 0)
        total = counted - (len(asked) - len(late))
    items = [_reminder(scene, one) for one in sorted(found, key=lambda one: (one.due, one.id))[:_REMINDERS]]
    return Section("reminders", "Overdue reminders", items, total, "mait-code reminders check") if items else None


def _is_news(scene: Scene, one: Reminder) -> bool:
    if scene.news is None:
        return True
    due = one.due.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return due > scene.news.since or one.entity in scene.news.by_others(scene.ws.reminders, "reminder")


def _reminder(scene: Scene, one: Reminder) -> Item:
    project = f" [{one_line(one.project, 60)}]" if one.project and one.project not in scene.names else ""
    line = f"{one.short} {one_line(one.heading, _TITLE)}{project}, due {one.shown(scene.now)}"
    return Item(line, {"id": one.id, "short": one.short, "what": one.what, "due": one.json()["due"]})


def inbox(scene: Scene) -> Section | None:
    """How many thoughts wait to be sorted; as news how many others have caught since."""
    from mait_code.projections import inbox_queries

    count = inbox_queries.count(scene.ws.inbox)
    new = count
    if scene.news is not None and count:
        ids = tuple(entity.partition("/")[2] for entity in scene.news.by_others(scene.ws.inbox, "inbox")[:500])
        waiting = f"SELECT count(*) FROM inbox_items WHERE id IN ({marks(len(ids))})"  # noqa: S608
        new = int(scene.ws.inbox.value(waiting, ids) or 0)
    if not new:
        return None
    thoughts = "1 thought waits" if count == 1 else f"{count} thoughts wait"
    told = f"{thoughts} to be sorted" + (f", {new} of them new" if scene.news is not None else "")
    return Section("inbox", "Inbox", [Item(f"{told}: mait-code inbox list", {"waiting": count, "new": new})])
