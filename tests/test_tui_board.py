"""The board's screen: every key, the mouse, forms with two writers, what happens elsewhere, and how it looks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import monkeys
import pytest
from board_cards import LIVE, PROJECT, fill
from screens import SIZES, Hand, compare, fixed, opened, run
from textual.widgets import Input, TextArea

from mait_code.commands import board, board_edits, board_moves
from mait_code.commands.workspace import Workspace
from mait_code.tui.board import BoardRoom
from mait_code.tui.board_card import CardRoom
from mait_code.tui.dialogs import Ask, Confirm, Pick
from mait_code.tui.form import Compare, Form

if TYPE_CHECKING:
    from pathlib import Path

    from mait_code.projections.board_queries import Card


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The journal of a board of eleven cards, and the entities in it."""
    place = tmp_path_factory.mktemp("board")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        patch.setenv("TZ", "UTC")
        fixed(patch)
        with Workspace.open(str(place / "data"), "me") as ws:
            return place / "data", fill(ws)


@pytest.fixture
def cards(home: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A board of eleven cards, and a directory of no project."""
    monkeypatch.chdir(home)
    shutil.copytree(written[0], home / "data")
    return written[1]


def card(entity: str) -> Card:
    """A card as another process sees it."""
    with Workspace.open() as ws:
        return board.find(ws.board, entity)


def room(hand: Hand) -> BoardRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, BoardRoom)
    return found


def room_of(hand: Hand) -> CardRoom:
    found = hand.house.screen
    assert isinstance(found, CardRoom)
    return found


def at(hand: Hand) -> str:
    """The title under the cursor."""
    found = room(hand).card
    return "" if found is None else found.title


async def go_to(hand: Hand, entity: str) -> None:
    id_ = entity.partition("/")[2]
    for column in room(hand).seen:
        if column.rows.go_to(id_):
            column.rows.focus()
            await hand.rest()
            return
    raise AssertionError(f"{entity} is not on the board")


# -- moving about


def test_arrows_and_numbers(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            assert [column.column for column in room(hand).seen] == ["backlog", "refined", "in_progress"]
            assert at(hand) == "Look at the slow query on /search", "the most urgent card comes first"
            await hand.press("j")
            assert at(hand).startswith("Passkeys")
            await hand.press("down", "k")
            assert at(hand).startswith("Passkeys")
            await hand.press("G")
            assert at(hand).startswith("Say in the README")
            await hand.press("g", "up")
            assert at(hand).startswith("Look at")
            await hand.press("right")
            assert at(hand) == "Rate limits by account, not by address"
            await hand.press("right", "right")
            assert at(hand).startswith("Fix the login")
            await hand.press("left", "1")
            assert at(hand).startswith("Look at")
            await hand.press("3")
            assert at(hand).startswith("Fix the login")
            await hand.press("5", "4")
            assert at(hand).startswith("Fix the login"), "there is no fourth column yet"

    run(go())


def test_columns_that_hide(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            seen = lambda: [column.column for column in room(hand).seen]  # noqa: E731
            await hand.press("d")
            assert seen() == ["backlog", "refined", "in_progress", "done"]
            await hand.press("4")
            assert at(hand) == "Move the images to the new bucket", "the latest done comes first"
            await hand.press("d")
            assert "done" not in seen()
            assert room(hand).column is not None, "the cursor is somewhere"
            await hand.press("v")
            assert "in_review" in seen()
            await hand.press("v", "a")
            assert seen() == ["backlog", "refined", "in_progress", "archived"]
            board_moves_in_review = cards["Retry"]
            with Workspace.open() as ws:
                board_moves.move(ws, board_moves_in_review, "in_review")
            await hand.until(lambda: "in_review" in seen())

    run(go())


# -- changing


def test_move_and_undo(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Say"])
            await hand.press("greater_than_sign")
            assert card(cards["Say"]).status == "refined"
            assert at(hand).startswith("Say in the README"), "the cursor follows the card"
            assert any("moved to refined" in one and "Undo" in one for one in hand.said)
            await hand.press("less_than_sign")
            assert card(cards["Say"]).status == "backlog"
            await hand.press("less_than_sign")
            assert card(cards["Say"]).status == "backlog", "there is nothing left of the first column"
            await hand.press("z")
            assert card(cards["Say"]).status == "refined"
            await hand.press("z")
            assert card(cards["Say"]).status == "backlog"
            await hand.press("z")
            assert any("Nothing was changed here" in one for one in hand.said)

    run(go())


def test_move_leaves_review_and_archive_alone(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Fix"])
            await hand.press("greater_than_sign")
            assert card(cards["Fix"]).status == "done"
            await hand.press("d")
            await go_to(hand, cards["Fix"])
            await hand.press("greater_than_sign")
            assert card(cards["Fix"]).status == "done"

    run(go())


def test_undo_by_the_toast(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Say"])
            await hand.press("greater_than_sign")
            await hand.pilot.pause(0.2)
            toast = hand.house.screen.query("Toast").first()
            place = toast.region.offset
            line = hand.text.split("\n")[place.y]
            await hand.pilot.click(offset=(line.index("Undo") + 1, place.y))
            await hand.rest()
            assert card(cards["Say"]).status == "backlog"

    run(go())


def test_block_unblock_tag(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Say"])
            await hand.press("b")
            assert isinstance(hand.house.screen, Ask)
            await hand.type("waits for legal")
            await hand.press("enter")
            found = card(cards["Say"])
            assert found.blocked
            assert found.comments is not None
            assert found.comments[-1].body == "Blocked: waits for legal"
            await hand.press("u")
            assert not card(cards["Say"]).blocked
            await hand.press("u")
            assert any("nothing changed" in one for one in hand.said)
            await hand.press("t")
            await hand.type("later")
            await hand.press("enter")
            assert card(cards["Say"]).tags == ["docs", "later"]
            await hand.press("t")
            await hand.type("docs")
            await hand.press("enter")
            assert card(cards["Say"]).tags == ["later"]
            await hand.press("t", "escape")
            assert isinstance(hand.house.screen, BoardRoom)

    run(go())


def test_comment_and_complete(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Retry"])
            await hand.press("c")
            await hand.type("first line\nsecond *line*")
            await hand.press("ctrl+s")
            found = card(cards["Retry"])
            assert found.comments is not None
            assert found.comments[-1].body == "first line\nsecond *line*"
            await hand.press("C")
            await hand.type("it backs off")
            await hand.press("ctrl+s")
            found = card(cards["Retry"])
            assert (found.status, found.completion_summary) == ("done", "it backs off")
            await hand.press("z")
            found = card(cards["Retry"])
            assert (found.status, found.completion_summary) == ("in_progress", None), "one action, one undo"
            await hand.press("c", "ctrl+s")
            assert any("comment is empty" in one for one in hand.said)
            assert isinstance(hand.house.screen, Form)

    run(go())


def test_new(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.press("n", "ctrl+s")
            assert any("title is empty" in one for one in hand.said)
            await hand.type("A card [of/] its own \\")
            await hand.press("tab", "left", "tab", "right", "tab")
            await hand.type("one, two")
            await hand.press("tab")
            await hand.type("docs: https://example.org/x")
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, BoardRoom)
            assert at(hand) == "A card [of/] its own \\"
            found = room(hand).card
            assert found is not None
            found = card(found.entity)
            assert (found.priority, found.status, found.tags) == ("high", "refined", ["one", "two"])
            assert [one[1:] for one in found.references] == [("docs", "https://example.org/x")]
            await hand.press("z")
            with Workspace.open() as ws:
                assert not board.listing(ws.board, board.Scope(every=True), search="its own"), (
                    "one undo takes all of it"
                )

    run(go())


def test_keys_typed_ahead(cards: dict[str, str]) -> None:
    """Letters typed before a form is there are its letters, none of them a key of the board."""

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            for title in ("nbdaxe >q", "second"):
                for key in ("n", *title, "ctrl+s"):
                    hand.strike({" ": "space", ">": "greater_than_sign"}.get(key, key), key)
            for key in ("slash", *"second", "enter", "greater_than_sign", "escape"):
                hand.strike(key)
            await hand.until(lambda: not hand.house._typed._waiting)
            await hand.rest()
            with Workspace.open() as ws:
                found = {card.title: card.status for card in board.listing(ws.board, board.Scope(every=True))}
            assert (found["nbdaxe >q"], found["second"]) == ("backlog", "refined")
            assert len(found) == len(LIVE) - 1 + 2, "nothing else was done"

    run(go())


# -- the form


def test_edit_saves_all_as_one_action(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Fix"])
            await hand.press("e")
            form = hand.house.screen
            assert isinstance(form, Form)
            assert form.texts["references"] == "ticket: https://example.org/1234"
            await hand.type(" soon")
            form.query_one("#field-tags", Input).value = "auth, urgent"
            form.query_one("#field-description", TextArea).text = "New\n\nwords"
            form.query_one("#field-references", TextArea).text = "pr: https://example.org/9"
            form.query_one("#field-acceptance", TextArea).text = "It holds."
            await hand.press("ctrl+s")
            found = card(cards["Fix"])
            assert found.title == "Fix the login page for sessions that have expired soon"
            assert (found.description, found.acceptance_criteria) == ("New\n\nwords", "It holds.")
            assert found.tags == ["auth", "urgent"]
            assert [one[1:] for one in found.references] == [("pr", "https://example.org/9")]
            await hand.press("z")
            found = card(cards["Fix"])
            assert (found.tags, found.acceptance_criteria) == (["auth"], None)
            assert [one[1:] for one in found.references] == [("ticket", "https://example.org/1234")]

    run(go())


def test_escape_asks_when_something_was_written(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.press("e", "escape")
            assert isinstance(hand.house.screen, BoardRoom), "nothing was written, nothing is asked"
            await hand.press("e")
            await hand.type("x")
            await hand.press("escape")
            assert isinstance(hand.house.screen, Confirm)
            await hand.press("enter")
            assert isinstance(hand.house.screen, Form), "Enter is not how something gets lost"
            await hand.press("ctrl+q")
            assert isinstance(hand.house.screen, Confirm), "quitting asks too"
            await hand.press("y")
            assert isinstance(hand.house.screen, BoardRoom)

    run(go())


def test_two_writers_under_a_form(cards: dict[str, str]) -> None:
    """Another process changes the card while it is being edited: nothing is lost, and the person is asked."""

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Say"])
            await hand.press("e")
            form = hand.house.screen
            assert isinstance(form, Form)
            await hand.type(" please")
            form.query_one("#field-tags", Input).value = "docs, mine"
            with Workspace.open() as ws:
                board_edits.edit(ws, cards["Say"], title="Their title", description="Their words")
            await hand.until(lambda: form.query_one(".notice").display)
            assert form.texts["title"].endswith(" please"), "what is half written stays"
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Compare)
            assert "Their title" in hand.text
            assert card(cards["Say"]).title == "Their title", "nothing was saved yet"
            await hand.press("escape")
            assert isinstance(hand.house.screen, Form)
            await hand.press("ctrl+s", "t")
            found = card(cards["Say"])
            assert (found.title, found.description, found.tags) == ("Their title", "Their words", ["docs", "mine"])

    run(go())


def test_two_writers_and_mine_is_kept(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Say"])
            await hand.press("e")
            await hand.type("!")
            with Workspace.open() as ws:
                board_edits.edit(ws, cards["Say"], title="Their title", acceptance="Theirs")
            await hand.press("ctrl+s")
            with Workspace.open() as ws:  # and a third writer, while both sides are being looked at
                board_moves.move(ws, cards["Say"], "in_progress")
            await hand.press("m")
            assert isinstance(hand.house.screen, Compare), "what came between once more is shown once more"
            await hand.press("m")
            found = card(cards["Say"])
            assert found.title == "Say in the README how to run one test!"
            assert (found.acceptance_criteria, found.status) == ("Theirs", "in_progress")

    run(go())


# -- filters


def test_search(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.press("slash")
            await hand.type("pass need")
            shown = {key for column in room(hand).seen for key in column.rows.keys}
            assert shown == {cards["Passkeys:"].partition("/")[2]}
            await hand.press("enter")
            assert at(hand).startswith("Passkeys")
            await hand.press("escape")
            assert room(hand).found is not None
            assert len(room(hand).columns[0].rows.keys) == 4
            assert isinstance(hand.house.screen, BoardRoom), "Escape closed the search, not the board"
            await hand.press("slash")
            await hand.type("#auth")
            shown = {key for column in room(hand).seen for key in column.rows.keys}
            assert shown == {cards[word].partition("/")[2] for word in ("Fix", "Rate", "Passkeys:")}
            await hand.type(" nothing like that")
            await hand.press("enter", "escape")
            assert at(hand)

    run(go())


def test_project(cards: dict[str, str]) -> None:
    with Workspace.open() as ws:
        board.add(ws, "Elsewhere", project="acme/other")
        board.add(ws, "Nowhere", project="")

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.press("p")
            assert isinstance(hand.house.screen, Pick)
            await hand.type("oth")
            await hand.press("enter")
            assert at(hand) == "Elsewhere"
            assert "acme/other" in hand.text
            await hand.press("p", "up", "up", "up", "down", "enter")
            assert at(hand) == "Nowhere"
            await hand.press("p")
            await hand.type("all")
            await hand.press("enter")
            assert room(hand).found is not None
            assert room(hand).found.scope.every  # type: ignore[union-attr]
            await hand.press("p", "escape")
            assert isinstance(hand.house.screen, BoardRoom)

    run(go())


# -- one card


def test_card_screen(cards: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Fix"])
            await hand.press("enter")
            assert isinstance(hand.house.screen, CardRoom)
            await hand.until(lambda: "max_age" in hand.text)
            assert "https://example.org/1234" in hand.text
            with Workspace.open() as ws:
                board_edits.comment(ws, cards["Fix"], "Said by another process")
            await hand.until(lambda: "Said by another process" in room_of(hand)._body)
            await hand.press("pagedown")
            assert "Said by another process" in hand.text
            await hand.press("greater_than_sign")
            assert card(cards["Fix"]).status == "done"
            await hand.press("x")
            await hand.press("enter")
            written = list(tmp_path.glob("card-*.md"))
            assert len(written) == 1
            assert "max_age" in written[0].read_text()
            await hand.press("x", "enter")
            assert isinstance(hand.house.screen, Confirm), "a file that is there is not replaced without a question"
            await hand.press("n", "e")
            assert isinstance(hand.house.screen, Form)
            await hand.press("escape", "j", "escape")
            assert isinstance(hand.house.screen, BoardRoom)
            await hand.until(lambda: cards["Fix"].partition("/")[2] in room(hand).columns[4].rows.keys)

    run(go())


def test_card_deleted_elsewhere(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await go_to(hand, cards["Fix"])
            await hand.press("enter")
            with Workspace.open() as ws:
                board_moves.remove(ws, cards["Fix"])
            await hand.until(lambda: isinstance(hand.house.screen, BoardRoom))
            assert any("was deleted" in one for one in hand.said)

    run(go())


# -- what happens elsewhere


def test_live(cards: dict[str, str]) -> None:
    """A change by another process appears within a second, and the cursor stays on its card."""

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.until(lambda: hand.house._watcher is not None and hand.house._watcher.watching)
            await go_to(hand, cards["Say"])
            with Workspace.open() as ws:
                board.add(ws, "Came from elsewhere", priority="high", project=PROJECT)
            await hand.until(lambda: "Came from elsewhere" in hand.text, 1.0)
            assert at(hand).startswith("Say in the README")

    run(go())


def test_first_card_ever(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal's directory is not there when the screen opens."""
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(BoardRoom, (80, 24)) as hand:
            assert "n adds the first one" in hand.text
            await hand.press("e", "greater_than_sign", "b", "x", "enter", "left", "3")
            assert any("no card under the cursor" in one for one in hand.said)
            with Workspace.open() as ws:
                board.add(ws, "The first")
            await hand.until(lambda: "The first" in hand.text)

    run(go())


# -- the mouse


def test_drag(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            backlog, refined, *_ = room(hand).seen
            start = backlog.rows.region
            await hand.pilot.mouse_down(backlog.rows, offset=(3, 1))
            await hand.pilot.hover(refined.rows, offset=(4, 5))
            assert refined.has_class("-target")
            await hand.pilot.mouse_up(refined.rows, offset=(4, 5))
            await hand.rest()
            assert start.width
            assert card(cards["Look"]).status == "refined"
            assert not refined.has_class("-target")
            await hand.pilot.click(backlog.rows, offset=(3, 5), times=2)
            await hand.rest()
            assert isinstance(hand.house.screen, CardRoom), "a double click opens"

    run(go())


# -- how it looks


@pytest.mark.parametrize("theme", ["mait-dark", "mait-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(cards: dict[str, str], size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", theme)

    async def go() -> None:
        async with opened(BoardRoom, size) as hand:
            await hand.press("d", "3")
            compare(f"board-{size[0]}x{size[1]}-{theme.removeprefix('mait-')}", hand.picture())

    run(go())


def test_a_theme_that_is_chosen_meanwhile_looks_the_same(cards: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(BoardRoom, (80, 24)) as hand:
            await go_to(hand, cards["Fix"])
            before = hand.picture()
            hand.house.theme = "mait-light"
            await hand.rest()
            await hand.pilot.pause(0.3)
            light = hand.picture()
            assert light != before
        async with opened(BoardRoom, (80, 24)) as hand:
            await go_to(hand, cards["Fix"])
            assert hand.picture() == light

    run(go())


@pytest.mark.parametrize(
    ("name", "keys"), [("card", "3 enter"), ("edit", "3 e"), ("keys", "question_mark"), ("project", "p")]
)
def test_picture_of_what_opens(cards: dict[str, str], name: str, keys: str) -> None:
    async def go() -> None:
        async with opened(BoardRoom, (120, 40)) as hand:
            await hand.press(*keys.split())
            await hand.pilot.pause(0.2)
            compare(f"board-{name}-120x40-dark", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (10, 3)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(cards: dict[str, str], size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(BoardRoom, size) as hand:
            await hand.press("right", "j", "e", "escape", "enter", "escape", "question_mark", "escape", "p", "escape")
            assert isinstance(hand.house.screen, BoardRoom)
            if size[0] >= 40:
                assert "Refined" in hand.text
                assert "Quit" in hand.text

    run(go())


def test_hostile_texts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    titles = [
        "[/] [@click=app.exit]x[/]",
        "\x1b[31mred\x1b[0m",
        "a" * 5000,
        "\u202eevil",
        "\\",
        "[bold]",
        "{}$primary",
        "\u200b\u200b",
    ]
    with Workspace.open() as ws:
        for title in titles:
            made = board.add(ws, title, description="# [x](javascript:alert(1))\n\n<script>\x07", project="")
            board_edits.tag(ws, made.entity, "[red]tag")

    async def go() -> None:
        async with opened(BoardRoom, (80, 24)) as hand:
            for _ in titles:
                await hand.press("greater_than_sign", "1")
            await hand.press("2", "enter", "e")
            assert "\x1b" not in hand.text
            assert "\u202e" not in hand.text

    run(go())


def test_ten_thousand_cards_paint_what_is_seen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws, ws.journal.writing(ws.store("board")) as writer:
        for number in range(10_000):
            writer.append("card.created", title=f"Card {number}", column="backlog", priority="medium")

    async def go() -> None:
        async with opened(BoardRoom) as hand:
            rows = room(hand).columns[0].rows
            assert len(rows.keys) == 10_000
            assert len(rows.items) <= 100, "only what is about to be seen was read"
            assert len(rows._painted) <= 20
            await hand.press("G")
            await hand.until(lambda: at(hand) != "")
            assert f"Card {rows.cursor}" in hand.text
            assert len(rows.items) <= 300

    run(go())


# -- anything at all


def test_monkey(cards: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.chdir(files)
    monkeys.hammer("1 2 3 4 5 less_than_sign greater_than_sign n e c C t b u p d v slash x m ctrl+s", 300, BoardRoom)
