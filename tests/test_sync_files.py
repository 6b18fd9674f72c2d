"""Files beside the journal in a sync: what arrives is told, what is the same is no obstacle, and what is one is named."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from git_machines import bare, git
from two_machines import Machine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare(tmp_path / "remote.git")


@pytest.fixture
def lap(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, remote: Path) -> Machine:
    machine = Machine(tmp_path, "lap", cli, monkeypatch)
    machine.ok("init", "--remote", str(remote))
    machine.ok("sync")
    return machine


@pytest.fixture
def desk(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, lap: Machine, remote: Path
) -> Machine:
    machine = Machine(tmp_path, "desk", cli, monkeypatch)
    machine.ok("init", "--remote", str(remote))
    machine.ok("sync")
    return machine


def write(machine: Machine, name: str, content: str) -> None:
    with open(machine.home.in_data(name), "w") as file:
        file.write(content)


def read(machine: Machine, name: str) -> str:
    with open(machine.home.in_data(name)) as file:
        return file.read()


def commit(machine: Machine, name: str, content: str) -> None:
    """What a user does by hand with a file that is not of the journal."""
    write(machine, name, content)
    git(machine.home.data, "add", name)
    git(machine.home.data, "commit", "-m", name)


# -- what arrives


def test_a_document_that_arrives_is_told(lap: Machine, desk: Machine) -> None:
    write(lap, "soul_document.md", "be kind\n")
    lap.ok("sync")
    came = desk.ok("sync")
    assert "Received soul_document.md, which is new." in came.out
    assert "Up to date" not in came.out
    write(lap, "soul_document.md", "be brief\n")
    lap.ok("sync")
    came = desk.ok("sync")
    assert read(desk, "soul_document.md") == "be brief\n"
    assert "Received soul_document.md, which another machine changed" in came.out
    os.unlink(lap.home.in_data("soul_document.md"))
    lap.ok("sync")
    came = desk.ok("sync", "--json")
    assert came.json["arrived"] == [{"path": "soul_document.md", "how": "removed"}]
    assert not os.path.exists(desk.home.in_data("soul_document.md"))
    assert desk.ok("sync").out == "Up to date.\n"


def test_what_we_sent_is_not_said_to_arrive(lap: Machine, desk: Machine) -> None:
    write(lap, "user_context.md", "mine\n")
    assert lap.json("sync")["arrived"] == []
    assert lap.json("sync")["arrived"] == []


# -- what is in the way


@pytest.mark.parametrize("tracked", [False, True])
def test_the_same_bytes_are_no_obstacle(lap: Machine, desk: Machine, tracked: bool) -> None:
    if tracked:
        commit(lap, "README.md", "first\n")
        lap.ok("sync")
        desk.ok("sync")
    commit(lap, "README.md", "hello\n")
    lap.ok("inbox", "add", "goes with it")
    lap.ok("sync")
    write(desk, "README.md", "hello\n")
    desk.ok("inbox", "add", "from the desk")
    came = desk.ok("sync", "--json").json
    assert came["received"] == 1
    assert read(desk, "README.md") == "hello\n"
    assert git(desk.home.data, "status", "--porcelain") == ""
    lap.ok("sync")
    assert lap.digest() == desk.digest()


def test_other_bytes_stop_it_and_doctor_says_so(lap: Machine, desk: Machine) -> None:
    commit(lap, "README.md", "hello\n")
    commit(lap, "same.txt", "same\n")
    lap.ok("sync")
    write(desk, "README.md", "something else\n")
    write(desk, "same.txt", "same\n")
    assert "README.md: another machine's version would replace yours" in desk.refused("sync")
    assert read(desk, "README.md") == "something else\n"
    done = desk("doctor")
    assert "README.md: another machine's version would replace what is here" in done.out
    assert "same.txt" not in done.out
    assert "Everything is in order" not in done.out
    write(desk, "README.md", "hello\n")
    assert "would replace" not in desk("doctor").out
    desk.ok("sync")


def test_a_link_in_the_place_of_a_file_is_not_written_through(lap: Machine, desk: Machine, tmp_path: Path) -> None:
    commit(lap, "README.md", "hello\n")
    lap.ok("sync")
    (tmp_path / "outside").write_text("hello\n")
    os.symlink(tmp_path / "outside", desk.home.in_data("README.md"))
    assert "README.md" in desk.refused("sync")
    assert os.path.islink(desk.home.in_data("README.md"))
    assert "README.md" in desk("doctor").out


@pytest.mark.parametrize("what", ["rebase", "detached"])
def test_doctor_knows_what_else_stops_a_sync(desk: Machine, what: str) -> None:
    assert "is underway" not in desk("doctor").out
    if what == "rebase":
        os.makedirs(desk.home.in_data(".git/rebase-merge"))
        said = "a rebase is underway"
    else:
        git(desk.home.data, "checkout", "--quiet", "--detach")
        said = "no branch checked out"
    assert said in desk("doctor").out
    assert said in desk.refused("sync")


# -- init --remote


@pytest.mark.parametrize("bad", ["ext::sh -c x", "no-such-helper::x", "REFUSING"])
def test_a_remote_that_cannot_be_leaves_the_one_that_works(
    lap: Machine, desk: Machine, remote: Path, tmp_path: Path, bad: str
) -> None:
    if bad == "REFUSING":
        (tmp_path / "no-repository").mkdir()
        bad = str(tmp_path / "no-repository")
    before = git(desk.home.data, "config", "--local", "--list")
    assert desk("init", "--remote", bad).code == 1
    assert git(desk.home.data, "config", "--local", "--list") == before
    lap.ok("inbox", "add", "still here")
    lap.ok("sync")
    assert desk.json("sync")["received"] == 1


def test_a_remote_that_is_away_is_set(desk: Machine, tmp_path: Path) -> None:
    done = desk.ok("init", "--remote", str(tmp_path / "not-mounted.git"))
    assert "not reached" in done.err
    assert git(desk.home.data, "config", "remote.origin.url").strip() == str(tmp_path / "not-mounted.git")
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "not-mounted.git")], check=True)
    desk.ok("sync")
