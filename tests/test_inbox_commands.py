"""Every inbox command through the real command line, and triage: one action, provenance both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]

ITEM_KEYS = {"id", "short", "body", "project", "created_at", "conflicts", "newer"}


pytestmark = pytest.mark.usefixtures("rocket")


def done(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Run a command that changes an item; it has to succeed and print the item."""
    result = cli("inbox", *arguments, "--json")
    assert result.code == 0, result.err
    item: dict[str, Any] = result.json
    return item


def events(home: Path) -> list[dict[str, Any]]:
    """Every event of the journal."""
    lines = b"".join(path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl")).splitlines()
    return [orjson.loads(line) for line in lines]


def test_add_list_count_remove(cli: Cli) -> None:
    captured = cli("inbox", "add", "call", "the", "bank")
    assert captured.code == 0
    assert captured.out.startswith("Captured ")
    assert captured.out.endswith(": call the bank\n")
    second = done(cli, "add", "second", "--project", "")
    assert set(second) == ITEM_KEYS
    listed = cli("inbox", "list", "--json").json
    assert [(item["body"], item["project"]) for item in listed] == [("call the bank", "rocket"), ("second", None)]
    assert [set(item) for item in listed] == [ITEM_KEYS, ITEM_KEYS]
    assert cli("inbox", "count").out == "2\n"
    assert cli("inbox", "count", "--json").json == {"count": 2}
    text = cli("inbox", "list").out.splitlines()
    assert len(text) == 2
    assert text[0].endswith("UTC  call the bank [rocket]")
    assert cli("inbox").out == cli("inbox", "list").out
    assert done(cli, "remove", second["short"])["body"] == "second"
    assert [item["body"] for item in cli("inbox", "list", "--json").json] == ["call the bank"]
    assert [item["id"] for item in cli("inbox", "list", "--deleted", "--json").json] == [second["id"]]


def test_an_empty_inbox_says_what_to_do(cli: Cli) -> None:
    assert "inbox add" in cli("inbox", "list").out
    assert cli("inbox", "list", "--json").json == []
    assert cli("inbox", "count").out == "0\n"


@pytest.mark.parametrize("arguments", [("add", " "), ("add", ""), ("add", "\n"), ("add",)])
def test_empty_text_is_refused_in_one_line(cli: Cli, home: Path, arguments: tuple[str, ...]) -> None:
    result = cli("inbox", *arguments)
    assert (result.code, result.out) == (2, "")
    assert len(result.err.splitlines()) == 2
    assert events(home) == []


def test_text_comes_from_stdin_whole(program: Cli, home: Path) -> None:
    body = "first line\n\n\ttabbed — é 漢 🎉\nlast"
    assert program("inbox", "add", "-", input=f"{body}\n".encode()).code == 0
    assert [event["data"]["body"] for event in events(home)] == [body]
    assert program("inbox", "add", "-", input=b"").code == 2
    assert program("inbox", "add", "-", input=b"\0\0").code == 2
    refused = program("inbox", "add", "-", input=b"caf\xe9")
    assert (refused.code, b"not UTF-8" in refused.err) == (2, True)
    odd = program("inbox", "add", "-", "--json", input=b"a\0b")
    assert orjson.loads(odd.out)["body"] == "a\N{REPLACEMENT CHARACTER}b"
    assert b"cannot be stored" in odd.err


def test_a_text_too_long_for_a_line_is_cut_and_told(program: Cli, cli: Cli) -> None:
    result = program("inbox", "add", "-", "--json", input="né ".encode() * 200_000)
    assert result.code == 0
    assert b"too long" in result.err
    assert cli("inbox", "count").out == "1\n"
    assert len(orjson.loads(result.out)["body"]) > 150_000


def test_text_that_looks_like_options_or_escapes(cli: Cli) -> None:
    for body in ("--not-an-option", "-1", "\x1b]0;title\x07 \u202eback"):
        assert cli("inbox", "add", "--", body).code == 0
    assert [item["body"] for item in cli("inbox", "list", "--json").json][:2] == ["--not-an-option", "-1"]
    for command in (("list",), ("list", "--json"), ()):
        out = cli("inbox", *command).out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_list_by_project(cli: Cli) -> None:
    done(cli, "add", "a")
    done(cli, "add", "b", "--project", "acme/engine")
    done(cli, "add", "c", "--project", "")

    def bodies(*arguments: str) -> list[str]:
        return [item["body"] for item in cli("inbox", "list", "--json", *arguments).json]

    assert bodies() == ["a", "b", "c"]
    assert bodies("--project", "engine") == bodies("--project", "Acme/Engine") == ["b"]
    assert bodies("--project", "") == ["c"]
    assert bodies("--project", "unknown") == []
    assert "[engine]" in cli("inbox", "list").out


def test_edit_done_restore(cli: Cli, home: Path) -> None:
    item = done(cli, "add", "call bank")
    short = item["short"]
    assert done(cli, "edit", short, "call", "the", "bank")["body"] == "call the bank"
    before = len(events(home))
    again = cli("inbox", "edit", short, "call the bank")
    assert (again.out, again.err) == (f"{short} reads like that already; nothing changed\n", "")
    assert cli("inbox", "edit", short, " ").code == 2
    assert len(events(home)) == before
    dealt = done(cli, "done", short)
    assert (dealt["outcome"], dealt["ref"]) == ("done", None)
    assert dealt["done_at"] > item["created_at"]
    assert "already" in cli("inbox", "done", short).out
    assert cli("inbox", "edit", short, "x").code == 1
    assert cli("inbox", "list", "--json").json == []
    assert [one["outcome"] for one in cli("inbox", "list", "--done", "--json").json] == ["done"]
    assert set(done(cli, "restore", short)) == ITEM_KEYS
    assert "waiting already" in cli("inbox", "restore", short).out
    assert cli("inbox", "count").out == "1\n"


def test_a_removed_item_returns_as_it_was(cli: Cli) -> None:
    short = done(cli, "add", "x")["short"]
    done(cli, "done", short)
    done(cli, "remove", short)
    for command in (
        ("show", short),
        ("edit", short, "y"),
        ("done", short),
        ("remove", short),
        ("triage", short, "--to", "done"),
    ):
        result = cli("inbox", *command)
        assert (result.code, result.out) == (1, "")
        assert f"inbox restore {short}" in result.err
    back = cli("inbox", "restore", short, "--json")
    assert back.json["outcome"] == "done"
    assert "once more" in back.err
    assert "outcome" not in done(cli, "restore", short)


def test_show_prints_all_there_is(cli: Cli) -> None:
    item = done(cli, "add", "first\nsecond")
    text = cli("inbox", "show", item["id"][:7]).out
    for part in ("first\nsecond\n", "UTC", "rocket", item["id"]):
        assert part in text
    assert cli("inbox", "show", item["id"], "--json").json == item
    assert cli("inbox", "show", "zzzzz").code == 1


def test_short_ids_are_unique_beginnings_one_by_one_and_in_lists(cli: Cli) -> None:
    from mait_code.commands.workspace import Workspace

    names = ["abcdefgh1234", "abcdefgh1235", "abcdezzzzzzz", "abzzzzzzzzzz", "zz0000000000"]
    with Workspace.open() as ws, ws.journal.writing(ws.store("inbox")) as writer:
        for name in names:
            writer.append("inbox.captured", f"inbox/{name}", body=name)
    expected = ["abcdefgh1234", "abcdefgh1235", "abcdez", "abzzz", "zz000"]
    listed = {item["id"]: item["short"] for item in cli("inbox", "list", "--json").json}
    assert [listed[name] for name in names] == expected
    assert [cli("inbox", "show", name, "--json").json["short"] for name in names] == expected
    ambiguous = cli("inbox", "show", "abcde")
    assert (ambiguous.code, "abcdefgh1234" in ambiguous.err) == (1, True)


# -- triage ------------------------------------------------------------------------------------------------------------


def test_triage_to_a_card_is_one_action_and_each_names_the_other(cli: Cli, home: Path) -> None:
    item = done(cli, "add", "Fix the login\nit fails on Mondays", "--project", "acme/engine")
    sorted_ = done(cli, "triage", item["short"], "--to", "card", "--priority", "high")
    created, finished = events(home)[-2:]
    assert (created["kind"], finished["kind"], finished["tx"]) == ("card.created", "inbox.done", created["id"])
    assert (sorted_["outcome"], sorted_["ref"]) == ("card", created["entity"])
    card = cli("board", "show", sorted_["ref_short"], "--json").json
    assert card["origin"] == f"inbox/{item['id']}"
    assert (card["title"], card["description"], card["priority"], card["project"], card["status"]) == (
        "Fix the login", "Fix the login\nit fails on Mondays", "high", "acme/engine", "backlog",
    )  # fmt: skip
    assert f"inbox {item['short']}: Fix the login" in cli("board", "show", card["short"]).out
    assert f"card {card['short']}" in cli("inbox", "show", item["short"]).out
    assert f"-> card {card['short']}" in cli("inbox", "list", "--done").out
    assert cli("inbox", "count").out == "0\n"
    again = cli("inbox", "triage", item["short"], "--to", "card")
    assert (again.code, len(events(home))) == (1, 3)


def test_triage_takes_title_description_and_project(cli: Cli) -> None:
    short = done(cli, "add", "x")["short"]
    options = ("--title", "Better title", "--description", "why", "--project", "")
    ref = done(cli, "triage", short, "--to", "card", *options)["ref_short"]
    card = cli("board", "show", ref, "--json").json
    assert (card["title"], card["description"], card["project"], card["priority"]) == (
        "Better title",
        "why",
        None,
        "medium",
    )
    plain = done(cli, "add", "just this")["short"]
    card = cli("board", "show", done(cli, "triage", plain, "--to", "card")["ref_short"], "--json").json
    assert (card["title"], card["description"], card["project"]) == ("just this", None, "rocket")
    long = done(cli, "add", "word " * 100)["short"]
    card = cli("board", "show", done(cli, "triage", long, "--to", "card")["ref_short"], "--json").json
    assert len(card["title"]) <= 200
    assert card["description"] == ("word " * 100).strip()


def test_triage_to_a_reminder(cli: Cli, home: Path) -> None:
    item = done(cli, "add", "call the bank")
    sorted_ = done(cli, "triage", item["short"], "--to", "reminder", "--when", "tomorrow 9am")
    made, finished = events(home)[-2:]
    assert (made["kind"], finished["kind"], finished["tx"]) == ("reminder.set", "inbox.done", made["id"])
    reminder = cli("reminders", "show", sorted_["ref_short"], "--json").json
    assert (reminder["what"], reminder["origin"], reminder["project"]) == (
        "call the bank", f"inbox/{item['id']}", "rocket",
    )  # fmt: skip
    assert reminder["due_local"].endswith("T09:00")
    weekly = done(cli, "add", "water\nthe plants")["short"]
    ref = done(cli, "triage", weekly, "--to", "reminder", "--when", "every monday 9am")["ref_short"]
    shown = cli("reminders", "show", ref, "--json").json
    assert (shown["what"], shown["rule"] is not None) == ("water the plants", True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--to", "reminder"), 2),
        (("--to", "reminder", "--when", "gibberish"), 2),
        (("--to", "reminder", "--when", "yesterday"), 1),
        (("--to", "reminder", "--when", "tomorrow", "--priority", "high"), 2),
        (("--to", "card", "--when", "tomorrow"), 2),
        (("--to", "card", "--title", " "), 2),
        (("--to", "done", "--title", "x"), 2),
        (("--to", "nowhere"), 2),
        ((), 2),
    ],
)
def test_what_triage_refuses_leaves_the_item_where_it_was(
    cli: Cli, home: Path, options: tuple[str, ...], code: int
) -> None:
    short = done(cli, "add", "x")["short"]
    result = cli("inbox", "triage", short, *options)
    assert (result.code, result.out) == (code, "")
    assert len(events(home)) == 1


def test_triage_to_done_and_back(cli: Cli) -> None:
    short = done(cli, "add", "x")["short"]
    assert done(cli, "triage", short, "--to", "done")["outcome"] == "done"
    second = done(cli, "add", "y")["short"]
    ref = done(cli, "triage", second, "--to", "card")["ref_short"]
    reopened = cli("inbox", "restore", second, "--json")
    assert "outcome" not in reopened.json
    assert ref in reopened.err
    assert cli("board", "show", ref).code == 0


def test_undo_takes_a_triage_back_as_a_whole(cli: Cli) -> None:
    short = done(cli, "add", "x")["short"]
    done(cli, "triage", short, "--to", "card")
    assert cli("undo").code == 0
    assert cli("board", "list", "--json").json == []
    assert cli("inbox", "count").out == "1\n"


def test_a_card_outlives_the_item_it_came_from(cli: Cli) -> None:
    short = done(cli, "add", "x")["short"]
    ref = done(cli, "triage", short, "--to", "card")["ref_short"]
    done(cli, "remove", short)
    assert f"inbox {short}: x" in cli("board", "show", ref).out


def test_a_long_item_is_cut_in_lists_and_whole_in_json(cli: Cli) -> None:
    body = "long " * 5000
    short = done(cli, "add", body)["short"]
    assert max(map(len, cli("inbox", "list").out.splitlines())) < 300
    assert "…" in cli("inbox", "list").out
    assert cli("inbox", "list", "--json").json[0]["body"] == body.strip()
    assert body.strip() in cli("inbox", "show", short).out
