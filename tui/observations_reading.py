"""What the screen of observations asks of the store. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from mait_code.commands import observed_days, sessions
from mait_code.commands.observed_days import Observed
from mait_code.commands.output import counted
from mait_code.tui.outline_reading import Branch, Outline, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mait_code.commands.observed_days import Day, Worked
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["EVERYWHERE", "HERE", "Days", "Question", "day_text", "first", "projects", "whole"]

#: Places besides projects: this directory's, and everything. No project is called so.
HERE, EVERYWHERE = "\0here", "\0all"
#: How a state is shown: a style and a sign.
_MARKS = {"pending": ("warning", "● "), "reflected": ("success", "✓ "), "": ("dim", "· ")}
#: Memories and observations that are told of one session in a day's text.
_FEW = 6


class Days(Outline[Observed]):
    """The answer, with the days and sessions that its branches are of, by their keys."""

    __slots__ = ("days", "sessions")

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.days: dict[str, Day] = {}
        self.sessions: dict[str, Worked] = {}


class Question:
    """What is to be shown: of which place, with which words, and which branches were opened or closed."""

    __slots__ = ("folds", "place", "words")

    def __init__(self, place: str = HERE, words: str = "", folds: Mapping[str, bool] | None = None) -> None:
        self.place = place
        self.words = words
        self.folds = dict(folds or {})

    def __call__(self, ws: Workspace) -> Days:
        store = ws.reading("memory")
        names = names_of(ws, self.place)
        found = Days("all projects" if names is None else names[0] if names else "no project")
        words = self.words.split()
        only, matching = observed_days.with_words(store, words) if words else (None, set[str]())
        days = observed_days.days(ws, names, only)
        found.total = len(days) if not words else len(observed_days.days(ws, names))
        for place, day in enumerate(days):
            branch = _day_branch(day, is_open=not place or bool(words))
            found.branches.append(branch)
            found.days[branch.key] = day
            if self.folds.get(branch.key, branch.is_open):
                observed_days.complete(store, day.sessions)
                self._add_sessions(store, day, found, matching if words else None)
        count = sum(len(day.sessions) for day in days)
        pending = sum(day.count("pending") for day in days)
        found.banner = counted(count, "session") + (f", {pending} pending" if pending else "")
        return found

    def _add_sessions(self, store: Store, day: Day, found: Days, matching: set[str] | None) -> None:
        for one in day.sessions:
            branch = _session_branch(one, is_open=matching is not None)
            found.branches.append(branch)
            found.sessions[branch.key] = one
            if self.folds.get(branch.key, branch.is_open):
                seen = observed_days.observations(store, one.session)
                kept = [this for this in seen if matching is None or this.id in matching]
                branch.leaves = [this.id for this in kept]
                found.items.update((this.id, this) for this in kept)


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question()


def names_of(ws: Workspace, place: str) -> tuple[str, ...] | None:
    """The names of the project that a place means, as sessions.projects gives them."""
    return sessions.projects(ws, None if place in (HERE, EVERYWHERE) else place, place == EVERYWHERE)


def _day_branch(day: Day, is_open: bool) -> Branch:
    seen = day.count("observations")
    detail = counted(len(day.sessions), "session") + (f", {counted(seen, 'observation')}" if seen else "")
    return Branch(
        f"day:{day.date}", day_text(day.date), detail, count=len(day.sessions), is_open=is_open, mark=_MARKS[day.state]
    )


def _session_branch(one: Worked, is_open: bool) -> Branch:
    words = one.title or "(nothing was asked)"
    return Branch(
        f"session:{one.session}",
        f"{_clock(one.at)}  {words}",
        str(one.observations) if one.observations else "",
        count=one.observations,
        depth=1,
        is_open=is_open,
        mark=_MARKS[one.state],
    )


def day_text(iso: str) -> str:
    """A date for people: "Mon 2 Mar 2026"."""
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return iso
    return f"{day:%a} {day.day} {day:%b %Y}"


def _clock(at: str) -> str:
    from mait_code.commands.times import local

    return local(at)[11:16]


def projects(ws: Workspace) -> list[tuple[str, str, str]]:
    """Where sessions can be looked at: the key, its name, and how many there are."""
    from mait_code.commands import project as places
    from mait_code.commands import project_aliases

    others = project_aliases.known(ws.reading("projects"))
    counts: dict[str, tuple[str, int]] = {}
    query = "SELECT coalesce(project, ''), count(*) FROM sessions GROUP BY 1 ORDER BY 1"
    for name, count in ws.reading("memory").query(query):
        now = others.project(name) if name else ""
        shown, already = counts.get(now.casefold(), (now, 0))
        counts[now.casefold()] = (shown, already + count)
    here = places.here()
    options = [(HERE, f"This directory's: {here}", ""), (EVERYWHERE, "All projects", "")] if here else []
    options = options or [(HERE, "All projects", "")]
    options.append(("", "Outside any project", counted(counts.get("", ("", 0))[1], "session")))
    named = sorted(one for key, one in counts.items() if key)
    return [*options, *((name, name, counted(count, "session")) for name, count in named)]


# -- texts ------------------------------------------------------------------------------------------------------------


def whole(ws: Workspace, found: Days, key: str) -> Text | None:
    """A day, a session or an observation as the pane shows it."""
    if key in found.days:
        return _day(ws, found.days[key])
    if key in found.sessions:
        return _session(ws, found.sessions[key])
    return _observation(ws, key) if key in found.items else None


def _day(ws: Workspace, day: Day) -> Text:
    store = ws.reading("memory")
    observed_days.complete(store, day.sessions)
    facts = [
        ("sessions", str(len(day.sessions))),
        ("observations", str(day.count("observations"))),
        ("memories", f"{day.count('memories')}, {day.count('pending')} wait for reflection"),
    ]
    parts = []
    for one in day.sessions:
        style = {"pending": "● pending", "reflected": "✓ reflected"}.get(one.state, "· nothing was made of it yet")
        where = f" · {_plain(one.project)}" if one.project else ""
        lines = [f"### {_clock(one.at)} {_plain(one.title) or 'A session'}", f"{style}{where}", ""]
        lines += _bullets(store, one, _FEW)
        parts.append("\n".join(lines))
    return Text(day_text(day.date), facts, "\n\n".join(parts))


def _bullets(store: Store, one: Worked, most: int) -> list[str]:
    seen = observed_days.observations(store, one.session)
    lines = [f"- *{_plain(this.type)}* {_plain(this.title)}" for this in seen[:most]]
    kept = observed_days.remembered(store, one.session)
    for _id, type_, text, pending in kept[:most]:
        lines.append(f"- {'●' if pending else '✓'} **{_plain(type_)}** {_plain(' '.join(text[:300].split()))}")
    more = max(0, len(seen) - most) + max(0, len(kept) - most)
    return [*lines, f"- and {more} more"] if more else lines


def _session(ws: Workspace, one: Worked) -> Text:
    """A session: what it came to, what was observed, what is remembered of it."""
    from mait_code.commands.times import local

    store = ws.reading("memory")
    observed_days.complete(store, [one])
    facts = [
        ("session", one.session),
        ("project", " ".join(filter(None, (one.project, one.branch and f"({one.branch})")))),
        ("began", local(one.at)),
        ("memories", f"{one.memories}, {one.pending} wait for reflection" if one.memories else ""),
        ("whole", f"mait-code sessions show {one.short}" if one.id else ""),
    ]
    parts = []
    for summary in observed_days.summaries(store, one.session):
        by = summary.pop("by", "")
        said = [f"**{name.replace('_', ' ')}** {text}" for name, text in summary.items()]
        who = "from what was recorded, no model asked" if by == "evidence" else f"by {_plain(by)}" if by else ""
        parts.append("\n\n".join([f"### Summary\n\n*{who}*" if who else "### Summary", *said]))
    bullets = _bullets(store, one, 1000)
    if bullets:
        parts.append("### Observed and remembered\n\n" + "\n".join(bullets))
    if not parts:
        parts.append("Nothing was made of this session yet: `mait-code observe status` says what waits.")
    return Text(one.title or "A session", facts, "\n\n".join(parts))


def _observation(ws: Workspace, id_: str) -> Text | None:
    from mait_code.commands import memory_views
    from mait_code.commands.times import local
    from mait_code.journal.errors import MaitError

    try:
        found = memory_views.whole(ws, f"observation/{id_}")
    except MaitError:
        return None  # deleted while it was looked at
    columns = found.columns  # type: ignore[union-attr]
    parts = [columns.get("subtitle") and f"*{_plain(columns['subtitle'])}*", columns.get("narrative")]
    if columns.get("facts"):
        parts.append("\n".join(f"- {_plain(str(fact))}" for fact in columns["facts"]))

    def joined(name: str) -> str:
        return ", ".join(map(str, columns.get(name) or ()))

    facts = [
        ("type", str(columns.get("type") or "")),
        ("concepts", joined("concepts")),
        ("changed", joined("files_modified")),
        ("read", joined("files_read")),
        ("recorded", local(str(columns["created_at"]))),
        ("by", str(columns.get("generated_by") or "")),
        ("agent", str(columns.get("agent") or "")),
        ("id", f"{id_} (short {found.short})"),
    ]
    return Text(str(columns.get("title") or ""), facts, "\n\n".join(part for part in parts if part))


def _plain(text: str | None) -> str:
    """Text as itself within Markdown."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in (text or "").replace("\n", " "))
