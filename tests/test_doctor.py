"""doctor: every check in its good and its bad state, every repair, and no crash whatever is damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from two_machines import Machine, exchange

from mait_code.commands import doctor
from mait_code.journal import clock
from mait_code.journal.lock import Lock
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALL_WELL = [
    "data-dir", "state-dir", "format", "settings", "store-board", "store-inbox", "store-reminders",
    "store-memory", "store-projects", "store-journal",
    "segments", "lines", "gaps", "gone", "strangers", "spool", "clocks", "git-settings", "git", "memory-file", "meaning", "vectors",
    "model", "bridge", "settings-file", "env-table", "install-record", "source-dir", "client-settings",
]  # fmt: skip


@pytest.fixture
def desk(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path, "desk", cli, monkeypatch)
    machine.ok("init", "--label", "the desk")
    machine.ok("board", "add", "first")
    machine.ok("board", "move", "1", "done")
    machine.ok("inbox", "add", "a thought")
    machine.ok("reminders", "set", "in 2 weeks", "look")
    return machine


def checks(machine: Machine, *arguments: str) -> dict[str, Any]:
    """The checks by name; the worst of those that share one."""
    rank = ["ok", "warn", "fail"]
    found: dict[str, Any] = {}
    for one in machine("doctor", "--json", *arguments).json["checks"]:
        if one["name"] not in found or rank.index(one["level"]) > rank.index(found[one["name"]]["level"]):
            found[one["name"]] = one
    return found


def level(machine: Machine, name: str) -> str:
    return str(checks(machine)[name]["level"])


def lines(machine: Machine) -> list[bytes]:
    return machine.files()[machine.segment()].splitlines(keepends=True)


# -- all well ---------------------------------------------------------------------------------------------------------


def test_all_well(desk: Machine) -> None:
    done = desk("doctor")
    assert done.code == 0
    assert "Everything is in order." in done.out
    found = desk("doctor", "--json").json
    assert set(found) == {"checks", "fixes_applied", "has_fail"}
    assert (found["fixes_applied"], found["has_fail"]) == ([], False)
    assert [one["name"] for one in found["checks"]] == ALL_WELL
    for one in found["checks"]:
        assert set(one) == {"name", "level", "message", "fix_hint"}
        assert (one["level"], one["fix_hint"]) == ("ok", None)
    before = desk.files()
    assert desk("doctor", "--fix").code == 0
    assert desk.json("doctor", "--fix")["fixes_applied"] == []
    assert desk.files() == before


def test_before_anything_exists(lap: Machine) -> None:
    done = lap("doctor")
    assert done.code == 0
    assert "● data-dir" in done.out
    assert "mait-code init" in done.out
    assert not os.path.exists(lap.home.data)
    assert lap("doctor", "--fix").code == 0


def test_colour_only_on_a_terminal(desk: Machine, terminal: Callable[..., str]) -> None:
    assert "\x1b" not in desk("doctor").out
    assert "\x1b[32m✓" in terminal("doctor", env=desk.environment)
    assert "\x1b" not in terminal("doctor", "--no-color", env=desk.environment)


# -- each check -------------------------------------------------------------------------------------------------------


def test_a_format_for_newer_programs(desk: Machine) -> None:
    with open(os.path.join(desk.home.journal, "format.json"), "wb") as file:
        file.write(b'{"format": 2, "min_reader": 2, "generation": 2}\n')
    assert checks(desk)["format"]["level"] == "fail"
    assert desk("doctor").code == 1


def test_settings_that_cannot_be_used(desk: Machine, home: Path) -> None:
    (home / "config" / "mait-code").mkdir(parents=True)
    (home / "config" / "mait-code" / "settings.toml").write_text('git-timeout = "never"\n', encoding="utf-8")
    found = checks(desk)["settings"]
    assert found["level"] == "warn"
    assert "git-timeout" in found["message"]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_store_that_is_no_database(desk: Machine, content: bytes) -> None:
    """It is made again by whoever opens it; doctor says that it happened."""
    before = desk.digest()
    path = desk.home.in_state("board.db")
    for ending in ("-wal", "-shm"):
        if os.path.exists(path + ending):
            os.unlink(path + ending)
    with open(path, "wb") as file:
        file.write(content)
    done = desk("doctor")
    assert done.code == 0
    if content:
        assert "was damaged and made again" in done.out
        assert level(desk, "store-board") == "warn"
        os.unlink(path + ".damaged")
    assert level(desk, "store-board") == "ok"
    assert desk.digest() == before


def damage_pages(machine: Machine, name: str) -> None:
    """Overwrite pages in the middle of a store, past what opening it reads."""
    path = machine.home.in_state(f"{name}.db")
    db = apsw.Connection(path)
    db.pragma("wal_checkpoint(truncate)")
    pages = [
        row[0] for row in db.execute("SELECT rootpage FROM sqlite_master WHERE name IN ('events', 'events_entity')")
    ]
    size = db.pragma("page_size")
    db.close()
    with open(path, "r+b") as file:
        for page in pages:
            file.seek((page - 1) * size)
            file.write(b"\xa5" * size)


def test_a_store_damaged_inside(desk: Machine) -> None:
    before = desk.digest()
    damage_pages(desk, "board")
    found = checks(desk)["store-board"]
    assert found["level"] == "fail"
    assert "--fix" in found["fix_hint"]
    assert desk("doctor").code == 1
    fixed = desk("doctor", "--fix", "--json").json
    assert "made board again" in fixed["fixes_applied"][0]
    assert fixed["has_fail"] is False
    assert desk.digest() == before
    assert desk("verify").code == 0


def test_bad_lines(desk: Machine) -> None:
    desk.put(desk.segment(), b"".join([*lines(desk), *(b"not json %d\n" % number for number in range(8))]))
    found = checks(desk)["lines-bad"]
    assert found["level"] == "fail"
    assert f"journal/{desk.segment()}:5: not JSON" in found["message"]
    assert "and 3 more" in found["message"]
    assert "lines" not in checks(desk)


def test_a_torn_line_and_odd_ones(desk: Machine) -> None:
    content = [line.replace(b"\n", b"\r\n") for line in lines(desk)]
    desk.put(desk.segment(), b"".join([*content, b'{"kind":"card.mo']))
    found = checks(desk)
    assert found["lines-torn"]["level"] == "warn"
    assert found["lines-notes"]["level"] == "warn"
    assert "CRLF" in found["lines-notes"]["message"]
    assert desk("doctor").code == 0
    desk.ok("inbox", "add", "after")
    assert "lines-torn" not in checks(desk)


def test_a_gap(desk: Machine, lap: Machine) -> None:
    content = lines(desk)
    lap.put(desk.segment(), content[0] + content[2])
    found = checks(lap)["gaps"]
    assert found["level"] == "warn"
    assert f"event 2 of replica {desk.replica} is missing" in found["message"]


def test_a_clock_ahead(desk: Machine, lap: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    real = clock.wall
    with monkeypatch.context() as patch:
        patch.setattr(clock, "wall", lambda: real() + 3600 * clock.SECOND)
        lap.ok("init", "--label", "the future")
        lap.ok("inbox", "add", "x")
    lap.send_to(desk)
    found = checks(desk)["clocks"]
    assert found["level"] == "warn"
    assert "the future" in found["message"]


def test_the_spool(desk: Machine) -> None:
    lock = Lock(desk.home.in_state("lock"))
    assert lock.acquire(0)
    inbox = stores.inbox(desk.home)
    with desk.journal("hook/prompt").writing_from_hook(inbox) as writer:
        writer.append("inbox.captured", body="left in the spool")
    inbox.close()
    lock.release()
    assert writer.spooled
    assert "1 action of hooks" in checks(desk)["spool"]["message"]
    desk.ok("inbox", "add", "takes it in")
    assert level(desk, "spool") == "ok"
    with open(desk.home.in_state("spool/broken.json"), "wb") as file:
        file.write(b"{")
    desk.ok("inbox", "add", "sets it aside")
    found = checks(desk)["spool"]
    assert found["level"] == "warn"
    assert "broken.json" in found["message"]


def test_git(desk: Machine, lap: Machine) -> None:
    lap.ok("inbox", "add", "x")
    assert level(lap, "git") == "warn"
    for name in ("index.lock", "MERGE_HEAD"):
        path = desk.home.in_data(f".git/{name}")
        with open(path, "w", encoding="ascii") as file:
            file.write("0" * 40 + "\n" if name == "MERGE_HEAD" else "")
        assert name in checks(desk)["git"]["message"]
        os.unlink(path)
    assert level(desk, "git") == "ok"


def test_git_settings_are_set(desk: Machine) -> None:
    data = desk.home.data
    subprocess.run(["git", "-C", data, "config", "--local", "core.autocrlf", "true"], check=True)
    subprocess.run(["git", "-C", data, "config", "--local", "--unset", "pull.rebase"], check=True)
    shown = desk("doctor").out
    assert "core.autocrlf is true, should be false" in shown
    assert "pull.rebase is not set" in shown
    fixed = desk("doctor", "--fix", "--json").json["fixes_applied"]
    assert "set core.autocrlf to false (it was true)" in fixed
    assert any(one.startswith("set pull.rebase to false") for one in fixed)
    assert level(desk, "git-settings") == "ok"


# -- repairs of the journal -------------------------------------------------------------------------------------------


def test_a_deleted_segment_is_written_again(desk: Machine, lap: Machine) -> None:
    exchange(desk, lap)
    before = desk.digest()
    os.unlink(os.path.join(desk.home.journal, desk.segment()))
    assert desk.json("board", "list", "--all") == []
    found = checks(desk)["gone"]
    assert found["level"] == "fail"
    assert "4 events" in found["message"]
    assert desk("doctor").code == 1
    fixed = desk("doctor", "--fix", "--json").json
    assert fixed["fixes_applied"][0].startswith("wrote 4 events again, in journal/")
    assert fixed["has_fail"] is False
    assert desk.digest() == before
    assert desk("verify").code == 0
    desk.ok("inbox", "add", "life goes on")
    exchange(desk, lap)


def test_lines_cut_from_a_segment_are_written_again(desk: Machine) -> None:
    before = desk.digest()
    content = lines(desk)
    desk.put(desk.segment(), b"".join(content[:2]))
    assert desk("verify").code == 4
    assert desk("doctor", "--fix").code == 0
    assert desk.digest() == before
    assert desk("verify").code == 0


@pytest.mark.parametrize(
    "name", ["000001 2.jsonl", "000001.sync-conflict-20261130-120000-ABCDEFG.jsonl", "notes.jsonl"]
)
@pytest.mark.parametrize("where", ["", "own/", "abcdefgh 2/"])
def test_copies_of_sync_tools(desk: Machine, lap: Machine, name: str, where: str) -> None:
    lap.ok("board", "add", "only in the copy")
    content = lap.files()[lap.segment()]
    where = where.replace("own", desk.replica)
    desk.put(where + name, b"<<<<<<< ours\n" + content + b"=======\r\n" + content + b">>>>>>> theirs\n")
    found = checks(desk)["strangers"]
    assert found["level"] == "fail"
    assert len(desk.json("board", "list")) == 1
    fixed = desk("doctor", "--fix", "--json").json
    assert any(one.startswith("adopted 1 event ") for one in fixed["fixes_applied"])
    assert fixed["has_fail"] is False
    assert checks(desk)["strangers"]["level"] == "warn"
    assert {one["title"] for one in desk.json("board", "list")} == {"first", "only in the copy"}
    assert desk("verify").code == 0


def test_a_directory_that_a_sync_tool_copied(desk: Machine, lap: Machine) -> None:
    """Whole directories are copied too, with segments under their right names."""
    lap.ok("board", "add", "only in the copy")
    desk.put(f"{lap.replica} 2/000001.jsonl", lap.files()[lap.segment()])
    assert checks(desk)["strangers"]["level"] == "fail"
    assert desk("doctor", "--fix").code == 0
    assert len(desk.json("board", "list")) == 2


def test_links(desk: Machine, lap: Machine, tmp_path: Path) -> None:
    lap.ok("board", "add", "behind a link")
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(lap.files()[lap.segment()])
    os.symlink(outside, os.path.join(desk.home.journal, desk.replica, "000009.jsonl"))
    os.symlink(tmp_path, os.path.join(desk.home.journal, "abcdefgh"))
    os.symlink(tmp_path / "nowhere", os.path.join(desk.home.journal, "000001.jsonl"))
    assert len(desk.json("board", "list")) == 1, "links are never folded"
    rows = [one for one in desk("doctor", "--json").json["checks"] if one["name"] == "strangers"]
    assert len(rows) == 3
    assert all("a symbolic link" in one["message"] for one in rows)
    assert desk("doctor", "--fix").code == 0
    assert len(desk.json("board", "list")) == 2


def test_a_pipe_in_the_journal_does_not_hang(desk: Machine) -> None:
    os.mkfifo(os.path.join(desk.home.journal, desk.replica, "000001 2.jsonl"))
    os.mkfifo(os.path.join(desk.home.journal, desk.replica, "000007.jsonl"))
    assert desk("doctor", "--fix").code == 0


# -- accepting a line -------------------------------------------------------------------------------------------------


def edited_by_hand(machine: Machine, before: bytes, after: bytes) -> str:
    content = lines(machine)
    number = next(place for place, line in enumerate(content, 1) if before in line)
    content[number - 1] = content[number - 1].replace(before, after)
    machine.put(machine.segment(), b"".join(content))
    return f"journal/{machine.segment()}:{number}"


def test_accept(desk: Machine) -> None:
    where = edited_by_hand(desk, b'"first"', b'"second"')
    assert "checksum" in checks(desk)["lines-bad"]["message"]
    done = desk("doctor", "--accept", where)
    assert done.code == 0, done.out
    assert "accepted card.created" in done.out
    assert [one["title"] for one in desk.json("board", "list")] == ["second"]
    assert checks(desk)["lines-accepted"]["level"] == "ok"
    assert desk("verify").code == 0
    assert "accepted since" in desk("verify").out
    assert "stands in the journal already" in desk("doctor", "--accept", where).err


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("nonsense", 2),
        ("journal/OWN/000001.jsonl:x", 2),
        ("journal/OWN/000001.jsonl:0", 1),
        ("journal/OWN/000001.jsonl:99", 1),
        ("journal/OWN/000001.jsonl:1", 1),
        ("journal/OWN/000001.jsonl:5", 1),
        ("journal/OWN/000002.jsonl:1", 1),
        ("OWN/../../secret:1", 1),
        ("../../OWN/000001.jsonl:1", 1),
    ],
)
def test_what_cannot_be_accepted(desk: Machine, where: str, code: int) -> None:
    desk.put(desk.segment(), b"".join([*lines(desk), b"not json\n"]))
    before = desk.files()
    done = desk("doctor", "--accept", where.replace("OWN", desk.replica))
    assert done.code == code
    assert done.err
    assert desk.files() == before


def test_a_line_with_a_right_form_and_wrong_data_is_not_accepted(desk: Machine) -> None:
    where = edited_by_hand(desk, b'"column":"done"', b'"column":12345')
    done = desk("doctor", "--accept", where)
    assert done.code == 1
    assert "data.column" in done.err


# -- whatever is damaged ----------------------------------------------------------------------------------------------

JUNK = (b"", b"\0" * 300, b"[]", b"{", b"\xff\xfe\xfa", b"null", b'{"replica": 5, "mark": [1]}', b"x" * 5000)


@pytest.mark.parametrize("content", JUNK, ids=lambda content: repr(content[:12]))
@pytest.mark.parametrize(
    "name", ["state:identity.json", "state:clock", "data:journal/format.json", "data:.git/HEAD", "data:.git/config",
             "data:.git/index", "data:.git/MERGE_HEAD", "replica.json", "config"],
)  # fmt: skip
def test_never_a_crash(desk: Machine, home: Path, name: str, content: bytes) -> None:
    place, _, file = name.partition(":")
    path = {
        "state": desk.home.in_state(file),
        "data": desk.home.in_data(file),
        "replica.json": os.path.join(desk.home.journal, desk.replica, "replica.json"),
        "config": str(home / "config" / "mait-code" / "settings.toml"),
    }[place]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as damaged:
        damaged.write(content)
    for arguments in ([], ["--json"], ["--fix"]):
        done = desk("doctor", *arguments)
        assert done.code in (0, 1)
        assert "unexpected" not in done.err
        assert "fault of ours" not in done.out + done.err
        assert done.out


@pytest.mark.parametrize(
    "name", ["identity.json", "clock", "lock", "board.db", "board.db-wal", "journal.db", "spool", "logs"]
)
def test_a_directory_or_a_file_in_the_way(desk: Machine, name: str) -> None:
    path = desk.home.in_state(name)
    if os.path.isdir(path):
        os.rename(path, path + ".away")
        open(path, "wb").close()
    else:
        if os.path.exists(path):
            os.unlink(path)
        os.mkdir(path)
    for arguments in ([], ["--json"], ["--fix"]):
        done = desk("doctor", *arguments)
        assert done.code in (0, 1)
        assert "fault of ours" not in done.out + done.err


def test_the_journal_is_a_file(lap: Machine) -> None:
    os.mkdir(lap.home.data)
    with open(lap.home.journal, "wb") as file:
        file.write(b"hello")
    for arguments in ([], ["--json"], ["--fix"]):
        assert lap("doctor", *arguments).code in (0, 1)


def test_the_data_directory_is_a_file(lap: Machine) -> None:
    with open(lap.home.data, "wb") as file:
        file.write(b"hello")
    done = lap("doctor")
    assert done.code == 1
    assert "is no directory" in done.out


def test_a_check_that_fails_stops_no_other(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_ws: Any) -> Any:
        raise RuntimeError("the disk hums")

    monkeypatch.setattr(doctor, "LOOKS", (("gaps", broken), *doctor.LOOKS))
    found = desk("doctor", "--json").json["checks"]
    assert found[0]["name"] == "gaps"
    assert "the disk hums" in found[0]["message"]
    assert [one["name"] for one in found[1:]] == ALL_WELL
    assert desk("doctor").code == 1


def read_only(paths: list[str], command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run a command with these directories read-only: mounted so in a name space of its own where we are root, to whom
    permissions mean nothing."""
    if os.geteuid() == 0:
        mount = 'mount --bind "$place" "$place" && mount -o remount,ro,bind "$place" || exit 99'
        script = f'for place in $PLACES; do {mount}; done; exec "$@"'
        command = ["unshare", "-m", "sh", "-c", script, "sh", *command]
        return subprocess.run(command, capture_output=True, env={**env, "PLACES": " ".join(paths)}, timeout=60)
    for place in paths:
        for folder, _folders, files in os.walk(place):
            for name in files:
                os.chmod(os.path.join(folder, name), 0o400)
            os.chmod(folder, 0o500)
    try:
        return subprocess.run(command, capture_output=True, env=env, timeout=60)
    finally:
        for place in paths:
            for folder, _folders, _files in os.walk(place):
                os.chmod(folder, 0o700)


def test_a_read_only_home(desk: Machine, home: Path) -> None:
    program = [sys.executable, "-m", "mait_code.commands.cli.main"]
    env = {**os.environ, **desk.environment, "PYTHONDONTWRITEBYTECODE": "1"}
    places = [str(desk.folder / "data"), str(desk.folder / "state"), str(home)]
    done = read_only(places, [*program, "doctor", "--json"], env)
    assert done.returncode == 1, done.stderr
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert found["data-dir"]["level"] == "fail"
    assert "cannot be written" in found["data-dir"]["message"]
    assert found["state-dir"]["level"] == "fail"
    assert found["store-board"]["level"] == "warn"
    assert found["lines"]["level"] == "ok"
    for words in (
        ["board", "list"],
        ["history", "1"],
        ["log"],
        ["conflicts"],
        ["verify"],
        ["digest"],
        ["reminders"],
        [],
    ):
        done = read_only(places, [*program, *words], env)
        assert done.returncode == 0, (words, done.stderr)
    for words in (["undo"], ["board", "add", "x"], ["reminders", "set", "tomorrow", "x"], ["doctor", "--fix"]):
        done = read_only(places, [*program, *words], env)
        assert done.returncode in (1, 74), (words, done.stderr)
        assert b"Traceback" not in done.stderr
    assert desk("verify").code == 0
