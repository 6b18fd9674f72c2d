"""log: events as they happened, and as they arrive."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from two_machines import Machine, exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def test_empty(desk: Machine) -> None:
    done = desk.ok("log")
    assert done.out == ""
    assert "nothing has happened here yet" in done.err
    assert desk.json("log") == []


def test_text(desk: Machine) -> None:
    card = desk.json("board", "add", "one\x1b[31m", "--description", "x" * 500)["short"]
    desk.ok("board", "block", "1", "waits\nfor someone")
    item = desk.json("inbox", "add", "a thought")["short"]
    desk.ok("undo")
    rows = desk.ok("log").out.splitlines()
    assert len(rows) == 5
    events = desk.json("log")
    for row, event in zip(rows, events, strict=True):
        assert row.startswith(event["tx"][:8] + "  ")
        assert event["kind"] in row
        assert " UTC  me on " in row
        assert len(row) < 400
    assert f"card {card}" in rows[0]
    assert "\\x1b[31m" in rows[0]
    assert rows[1][:8] == rows[2][:8], "one action, one id"
    assert "Blocked: waits for someone" in rows[2]
    assert f"inbox {item}" in rows[3]
    assert f"takes back {events[3]['tx'][:8]}" in rows[4]


def test_limit_takes_the_newest_and_prints_them_in_order(desk: Machine) -> None:
    for number in range(60):
        desk.ok("inbox", "add", f"thought {number}")
    assert [one["data"]["body"] for one in desk.json("log", "-n", "3")] == ["thought 57", "thought 58", "thought 59"]
    assert len(desk.json("log")) == 50
    assert len(desk.json("log", "--limit", "1000")) == 60
    for wrong in ("0", "-1", "x", "99999999"):
        assert desk("log", "--limit", wrong).code == 2


def test_an_event_that_stands_in_two_files_is_shown_once(desk: Machine) -> None:
    desk.ok("inbox", "add", "one")
    desk.put("abcdefgh/000001.jsonl", desk.files()[desk.segment()])
    assert len(desk.json("log")) == 1
    assert len(desk.ok("log").out.splitlines()) == 1


def test_two_machines_are_told_apart(desk: Machine, lap: Machine) -> None:
    desk.ok("init", "--label", "the desk")
    lap.ok("init", "--label", "the laptop")
    desk.ok("inbox", "add", "one")
    lap.ok("inbox", "add", "two")
    exchange(desk, lap)
    assert [one["machine"] for one in desk.json("log") if one["kind"] == "inbox.captured"] == ["the desk", "the laptop"]
    assert "me on the laptop" in desk.ok("log").out


def test_a_closed_pipe_ends_it_quietly(desk: Machine) -> None:
    for number in range(20):
        desk.ok("inbox", "add", f"thought {number} " + "z" * 5000)
    command = f"{sys.executable} -m mait_code.commands.cli.main log --json | head -c 10"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, env={**os.environ, **desk.environment}, timeout=60
    )
    assert done.stderr == b""


# -- following --------------------------------------------------------------------------------------------------------


class Following:
    """A `log --follow` of its own process."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        command = [sys.executable, "-m", "mait_code.commands.cli.main", "log", "--follow", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **machine.environment}
        )
        self._waiting = b""

    def line(self, seconds: float = 20) -> str:
        """The next line it prints."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._waiting:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"nothing more than {self._waiting!r} in {seconds} s"
            piece = os.read(self.process.stdout.fileno(), 65536)
            assert piece, "it ended"
            self._waiting += piece
        line, _, self._waiting = self._waiting.partition(b"\n")
        return line.decode()

    def interrupt(self) -> tuple[int, str]:
        """Ctrl-C: its exit code and what it said on stderr."""
        self.process.send_signal(signal.SIGINT)
        _out, said = self.process.communicate(timeout=20)
        return self.process.returncode, said.decode()


@pytest.fixture
def following() -> Iterator[Callable[..., Following]]:
    started: list[Following] = []

    def start(machine: Machine, *arguments: str) -> Following:
        started.append(Following(machine, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate(timeout=20)


def test_follow(desk: Machine, lap: Machine, following: Callable[..., Following]) -> None:
    desk.ok("inbox", "add", "before")
    lap.ok("inbox", "add", "on the laptop")
    log = following(desk, "-n", "1")
    assert "body before" in log.line()
    desk.ok("inbox", "add", "after")
    assert "body after" in log.line()
    lap.send_to(desk)  # a directory that is new
    assert "body on the laptop" in log.line()
    desk.ok("board", "add", "a card")
    assert "card.created  card 1" in log.line()
    code, said = log.interrupt()
    assert code in (0, 130)
    assert "Traceback" not in said


def test_follow_as_json(desk: Machine, following: Callable[..., Following]) -> None:
    """An object a line, and the one that came between the list and the watching is not missed."""
    log = following(desk, "--json")
    for number in range(3):
        desk.ok("inbox", "add", f"thought {number}")
    assert [json.loads(log.line())["data"]["body"] for _ in range(3)] == [f"thought {number}" for number in range(3)]
    assert log.interrupt()[0] in (0, 130)


def test_follow_before_anything_exists(lap: Machine, following: Callable[..., Following]) -> None:
    log = following(lap)
    time.sleep(0.5)
    lap.ok("inbox", "add", "the first")
    assert "body the first" in log.line()
    code, said = log.interrupt()
    assert code in (0, 130)
    assert "Traceback" not in said


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.1, 0.4])
def test_interrupted_soon(desk: Machine, following: Callable[..., Following], pause: float) -> None:
    """Ctrl-C while it is about to watch, or watching, ends without a traceback."""
    desk.ok("inbox", "add", "one")
    log = following(desk)
    log.line()
    time.sleep(pause)
    code, said = log.interrupt()
    assert code in (0, 130), said
    assert "Traceback" not in said
