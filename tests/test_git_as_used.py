"""Git as people use it: their settings, their hooks, their half finished merges, and plain `git pull` and `git
push`."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import orjson
import pytest
from git_machines import Machine, bare, git, settle

from mait_code.journal import git as running
from mait_code.journal import recent
from mait_code.journal import sync as syncing
from mait_code.journal.errors import DiskRefused, GitFailed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.git


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return bare(tmp_path / "far.git")


@pytest.fixture
def a(tmp_path: Path, far: Path) -> Machine:
    return Machine(tmp_path / "a").make(far)


@pytest.fixture
def b(tmp_path: Path, far: Path) -> Machine:
    return Machine(tmp_path / "b").make(far)


def configure(home: Path, text: str) -> None:
    """The user's global configuration."""
    (home / ".gitconfig").write_text(text)


# -- settings of the user's


def test_without_a_name(a: Machine, home: Path) -> None:
    configure(home, "[user]\n\tuseConfigOnly = true\n")
    a.capture("one")
    a.sync()
    assert a.git("log", "-1", "--format=%an <%ae> %cn <%ce>").strip() == (
        "mait-code <mait-code@localhost> mait-code <mait-code@localhost>"
    )
    assert (home / ".gitconfig").read_text() == "[user]\n\tuseConfigOnly = true\n"
    assert "user" not in (a.data / ".git" / "config").read_text()


def test_with_a_name(a: Machine, home: Path) -> None:
    configure(home, "[user]\n\tname = Zoë 山田\n\temail = zoe@example.org\n[author]\n\temail = author@example.org\n")
    a.capture("one")
    a.sync()
    shown = a.git("log", "-1", "--format=%an <%ae> %cn <%ce>").strip()
    assert shown == "Zoë 山田 <author@example.org> Zoë 山田 <zoe@example.org>"


def test_a_name_of_nothing_but_dots(a: Machine, home: Path) -> None:
    configure(home, '[user]\n\tname = "..."\n\temail = "<>"\n')
    a.capture("one")
    assert a.sync().committed


HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit", "post-merge", "pre-push"),
    *("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"),
)


@pytest.mark.parametrize("where", ["global", "local", "hooks directory"])
def test_hooks_never_run(a: Machine, b: Machine, home: Path, tmp_path: Path, where: str) -> None:
    folder = a.data / ".git" / "hooks" if where == "hooks directory" else tmp_path / "hooks"
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        # The remote is on this machine too: its own hooks are its own affair.
        away = 'case "$(git rev-parse --absolute-git-dir)" in */far.git*) exit 0;; esac'
        (folder / name).write_text(f"#!/bin/sh\n{away}\ntouch {tmp_path}/ran-{name}\nexit 1\n")
        (folder / name).chmod(0o755)
    if where == "global":
        configure(home, f"[core]\n\thooksPath = {folder}\n\tfsmonitor = {folder}/fsmonitor-watchman\n")
    elif where == "local":
        a.git("config", "core.hooksPath", str(folder))
        a.git("config", "core.fsmonitor", f"{folder}/fsmonitor-watchman")
    a.capture("one")
    b.capture("two")
    b.sync()
    assert a.sync().tries == 1
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("ran-")]


SETTINGS = {
    "signing": "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /bin/false\n[push]\n\tgpgSign = true\n",
    "autocrlf": "[core]\n\tautocrlf = true\n\teol = crlf\n\tsafecrlf = true\n",
    "attributes": "[core]\n\tattributesFile = {home}/attributes\n",
    "rebase": "[pull]\n\trebase = true\n[rebase]\n\tautoStash = true\n[merge]\n\tff = false\n\tautoStash = true\n",
    "ff only": "[pull]\n\tff = only\n[merge]\n\tff = only\n\tverifySignatures = true\n",
    "push nothing": "[push]\n\tdefault = nothing\n\tfollowTags = true\n[remote]\n\tpushDefault = elsewhere\n",
    "branch": "[init]\n\tdefaultBranch = trunk\n\tdefaultObjectFormat = sha256\n\ttemplateDir = /nowhere\n",
    "submodules": "[submodule]\n\trecurse = true\n[fetch]\n\trecurseSubmodules = true\n\tfsckObjects = true\n",
    "status": "[status]\n\tshowUntrackedFiles = no\n\trenames = copies\n\tshort = true\n[color]\n\tui = always\n",
    "diff": "[diff]\n\tnoprefix = true\n\trenames = copies\n\texternal = /bin/false\n[core]\n\tpager = /bin/false\n",
    "conflict style": "[merge]\n\tconflictStyle = diff3\n[rerere]\n\tenabled = true\n\tautoUpdate = true\n",
    "filter": '[core]\n\tattributesFile = {home}/filters\n[filter "x"]\n\tclean = rev\n\trequired = true\n',
    "commit": "[commit]\n\ttemplate = /nowhere\n\tcleanup = scissors\n[core]\n\teditor = /bin/false\n",
}


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_settings_of_the_user(tmp_path: Path, home: Path, far: Path, name: str) -> None:
    (home / "attributes").write_text("* text eol=crlf ident working-tree-encoding=UTF-16\n")
    (home / "filters").write_text("* filter=x\n")
    configure(home, SETTINGS[name].replace("{home}", str(home)))
    a, b = (Machine(tmp_path / letter).make(far) for letter in "ab")
    ids = a.capture("one") + b.capture("two")
    (a.data / "soul_document.md").write_text("one\ntwo\nthree\n")
    settle(a, b)
    (a.data / "soul_document.md").write_text("ONE\ntwo\nthree\n")
    (b.data / "soul_document.md").write_text("one\ntwo\nTHREE\n")
    ids += a.capture("three") + b.capture("four")
    settle(a, b)
    assert set(a.lines()) == set(ids)
    assert (a.data / "soul_document.md").read_bytes() == b"ONE\ntwo\nTHREE\n"
    for path, content in a.files().items():
        assert content == (a.data / path).read_bytes() == (b.data / path).read_bytes()


def test_filters_of_the_data_repository(a: Machine, b: Machine, tmp_path: Path) -> None:
    """Local settings and attributes inside the repository name a filter: what is committed is what is in the files."""
    for machine in (a, b):
        for key in ("clean", "smudge", "process"):
            machine.git("config", f"filter.Loud.x.{key}", f"touch {tmp_path}/ran; tr a-z A-Z")
        machine.git("config", "filter.Loud.x.required", "true")
        (machine.data / ".git" / "info").mkdir(exist_ok=True)
        (machine.data / ".git" / "info" / "attributes").write_text("* filter=Loud.x\n")
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    assert set(b.lines()) == set(ids)
    assert a.own.read_bytes() == a.files()[str(a.own.relative_to(a.data))]
    assert not (tmp_path / "ran").exists()


def test_the_users_rewritten_addresses_and_inherited_settings_are_used(
    a: Machine, far: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(home, f'[url "{far.parent}/"]\n\tinsteadOf = work:\n')
    a.git("config", "remote.origin.url", "work:far.git")
    a.capture("one")
    assert a.sync().sent == 1
    configure(home, "")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{far.parent}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "work:")
    a.capture("two")
    assert a.sync().sent == 1


def test_a_broken_configuration_is_told_in_one_line(a: Machine, home: Path) -> None:
    configure(home, "[user\n")
    with pytest.raises(GitFailed, match="bad config line 1") as caught:
        a.sync()
    assert "\n" not in caught.value.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
def test_a_data_directory_that_somebody_else_owns(a: Machine) -> None:
    a.capture("one")
    for path in (a.data, a.data / ".git"):
        os.chown(path, 12345, 12345)
    assert "dubious ownership" in a.git("status", check=False)
    assert a.sync().sent == 1


def test_a_git_directory_elsewhere(a: Machine, tmp_path: Path) -> None:
    a.capture("one")
    a.git("init", "-q", f"--separate-git-dir={tmp_path}/gitdir")
    assert (a.data / ".git").is_file()
    assert a.sync().sent == 1


def test_a_data_directory_behind_a_link(a: Machine, b: Machine, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(a.data)
    a.capture("one")
    linked = Machine(a.folder, data="../link")
    linked.capture("two")
    report = linked.sync()
    assert (report.sent, report.new_identity) == (2, "")
    assert linked.replica == a.replica
    settle(a, b)


def test_a_document_that_is_a_link_is_left_alone(a: Machine, b: Machine, tmp_path: Path) -> None:
    (tmp_path / "dotfile").write_text("mine\n")
    (a.data / "soul_document.md").symlink_to(tmp_path / "dotfile")
    a.capture("one")
    settle(a, b)
    assert "soul_document.md" not in a.files()
    (b.data / "soul_document.md").write_text("theirs\n")
    b.sync()
    with pytest.raises(GitFailed, match=r"soul_document\.md"):
        a.sync()
    assert (tmp_path / "dotfile").read_text() == "mine\n"


# -- a git that takes away what is not committed


def test_events_that_a_hard_reset_took_come_back(a: Machine, b: Machine) -> None:
    ids = a.capture("one")
    settle(a, b)
    old = a.replica
    lost = a.capture("two", "three")
    a.git("reset", "-q", "--hard")
    assert not set(lost) & set(a.lines())
    ids += a.capture("four")
    assert set(lost) < set(a.lines())
    settle(a, b)
    assert set(b.lines()) == {*ids, *lost}
    assert {orjson.loads(b.lines()[one])["replica"] for one in lost} == {old}


def test_events_that_a_hard_reset_took_come_back_with_a_sync(a: Machine, b: Machine) -> None:
    ids = a.capture("one")
    settle(a, b)
    ids += a.capture("two")
    a.git("reset", "-q", "--hard")
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_file_that_is_cut_while_a_line_is_being_written(a: Machine, b: Machine) -> None:
    """A git resets it after the writer looked and before it wrote."""
    ids = a.capture("one")
    settle(a, b)
    lost = a.capture("two", "three")
    with a.here(), a.journal.writing() as writer:
        ids.append(writer.append("inbox.captured", body="four").id)
        a.git("reset", "-q", "--hard")
    assert set(a.lines()) == {*ids, *lost}
    ids += a.capture("five")
    settle(a, b)
    assert set(b.lines()) == {*ids, *lost}


def test_a_journal_that_was_removed_on_purpose_does_not_come_back(a: Machine, tmp_path: Path) -> None:
    a.capture("one", "two")
    subprocess.run(["rm", "-rf", str(a.data)], check=True)
    (event,) = a.capture("a new life")
    assert set(a.lines()) == {event}
    a.capture("and on")
    assert len(a.lines()) == 2


def test_no_more_is_kept_than_is_needed(a: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "LIMIT", 4000)
    ids = a.capture(*(f"{number}" for number in range(60)))
    with a.here():
        sizes = [os.path.getsize(a.home.in_state(name)) for name in ("recent", "recent.old")]
    assert sizes[0] <= 4000 <= sizes[1] < 5000
    a.own.write_bytes(b"".join(a.own.read_bytes().splitlines(keepends=True)[:50]))
    a.capture("later")
    assert set(ids) < set(a.lines())


# -- the user's own work with git


def test_plain_pull_and_push_alone_converge(a: Machine, b: Machine) -> None:
    ids = a.capture("first")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    a.git("push", "-q")
    for number in range(3):
        for machine in (b, a):
            ids += machine.capture(f"{number}")
            machine.git("add", "-A")
            machine.git("commit", "-q", "-m", "mine")
            machine.git("pull", "-q")
            machine.git("push", "-q")
    b.git("pull", "-q")
    assert set(a.lines()) == set(b.lines()) == set(ids)
    assert a.files() == b.files()
    settle(a, b)
    assert set(a.lines()) == set(ids)


def test_plain_pull_with_events_not_yet_committed(a: Machine, b: Machine) -> None:
    ids = a.capture("one")
    settle(a, b)
    ids += b.capture("two")
    b.sync()
    ids += a.capture("three")
    a.git("pull", "-q")
    ids += a.capture("four")
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_plain_clone_is_a_machine_of_its_own(a: Machine, far: Path, tmp_path: Path, home: Path) -> None:
    configure(home, "[pull]\n\trebase = true\n")
    ids = a.capture("one")
    a.sync()
    (tmp_path / "c").mkdir()
    git(tmp_path, "clone", "-q", str(far), str(tmp_path / "c" / "data"))
    c = Machine(tmp_path / "c")
    assert len(c.repository.config_faults()) == 4
    ids += c.capture("two")
    settle(a, c)
    assert c.replica != a.replica
    assert c.repository.config_faults() == []
    assert set(a.lines()) == set(ids)


def test_two_histories_that_never_met(a: Machine, far: Path, tmp_path: Path) -> None:
    """A data directory that was somebody's own repository before, with the journal committed by hand."""
    ids = a.capture("one")
    a.sync()
    c = Machine(tmp_path / "c")
    ids += c.capture("two")
    c.git("init", "-q", "-b", "main")
    c.git("add", "-A")
    c.git("commit", "-q", "-m", "by hand")
    c.make(far)
    assert c.git("merge-base", "HEAD", "origin/main", check=False).startswith("fatal")
    settle(a, c)
    assert set(a.lines()) == set(ids)
    assert c.git("merge-base", "HEAD", "origin/main").strip() == c.git("rev-parse", "HEAD").strip()


def backup(machine: Machine, b: Machine) -> tuple[list[str], list[str]]:
    """A restored backup of data and state, and both sides gone on since: (events of the lost week, events since)."""
    machine.capture("before")
    settle(machine, b)
    saved = machine.folder.parent / "saved"
    subprocess.run(["cp", "-a", str(machine.folder), str(saved)], check=True)
    lost = machine.capture("lost week")
    machine.sync()
    subprocess.run(["rm", "-rf", str(machine.folder)], check=True)
    subprocess.run(["cp", "-a", str(saved), str(machine.folder)], check=True)
    return lost, machine.capture("since", "and since")


def pull_into_a_conflict(machine: Machine) -> None:
    machine.git("add", "-A")
    machine.git("commit", "-q", "-m", "mine")
    assert "CONFLICT" in machine.git("pull", check=False)
    assert (machine.data / ".git" / "MERGE_HEAD").exists()


def test_a_restored_backup_and_a_plain_pull_are_repaired(a: Machine, b: Machine) -> None:
    lost, since = backup(a, b)
    old = a.replica
    pull_into_a_conflict(a)
    since += a.capture("in the middle of it")
    report = a.repair()
    assert report is not None
    assert (report.adopted, report.new_identity, report.shrank) == (3, a.replica, [])
    assert not (a.data / ".git" / "MERGE_HEAD").exists()
    assert a.clean()
    assert {*lost, *since} < set(a.lines())
    assert a.repair() is None
    later = a.capture("later")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "plain again")
    a.git("push", "-q")
    settle(a, b)
    assert {*lost, *since, *later} < set(b.lines())
    assert orjson.loads(b.lines()[later[0]])["replica"] == a.replica != old
    assert {orjson.loads(b.lines()[one])["replica"] for one in since} == {old}


def test_sync_finishes_such_a_merge_too(a: Machine, b: Machine) -> None:
    lost, since = backup(a, b)
    pull_into_a_conflict(a)
    report = a.sync()
    assert report.adopted == 2
    settle(a, b)
    assert {*lost, *since} < set(b.lines())


def test_a_restored_backup_and_sync(a: Machine, b: Machine) -> None:
    lost, since = backup(a, b)
    old = a.replica
    report = a.sync()
    assert (report.adopted, report.new_identity) == (2, a.replica)
    assert a.replica != old
    settle(a, b)
    assert {*lost, *since} < set(b.lines())


def test_a_restored_backup_of_the_data_alone(a: Machine, b: Machine) -> None:
    first = a.capture("before")
    settle(a, b)
    subprocess.run(["cp", "-a", str(a.data), str(a.folder / "saved")], check=True)
    lost = a.capture("lost week")
    a.sync()
    subprocess.run(["rm", "-rf", str(a.data)], check=True)
    os.rename(a.folder / "saved", a.data)
    since = a.capture("since")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    a.git("pull", "-q")  # another id since: no conflict at all
    settle(a, b)
    assert set(b.lines()) == {*first, *lost, *since}


def test_a_merge_with_files_of_the_users_is_theirs(a: Machine, b: Machine) -> None:
    for machine in (a, b):
        machine.capture("one")
    (a.data / "notes.txt").write_text("one\n")
    a.git("add", "notes.txt")
    a.git("commit", "-q", "-m", "notes")
    settle(a, b)
    for machine in (b, a):
        (machine.data / "notes.txt").write_text(f"{machine.folder.name}\n")
        machine.git("commit", "-qam", "notes")
    b.sync()
    assert "CONFLICT" in a.git("pull", check=False)
    assert a.repair() is None
    with pytest.raises(GitFailed, match=r"notes\.txt: unmerged"):
        a.sync()
    (event,) = a.capture("writing goes on")
    (a.data / "notes.txt").write_text("settled\n")
    a.git("add", "notes.txt")
    assert a.repair() is None  # without conflicts it is for the user to commit
    a.sync()
    settle(a, b)
    assert (b.data / "notes.txt").read_text() == "settled\n"
    assert event in b.lines()
    assert len(a.git("log", "--merges", "--format=%H").split()) >= 1


def test_a_file_of_the_users_that_both_changed(a: Machine, b: Machine) -> None:
    (a.data / "notes.txt").write_text("one\n")
    a.git("add", "notes.txt")
    a.git("commit", "-q", "-m", "notes")
    settle(a, b)
    for machine in (b, a):
        (machine.data / "notes.txt").write_text(f"{machine.folder.name}\n")
        machine.git("commit", "-qam", "notes")
    settle(a, b)
    texts = {path.name: path.read_text() for path in b.data.glob("notes*")}
    assert sorted(texts.values()) == ["a\n", "b\n"]
    assert "notes.txt" in texts
    assert "<<<<" not in str(texts)


def test_a_file_of_the_users_that_would_be_replaced(a: Machine, b: Machine) -> None:
    (a.data / "notes.txt").write_text("one\n")
    a.git("add", "notes.txt")
    a.git("commit", "-q", "-m", "notes")
    settle(a, b)
    (b.data / "notes.txt").write_text("theirs\n")
    b.git("commit", "-qam", "notes")
    b.sync()
    (a.data / "notes.txt").write_text("mine, not committed\n")
    (event,) = a.capture("one")
    with pytest.raises(GitFailed, match=r"notes\.txt"):
        a.sync()
    assert (a.data / "notes.txt").read_text() == "mine, not committed\n"
    a.git("commit", "-qam", "now")
    settle(a, b)
    assert event in b.lines()


@pytest.mark.parametrize("settled", [False, True])
def test_a_document_left_with_markers(a: Machine, b: Machine, settled: bool) -> None:
    (a.data / "soul_document.md").write_text("one\n")
    settle(a, b)
    (a.data / "soul_document.md").write_text("ours\n")
    a.git("commit", "-qam", "mine")
    time.sleep(1.1)  # commits count seconds
    (b.data / "soul_document.md").write_text("theirs\n")
    b.sync()
    assert "CONFLICT" in a.git("pull", check=False)
    assert "<<<<<<<" in (a.data / "soul_document.md").read_text()
    if settled:
        (a.data / "soul_document.md").write_text("both\n")
    report = a.repair()
    assert report is not None
    assert a.clean()
    settle(a, b)
    text = (b.data / "soul_document.md").read_text()
    if settled:
        assert (text, report.documents) == ("both\n", [])
    else:
        (name,) = report.documents
        assert (text, (b.data / name).read_text()) == ("theirs\n", "ours\n")


def test_a_merge_that_was_not_committed_is_finished(a: Machine, b: Machine) -> None:
    ids = a.capture("one")
    settle(a, b)
    ids += b.capture("two")
    b.sync()
    ids += a.capture("three")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    a.git("pull", "-q", "--no-commit")
    ids += a.capture("four")
    assert a.repair() is None
    a.sync()
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_merge_that_took_the_journal_away(a: Machine, b: Machine, far: Path, tmp_path: Path) -> None:
    """A plain pull from an emptied remote, concluded without a conflict."""
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    git(tmp_path, "clone", "-q", str(far), "by-hand")
    git(tmp_path / "by-hand", "rm", "-rq", "journal")
    git(tmp_path / "by-hand", "commit", "-q", "-m", "tidy")
    git(tmp_path / "by-hand", "push", "-q")
    a.git("pull", "-q")
    assert not a.lines()
    ids += a.capture("later")
    assert a.sync().restored
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_merge_of_an_emptied_remote_that_stopped_half_way(a: Machine, b: Machine, far: Path, tmp_path: Path) -> None:
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    git(tmp_path, "clone", "-q", str(far), "by-hand")
    git(tmp_path / "by-hand", "rm", "-rq", "journal")
    git(tmp_path / "by-hand", "commit", "-q", "-m", "tidy")
    git(tmp_path / "by-hand", "push", "-q")
    ids += a.capture("three")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    assert "CONFLICT" in a.git("pull", check=False)
    report = a.repair()
    assert report is not None
    assert report.shrank
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_stash_that_did_not_apply(a: Machine, b: Machine) -> None:
    """`git stash` took events that were not committed out of the file; writing went on; applying it conflicts."""
    ids = a.capture("one")
    settle(a, b)
    ids += a.capture("stashed")
    a.git("stash")
    os.unlink(a.home.in_state("recent"))  # only git has them
    ids += a.capture("meanwhile")
    path = a.data / "journal" / orjson.loads(a.lines()[ids[0]])["replica"] / "000001.jsonl"
    path.write_bytes(path.read_bytes() + a.lines()[ids[-1]] + b"\n")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    assert "CONFLICT" in a.git("stash", "pop", check=False)
    report = a.sync()
    assert report.adopted == 1
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_pull_with_rebase_and_autostash_by_hand(a: Machine, b: Machine) -> None:
    """What our settings keep `git pull` from, asked for outright."""
    ids = a.capture("one")
    settle(a, b)
    ids += b.capture("two")
    b.sync()
    ids += a.capture("three")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    ids += a.capture("four")
    a.git("pull", "-q", "--rebase", "--autostash")
    ids += a.capture("five")
    settle(a, b)
    assert set(b.lines()) == set(ids)


@pytest.mark.parametrize("branch", ["trunk", "a/branch", "ветка"])
def test_a_branch_of_another_name(tmp_path: Path, branch: str) -> None:
    far = bare(tmp_path / "far.git", branch)
    first = Machine(tmp_path / "a").make()
    first.git("branch", "-m", branch)
    first.make(far)
    ids = first.capture("one")
    first.sync()
    second = Machine(tmp_path / "b").make(far)
    ids += second.capture("two")
    settle(first, second)
    assert second.git("branch", "--show-current").strip() == branch
    assert git(far, "for-each-ref", "--format=%(refname)").split() == [f"refs/heads/{branch}"]
    second.git("pull", "-q")


def test_a_remote_that_was_filled_under_another_branch_later(tmp_path: Path) -> None:
    """Both set the same empty remote; the one that pushed first used another name."""
    far = bare(tmp_path / "far.git", "trunk")
    a, b = (Machine(tmp_path / letter).make(far) for letter in "ab")
    b.git("branch", "-m", "trunk")
    b.git("config", "branch.trunk.merge", "refs/heads/trunk")
    ids = a.capture("one") + b.capture("two")
    b.sync()
    settle(a, b)
    assert set(a.lines()) == set(ids)
    assert git(far, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/trunk"]


def test_a_remote_added_by_hand(tmp_path: Path, far: Path) -> None:
    machine = Machine(tmp_path / "a").make()
    machine.git("remote", "add", "backup", str(far))
    machine.capture("one")
    report = machine.sync()
    assert (report.sent, report.remote) == (1, str(far))
    assert machine.git("config", "branch.main.remote").strip() == "backup"
    assert "up-to-date" in machine.git("push", check=False)


def test_nothing_is_synced_with_a_detached_head(a: Machine) -> None:
    a.capture("one")
    a.sync()
    a.git("checkout", "-q", "HEAD~1")
    a.capture("two")
    with pytest.raises(GitFailed, match="no branch checked out") as caught:
        a.sync()
    assert "switch" in caught.value.hint
    a.git("checkout", "-q", "main")
    a.sync()
    assert len(a.lines()) == 2


@pytest.mark.parametrize("command", ["rebase", "cherry-pick", "revert"])
def test_nothing_is_synced_in_the_middle_of_something(a: Machine, command: str) -> None:
    (a.data / "notes.txt").write_text("one\n")
    a.git("add", "notes.txt")
    a.git("commit", "-q", "-m", "notes")
    a.git("switch", "-q", "-c", "side")
    (a.data / "notes.txt").write_text("side\n")
    a.git("commit", "-qam", "side")
    a.git("switch", "-q", "main")
    (a.data / "notes.txt").write_text("two\n")
    a.git("commit", "-qam", "two")
    a.git(command, "side", check=False)
    with pytest.raises(GitFailed, match=command):
        a.sync()
    a.git(command, "--abort")
    a.sync()


def test_a_lock_that_a_crashed_git_left_is_named(a: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    a.capture("one")
    lock = a.data / ".git" / "index.lock"
    lock.touch()
    monkeypatch.setattr(syncing, "Repository", quick_to_complain)
    with pytest.raises(GitFailed, match=r"\.git/index\.lock") as caught:
        a.sync()
    assert "\n" not in caught.value.message
    lock.unlink()
    assert a.sync().sent == 1


def quick_to_complain(*arguments: object) -> syncing.Repository:
    repository = REPOSITORY(*arguments)  # type: ignore[arg-type]
    repository.lock_wait = 0.2
    return repository


REPOSITORY = syncing.Repository


def test_a_lock_that_another_git_holds_for_a_moment_is_waited_for(a: Machine) -> None:
    import threading

    a.capture("one")
    lock = a.data / ".git" / "index.lock"
    lock.touch()
    threading.Timer(0.5, lock.unlink).start()
    assert a.sync().sent == 1


def test_repair_costs_nothing_and_stops_nobody(
    a: Machine, b: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, since = backup(a, b)
    started: list[object] = []
    monkeypatch.setattr(running.Git, "_start", lambda *arguments: started.append(arguments))
    assert a.repair() is None
    assert not started
    monkeypatch.undo()
    pull_into_a_conflict(a)
    (a.data / ".git" / "index.lock").touch()
    before = time.monotonic()
    assert a.repair() is None
    assert time.monotonic() - before < 3
    (a.data / ".git" / "index.lock").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert a.repair() is None
    monkeypatch.undo()
    assert a.repair() is not None
    assert {*lost, *since} < set(a.lines())


def test_a_disk_that_refuses_is_told_as_such() -> None:
    full = running.Answer(128, b"", "error: unable to write file x: No space left on device\nfatal: unable to write\n")
    assert isinstance(running.failure("git commit", full), DiskRefused)
    odd = running.Answer(128, b"", "fatal: something else\n")
    assert isinstance(running.failure("git commit", odd), GitFailed)
