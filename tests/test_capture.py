"""Transcripts become evidence: once, whoever reads them, however often, whatever state they are in."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secret_samples import secrets
from transcripts import Transcript

from mait_code.commands.capture import beginnings, cursors, evidence, lines, recording, turns
from mait_code.commands.workspace import Workspace
from mait_code.journal.home import Home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Workspace(Home(str(tmp_path / "data"))) as opened:
        yield opened


def rows(ws: Workspace, table: str) -> list[dict[str, Any]]:
    store = ws.refreshed("memory")
    names = [row[1] for row in store.query(f"PRAGMA table_info({table})")]
    found = [
        dict(zip(names, row, strict=True)) for row in store.query(f"SELECT * FROM {table} ORDER BY created_at, rowid")
    ]
    for row in found:
        for name in ("commands", "failures", "files_read", "files_modified", "tokens"):
            if row.get(name):
                row[name] = json.loads(row[name])
    return found


def events(ws: Workspace) -> int:
    return int(ws.log.value("SELECT count(*) FROM lines"))


def test_a_turn_is_recorded_with_its_files_commands_and_failures(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.turn()
    assert recording.record(ws, written.path).turns == 1
    (turn,) = rows(ws, "turns")
    assert turn["request"] == "make the cart faster"
    assert turn["answer"] == "It is faster."
    assert turn["files_modified"] == ["src/a.py"]
    assert not turn["files_read"], "what was changed was read for that"
    assert turn["commands"] == [{"command": "pytest -q", "exit": 1}, {"command": "pytest -q", "exit": 0}]
    assert turn["failures"] == ["pytest -q: exit 1, 1 failed"]
    assert turn["tokens"] == {"input": 500, "output": 50}, "usage counts once a message"
    assert (turn["session_id"], turn["branch"], turn["created_at"]) == (
        written.session, "main", "2026-11-01T00:00:01.000000Z"
    )  # fmt: skip
    assert turn["duration_ms"] == 9000
    (prompt,) = rows(ws, "user_prompts")
    assert prompt["prompt_text"] == "make the cart faster"
    (summary,) = rows(ws, "session_summaries")
    assert summary["generated_by"] == "evidence"
    assert summary["completed"] == "1 file changed: src/a.py\n2 commands run, 1 failed\nIt is faster."
    assert summary["notes"] == "failed: pytest -q: exit 1, 1 failed"


def test_a_traceback_is_told_by_its_last_line(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.prompt("try the import")
    said = "Exit code 1\nTraceback (most recent call last):\n  File \"x\", line 1\nModuleNotFoundError: No module named 'y'\n"
    written.tool("Bash", {"command": "python x"}, said, error=True)
    written.answer("It is missing.")
    recording.record(ws, written.path)
    (turn,) = rows(ws, "turns")
    assert turn["failures"] == ["python x: exit 1, ModuleNotFoundError: No module named 'y'"]


def test_reading_again_adds_nothing_and_what_has_grown_is_amended(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.turn()
    recording.record(ws, written.path)
    before = events(ws)
    assert recording.record(ws, written.path).turns == 0
    os.unlink(cursors.file_of(ws.home, written.path))
    assert recording.record(ws, written.path).turns == 0, "a lost cursor costs time only"
    assert events(ws) == before
    written.tool("Write", {"file_path": "/home/user/project/b.py", "content": "y"}, "made")
    written.answer("And there is a file.")
    assert recording.record(ws, written.path).turns == 1
    (turn,) = rows(ws, "turns")
    assert turn["files_modified"] == ["src/a.py", "b.py"]
    assert turn["answer"] == "And there is a file."
    assert ws.refreshed("memory").conflicted() == []


def test_what_nobody_typed_is_no_prompt(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.turn("the first")
    written.prompt("<task-notification>agent done</task-notification>")
    written.prompt("a notification of the newest client", turnOrigin="task_notification")
    written.prompt("the text of a skill", isMeta=True)
    written.prompt("a summary", isCompactSummary=True)
    written.prompt("<command-name>/compact</command-name><command-args>keep it</command-args>")
    written.prompt("<local-command-stdout>Compacted</local-command-stdout>")
    written.line(type="attachment", attachment={"type": "hook_success", "stdout": "our own output"})
    written.line(type="a kind of tomorrow", message={"content": "x"})
    written.prompt(
        "<command-message>recall</command-message>\n<command-name>/recall</command-name>\n<command-args>the port</command-args>"
    )
    written.answer("5432")
    recording.record(ws, written.path)
    assert [row["request"] for row in rows(ws, "turns")] == ["the first", "/recall the port"]
    assert [row["prompt_text"] for row in rows(ws, "user_prompts")] == ["the first"]


def test_a_fork_stays_with_the_session_where_it_was_first(ws: Workspace, tmp_path: Path) -> None:
    first = Transcript(tmp_path / "p")
    first.turn("one")
    recording.record(ws, first.path, reason="other")
    forked = Transcript(tmp_path / "p")
    with open(first.path, encoding="utf-8") as file:
        for line in file:
            forked.raw(json.dumps({**json.loads(line), "sessionId": forked.session}))
    forked.turn("two")
    recording.record(ws, forked.path, reason="other")
    assert [(row["request"], row["session_id"]) for row in rows(ws, "turns")] == [
        ("one", first.session),
        ("two", forked.session),
    ]
    assert len(rows(ws, "sessions")) == 2


def test_subagents_are_included_and_marked(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.turn()
    agent = Transcript(tmp_path / "p" / written.session / "subagents", "agent-a1b2c3")
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1b2c3", "sessionId": written.session}
    agent.prompt("explore the queue", **side)
    agent.tool("Read", {"file_path": "/home/user/project/q.py"}, "q", **side)
    agent.answer("There is one queue.", **side)
    warm = Transcript(tmp_path / "p" / written.session / "subagents", "agent-warm")
    warm.prompt("Warmup", **side)
    warm.answer("ready", **side)
    with open(agent.path[:-6] + ".meta.json", "w", encoding="utf-8") as file:
        json.dump({"agentType": "Explore"}, file)
    recording.record(ws, written.path)
    recording.record(ws, written.path)
    found = {row["agent"]: row for row in rows(ws, "turns")}
    assert set(found) == {None, "Explore"}
    assert found["Explore"]["files_read"] == ["q.py"]
    assert found["Explore"]["session_id"] == written.session
    assert len(rows(ws, "user_prompts")) == 1, "nobody typed what the subagent was told"


def test_the_answer_comes_from_the_hook_where_the_transcript_is_late(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.prompt("why?")
    recording.record(ws, written.path, answer="because")
    written.answer("because")
    recording.record(ws, written.path, answer="because")
    (turn,) = rows(ws, "turns")
    assert turn["answer"] == "because"


def test_a_rewritten_or_truncated_transcript_is_read_anew(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.turn("one")
    written.turn("two")
    recording.record(ws, written.path)
    with open(written.path, "r+b") as file:
        content = file.read()
        file.truncate(len(content) // 2)
    recording.record(ws, written.path)
    os.unlink(written.path)
    again = Transcript(tmp_path / "p", written.session)
    again.turn("three")
    recording.record(ws, again.path)
    assert {row["request"] for row in rows(ws, "turns")} == {"one", "two", "three"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_odd_lines_cost_themselves_only(ws: Workspace, tmp_path: Path, end: str) -> None:
    written = Transcript(tmp_path / "p")
    written.end = end
    for odd in (
        "",
        "null",
        "[]",
        "{",
        '{"type":"user"}',
        '{"type":"user","uuid":5,"message":{"content":7}}',
        "\0\0",
        "[" * 5000,
    ):
        written.raw(odd)
    written.raw('{"type":"user","uuid":"u1","sessionId":"s","message":{"content":"half \\ud83d of a pair"}}')
    written.answer("whole \U0001f600")
    written.raw(
        '{"type":"assistant","message":{"content":[null,{"type":"tool_use"},{"type":"tool_use","input":[]}],"usage":[]}}'
    )
    recording.record(ws, written.path)
    (turn,) = rows(ws, "turns")
    assert turn["request"] == "half � of a pair"
    assert turn["answer"] == "whole \U0001f600"


def test_a_last_line_without_its_end_is_read_when_it_is_whole(tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    written.prompt("one")
    with open(written.path, "ab") as file:
        file.write(b'{"type":"user","uuid":"u2","message":{"content":"tw')
    assert [line.record["message"]["content"] for line in lines.read(written.path)] == ["one"]
    with open(written.path, "ab") as file:
        file.write(b'o"}}')
    assert [line.record["message"]["content"] for line in lines.read(written.path)] == ["one", "two"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_a_record_is_never_larger_than_it_may_be(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    written = Transcript(tmp_path / str(seed))
    letters = 'ab \U0001f600ü漢\n"\\'

    def text(most: int) -> str:
        return "".join(chance.choices(letters, k=chance.randint(1, most)))

    written.prompt(text(9000) + "x")
    for _ in range(chance.randint(0, 60)):
        name = chance.choice(["Read", "Edit", "Bash", "Grep"])
        written.tool(name, {"file_path": text(500), "command": text(3000)}, text(800), error=chance.random() < 0.3)
    written.answer(text(9000) + "y")
    (turn,) = turns.read(lines.read(written.path))
    data = evidence.of(turn)
    raw = json.dumps(data, ensure_ascii=False).encode()  # which would fail on half of a pair
    assert len(raw) <= 4096
    assert data["request"]
    assert data["answer"]


def test_ten_readers_at_once_make_one_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = Transcript(tmp_path / "p")
    for number in range(5):
        written.turn(f"request {number}")
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "MAIT_CODE_DATA_DIR": str(tmp_path / "data"),
        "HOME": str(tmp_path),
        "MAIT_CODE_CAPTURE": "evidence",
    }

    def hook(trigger: str) -> int:
        given = json.dumps({"session_id": written.session, "transcript_path": written.path, "cwd": str(tmp_path)})
        command = [sys.executable, "-m", "mait_code.hooks.observe", "--trigger", trigger]
        return subprocess.run(command, input=given.encode(), env=environment, check=False, timeout=60).returncode

    triggers = [chance for chance in ("stop", "precompact", "session-end", "stop", "session-end") for _ in range(2)]
    with ThreadPoolExecutor(10) as pool:
        assert set(pool.map(hook, triggers)) == {0}
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Workspace(Home(str(tmp_path / "data"))) as ws:
        with ws.journal.writing():
            pass  # whoever found the log taken left its action in the spool
        assert [row["request"] for row in rows(ws, "turns")] == [f"request {number}" for number in range(5)]
        assert len(rows(ws, "user_prompts")) == 5
        assert [row["ended"] for row in rows(ws, "sessions")] == ["other"]
        assert ws.refreshed("memory").conflicted() == []


@pytest.mark.parametrize("what", ["device", "pipe", "directory", "nothing", "no path"])
def test_what_is_no_file_is_not_read(tmp_path: Path, what: str) -> None:
    """A device or a pipe would be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    path = {"device": "/dev/zero", "pipe": str(tmp_path / "pipe"), "directory": str(tmp_path), "no path": "a\0b"}.get(
        what, "/x"
    )
    environment = {**os.environ, "MAIT_CODE_LLM_PROVIDER": "none"}
    given = json.dumps({"session_id": "s", "transcript_path": path, "cwd": str(tmp_path)}).encode()
    for hook in ("session_start", "observe", "statusline"):
        command = [sys.executable, "-m", f"mait_code.hooks.{hook}", "--trigger", "session-end"]
        done = subprocess.run(command, input=given, env=environment, capture_output=True, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
    with Workspace.open() as ws:
        assert rows(ws, "turns") == []
        assert beginnings.complete_unfinished(ws) == []
        if what in ("device", "pipe", "directory"):
            with pytest.raises(OSError, match=r"no file|directory"):
                recording.record(ws, path)


def test_no_secret_reaches_the_log(ws: Workspace, tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    samples = [one for one in secrets() if len(one.secret) > 7]  # shorter ones are words that stand in other texts, too
    for sample in samples:
        written.prompt(f"{'x' * 590} {sample.text}")
        written.tool("Bash", {"command": sample.text}, f"Exit code 1\n{sample.text}", error=True)
        written.answer(f"{'y' * 590} {sample.text}")
    recording.record(ws, written.path)
    files = [file for base in ("data", "state") for file in (tmp_path / base).rglob("*") if file.is_file()]
    content = b"".join(file.read_bytes() for file in files)
    leaked = [sample for sample in samples if sample.secret.encode() in content]
    assert leaked == []


def test_a_session_whose_client_was_killed_is_completed_at_the_next_start(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    ended, killed, alive = (Transcript(tmp_path / "p") for _ in range(3))
    for written, pid in ((ended, gone.pid), (killed, gone.pid), (alive, os.getpid())):
        monkeypatch.setenv("CLAUDE_PID", str(pid))
        beginnings.note(ws, written.path)
        written.turn(written.session)
    recording.record(ws, ended.path, reason="clear")
    ended.line(type="system", subtype="written after the end")
    found = beginnings.complete_unfinished(ws)
    assert killed.path in found
    assert alive.path not in found
    reasons = {row["session_id"]: row["ended"] for row in rows(ws, "sessions")}
    assert reasons == {ended.session: "clear", killed.session: "lost"}
    assert beginnings.complete_unfinished(ws) == []


def test_two_hundred_megabytes_cost_little_memory(tmp_path: Path) -> None:
    written = Transcript(tmp_path / "p")
    with open(written.path, "wb") as file:
        line = b'{"type":"user","uuid":"u%d","sessionId":"s","timestamp":"2026-11-01T00:00:01.000Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"'
        for number in range(20):
            file.write(
                b'{"type":"user","uuid":"p%d","sessionId":"s","message":{"content":"request %d"}}\n' % (number, number)
            )
            file.write(line % number + ("\U0001f600" * 2_500_000).encode() + b'"}]}}\n')
            file.write(
                b'{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"done"}]}}\n' % number
            )
    assert os.path.getsize(written.path) > 200_000_000
    code = (
        "import os, re, resource, sys\n"
        "from mait_code.commands.workspace import Workspace\n"
        "from mait_code.journal.home import Home\n"
        "from mait_code.commands.capture import recording\n"
        "with Workspace(Home(sys.argv[2])) as ws:\n"
        "    print(recording.record(ws, sys.argv[1]).turns)\n"
        # What getrusage says begins with the size of the process that started this one.
        "status = '/proc/self/status'\n"
        "if os.path.exists(status):\n"
        "    print(int(re.search(r'VmHWM:\\s+(\\d+)', open(status).read())[1]) // 1024)\n"
        "else:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**20)\n"
    )
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-c", code, written.path, str(tmp_path / "data")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    os.unlink(written.path)
    turns_found, peak = map(int, done.stdout.split())
    assert turns_found == 20
    assert peak < 200, f"{peak} MiB"


# -- what may not be recorded


def choose(monkeypatch: pytest.MonkeyPatch, **chosen: str) -> None:
    for name, value in chosen.items():
        monkeypatch.setenv(f"MAIT_CODE_{name.upper()}", value)


def everything(tmp_path: Path) -> bytes:
    return b"".join(path.read_bytes() for path in tmp_path.rglob("*.jsonl") if "data" in path.parts)


@pytest.mark.parametrize(
    "chosen",
    [
        {"excluded_projects": "closed"},
        {"capture": "off"},
        {"capture_by_project": "closed=off"},
        {"capture_by_project": "closed=offf"},
    ],
    ids=str,
)
def test_what_began_where_nothing_may_be_recorded_stays_out_wherever_it_goes(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str]
) -> None:
    written = Transcript(tmp_path / "p", directory="/home/user/closed")
    written.turn("a question of PELICAN")
    written.directory = "/home/user/open"  # the session went on in another repository
    written.turn("and one of TERN")
    choose(monkeypatch, **chosen)
    assert recording.record(ws, written.path, reason="other").turns == 0
    monkeypatch.setenv("CLAUDE_PID", "999999")
    killed = Transcript(tmp_path / "p", directory="/home/user/closed")
    beginnings.note(ws, killed.path)
    killed.turn("to be killed: RHINO")
    beginnings.complete_unfinished(ws)
    assert rows(ws, "sessions") == []
    for word in (b"PELICAN", b"TERN", b"RHINO"):
        assert word not in everything(tmp_path)


def test_turns_in_a_place_that_is_kept_out_are_left_out(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, excluded_projects="closed")
    written = Transcript(tmp_path / "p", directory="/home/user/open")
    written.turn("one")
    written.directory = "/home/user/closed"
    written.turn("two of PELICAN")
    written.directory = "/home/user/open"
    written.turn("three")
    assert recording.record(ws, written.path).turns == 2
    assert [row["request"] for row in rows(ws, "turns")] == ["one", "three"]
    assert b"PELICAN" not in everything(tmp_path)


def test_one_project_may_be_captured_where_others_are_not(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(monkeypatch, capture="off", capture_by_project="open=evidence")
    here, there = (Transcript(tmp_path / "p", directory=f"/home/user/{name}") for name in ("open", "other"))
    for written in (here, there):
        written.turn()
        recording.record(ws, written.path)
    assert [row["session_id"] for row in rows(ws, "sessions")] == [here.session]


def test_what_has_ended_stays_ended_whoever_reads_it_again(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PID", "999999")
    written = Transcript(tmp_path / "p")
    beginnings.note(ws, written.path)
    written.turn()
    recording.record(ws, written.path, hurried=True, reason="other")
    recording.record(ws, written.path)  # as the worker does
    assert beginnings.complete_unfinished(ws) == []
    before = events(ws)
    written.line(type="system", subtype="written after the end")
    recording.record(ws, written.path)
    beginnings.complete_unfinished(ws)
    assert [row["ended"] for row in rows(ws, "sessions")] == ["other"]
    assert events(ws) == before
    beginnings.note(ws, written.path)  # taken up again
    written.turn("once more")
    recording.record(ws, written.path, hurried=True)
    assert beginnings.complete_unfinished(ws) == [written.path]
    assert [row["ended"] for row in rows(ws, "sessions")] == ["lost"]


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="this system does not tell when it started")
def test_a_process_of_before_the_machine_started_is_gone(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    written = Transcript(tmp_path / "p")
    beginnings.note(ws, written.path)
    written.turn()
    assert beginnings.complete_unfinished(ws) == []
    os.utime(written.path, (1e9, 1e9))
    assert beginnings.complete_unfinished(ws) == [written.path]
