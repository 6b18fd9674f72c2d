"""The inbox's screen: sorting by single keys, forms with two writers, what happens elsewhere, and how it looks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import SIZES, Hand, compare, opened, run
from textual.widgets import Input, TextArea
from thoughts import LIVE, PROJECT, fill_inbox, item, looked_at, stopped

from mait_code.commands import board, inbox, reminders
from mait_code.commands.workspace import Workspace
from mait_code.journal.errors import MaitError
from mait_code.projections import memory_queries
from mait_code.tui import list_reading
from mait_code.tui.dialogs import Pick
from mait_code.tui.form import Compare, Form
from mait_code.tui.inbox import InboxRoom
from mait_code.tui.sheet import Sheet
from mait_code.tui.when_entry import AskWhen, WhenEntry

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The journal of an inbox, and the entities in it."""
    place = tmp_path_factory.mktemp("inbox")
    with pytest.MonkeyPatch.context() as patch:
        stopped(place, patch)
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        with Workspace.open(str(place / "data"), "me") as ws:
            return place / "data", fill_inbox(ws)


@pytest.fixture
def items(home: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The inbox, on Wednesday, in a directory of no project."""
    monkeypatch.chdir(home)
    looked_at(monkeypatch)
    shutil.copytree(written[0], home / "data")
    return written[1]


def room(hand: Hand) -> InboxRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, InboxRoom)
    return found


def at(hand: Hand) -> str:
    """The first word of the item under the cursor."""
    found = room(hand).item
    return "" if found is None else found.item.body.split()[0]


def shown(hand: Hand) -> list[str]:
    found = room(hand).rows
    return [found.items[key].item.body.split()[0] for key in found.keys]


def form(hand: Hand) -> Form[object]:
    found = hand.house.screen
    assert isinstance(found, Form)
    return found


async def go_to(hand: Hand, entity: str) -> None:
    assert room(hand).rows.go_to(entity.partition("/")[2])
    await hand.rest()


# -- moving about


def test_moving_and_reading(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom, (80, 24)) as hand:
            assert shown(hand) == [text.split()[0] for text, _ in LIVE], "oldest first"
            assert at(hand) == "Call"
            await hand.press("j", "down", "k")
            assert at(hand) == "Why"
            assert "once at night" in hand.text, "the whole text stands beneath"
            await hand.press("G", "up", "home", "end", "g", "j")
            assert at(hand) == "Why"
            await hand.press("enter")
            assert isinstance(hand.house.screen, Sheet)
            assert "once at night" in hand.text
            await hand.press("j", "space", "pageup", "G", "g", "escape")
            assert isinstance(hand.house.screen, InboxRoom)

    run(go())


def test_a_long_text_is_read_to_its_end(items: dict[str, str]) -> None:
    with Workspace.open() as ws:
        long = inbox.add(ws, "\n".join(f"line {number}" for number in range(60)), "").entity

    async def go() -> None:
        async with opened(InboxRoom, (80, 24)) as hand:
            await go_to(hand, long)
            assert "line 40" not in hand.text
            for _ in range(12):
                await hand.press("space")
                if "line 59" in hand.text:
                    break
            assert "line 59" in hand.text
            while room(hand).query_one("#detail").scroll_y:
                await hand.press("space")
            assert "line 0" in hand.text
            await hand.press("enter", "G")
            assert "line 59" in hand.text

    run(go())


def test_views(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("2")
            assert shown(hand) == ["Write", "Buy"], "the latest comes first"
            assert "→ card 1" in hand.text
            await hand.press("v")
            assert shown(hand) == ["Old"]
            await hand.press("c", "d", "e", "x")
            assert shown(hand) == ["Old"], "what is deleted is not sorted"
            await hand.press("v", "u")
            assert len(shown(hand)) == len(LIVE), "what waits is not brought back"
            await hand.press("3", "1")
            assert at(hand) == "Call"

    run(go())


# -- sorting


def test_card_at_once(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("j", "c")
            assert at(hand) == "Passkeys", "the cursor stands on what came next"
            found = item(items["Why"])
            assert found.outcome == "card"
            with Workspace.open() as ws:
                made = board.find(ws.board, found.ref or "")
            assert (made.title, made.project) == ("Why does the session end an hour early?", PROJECT)
            assert "once at night" in (made.description or "")
            assert any("is a card now" in one and "Undo" in one for one in hand.said)
            await hand.press("z")
            assert not item(items["Why"]).outcome
            assert at(hand) == "Why", "what is taken back has the cursor again"
            with Workspace.open() as ws, pytest.raises(MaitError):
                board.find(ws.board, found.ref or "")

    run(go())


def test_memory_at_once(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await go_to(hand, items["Passkeys"])
            await hand.press("m")
            found = item(items["Passkeys"])
            with Workspace.open() as ws:
                made = memory_queries.one(ws.reading("memory"), found.ref or "")
            assert made is not None
            assert (made.content, made.project) == (LIVE[2][0], PROJECT)
            await hand.press("z")
            assert not item(items["Passkeys"]).outcome

    run(go())


def test_reminder_asks_for_the_time(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("t")
            assert isinstance(hand.house.screen, AskWhen)
            await hand.press("enter")
            assert isinstance(hand.house.screen, AskWhen), "no time, no reminder"
            await hand.type("next fri 15:30")
            assert "→ Fri 13 Mar 15:30 UTC (in 9 days)" in hand.text, "it says what the words mean"
            await hand.type(" or so")
            assert "→" not in hand.text
            await hand.press("enter")
            assert isinstance(hand.house.screen, AskWhen), "what cannot be meant is not taken"
            hand.house.screen.query_one(WhenEntry).value = "2035-05-20 8:00"
            await hand.press("enter")
            assert isinstance(hand.house.screen, InboxRoom)
            found = item(items["Call"])
            assert found.outcome == "reminder"
            with Workspace.open() as ws:
                made = reminders.find(ws, found.ref or "", list_reading.moment())
            assert (made.what, made.due_local) == (LIVE[0][0], "2035-05-20T08:00")
            await hand.press("z", "t", "down", "down", "up", "escape")
            assert not item(items["Call"]).outcome

    run(go())


def test_done_and_remove_and_bring_back(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("d")
            assert item(items["Call"]).outcome == "done"
            await hand.press("x")
            with pytest.raises(MaitError, match="was deleted"):
                item(items["Why"])
            assert at(hand) == "Passkeys"
            await hand.press("2", "u")
            assert not item(items["Call"]).outcome
            await hand.press("3", "u")
            assert not item(items["Why"]).outcome
            await hand.press("1")
            assert shown(hand)[:2] == ["Call", "Why"]
            await hand.press("z", "z", "z")
            assert item(items["Call"]).outcome == "done"
            assert not item(items["Why"]).outcome

    run(go())


def test_keys_that_are_quicker_than_the_disk_sort_one_after_the_other(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            for key in "ddd":
                hand.strike(key)
            await hand.rest()
            for name in ("Call", "Why", "Passkeys"):
                assert item(items[name]).outcome == "done"
            assert not item(items["Ask"]).outcome
            assert len(shown(hand)) == len(LIVE) - 3

    run(go())


def test_what_was_sorted_elsewhere_is_told_and_gone(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            with Workspace.open() as ws:
                inbox.done(ws, items["Call"])
            hand.strike("c")
            await hand.until(lambda: any("dealt with" in one for one in hand.said) or at(hand) == "Passkeys")
            await hand.rest()
            assert item(items["Call"]).outcome == "done"
            assert "Call" not in shown(hand)

    run(go())


# -- forms


def test_capture(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("n", "ctrl+s")
            assert any("the text is empty" in one for one in hand.said)
            await hand.type("Two lines\nof [/] \\ thought")
            await hand.press("ctrl+s")
            assert at(hand) == "Two"
            found = room(hand).item
            assert found is not None
            assert item(found.item.entity).body == "Two lines\nof [/] \\ thought"
            await hand.press("z")
            assert "Two" not in shown(hand)

    run(go())


def test_edit_with_two_writers(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("e", "ctrl+s")
            assert isinstance(hand.house.screen, InboxRoom), "nothing was written, nothing is saved"
            await hand.press("e")
            form(hand).query_one(TextArea).text = "Mine"
            await hand.press("ctrl+s")
            assert item(items["Call"]).body == "Mine"
            await hand.press("e")
            form(hand).query_one(TextArea).text = "Mine again"
            with Workspace.open() as ws:
                inbox.edit(ws, items["Call"], "Theirs")
            await hand.until(lambda: form(hand).query_one(".notice").display)
            assert form(hand).texts["body"] == "Mine again"
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Compare)
            assert item(items["Call"]).body == "Theirs"
            await hand.press("m")
            assert item(items["Call"]).body == "Mine again"

    run(go())


def test_card_by_a_form(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("j", "C")
            assert form(hand).texts["title"] == "Why does the session end an hour early?"
            form(hand).query_one("#field-title", Input).value = "Sessions end early"
            await hand.press("tab", "left", "ctrl+s")
            found = item(items["Why"])
            with Workspace.open() as ws:
                made = board.find(ws.board, found.ref or "")
            assert (made.title, made.priority, made.project) == ("Sessions end early", "high", PROJECT)
            assert made.description == LIVE[1][0]
            await hand.press("z", "g", "C", "ctrl+s")
            with Workspace.open() as ws:
                made = board.find(ws.board, item(items["Call"]).ref or "")
            assert (made.title, made.description, made.project) == (LIVE[0][0], None, None)

    run(go())


def test_card_by_a_form_whose_item_was_changed(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("C")
            form(hand).query_one("#field-title", Input).value = "My title"
            with Workspace.open() as ws:
                inbox.edit(ws, items["Call"], "Their text")
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Compare)
            assert not item(items["Call"]).outcome
            await hand.press("t")
            with Workspace.open() as ws:
                made = board.find(ws.board, item(items["Call"]).ref or "")
            assert made.title == "Their text"

    run(go())


def test_memory_by_a_form(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await go_to(hand, items["Passkeys"])
            await hand.press("M", "right", "right", "tab", "right", "right", "tab", "right", "ctrl+s")
            found = item(items["Passkeys"])
            with Workspace.open() as ws:
                made = memory_queries.one(ws.reading("memory"), found.ref or "")
            assert made is not None
            assert (made.entry_type, made.importance, made.scope) == ("decision", 2, "global")

    run(go())


def test_reminder_by_a_form(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("T", "ctrl+s")
            assert any("needs a time" in one for one in hand.said)
            await hand.type("every monday 9am")
            assert "then every Monday" in hand.text
            form(hand).query_one("#field-what", Input).value = "Bank"
            await hand.press("ctrl+s")
            found = item(items["Call"])
            with Workspace.open() as ws:
                made = reminders.find(ws, found.ref or "", list_reading.moment())
            assert (made.what, made.recurrence) == ("Bank", "every Monday")

    run(go())


# -- filters


def test_search_and_project(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press("slash")
            await hand.type("LOGIN library")
            assert shown(hand) == ["Passkeys"]
            await hand.press("enter")
            assert at(hand) == "Passkeys"
            await hand.press("slash")
            await hand.type(" nothing like it")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            assert len(shown(hand)) == len(LIVE)
            await hand.press("p")
            assert isinstance(hand.house.screen, Pick)
            await hand.type("audit")
            await hand.press("enter")
            assert shown(hand) == ["Ask"]
            await hand.press("d")
            assert "Nothing waits in acme/audit" in hand.text
            await hand.press("2")
            assert shown(hand) == ["Ask"]
            await hand.press("1", "p")
            await hand.type("without")
            await hand.press("enter")
            assert "Why" not in shown(hand)
            await hand.press("p")
            await hand.type("all")
            await hand.press("enter")
            assert len(shown(hand)) == len(LIVE) - 1

    run(go())


# -- what happens elsewhere


def test_live(items: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.until(lambda: hand.house._watcher is not None and hand.house._watcher.watching)
            await go_to(hand, items["Ask"])
            with Workspace.open() as ws:
                inbox.add(ws, "Came from elsewhere", "")
                inbox.done(ws, items["Call"])
            await hand.until(lambda: "Came from elsewhere" in hand.text and "Call" not in shown(hand), 1.0)
            assert at(hand) == "Ask"

    run(go())


def test_the_first_thought_ever(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(InboxRoom, (80, 24)) as hand:
            assert "n captures a thought" in hand.text
            await hand.press("c", "C", "m", "t", "d", "e", "x", "enter", "space", "j", "G")
            assert any("nothing under the cursor" in one for one in hand.said)
            await hand.press("2")
            assert "Nothing was dealt with" in hand.text
            await hand.press("3")
            assert "Nothing is deleted" in hand.text
            await hand.press("1")
            with Workspace.open() as ws:
                inbox.add(ws, "The first")
            await hand.until(lambda: "The first" in hand.text)
            await hand.press("d")
            assert "n captures a thought" in hand.text

    run(go())


def test_leaving(items: dict[str, str]) -> None:
    async def go(key: str) -> None:
        async with opened(InboxRoom) as hand:
            hand.strike(key)
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go("q"))
    run(go("escape"))


# -- how it looks


@pytest.mark.parametrize("theme", ["mait-dark", "mait-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(items: dict[str, str], size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", theme)

    async def go() -> None:
        async with opened(InboxRoom, size) as hand:
            await hand.press("j")
            compare(f"inbox-{size[0]}x{size[1]}-{theme.removeprefix('mait-')}", hand.picture())

    run(go())


@pytest.mark.parametrize(("name", "keys"), [("keys", "question_mark"), ("dealt-with", "2"), ("card", "j C")])
def test_picture_of_what_opens(items: dict[str, str], name: str, keys: str) -> None:
    async def go() -> None:
        async with opened(InboxRoom) as hand:
            await hand.press(*keys.split())
            await hand.pilot.pause(0.2)
            compare(f"inbox-{name}-120x40-dark", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (10, 3)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(items: dict[str, str], size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(InboxRoom, size) as hand:
            await hand.press("j", "enter", "escape", "e", "escape", "t", "escape", "question_mark", "escape", "2", "1")
            assert isinstance(hand.house.screen, InboxRoom)
            if size[0] >= 40:
                assert "Why does the session" in hand.text
                assert "Quit" in hand.text

    run(go())


def test_hostile_texts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    texts = ["[/] [@click=app.exit]x[/]", "\x1b[31mred\x1b[0m", "a" * 5000, "\u202eevil", "\\", "{}$primary", "\u200b."]
    with Workspace.open() as ws:
        for text in texts:
            inbox.add(ws, text, "[red]" if text == "\\" else "")

    async def go() -> None:
        async with opened(InboxRoom, (80, 24)) as hand:
            for _ in texts:
                await hand.press("enter")
                assert "\x1b" not in hand.text
                assert "\u202e" not in hand.text
                await hand.press("escape", "d")
            await hand.press("2")
            assert "\x1b" not in hand.text
            assert "\u202e" not in hand.text

    run(go())


def test_ten_thousand_paint_what_is_seen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws, ws.journal.writing(ws.store("inbox")) as writer:
        for number in range(10_000):
            writer.append("inbox.captured", body=f"Thought {number}")

    async def go() -> None:
        async with opened(InboxRoom) as hand:
            assert len(room(hand).rows.keys) == 10_000
            assert len(room(hand).rows._painted) <= 40
            await hand.press("G")
            assert len(room(hand).rows._painted) <= 80

    run(go())


# -- anything at all


def test_monkey(items: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeys.hammer("n e c C m M t T d x u v p slash 1 2 3 9 ctrl+s", 150, InboxRoom)
