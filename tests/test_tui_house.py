"""The house: themes, the way in, the cheat-sheet, errors, the watch, the workroom, and what every room has to keep to."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from screens import Hand, opened, run
from terminal import Terminal
from textual.content import Content
from textual.widgets import Static

from mait_code.commands import board, forms, palette, settings
from mait_code.commands.workspace import Workspace
from mait_code.journal.errors import Refused
from mait_code.tui import launch
from mait_code.tui.board import BoardRoom
from mait_code.tui.changing import _literal
from mait_code.tui.cheat_sheet import CheatSheet
from mait_code.tui.house import House
from mait_code.tui.room import Room
from mait_code.tui.text_lines import cell_len, fitted, wrapped
from mait_code.tui.watching import Watcher
from mait_code.tui.working import Workroom

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult


@pytest.fixture(autouse=True)
def outside_any_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


class Plain(Room[int]):
    """The smallest room: how many cards there are."""

    NAME = "Plain"
    asks: Callable[[Workspace], int] = staticmethod(lambda ws: len(board.listing(ws.board, board.Scope(every=True))))

    def body(self) -> ComposeResult:
        yield Static(id="count")

    def reading(self) -> Callable[[Workspace], int]:
        return type(self).asks

    def show(self, found: int) -> None:
        self.query_one("#count", Static).update(f"{found} cards")


# -- colours


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", palette.PALETTES)
def test_every_palette_can_be_read(name: str) -> None:
    one = palette.PALETTES[name]
    for ground in (one.background, one.surface, one.panel):
        assert contrast(one.foreground, ground) >= 7
        for colour in (one.primary, one.secondary, one.accent, one.success, one.warning, one.error):
            assert contrast(colour, ground) >= 4.5, f"{colour} on {ground}"


def test_palette_names() -> None:
    assert list(palette.PALETTES) == [
        "mait-dark", "mait-bubblegum", "mait-aurora", "mait-ember", "mait-syntax", "mait-light",
    ]  # fmt: skip
    assert palette.named("Aurora") is palette.PALETTES["mait-aurora"]
    assert palette.named("mait-light") is palette.PALETTES["mait-light"]
    assert palette.named("nord") is None


@pytest.mark.parametrize(
    ("set_to", "shown"),
    [("ember", "mait-ember"), ("mait-light", "mait-light"), ("nord", "nord"), ("no such thing", "mait-dark")],
)
def test_theme_is_the_settings(set_to: str, shown: str) -> None:
    settings.change("theme", set_to)

    async def go() -> None:
        async with opened(Plain) as hand:
            assert hand.house.theme == shown
            assert hand.house.get_css_variables()["dim"] != hand.house.get_css_variables()["foreground"]

    run(go())


def test_a_theme_that_is_chosen_stays(home: Path) -> None:
    file = home / "config/mait-code/settings.toml"
    file.parent.mkdir(parents=True)
    file.write_text("# mine\ngit-timeout = 7 # seconds\n")

    async def go() -> None:
        async with opened(Plain) as hand:
            hand.house.theme = "mait-bubblegum"
            await hand.rest()

    run(go())
    assert file.read_text() == '# mine\ngit-timeout = 7 # seconds\ntheme = "mait-bubblegum"\n'


# -- keys


def test_cheat_sheet_says_what_is_bound() -> None:
    async def go() -> None:
        async with opened(BoardRoom, (120, 60)) as hand:
            await hand.press("question_mark")
            assert isinstance(hand.house.screen, CheatSheet)
            text = hand.text
            for binding in BoardRoom.BINDINGS:
                words = binding.tooltip or binding.description  # type: ignore[union-attr]
                assert words in text, words
            assert "Everywhere" in text
            await hand.press("q")
            assert isinstance(hand.house.screen, BoardRoom), "q closes what lies over a room"

    run(go())


def test_the_palette_has_the_rooms_actions_and_the_themes() -> None:
    async def go() -> None:
        async with opened(BoardRoom) as hand:
            await hand.press("ctrl+p")
            assert "Write a new card" in hand.text
            await hand.type("theme aurora")
            await hand.press("enter")
            assert hand.house.theme == "mait-aurora"
            await hand.press("ctrl+p")
            await hand.type("write a new")
            await hand.press("enter")
            assert "New card" in hand.text
            await hand.press("ctrl+p")
            assert "New card" in hand.text, "it belongs to rooms"

    run(go())


@pytest.mark.parametrize("key", ["q", "escape", "ctrl+q"])
def test_leaving_is_exit_code_0(key: str) -> None:
    async def go() -> None:
        async with opened(Plain) as hand:
            hand.strike(key)
            await hand.until(lambda: not hand.house.is_running or hand.house._exit)
        assert hand.house.return_code == 0

    run(go())


# -- errors


def test_an_error_is_one_toast() -> None:
    class Broken(Plain):
        @staticmethod
        def asks(ws: Workspace) -> int:
            raise Refused("it will not", "do something else")

    async def go() -> None:
        async with opened(Broken) as hand:
            await hand.press("r", "r")
            assert hand.said == ["it will not\ndo something else"]

    run(go())


def test_a_fault_of_ours_is_noted_and_survived(home: Path) -> None:
    async def go() -> None:
        async with opened(Plain) as hand:
            hand.house.change(lambda ws: 1 // 0, "never said")
            await hand.rest()
            assert len(hand.said) == 1
            assert "unexpected ZeroDivisionError" in hand.said[0]
            noted = re.search(r"noted in (\S+)", hand.said[0])
            assert noted is not None
            assert "1 // 0" in Path(noted[1]).read_text()
            await hand.press("r")
            assert "0 cards" in hand.text

    run(go())


def test_a_workspace_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    def refuse() -> Workspace:
        raise Refused("no such place")

    async def go() -> None:
        house = House(Workroom(refuse), Plain)
        async with house.run_test(notifications=True) as pilot:
            hand = Hand(house, pilot)
            await hand.rest()
            assert hand.said == ["no such place"]

    run(go())


def test_markup_in_texts_is_text() -> None:
    for text in (
        "[b]x[/b]",
        "[/]",
        "\\",
        "\\[b]",
        "[@click=app.exit]x[/]",
        "a [ b",
        "[$primary]",
        "ends in \\",
        "\\\\[",
        "][",
    ):
        assert Content.from_markup(_literal(text) + "  [dim]z[/]").plain == text + "  z"


def test_progress_of_a_store_that_is_made_anew() -> None:
    gate = threading.Event()

    class Slow(Plain):
        @staticmethod
        def asks(ws: Workspace) -> int:
            gate.wait(5)
            return 3

    async def go() -> None:
        house = House(Workroom(Workspace.open), Slow)
        async with house.run_test() as pilot:
            hand = Hand(house, pilot)
            house._folded(2, 9)
            await hand.until(lambda: "reading the journal, 2 of 9" in hand.text)
            gate.set()
            await hand.until(lambda: "3 cards" in hand.text)

    run(go())


# -- forms


def test_both_sides_of_a_form() -> None:
    seen = {"a": "1", "b": "1", "c": "1", "d": "1"}
    wanted = {"a": "2", "b": "1", "c": "2", "d": "3"}
    now = {"a": "1", "b": "2", "c": "2", "d": "2"}
    assert forms.changed(seen, wanted) == {"a": "2", "c": "2", "d": "3"}
    assert forms.merged(seen, wanted, now) == ({"a": "2", "b": "2", "c": "2", "d": "3"}, ["d"])
    forms.check("it", seen, dict(seen))
    with pytest.raises(forms.ChangedMeanwhile) as raised:
        forms.check("it", seen, now)
    assert raised.value.now == now


# -- the watch


@pytest.mark.parametrize("polls", [False, True], ids=["told by the system", "by looking"])
def test_watch(tmp_path: Path, polls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if polls:
        monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    place, told = tmp_path / "journal", []
    watcher = Watcher(str(place), lambda: told.append(time.monotonic()))
    watcher.start()
    try:
        place.mkdir()
        _until(lambda: watcher.watching)
        for _ in range(2):
            told.clear()
            with open(place / "lines.jsonl", "a") as file:
                file.write("{}\n")
            began = time.monotonic()
            _until(lambda: told)
            assert told[0] - began < 1
            time.sleep(0.1)
        place.rename(tmp_path / "old")
        place.mkdir()
        told.clear()
        _until(lambda: told)
        (place / "more.jsonl").write_text("{}\n")
        told.clear()
        _until(lambda: told)
    finally:
        watcher.stop()


def _until(true: Callable[[], object], seconds: float = 4) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_was_given_to_the_workroom_is_done_before_it_closes() -> None:
    workroom = Workroom(Workspace.open)
    workroom.submit(lambda ws: board.add(ws, "written at the last moment"))
    workroom.close()
    with Workspace.open() as ws:
        assert [card.title for card in board.listing(ws.board, board.Scope(every=True))] == [
            "written at the last moment"
        ]


# -- text


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20, 80])
def test_text_fits(width: int) -> None:
    for text in (
        "",
        "word",
        "several words of one title",
        "日本語のタイトル",
        "x" * 90,
        "a\x1b[31mb",
        "e\u0301" * 30,
        " lead",
    ):
        for lines in (1, 2, 3):
            found = wrapped(text, width, lines)
            assert 1 <= len(found) <= lines
            assert all(cell_len(one) <= width for one in found), (text, found)
        assert cell_len(fitted(text, width)) <= width
        assert "\x1b" not in "".join(wrapped(text, width, 2))


# -- what every room keeps to


def _classes() -> list[type]:
    import importlib
    import pkgutil

    import mait_code.tui as package

    found = []
    for one in pkgutil.iter_modules(package.__path__, "mait_code.tui."):
        module = importlib.import_module(one.name)
        found += [
            cls
            for _, cls in inspect.getmembers(module, inspect.isclass)
            if cls.__module__ == one.name and hasattr(cls, "BINDINGS")
        ]
    return found


@pytest.mark.parametrize("cls", _classes(), ids=lambda cls: cls.__name__)
def test_no_attribute_hides_one_of_textuals(cls: type) -> None:
    """A name that Textual uses inside stops a screen without a word."""
    theirs: set[str] = set()
    for base in cls.__mro__:
        if base.__module__.startswith("textual."):
            source = inspect.getsource(base)
            theirs |= set(re.findall(r"self\.(_\w+)\s*(?::[^=\n]+)?=[^=]", source)) | {
                name for name in vars(base) if name.startswith("_") and not name.startswith("__")
            }
    ours = set(re.findall(r"self\.(_\w+)\s*(?::[^=\n]+)?=[^=]", inspect.getsource(cls)))
    ours |= {
        name for name in vars(cls) if name.startswith("_") and not name.startswith("__") and callable(vars(cls)[name])
    }
    assert ours & theirs <= set()


@pytest.mark.parametrize("cls", _classes(), ids=lambda cls: cls.__name__)
def test_no_handler_is_overridden(cls: type) -> None:
    """Textual calls a message's handler in every class that has one: what is meant to be overridden has another name."""
    ours = [base for base in cls.__mro__[1:] if base.__module__.startswith("mait_code.tui.")]
    twice = [name for name in vars(cls) if name.startswith("on_") and any(name in vars(base) for base in ours)]
    assert twice == []


@pytest.mark.parametrize("name", launch.ROOMS)
def test_rooms_keep_the_keys_that_mean_the_same_everywhere(name: str) -> None:
    room = launch._load(launch.ROOMS[name][0])
    assert issubclass(room, Room)
    assert room.NAME
    own = {key for base in room.__mro__ if base.__module__.startswith("mait_code.tui") for key in _keys(base)}
    assert own & {"j", "k", "question_mark", "q", "z", "ctrl+p"} == set()


def _keys(cls: type) -> set[str]:
    if cls.__name__ in ("Room", "House"):
        return set()
    return {key.strip() for binding in vars(cls).get("BINDINGS", ()) for key in binding.key.split(",")}


@pytest.mark.parametrize("name", launch.ROOMS)
def test_the_first_question_loads_no_textual(name: str) -> None:
    """It is asked while Textual is being loaded, and must not wait for that."""
    module = launch.ROOMS[name][1].partition(":")[0]
    code = f"import sys, mait_code.tui.{module}; print('textual' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["False", "False"], done.stderr


# -- the way in


#: The greys within the colour cube of a terminal of 256 colours.
CUBE_GREYS = (16, 59, 102, 145, 188, 231)


def test_a_terminal_opens_the_screen_and_q_leaves() -> None:
    with Workspace.open() as ws:
        board.add(ws, "Seen on the screen", project="")
    terminal = Terminal("board")
    terminal.until(b"Seen on the screen")
    terminal.until(b"Backlog")
    terminal.write(b">")
    terminal.until(b"to refined  ")
    terminal.write(b"z")
    terminal.until(b"Taken")
    terminal.write(b"q")
    assert terminal.end() == 0
    assert b"Traceback" not in terminal.out
    with Workspace.open() as ws:
        assert board.listing(ws.board, board.Scope(every=True))[0].status == "backlog"


@pytest.mark.parametrize("name", launch.ROOMS)
def test_every_room_at_a_small_terminal_without_colours(name: str) -> None:
    """A person's path: open, look about, see the keys, leave."""
    with Workspace.open() as ws:
        board.add(ws, "One card", project="")
    terminal = Terminal(name, env={"NO_COLOR": "1"}, size=(40, 12))
    terminal.until(b"Quit")
    terminal.write(b"jk?")
    terminal.until(b"Everywhere")
    terminal.write(b"qq")
    assert terminal.end() == 0
    assert b"Traceback" not in terminal.out


@pytest.mark.parametrize("arguments", [("board", "--plain"), ("board", "list"), ("board", "--json")], ids=" ".join)
def test_text_on_a_terminal(arguments: tuple[str, ...]) -> None:
    with Workspace.open() as ws:
        board.add(ws, "Only text", project="")
    terminal = Terminal(*arguments)
    assert terminal.end() == 0
    assert b"Only text" in terminal.out
    assert b"\x1b[?1049h" not in terminal.out, "no other screen was switched to"


def test_without_a_terminal_there_is_text(program: Any) -> None:
    with Workspace.open() as ws:
        board.add(ws, "Only text", project="")
    done = program("board")
    assert done.code == 0
    assert b"Only text" in done.out
    assert b"\x1b" not in done.out


@pytest.mark.parametrize("how", ["NO_COLOR", "--no-color"])
def test_no_colour(how: str) -> None:
    with Workspace.open() as ws:
        board.add(ws, "Grey", project="", priority="high")
    terminal = Terminal("board", *([how] if how[0] == "-" else []), env={"NO_COLOR": "1"} if how[0] != "-" else {})
    terminal.until(b"Grey")
    terminal.write(b"q")
    assert terminal.end() == 0
    shades = {int(one) for one in re.findall(rb"[34]8;5;(\d+)", terminal.out)}
    assert shades
    assert all(shade in range(232, 256) or shade in CUBE_GREYS for shade in shades), "greys only"
