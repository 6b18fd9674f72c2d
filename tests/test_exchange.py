"""init and sync on the command line: what they make, what they say, what they print as JSON. Real git throughout."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from git_machines import bare, git
from two_machines import Machine

from mait_code.journal import clock

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.git


@pytest.fixture
def far(tmp_path: Path) -> str:
    return str(bare(tmp_path / "far.git"))


@pytest.fixture
def both(desk: Machine, lap: Machine, far: str) -> tuple[Machine, Machine]:
    desk.ok("init", "--remote", far, "--label", "the desk")
    lap.ok("init", "--remote", far, "--label", "the laptop")
    return desk, lap


# -- init -------------------------------------------------------------------------------------------------------------


def test_init(desk: Machine) -> None:
    done = desk.ok("init")
    assert done.out.splitlines()[0] == f"Made the repository in {desk.home.data}"
    assert "init --remote URL" in done.err
    again = desk.ok("init")
    assert again.out.startswith("Found the repository in")
    found = desk.json("init")
    assert set(found) == {"data_dir", "made", "remote", "offline", "replica", "label"}
    assert (found["data_dir"], found["made"], found["remote"], found["offline"]) == (desk.home.data, False, None, None)
    assert found["replica"] == desk.replica
    assert found["label"] == os.uname().nodename
    assert git(desk.home.data, "rev-list", "--count", "HEAD").strip() == "1"
    assert desk("verify").code == 0


def test_init_keeps_what_is_there(desk: Machine) -> None:
    desk.ok("board", "add", "before")
    before = desk.digest()
    desk.ok("init", "--label", "the desk")
    assert [one["title"] for one in desk.json("board", "list")] == ["before"]
    desk.ok("undo")
    assert desk.digest() != before  # labelled and unlabelled again: that is known of it now
    assert desk.json("init")["label"] == os.uname().nodename


def test_labels(desk: Machine) -> None:
    assert desk.json("init", "--label", "the desk")["label"] == "the desk"
    assert len(desk.json("log")) == 0, "the first label stands in the replica's own file"
    assert desk.json("init", "--label", "the desk")["label"] == "the desk"
    assert len(desk.json("log")) == 0
    assert desk.json("init", "--label", "  the \u202eattic 🎉 ")["label"] == "the \u202eattic 🎉"
    assert "\u202e" not in desk.ok("replicas").out
    assert desk.json("init")["label"] == "the \u202eattic 🎉"
    for wrong in ("", "   ", "x" * 201):
        assert desk("init", "--label", wrong).code == 2
    assert len(desk.json("log")) == 1


def test_a_remote(desk: Machine, far: str, tmp_path: Path) -> None:
    done = desk.ok("init", "--remote", far)
    assert f"Remote: {far}" in done.out
    assert "next: mait-code sync" in done.err
    other = str(bare(tmp_path / "other.git"))
    assert desk.json("init", "--remote", other)["remote"] == other
    assert desk.json("init")["remote"] == other
    for wrong in ("", " ", "--upload-pack=x", "a\nb"):
        assert desk("init", f"--remote={wrong}").code == 2
    assert desk.json("init")["remote"] == other


def test_a_remote_that_is_not_reached(desk: Machine, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "not-mounted" / "far.git")
    done = desk("init", "--remote", nowhere)
    assert done.code == 0, done.err
    assert "was not reached" in done.err
    assert desk.json("init")["remote"] == nowhere
    assert desk.json("init", "--remote", nowhere)["offline"]


def test_passwords_in_urls_are_not_shown(desk: Machine) -> None:
    done = desk("init", "--remote", "http://me:hunter2@127.0.0.1:1/x.git")
    assert "hunter2" not in done.out + done.err
    assert "hunter2" not in desk("init").out + desk("init", "--json").out
    desk.ok("inbox", "add", "x")
    done = desk("sync")
    assert "hunter2" not in done.out + done.err


def test_a_populated_remote_is_adopted(desk: Machine, lap: Machine, tmp_path: Path) -> None:
    far = str(bare(tmp_path / "far.git", branch="trunk"))
    desk.ok("board", "add", "one")
    desk.ok("sync")
    git(desk.home.data, "branch", "-m", "trunk")
    desk.ok("init", "--remote", far)
    desk.ok("sync")
    lap.ok("inbox", "add", "two")
    lap.ok("init", "--remote", far)
    assert git(lap.home.data, "symbolic-ref", "--short", "HEAD").strip() == "trunk"
    assert lap.json("sync")["received"] == 1
    assert [one["title"] for one in lap.json("board", "list")] == ["one"]


# -- sync -------------------------------------------------------------------------------------------------------------


def test_without_a_remote(desk: Machine) -> None:
    desk.ok("inbox", "add", "one")
    done = desk.ok("sync")
    assert done.out == "Committed here.\n"
    assert "there is no remote" in done.err
    assert desk.ok("sync").out == "Nothing new to commit.\n"
    found = desk.json("sync")
    assert set(found) == {
        "committed", "sent", "received", "commits_waiting", "offline", "remote", "adopted", "restored", "shrank",
        "documents", "aside", "arrived", "new_identity", "conflicts", "bad_lines", "clocks_ahead",
    }  # fmt: skip
    assert found["remote"] is None
    assert (found["committed"], found["sent"], found["conflicts"], found["bad_lines"]) == (False, 0, [], [])


def test_there_and_back(both: tuple[Machine, Machine]) -> None:
    desk, lap = both
    desk.ok("board", "add", "one")
    desk.ok("inbox", "add", "two")
    lap.ok("reminders", "set", "2090-01-02", "three")
    assert desk.ok("sync").out == "Sent 2 events, received 0 events.\n"
    assert lap.ok("sync").out == "Sent 1 event, received 2 events.\n"
    assert desk.json("sync")["received"] == 1
    assert desk.ok("sync").out == "Up to date.\n"
    assert desk.digest() == lap.digest()
    assert [one["what"] for one in desk.json("reminders")] == ["three"]


def test_only_a_document(both: tuple[Machine, Machine]) -> None:
    desk, lap = both
    desk.ok("sync")
    lap.ok("sync")
    with open(desk.home.in_data("user_context.md"), "w", encoding="utf-8") as file:
        file.write("who I am\n")
    assert desk.ok("sync").out == "Sent what was changed.\n"
    lap.ok("sync")
    assert os.path.exists(lap.home.in_data("user_context.md"))


def test_offline(both: tuple[Machine, Machine], far: str) -> None:
    desk, _lap = both
    desk.ok("inbox", "add", "one")
    desk.ok("sync")
    os.rename(far, far + ".away")
    for number in (1, 2):
        desk.ok("inbox", "add", f"offline {number}")
        done = desk.ok("sync")
        assert done.out == f"Committed here, {number} commit{'' if number == 1 else 's'} waiting.\n"
        assert "the remote was not reached" in done.err
    assert desk.ok("sync").out == "Nothing new here, 2 commits waiting.\n"
    found = desk.json("sync")
    assert (found["commits_waiting"], bool(found["offline"])) == (2, True)
    os.rename(far + ".away", far)
    assert desk.ok("sync").out == "Sent 2 events, received 0 events.\n"


def test_conflicts_are_told(both: tuple[Machine, Machine]) -> None:
    desk, lap = both
    desk.ok("board", "add", "Fix \x1b[31mthe login")
    desk.ok("sync")
    lap.ok("sync")
    desk.ok("board", "move", "1", "done")
    lap.ok("board", "move", "1", "in_review")
    desk.ok("sync")
    done = lap.ok("sync")
    assert "status: done | in_review" in done.out
    assert "\x1b" not in done.out
    assert "mait-code conflicts pick" in done.err
    found = lap.json("sync")["conflicts"]
    assert [(one["field"], len(one["sides"])) for one in found] == [("status", 2)]
    lap.ok("conflicts", "pick", "1", "1")
    assert "conflict" not in lap.ok("sync").out
    assert "conflict" not in desk.ok("sync").out
    assert desk.json("board", "show", "1")["status"] == "done"


def test_bad_lines_are_told(both: tuple[Machine, Machine]) -> None:
    desk, lap = both
    lap.ok("inbox", "add", "one")
    segment = lap.segment()
    lap.put(segment, lap.files()[segment] + b"not json\n" * 7)
    lap.ok("sync")
    done = desk("sync")
    assert done.code == 0
    assert f"journal/{segment}:2: not JSON; skipped" in done.err
    assert "and 2 more bad lines" in done.err
    assert len(desk.json("sync")["bad_lines"]) == 7
    assert len(desk.json("inbox", "list")) == 1


def test_a_clock_ahead_is_told(both: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch) -> None:
    desk, lap = both
    real = clock.wall
    with monkeypatch.context() as patch:
        patch.setattr(clock, "wall", lambda: real() + 7200 * clock.SECOND)
        lap.ok("inbox", "add", "from the future")
    lap.ok("sync")
    assert "the clock of the laptop ran 2 hours" in desk.ok("sync").err
    (ahead,) = desk.json("sync")["clocks_ahead"]
    assert (ahead["replica"], ahead["label"]) == (lap.replica, "the laptop")
    assert 7000 < ahead["seconds"] <= 7200


def test_what_the_remote_took_away_comes_back(both: tuple[Machine, Machine], far: str, tmp_path: Path) -> None:
    desk, lap = both
    desk.ok("inbox", "add", "one")
    desk.ok("sync")
    lap.ok("sync")
    clone = tmp_path / "by-hand"
    git(tmp_path, "clone", "-q", far, str(clone))
    (clone / "journal" / desk.segment()).unlink()
    git(clone, "commit", "-q", "-am", "by hand")
    git(clone, "push", "-q", "origin", "HEAD")
    done = lap("sync")
    assert done.code == 1
    assert "the remote had cut" in done.err
    assert len(lap.json("inbox", "list")) == 1
    assert desk("sync").code in (0, 1)
    assert desk.digest() == lap.digest()


def test_a_segment_lost_here_is_put_back(both: tuple[Machine, Machine]) -> None:
    desk, _lap = both
    desk.ok("inbox", "add", "one")
    desk.ok("sync")
    segment = desk.segment()
    os.unlink(os.path.join(desk.home.journal, segment))
    done = desk.ok("sync")
    assert f"journal/{segment} was damaged or gone here and was put back" in done.err
    assert desk.json("sync")["restored"] == []
    assert len(desk.json("inbox", "list")) == 1


def test_undo_travels(both: tuple[Machine, Machine]) -> None:
    desk, lap = both
    desk.ok("board", "add", "one")
    desk.ok("sync")
    lap.ok("sync")
    lap.ok("board", "comment", "1", "seen")
    lap.ok("sync")
    desk.ok("sync")
    assert "was commented on since, by me on the laptop" in desk.refused("undo")
    lap.ok("undo")
    lap.ok("sync")
    desk.ok("sync")
    desk.ok("undo")
    desk.ok("sync")
    lap.ok("sync")
    assert lap.json("board", "list") == []
    assert desk.digest() == lap.digest()


def test_with_git_variables_of_another_repository(both: tuple[Machine, Machine], tmp_path: Path) -> None:
    desk, _lap = both
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    desk._patch.setenv("GIT_DIR", str(other / ".git"))
    desk._patch.setenv("GIT_WORK_TREE", str(other))
    desk.ok("inbox", "add", "one")
    assert desk.json("sync")["sent"] == 1
    assert not (other / ".git" / "index").exists()


def test_without_git(desk: Machine, tmp_path: Path) -> None:
    """Everything but sync works; sync says what is missing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    desk._patch.setenv("PATH", str(folder))
    desk.ok("board", "add", "one")
    desk.ok("undo")
    assert desk("doctor").code == 0
    for words in (["sync"], ["init"]):
        said = desk.refused(*words)
        assert "git" in said
        assert "fault of ours" not in said


def test_doctor_after_git_is_gone(both: tuple[Machine, Machine], tmp_path: Path) -> None:
    desk, _lap = both
    (tmp_path / "bin").mkdir()
    desk._patch.setenv("PATH", str(tmp_path / "bin"))
    done = desk("doctor")
    assert done.code == 1
    assert "✗ git" in done.out
    assert "fault of ours" not in done.out
    assert "✓ lines" in done.out


def test_a_clone_made_by_hand(both: tuple[Machine, Machine], far: str, tmp_path: Path, lap: Machine) -> None:
    desk, lap = both
    desk.ok("inbox", "add", "one")
    desk.ok("sync")
    shutil.rmtree(lap.home.data)
    git(tmp_path, "clone", "-q", far, lap.home.data)
    assert [one["body"] for one in lap.json("inbox", "list")] == ["one"]
    assert any(
        one["name"] == "git-settings" and one["level"] == "warn" for one in lap("doctor", "--json").json["checks"]
    )
    lap.ok("doctor", "--fix")
    lap.ok("inbox", "add", "two")
    assert lap.json("sync")["sent"] == 1
