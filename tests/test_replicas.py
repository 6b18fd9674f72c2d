"""replicas: who wrote here, which of them this machine is, and whose clock is wrong."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from two_machines import Machine, exchange

from mait_code.journal import clock

if TYPE_CHECKING:
    pass

YEAR = 365 * 86400 * clock.SECOND


def test_nobody(desk: Machine) -> None:
    assert desk.json("replicas") == []
    assert "No machine has written here yet" in desk.ok("replicas").out


def test_two(desk: Machine, lap: Machine) -> None:
    desk.ok("init", "--label", "the desk")
    lap.ok("init", "--label", "the laptop")
    desk.ok("board", "add", "one")
    lap.ok("board", "add", "two")
    lap.ok("board", "add", "three")
    exchange(desk, lap)
    found = {one["label"]: one for one in desk.json("replicas")}
    assert set(found) == {"the desk", "the laptop"}
    assert set(found["the desk"]) == {
        "replica", "label", "this_machine", "events", "first", "last", "created", "forked_from", "adopted_from",
        "clock_ahead_seconds", "stays",
    }  # fmt: skip
    assert [found[name]["events"] for name in ("the desk", "the laptop")] == [1, 2]
    assert [found[name]["this_machine"] for name in ("the desk", "the laptop")] == [True, False]
    assert found["the laptop"]["first"] <= found["the laptop"]["last"]
    text = desk.ok("replicas").out
    assert "the desk  (this machine)  1 event," in text
    assert "the laptop  2 events," in text


def test_a_copied_machine_says_what_it_continues(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    for part in ("data", "state"):
        shutil.copytree(desk.folder / part, lap.folder / part)
    was = desk.replica
    # The state directory's name is that of the data's path, so the copy is given the name it looks for.
    states = lap.folder / "state" / "mait-code"
    (states / os.path.basename(desk.home.state)).rename(lap.home.state)
    lap.ok("board", "add", "two")
    (new,) = [one for one in lap.json("replicas") if one["this_machine"]]
    assert new["replica"] != was
    assert new["forked_from"] == was
    assert f"continues {was}" in lap.ok("replicas").out


def test_adopted_lines(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    content = desk.files()[desk.segment()]
    lap.ok("inbox", "add", "here")
    lap.put("000001 2.jsonl", content)
    lap.ok("doctor", "--fix")
    adopted = [one for one in lap.json("replicas") if one["adopted_from"]]
    assert [one["adopted_from"] for one in adopted] == [[desk.replica]]
    assert "adopted lines" in lap.ok("replicas").out


def test_a_clock_that_runs_ahead_is_named(desk: Machine, lap: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock.wall
    with monkeypatch.context() as patch:
        patch.setattr(clock, "wall", lambda: real() + YEAR)
        lap.ok("init", "--label", "the future")
        lap.ok("board", "add", "one")
    exchange(desk, lap)
    desk.ok("board", "add", "here")
    found = {one["label"]: one["clock_ahead_seconds"] for one in desk.json("replicas")}
    assert found.pop("the future") == pytest.approx(YEAR / clock.SECOND, abs=120)
    assert set(found.values()) == {0}, "a machine that only saw those times has a right clock"
    assert "its clock runs" in desk.ok("replicas").out
