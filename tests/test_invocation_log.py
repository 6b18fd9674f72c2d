"""Reading the invocation log: whole lines, damaged ones, files put aside, tracebacks, and what the command prints."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from mait_code.commands import invocation_log, invocations
from mait_code.commands.invocation_log import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def log(home: Path) -> Path:
    """Where the log is written."""
    path = home / "state/mait-code/logs/invocations.jsonl"
    path.parent.mkdir(parents=True)
    return path


def line(ts: str, command: str = "board add", outcome: str = "ok", **more: Any) -> str:
    whole = {
        "ts": ts, "level": invocations.LEVELS[outcome], "command": command, "duration_ms": 12.5, "outcome": outcome,
        "exit": 0, "error": "", "pid": 42, **more,
    }  # fmt: skip
    return json.dumps(whole) + "\n"


def test_what_is_written_is_read(log: Path) -> None:
    invocations.record("board add", 0.0123, "ok", 0)
    invocations.record("board move", 1.5, "crashed", 1, "ZeroDivisionError")
    path = invocations.write_traceback(ValueError("never told"))
    newest, oldest = Reader().read()
    assert (oldest.command, oldest.level, oldest.outcome, oldest.code, oldest.error) == (
        "board add",
        "INFO",
        "ok",
        0,
        "",
    )
    assert (newest.command, newest.level, newest.error, newest.pid) == (
        "board move", "ERROR", "ZeroDivisionError", os.getpid(),
    )  # fmt: skip
    assert invocation_log.took(oldest) == "12 ms"
    assert invocation_log.took(newest) == "1.5 s"
    assert newest.traceback == os.path.basename(path)
    assert invocation_log.traceback_text(newest) == "ValueError\n"
    assert invocation_log.traceback_text(oldest) == ""
    os.unlink(path)
    assert invocation_log.traceback_text(newest) == ""


DAMAGED = (
    b"", b"no json", b"{", b"[]", b"null", b"\x00\xff\xfe", b'{"ts":5}', b'{"ts":"yesterday"}', b'{"ts":"9999-99-99"}',
    b'{"ts":"2026-03-02T09:00:00.000Z","level":7,"command":[],"duration_ms":"x","exit":true,"pid":-0.5,"error":{}}',
    b'{"ts":"0001-01-01T00:00:00Z"}', b"x" * 100_000, b'{"ts":"2026-03-02T09:00', b"\r", b"   ", b'{"a":' * 5000,
    b'{"ts":"2026-03-02T09:00:00Z","duration_ms":1e308}', b'{"ts":"2026-03-02T09:00:00Z","pid":99999999999999999}',
)  # fmt: skip


def test_damaged_lines_hide_no_others(log: Path) -> None:
    rows = [line("2026-03-01T09:00:00.000Z").encode(), *(row + b"\n" for row in DAMAGED)]
    log.write_bytes(b"".join(rows) + line("2026-03-02T10:00:00.000Z", "inbox add").encode())
    found = Reader().read()
    assert found[0].command == "inbox add"
    assert found[-1].command in ("board add", "")
    assert sum(one.command == "board add" for one in found) == 1
    unreadable = [one for one in found if one.raw]
    assert len(unreadable) == 12
    assert {one.day for one in unreadable} <= {"2026-03-01", "2026-03-02"}
    assert {one.level for one in unreadable} == {"WARNING"}
    for one in found:
        json.dumps(one.json())
        assert isinstance(one.words, str)
        assert isinstance(invocation_log.took(one), str)
    assert len({one.key for one in found}) == len(found)


def test_only_the_last_lines_of_a_file_are_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invocation_log, "LINES", 10)
    log.write_text("".join(line("2026-03-01T09:00:00.000Z", f"c{number}") for number in range(25)))
    assert [one.command for one in Reader().read()] == [f"c{number}" for number in range(24, 14, -1)]
    monkeypatch.setattr(invocation_log, "_BYTES", 400)
    found = Reader().read()
    assert [one.command for one in found] == ["c24", "c23"], "and none of them is half a line"
    log.write_bytes(b"x" * 5000)
    assert Reader().read() == [], "no line begins in what is read"


def test_files_put_aside_and_tracebacks_of_nobody(log: Path) -> None:
    log.write_text(line("2026-03-03T09:00:00.000Z", "today"))
    log.with_name(f"{log.name}.2026-03-02").write_text(line("2026-03-02T09:00:00.000Z", "before", "crashed"))
    log.with_name(f"{log.name}.2026-03-02.2").write_text(line("2026-03-02T10:00:00.000Z", "again"))
    log.with_name(f"{log.name}.backup").write_text(line("2026-03-02T11:00:00.000Z", "mine"))
    for name in (
        "traceback-2026-03-02T090001Z-42.txt", "traceback-2026-03-02T090000Z-43.txt", "traceback-of-mine.txt",
        "traceback-2026-03-02T150000Z-42.txt", "traceback-", "notes.txt",
    ):  # fmt: skip
        (log.parent / name).write_text("here\n")
    (log.parent / f"{log.name}.2026-03-01").mkdir()
    os.mkfifo(log.parent / f"{log.name}.2026-02-28")
    found = Reader().read()
    assert [(one.ts[:16], one.command, one.traceback[-16:]) for one in found] == [
        ("2026-03-03T09:00", "today", ""),
        ("2026-03-02T15:00", "", "2T150000Z-42.txt"),
        ("2026-03-02T10:00", "again", ""),
        ("2026-03-02T09:00", "", "2T090000Z-43.txt"),
        ("2026-03-02T09:00", "before", "2T090001Z-42.txt"),
    ]
    assert found[1].level == "ERROR"


def test_a_file_that_did_not_change_is_not_read_again(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.with_name(f"{log.name}.2026-03-02").write_text(line("2026-03-02T09:00:00.000Z", "before"))
    log.write_text(line("2026-03-03T09:00:00.000Z", "today"))
    reader = Reader()
    assert len(reader.read()) == 2
    read: list[str] = []
    records = invocation_log._records
    monkeypatch.setattr(
        invocation_log, "_records", lambda handle, size, name: read.append(name) or records(handle, size, name)
    )
    assert len(reader.read()) == 2
    assert read == []
    with log.open("a") as file:
        file.write(line("2026-03-03T10:00:00.000Z", "later"))
    assert [one.command for one in reader.read()] == ["later", "today", "before"]
    assert read == [log.name]


def test_no_log_at_all(home: Path) -> None:
    assert Reader().read() == []
    (home / "state/mait-code").mkdir(parents=True)
    (home / "state/mait-code/logs").write_text("a file in the way")
    assert Reader().read() == []


# -- the command line


def test_command_line(cli: Callable[..., Any], log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_LOG_LEVEL", "ERROR")  # what is run here is not to be in it
    assert "nothing was logged here yet" in cli("logs").err
    log.write_text(
        line("2026-03-02T09:00:00.000Z")
        + line("2026-03-02T10:00:00.000Z", "board move", "failed", error="NotFound", exit=1, duration_ms=1500)
        + "\x1b[31mdamaged\n"
        + line("2026-03-03T10:00:00.000Z", "", "crashed", error="KeyError")
    )
    assert cli("logs").out == (
        "2026-03-02 09:00:00 UTC  ok  board add  12 ms\n"
        "2026-03-02 10:00:00 UTC  failed (NotFound)  board move  1.5 s\n"
        "2026-03-02 10:00:00 UTC  cannot be read  \\x1b[31mdamaged\n"
        "2026-03-03 10:00:00 UTC  crashed (KeyError)  mait-code  12 ms\n"
    )
    everything = cli("logs", "--json").json
    assert [one["unreadable"] for one in everything] == [None, None, "\x1b[31mdamaged", None]
    assert set(everything[0]) == {
        "ts", "level", "command", "duration_ms", "outcome", "exit", "error", "pid", "traceback", "unreadable",
    }  # fmt: skip

    def found(*arguments: str) -> list[str]:
        return [one["command"] for one in cli("logs", "list", "--json", *arguments).json]

    assert found("-n", "1") == [""]
    assert found("--level", "error") == [""]
    assert found("--level", "WARNING") == ["board move", "", ""]
    assert found("--command", "board add") == ["board add"]
    assert found("--day", "2026-03-03") == [""]
    assert found("--words", "MOVE notfound") == ["board move"]
    assert "no line of the log is like that" in cli("logs", "list", "--words", "zebra").err
