"""Setting up the start page: every key, what is kept of the file, what may run, and nobody's change lost."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from screens import Hand, opened, run
from textual.widgets import Input, TextArea

from mait_code.commands import dashboard, dashboard_approval, doctor
from mait_code.journal.home import Home
from mait_code.tui.dialogs import Confirm, Pick
from mait_code.tui.form import Form
from mait_code.tui.home import HomeRoom
from mait_code.tui.home_commands import Allow
from mait_code.tui.house import House
from mait_code.tui.page_setup import SetupRoom

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINE = """\
# Mine.
columns = 3  # wide

# First of all
[[tile]]
widget = "board"  # all of it

[[tile]]
command = "touch ran; echo done"
color = "red"

[[tile]]
widget = "nope"
"""


@pytest.fixture
def data(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(home)
    monkeypatch.setattr(doctor, "examine", lambda _ws: [])
    (home / "data").mkdir()
    return Home(str(home / "data"))


def write(data: Home, text: str) -> None:
    with open(dashboard.path(data), "w", encoding="utf-8") as file:
        file.write(text)


def text(data: Home) -> str:
    with open(dashboard.path(data), encoding="utf-8") as file:
        return file.read()


def room(hand: Hand) -> SetupRoom:
    found = next(screen for screen in hand.house.screen_stack if isinstance(screen, SetupRoom))
    assert found.draft is not None
    return found


def names(hand: Hand) -> list[str]:
    draft = room(hand).draft
    return [] if draft is None else [entry.heading for entry in draft.entries]


def test_moving_removing_and_taking_back(data: Home) -> None:
    write(data, MINE)

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s")
            assert names(hand) == ["Board", "touch ran; echo done", "nope"]
            assert "no widget 'nope'" in hand.text
            assert "▏Board" in hand.text, "the page in little"
            await hand.press("shift+down")
            assert names(hand) == ["touch ran; echo done", "Board", "nope"]
            assert room(hand).rows.cursor == 1, "the cursor goes along"
            await hand.press("shift+down", "shift+up", "shift+up", "shift+up", "j", "d")
            assert names(hand) == ["Board", "nope"]
            assert "not saved" in hand.text
            await hand.press("4")
            assert "4 columns" in hand.text
            await hand.press("1", "z", "z")
            assert "3 columns" in hand.text
            await hand.press("z")
            assert names(hand) == ["Board", "touch ran; echo done", "nope"]
            await hand.press("z", "z", "z", "z", "z")
            assert "Nothing was changed here that could be taken back." in hand.said
            assert not room(hand).dirty
            assert text(data) == MINE, "nothing is written before Ctrl+S"
            await hand.press("G", "enter")
            assert any("d takes the tile out" in words for words in hand.said)
            await hand.press("d", "g", "shift+down", "ctrl+s")
            assert "The start page is saved." in hand.said
            await hand.press("q")
            assert isinstance(hand.house.screen, HomeRoom)

    run(go())
    kept = text(data)
    for words in (
        "# Mine.",
        "columns = 3  # wide",
        "# First of all\n[[tile]]",
        'widget = "board"  # all of it',
        '"red"',
    ):
        assert words in kept
    assert [tile.heading for tile in dashboard.of_text(kept).tiles] == ["touch ran; echo done", "Board"]


def test_adding_and_changing(data: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s", "a", "escape", "a")
            assert isinstance(hand.house.screen, Pick)
            await hand.type("velo")
            await hand.press("enter")
            assert names(hand) == ["Reminders", "Velocity", "Board", "Inbox", "Memory"]
            assert room(hand).rows.cursor == 1
            await hand.press("a")
            await hand.type("a command")
            await hand.press("enter")
            form = hand.house.screen
            assert isinstance(form, Form)
            await hand.press("ctrl+s")
            assert any("neither" in words for words in hand.said), "an empty command is none"
            form.query_one(TextArea).text = "echo here"
            form.query_one("#field-title", Input).value = "Here"
            await hand.press("ctrl+s")
            assert names(hand)[2] == "Here"
            await hand.press("e")
            form = hand.house.screen
            assert isinstance(form, Form)
            form.query_one("#field-title", Input).value = "There"
            form.query_one("#field-span").focus()
            await hand.press("right", "ctrl+s")
            assert names(hand)[2] == "There"
            await hand.press("k", "e", "right", "ctrl+s")
            assert "Reminders" in names(hand)[:2], "another built-in one"
            await hand.press("ctrl+s")

    run(go())
    page = dashboard.read(data)
    assert page.tiles[2] == dashboard.Tile(command="echo here", title="There", span=2)
    assert page.warnings == []
    assert dashboard_approval.approved(data) == {dashboard_approval.fingerprint("echo here")}, (
        "who typed it has seen it"
    )


def test_a_command_runs_when_it_is_told_to_and_not_before(data: Home, home: Path) -> None:
    write(data, MINE)
    ran = home / "ran"

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s", "ctrl+r")
            assert "Only a command can be run." in hand.said
            await hand.press("j", "ctrl+r")
            assert isinstance(hand.house.screen, Allow)
            await hand.press("n")
            assert not ran.exists()
            await hand.press("ctrl+r", "y")
            await hand.until(lambda: "▏  done " in hand.text)
            assert ran.exists()
            ran.unlink()
            await hand.press("ctrl+r")
            await hand.until(ran.exists)
            assert dashboard_approval.approved(data) == set(), "saving allows it"
            await hand.press("2", "ctrl+s")
            assert len(dashboard_approval.approved(data)) == 1

    run(go())


def test_leaving_asks_where_something_would_be_lost(data: Home) -> None:
    write(data, MINE)

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s", "escape")
            assert isinstance(hand.house.screen, HomeRoom), "there was nothing to lose"
            await hand.press("s", "d")
            for key in ("q", "escape", "ctrl+q"):
                await hand.press(key)
                assert isinstance(hand.house.screen, Confirm), key
                await hand.press("enter")
                assert hand.house.screen is room(hand)
            await hand.press("q", "y")
            assert isinstance(hand.house.screen, HomeRoom)
            assert text(data) == MINE

    run(go())


def test_nobodys_change_is_lost(data: Home) -> None:
    write(data, MINE)

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s")
            write(data, "columns = 1\n")
            await hand.press("r")
            assert names(hand) == ["Reminders", "Board", "Inbox", "Memory"], "read anew where nothing was written here"
            await hand.press("d")
            write(data, "columns = 4\n")
            await hand.press("r")
            assert "The file was changed meanwhile" in hand.text
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Confirm)
            await hand.press("escape")
            assert text(data) == "columns = 4\n"
            await hand.press("ctrl+s", "y")
            assert "columns = 1" in text(data)
            assert not room(hand).dirty
            os.chmod(data.data, 0o500)
            try:
                await hand.press("d", "ctrl+s")
                assert os.getuid() == 0 or any("cannot write" in words for words in hand.said)
            finally:
                os.chmod(data.data, 0o700)

    run(go())


def test_the_editor(data: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write(data, "columns = [\n")
    calls: list[list[str]] = []
    writes = ["[[tile]]\nwidget = 'inbox'\n"]

    @contextmanager
    def suspend(_house: House) -> Iterator[None]:
        yield

    def editor(command: list[str], check: bool) -> None:
        assert not check
        calls.append(command)
        write(data, writes[0])

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await hand.press("s")
            assert "is not TOML" in hand.text
            await hand.press("a", "d", "1", "e", "ctrl+r", "z", "shift+up", "ctrl+s")
            assert "Ctrl+E opens the file in your editor." in hand.said
            await hand.press("ctrl+e")
            assert any("cannot be started" in words for words in hand.said), "no terminal here to give away"
            monkeypatch.setattr(House, "suspend", suspend)
            monkeypatch.setattr(subprocess, "run", editor)
            monkeypatch.setenv("EDITOR", "edit --wait")
            await hand.press("ctrl+e")
            assert calls == [["edit", "--wait", dashboard.path(data)]]
            assert names(hand) == ["Inbox"]
            await hand.press("a")
            await hand.type("health")
            await hand.press("enter", "ctrl+e")
            assert len(calls) == 2
            assert names(hand) == ["Inbox"], "as the editor left it"
            monkeypatch.setenv("VISUAL", "'")
            await hand.press("ctrl+e")
            assert any("' cannot be started" in words for words in hand.said)

    run(go())


def test_no_tile_and_small(data: Home) -> None:
    write(data, "tile = []\n")

    async def go() -> None:
        async with opened(HomeRoom, (40, 12)) as hand:
            await hand.press("s")
            assert "The start page has no tile." in hand.text
            await hand.press("d", "e", "enter", "shift+up", "ctrl+r", "j", "a")
            await hand.type("inbox")
            await hand.press("enter")
            assert names(hand) == ["Inbox"]
            await hand.press("d", "z", "ctrl+s", "q")
            assert isinstance(hand.house.screen, HomeRoom)

    run(go())
    assert dashboard.read(data).tiles == [dashboard.Tile("inbox")]
