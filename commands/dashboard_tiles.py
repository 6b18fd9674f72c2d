"""What the built-in tiles say: lines of pieces, each a style's name (empty for plain) and text.

Styles are those of the screens' lists: strong, dim, accent, success, warning, error. Each question is bounded: what is shown is
little, however much there is.
"""

from __future__ import annotations

from datetime import timedelta

from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime

    from mait_code.commands.doctor import Check
    from mait_code.commands.home import Summary
    from mait_code.commands.workspace import Workspace

    Piece = tuple[str, str]
    Lines = list[list[Piece]]

__all__ = ["asked", "health", "lines"]

#: Lines of one kind in a tile.
_FEW = 5
_BARS = "▁▂▃▄▅▆▇█"
#: Days that velocity looks back, and that its bars show.
_WEEKS, _DAYS = 4, 14


def lines(ws: Workspace, widget: str, found: Summary, now: datetime) -> Lines:
    """What a widget shows at `now` (aware). `found` is how things stand, asked once for all of them."""
    return _SAYS[widget](ws, found, now)


def asked(ws: Workspace, widgets: list[str], found: Summary, now: datetime) -> dict[str, Lines]:
    """The same for several. `health` is not among them: what doctor says takes too long (see `health`)."""
    return {widget: lines(ws, widget, found, now) for widget in dict.fromkeys(widgets) if widget in _SAYS}


def _reminders(ws: Workspace, found: Summary, now: datetime) -> Lines:
    from mait_code.projections import reminder_queries

    told: Lines = [[("warning", f"● {one.heading}"), ("dim", f"  {one.shown(now)}")] for one in found.overdue[:_FEW]]
    if len(found.overdue) > _FEW:
        told.append([("warning", f"and {len(found.overdue) - _FEW} more overdue")])
    room = _FEW - min(len(found.overdue), _FEW - 1)
    # The next ones by their first date: those that come again and again are put in order by what they stand at.
    ids = ws.reminders.query("SELECT id FROM reminders WHERE next_at > ? ORDER BY next_at LIMIT ?", (_zulu(now), room))
    for (id_,) in ids:
        one = reminder_queries.one(ws.reminders, f"reminder/{id_}", now)
        if one is not None and one.status == reminder_queries.UPCOMING:
            told.append([("", f"○ {one.heading}"), ("dim", f"  {one.shown(now)}")])
    if not told:
        return _nothing("Nothing to be reminded of.", 'mait-code reminders set "friday EOD" "..."')
    return told


def _board(ws: Workspace, found: Summary, now: datetime) -> Lines:
    del now
    from mait_code.commands import board
    from mait_code.projections import board_queries

    told: Lines = [[("strong", found.project or ("all projects" if found.every else "no project"))]]
    if not any(found.columns.values()):
        told += _nothing("No open cards.", 'mait-code board add "..."')
    else:
        parts = [f"{count} {column.replace('_', ' ')}" for column, count in found.columns.items() if count]
        told.append([("", " · ".join(parts))])
        where, bindings = board.scope(ws.board).condition()
        cards = board_queries.cards(
            ws.board, f"({where}) AND status = 'in_progress'", bindings, brief=True, limit=_FEW - 2
        )
        told += [[("accent", "▸ "), ("", card.title), ("dim", f"  {card.short}")] for card in cards]
    if found.elsewhere:
        told.append([("dim", f"{found.elsewhere} in other projects")])
    return told


def _inbox(ws: Workspace, found: Summary, now: datetime) -> Lines:
    del now
    if not found.waiting:
        return _nothing("Nothing waits.", 'mait-code inbox add "..."')
    rows = ws.inbox.query("SELECT body FROM inbox_items ORDER BY created_at DESC, id LIMIT ?", (_FEW - 1,))
    told: Lines = [[("strong", counted(found.waiting, "thought")), ("", " to sort")]]
    for (body,) in rows:
        first = next((line.strip() for line in body.splitlines() if line.strip()), "")
        told.append([("dim", "· "), ("", first)])
    return told


def _memory(ws: Workspace, found: Summary, now: datetime) -> Lines:
    del now
    from mait_code.commands import memory_views

    if not found.memories:
        return _nothing("Nothing is remembered yet.", 'mait-code memory store "..."')
    told: Lines = [[("strong", counted(found.memories, "memory", "memories")), ("", " seen from here")]]
    if found.review:
        told.append([("warning", f"{found.review} to look at again")])
    for one in memory_views.listing(ws, limit=_FEW - len(told) + 1):
        told.append([("dim", f"{one.entry_type} "), ("", one.first_line)])
    return told


def _velocity(ws: Workspace, found: Summary, now: datetime) -> Lines:
    from mait_code.commands import board

    where, bindings = board.scope(ws.board).condition()
    since = _zulu(now - timedelta(weeks=_WEEKS, days=1))
    rows = ws.board.query(f"SELECT completed_at FROM cards WHERE completed_at >= ? AND ({where})", (since, *bindings))  # noqa: S608
    today = _day(now)
    days = [0] * (_WEEKS * 7)
    for (at,) in rows:
        ago = (today - _day(_moment(at, now))).days
        if 0 <= ago < len(days):
            days[ago] += 1
    if not any(days):
        return _nothing(f"No card was done in {_WEEKS} weeks.", "mait-code board next")
    weeks = [sum(days[start : start + 7]) for start in range(0, len(days), 7)]
    most = max(days[:_DAYS]) or 1
    bars = "".join(_BARS[0] if not count else _BARS[max(1, count * 7 // most)] for count in reversed(days[:_DAYS]))
    mean = sum(weeks) / len(weeks)
    where_text = found.project or ("all projects" if found.every else "no project")
    return [
        [("strong", counted(weeks[0], "card")), ("", " done in 7 days"), ("dim", f"  {weeks[1]} in the 7 before")],
        [("accent", bars), ("dim", f"  {_DAYS} days")],
        [("dim", f"{mean:.1f} a week over {_WEEKS} weeks · {where_text}")],
    ]


def health(checks: list[Check]) -> Lines:
    """What doctor's checks come to."""
    bad = [check for check in checks if check.level == "fail"]
    odd = [check for check in checks if check.level == "warn"]
    if not bad and not odd:
        return [[("success", "✓ Everything is in order.")], [("dim", f"{counted(len(checks), 'check')} by doctor")]]
    told: Lines = []
    for check in [*bad, *odd][:_FEW]:
        mark, style = ("✗", "error") if check.level == "fail" else ("●", "warning")
        told.append([(style, f"{mark} {check.name}"), ("", f"  {check.message}")])
    if len(bad) + len(odd) > _FEW:
        told.append([("dim", f"and {len(bad) + len(odd) - _FEW} more: mait-code doctor")])
    return told


def _nothing(said: str, step: str) -> Lines:
    return [[("dim", said)], [("dim", step)]]


def _zulu(moment: datetime) -> str:
    from datetime import UTC

    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _day(moment: datetime) -> date:
    return moment.astimezone().date()


def _moment(at: str, otherwise: datetime) -> datetime:
    """A stored time. What is none counts as long ago."""
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return otherwise - timedelta(days=10_000)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


_SAYS: dict[str, Callable[[Workspace, Summary, datetime], Lines]] = {
    "reminders": _reminders,
    "board": _board,
    "inbox": _inbox,
    "memory": _memory,
    "velocity": _velocity,
}
