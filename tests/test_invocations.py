"""The invocation log: what a line holds, what it never holds, rotation, and that it fails no command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from mait_code.commands import invocations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def log(home: Path) -> Path:
    """Where the log is written."""
    return home / "state/mait-code/logs/invocations.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]


def day(offset: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() + offset * 86400))


def test_one_line_for_each_command(cli: Callable[..., Any], log: Path) -> None:
    cli("settings", "list", "--json")
    cli("settings", "set", "git-timeout", "0")
    cli("settings", "get", "nothing")
    cli("settings", "--help")
    cli()
    found = lines(log)
    assert [(one["command"], one["outcome"], one["exit"], one["error"], one["level"]) for one in found[:4]] == [
        ("settings list", "ok", 0, "", "INFO"),
        ("settings set", "usage", 2, "BadInput", "WARNING"),
        ("settings get", "failed", 1, "NotFound", "WARNING"),
        ("settings", "ok", 0, "", "INFO"),
    ]
    assert found[4]["command"] == ""
    for one in found:
        assert list(one) == ["ts", "level", "command", "duration_ms", "outcome", "exit", "error", "pid"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one["ts"])
        assert one["pid"] == os.getpid()
        assert 0 < one["duration_ms"] < 60_000


def test_program_that_is_a_group_logs_the_whole_command(home: Path, log: Path) -> None:
    script = "import sys; from mait_code.commands.cli.main import board; sys.exit(board())"
    subprocess.run([sys.executable, "-c", script, "move", "--help"], capture_output=True, check=True, timeout=60)
    assert [one["command"] for one in lines(log)] == ["board move"]


SECRET = "xyzzy-plugh"


@pytest.mark.parametrize(
    "arguments",
    [
        ["settings", "set", "env.NAME", SECRET],
        ["settings", "get", SECRET],
        ["settings", SECRET],
        [SECRET],
        ["--data-dir", f"/{SECRET}", "settings"],
        ["--as", SECRET],
        [f"--{SECRET}"],
        ["board", SECRET],
        ["board", "add", SECRET],
        ["inbox", "add", SECRET, f"--{SECRET}"],
    ],
)
def test_nothing_that_was_typed_is_logged(cli: Callable[..., Any], home: Path, arguments: list[str]) -> None:
    cli(*arguments)
    written = [path for path in (home / "state/mait-code/logs").rglob("*") if path.is_file()]
    assert written
    assert [path.name for path in written if SECRET in path.read_text(encoding="utf-8")] == []


def test_log_is_private(cli: Callable[..., Any], log: Path) -> None:
    cli("version")
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("level", "kept"),
    [
        ("DEBUG", ["ok", "failed", "disk"]),
        ("INFO", ["ok", "failed", "disk"]),
        ("WARNING", ["failed", "disk"]),
        ("ERROR", ["disk"]),
    ],
)
def test_level(log: Path, monkeypatch: pytest.MonkeyPatch, level: str, kept: list[str]) -> None:
    monkeypatch.setenv("MAIT_CODE_LOG_LEVEL", level)
    for outcome, code in (("ok", 0), ("failed", 1), ("disk", 74)):
        invocations.record("x", 0.001, outcome, code)
    assert [one["outcome"] for one in lines(log)] == kept


def test_log_file_can_be_elsewhere(
    cli: Callable[..., Any], home: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIT_CODE_LOG_FILE", str(home / "deep/er/my.log"))
    cli("version")
    assert [one["command"] for one in lines(home / "deep/er/my.log")] == ["version"]
    assert not log.exists()


@pytest.mark.parametrize("place", ["file in the way", "directory", "pipe", "full"])
def test_log_that_cannot_be_written_fails_nothing(
    cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    target = home / "logs/log"
    if place == "file in the way":
        (home / "logs").write_text("")
    elif place == "directory":
        target.mkdir(parents=True)
    elif place == "pipe":
        target.parent.mkdir()
        os.mkfifo(target)
    elif not os.path.exists("/dev/full"):
        pytest.skip("only Linux has a device that is always full")
    else:
        target.parent.mkdir()
        target.symlink_to("/dev/full")
    monkeypatch.setenv("MAIT_CODE_LOG_FILE", str(target))
    answer = cli("version")
    assert (answer.code, answer.err) == (0, "")


# -- rotation


def begin(log: Path, when: str, rows: int = 1) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f'{{"ts":"{when}T10:00:00.000Z","command":"old"}}\n' * rows)


def test_log_of_another_day_is_put_aside(log: Path) -> None:
    begin(log, day(-1))
    invocations.record("new", 0.001, "ok", 0)
    assert [one["command"] for one in lines(log)] == ["new"]
    assert [one["command"] for one in lines(log.with_name(f"{log.name}.{day(-1)}"))] == ["old"]
    invocations.record("newer", 0.001, "ok", 0)
    assert [one["command"] for one in lines(log)] == ["new", "newer"]
    assert len(list(log.parent.iterdir())) == 2


def test_clock_that_went_back_overwrites_nothing(log: Path) -> None:
    begin(log.with_name(f"{log.name}.{day(1)}"), day(1), rows=3)
    begin(log, day(1))
    invocations.record("new", 0.001, "ok", 0)
    assert [one["command"] for one in lines(log)] == ["new"]
    assert sorted(len(lines(path)) for path in log.parent.iterdir()) == [1, 1, 3]


def test_old_logs_and_tracebacks_go(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_LOG_BACKUP_COUNT", "3")
    begin(log, day(-1))
    names = [f"{log.name}.{day(-2)}", f"{log.name}.{day(-3)}", f"{log.name}.{day(-4)}", f"{log.name}.{day(-90)}.2"]
    names += [f"traceback-{day(-2)}T101010Z-1.txt", f"traceback-{day(-9)}T101010Z-1.txt"]
    mine = ["notes.txt", f"{log.name}.backup", f"other.{day(-90)}", "traceback-of-mine.txt"]
    for name in [*names, *mine]:
        (log.parent / name).write_text("")
    invocations.record("new", 0.001, "ok", 0)
    left = {path.name for path in log.parent.iterdir()}
    assert left == {log.name, f"{log.name}.{day(-1)}", names[0], names[1], names[4], *mine}


def test_file_that_is_no_log_of_ours_is_added_to(log: Path) -> None:
    log.parent.mkdir(parents=True)
    log.write_text("something else\n")
    invocations.record("new", 0.001, "ok", 0)
    assert log.read_text().startswith("something else\n{")


@pytest.mark.slow
def test_many_processes_over_midnight(home: Path, log: Path) -> None:
    """Every line is there once and whole, in the log of today or in the one that was put aside."""
    begin(log, day(-1))
    script = (
        "import sys\nfrom mait_code.commands import invocations\nsys.stdin.readline()\n"
        "for n in range(200): invocations.record(f'w{sys.argv[1]}-{n}', 0.001, 'ok', 0)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(number)], stdin=subprocess.PIPE) for number in range(12)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.close()
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 12
    files = sorted(log.parent.iterdir())
    assert [path.name for path in files] == [log.name, f"{log.name}.{day(-1)}"]
    written = [one["command"] for path in files for one in lines(path)]
    assert sorted(written) == sorted(["old", *(f"w{number}-{n}" for number in range(12) for n in range(200))])
