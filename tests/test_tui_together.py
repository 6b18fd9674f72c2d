"""Two screens at real terminals and three writers, all at once on one machine: nothing of anybody's is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from terminal import Terminal

from mait_code.commands import board
from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from mait_code.projections.board_queries import Card

WRITERS, EACH, BY_HAND = 3, 12, 5
#: What a writer does: cards of its own, and words about one that all know.
WRITER = """
import sys
from mait_code.commands import board, board_edits
from mait_code.commands.workspace import Workspace
name, entity, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    with Workspace.open() as ws:
        card = board.add(ws, f"{name} {number}", project="")
        board_edits.tag(ws, card.entity, name)
        board_edits.comment(ws, entity, f"{name} {number}", "me")
"""


def cards() -> dict[str, Card]:
    """Every card by its title, as another process sees them."""
    with Workspace.open() as ws:
        return {card.title: card for card in board.listing(ws.board, board.Scope(every=True), comments=True)}


def until(true: Callable[[], object], screens: list[Terminal], what: str, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        for screen in screens:
            screen.look(0.02)
        assert time.monotonic() < end, (what, [screen.out[-3000:] for screen in screens])


@pytest.mark.slow
def test_two_screens_and_three_writers(home: Path, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        shared = board.add(ws, "Carried from column to column", project="").entity
    one, other = Terminal("board", size=(120, 40)), Terminal("board", size=(80, 24))
    screens = [one, other]
    for screen in screens:
        screen.until(b"Carried from")
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, f"writer-{number}", shared, str(EACH)]) for number in range(WRITERS)]
    other.write(b"/carried\r")
    for number, column in enumerate(("refined", "in_progress", "in_review", "done"), 1):
        one.write(b"n" + f"By hand {number}".encode() + b"\x13")
        other.write(b">")
        until(lambda title=f"By hand {number}": title in cards(), screens, "the first screen wrote no card")  # type: ignore[misc]
        wanted = ("in_progress", "done") if column == "in_review" else (column,)
        until(
            lambda wanted=wanted: cards()["Carried from column to column"].status in wanted,  # type: ignore[misc]
            screens,
            f"the second screen did not move its card to {column}",
        )
    one.write(f"nBy hand {BY_HAND}".encode() + b"\x13")
    until(lambda: f"By hand {BY_HAND}" in cards(), screens, "the first screen wrote no card")
    until(lambda: all(writer.poll() is not None for writer in writers), screens, "the writers do not end", 60)
    assert [writer.returncode for writer in writers] == [0] * WRITERS
    for screen in screens:
        screen.write(b"\x11")  # Ctrl+Q
        assert screen.end() == 0
        assert b"Traceback" not in screen.out

    found = cards()
    names = [f"writer-{number}" for number in range(WRITERS)]
    assert sorted(found) == sorted(
        ["Carried from column to column"]
        + [f"{name} {number}" for name in names for number in range(EACH)]
        + [f"By hand {number}" for number in range(1, BY_HAND + 1)]
    )
    assert all(found[f"{name} {number}"].tags == [name] for name in names for number in range(EACH))
    said = [comment.body for comment in found["Carried from column to column"].comments or []]
    assert sorted(said) == sorted(f"{name} {number}" for name in names for number in range(EACH))
    assert found["Carried from column to column"].status == "done"
    assert not found["Carried from column to column"].conflicts
    assert program("verify").code == 0
    assert program("rebuild", "board", "--check").code == 0
