"""Other names of projects, memories under them, making memory.db again, and the branch of a directory as git sees it."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from two_machines import Machine, exchange

from mait_code.commands import project
from mait_code.commands.project_aliases import Names
from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands run in a directory that is the project acme/rocket."""
    directory = tmp_path / "rocket"
    (directory / ".git" / "objects").mkdir(parents=True)
    (directory / ".git" / "refs").mkdir()
    (directory / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (directory / ".git" / "config").write_text('[remote "origin"]\n url = git@example.org:acme/rocket.git\n')
    monkeypatch.chdir(directory)
    return directory


def ok(cli: Cli, *arguments: str) -> Any:
    result = cli(*arguments, "--json")
    assert result.code == 0, result.err
    return result.json


def kinds(home: Path) -> list[str]:
    lines = b"".join(path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl")).splitlines()
    return [json.loads(line)["kind"] for line in lines]


# -- other names -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_an_alias_shows_up_and_goes(cli: Cli) -> None:
    ok(cli, "board", "add", "a card")
    ok(cli, "memory", "store", "a fact", "--project", "acme/missile", "--scope", "project")
    assert ok(cli, "projects", "alias", "acme/missile", "rocket") == {"alias": "acme/missile", "name": "acme/rocket"}
    (row,) = ok(cli, "projects", "list")
    assert row == {
        "name": "acme/rocket", "aliases": ["acme/missile"], "here": True, "cards": 1, "inbox": 0, "memories": 1
    }  # fmt: skip
    text = cli("projects", "list").out
    assert text == "acme/rocket, also acme/missile  1 card, 1 memory  (this directory)\n"
    assert cli("projects").out == text
    again = cli("projects", "alias", "ACME/Missile", "acme/rocket")
    assert (again.code, "already; nothing changed" in again.err) == (0, True)
    assert ok(cli, "projects", "unalias", "Acme/Missile") == {"alias": "Acme/Missile", "name": None}
    assert [one["name"] for one in ok(cli, "projects", "list")] == ["acme/missile", "acme/rocket"]
    assert cli("projects", "unalias", "acme/missile").code == 1
    assert cli("undo").code == 0
    assert len(ok(cli, "projects", "list")) == 1


def test_undo_takes_each_of_them_back(cli: Cli) -> None:
    def names() -> dict[str, list[str]]:
        return {one["name"]: one["aliases"] for one in ok(cli, "projects", "list") if one["aliases"]}

    for command, after in (
        (("alias", "b", "a"), {"a": ["b"]}), (("unalias", "b"), {}), (("alias", "b", "a"), {"a": ["b"]}),
        (("alias", "b", "c"), {"c": ["b"]}),
    ):  # fmt: skip
        assert cli("projects", *command).code == 0
        assert names() == after
    for before in ({"a": ["b"]}, {}, {"a": ["b"]}, {}):
        undone = cli("undo")
        assert undone.code == 0, undone.err
        assert names() == before


def test_chains_and_loops_are_refused_with_a_word(cli: Cli) -> None:
    ok(cli, "projects", "alias", "b", "a")
    refused = {
        ("a", "b"): "lead to each other",
        ("c", "b"): "mait-code projects alias c a",
        ("a", "c"): "goes by other names itself: b",
        ("x", "X"): "own name",
        ("B", "b"): "own name",
    }
    for names, says in refused.items():
        result = cli("projects", "alias", *names)
        assert result.code == 1, names
        assert says in result.err
    assert cli("projects", "alias", "", "a").code == 2
    assert cli("projects", "alias", "x" * 201, "a").code == 2
    moved = cli("projects", "alias", "b", "d")
    assert (moved.code, "was another name of a until now" in moved.err) == (0, True)
    assert cli("projects", "alias", "c", "d").code == 0
    assert [one["aliases"] for one in ok(cli, "projects", "list") if one["name"] == "d"] == [["b", "c"]]


def test_a_short_name_of_several_is_refused(cli: Cli) -> None:
    for name in ("acme/engine", "moon/engine"):
        ok(cli, "board", "add", "x", "--project", name)
    result = cli("projects", "alias", "motor", "engine")
    assert result.code == 1
    assert "acme/engine, moon/engine" in result.err


def test_names_follow_chains_and_end_loops() -> None:
    chain = Names([("a", "B"), ("b", "c"), ("x", "c")])
    assert chain.project("A") == "c"
    assert chain.of("a") == ("c", "a", "b", "x")
    assert chain.of("c") == ("c", "a", "b", "x")
    loop = Names([("a", "b"), ("b", "c"), ("c", "a"), ("z", "b")])
    assert {loop.project(one) for one in ("a", "b", "c", "z")} == {"a"}
    assert set(loop.of("z")) == {"a", "b", "c", "z"}
    assert Names([("a", "a")]).project("a") == "a"
    assert Names().of("alone") == ("alone",)


def test_two_machines_that_alias_each_way_read_the_same(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (Machine(tmp_path, name, cli, monkeypatch) for name in ("one", "other"))
    one.ok("board", "add", "under a", "--project", "team/a")
    other.ok("board", "add", "under b", "--project", "team/b")
    one.ok("projects", "alias", "team/a", "team/b")
    other.ok("projects", "alias", "team/b", "team/a")
    exchange(one, other)
    seen = [
        (
            machine.json("projects", "list"),
            [card["title"] for card in machine.json("board", "list", "--project", "team/b")],
        )
        for machine in (one, other)
    ]
    assert seen[0] == seen[1]
    assert sorted(seen[0][1]) == ["under a", "under b"]
    assert [(row["name"], row["aliases"]) for row in seen[0][0]] == [("team/a", ["team/b"])]


# -- reading through them ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_board_and_inbox_find_what_stands_under_an_old_name(cli: Cli) -> None:
    ok(cli, "board", "add", "new card")
    ok(cli, "board", "add", "old card", "--project", "acme/missile")
    ok(cli, "board", "add", "other card", "--project", "acme/engine")
    ok(cli, "inbox", "add", "new thought")
    ok(cli, "inbox", "add", "old thought", "--project", "acme/missile")
    assert [card["title"] for card in ok(cli, "board", "list")] == ["new card"]
    ok(cli, "projects", "alias", "acme/missile", "acme/rocket")
    both = ["new card", "old card"]
    for asked in ((), ("--project", "acme/missile"), ("--project", "missile"), ("--project", "rocket")):
        assert [card["title"] for card in ok(cli, "board", "list", *asked)] == both, asked
    assert ok(cli, "board", "summary")["counts"]["backlog"] == 2
    for asked in ("acme/rocket", "acme/missile", "missile", "ROCKET"):
        listed = ok(cli, "inbox", "list", "--project", asked)
        assert [item["body"] for item in listed] == ["new thought", "old thought"], asked
    # What is added under the old name belongs to the present one.
    assert ok(cli, "board", "add", "third", "--project", "acme/missile")["project"] == "acme/rocket"
    assert [item["body"] for item in ok(cli, "inbox", "list", "--project", "")] == []


@pytest.mark.usefixtures("place")
def test_memories_are_found_under_an_old_name(cli: Cli) -> None:
    ok(cli, "memory", "store", "the missile flies on kerosene", "--project", "acme/missile", "--scope", "project")
    asked = ("memory", "search", "kerosene", "--mode", "fts")
    assert ok(cli, *asked)["hits"] == []
    ok(cli, "projects", "alias", "acme/missile", "acme/rocket")
    assert len(ok(cli, *asked)["hits"]) == 1
    assert len(ok(cli, "memory", "list")) == 1
    assert len(ok(cli, *asked, "--project", "acme/missile")["hits"]) == 1


def test_a_clone_under_the_old_url_is_the_same_project(cli: Cli, place: Path) -> None:
    ok(cli, "board", "add", "under the new name")
    ok(cli, "projects", "alias", "acme/old", "acme/rocket")
    (place / ".git" / "config").write_text('[remote "origin"]\n url = git@example.org:Acme/Old.git\n')
    assert [card["title"] for card in ok(cli, "board", "list")] == ["under the new name"]
    assert ok(cli, "board", "add", "from the old clone")["project"] == "acme/rocket"


def under(name: str, text: str) -> str:
    """Store a memory under exactly this name, as an older program or an import did. Returns its id."""
    with Workspace.open() as ws:
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            event = writer.append("memory.stored", content=text, type="fact", scope="project", project=name)
        ws.refreshed("memory")
    return event.entity.partition("/")[2]


# -- canonicalize ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("place")
def test_memories_move_to_the_present_name_in_one_action(cli: Cli, home: Path) -> None:
    for name, text in (
        ("acme/missile", "one"),
        ("rocket", "two"),
        ("Rocket", "three"),
        ("acme/rocket", "four"),
        ("engine", "five"),
    ):
        under(name, text)
    gone = under("acme/missile", "six")
    assert cli("memory", "retire", gone).code == 0
    ok(cli, "projects", "alias", "acme/missile", "acme/rocket")
    before = kinds(home)
    expected = [
        {"from": "Rocket", "to": "acme/rocket", "memories": 1},
        {"from": "acme/missile", "to": "acme/rocket", "memories": 2},
        {"from": "rocket", "to": "acme/rocket", "memories": 1},
    ]
    assert ok(cli, "memory", "canonicalize-projects", "--dry-run") == expected
    assert kinds(home) == before
    assert ok(cli, "memory", "canonicalize-projects") == expected
    assert kinds(home)[len(before) :] == ["memory.edited"] * 4
    rows = ok(cli, "memory", "list", "--scope", "all", "--limit", "50")
    assert {one["content"]: one["project"] for one in rows} == {
        "one": "acme/rocket", "two": "acme/rocket", "three": "acme/rocket", "four": "acme/rocket", "five": "engine",
    }  # fmt: skip
    assert "present name" in cli("memory", "canonicalize-projects").out
    assert cli("undo").code == 0
    assert ok(cli, "memory", "canonicalize-projects", "--dry-run") == expected


def test_a_short_name_that_several_projects_have_is_left(cli: Cli) -> None:
    for name in ("acme/engine", "moon/engine", "engine"):
        under(name, f"in {name}")
    assert ok(cli, "memory", "canonicalize-projects") == []


# -- restore -----------------------------------------------------------------------------------------------------------


def test_restore_makes_memory_db_again_and_brings_nothing_back(cli: Cli, home: Path) -> None:
    ids = [ok(cli, "memory", "store", text)["id"] for text in ("kept", "retired", "deleted", "old", "twin")]
    assert cli("memory", "retire", ids[1]).code == 0
    assert cli("memory", "delete", ids[2]).code == 0
    assert cli("memory", "supersede", ids[3], "new").code == 0
    before = ok(cli, "memory", "list", "--limit", "50")
    digest = ok(cli, "digest")
    trial = ok(cli, "memory", "restore", "--dry-run")
    assert {name: trial[name] for name in ("memories", "superseded", "retired", "deleted", "dry_run")} == {
        "memories": 3, "superseded": 1, "retired": 1, "deleted": 1, "dry_run": True
    }  # fmt: skip
    done = ok(cli, "memory", "restore")
    assert {**done, "dry_run": True} == trial
    assert done["events"] == sum(1 for kind in kinds(home) if kind.startswith("memory."))
    assert ok(cli, "memory", "list", "--limit", "50") == before
    assert ok(cli, "digest") == digest
    assert "  memories      3\n" in cli("memory", "restore").out


def test_restore_mends_a_store_that_was_changed_by_hand(cli: Cli) -> None:
    ok(cli, "memory", "store", "kept")
    with Workspace.open() as ws:
        ws.reading("memory").db.execute("DELETE FROM memory_entries")
    assert ok(cli, "memory", "list") == []
    assert ok(cli, "memory", "restore", "--dry-run")["memories"] == 1
    assert ok(cli, "memory", "list") == []
    assert ok(cli, "memory", "restore")["memories"] == 1
    assert [one["content"] for one in ok(cli, "memory", "list")] == ["kept"]


# -- the branch of a directory -----------------------------------------------------------------------------------------


def git(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run(["git", *identity, *arguments], cwd=directory, capture_output=True, text=True)


def repository(directory: Path, *options: str) -> Path:
    directory.mkdir(parents=True)
    made = git(directory, "init", "-q", "-b", "main", *options)
    assert made.returncode == 0, made.stderr
    assert git(directory, "commit", "-q", "--allow-empty", "-m", "first").returncode == 0
    return directory


def as_git_says(directory: Path) -> str | None:
    """The branch by git itself; None where no branch is checked out, and outside any repository."""
    answer = git(directory, "symbolic-ref", "--quiet", "HEAD")
    return answer.stdout.strip().removeprefix("refs/heads/") or None


def agrees(directory: Path, expected: str | None) -> None:
    assert as_git_says(directory) == expected
    assert project.branch(str(directory)) == expected


@pytest.mark.git
@pytest.mark.parametrize("name", ["main", "feature/login", "a", "é-漢", "release/1.2", "refs/heads/odd"])
def test_the_branch_of_a_clone(tmp_path: Path, name: str) -> None:
    source = repository(tmp_path / "source")
    if name != "main":
        assert git(source, "checkout", "-q", "-b", name).returncode == 0
    assert git(tmp_path, "clone", "-q", str(source), "clone").returncode == 0
    (tmp_path / "clone" / "deep" / "er").mkdir(parents=True)
    for directory in (source, tmp_path / "clone", tmp_path / "clone" / "deep" / "er"):
        agrees(directory, name)


@pytest.mark.git
def test_the_branch_of_a_work_tree_is_its_own(tmp_path: Path) -> None:
    main = repository(tmp_path / "rocket")
    assert git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side")).returncode == 0
    assert git(main, "worktree", "add", "-q", "--detach", str(tmp_path / "loose")).returncode == 0
    agrees(main, "main")
    agrees(tmp_path / "side", "side")
    agrees(tmp_path / "loose", None)


@pytest.mark.git
def test_the_branch_of_a_submodule_is_its_own(tmp_path: Path) -> None:
    library, parent = repository(tmp_path / "library"), repository(tmp_path / "rocket")
    assert git(parent, "checkout", "-q", "-b", "outer").returncode == 0
    assert git(parent, "submodule", "add", "-q", str(library), "vendor/library").returncode == 0
    module = parent / "vendor" / "library"
    agrees(module, "main")
    agrees(parent, "outer")
    assert git(module, "checkout", "-q", "-b", "inner").returncode == 0
    agrees(module, "inner")
    agrees(parent / "vendor", "outer")


@pytest.mark.git
def test_no_branch_where_a_commit_is_checked_out(tmp_path: Path) -> None:
    place = repository(tmp_path / "rocket")
    assert git(place, "checkout", "-q", "--detach").returncode == 0
    agrees(place, None)


@pytest.mark.git
def test_a_branch_without_a_commit(tmp_path: Path) -> None:
    (tmp_path / "rocket").mkdir()
    assert git(tmp_path / "rocket", "init", "-q", "-b", "unborn").returncode == 0
    agrees(tmp_path / "rocket", "unborn")


@pytest.mark.git
def test_a_git_directory_elsewhere_and_borrowed_objects(tmp_path: Path) -> None:
    place = repository(tmp_path / "rocket", "--separate-git-dir", str(tmp_path / "store.git"))
    assert (place / ".git").is_file()
    agrees(place, "main")
    assert git(tmp_path, "clone", "-q", "--shared", str(place), "borrower").returncode == 0
    assert (tmp_path / "borrower" / ".git" / "objects" / "info" / "alternates").is_file()
    agrees(tmp_path / "borrower", "main")


@pytest.mark.git
def test_packed_refs_change_nothing(tmp_path: Path) -> None:
    place = repository(tmp_path / "rocket")
    assert git(place, "checkout", "-q", "-b", "packed").returncode == 0
    assert git(place, "pack-refs", "--all").returncode == 0
    agrees(place, "packed")


@pytest.mark.git
def test_bare_repositories_have_no_work_and_so_no_branch(tmp_path: Path) -> None:
    """git names a branch there too, but nobody has it checked out; a work tree of it has its own."""
    source = repository(tmp_path / "source")
    assert git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git").returncode == 0
    assert project.branch(str(tmp_path / "bare.git")) is None
    assert git(tmp_path / "bare.git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "side")).returncode == 0
    agrees(tmp_path / "side", "side")


@pytest.mark.git
@pytest.mark.parametrize("content", [b"", b"gitdir: /nowhere\n", b"\xff\xfe nonsense", b"gitdir:", b"gitdir: ..\n"])
def test_a_git_file_that_leads_nowhere(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rocket").mkdir()
    (tmp_path / "rocket" / ".git").write_bytes(content)
    agrees(tmp_path / "rocket", None)


@pytest.mark.git
def test_a_reftable_is_left_to_git(tmp_path: Path) -> None:
    (tmp_path / "rocket").mkdir()
    made = git(tmp_path / "rocket", "init", "-q", "--ref-format=reftable", "-b", "tabled")
    if made.returncode != 0:
        pytest.skip("this git makes no reftables (it has to be 2.45 or newer)")
    agrees(tmp_path / "rocket", "tabled")
    assert git(tmp_path / "rocket", "commit", "-q", "--allow-empty", "-m", "first").returncode == 0
    assert git(tmp_path / "rocket", "checkout", "-q", "-b", "feature/x").returncode == 0
    agrees(tmp_path / "rocket", "feature/x")
    assert project.here(str(tmp_path / "rocket")) == "rocket"


@pytest.mark.git
def test_nothing_is_started_to_find_a_branch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = repository(tmp_path / "rocket")
    assert git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side")).returncode == 0
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (project.branch(str(main)), project.branch(str(tmp_path / "side"))) == ("main", "side")


def test_no_branch_outside_a_repository(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert project.branch(str(tmp_path / "notes")) is None
