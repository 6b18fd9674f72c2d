"""What was observed day by day, and what is due for review, from the command line."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from remembered import DAY, fill
from screens import NINE, fixed

from mait_code.commands import native_memories, observed_days
from mait_code.commands.workspace import Workspace
from mait_code.journal import clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    Cli = Callable[..., Any]


@pytest.fixture
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A small memory, a directory of no project, and the clock at nine."""
    monkeypatch.chdir(home)
    fixed(monkeypatch)
    with Workspace.open() as ws:
        found = fill(ws)
    monkeypatch.setattr(clock, "wall", lambda: NINE)
    return found


def test_days_as_text(cli: Cli, kept: dict[str, str]) -> None:
    done = cli("observations")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "● 2026-03-01  2 sessions, 2 observations, 2 pending"
    assert lines[1].startswith("  · ")
    assert lines[1].endswith("10:00  0 observations: What did we say about passkeys?"), (
        "what was asked stands for a title"
    )
    assert lines[2].endswith("09:00  2 observations: Rate limits by account")
    assert [line[:12] for line in lines if line[0] != " "] == ["● 2026-03-01", "· 2026-02-27", "✓ 2026-02-16"]
    assert cli("observations", "list").out == done.out
    assert cli("observations", "list", "--limit", "1").err.startswith("2 earlier days")


def test_days_as_data(cli: Cli, kept: dict[str, str]) -> None:
    days = cli("observations", "--json").json
    assert [(day["date"], day["state"]) for day in days] == [
        ("2026-03-01", "pending"), ("2026-02-27", ""), ("2026-02-16", "reflected"),
    ]  # fmt: skip
    session = days[0]["sessions"][1]
    assert (session["session"], session["observations"], session["memories"], session["pending"]) == ("sunday", 2, 2, 2)
    assert cli("observations", "list", "--project", "", "--json").json == []
    assert len(cli("observations", "list", "--project", "login", "--json").json) == 3


def test_a_day_is_one_of_this_place(kept: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")  # fourteen hours ahead of UTC
    time.tzset()
    try:
        with Workspace.open() as ws:
            with ws.journal.writing(ws.store("memory")) as writer:
                for minutes, name in ((9 * 60 + 59, "before"), (10 * 60, "after")):
                    at = NINE - 9 * 3_600_000_000 - 4 * DAY + minutes * 60_000_000
                    writer.append("session.started", wall=at, session=name)
            found = {one.session: day.date for day in observed_days.days(ws) for one in day.sessions}
        assert (found["before"], found["after"]) == ("2026-02-26", "2026-02-27")
    finally:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()


def test_records_of_a_session_that_nobody_saw_begin(cli: Cli, kept: dict[str, str]) -> None:
    with Workspace.open() as ws:
        with ws.journal.writing(ws.store("memory")) as writer:
            writer.append("observation.recorded", wall=NINE, type="bugfix", title="Alone", session="stray")
            writer.append("memory.stored", wall=NINE, content="Alone too", type="fact", scope="global", session="lost")
        first = observed_days.days(ws)[0]
    assert [(one.session, one.state) for one in first.sessions] == [("stray", "reflected"), ("lost", "pending")]


def test_what_was_deleted_is_not_told(cli: Cli, kept: dict[str, str]) -> None:
    with Workspace.open() as ws:
        one = next(one for day in observed_days.days(ws) for one in day.sessions if one.session == "sunday")
        seen = observed_days.observations(ws.reading("memory"), "sunday")
        with ws.journal.writing(ws.store("memory")) as writer:
            writer.append("observation.deleted", f"observation/{seen[0].id}")
        ws.refreshed("memory")
        after = next(one for day in observed_days.days(ws) for one in day.sessions if one.session == "sunday")
    assert (one.observations, after.observations) == (2, 1)


def test_words_are_found_in_any_case(kept: dict[str, str]) -> None:
    with Workspace.open() as ws:
        with ws.journal.writing(ws.store("memory")) as writer:
            writer.append("observation.recorded", type="bugfix", title="ÄRGER mit 100% der \\Pfade_", session="monday")
        store = ws.refreshed("memory")
        for words in (["ärger"], ["ÄRGER", "100%"], ["\\pfade_"]):
            found, matching = observed_days.with_words(store, words)
            assert (found, len(matching)) == ({"monday"}, 1)
        assert observed_days.with_words(store, ["1_0%"])[0] == set()
        assert observed_days.with_words(store, ["rate", "ACCOUNT"])[0] == {"sunday"}


def test_nothing_is_observed_yet(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    assert "No session is recorded here yet" in cli("observations").out
    assert cli("observations", "--json").json == []


def test_review_by_its_own_name(cli: Cli, kept: dict[str, str]) -> None:
    done = cli("review")
    assert done.out == cli("memory", "review").out == cli("review", "list").out
    assert done.out.splitlines()[0].endswith("The certificate ran out on a Sunday; nobody was told.")
    assert len(cli("review", "--json").json["due"]) == 3


def test_due_memories_count_copies_once(cli: Cli, kept: dict[str, str]) -> None:
    """Two machines stored the same: it is due once, and confirming it confirms both."""
    with Workspace.open() as ws, ws.journal.writing(ws.store("memory")) as writer:
        for _ in range(2):
            writer.append(
                "memory.stored", wall=NINE - 400 * DAY, content="Twice", type="event", scope="global", importance=9
            )
    due = cli("review", "--json").json["due"]
    assert [one["content"] for one in due].count("Twice") == 1
    assert len(due) == 4
    assert cli("memory", "reviewed", next(one["short"] for one in due if one["content"] == "Twice")).code == 0
    assert len(cli("review", "--json").json["due"]) == 3


def test_files_of_claude_code(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / ".claude" / "projects" / "-some-where" / "memory"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_bytes(b"\xef\xbb\xbfone\r\ntwo\xff")
    (folder / "MEMORY.md").write_text("x" * 300_000)
    (folder / "deep" / "b.md").write_text("b")
    (folder / "gone.md").symlink_to(folder / "nowhere.md")
    found = native_memories.files()
    assert [one.path for one in found] == ["MEMORY.md", "a.md", "deep/b.md"]
    assert native_memories.text(found[1].full) == "one\ntwo\ufffd"
    assert len(native_memories.text(found[0].full)) < 270_000
    assert native_memories.project_of(found[0].home) == "-some-where", "no such directory: the client's name for it"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    assert native_memories.files() == []
