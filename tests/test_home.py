"""Home: bare `mait-code` tells how things stand, and what to do next where there is nothing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from test_startup import HEAVY, among, loaded
from two_machines import Machine, exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def overdue(machine: Machine, what: str) -> None:
    """A reminder whose time has come."""
    from mait_code.projections import stores

    reminders = stores.reminders(machine.home)
    with machine.journal().writing(reminders) as writer:
        writer.append("reminder.set", what=what, when={"due": "2020-01-02T09:00", "zone": "UTC"})
    reminders.close()


def test_nothing_yet(desk: Machine) -> None:
    rows = desk.ok().out.splitlines()
    assert [row.split()[0] for row in rows] == ["Board", "Reminders", "Inbox", "Memory"]
    for row, command in zip(rows, ("board add", "reminders set", "inbox add", "memory store"), strict=True):
        assert f"mait-code {command}" in row
    assert desk.json() == {
        "board": {
            "project": None,
            "counts": {"backlog": 0, "refined": 0, "in_progress": 0, "in_review": 0},
            "elsewhere": 0,
        },
        "reminders": {"overdue": [], "upcoming": 0},
        "inbox": {"waiting": 0},
        "memory": {"seen": 0, "due": 0},
        "conflicts": 0,
    }
    assert not os.path.exists(desk.home.data), "looking makes nothing"


def test_how_things_stand(desk: Machine) -> None:
    for title in ("one", "two", "three", "four"):
        desk.ok("board", "add", title)
    desk.ok("board", "move", "2", "in_progress")
    desk.ok("board", "move", "3", "done")
    desk.ok("board", "move", "4", "archived")
    desk.ok("inbox", "add", "a thought")
    done = desk.json("inbox", "add", "another")["short"]
    desk.ok("inbox", "done", done)
    overdue(desk, "call \x1b[31mback\nnow")
    desk.ok("reminders", "set", "2090-01-02", "later")
    desk.ok("reminders", "set", "every monday 9am", "bins")
    desk.ok("memory", "store", "the port is 5432", "--scope", "global")
    text = desk.ok().out
    assert "1 memory seen from here\n" in text
    assert "1 backlog, 1 in progress\n" in text
    assert "1 overdue, 2 upcoming\n" in text
    assert "call \\x1b[31mback\n" in text
    assert "1 waiting: mait-code inbox list" in text
    assert "Conflicts" not in text
    found = desk.json()
    assert found["board"]["counts"] == {"backlog": 1, "refined": 0, "in_progress": 1, "in_review": 0}
    assert [one["what"] for one in found["reminders"]["overdue"]] == ["call \x1b[31mback\nnow"]
    assert (found["reminders"]["upcoming"], found["inbox"]["waiting"], found["conflicts"]) == (2, 1, 0)


def test_many_overdue(desk: Machine) -> None:
    for number in range(8):
        overdue(desk, f"reminder {number}")
    rows = desk.ok().out.splitlines()
    assert sum("reminder " in row for row in rows) == 5
    assert "and 3 more: mait-code reminders list" in desk.ok().out


def test_the_project_of_this_directory(desk: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.ok("board", "add", "one", "--project", "acme/app")
    desk.ok("board", "add", "two", "--project", "acme/web")
    desk.ok("board", "add", "three", "--project", "acme/web")
    assert "3 backlog" in desk.ok().out
    work = tmp_path / "app"
    work.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    subprocess.run(["git", "-C", str(work), "remote", "add", "origin", "https://example.org/acme/app.git"], check=True)
    monkeypatch.setattr(desk, "enter", lambda: None)
    monkeypatch.chdir(work)
    assert "1 backlog  [acme/app], 2 in other projects" in desk.ok().out
    assert desk.json()["board"]["project"] == "acme/app"


def test_conflicts(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    exchange(desk, lap)
    desk.ok("board", "move", "1", "refined")
    lap.ok("board", "move", "1", "in_review")
    exchange(desk, lap)
    assert "1 open: mait-code conflicts" in desk.ok().out
    assert desk.json()["conflicts"] == 1


def test_it_is_cheap(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("inbox", "add", "two")
    desk.ok("reminders", "set", "2090-01-02", "three")
    desk.ok()
    modules, said = loaded(["mait-code"])
    assert said == ""
    assert among(modules, HEAVY | {"zoneinfo"}) == set()
    assert "mait_code.projections.log" not in modules, "the log of everything is not needed to count"


def test_on_a_terminal_and_in_any_locale(
    desk: Machine, terminal: Callable[..., str], program: Callable[..., Any]
) -> None:
    desk.ok("board", "add", "naïve café 漢字")
    overdue(desk, "naïve café 漢字 🎉")
    assert "\x1b[1mBoard" in terminal("--plain", env=desk.environment)
    assert "\x1b" not in terminal("home", "--plain", "--no-color", env=desk.environment)
    done = program(env={**desk.environment, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert done.code == 0
    assert "naïve café 漢字 🎉".encode() in done.out
