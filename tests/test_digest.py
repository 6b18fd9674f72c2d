"""digest: one line per store and a total, the same wherever the same is known, and nothing of one machine in it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from two_machines import Machine, exchange

from mait_code.projections.digest import total
from mait_code.projections.stores import NAMES

if TYPE_CHECKING:
    pass


def test_form(desk: Machine) -> None:
    rows = desk.ok("digest").out.splitlines()
    assert [row.split()[0] for row in rows] == [*NAMES, "total"]
    assert all(re.fullmatch(r"[a-z]+ +[0-9a-f]{64}", row) for row in rows)
    found = desk.json("digest")
    assert list(found) == [*NAMES, "total"]
    assert found["total"] == total((name, found[name]) for name in NAMES)


def test_what_it_is_for_ever(desk: Machine) -> None:
    """Two machines compare digests of different releases: the bytes that go in may not change unnoticed."""
    assert desk.json("digest")["board"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert total([("b", "2"), ("a", "1")]) == total([("a", "1"), ("b", "2")])
    assert total([("a", "1")]) == "6a03830a1811a4a0f43d6bf891c9461728aa0f1b49f389fcdc8b36e67e6560c2"


def test_changes_with_what_is_known(desk: Machine) -> None:
    seen = {desk.digest()}
    for words in (
        ["board", "add", "one"], ["board", "tag", "1", "x"], ["board", "untag", "1", "x"], ["board", "remove", "1"],
        ["inbox", "add", "a"], ["reminders", "set", "in 2 weeks", "b"], ["init", "--label", "den"],
    ):  # fmt: skip
        desk.ok(*words)
        seen.add(desk.digest())
    assert len(seen) == 8


def test_the_same_on_both(desk: Machine, lap: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.ok("board", "add", "one")
    desk.ok("reminders", "set", "every monday 9am", "bins")
    lap.ok("inbox", "add", "two")
    lap.ok("reminders", "set", "tomorrow", "three")
    assert desk.digest() != lap.digest()
    exchange(desk, lap)
    before = desk.digest()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "C")
    assert lap.digest() == before
    for name in os.listdir(lap.home.state):
        if ".db" in name:
            os.unlink(lap.home.in_state(name))
    assert lap.digest() == before
