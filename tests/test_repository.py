"""The data directory as a git repository: the first commit, the remote, and never a repository that is not ours."""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from git_machines import Machine, bare, git

from mait_code.journal import remote, root
from mait_code.journal.errors import BadInput, GitFailed
from mait_code.journal.repository import EMPTY_TREE, default_branch

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.git

#: Golden, for ever: machines made with another value share no history with those made before.
ROOT = "5eb7c27b3e8f4ce357570b017cb5ba98fd5f55bb"
ROOT_COMMIT = (
    b"tree f8796fe89fb8f4792f73b480ee2ba34de863a929\n"
    b"author mait-code <mait-code@localhost> 1767225600 +0000\n"
    b"committer mait-code <mait-code@localhost> 1767225600 +0000\n"
    b"\n"
    b"mait-code journal, format 1\n"
)
ROOT_FILES = {
    ".gitattributes": b"journal/** -text merge=binary\n",
    ".gitignore": b"memory/MEMORY.md\n*.tmp\n",
    "journal/format.json": b'{"format": 1, "min_reader": 1, "generation": 1}\n',
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "a")


def test_the_first_commit_is_the_same_bytes_for_ever(machine: Machine) -> None:
    machine.make()
    assert machine.git("rev-parse", "HEAD").strip() == root.COMMIT == ROOT
    raw = subprocess.run(
        ["git", "-C", str(machine.data), "cat-file", "commit", "HEAD"], capture_output=True, check=True, timeout=60
    )
    assert raw.stdout == ROOT_COMMIT
    assert machine.files() == ROOT_FILES
    assert {name: (machine.data / name).read_bytes() for name in ROOT_FILES} == ROOT_FILES
    assert machine.git("rev-parse", "--show-object-format").strip() == "sha1"
    assert machine.git("branch", "--show-current").strip() == "main"
    assert machine.clean()
    machine.git("fsck", "--strict")


@pytest.mark.parametrize(
    "setting",
    [
        ("commit.gpgsign", "true"),
        ("core.autocrlf", "true"),
        ("core.eol", "crlf"),
        ("init.defaultBranch", "trunk"),
        ("i18n.commitEncoding", "latin1"),
        ("init.defaultObjectFormat", "sha256"),
        ("user.name", "Somebody"),
    ],
)
def test_no_setting_of_the_user_changes_the_first_commit(
    machine: Machine, home: Path, setting: tuple[str, str]
) -> None:
    (home / ".gitconfig").write_text(f"[{setting[0].split('.')[0]}]\n\t{setting[0].split('.')[1]} = {setting[1]}\n")
    machine.make()
    assert machine.git("rev-parse", "HEAD").strip() == ROOT


def test_making_again_changes_nothing(machine: Machine) -> None:
    machine.make()
    before = machine.git("rev-parse", "HEAD")
    machine.git("config", "pull.rebase", "true")
    machine.make()
    assert machine.git("rev-parse", "HEAD") == before
    assert machine.git("config", "pull.rebase").strip() == "false"
    assert machine.repository.config_faults() == []


def test_a_making_that_was_killed_early_is_finished(machine: Machine) -> None:
    machine.data.mkdir()
    git(machine.data, "init", "-q")
    os.unlink(machine.data / ".git" / "HEAD")
    machine.make()
    assert machine.git("rev-parse", "HEAD").strip() == ROOT
    os.unlink(machine.data / ".git" / "index")
    machine.make()
    machine.sync()
    assert machine.clean()


def test_a_repository_with_a_history_of_its_own_keeps_it(machine: Machine) -> None:
    machine.data.mkdir()
    git(machine.data, "init", "-q", "-b", "trunk")
    (machine.data / "notes.txt").write_text("mine\n")
    git(machine.data, "add", "notes.txt")
    git(machine.data, "commit", "-q", "-m", "before")
    before = machine.git("rev-parse", "HEAD")
    machine.make()
    assert machine.git("rev-parse", "HEAD") == before
    assert machine.git("branch", "--show-current").strip() == "trunk"
    assert (machine.data / ".gitattributes").read_bytes() == ROOT_FILES[".gitattributes"]
    assert machine.sync().committed
    assert set(machine.files()) > {"notes.txt", *ROOT_FILES}


def test_the_settings_a_plain_pull_needs(machine: Machine) -> None:
    assert machine.repository.config_faults() == []
    machine.make()
    assert machine.repository.config_faults() == []
    machine.git("config", "rebase.autoStash", "true")
    machine.git("config", "--unset", "merge.ff")
    assert machine.repository.config_faults() == [
        "merge.ff is not set, should be true",
        "rebase.autoStash is true, should be false",
    ]
    machine.repository.mend_settings()
    assert machine.repository.config_faults() == []


def test_an_empty_remote_is_followed_at_once(machine: Machine, tmp_path: Path) -> None:
    machine.make(bare(tmp_path / "r.git"))
    assert machine.git("config", "branch.main.merge").strip() == "refs/heads/main"
    machine.git("push")  # without arguments
    assert git(tmp_path / "r.git", "rev-parse", "main").strip() == ROOT
    assert "up to date" in machine.git("pull")


def test_a_populated_remote_gives_its_branch_name(tmp_path: Path) -> None:
    far = bare(tmp_path / "r.git", "trunk")
    first = Machine(tmp_path / "a").make()
    first.git("branch", "-m", "trunk")
    first.git("push", "-q", str(far), "trunk")
    second = Machine(tmp_path / "b").make(far)
    assert second.git("branch", "--show-current").strip() == "trunk"
    assert "up to date" in second.git("pull")
    assert "up-to-date" in second.git("push", check=False)


def test_setting_another_remote_replaces_the_first(machine: Machine, tmp_path: Path) -> None:
    machine.make(bare(tmp_path / "one.git"))
    machine.make(bare(tmp_path / "two.git"))
    assert machine.git("remote", "-v").count("two.git") == 2
    assert machine.git("remote").split() == ["origin"]


def test_a_relative_path_means_what_it_meant_to_the_person(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare(tmp_path / "r.git")
    monkeypatch.chdir(tmp_path)
    machine.make("r.git")
    assert machine.git("config", "remote.origin.url").strip() == str(tmp_path / "r.git")


@pytest.mark.parametrize("url", ["", "  ", "--upload-pack=touch /tmp/x", "a\nb"])
def test_what_is_no_address_is_refused(machine: Machine, url: str) -> None:
    machine.make()
    with pytest.raises(BadInput):
        machine.make(url)
    assert machine.git("remote") == ""


def test_an_unreachable_remote_is_set_all_the_same(machine: Machine, tmp_path: Path) -> None:
    machine.make()
    with machine.here():
        reason = machine.repository.set_remote(str(tmp_path / "not-mounted.git"))
    assert "not-mounted.git" in reason
    assert machine.git("config", "branch.main.remote").strip() == "origin"


def test_an_inherited_git_dir_is_not_mistaken_for_ours(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "theirs")
    before = git(other, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "1999-01-01T00:00:00Z")
    machine.make()
    machine.sync()
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_AUTHOR_DATE"):
        monkeypatch.delenv(name)
    assert git(other, "rev-parse", "HEAD") == before
    assert git(other, "status", "--porcelain") == ""
    assert machine.git("rev-list", "--max-parents=0", "HEAD").strip() == ROOT
    assert "1999" not in machine.git("log", "--format=%ad")


def test_a_repository_around_the_data_directory_is_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "dotfiles")
    machine = Machine(tmp_path / "a")
    machine.capture("a thought")
    machine.sync()
    assert git(tmp_path, "rev-list", "--count", "HEAD").strip() == "1"
    assert machine.git("rev-list", "--max-parents=0", "HEAD").strip() == ROOT


@pytest.mark.parametrize("name", ["with space", "-leading dash", "naïve ディレクトリ 🙂", "quote'\"s"])
def test_odd_names_of_the_data_directory(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    far = bare(tmp_path / "r.git")
    machine = Machine(tmp_path / "a", data=name)
    machine.capture("a thought")
    machine.make(far)
    assert machine.sync().sent == 1
    assert machine.clean()


def test_files_are_private(machine: Machine, tmp_path: Path) -> None:
    far = bare(tmp_path / "r.git")
    other = Machine(tmp_path / "b").make(far)
    other.capture("from afar")
    other.sync()
    machine.make(far)
    machine.sync()
    (event,) = other.lines()
    (path,) = [
        path for path in (machine.data / "journal").glob("*/000001.jsonl") if event.encode() in path.read_bytes()
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_no_git_on_the_machine(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(GitFailed, match="not installed") as caught:
        machine.make()
    assert "\n" not in caught.value.message


def fake_git(folder: Path, script: str) -> Path:
    """A directory to put on PATH whose `git` is this shell script."""
    folder.mkdir()
    path = folder / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return folder


@pytest.mark.parametrize("words", ["git version 2.24.4", "git version 1.8.3.1", "something else"])
def test_an_old_git_is_refused(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    machine.make()
    monkeypatch.setenv("PATH", str(fake_git(tmp_path / "bin", f"echo {words}")), prepend=os.pathsep)
    for call in (machine.make, machine.sync):
        with pytest.raises(GitFailed, match=r"2\.25"):
            call()


def test_apple_and_windows_spell_their_version_out(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "PATH", str(fake_git(tmp_path / "bin", "echo git version 2.39.5 '(Apple Git-154)'")), prepend=":"
    )
    machine.repository.check_version()


def test_a_remote_that_asks_questions_gets_no_answer(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing reaches the terminal or a window: what ssh is started with, and with what environment."""
    seen = tmp_path / "seen"
    script = f'env > {seen}; echo "$@" >> {seen}; echo "Permission denied (publickey)." >&2; exit 255'
    monkeypatch.setenv("PATH", str(fake_ssh(tmp_path / "bin", script)), prepend=os.pathsep)
    monkeypatch.setenv("SSH_ASKPASS", "/bin/false")
    machine.make()
    with pytest.raises(GitFailed, match="Permission denied"), machine.here():
        machine.repository.set_remote("someone@example.invalid:data.git")
    text = seen.read_text()
    assert "BatchMode=yes" in text
    assert "GIT_TERMINAL_PROMPT=0" in text
    assert "GIT_ASKPASS=\n" in text


def fake_ssh(folder: Path, script: str) -> Path:
    folder.mkdir()
    path = folder / "ssh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return folder


def test_the_users_own_ssh_command_stays(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    folder = fake_ssh(tmp_path / "bin", f'echo "$@" > {seen}; exit 255')
    monkeypatch.setenv("GIT_SSH_COMMAND", f"{folder}/ssh -p 2222")
    machine.make()
    with machine.here():
        machine.repository.set_remote("ssh://example.invalid/data.git")
    assert "-p 2222" in seen.read_text()
    assert "BatchMode" not in seen.read_text()


@pytest.mark.parametrize(
    ("listing", "branch"),
    [
        ("ref: refs/heads/trunk\tHEAD\nabc\tHEAD\nabc\trefs/heads/main\nabc\trefs/heads/trunk\n", "trunk"),
        ("abc\trefs/heads/feature\nabc\trefs/heads/main\n", "main"),
        ("abc\trefs/heads/feature\nabc\trefs/heads/master\n", "master"),
        ("abc\trefs/heads/only\n", "only"),
        ("abc\trefs/heads/one\nabc\trefs/heads/two\n", ""),
        ("", ""),
    ],
)
def test_the_default_branch_of_a_remote(listing: str, branch: str) -> None:
    assert default_branch(listing) == branch


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:hunter2@example.org/x.git", "https://***@example.org/x.git"),
        ("https://ghp_token@example.org/x.git", "https://***@example.org/x.git"),
        ("ssh://git@example.org/x.git", "ssh://git@example.org/x.git"),
        ("ssh://git:pw@example.org/x.git", "ssh://***@example.org/x.git"),
        ("git@example.org:x.git", "git@example.org:x.git"),
        ("/some/path@home/x.git", "/some/path@home/x.git"),
        ("fatal: unable to access 'HTTPS://u:p@h/': no", "fatal: unable to access 'HTTPS://***@h/': no"),
    ],
)
def test_addresses_are_shown_without_secrets(url: str, shown: str) -> None:
    assert remote.without_secrets(url) == shown


def test_which_line_of_a_complaint_is_told() -> None:
    ssh = (
        "ssh: connect to host example.org port 22: Connection refused\n"
        "fatal: Could not read from remote repository.\n\n"
        "Please make sure you have the correct access rights\nand the repository exists.\n"
    )
    assert remote.last_line(ssh) == "ssh: connect to host example.org port 22: Connection refused"
    assert not remote.refused(ssh)
    progress = "remote: Counting objects: 10%\rremote: Counting objects: 100%\rfatal: early EOF\n"
    assert remote.last_line(progress) == "fatal: early EOF"
    assert remote.last_line("\n") == ""


def test_the_empty_tree_has_the_id_git_gives_it(machine: Machine) -> None:
    machine.make()
    assert machine.repository.run("mktree").decode().strip() == EMPTY_TREE
