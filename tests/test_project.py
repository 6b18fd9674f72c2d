"""Which project a directory is: real repositories made by git, and configuration files as git would read them."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from mait_code.commands import project
from mait_code.commands.project_remote import origin, values

if TYPE_CHECKING:
    from pathlib import Path


def git(directory: Path, *arguments: str) -> None:
    """Run git in a directory; its answer does not matter."""
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def repository(directory: Path, url: str = "", commit: bool = False) -> Path:
    """A repository with a remote and a commit where asked for."""
    directory.mkdir(parents=True)
    git(directory, "init", "-q")
    if url:
        git(directory, "remote", "add", "origin", url)
    if commit:
        git(directory, "commit", "-q", "--allow-empty", "-m", "first")
    return directory


URLS = {
    "https://example.org/acme/rocket.git": "acme/rocket",
    "https://example.org/acme/rocket": "acme/rocket",
    "https://example.org/acme/rocket/": "acme/rocket",
    "https://someone:secret@example.org:8443/acme/rocket.git": "acme/rocket",
    "http://example.org/acme/rocket.git?depth=1": "acme/rocket",
    "ssh://git@example.org/acme/rocket.git": "acme/rocket",
    "ssh://git@example.org:2222/acme/rocket": "acme/rocket",
    "ssh://git@[2001:db8::1]:22/acme/rocket.git": "acme/rocket",
    "git@example.org:acme/rocket.git": "acme/rocket",
    "example.org:acme/rocket": "acme/rocket",
    "git@[2001:db8::1]:acme/rocket.git": "acme/rocket",
    "[git@example.org:2222]:acme/rocket.git": "acme/rocket",
    "git@example.org:/srv/git/acme/rocket.git": "acme/rocket",
    "git://example.org/acme/rocket.git": "acme/rocket",
    "file:///srv/git/acme/rocket.git": "acme/rocket",
    "/srv/git/acme/rocket.git": "acme/rocket",
    "/srv/git/acme/rocket/.git": "acme/rocket",
    "../../acme/rocket.git": "acme/rocket",
    "https://example.org/group/acme/rocket.git": "acme/rocket",
    "https://dev.example.org/org/acme/_git/rocket": "acme/rocket",
    "git@ssh.dev.example.org:v3/org/acme/rocket": "acme/rocket",
    "https://example.org/acme/ro%20cket.git": "acme/ro cket",
    "git@Example.org:rocket.git": "example.org/rocket",
    "ssh://git@example.org:2222/rocket.git": "example.org/rocket",
    "file:///rocket.git": "rocket",
    "https://example.org/acme/rocket.git.git": "acme/rocket.git",
    "https://example.org/": "",
}


@pytest.mark.parametrize(("url", "identity"), URLS.items())
def test_every_form_of_url_names_one_project(url: str, identity: str) -> None:
    assert project.identity_of(url, "/home/me/work") == identity


@pytest.mark.git
@pytest.mark.parametrize("url", ["https://example.org/acme/rocket.git", "git@example.org:acme/rocket"])
def test_two_machines_agree_whatever_their_paths(tmp_path: Path, url: str) -> None:
    here, there = repository(tmp_path / "a" / "rocket", url), repository(tmp_path / "b" / "elsewhere", url)
    assert project.here(str(here)) == project.here(str(there)) == "acme/rocket"


@pytest.mark.git
def test_repositories_of_one_basename_differ(tmp_path: Path) -> None:
    one = repository(tmp_path / "one" / "rocket", "git@example.org:acme/rocket.git")
    other = repository(tmp_path / "other" / "rocket", "git@example.org:moon/rocket.git")
    assert project.here(str(one)) != project.here(str(other))


@pytest.mark.git
def test_sub_directories_and_work_trees_share(tmp_path: Path) -> None:
    main = repository(tmp_path / "rocket", commit=True)
    (main / "src" / "deep").mkdir(parents=True)
    git(main, "worktree", "add", "-q", "--detach", str(tmp_path / "other place"))
    (tmp_path / "other place" / "sub").mkdir()
    directories = (main, main / "src" / "deep", main / ".git" / "hooks", tmp_path / "other place" / "sub")
    assert {project.here(str(one)) for one in directories} == {"rocket"}
    git(main, "remote", "add", "origin", "git@example.org:acme/rocket.git")
    assert {project.here(str(one)) for one in directories} == {"acme/rocket"}


@pytest.mark.git
def test_work_trees_of_a_bare_repository(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", commit=True)
    for place in ("engine.git", "rocket/.bare"):
        git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / place))
        git(tmp_path / place, "config", "--remove-section", "remote.origin")
        git(tmp_path / place, "worktree", "add", "-q", "--detach", str(tmp_path / place) + "-tree")
    assert project.here(str(tmp_path / "engine.git")) == project.here(str(tmp_path / "engine.git-tree")) == "engine"
    assert project.here(str(tmp_path / "rocket" / ".bare-tree")) == "rocket"


@pytest.mark.git
def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    library = repository(tmp_path / "libs" / "engine", commit=True)
    parent = repository(tmp_path / "rocket", "git@example.org:acme/rocket.git", commit=True)
    git(parent, "submodule", "add", "-q", str(library), "vendor/engine")
    module = parent / "vendor" / "engine"
    assert project.here(str(module)) == "libs/engine"
    git(module, "remote", "remove", "origin")
    assert project.here(str(module)) == "engine"
    assert project.here(str(parent)) == project.here(str(parent / "vendor")) == "acme/rocket"


@pytest.mark.git
def test_a_work_tree_of_a_submodule_goes_by_the_submodule(tmp_path: Path) -> None:
    library = repository(tmp_path / "libs" / "engine", commit=True)
    parent = repository(tmp_path / "rocket", commit=True)
    git(parent, "submodule", "add", "-q", str(library), "vendor/motor")
    module = parent / "vendor" / "motor"
    git(module, "remote", "remove", "origin")
    git(module, "worktree", "add", "-q", "--detach", str(tmp_path / "aside"))
    assert project.here(str(tmp_path / "aside")) == project.here(str(module)) == "motor"


@pytest.mark.git
def test_a_git_directory_that_lies_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "rocket").mkdir()
    git(tmp_path / "rocket", "init", "-q", "--separate-git-dir", str(tmp_path / "store.git"))
    assert project.here(str(tmp_path / "rocket")) == "rocket"


def test_a_directory_outside_any_repository_goes_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert project.here(str(tmp_path / "notes")) == "notes"


def test_home_temporary_and_root_are_no_project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scratch" / "tmpab12cd_x").mkdir(parents=True)
    (tmp_path / "scratch" / "tmp.Xy12ab34Cd").mkdir()
    (tmp_path / "scratch" / "tmpfs-tools").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    for one in ("/", "/tmp", "/var/tmp", str(home), str(tmp_path), str(tmp_path / "scratch")):
        assert project.here(one) is None, one
    assert project.here(str(tmp_path / "scratch" / "tmpab12cd_x")) is None
    assert project.here(str(tmp_path / "scratch" / "tmp.Xy12ab34Cd")) is None
    assert project.here(str(tmp_path / "scratch" / "tmpfs-tools")) == "tmpfs-tools"


@pytest.mark.git
def test_a_home_kept_in_git_is_no_project_but_what_lies_in_it_is(home: Path) -> None:
    git(home, "init", "-q")
    git(home, "remote", "add", "origin", "git@example.org:me/dotfiles.git")
    (home / "work" / "rocket").mkdir(parents=True)
    assert project.here(str(home)) is None
    assert project.here(str(home / "work" / "rocket")) == "rocket"


def test_a_directory_that_is_gone_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert project.here() is None


def test_damaged_repositories_are_passed_over(tmp_path: Path) -> None:
    for number, content in enumerate((b"", b"gitdir: /nowhere\n", b"\xff\xfe nonsense", b"gitdir:")):
        directory = tmp_path / f"place{number}"
        directory.mkdir()
        (directory / ".git").write_bytes(content)
        assert project.here(str(directory)) == f"place{number}"
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    assert project.here(str(tmp_path / "empty")) == "empty"


def test_a_name_that_is_not_utf8_or_too_long_can_be_stored(tmp_path: Path) -> None:
    odd = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(odd)
    assert project.here(os.fsdecode(odd)) == "caf\N{REPLACEMENT CHARACTER}"
    (tmp_path / ("n" * 240)).mkdir()
    assert project.here(str(tmp_path / ("n" * 240))) == "n" * 200


# -- the configuration file --------------------------------------------------------------------------------------------

CONFIGS = {
    "plain": '[remote "origin"]\n\turl = URL\n\tfetch = +refs/heads/*\n',
    "on one line": '[remote "origin"] url=URL',
    "upper case": '[REMOTE "origin"]\n  URL = URL\n',
    "quoted": '[remote "origin"]\n url = "URL" ; a comment\n',
    "commented": '# url = no\n[remote "origin"]\n; url = no\n url = URL # but this\n',
    "continued": '[remote "origin"]\n url = UR\\\nL\n',
    "old spelling": "[remote.origin]\n url = URL\n",
    "windows": '\ufeff[remote "origin"]\r\n\turl = URL\r\n',
    "several": '[remote "origin"]\n url = URL\n url = other\n',
    "taken back": '[remote "origin"]\n url = no\n url =\n url = URL\n',
    "another first": '[remote "Origin"]\n url = no\n[remote "upstream"]\n url = no\n[remote "origin"]\n url = URL\n',
    "rewritten": '[url "ssh://x/"]\n insteadOf = https://\n[remote "origin"]\n url = URL\n',
    "include behind": '[remote "origin"]\n url = URL\n[include]\n path = nothing\n',
}


@pytest.mark.git
@pytest.mark.parametrize("form", CONFIGS)
def test_the_url_is_read_as_git_reads_it(tmp_path: Path, form: str) -> None:
    url = "git@example.org:acme/rocket.git"
    (tmp_path / "config").write_text(CONFIGS[form].replace("= URL", f"= {url}").replace('"URL"', f'"{url}"')
                                     .replace("url=URL", f"url={url}").replace("UR\\\nL", f"{url[:9]}\\\n{url[9:]}"),
                                     encoding="utf-8", newline="")  # fmt: skip
    assert origin(str(tmp_path)) == url
    if form != "taken back":  # older programs of git do not know the empty value
        command = ["git", "config", "--file", str(tmp_path / "config"), "--get-all", "remote.origin.url"]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert answer.splitlines()[0] == url


def test_values_with_escapes_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "config").write_text('[core]\n worktree = "a \\"b\\" # c"  \\\n d ; e\n bare\n', encoding="utf-8")
    assert values(str(tmp_path), "core", "", "worktree") == ['a "b" # c   d']
    assert values(str(tmp_path), "core", "", "bare") == [""]


@pytest.mark.git
def test_git_is_asked_only_where_an_include_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = repository(tmp_path / "rocket")
    (tmp_path / "more").write_text('[remote "origin"]\n url = git@example.org:acme/rocket.git\n')
    config = (place / ".git" / "config").read_text()
    (place / ".git" / "config").write_text(f"[include]\n path = {tmp_path / 'more'}\n{config}")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert project.here(str(place)) == "acme/rocket"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert project.here(str(place)) == "rocket"


def test_a_person_s_rewriting_rules_change_nothing(home: Path, tmp_path: Path) -> None:
    (home / ".gitconfig").write_text('[url "https://mirror.example.org/x/y/"]\n insteadOf = git@example.org:\n')
    place = repository(tmp_path / "rocket", "git@example.org:acme/rocket.git")
    assert project.here(str(place)) == "acme/rocket"


# -- short names -------------------------------------------------------------------------------------------------------


def test_short_names_stand_for_the_one_project_that_has_them() -> None:
    known = ["acme/rocket", "moon/rocket", "acme/engine", "notes"]
    assert project.matching("engine", known) == ["acme/engine"]
    assert project.matching("Acme/Engine", known) == ["acme/engine"]
    assert project.matching("rocket", known) == ["acme/rocket", "moon/rocket"]
    assert project.matching("moon/rocket", known) == ["moon/rocket"]
    assert project.matching("unknown", known) == []
    assert project.short_names(known) == {
        "acme/rocket": "acme/rocket", "moon/rocket": "moon/rocket", "acme/engine": "engine", "notes": "notes",
    }  # fmt: skip
