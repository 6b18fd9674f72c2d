"""Evidence that stays on its machine: prompts and turns in a replica that no git takes along."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from git_machines import bare, git
from transcripts import Transcript
from two_machines import Machine

from mait_code.commands.capture import recording
from mait_code.commands.workspace import Workspace
from mait_code.journal import segments, spool
from mait_code.journal.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def machines(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, Machine]:
    remote = bare(tmp_path / "remote.git")
    both = Machine(tmp_path, "here", cli, monkeypatch), Machine(tmp_path, "there", cli, monkeypatch)
    for one in both:
        one.ok("init", "--remote", str(remote))
    monkeypatch.setenv("MAIT_CODE_SYNC_EVIDENCE", "off")
    return both


def record(machine: Machine, written: Transcript, **more: Any) -> None:
    machine.enter()
    with Workspace(machine.home) as ws:
        recording.record(ws, written.path, reason="clear", **more)


def test_sessions_and_summaries_travel_prompts_and_turns_do_not(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    here, there = machines
    written = Transcript(tmp_path / "p")
    written.turn()
    record(here, written)
    here.ok("sync")
    there.ok("sync")
    assert there.json("sessions", "list", "--all")[0]["session"] == written.session
    mine, theirs = (one.json("sessions", "show", written.session) for one in machines)
    assert [turn["request"] for turn in mine["turns"]] == ["make the cart faster"]
    assert theirs["turns"] == []
    assert theirs["summaries"][0]["request"] == mine["summaries"][0]["request"] == "make the cart faster"
    assert here.digest() == there.digest(), "what stays here is no difference"
    assert here.ok("doctor").code == 0
    assert here.ok("verify").code == 0
    assert [one["stays"] for one in here.json("replicas")].count(True) == 1


def test_no_git_takes_it_along(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    here, there = machines
    written = Transcript(tmp_path / "p")
    written.turn("nobody else's business")
    record(here, written)
    here.ok("sync")
    data = here.home.data
    assert git(data, "status", "--porcelain") == ""
    git(data, "add", "-A")
    assert git(data, "status", "--porcelain") == ""
    git(data, "push")
    (staying,) = segments.staying(here.home.journal)
    held = git(data, "ls-tree", "-r", "--name-only", "HEAD")
    assert staying not in held
    assert staying not in git(tmp_path / "remote.git", "ls-tree", "-r", "--name-only", "main")
    there.ok("sync")
    assert not any(segments.stays(there.home.journal, name) for name in segments.directories(there.home.journal))


def test_twice_is_once_and_stores_are_made_again(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    here, _ = machines
    written = Transcript(tmp_path / "p")
    written.turn()
    record(here, written)
    record(here, written)
    written.turn("and the checkout", "Done.")
    record(here, written)
    before = here.json("sessions", "show", written.session)
    assert [turn["request"] for turn in before["turns"]] == ["make the cart faster", "and the checkout"]
    digest = here.digest()
    here.ok("rebuild")
    assert here.json("sessions", "show", written.session) == before
    assert here.digest() == digest
    assert here.json("conflicts") == []


def test_the_digest_leaves_out_what_stays_of_an_entity_that_travels(
    machines: tuple[Machine, Machine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that was recorded while evidence travelled, and has grown since it does not."""
    here, there = machines
    written = Transcript(tmp_path / "p")
    monkeypatch.setenv("MAIT_CODE_SYNC_EVIDENCE", "on")
    written.turn()
    record(here, written)
    monkeypatch.setenv("MAIT_CODE_SYNC_EVIDENCE", "off")
    written.answer("It is much faster now.")
    record(here, written)
    here.ok("sync")
    there.ok("sync")
    mine, theirs = (one.json("sessions", "show", written.session)["turns"][0]["answer"] for one in machines)
    assert (mine, theirs) == ("It is much faster now.", "It is faster.")
    assert here.digest() == there.digest()


def test_a_hook_that_finds_it_taken_leaves_it_in_a_spool_of_its_own(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    here, there = machines
    written = Transcript(tmp_path / "p")
    written.turn("private to this machine")
    here.enter()
    with Workspace(here.home) as ws:
        ws.local_journal.home.make()
        with Lock(ws.local_journal.home.in_state("lock")):
            recording.record(ws, written.path, hurried=True)
        assert spool.waiting(ws.local_journal.home)
        with ws.journal.writing():
            pass  # whoever writes what travels leaves it where it is
        assert spool.waiting(ws.local_journal.home)
    assert next(one for one in here.json("doctor")["checks"] if one["name"] == "spool")["level"] == "warn"
    record(here, written)
    here.ok("sync")
    there.ok("sync")
    assert here.json("sessions", "show", written.session)["turns"]
    remote = subprocess.run(
        ["git", "-C", str(tmp_path / "remote.git"), "grep", "private to this machine", "main", "--", "journal"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert "turn.recorded" not in remote
    assert "prompt.submitted" not in remote


def test_what_doctor_puts_back_stays_too(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    here, _ = machines
    written = Transcript(tmp_path / "p")
    written.turn()
    record(here, written)
    shown = here.json("sessions", "show", written.session)
    (staying,) = segments.staying(here.home.journal)
    os.unlink(os.path.join(here.home.journal, staying, segments.name_of(1)))
    here.ok("doctor", "--fix")
    assert here.json("sessions", "show", written.session) == shown
    here.ok("sync")
    tracked = git(here.home.data, "ls-files")
    assert not [name for name in segments.staying(here.home.journal) if name in tracked]
    assert len(segments.staying(here.home.journal)) > 1, "the one it had, and one for the adopted lines"


def test_a_move_keeps_both_replicas(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    here, _ = machines
    written = Transcript(tmp_path / "p")
    written.turn()
    record(here, written)
    before = {one["replica"] for one in here.json("replicas")}
    target = tmp_path / "elsewhere"
    os.environ.pop("MAIT_CODE_DATA_DIR")
    here._cli("settings", "set", "data-dir", str(here.folder / "data"))
    moved = here._cli("settings", "set", "data-dir", str(target), "--move-data")
    assert moved.code == 0, moved.err
    written.turn("once more")
    from mait_code.journal.home import Home

    with Workspace(Home(str(target))) as ws:
        recording.record(ws, written.path)
    assert set(segments.directories(str(target / "journal"))) == before
