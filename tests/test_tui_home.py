"""Home: the tree, the tiles of the start page and their commands, doctor's verdict; every key, and how it looks."""

from __future__ import annotations

import os
import threading
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import NINE, SIZES, Hand, compare, fixed, opened, run
from terminal import Terminal
from textual.widgets import Static

from mait_code.commands import (
    board,
    board_moves,
    dashboard_approval,
    dashboard_run,
    doctor,
    inbox,
    memory,
    memory_reindex,
)
from mait_code.commands.doctor import Check
from mait_code.commands.memory_reindex import Reindexed
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.journal import clock
from mait_code.journal.home import Home
from mait_code.tui import home as home_module
from mait_code.tui import home_reading, launch, list_reading
from mait_code.tui.cheat_sheet import CheatSheet
from mait_code.tui.dialogs import Confirm
from mait_code.tui.home import HomeRoom
from mait_code.tui.home_commands import Allow
from mait_code.tui.home_tiles import TileBox, Tiles
from mait_code.tui.house import House
from mait_code.tui.page_setup import SetupRoom
from mait_code.tui.working import Workroom

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CHECKS = [
    Check("data-dir", "ok", "there"),
    Check("git", "warn", "the data directory is no git repository", "mait-code init makes it one"),
    Check("store-board", "fail", "it is torn", "--fix makes it again from the journal"),
]
PICTURED = "board inbox reminders conflicts memory review observations graph timeline logs settings".split()
SOUL = "# Who you are\n\nSay what is so, and what you do not know.\n"
PAGE = """\
columns = 2

[[tile]]
widget = "board"

[[tile]]
widget = "reminders"

[[tile]]
command = "echo one; echo two"
title = "Counting"

[[tile]]
widget = "health"

[[tile]]
widget = "velocity"
span = 2
"""


@pytest.fixture(autouse=True)
def quick_doctor(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of no project, and a doctor who says the same each time, at once."""
    monkeypatch.chdir(home)
    monkeypatch.setattr(home_module, "_DOCTOR_AFTER", 0.001)
    monkeypatch.setattr(doctor, "examine", lambda _ws: CHECKS)


@pytest.fixture
def things(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Something of everything, at nine o'clock."""
    fixed(monkeypatch)
    with Workspace.open() as ws:
        for title in ("Fix the login on old phones", "Write the release notes", "Rate limits by account"):
            board.add(ws, title, project="")
        board_moves.move(ws, "1", "in_progress")
        board_moves.move(ws, "2", "done")
        inbox.add(ws, "Look at [bold]the[/] slow query on /search, it takes longer than it did in March", "")
        made, _notes = memory.draft("The staging database is read-only.", "fact", 8, Place("global"))
        memory.store(ws, made)
        reminders = ws.store("reminders")
        with ws.journal.writing(reminders) as writer:
            for what, due in (("Call the bank", "2026-03-01T09:00"), ("Water the plants", "2026-03-05T18:00")):
                writer.append("reminder.set", what=what, when={"due": due, "zone": "UTC"})
        data = ws.home
    (home / "data/soul_document.md").write_text(SOUL)
    monkeypatch.setattr(clock, "wall", lambda: NINE + 3_600_000_000)
    monkeypatch.setattr(list_reading, "moment", lambda: datetime.fromtimestamp(NINE / 1_000_000 + 3600, UTC))
    return data


def page(data: Home, text: str = PAGE) -> None:
    """Have this start page."""
    os.makedirs(data.data, exist_ok=True)
    with open(data.in_data("dashboard.toml"), "w", encoding="utf-8") as file:
        file.write(text)


def room(hand: Hand) -> HomeRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, HomeRoom)
    return found


async def go_to(hand: Hand, key: str) -> None:
    assert room(hand).rows.go_to(key), f"{key} is in the tree"
    await hand.rest()


def verdict(hand: Hand) -> str:
    return str(room(hand).query_one("#verdict", Static).content)


def tiles(hand: Hand) -> dict[str, str]:
    """What the tiles say, by their headings."""
    return {str(box.border_title): str(box.content) for box in room(hand).query(TileBox) if box.display}


# -- the tree


def test_everything_by_name_with_a_word_on_how_it_stands(things: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            for row in (
                "Start page",
                "  Board ↗          1 in progress",
                "  Reminders ↗      1 overdue",
                "  Inbox ↗          1 waiting",
                "  Conflicts ↗",
                "▾ Memory",
                "    Memories ↗       1",
                "▾ Identity  ~15 tokens",
                "    Soul             ~15",
                "    User context     none",
                "▾ System",
                "    Doctor           1 broken",
                "    Timeline ↗",
            ):
                assert row in hand.text, row
            assert "1 overdue, 1 to sort" in hand.text
            for name in launch.ROOMS:
                assert name == "home" or name in room(hand).rows.items, "every room has its line"

    run(go())


def test_a_room_that_home_does_not_know_of_is_there_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_reading, "ROOMS", {**launch.ROOMS, "lost-and-found": launch.ROOMS["inbox"]})

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await go_to(hand, "lost-and-found")
            assert "Lost and found ↗" in hand.text
            assert "Enter opens it." in hand.text

    run(go())


def test_moving_about_and_closing(things: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            rows = room(hand).rows
            await hand.press("j")
            assert rows.key == "board"
            assert "Cards, column by column." in hand.text
            assert "▸ Fix the login on old phones" in hand.text
            await hand.press("down", "k", "up")
            assert rows.key == "start"
            await hand.press("left", "space", "enter")
            assert "board" in rows.keys, "the start page is not closed"
            assert isinstance(hand.house.focused, Tiles), "Enter goes into it"
            await hand.press("j", "G", "g", "1")
            await go_to(hand, "memories")
            await hand.press("enter")
            assert "memory" not in rows.keys
            await hand.press("right", "G", "g", "2", "escape", "question_mark")
            assert isinstance(hand.house.screen, CheatSheet)
            await hand.press("escape")
            await hand.press("escape")
            assert not hand.house.is_running or hand.house._exit

    run(go())


def test_enter_opens_a_room_and_escape_comes_back(home: Path) -> None:
    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            for name in launch.ROOMS:
                if name == "home":
                    continue
                await go_to(hand, name)
                assert "Enter opens it." in hand.text
                await hand.press("enter")
                assert type(hand.house.screen) is type(launch.made(name))
                if name == "inbox":
                    with Workspace.open() as ws:
                        inbox.add(ws, "a thought", "")
                await hand.press("escape")
                assert hand.house.screen is room(hand)
            await hand.until(lambda: "1 waiting" in hand.text)

    run(go())


def test_identity_and_what_a_session_would_be_told(things: Home, home: Path) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            await go_to(hand, "document:soul")
            assert "Soul, about 15 tokens" in hand.text
            assert "Say what is so" in hand.text
            await go_to(hand, "document:user")
            assert "It is not there yet: mait-code install" in hand.text
            await go_to(hand, "document:memory")
            assert "mait-code memory pin" in hand.text
            await go_to(hand, "document:context")
            assert "Session context, about" in hand.text
            assert "Call the bank" in hand.text
            await go_to(hand, "identity")
            assert "about 15 tokens" in hand.text
            (home / "data/user_context.md").write_bytes(b"\xff\x1b[31m" + b"x" * 400)
            (home / "data/communication_style.md").write_text("Short.")
            os.mkfifo(home / "data/memory.fifo")
            await hand.press("r")
            assert "~102" in hand.text
            assert "Communication sty" in hand.text
            await go_to(hand, "document:user")
            assert "\x1b" not in hand.text

    run(go())


def test_documents_that_are_none(home: Path) -> None:
    (home / "data/memory").mkdir(parents=True)
    os.mkfifo(home / "data/soul_document.md")
    (home / "data/user_context.md").mkdir()

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            await go_to(hand, "document:soul")
            assert "cannot be read: it is no file" in hand.text
            await go_to(hand, "document:user")
            assert "cannot be read" in hand.text

    run(go())


def test_review_conflicts_and_the_rest(things: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            for key, words in (
                ("review", "Nothing is due."),
                ("conflicts", "No conflict is open."),
                ("memories", "1 memory seen from here"),
                ("system", "store-board  it is torn"),
                ("doctor", "● git  the data directory"),
                ("timeline", "as it happens"),
            ):
                await go_to(hand, key)
                assert words in hand.text, key

    run(go())


def test_names_are_found(things: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            await hand.press("slash")
            await hand.type("time")
            assert list(room(hand).rows.keys) == ["system", "timeline"]
            await hand.press("enter", "j", "enter")
            assert hand.house.screen is not room(hand)
            await hand.press("escape", "slash")
            await hand.type(" zebra")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            assert "Board ↗" in hand.text

    run(go())


# -- doctor


def test_doctor_keeps_nobody_waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = threading.Event()

    def slow(_ws: Workspace) -> list[Check]:
        ends.wait(20)
        return CHECKS[:1]

    monkeypatch.setattr(doctor, "examine", slow)

    async def go() -> None:
        async with opened_at_once() as hand:
            await hand.until(lambda: hand.house.screen_stack and isinstance(hand.house.screen, HomeRoom))
            await hand.until(lambda: "Start page" in hand.text)
            assert "looking" in verdict(hand)
            hand.strike("j")
            await hand.until(lambda: room(hand).rows.key == "board")
            ends.set()
            await hand.until(lambda: verdict(hand) == "✓ Everything is in order: 1 check")

    run(go())


@asynccontextmanager
async def opened_at_once() -> AsyncIterator[Hand]:
    """Home, without waiting until it is at rest."""
    house = House(Workroom(Workspace.open), HomeRoom)
    async with house.run_test(size=(80, 24), notifications=True) as pilot:
        yield Hand(house, pilot)


def test_doctors_verdict(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page(Home(str(home / "data")), "[[tile]]\nwidget = 'health'\n")

    async def go() -> None:
        async with opened(HomeRoom) as hand:
            await hand.until(lambda: room(hand).checks is not None)
            assert verdict(hand) == "✗ 1 broken, 1 worth a look: store-board, git"
            assert tiles(hand)["Health"].startswith("✗ store-board  it is torn")
            monkeypatch.setattr(doctor, "examine", lambda _ws: CHECKS[:2])
            await hand.press("r")
            await hand.until(lambda: verdict(hand) == "● 1 worth a look: git")
            assert "1 warning" in hand.text
            monkeypatch.setattr(doctor, "examine", lambda _ws: 1 / 0)
            await hand.press("r")
            await hand.until(lambda: any("division" in text for text in hand.said))
            assert verdict(hand) == "● 1 worth a look: git"

    run(go())


# -- tiles


def test_the_default_page(things: Home) -> None:
    async def go() -> None:
        async with opened(HomeRoom) as hand:
            assert list(tiles(hand)) == ["Reminders", "Board", "Inbox", "Memory"]
            assert tiles(hand)["Reminders"].startswith("● Call the bank")
            assert "○ Water the plants" in tiles(hand)["Reminders"]
            assert "[bold]the[/]" in tiles(hand)["Inbox"], "markup is text"
            with Workspace.open() as ws:
                inbox.add(ws, "Another thought", "")
            await hand.until(lambda: "2 thoughts to sort" in tiles(hand)["Inbox"])
            assert "2 waiting" in hand.text

    run(go())


def test_columns_and_spans_follow_the_room_there_is(things: Home) -> None:
    page(things, "columns = 3\n" + PAGE.partition("\n")[2].replace('title = "Counting"', "span = 2"))

    async def go() -> None:
        async with opened(HomeRoom, (200, 60)) as hand:
            grid = room(hand).query_one(Tiles)
            assert grid.columns == 3

            def widths() -> list[int]:
                return [box.outer_size.width for box in grid.query(TileBox)]

            board_, reminders, command, health, velocity = widths()
            assert abs(board_ * 2 - reminders) < 5, "the last of a row takes what is left"
            assert abs(command - reminders) < 3
            assert abs(health - board_) < 3
            assert velocity > reminders
            await hand.resize(110, 30)
            assert grid.columns == 2
            await hand.resize(60, 20)
            assert grid.columns == 1
            assert len(set(widths())) == 1

    run(go())


def test_a_bad_file_is_told(things: Home) -> None:
    page(things, "columns = 9\n[[tile]]\nwidget = '[red]clock'\n")

    async def go() -> None:
        async with opened(HomeRoom) as hand:
            assert "● columns is a whole number from 1 to 4, not 9; 4 are shown" in hand.text
            assert "no widget '[red]clock'" in hand.text
            assert len(tiles(hand)) == 4
            page(things, "tile = []\n")
            await hand.press("r")
            assert tiles(hand) == {}
            page(things)
            await hand.press("r")
            assert list(tiles(hand)) == ["Board", "Reminders", "Counting", "Health", "Velocity"]

    run(go())


# -- commands


def test_a_command_is_shown_and_asked_about_before_it_ever_runs(things: Home, home: Path) -> None:
    page(things, PAGE.replace("echo one;", f"echo x >> {home}/ran;"))
    ran = home / "ran"

    async def go() -> None:
        async with opened(HomeRoom) as hand:
            assert "Not allowed on this machine yet" in tiles(hand)["Counting"]
            assert "echo two" in tiles(hand)["Counting"]
            assert "a Allow" in hand.text
            for no in ("n", "escape", "q", "enter"):
                await hand.press("a")
                assert isinstance(hand.house.screen, Allow)
                assert "echo x >>" in hand.text
                await hand.press(no)
                assert hand.house.screen is room(hand)
            await hand.press("r")
            assert not ran.exists()
            await hand.press("a", "y")
            await hand.until(lambda: tiles(hand)["Counting"] == "two")
            assert "a Allow" not in hand.text
            await hand.press("a")
            assert hand.house.screen is room(hand), "nothing is left to ask"
            with Workspace.open() as ws:
                inbox.add(ws, "Another thought", "")
            await hand.until(lambda: "2 waiting" in hand.text)
            assert ran.read_text() == "x\n", "what happens does not run it again"
            await hand.press("r")
            await hand.until(lambda: ran.read_text() == "x\nx\n")

    run(go())

    async def again() -> None:
        async with opened(HomeRoom) as hand:
            await hand.until(lambda: tiles(hand)["Counting"] == "two")
            page(things, PAGE.replace("echo one;", f"echo y >> {home}/ran;"))
            await hand.press("r")
            assert "Not allowed" in tiles(hand)["Counting"], "one character more is another command"
            assert "y" not in ran.read_text()

    run(again())


def test_a_long_command_is_shown_whole(things: Home) -> None:
    lines = "\n".join(f"echo {number}" for number in range(40))
    page(things, f'[[tile]]\ncommand = """\n{lines}\n\\u202e[red]"""\n[[tile]]\ncommand = "true"\n')

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            assert "and 37 more lines" in tiles(hand)["echo 0"]
            await hand.press("a")
            assert "41 lines" in hand.text
            assert "y allows it" in hand.text
            assert "echo 39" not in hand.text
            for _ in range(40):
                hand.strike("j")
            await hand.rest()
            assert "echo 39" in hand.text
            assert "\u202e" not in hand.text
            await hand.press("n")
            assert isinstance(hand.house.screen, Allow), "each is asked about"
            await hand.resize(40, 12)
            assert "y allows it" in hand.text
            await hand.press("y")
            await hand.until(lambda: tiles(hand)["true"] == "it said nothing")
            assert dashboard_approval.approved(things) == {dashboard_approval.fingerprint("true")}

    run(go())


def test_what_went_wrong_stands_in_the_tile(things: Home) -> None:
    commands = ("echo a; exit 3", "seq 25", "printf '\\033[31mred\\007\\377'")
    page(
        things, "".join(f"[[tile]]\ncommand = '''{command}'''\ntitle = 't{n}'\n" for n, command in enumerate(commands))
    )
    dashboard_approval.approve(things, commands)

    async def go() -> None:
        async with opened(HomeRoom) as hand:
            await hand.until(lambda: "red" in tiles(hand)["t2"])
            assert tiles(hand)["t0"] == "a\n✗ it failed with exit code 3"
            assert tiles(hand)["t1"].endswith("20\nand 5 more lines")
            assert tiles(hand)["t2"] == "red\\x07�"

    run(go())


def test_leaving_ends_what_runs(things: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    page(things, "[[tile]]\ncommand = 'sleep 60'\n")
    dashboard_approval.approve(things, ["sleep 60"])
    outcomes = []
    real = dashboard_run.run

    def noted(*arguments: object) -> dashboard_run.Outcome:
        outcomes.append(real(*arguments))  # type: ignore[arg-type]
        return outcomes[-1]

    monkeypatch.setattr(dashboard_run, "run", noted)
    monkeypatch.setenv("MAIT_CODE_DASHBOARD_TILE_TIMEOUT", "50")
    began = time.monotonic()

    async def go() -> None:
        async with opened_at_once() as hand:
            await hand.until(lambda: room(hand).hub is not None and tiles(hand)["sleep 60"] == "running …")
            hand.strike("r")
            await hand.until(lambda: outcomes)
            hand.strike("q")
            await hand.until(lambda: hand.house._exit)

    run(go())
    assert time.monotonic() - began < 10
    assert [outcome.fault for outcome in outcomes] == ["it was stopped"] * len(outcomes)


# -- embedding


def test_embedding_is_asked_first_and_done_aside(things: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [2]
    goes_on = threading.Event()

    def reindex(_ws: Workspace, prune: bool, step: object) -> Reindexed:
        assert not prune
        step(1, 2)  # type: ignore[operator]
        assert goes_on.wait(10)
        left[0] = 0
        done = Reindexed("small", 64, "")
        done.embedded = 2
        return done

    monkeypatch.setattr(memory_reindex, "missing", lambda _ws: left[0])
    monkeypatch.setattr(memory_reindex, "reindex", reindex)

    async def go() -> None:
        async with opened(HomeRoom) as hand:
            await hand.press("e")
            assert isinstance(hand.house.screen, Confirm)
            assert "Embed 2 texts that have no vectors yet?" in hand.text
            await hand.press("n")
            assert "broken" in verdict(hand)
            await hand.press("e")
            hand.strike("y")
            await hand.until(lambda: verdict(hand) == "embedding: 1 of 2")
            hand.strike("e")
            await hand.until(lambda: any("already" in text for text in hand.said))
            hand.strike("j")
            await hand.until(lambda: room(hand).rows.key == "board")
            goes_on.set()
            await hand.until(lambda: "Embedded 2 texts with small." in hand.said)
            await hand.until(lambda: "broken" in verdict(hand))
            await hand.press("e")
            assert "Everything that is remembered has its vectors." in hand.said

    run(go())


def test_how_many_have_no_vectors(things: Home) -> None:
    with Workspace.open() as ws:
        before = memory_reindex.missing(ws)
        made, _notes = memory.draft("Something quite different.", "fact", 5, Place("global"))
        memory.store(ws, made)
        assert memory_reindex.missing(ws) >= before


# -- everything else


def test_any_size(things: Home) -> None:
    page(things)

    async def go() -> None:
        async with opened(HomeRoom, (40, 12)) as hand:
            assert "Board ↗" in hand.text
            assert "a Allow" in hand.text
            assert "q Quit" in hand.text
            await hand.press("j", "G", "g", "2", "1", "a", "escape")
            await hand.resize(18, 4)
            await hand.press("s", "escape", "G", "g")
            assert hand.house.screen is room(hand)

    run(go())


def test_hostile_texts(home: Path) -> None:
    odd = ["[/] [@click=app.exit]x[/]", "\x1b[31mred", "\u202eevil", "a" * 3000, "[bold]"]
    data = Home(str(home / "data"))
    with Workspace.open() as ws:
        for text in odd:
            inbox.add(ws, text, "")
            board_moves.move(ws, board.add(ws, text, project="").entity, "in_progress")
    page(data, "[[tile]]\nwidget = 'inbox'\ntitle = '[@click=app.exit]x[/]'\n[[tile]]\nwidget='board'\n'[b]\\n' = 1\n")

    async def go() -> None:
        async with opened(HomeRoom, (80, 24)) as hand:
            for key in ("j", "j", "j", "g", "s", "escape"):
                await hand.press(key)
                assert "\x1b" not in hand.text
                assert "\u202e" not in hand.text

    run(go())


def test_the_terminal_opens_home_and_q_leaves(things: Home) -> None:
    terminal = Terminal(env={"NO_COLOR": "1"})
    terminal.until(b"Start page")
    terminal.write(b"j")
    terminal.until(b"Enter opens it.")
    terminal.write(b"q")
    assert terminal.end() == 0


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_pictures(things: Home, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from mait_code.commands import settings

    # So that the pictures do not change with every room that is added.
    monkeypatch.setattr(home_reading, "ROOMS", {name: launch.ROOMS[name] for name in PICTURED})
    settings.change("theme", f"mait-{theme}")
    page(things)
    dashboard_approval.approve(things, ["echo one; echo two"] if theme == "light" else [])

    async def go() -> None:
        async with opened(HomeRoom, SIZES[0]) as hand:
            await hand.until(lambda: room(hand).checks is not None)
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"home-{width}x{height}-{theme}", hand.picture())
                await hand.press("s", "j", "j")
                assert isinstance(hand.house.screen, SetupRoom)
                compare(f"home-setup-{width}x{height}-{theme}", hand.picture())
                await hand.press("escape")
            if theme == "dark":
                await hand.resize(*SIZES[0])
                await hand.press("a")
                compare("home-allow-80x24-dark", hand.picture())

    run(go())


def test_monkey(things: Home, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page(things)
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setattr(memory_reindex, "missing", lambda _ws: 0)
    monkeys.hammer("1 2 3 s e x d n slash shift+up shift+down ctrl+r ctrl+s ctrl+e", 60, HomeRoom)
