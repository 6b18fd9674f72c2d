"""What holds by whatever command a card is changed, and what happens to text that is too long or cannot be stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from mait_code.commands import board, stored_text
from mait_code.commands.workspace import Workspace
from mait_code.journal.event import LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


pytestmark = pytest.mark.usefixtures("rocket")


def done(cli: Cli, *arguments: str) -> dict[str, Any]:
    """Run a command that changes a card; it has to succeed and print the card."""
    result = cli("board", *arguments, "--json")
    assert result.code == 0, result.err
    card: dict[str, Any] = result.json
    return card


#: Every command that can take a card out of a column.
LEAVING = {
    "move": ("move", "1", "in_review"),
    "archive": ("archive", "1"),
    "refine": ("refine", "1", "--acceptance", "x"),
    "backlog": ("move", "1", "backlog"),
}


@pytest.mark.parametrize("enter", [("move", "1", "done"), ("complete", "1"), ("complete", "1", "--summary", "s")])
@pytest.mark.parametrize("leave", LEAVING)
def test_done_stamps_and_leaving_clears(cli: Cli, enter: tuple[str, ...], leave: str) -> None:
    done(cli, "add", "x")
    card = done(cli, *enter)
    assert card["completed_at"] == card["updated_at"]
    stamp = card["completed_at"]
    assert done(cli, "edit", "1", "--title", "y")["completed_at"] == stamp
    assert done(cli, "complete", "1", "--summary", "later")["completed_at"] == stamp
    assert done(cli, *LEAVING[leave])["completed_at"] is None
    assert done(cli, *enter)["completed_at"] > stamp


@pytest.mark.parametrize("leave", [*LEAVING, "complete", "claimless"])
def test_leaving_in_progress_releases(cli: Cli, home: Path, leave: str) -> None:
    done(cli, "add", "x")
    held = done(cli, "move", "1", "in_progress", "--session", "s-1", "--pid", "4242")
    assert held["bound"]["session"] == "s-1"
    ways = {**LEAVING, "complete": ("complete", "1"), "claimless": ("move", "1", "done")}
    assert done(cli, *ways[leave])["bound"] is None
    # Back in the column without a session, nobody holds it.
    assert done(cli, "move", "1", "in_progress")["bound"] is None
    assert not list((home / "state").glob("mait-code/*/bindings/*"))


def test_deleting_releases_too_and_restoring_keeps_the_session(cli: Cli) -> None:
    done(cli, "add", "x")
    done(cli, "move", "1", "in_progress", "--session", "s-1", "--pid", "4242")
    done(cli, "remove", "1")
    assert done(cli, "restore", "1")["bound"]["session"] == "s-1"


def test_complete_without_a_summary_keeps_the_old_one(cli: Cli, home: Path) -> None:
    done(cli, "add", "x")
    assert done(cli, "complete", "1", "--summary", "first")["completion_summary"] == "first"
    done(cli, "move", "1", "in_progress")
    assert done(cli, "complete", "1")["completion_summary"] == "first"
    assert done(cli, "complete", "1", "--summary", " ")["completion_summary"] == "first"
    again = cli("board", "complete", "1", "--summary", "second", "--json")
    assert again.json["completion_summary"] == "second"
    assert "done already" in again.err
    last = cli("board", "complete", "1", "--json")
    assert last.json["completion_summary"] == "second"
    assert "nothing changed" in last.err


def test_no_action_writes_more_than_one_transaction(cli: Cli, home: Path) -> None:
    done(cli, "add", "x")
    done(cli, "refine", "1", "--description", "d", "--acceptance", "a")
    done(cli, "complete", "1", "--summary", "s")
    lines = b"".join(path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl")).splitlines()
    actions: dict[str, list[str]] = {}
    for line in lines:
        event = orjson.loads(line)
        actions.setdefault(event.get("tx", event["id"]), []).append(event["kind"])
    assert list(actions.values()) == [
        ["card.created"], ["card.edited", "card.moved"], ["card.edited", "card.moved"],
    ]  # fmt: skip


# -- text --------------------------------------------------------------------------------------------------------------

TEXTS = [
    "naïve café",
    "漢字かな", "👩‍👩‍👧‍👦 🎉", "שלום עולם", "\u202eevil\u202c", "a\x1b[31mred\x1b[0m", "tab\there",
    "-dash", "'quotes\" and \\", "e\u0301", "x" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_kept_as_it_was_and_shown_harmlessly(cli: Cli, text: str) -> None:
    card = cli("board", "add", "--description", text, "--json", "--", text).json
    assert (card["title"], card["description"]) == (text, text)
    for command in (("show", "1"), ("list",), (), ("export",), ("list", "--json"), ("export", "--json")):
        result = cli("board", *command)
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "\u202e" not in result.out


def test_a_title_is_one_line_and_a_body_keeps_its_own(cli: Cli) -> None:
    card = done(cli, "add", "one\ntwo\r\nthree", "--description", "a\r\nb\n\nc")
    assert (card["title"], card["description"]) == ("one two three", "a\nb\n\nc")


def test_a_description_can_come_from_stdin_whole(program: Cli) -> None:
    result = program("board", "add", "x", "--description", "-", "--json", input=b"zeile\n\0ende")
    assert result.code == 0
    assert orjson.loads(result.out)["description"] == "zeile\n\N{REPLACEMENT CHARACTER}ende"
    assert b"cannot be stored" in result.err
    refused = program("board", "add", "x", "--description", "-", input=b"caf\xe9")
    assert (refused.code, refused.out) == (2, b"")


@pytest.mark.parametrize("letter", ["x", "é", "漢", "🎉", '"', "\n", "\x01"])
def test_a_body_too_long_for_a_line_is_cut_and_told(program: Cli, home: Path, letter: str) -> None:
    body = letter * 300_000
    result = program("board", "add", "t", "--description", "-", "--json", input=f"{body}.".encode())
    assert result.code == 0
    assert b"too long" in result.err
    kept = orjson.loads(result.out)["description"]
    assert body.startswith(kept)
    (line,) = (path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl"))
    assert 0.85 * LONGEST_LINE < len(line) <= LONGEST_LINE


def test_long_texts_share_the_line_and_short_ones_stay_whole() -> None:
    texts, notes = stored_text.fitted({"title": "short", "one": "a" * 400_000, "two": "b" * 200_000, "none": None})
    assert texts["title"] == "short"
    assert texts["none"] is None
    assert len(texts["one"]) == len(texts["two"]) > 100_000
    assert len(notes) == 2
    assert stored_text.fitted({"a": "x" * 1000, "b": "y"}) == ({"a": "x" * 1000, "b": "y"}, [])


def test_half_a_surrogate_pair_is_replaced_and_told() -> None:
    assert stored_text.fitted({"a": "x\ud83dy"})[0] == {"a": "x\N{REPLACEMENT CHARACTER}y"}
    workspace = Workspace.open()
    card = board.add(workspace, "x\udcff\0")
    assert card.title == "x\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    assert card.notes
    workspace.close()


def test_a_terminal_cuts_long_titles_and_a_pipe_does_not(cli: Cli, terminal: Cli) -> None:
    done(cli, "add", "漢" * 100)
    shown = terminal("board", "list", env={"COLUMNS": "60", "NO_COLOR": "1"})
    assert "漢" * 22 + "…" in shown
    assert "漢" * 24 not in shown
    assert "漢" * 100 in cli("board", "list").out


def test_colour_is_for_terminals(cli: Cli, terminal: Cli) -> None:
    done(cli, "add", "x", "--priority", "high")
    assert "\x1b[31mhigh" in terminal("board", "list")
    assert "\x1b" not in terminal("board", "list", "--no-color")
    assert "\x1b" not in cli("board", "list").out


def test_a_c_locale_changes_nothing(program: Cli) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    added = program("board", "add", "naïve café 🎉", env=plain)
    assert added.code == 0, added.err
    assert "naïve café 🎉" in program("board", "list", env=plain).out.decode()
