"""Who holds which card: sessions of this machine, sessions of another one, and many callers at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


pytestmark = pytest.mark.usefixtures("rocket")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Be in a session from now on; an empty id is none."""

    def enter(id_: str, pid: int = 0) -> None:
        for name, value in (("CLAUDE_CODE_SESSION_ID", id_), ("CLAUDE_PID", str(pid or ""))):
            if value:
                monkeypatch.setenv(name, value)
            else:
                monkeypatch.delenv(name, raising=False)

    return enter


@pytest.fixture
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sit at a machine: its own state and data directories. Segments of the others arrive when it is entered."""

    def enter(name: str) -> None:
        data = home / f"data-{name}"
        for other in home.glob("data-*/journal/*"):
            if other.is_dir():
                target = data / "journal" / other.name
                if not target.exists() or _size(target) < _size(other):
                    shutil.copytree(other, target, dirs_exist_ok=True)
        monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(data))
        monkeypatch.setenv("XDG_STATE_HOME", str(home / f"state-{name}"))

    return enter


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


def done(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Run a command that changes a card; it has to succeed and print the card."""
    result = cli("board", *arguments, "--json")
    assert result.code == 0, result.err
    card: dict[str, Any] = result.json
    return card


def mine(cli: Cli, *arguments: str) -> list[str]:
    """Titles of the cards that this session, or the one named, holds."""
    return [card["title"] for card in cli("board", "list", "--mine", "--json", *arguments).json]


def test_moving_in_and_claiming_bind_to_the_session(cli: Cli, home: Path, session: Callable[..., None]) -> None:
    session("s-1", os.getpid())
    done(cli, "add", "a")
    done(cli, "add", "b", "--project", "moon")
    bound = done(cli, "move", "1", "in_progress")["bound"]
    assert (bound["session"], bound["pid"], bound["running"], bound["mine"]) == ("s-1", os.getpid(), True, True)
    done(cli, "next", "--claim", "--project", "moon")
    assert mine(cli) == ["a", "b"]
    assert mine(cli, "--project", "moon") == ["b"]
    assert "(this session)" in cli("board", "list").out
    assert "this session, process" in cli("board", "show", "1").out
    done(cli, "move", "1", "in_review")
    assert mine(cli) == ["b"]
    # The id travels, the process does not.
    log = b"".join(path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl"))
    assert b'"by":{"session":"s-1"}' in log
    assert b'"pid"' not in log


def test_without_a_session_nothing_is_bound(cli: Cli) -> None:
    done(cli, "add", "a")
    assert done(cli, "next", "--claim")["bound"] is None


@pytest.mark.parametrize(("id_", "pid"), [("", 0), ("s-1", 0), ("", 7)])
def test_mine_and_bind_need_the_whole_session(cli: Cli, session: Callable[..., None], id_: str, pid: int) -> None:
    done(cli, "add", "a")
    done(cli, "move", "1", "in_progress", "--session", "x", "--pid", "1")
    session(id_, pid)
    for command in (("list", "--mine"), ("bind", "1")):
        result = cli("board", *command)
        assert (result.code, result.out) == (1, "")
        assert "--session ID --pid N" in result.err


def test_session_and_pid_go_together(cli: Cli) -> None:
    done(cli, "add", "a")
    for command in (("list",), ("move", "1", "in_progress"), ("next", "--claim"), ("bind", "1")):
        for half in (("--session", "s"), ("--pid", "7")):
            assert cli("board", *command, *half).code == 2
    assert cli("board", "list", "--session", "s", "--pid", "0").code == 2
    assert done(cli, "show", "1")["status"] == "backlog"


def test_another_session_can_be_named(cli: Cli, session: Callable[..., None]) -> None:
    session("s-1", os.getpid())
    done(cli, "add", "a")
    done(cli, "next", "--claim", "--session", "s-2", "--pid", "4242")
    assert mine(cli) == []
    assert mine(cli, "--session", "s-2", "--pid", "4242") == ["a"]
    assert [card["title"] for card in cli("board", "list", "--session", "s-2", "--pid", "4242", "--json").json] == ["a"]
    assert "next --claim" in cli("board", "list", "--mine").out


def test_a_resumed_session_keeps_its_cards_beside_a_running_twin_it_does_not(cli: Cli) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    done(cli, "add", "a")
    done(cli, "move", "1", "in_progress", "--session", "s-1", "--pid", str(gone.pid))
    assert mine(cli, "--session", "s-1", "--pid", str(os.getpid())) == ["a"]
    done(cli, "add", "b")
    done(cli, "move", "2", "in_progress", "--session", "s-1", "--pid", str(os.getpid()))
    assert mine(cli, "--session", "s-1", "--pid", str(os.getppid())) == ["a"]


def test_bind_unbind_and_taking_over(cli: Cli, session: Callable[..., None]) -> None:
    session("s-1", os.getpid())
    done(cli, "add", "a")
    early = cli("board", "bind", "1")
    assert (early.code, "board move" in early.err) == (1, True)
    done(cli, "move", "1", "in_progress", "--session", "old", "--pid", "999999")
    taken = cli("board", "bind", "1", "--json")
    assert taken.json["bound"]["session"] == "s-1"
    assert "taken over from old" in taken.err
    assert "already" in cli("board", "bind", "1").out
    session("s-2", os.getppid())
    held = cli("board", "bind", "1")
    assert (held.code, "unbind" in held.err) == (1, True)
    card = done(cli, "unbind", "1")
    assert (card["bound"], card["status"]) == (None, "in_progress")
    assert "no session" in cli("board", "unbind", "1").out
    assert done(cli, "bind", "1")["bound"]["session"] == "s-2"


def test_a_card_already_in_progress_is_not_bound_by_moving_it_there(cli: Cli, session: Callable[..., None]) -> None:
    done(cli, "add", "a")
    done(cli, "move", "1", "in_progress")
    session("s-1", os.getpid())
    again = cli("board", "move", "1", "in_progress", "--json")
    assert again.json["bound"] is None
    assert "board bind" in again.err


def test_a_claim_lost_to_another_machine_is_told_once(
    cli: Cli, session: Callable[..., None], machine: Callable[[str], None]
) -> None:
    machine("one")
    done(cli, "add", "a")
    machine("two")
    session("s-2", os.getpid())
    done(cli, "next", "--claim")
    machine("one")
    # Machine one had not heard of it; its claim is the later one.
    shutil.rmtree(os.environ["MAIT_CODE_DATA_DIR"] + "/journal/" + _replica_of("two"))
    session("s-1", os.getpid())
    done(cli, "next", "--claim")
    machine("two")
    session("s-2", os.getpid())
    told = cli("board", "list", "--json")
    assert told.json[0]["bound"]["session"] == "s-1"
    assert told.json[0]["conflicts"] == []
    assert "held by another session now (s-1 on " in told.err
    assert told.code == 0
    assert cli("board", "list").err == ""
    assert mine(cli) == []
    machine("one")
    session("s-1", os.getpid())
    assert cli("board", "list").err == ""
    assert mine(cli) == ["a"]


def _replica_of(machine_name: str) -> str:
    state = os.environ["XDG_STATE_HOME"].rsplit("-", 1)[0] + f"-{machine_name}"
    for directory, _names, files in os.walk(state):
        if "identity.json" in files:
            with open(os.path.join(directory, "identity.json"), "rb") as file:
                replica: str = json.load(file)["replica"]
                return replica
    raise AssertionError(f"{machine_name} has no identity")


def test_a_card_taken_over_is_told_to_the_session_that_had_it_by_any_command(
    cli: Cli, session: Callable[..., None], home: Path
) -> None:
    done(cli, "add", "a")
    session("s-1", os.getpid())
    done(cli, "next", "--claim")
    session("s-2", os.getppid())
    done(cli, "unbind", "1")
    session("s-1", os.getpid())
    assert "no longer bound to this session" in cli("board", "list").err
    assert cli("board", "list").err == ""
    done(cli, "bind", "1")
    # Process 999999 is not running, so the card may be taken from it.
    done(cli, "move", "1", "backlog")
    done(cli, "move", "1", "in_progress", "--session", "s-3", "--pid", "999999")
    session("s-2", os.getppid())
    done(cli, "bind", "1")
    session("s-3", 999_999)
    assert "held" not in cli("inbox", "count").err  # its process had ended when the card was bound anew
    assert len(list((home / "state").glob("mait-code/*/bindings/*"))) == 1


def test_a_session_without_a_known_process_is_told_when_another_takes_its_card(
    cli: Cli, session: Callable[..., None]
) -> None:
    done(cli, "add", "a")
    session("s-1")
    done(cli, "next", "--claim")
    session("s-2", os.getpid())
    assert "taken over from s-1" in cli("board", "bind", "1").err
    session("s-1")
    told = cli("inbox", "count")
    assert (told.code, told.out) == (0, "0\n")
    assert "held by another session now (s-2 on " in told.err
    assert cli("inbox", "count").err == ""


def test_two_columns_on_two_machines_are_marked_and_settled_by_a_move(cli: Cli, machine: Callable[[str], None]) -> None:
    machine("one")
    done(cli, "add", "a")
    machine("two")
    done(cli, "move", "1", "in_review")
    machine("one")
    shutil.rmtree(os.environ["MAIT_CODE_DATA_DIR"] + "/journal/" + _replica_of("two"))
    done(cli, "move", "1", "done")
    done(cli, "edit", "1", "--title", "b")
    machine("two")
    listed = cli("board", "list")
    assert "!conflict: status" in listed.out
    assert "mait-code conflicts" in listed.err
    card = cli("board", "show", "1", "--json").json
    assert (card["status"], card["conflicts"], card["title"]) == ("done", ["status"], "b")
    assert "in conflict: status" in cli("board", "show", "1").out
    # Moving it where it seems to be says which side is meant, so it is an event.
    settled = cli("board", "move", "1", "done", "--json")
    assert settled.json["conflicts"] == []
    assert settled.err == ""
    assert settled.json["completed_at"] is not None


def test_two_offline_machines_make_one_number_and_both_keep_it(cli: Cli, machine: Callable[[str], None]) -> None:
    machine("one")
    done(cli, "add", "zero")
    machine("two")
    first = done(cli, "add", "a")
    machine("one")
    shutil.rmtree(os.environ["MAIT_CODE_DATA_DIR"] + "/journal/" + _replica_of("two"))
    second = done(cli, "add", "b", "--project", "moon")
    machine("two")
    assert first["number"] == second["number"] == 2
    assert cli("board", "show", first["id"], "--json").json["short"] == first["short"]
    if first["short"] != second["short"]:
        assert cli("board", "show", second["short"], "--json").json["title"] == "b"
    ambiguous = cli("board", "show", "2")
    assert ambiguous.code == 1
    assert first["id"][:2] in ambiguous.err
    assert cli("board", "show", "2", "--project", "moon", "--json").json["title"] == "b"
    assert done(cli, "add", "c")["number"] == 3


def test_a_card_deleted_here_and_edited_there_stays_deleted_and_says_so(
    cli: Cli, machine: Callable[[str], None]
) -> None:
    machine("one")
    done(cli, "add", "a")
    machine("two")
    done(cli, "edit", "1", "--title", "better")
    machine("one")
    shutil.rmtree(os.environ["MAIT_CODE_DATA_DIR"] + "/journal/" + _replica_of("two"))
    done(cli, "remove", "1")
    machine("two")
    refused = cli("board", "show", "1")
    assert refused.code == 1
    assert "mait-code conflicts" in refused.err
    assert "board restore 1" in refused.err
    assert "!conflict: deleted" in cli("board", "list", "--deleted").out
    back = done(cli, "restore", "1")
    assert (back["title"], back["conflicts"]) == ("better", [])


def test_a_card_that_a_newer_version_wrote_on_is_marked(cli: Cli, home: Path) -> None:
    card = done(cli, "add", "a")
    (segment,) = (home / "data" / "journal").glob("*/*.jsonl")
    with Workspace.open() as ws, ws.journal.writing(ws.store("board")) as writer:
        event = writer.append("card.moved", f"card/{card['id']}", column="done")
        event.v = 99
        writer._lines[-1] = event.line()
    assert b'"v":99' in segment.read_bytes()
    assert "newer version" in cli("board", "list").out
    shown = cli("board", "show", "1", "--json").json
    assert (shown["newer"], shown["status"]) == (True, "backlog")
    assert "newer version" in cli("board", "show", "1").out


def test_a_store_that_is_being_written_is_served_as_it_is_and_says_so(cli: Cli, machine: Callable[[str], None]) -> None:
    machine("two")
    done(cli, "add", "theirs")
    machine("one")
    done(cli, "add", "mine")
    machine("two")
    done(cli, "add", "theirs too")
    machine("one")
    with Workspace.open() as ws:
        writer = apsw.Connection(ws.store("board").path)
    writer.execute("BEGIN IMMEDIATE")
    listed = cli("board", "list", "--json")
    assert len(listed.json) == 2
    assert "1 event is not folded yet" in listed.err
    writer.execute("ROLLBACK")
    writer.close()
    assert len(cli("board", "list", "--json").json) == 3


@pytest.mark.slow
def test_sixteen_callers_claim_eight_cards_one_each(cli: Cli) -> None:
    for number in range(8):
        done(cli, "add", f"card {number}")
        if number % 2:
            done(cli, "refine", str(number + 1), "--acceptance", "x")
    command = [sys.executable, "-m", "mait_code.commands.cli.main", "board", "next", "--claim", "--json"]
    callers = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "CLAUDE_CODE_SESSION_ID": f"s-{number}", "CLAUDE_PID": str(os.getpid())},
        )
        for number in range(16)
    ]
    answers = [caller.communicate(timeout=120) for caller in callers]
    assert [caller.returncode for caller in callers] == [0] * 16, answers
    claimed = [json.loads(out) for out, _err in answers]
    got = [card for card in claimed if card is not None]
    assert len(got) == 8
    assert len({card["id"] for card in got}) == 8
    holders = {card["id"]: card["bound"]["session"] for card in got}
    now = {card["id"]: card["bound"]["session"] for card in cli("board", "list", "--json").json}
    assert now == holders
    assert len(set(holders.values())) == 8
