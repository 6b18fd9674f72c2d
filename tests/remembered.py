"""A small memory that says something: what the pictures of memory, review and observations show."""

from __future__ import annotations

from screens import NINE

from mait_code.commands import memory, memory_edits
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.journal import ids

PROJECT = "acme/login"
DAY = 86_400_000_000
#: Days before nine o'clock, type, importance, text, tags, session.
MEMORIES = (
    (120, "fact", 8, "The staging database is **read-only** for everybody but the deploy job.", ("db",), ""),
    (130, "preference", 9, "Small commits, each with its test.\n\n- one thing at a time\n- the test first", (), ""),
    (80, "procedure", 7, "To roll back: `make rollback TAG=...`, then tell the channel.", ("deploy",), ""),
    (40, "decision", 8, "Sessions live in Redis for an hour, not in cookies.", ("auth",), "monday"),
    (30, "event", 5, "The certificate ran out on a Sunday; nobody was told.", (), "monday"),
    (12, "fact", 5, "日本語のメモも幅どおりに切られる。", (), ""),
    (2, "insight", 6, "What breaks here breaks at midnight: time zones are behind most of it.", (), ""),
    (1, "fact", 6, "Rate limits count by account since the release of March.", ("api",), "sunday"),
    (1, "task", 5, "Ask the security team about passkeys.", ("auth",), "sunday"),
)
SESSIONS = (
    ("monday", 14, "Move sessions to Redis", "Where do sessions live, and why do they end early?"),
    ("friday", 3, "", "Look at the slow query on /search"),
    ("sunday", 1, "Rate limits by account", "Limit by account, not by address"),
    ("sunday-late", 1, "", "What did we say about passkeys?"),
)
OBSERVATIONS = (
    ("monday", "decision", "Redis holds the sessions", "An hour, renewed at each request.", ["ttl is 3600"]),
    ("monday", "bugfix", "The cookie outlived its session", "It was set for a *day*.", ["max_age was 86400"]),
    ("sunday", "feature", "Limits are counted by account", "Addresses are shared; accounts are not.", []),
    ("sunday", "discovery", "The old limiter was never reset", "It counted since the start of the process.", []),
)


def fill(ws: Workspace) -> dict[str, str]:
    """Write it all. Returns the entities of memories, by the first word of their text."""
    found = {}
    here = Place("project", PROJECT)
    for days, type_, importance, text, tags, session in MEMORIES:
        place = Place("global") if type_ == "preference" else here
        made, _notes = memory.draft(
            text, type_, importance, place, wall=NINE - days * DAY, tags=list(tags), session=session
        )
        found[text.split()[0]] = memory.store(ws, made).memory.entity
    memory_edits.pin(ws, found["Small"])
    _sessions(ws)
    kept = [found["Sessions"], found["The"], found["Small"], found["To"]]
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append("reflection.made", memories=kept, project=PROJECT, by="haiku")
    ws.refreshed("memory")
    return found


def _sessions(ws: Workspace) -> None:
    with ws.journal.writing(ws.store("memory")) as writer:
        for name, days, title, prompt in SESSIONS:
            at = NINE - days * DAY + (3_600_000_000 if name == "sunday-late" else 0)
            where = {"session": name, "project": PROJECT}
            entity = ids.derived_entity("session", name)
            titled = {"title": title} if title else {}
            writer.append("session.started", entity, wall=at, how="startup", **titled, **where)
            writer.append("prompt.submitted", wall=at, text=prompt, number=1, **where)
            writer.append("turn.recorded", wall=at, request=prompt, answer="Done.", **where)
        for session, type_, title, narrative, facts in OBSERVATIONS:
            at = NINE - next(days for name, days, *_ in SESSIONS if name == session) * DAY
            more = {"facts": facts, "concepts": ["sessions"], "files_modified": ["src/limits.py"], "by": "haiku"}
            writer.append(
                "observation.recorded", wall=at, type=type_, title=title, narrative=narrative, session=session,
                project=PROJECT, **more,
            )  # fmt: skip
        writer.append(
            "session.summarised", wall=NINE - DAY, session="sunday", project=PROJECT, by="haiku",
            request="Limit by account", completed="Limits are counted by account.", next_steps="Tell the API users.",
        )  # fmt: skip
    ws.refreshed("memory")
