"""Every board command through the real command line: what it writes, prints and refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]

CARD_KEYS = {
    "id", "short", "number", "project", "title", "description", "acceptance_criteria", "status", "priority",
    "completion_summary", "created_at", "updated_at", "completed_at", "tags", "references", "bound", "origin",
    "conflicts", "newer",
}  # fmt: skip


@pytest.fixture(autouse=True)
def place(rocket: Path) -> Path:
    return rocket


def added(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Add a card and return it."""
    result = cli("board", "add", *arguments, "--json")
    assert result.code == 0, result.err
    card: dict[str, Any] = result.json
    return card


def done(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Run a command that changes a card; it has to succeed and print the card."""
    result = cli("board", *arguments, "--json")
    assert result.code == 0, result.err
    card: dict[str, Any] = result.json
    assert set(card) == CARD_KEYS | {"comments"}
    return card


def events(home: Path) -> int:
    """How many lines the journal has."""
    return sum(path.read_bytes().count(b"\n") for path in (home / "data" / "journal").glob("*/*.jsonl"))


def test_add_has_the_defaults_and_every_key(cli: Cli) -> None:
    card = added(cli, "Fix", "the", "login")
    assert set(card) == CARD_KEYS | {"comments"}
    assert (card["title"], card["status"], card["priority"], card["project"]) == (
        "Fix the login", "backlog", "medium", "rocket",
    )  # fmt: skip
    assert card["short"] == f"1{card['id'][:2]}"
    assert len(card["id"]) == 12
    assert card["created_at"].endswith("Z")
    assert card["tags"] == card["references"] == card["conflicts"] == []
    for empty in ("description", "acceptance_criteria", "completion_summary", "completed_at", "bound", "origin"):
        assert card[empty] is None
    assert cli("board", "add", "x").out.startswith("Added 2")


def test_add_takes_every_option(cli: Cli) -> None:
    card = added(cli, "x", "--description", "why", "--acceptance", "when", "--priority", "HIGH", "--project", "moon")
    assert (card["description"], card["acceptance_criteria"], card["priority"], card["project"]) == (
        "why", "when", "high", "moon",
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [("add", " "), ("add",), ("add", "x", "--priority", "urgent"), ("move", "1", "attic")]
)
def test_what_cannot_be_meant_is_a_usage_error_of_one_line_and_a_hint(
    cli: Cli, home: Path, arguments: tuple[str, ...]
) -> None:
    added(cli, "x")
    before = events(home)
    result = cli("board", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 2
    assert events(home) == before


def test_unknown_and_ambiguous_ids_are_refused(cli: Cli) -> None:
    added(cli, "x")
    for text in ("77", "zzzzz", "inbox/abcdefgh2345", "%", ""):
        result = cli("board", "show", text)
        assert result.code == 1, text
        assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "form", ["{number}", "#{number}", "{short}", "#{short}", "{id}", "card/{id}", "{prefix}", "{upper}"]
)
def test_a_card_answers_to_every_form_of_its_id(cli: Cli, form: str) -> None:
    card = added(cli, "x")
    text = form.format(**card, prefix=card["id"][:6], upper=card["short"].upper())
    assert cli("board", "show", text, "--json").json["id"] == card["id"]


def test_list_orders_by_priority_then_age(cli: Cli) -> None:
    for title, priority in (("a", "low"), ("b", "high"), ("c", "medium"), ("d", "high")):
        added(cli, title, "--priority", priority)
    assert [card["title"] for card in cli("board", "list", "--json").json] == ["b", "d", "c", "a"]
    text = cli("board", "list").out.splitlines()
    assert text[0] == "Backlog (4)"
    assert [line.split()[-1] for line in text[1:]] == ["b", "d", "c", "a"]
    assert "comments" not in cli("board", "list", "--json").json[0]


def test_list_shows_this_project_and_everything_outside_of_any(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(cli, "mine")
    added(cli, "theirs", "--project", "moon")
    added(cli, "nobody's", "--project", "")

    def titles(*arguments: str) -> set[str]:
        return {card["title"] for card in cli("board", "list", "--json", *arguments).json}

    assert titles() == {"mine"}
    assert titles("--project", "moon") == {"theirs"}
    assert titles("--project", "") == {"nobody's"}
    assert titles("--all") == {"mine", "theirs", "nobody's"}
    assert cli("board", "list", "--all", "--project", "moon").code == 2
    monkeypatch.chdir(home)
    assert titles() == {"mine", "theirs", "nobody's"}
    assert added(cli, "from home")["project"] is None


def test_list_filters(cli: Cli) -> None:
    added(cli, "Über den Login", "--description", "needs a token")
    added(cli, "other")
    done(cli, "archive", "2")
    done(cli, "tag", "1", "urgent")

    def titles(*arguments: str) -> list[str]:
        return [card["title"] for card in cli("board", "list", "--json", *arguments).json]

    assert titles() == ["Über den Login"]
    assert sorted(titles("--archived")) == ["other", "Über den Login"]
    assert titles("--status", "archived") == ["other"]
    assert titles("--status", "Backlog") == ["Über den Login"]
    assert titles("--status", "backlog", "--status", "archived", "-q", "oth") == ["other"]
    assert titles("-q", "ÜBER login") == titles("-q", "TOKEN") == titles("-q", "urgent") == ["Über den Login"]
    assert titles("--search", "nothing of the kind") == []
    assert titles("-q", "%") == []
    assert cli("board", "list", "--status", "attic").code == 2


def test_empty_boards_say_what_to_do(cli: Cli) -> None:
    assert "board add" in cli("board", "list").out
    assert cli("board", "list", "--json").json == []
    assert "board add" in cli("board").out
    added(cli, "elsewhere", "--project", "moon")
    assert "--all" in cli("board", "list").out
    added(cli, "x")
    assert "board list" in cli("board", "list", "-q", "zebra").out


def test_short_project_names_work_where_they_are_unambiguous(cli: Cli) -> None:
    added(cli, "a", "--project", "acme/engine")
    assert added(cli, "b", "--project", "engine")["project"] == "acme/engine"
    assert len(cli("board", "list", "--project", "ENGINE", "--json").json) == 2
    added(cli, "c", "--project", "moon/engine")
    result = cli("board", "list", "--project", "engine")
    assert result.code == 1
    assert "acme/engine" in result.err
    assert "moon/engine" in result.err
    everything = cli("board", "list", "--all").out
    assert "[acme/engine]" in everything
    assert "[moon/engine]" in everything


def test_a_clone_whose_url_differs_in_case_is_the_same_project(cli: Cli, place: Path) -> None:
    (place / ".git").mkdir()
    for name in ("objects", "refs"):
        (place / ".git" / name).mkdir()
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for url in ("https://example.org/Acme/Rocket.git", "git@example.org:acme/rocket"):
        (place / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
        assert added(cli, "x")["project"] == "Acme/Rocket"
    assert len(cli("board", "list", "--json").json) == 2


def test_project_decides_between_cards_of_one_number_and_refuses_others(cli: Cli) -> None:
    added(cli, "a")
    assert cli("board", "show", "1", "--project", "rocket").code == 0
    added(cli, "b", "--project", "moon")
    for command in ("show", "archive", "complete", "block", "unblock", "unbind", "remove"):
        result = cli("board", command, "1", "--project", "moon")
        assert (result.code, result.out) == (1, ""), command


def test_show_prints_all_there_is(cli: Cli) -> None:
    added(cli, "x", "--description", "one\ntwo", "--acceptance", "it works")
    done(cli, "comment", "1", "well", "said", "--author", "claude")
    done(cli, "ref", "add", "1", "ticket", "ABC-1")
    done(cli, "complete", "1", "--summary", "did it")
    text = cli("board", "show", "1").out
    for part in ("x", "one\n  two", "it works", "claude, ", "well said", "1  ticket: ABC-1", "did it", "UTC", "done"):
        assert part in text
    card = cli("board", "show", "1", "--json").json
    assert card["references"] == [{"label": "ticket", "value": "ABC-1"}]
    assert [set(one) for one in card["comments"]] == [{"author", "body", "created_at"}]


def test_times_are_local_with_their_zone(cli: Cli, program: Cli) -> None:
    added(cli, "x")
    assert b" JST" in program("board", "show", "1", env={"TZ": "Asia/Tokyo"}).out


@pytest.mark.parametrize(
    "column", ["backlog", "refined", "in_progress", "in_review", "done", "archived", "In Review", "in-progress"]
)
def test_move_reaches_every_column_and_twice_is_no_event(cli: Cli, home: Path, column: str) -> None:
    added(cli, "x")
    done(cli, "move", "1", "done" if column == "backlog" else "backlog")
    name = column.lower().replace(" ", "_").replace("-", "_")
    assert done(cli, "move", "1", column)["status"] == name
    before = events(home)
    again = cli("board", "move", "1", *column.split())
    assert again.code == 0
    assert "nothing changed" in again.out
    assert events(home) == before


def test_refine_describes_and_warns_without_acceptance(cli: Cli, home: Path) -> None:
    added(cli, "x")
    bare = cli("board", "refine", "1", "--description", "why", "--json")
    assert bare.json["status"] == "refined"
    assert "--acceptance" in bare.err
    result = cli("board", "refine", "1", "--acceptance", "when", "--json")
    assert (result.json["description"], result.json["acceptance_criteria"]) == ("why", "when")
    assert result.err == ""
    before = events(home)
    assert "nothing changed" in cli("board", "refine", "1").out
    assert events(home) == before


def test_next_takes_refined_then_backlog_by_priority_and_passes_over_blocked(cli: Cli) -> None:
    for title, priority in (("raw", "high"), ("low", "low"), ("high", "high"), ("stuck", "high")):
        added(cli, title, "--priority", priority)
    for number in ("2", "3", "4"):
        done(cli, "refine", number, "--acceptance", "x")
    done(cli, "block", "4", "no", "parts")
    assert cli("board", "next", "--json").json["title"] == "high"
    taken = []
    while (card := cli("board", "next", "--claim", "--json").json) is not None:
        assert card["status"] == "in_progress"
        taken.append(card["title"])
    assert taken == ["high", "low", "raw"]
    nothing = cli("board", "next")
    assert (nothing.code, "Nothing" in nothing.out) == (0, True)


def test_next_says_that_a_backlog_card_was_not_refined(cli: Cli) -> None:
    added(cli, "raw")
    assert "not been refined" in cli("board", "next").err
    assert "not been refined" in cli("board", "next", "--claim").err


def test_next_stays_in_its_project(cli: Cli) -> None:
    added(cli, "x", "--project", "moon")
    assert cli("board", "next", "--json").json is None
    assert cli("board", "next", "--project", "moon", "--json").json["title"] == "x"


def test_block_tags_and_comments_and_unblock_takes_the_tag_off(cli: Cli, home: Path) -> None:
    added(cli, "x")
    card = done(cli, "block", "1", "waiting", "for", "parts")
    assert card["tags"] == ["blocked"]
    assert [one["body"] for one in card["comments"]] == ["Blocked: waiting for parts"]
    before = events(home)
    assert "already" in cli("board", "block", "1").out
    assert events(home) == before
    assert len(done(cli, "block", "1", "still")["comments"]) == 2
    assert done(cli, "unblock", "1")["tags"] == []
    assert "not blocked" in cli("board", "unblock", "1").out


def test_tags(cli: Cli, home: Path) -> None:
    added(cli, "x")
    done(cli, "tag", "1", "ui")
    assert done(cli, "tag", "1", "äöü tag")["tags"] == ["ui", "äöü tag"]
    before = events(home)
    assert "nothing changed" in cli("board", "tag", "1", "ui").out
    assert "nothing changed" in cli("board", "untag", "1", "none").out
    assert events(home) == before
    assert done(cli, "untag", "1", "ui")["tags"] == ["äöü tag"]
    assert cli("board", "tag", "1", " ").code == 2
    assert cli("board", "tag", "1", "x" * 201).code == 2


def test_references_go_by_position(cli: Cli) -> None:
    added(cli, "x")
    done(cli, "ref", "add", "1", "docs", "https://example.org/a", "b")
    done(cli, "ref", "add", "1", "ticket", "7")
    listed = cli("board", "ref", "list", "1", "--json").json
    assert listed == [{"label": "docs", "value": "https://example.org/a b"}, {"label": "ticket", "value": "7"}]
    assert cli("board", "ref", "list", "1").out.splitlines()[1] == "2  ticket: 7"
    assert done(cli, "ref", "remove", "1", "1")["references"] == [{"label": "ticket", "value": "7"}]
    assert cli("board", "ref", "remove", "1", "2").code == 1
    assert cli("board", "ref", "remove", "1", "0").code == 2
    done(cli, "ref", "remove", "1", "1")
    assert "ref add" in cli("board", "ref", "list", "1").out


def test_comments_are_by_whoever_acts_unless_said_otherwise(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    added(cli, "x")
    done(cli, "comment", "1", "a")
    done(cli, "comment", "1", "b", "--author", "claude")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    card = done(cli, "comment", "1", "c")
    assert [(one["author"], one["body"]) for one in card["comments"]] == [("me", "a"), ("claude", "b"), ("claude", "c")]
    assert cli("board", "comment", "1", " ").code == 2


def test_edit_changes_clears_and_refuses(cli: Cli, home: Path) -> None:
    added(cli, "x", "--description", "old")
    card = done(cli, "edit", "1", "--title", "y", "--description", "", "--priority", "low", "--acceptance", "z")
    assert (card["title"], card["description"], card["priority"], card["acceptance_criteria"]) == (
        "y",
        None,
        "low",
        "z",
    )
    assert done(cli, "edit", "1", "--project", "moon")["project"] == "moon"
    assert done(cli, "edit", "1", "--project", "")["project"] is None
    before = events(home)
    assert cli("board", "edit", "1").code == 2
    assert cli("board", "edit", "1", "--title", " ").code == 2
    assert "nothing changed" in cli("board", "edit", "1", "--title", "y").out
    assert events(home) == before


def test_remove_hides_and_restore_brings_everything_back(cli: Cli) -> None:
    added(cli, "x", "--description", "d")
    done(cli, "tag", "1", "t")
    kept = done(cli, "comment", "1", "c")
    assert done(cli, "remove", "1") == kept
    assert cli("board", "list", "--json").json == []
    for command in (("show", "1"), ("move", "1", "done"), ("edit", "1", "--title", "y"), ("remove", "1")):
        result = cli("board", *command)
        assert result.code == 1
        assert "board restore 1" in result.err
    assert [card["title"] for card in cli("board", "list", "--deleted", "--json").json] == ["x"]
    back = done(cli, "restore", "1")
    assert {**back, "updated_at": ""} == {**kept, "updated_at": ""}
    assert "not deleted" in cli("board", "restore", "1").out
    assert "No deleted" in cli("board", "list", "--deleted").out


def test_a_deleted_card_keeps_its_number(cli: Cli) -> None:
    added(cli, "x")
    done(cli, "remove", "1")
    assert added(cli, "y")["number"] == 2


def test_summary_counts(cli: Cli) -> None:
    added(cli, "a")
    added(cli, "b")
    added(cli, "c", "--project", "moon")
    done(cli, "move", "2", "in_review")
    counts = {"backlog": 1, "refined": 0, "in_progress": 0, "in_review": 1, "done": 0}
    assert cli("board", "summary", "--json").json == {"project": "rocket", "counts": counts}
    assert cli("board", "summary").out == "rocket: backlog 1, refined 0, in progress 0, in review 1, done 0\n"
    assert cli("board", "summary", "--all", "--json").json == {"project": None, "counts": {**counts, "backlog": 2}}
    assert cli("board", "summary", "--project", "moon", "--json").json["counts"]["backlog"] == 1


def test_overview_prints_the_columns(cli: Cli) -> None:
    card = added(cli, "a")
    assert cli("board").out.splitlines() == ["rocket", "", "Backlog (1)", f"  {card['short']}  medium  a"]
    assert cli("board", "--json").json["cards"][0]["id"] == card["id"]


def test_export_markdown_and_json(cli: Cli, place: Path) -> None:
    card = added(cli, "a", "--description", "body\n\n- item")
    added(cli, "b")
    done(cli, "comment", "1", "said")
    one = cli("board", "export", "1").out
    assert one.startswith(f"# {card['short']} a\n")
    assert "## Description\n\nbody\n\n- item\n" in one
    assert "said" in one
    assert cli("board", "export", "1", "--format", "json").json == cli("board", "show", "1", "--json").json
    assert cli("board", "export", "--json").json == cli("board", "export", "--format", "json").json
    assert [len(one["comments"]) for one in cli("board", "export", "--json").json] == [1, 0]
    assert cli("board", "export", "-q", "zebra", "--json").json == []
    many = cli("board", "export").out
    assert many.startswith("# Backlog\n")
    assert cli("board", "export", "--out", "board.md").out == f"Wrote 2 cards to {place / 'board.md'}\n"
    assert (place / "board.md").read_text() == many
    result = cli("board", "export", "1", "--json", "--out", str(place / "one.json"))
    assert result.json == {"path": str(place / "one.json"), "cards": 1}
    assert json.loads((place / "one.json").read_text())["id"] == card["id"]
    assert cli("board", "export", "--out", str(place)).code == 2
    assert cli("board", "export", "--out", str(place / "none" / "x")).code == 2


def test_export_writes_through_a_link(cli: Cli, place: Path) -> None:
    added(cli, "a")
    (place / "real.md").write_text("old")
    (place / "link.md").symlink_to("real.md")
    cli("board", "export", "--out", "link.md")
    assert (place / "link.md").is_symlink()
    assert "a\n" in (place / "real.md").read_text()


# -- what people stumble over


def test_a_title_from_stdin(program: Callable[..., Any]) -> None:
    done = program("board", "add", "-", "--json", input=b"from stdin\n")
    assert done.code == 0
    assert json.loads(done.out)["title"] == "from stdin"
    assert program("board", "add", "-", input=b" \n").code == 2


def test_a_long_title_is_cut_in_lists_and_whole_in_json(cli: Cli) -> None:
    title = "x" * 20_000
    assert max(map(len, cli("board", "add", title).out.splitlines())) < 300
    for words in (["board", "list"], ["board"], ["log"]):
        rows = cli(*words).out.splitlines()
        assert max(map(len, rows)) < 300, words
    assert "…" in cli("board", "list").out
    assert cli("board", "list", "--json").json[0]["title"] == title


@pytest.mark.parametrize(
    "words", [["move", "1", "backlog"], ["edit", "1", "--title", "x"], ["unbind", "1"], ["unblock", "1"]]
)
def test_what_changes_nothing_says_so_once_and_claims_nothing(cli: Cli, words: list[str]) -> None:
    added(cli, "x")
    again = cli("board", *words)
    assert again.code == 0
    assert len((again.out + again.err).splitlines()) == 1
    assert again.out.endswith("; nothing changed\n")


@pytest.mark.parametrize("words", [["board", "edit"], ["reminders", "edit"]])
def test_nothing_to_change_is_usage(cli: Cli, words: list[str]) -> None:
    added(cli, "x")
    short = cli("reminders", "set", "in 2 weeks", "y", "--json").json["short"]
    done = cli(*words, "1" if words[0] == "board" else short)
    assert done.code == 2
    assert "nothing to change" in done.err
