"""What a session is told when it starts: the most useful first, whole lines, never longer than `context-characters`.

It is made of facts that are stored, each on one line of ours; what a person or a model wrote is quoted there and cut. A session
that is resumed or forked has its earlier context before it, and is told only what others changed since.
"""

from __future__ import annotations

from mait_code.commands import context_past, context_sections, context_text, session_marks
from mait_code.commands.context_sections import Scene
from mait_code.journal import clock, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.commands.context_text import Section
    from mait_code.commands.session_marks import Mark
    from mait_code.commands.workspace import Workspace

__all__ = ["SOURCES", "Context", "build"]

#: How a session may begin, as the client says it; the last two replay what was said before.
SOURCES = ("startup", "clear", "compact", "resume", "fork")
_REPLAYED = ("resume", "fork")


class Context:
    """The context of one session. `text` is empty where there is nothing to say; `since` is when the session was told last,
    where only news are told."""

    __slots__ = ("branch", "limit", "project", "sections", "session", "since", "source", "text")

    def __init__(self, scene: Scene, source: str, limit: int) -> None:
        self.session = scene.session
        self.source = source
        self.project = scene.project
        self.branch = scene.branch
        self.limit = limit
        self.since = scene.news.since if scene.news is not None else ""
        self.sections: list[Section] = []
        self.text = ""

    def json(self) -> dict[str, Any]:
        """The context as `--json` prints it: the text and what it is made of."""
        return {
            "session": self.session or None, "source": self.source, "project": self.project, "branch": self.branch,
            "since": self.since or None, "limit": self.limit, "characters": context_text.units(self.text),
            "sections": [section.json() for section in self.sections], "text": self.text,
        }  # fmt: skip


def build(
    ws: Workspace,
    *,
    session: str = "",
    directory: str | None = None,
    source: str = "startup",
    idle: float | None = None,
    notices: Sequence[str] = (),
    told: bool = True,
) -> Context:
    """What the session (the client's id of it) is told when it starts in a directory.

    `idle` is how many seconds ago a forked session last answered, where that is known. `notices` are lines of our own that
    stand first. `told` notes that the session has been told this, so that it is told news only when it is resumed.
    """
    from datetime import UTC, datetime

    now = datetime.now(UTC)
    scene = Scene(ws, session, directory or None, now)
    mark = _earlier(ws, scene, source, idle)
    if mark is not None:
        from mait_code.commands.context_news import News

        scene.news = News(mark, session)
    found = Context(scene, source, int(settings.value("context-characters")))
    found.sections = _sections(scene)
    lines = [context_text.one_line(notice, 300) for notice in notices]
    found.text = context_text.fitted(_head(found), lines, found.sections, found.limit)
    if told and session:
        from mait_code.commands.board_sessions import pid_of_client

        read = session_marks.positions(ws.reading("memory"))
        at = clock.text(clock.micros_of(now))
        session_marks.store(ws.home, session_marks.Mark(session, at, pid_of_client(), scene.project, read))
    return found


def _head(found: Context) -> list[str]:
    if found.since:
        from mait_code.commands.times import local

        return [f"# mait-code: new since {local(found.since)}", "From mait-code's stores; titles and texts are quoted."]
    return ["# mait-code: what is known here", "From mait-code's stores; titles and texts are quoted."]


def _sections(scene: Scene) -> list[Section]:
    sections = [
        context_sections.bound(scene),
        context_sections.overdue(scene),
        context_sections.board(scene),
        context_sections.inbox(scene),
        *context_past.sessions(scene, int(settings.value("context-sessions"))),
        context_past.observations(scene, int(settings.value("context-observations"))),
        context_past.memories(scene),
    ]
    return [section for section in sections if section is not None]


def _earlier(ws: Workspace, scene: Scene, source: str, idle: float | None) -> Mark | None:
    """What the session was told before, where the client replays it. Of a fork it is not known which session it goes on
    from: it is taken for the latest one in the project that was told before the last answer."""
    if source not in _REPLAYED:
        return None
    own = session_marks.load(ws.home, scene.session)
    if own is not None or source == "resume":
        return own
    latest = clock.text(clock.wall() - int((idle or 0) * clock.SECOND))
    marks = session_marks.every(ws.home)
    return next((mark for mark in marks if mark.project == scene.project and mark.at <= latest), None)
