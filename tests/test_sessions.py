"""Recorded sessions: which there were, what was done in each, found by whatever id a person has at hand."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from transcripts import Transcript

from mait_code.commands import sessions
from mait_code.commands.capture import recording
from mait_code.commands.workspace import Workspace
from mait_code.journal import clock, ids
from mait_code.journal.errors import Ambiguous
from mait_code.journal.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Cli = Callable[..., Any]

KEYS = {
    "id", "short", "session", "project", "branch", "started_at", "last_at", "ended_at", "ended", "how", "title",
    "platform", "turns", "agent_turns", "request", "tokens",
}  # fmt: skip
FLIGHT, LANDING = "1f2e3d4c-0000-4000-8000-000000000001", "1f2e9999-0000-4000-8000-000000000002"


@pytest.fixture
def ws(home: Path) -> Iterator[Workspace]:
    with Workspace(Home(str(home / "data"))) as opened:
        yield opened


def recorded(ws: Workspace, folder: Path, directory: Path, session: str = "", turns: int = 1, reason: str = "") -> str:
    """Record a composed transcript of a session in a directory; returns the session."""
    written = Transcript(folder / "transcripts", session, str(directory))
    for _ in range(turns):
        written.turn()
    recording.record(ws, written.path, reason=reason or None)
    return written.session


def test_where_nothing_is_recorded_it_says_what_would_be(rocket: Path, cli: Cli) -> None:
    assert (
        cli("sessions").out
        == "No session is recorded yet; sessions of Claude Code are, once its hooks are installed.\n"
    )
    assert cli("sessions", "list", "--json").json == []
    assert cli("sessions", "show", "abcde").code == 1


def test_a_session_is_listed_and_shown(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli) -> None:
    recorded(ws, tmp_path, rocket, FLIGHT, turns=2, reason="prompt_input_exit")
    (one,) = cli("sessions", "list", "--json").json
    assert set(one) == KEYS
    assert one["session"] == FLIGHT
    assert one["project"] == "rocket"
    assert (one["turns"], one["agent_turns"]) == (2, 0)
    assert one["request"] == "make the cart faster"
    assert one["ended"] == "prompt_input_exit"
    assert one["ended_at"] > one["last_at"] > one["started_at"]
    assert sum(one["tokens"].values()) > 0
    (row,) = cli("sessions").out.splitlines()
    assert row.startswith(f"{one['short']}  2026-11-01 00:00 UTC (main)  2 turns, ")
    assert row.endswith("(prompt_input_exit): make the cart faster")

    data = cli("sessions", "show", one["short"], "--json").json
    assert [turn["files_modified"] for turn in data["turns"]] == [["src/a.py"]] * 2
    assert data["turn_count"] == 2
    assert [prompt["prompt_text"] for prompt in data["prompts"]] == ["make the cart faster"] * 2
    assert data["summaries"][0]["generated_by"] == "evidence"
    text = cli("sessions", "show", one["short"]).out
    turn = data["turns"][0]
    for said in (
        FLIGHT, "rocket (main)", "2 turns", "> make the cart faster", "It is faster.", "src/a.py",
        *(f"{command['command']}  (exit {command['exit']})" for command in turn["commands"]), *turn["failures"],
        "no model asked", f"turn {turn['short']}",
    ):  # fmt: skip
        assert said in text, said
    assert text.count("> make the cart faster") == 2


def test_times_are_local(
    rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    recorded(ws, tmp_path, rocket, FLIGHT)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert "2026-11-01 09:00 JST" in cli("sessions").out
        assert "2026-11-01 09:00 JST" in cli("sessions", "show", FLIGHT).out
    finally:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()


def test_every_id_a_person_has_names_it(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli) -> None:
    for name in (FLIGHT, LANDING):
        recorded(ws, tmp_path, rocket, name)
    entity = ids.derived_entity("session", FLIGHT)
    id_ = entity.partition("/")[2]
    for given in (FLIGHT, FLIGHT.upper(), FLIGHT[:6], FLIGHT[:13], id_, id_[:5], entity, f" {FLIGHT} "):
        assert cli("sessions", "show", given, "--json").json["id"] == id_, given
    with pytest.raises(Ambiguous):
        sessions.find(ws, FLIGHT[:4])
    several = cli("sessions", "show", FLIGHT[:4])
    assert several.code == 1
    assert entity in several.err
    for unknown in ("1f2", "%", "1f2_", "zzzzz", "", "turn/abcde"):
        assert cli("sessions", "show", unknown).code == 1, unknown


def test_it_lists_this_project_another_or_all(
    rocket: Path, tmp_path: Path, home: Path, ws: Workspace, cli: Cli
) -> None:
    moon = tmp_path / "moon"
    moon.mkdir()
    recorded(ws, tmp_path, rocket, FLIGHT)
    assert "of other projects" not in cli("sessions").out
    recorded(ws, tmp_path, moon, LANDING)
    recorded(ws, tmp_path, home, "33333333-home")

    def listed(*arguments: str) -> set[str]:
        return {one["session"] for one in cli("sessions", "list", "--json", *arguments).json}

    assert listed() == {FLIGHT}
    assert listed("--project", "moon") == {LANDING}
    assert listed("--project", "") == {"33333333-home"}
    assert listed("--all") == {FLIGHT, LANDING, "33333333-home"}
    assert len(listed("--all", "--limit", "2")) == 2
    assert listed("--project", "nowhere") == set()
    assert "sessions list --all" in cli("sessions", "list", "--project", "nowhere").out
    assert cli("sessions", "list", "--all", "--project", "moon").code == 2
    assert "[moon]" in cli("sessions", "list", "--all").out


def test_outside_any_project_it_lists_all(
    tmp_path: Path, home: Path, rocket: Path, ws: Workspace, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(ws, tmp_path, rocket, FLIGHT)
    monkeypatch.chdir(home)
    assert [one["session"] for one in cli("sessions", "--json").json] == [FLIGHT]


def test_another_name_of_the_project_counts(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli) -> None:
    old = tmp_path / "sputnik"
    old.mkdir()
    recorded(ws, tmp_path, old, FLIGHT)
    ws.close()
    assert cli("projects", "alias", "sputnik", "rocket").code == 0
    assert [one["session"] for one in cli("sessions", "--json").json] == [FLIGHT]


def test_the_one_that_goes_on_stands_first(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli) -> None:
    recorded(ws, tmp_path, rocket, FLIGHT)
    recorded(ws, tmp_path, rocket, LANDING, turns=2)
    assert [one["session"] for one in cli("sessions", "--json").json] == [LANDING, FLIGHT]
    recorded(ws, tmp_path, rocket, FLIGHT, turns=0)
    goes_on = Transcript(tmp_path / "transcripts", FLIGHT, str(rocket))
    goes_on._seconds = 3600
    goes_on.turn()
    recording.record(ws, goes_on.path)
    assert [one["session"] for one in cli("sessions", "--json").json] == [FLIGHT, LANDING]
    assert "no end recorded" in cli("sessions").out.splitlines()[0]


def test_observations_and_imported_prompts_are_shown(rocket: Path, ws: Workspace, cli: Cli) -> None:
    where = {"session": "imported-1", "project": "rocket"}
    with ws.journal.writing(ws.store("memory")) as writer:
        at = clock.wall()
        writer.append(
            "session.started", ids.derived_entity("session", "imported-1"), wall=at, title="Old work", **where
        )
        writer.append("prompt.submitted", wall=at, text="what was asked then", **where)
        seen = writer.append("observation.recorded", wall=at, type="bugfix", title="The tank leaked", **where)
    ws.refreshed("memory")
    text = cli("sessions", "show", "imported-1").out
    assert text.startswith("Old work\n")
    assert "what was asked then" in text
    assert "bugfix  The tank leaked" in text
    (observation,) = cli("sessions", "show", "imported-1", "--json").json["observations"]
    assert observation["id"] == seen.entity.partition("/")[2]
    assert cli("memory", "show", observation["short"]).code == 0
    (one,) = cli("sessions", "--json").json
    assert (one["turns"], one["request"], one["ended"]) == (0, "what was asked then", None)


def test_a_deleted_session_says_so(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli) -> None:
    recorded(ws, tmp_path, rocket, FLIGHT)
    entity = ids.derived_entity("session", FLIGHT)
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append("session.deleted", entity)
    ws.refreshed("memory")
    assert cli("sessions", "--json").json == []
    gone = cli("sessions", "show", entity)
    assert gone.code == 1
    assert "was deleted" in gone.err


def test_stored_text_does_not_act_on_the_terminal(rocket: Path, ws: Workspace, cli: Cli) -> None:
    where = {"session": "s" * 30, "project": "rocket", "branch": "x\x1b[2Jy"}
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append("session.started", ids.derived_entity("session", where["session"]), title="\x1b[31mred", **where)
        writer.append("turn.recorded", request="a\x1b[2Jb", answer="c\x07d", failures=["e\x1bf"], **where)
    ws.refreshed("memory")
    for command in (("sessions",), ("sessions", "show", "sssss"), ("context",)):
        out = cli(*command).out
        assert "\x1b" not in out
        assert "\x07" not in out


@pytest.mark.parametrize("turns", [1, 60])
def test_numbers_are_those_of_the_records(rocket: Path, tmp_path: Path, ws: Workspace, cli: Cli, turns: int) -> None:
    recorded(ws, tmp_path, rocket, FLIGHT, turns=turns)
    shutil.rmtree(tmp_path / "transcripts")
    data = cli("sessions", "show", FLIGHT, "--json").json
    assert data["turn_count"] == len(data["turns"]) == turns
    told: dict[str, int] = {}
    for turn in data["turns"]:
        for name, count in turn["tokens"].items():
            told[name] = told.get(name, 0) + count
    assert data["tokens"] == told
    assert [turn["created_at"] for turn in data["turns"]] == sorted(turn["created_at"] for turn in data["turns"])
