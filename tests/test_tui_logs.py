"""The logs' screen: every key, the live tail, what is damaged, and how it looks."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import monkeys
import pytest
from screens import SIZES, Hand, compare, opened, run
from textual.widgets import Static

from mait_code.commands import invocation_log, invocations
from mait_code.tui.dialogs import Pick
from mait_code.tui.logs import LogsRoom
from mait_code.tui.outline_room import Pane

if TYPE_CHECKING:
    from pathlib import Path

RUNS = (
    ("2026-02-28T17:02:11.400Z", "inbox add", 8.1, "ok", ""),
    ("2026-03-01T08:00:05.120Z", "hook session-start", 93.0, "ok", ""),
    ("2026-03-01T08:00:41.020Z", "board next", 21.4, "failed", "NotFound"),
    ("2026-03-01T08:13:09.800Z", "sync", 2412.7, "failed", "Unreachable"),
    ("2026-03-01T21:45:00.000Z", "memory store", 31.9, "disk", "DiskRefused"),
    ("2026-03-02T07:30:12.010Z", "hook session-start", 88.2, "ok", ""),
    ("2026-03-02T07:31:00.500Z", "board list", 14.0, "ok", ""),
    ("2026-03-02T07:35:47.250Z", "memory search", 402.3, "crashed", "ZeroDivisionError"),
    ("2026-03-02T07:36:02.000Z", "memory search", 398.0, "ok", ""),
    ("2026-03-02T07:40:59.999Z", "board move", 17.5, "usage", "BadInput"),
    ("2026-03-02T08:59:30.000Z", "", 912.0, "interrupted", ""),
)
TRACE = """  File "commands/memory_search.py", line 120, in search
    found = score(hits)
  File "commands/memory_search.py", line 166, in score
    return total / count
ZeroDivisionError
"""


def line(ts: str, command: str, took: float, outcome: str, error: str = "", pid: int = 4711) -> str:
    whole = {
        "ts": ts, "level": invocations.LEVELS[outcome], "command": command, "duration_ms": took, "outcome": outcome,
        "exit": 0 if outcome == "ok" else 1, "error": error, "pid": pid,
    }  # fmt: skip
    return json.dumps(whole) + "\n"


@pytest.fixture
def log(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three days of work, a traceback, and a line that is damaged."""
    monkeypatch.chdir(home)
    path = home / "state/mait-code/logs/invocations.jsonl"
    path.parent.mkdir(parents=True)
    for day in ("2026-02-28", "2026-03-01"):
        path.with_name(f"{path.name}.{day}").write_text("".join(line(*one) for one in RUNS if one[0].startswith(day)))
    today = [line(*one) for one in RUNS if one[0].startswith("2026-03-02")]
    today.insert(3, '{"ts":"2026-03-02T07:35:5 \x1b[31m\u202ehalf a line\n')
    path.write_text("".join(today))
    (path.parent / "traceback-2026-03-02T073547Z-4711.txt").write_text(TRACE)
    return path


def room(hand: Hand) -> LogsRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, LogsRoom)
    return found


def rows(hand: Hand) -> list[str]:
    """The words of the days, and the commands."""
    found = room(hand).rows
    shown = []
    for key in found.keys:
        item: Any = found.items[key]
        shown.append(item.words if hasattr(item, "depth") else item.raw[:9] or item.command)
    return shown


def pane(hand: Hand) -> str:
    """The text of the pane."""
    return str(room(hand).query_one("#pane-plain", Static).content)


ALL = [
    "Mon 2 Mar 2026", "", "board move", "memory search", '{"ts":"20', "memory search", "board list", "hook session-start",
    "Sun 1 Mar 2026", "memory store", "sync", "board next", "hook session-start", "Sat 28 Feb 2026", "inbox add",
]  # fmt: skip


# -- reading


def test_days_and_records(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            assert rows(hand) == ALL
            assert room(hand).rows.cursor == 1
            assert "12 lines, 2 faults" in hand.text
            assert "interrupted" in pane(hand)
            await hand.press("j", "j", "j", "j")
            assert pane(hand).startswith("crashed  ZeroDivisionError")
            assert TRACE.rstrip() in pane(hand)
            assert "402 ms" in pane(hand)
            await hand.press("k")
            assert "cannot be read" in pane(hand)
            assert "\\x1b[31m\\u202ehalf a line" in pane(hand)
            await hand.press("g")
            assert "7 lines" in pane(hand)
            assert "2 failed  1 fault" in pane(hand)
            assert "2  memory search" in pane(hand)
            await hand.press("left")
            assert rows(hand)[:2] == ["Mon 2 Mar 2026", "Sun 1 Mar 2026"]
            await hand.press("space", "2")
            assert isinstance(hand.house.screen.focused, Pane)
            await hand.press("G", "g", "j", "k", "1", "j", "enter")
            assert isinstance(hand.house.screen.focused, Pane), "Enter goes into the text"
            await hand.press("escape")
            assert hand.house.screen.focused is room(hand).rows

    run(go())


def test_a_traceback_that_is_gone(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            (log.parent / "traceback-2026-03-02T073547Z-4711.txt").unlink()
            await hand.press("j", "j", "j", "j")
            assert pane(hand).startswith("crashed  ZeroDivisionError")
            assert TRACE.rstrip() not in pane(hand)

    run(go())


# -- choosing


def test_level(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            await hand.press("l")
            assert rows(hand) == [
                "Mon 2 Mar 2026", "board move", '{"ts":"20', "memory search", "Sun 1 Mar 2026", "memory store", "sync",
                "board next",
            ]  # fmt: skip
            assert "what failed" in hand.text
            await hand.press("l")
            assert rows(hand) == ["Mon 2 Mar 2026", "memory search", "Sun 1 Mar 2026", "memory store"]
            assert "faults" in hand.text
            await hand.press("2", "l")
            assert rows(hand) == ALL, "in the text it is the same key"

    run(go())


async def pick(hand: Hand, key: str, words: str) -> None:
    await hand.press(key)
    assert isinstance(hand.house.screen, Pick)
    await hand.type(words)
    await hand.press("enter")


def test_command_day_and_words(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            await pick(hand, "t", "session-start")
            assert rows(hand)[1::2] == ["hook session-start", "hook session-start"]
            await pick(hand, "d", "1 Mar")
            assert rows(hand) == ["Sun 1 Mar 2026", "hook session-start"]
            assert "hook session-start, Sun 1 Mar 2026" in hand.text
            await hand.press("l")
            assert rows(hand) == []
            assert "l, t and d show other levels" in hand.text
            await hand.press("l", "l")
            await pick(hand, "t", "all")
            assert len(rows(hand)) == 5
            await pick(hand, "d", "all")
            assert rows(hand) == ALL
            await hand.press("slash")
            await hand.type("SEARCH crashed")
            await hand.press("enter")
            assert rows(hand) == ["Mon 2 Mar 2026", "memory search"]
            await hand.press("slash")
            await hand.type(" zebra")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            assert rows(hand) == ALL
            await pick(hand, "t", "without")
            assert rows(hand) == ["Mon 2 Mar 2026", "", '{"ts":"20']

    run(go())


# -- live, and long


def test_live_tail(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            found = room(hand)
            await hand.until(lambda: found._watcher is not None and found._watcher.watching)
            await hand.press("j")
            key = found.rows.key
            with log.open("a") as file:
                file.write(line("2026-03-02T09:10:00.000Z", "just now", 1, "ok")[:30])
                file.flush()
            await hand.until(lambda: len(rows(hand)) == len(ALL) + 1, 1.0)
            with log.open("a") as file:
                file.write(line("2026-03-02T09:10:00.000Z", "just now", 1, "ok")[30:])
            await hand.until(lambda: rows(hand)[1] == "just now", 1.0)
            assert found.rows.key == key, "the cursor stays"
            os.rename(log, log.with_name(f"{log.name}.2026-03-02"))
            log.write_text(line("2026-03-03T00:00:01.000Z", "another day", 1, "ok"))
            await hand.until(lambda: rows(hand)[:2] == ["Tue 3 Mar 2026", "another day"], 1.0)
            assert len(rows(hand)) == len(ALL) + 3

    run(go())


def test_while_another_room_is_in_front(log: Path) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            found = room(hand)
            await hand.until(lambda: found._watcher is not None and found._watcher.watching)
            other = LogsRoom()
            hand.house.push_screen(other)
            await hand.until(lambda: other._watcher is not None and other._watcher.watching)
            with log.open("a") as file:
                file.write(line("2026-03-02T09:10:00.000Z", "just now", 1, "ok"))
            await hand.until(lambda: found.stale)
            await hand.press("escape")
            await hand.until(lambda: rows(hand)[1] == "just now")

    run(go())


def test_no_day_has_more_than_500_rows(log: Path) -> None:
    with log.open("a") as file:
        for number in range(1500):
            file.write(line(f"2026-03-02T10:{number // 60:02d}:{number % 60:02d}.000Z", f"run {number}", 1, "ok"))

    async def go() -> None:
        async with opened(LogsRoom, (80, 24)) as hand:
            assert len(rows(hand)) == 500 + 3, "the other days are closed"
            assert "the last 500 of 1507" in hand.text
            assert rows(hand)[1] == "run 1499"
            await hand.press("slash")
            await hand.type("board")
            await hand.press("enter")
            assert "board list" in rows(hand), "what has no row is found"

    run(go())


# -- what is odd


def test_empty_and_the_first_line(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(LogsRoom, (80, 24)) as hand:
            assert "Nothing was logged yet" in hand.text
            for key in ("enter", "j", "G", "l", "1", "2", "space", "l", "l", "r"):
                hand.strike(key)
            await hand.press("t", "escape", "d", "escape")
            assert isinstance(hand.house.screen, LogsRoom)
            invocations.record("version", 0.001, "ok", 0)
            await hand.until(lambda: "version" in hand.text, 3.0)

    run(go())


def test_a_log_that_cannot_be_read_is_told_once(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: invocation_log.Reader) -> None:
        raise PermissionError(13, "Permission denied", "logs")

    async def go() -> None:
        async with opened(LogsRoom, (80, 24)) as hand:
            monkeypatch.setattr(invocation_log.Reader, "read", refused)
            await hand.press("r", "r")
            assert hand.said == ["logs: Permission denied"]
            assert rows(hand) == ALL

    run(go())


def test_hostile_lines(log: Path) -> None:
    odd = [
        "[/] [@click=app.exit]x[/]",
        "\x1b]0;t\x07",
        "a" * 5000,
        "\u202eevil",
        "\\",
        "日本語" * 60,
        "👩‍👩‍👧" * 40,
        "\n",
        "\udcff",
    ]
    with log.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for text in odd:
            file.write(line("2026-03-02T09:10:00.000Z", text, 1e300, "crashed", text))
            file.write(f"{text}\n")

    async def go() -> None:
        async with opened(LogsRoom, (80, 24)) as hand:
            for _ in range(len(odd)):
                hand.strike("j")
                await hand.press("j")
                assert "\x1b" not in hand.text
                assert "\u202e" not in hand.text
            await hand.press("t", "escape", "g")
            assert hand.house._exception is None

    run(go())


@pytest.mark.parametrize("key", ["q", "escape"])
def test_leaving(log: Path, key: str) -> None:
    async def go() -> None:
        async with opened(LogsRoom) as hand:
            hand.strike(key)
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go())


# -- how it looks


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_pictures(log: Path, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", f"mait-{theme}")

    async def go() -> None:
        async with opened(LogsRoom, SIZES[0]) as hand:
            await hand.press("j", "j", "j", "j")
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"logs-{width}x{height}-{theme}", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(log: Path, size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(LogsRoom, size) as hand:
            await hand.press(
                "j", "2", "j", "1", "l", "enter", "escape", "question_mark", "escape", "t", "escape", "d", "escape"
            )
            assert isinstance(hand.house.screen, LogsRoom)
            if size[0] >= 40:
                assert "Quit" in hand.text

    run(go())


def test_monkey(log: Path) -> None:
    monkeys.hammer("1 2 t d l h slash x", 80, LogsRoom)
