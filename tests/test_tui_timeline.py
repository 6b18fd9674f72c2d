"""The timeline and the history of a thing: every key, what comes in live, how far is read, and how they look."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import NINE, SIZES, Hand, compare, opened, run
from test_golden import LINES
from textual.widgets import Input, Static
from thoughts import PROJECT, fill_conflicts, looked_at, meet, stopped

from mait_code.commands import board, board_edits, board_moves, inbox, memory, timeline, undo
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.journal import ids, writing
from mait_code.journal.event import Event
from mait_code.tui import timeline_reading
from mait_code.tui.dialogs import Pick
from mait_code.tui.outline_room import Pane
from mait_code.tui.timeline import HistoryRoom, TimelineRoom

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.tui.outline_room import OutlineRoom

DAY = 86_400_000_000
LONG = (
    "The login page\n\n- asks for the name first\n- then for the password\n- and remembers the machine\n\nNothing else."
)


def fill(place: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two machines that met, then a card edited at length, a memory, a thought of yesterday, and something undone."""
    numbers = iter(range(1, 10_000))
    patch.setattr(writing, "new_event_id", lambda: ids.derived_event_id("timeline", str(next(numbers))))
    found = fill_conflicts(place, patch)
    patch.setenv("XDG_STATE_HOME", str(place / "desk" / "state"))
    patch.setenv("MAIT_CODE_MACHINE_ID", "desk")
    with Workspace.open(str(place / "desk" / "data"), "me") as ws:
        found["long"] = board.add(ws, "Write the login page anew", description=LONG, project=PROJECT).entity
        changed = LONG.replace("password", "passkey").replace("Nothing else.", "Nothing else, for now.")
        board_edits.edit(ws, found["long"], description=changed, priority="high")
        board_edits.comment(ws, found["long"], "Ask Ada\nabout the passkeys")
        board_edits.tag(ws, found["long"], "web")
        board_moves.move(ws, found["long"], "in_progress")
        found["日本"] = inbox.add(ws, "日本語のメモも幅どおりに切られる", "").entity
    with Workspace.open(str(place / "desk" / "data"), "claude") as ws:
        draft, _ = memory.draft("Passkeys need the newer client", "fact", 7, Place("project", PROJECT))
        found["memory"] = memory.store(ws, draft).memory.entity
    with Workspace.open(str(place / "desk" / "data"), "me") as ws:
        list(undo.undo(ws, 1))
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The two machines, and the entities by a word."""
    place = tmp_path_factory.mktemp("timeline")
    with pytest.MonkeyPatch.context() as patch:
        stopped(place, patch)
        return place, fill(place, patch)


@pytest.fixture
def things(
    home: Path, tmp_path: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The desk."""
    monkeypatch.chdir(home)
    looked_at(monkeypatch)
    shutil.copytree(written[0], tmp_path / "machines")
    monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(tmp_path / "machines" / "desk" / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "machines" / "desk" / "state"))
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "desk")
    return written[1]


def room(hand: Hand) -> OutlineRoom[Any]:
    found = hand.house.screen
    assert isinstance(found, TimelineRoom | HistoryRoom)
    return found


def rows(hand: Hand) -> list[str]:
    """What the rows say."""
    found = room(hand).rows
    shown = []
    for key in found.keys:
        item: Any = found.items.get(key)
        shown.append("…" if item is None else item.words)
    return shown


async def go_to(hand: Hand, words: str) -> None:
    """Put the cursor on the newest event whose words begin so."""
    place = next(place for place, row in enumerate(rows(hand)) if row.startswith(words))
    room(hand).rows.go(place)
    await hand.rest()


def pane(hand: Hand) -> str:
    """The text of the pane."""
    return str(room(hand).query_one("#pane-plain", Static).content)


# -- reading


def test_days_and_events(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            assert rows(hand) == [
                "Mon 2 Mar 2026", "deleted", "remembered", "captured", "moved to in progress", "tagged web",
                "commented: Ask Ada about the passkeys", "changed description, priority", "added", "changed when",
                "changed body", "moved to done", "changed title, description", "changed when", "deleted",
                "moved to in review", "changed title, description", "set for 2026-03-20 11:00", "captured", "added",
            ]  # fmt: skip
            assert room(hand).rows.cursor == 1, "on what happened last"
            assert "↩ deleted  Passkeys need" in hand.text
            assert "claude on the desk" in pane(hand)
            assert hand.text.count("the laptop") == 4
            assert "19 events" in hand.text
            await hand.press("g")
            assert pane(hand).startswith("19 events")
            assert "board       10" in pane(hand)
            await hand.press("left")
            assert rows(hand) == ["Mon 2 Mar 2026"]
            await hand.press("right", "G")
            assert room(hand).rows.cursor == 19

    run(go())


def test_the_pane_tells_what_changed_and_what_else_happened(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            await go_to(hand, "changed description")
            text = pane(hand)
            assert text.index("- - then for the password") < text.index("+ - then for the passkey")
            assert "\n  ⋯\n" not in text, "what lies between is one line"
            assert "priority  medium → high" in text
            assert "card 2" in text
            assert "What else happened to it  4 events" in text
            assert text.index("moved to in progress") < text.index("tagged web") < text.index("+ Ask Ada\n+ about")
            await hand.press("2")
            assert isinstance(hand.house.screen.focused, Pane)
            await hand.press("G", "g", "j", "k", "escape")
            assert hand.house.screen.focused is room(hand).rows
            await hand.press("2", "1")
            assert hand.house.screen.focused is room(hand).rows

    run(go())


def test_enter_opens_the_history(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            await go_to(hand, "tagged")
            await hand.press("enter")
            assert isinstance(hand.house.screen, HistoryRoom)
            assert rows(hand) == [
                "Mon 2 Mar 2026", "moved to in progress", "tagged web", "commented: Ask Ada about the passkeys",
                "changed description, priority", "added",
            ]  # fmt: skip
            assert room(hand).rows.cursor == 2, "on the event that it was opened from"
            assert "Write the login page anew" in hand.text
            await hand.press("j", "j")
            assert "+ - then for the passkey" in pane(hand)
            assert "What else" not in pane(hand)
            await hand.press("slash")
            await hand.type("passkey DESCRIPTION")
            await hand.press("enter")
            assert rows(hand) == ["Mon 2 Mar 2026", "changed description, priority"]
            await hand.press("slash")
            await hand.type(" zebra")
            assert "Nothing has the words" in hand.text
            await hand.press("escape", "g", "2", "1", "r")
            assert len(rows(hand)) == 6
            assert pane(hand) == "5 events\n"
            with Workspace.open() as ws:
                board_edits.tag(ws, things["long"], "later")
            await hand.until(lambda: "tagged later" in rows(hand))
            await hand.press("escape")
            assert isinstance(hand.house.screen, TimelineRoom)
            assert rows(hand)[1] == "tagged later", "what happened meanwhile is here too"
            assert rows(hand)[room(hand).rows.cursor] == "tagged web"

    run(go())


# -- choosing


def test_words(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            await hand.press("slash")
            await hand.type("certificate laptop")
            await hand.press("enter")
            assert rows(hand) == ["Mon 2 Mar 2026", "changed when"]
            assert room(hand).rows.cursor == 1
            assert "1 event" in hand.text
            await hand.press("slash")
            await hand.type(" zebra")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            assert len(rows(hand)) == 20
            for key in ("slash", "p", "m", "t", "r", "1"):
                hand.strike(key)
            await hand.press("escape")
            assert len(rows(hand)) == 20, "what is typed is no command"

    run(go())


async def pick(hand: Hand, key: str, words: str) -> None:
    await hand.press(key)
    assert isinstance(hand.house.screen, Pick)
    await hand.type(words)
    await hand.press("enter")


def test_project_machine_and_kind(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            await pick(hand, "m", "laptop")
            assert rows(hand)[1:] == ["changed when", "deleted", "moved to in review", "changed title, description"]
            assert "all projects, the laptop" in hand.text
            await pick(hand, "t", "reminders")
            assert rows(hand)[1:] == ["changed when"]
            await pick(hand, "p", PROJECT)
            assert rows(hand) == []
            assert "p, m and t show others" not in hand.text
            assert f"Nothing happened yet in {PROJECT}, the laptop, reminders." in hand.text.replace("\n", " ")
            hand.strike("enter")
            hand.strike("2")
            await pick(hand, "t", "everything")
            await pick(hand, "m", "all")
            assert rows(hand)[1] == "deleted", "a thing that was deleted is of its project still"
            assert "captured" not in rows(hand)
            await pick(hand, "p", "outside")
            assert "captured" in rows(hand)
            assert "moved to done" not in rows(hand)
            await hand.press("p", "escape")
            await pick(hand, "p", "all projects")
            assert len(rows(hand)) == 20

    run(go())


def test_this_directorys_project(things: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "login").mkdir()
    monkeypatch.chdir(home / "login")
    with Workspace.open() as ws:
        board.add(ws, "Of here")

    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            await pick(hand, "p", "directory")
            assert rows(hand)[1:] == ["added"]

    run(go())


# -- live


def test_what_others_write_appears_and_the_cursor_stays(things: dict[str, str], tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(TimelineRoom, (80, 24)) as hand:
            await hand.until(lambda: hand.house._watcher is not None and hand.house._watcher.watching)
            await go_to(hand, "moved to done")
            line = hand.text.splitlines().index(next(row for row in hand.text.splitlines() if "moved to done" in row))
            room(hand).rows.scroll_to(y=3, animate=False, immediate=True)
            await hand.rest()
            top = room(hand).rows.scroll_offset.y
            assert top >= 3
            with Workspace.open() as ws:
                inbox.add(ws, "Written by another process", "")
            await hand.until(lambda: rows(hand)[1] == "captured" and "Written by another" in str(titles(hand)), 1.0)
            assert rows(hand)[room(hand).rows.cursor] == "moved to done"
            assert room(hand).rows.scroll_offset.y == top + 2, "a day and an event came in above"
            assert "moved to done" in hand.text.splitlines()[line - top]
            with on(tmp_path / "machines", "lap", hand) as ws:
                inbox.add(ws, "Written on the laptop", "")
            meet(tmp_path / "machines", "lap", "desk")
            await hand.until(lambda: "Written on the laptop" in titles(hand), 1.0)
            assert rows(hand)[room(hand).rows.cursor] == "moved to done"

    run(go())


def titles(hand: Hand) -> list[str]:
    """The titles of things in rows that were read."""
    return [getattr(item, "title", "") for item in room(hand).rows.items.values()]


@contextmanager
def on(place: Path, name: str, hand: Hand) -> Iterator[Workspace]:
    """Another machine writes."""
    del hand
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / name / "state"))
        patch.setenv("MAIT_CODE_MACHINE_ID", name)
        with Workspace.open(str(place / name / "data"), "me") as ws:
            yield ws


def test_only_a_window_of_many_events_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws, ws.journal.writing(ws.store("inbox")) as writer:
        for number in range(1100):
            writer.append("inbox.captured", body=f"thought {number}", wall=NINE + number * DAY // 500)

    async def go() -> None:
        async with opened(TimelineRoom, (120, 40)) as hand:
            found = room(hand).rows
            assert "500 events, older below" in hand.text
            assert len(found.items) < 150, "only what is about to be seen was read"
            assert rows(hand)[:2] == ["Wed 4 Mar 2026", "captured"]
            assert "thought 1099" in hand.text
            await hand.press("G")
            await hand.until(lambda: "1000 events, older below" in hand.text)
            assert "thought 600" in hand.text
            await hand.press("G")
            await hand.until(lambda: "1100 events" in hand.text)
            await hand.press("G")
            assert "older below" not in hand.text
            await hand.until(lambda: "thought 0" in titles(hand))
            await hand.press("slash")
            await hand.type("thought 12")
            await hand.until(lambda: "21 events" in hand.text)
            await hand.press("enter", "enter")
            assert isinstance(hand.house.screen, HistoryRoom)

    run(go())


def test_what_is_rare_is_looked_for_step_by_step(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(timeline_reading, "_PATIENCE", 1e-6)
    monkeypatch.setattr(timeline, "_BATCH", 100)
    with Workspace.open() as ws, ws.journal.writing(ws.store("inbox")) as writer:
        for number in range(600):
            writer.append("inbox.captured", body=f"thought {number}")

    told: list[str] = []
    about = TimelineRoom.about
    monkeypatch.setattr(
        TimelineRoom, "about", lambda self, where, counts="": told.append(counts) or about(self, where, counts)
    )

    async def go() -> None:
        async with opened(TimelineRoom, (80, 24)) as hand:
            await hand.press("slash")
            room(hand).query_one(Input).value = "thought 33"
            await hand.until(lambda: "15 events" in hand.text)
            assert len([words for words in told if "found, looked back to 20" in words]) > 2, "it was shown on the way"
            room(hand).query_one(Input).value = "zebra"
            await hand.until(lambda: "Nothing has the words" in hand.text)
            await hand.press("escape", "q")

    run(go())


# -- what is odd


def test_empty(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(TimelineRoom, (80, 24)) as hand:
            assert "Nothing has happened here yet" in hand.text
            for key in ("enter", "j", "G", "1", "2", "r", "space"):
                hand.strike(key)
            await hand.press("slash", "escape", "p", "escape")
            assert isinstance(hand.house.screen, TimelineRoom)
            with Workspace.open() as ws:
                inbox.add(ws, "The first", "")
            await hand.until(lambda: "captured" in rows(hand))
            assert room(hand).rows.cursor == 1
            assert hand.house.screen.focused is room(hand).rows

    run(go())


def test_every_kind_and_what_is_damaged_or_newer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        inbox.add(ws, "Sound", "")
        directory = Path(ws.home.journal) / "k7f3qz9m"
    directory.mkdir()
    newer = Event()
    for name in Event.__slots__:
        if name != "declared":
            setattr(newer, name, "")
    newer.kind, newer.v, newer.id, newer.at = "card.dreamt", 1, "ab" * 10, "2100-03-02T10:00:00.000000Z"
    newer.replica, newer.seq, newer.entity, newer.actor = "k7f3qz9m", 99999, "card/kfhq2m9xt47w", "me"
    newer.tx, newer.sees, newer.data = newer.id, {}, {"dream": "of\x1b[31m sheep"}
    lines = [*LINES, b"no event at all", b'{"kind":"card.created","v":1', newer.line()]
    (directory / "000001.jsonl").write_bytes(b"\n".join(lines) + b"\n")

    async def go() -> None:
        async with opened(TimelineRoom, (80, 24)) as hand:
            found = room(hand).rows
            assert len(found.keys) > len(LINES)
            await go_to(hand, "card.dreamt, of a newer version")
            assert "update mait-code" in pane(hand)
            assert "\x1b" not in pane(hand)
            for place in range(len(found.keys)):
                found.go(place)
                await room(hand)._fetch_text()
                assert hand.house._exception is None
                assert pane(hand)
            assert hand.said == []

    run(go())


HOSTILE = (
    "[/] [@click=app.exit]x[/]", "\x1b[31mred\x1b]0;title\x07", "a" * 5000, "\u202eevil", "\\", "[bold]", "\n\nlines\n" * 50,
    "日本語" * 60, "e\u0301" * 100, "👩‍👩‍👧" * 40,
)  # fmt: skip


def test_hostile_texts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        for text in HOSTILE:
            card = board.add(ws, text[:400].replace("\n", " "), description=text, project="").entity
            board_edits.edit(ws, card, description=text + "\n" + text[::-1])
            board_edits.comment(ws, card, text)

    async def go() -> None:
        async with opened(TimelineRoom, (80, 24)) as hand:
            for _ in range(len(HOSTILE)):
                hand.strike("j")
                hand.strike("j")
                await hand.press("j")
                assert "\x1b" not in hand.text
                assert "\u202e" not in hand.text
            await hand.press("enter", "j", "j")
            assert "\u202e" not in hand.text
            assert hand.house._exception is None

    run(go())


def test_an_event_that_went_away_meanwhile(things: dict[str, str], tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            shutil.rmtree(tmp_path / "machines" / "desk" / "data" / "journal")
            await hand.press("j", "j", "r", "enter", "escape")
            assert hand.house._exception is None

    run(go())


@pytest.mark.parametrize("key", ["q", "escape"])
def test_leaving(things: dict[str, str], key: str) -> None:
    async def go() -> None:
        async with opened(TimelineRoom) as hand:
            hand.strike(key)
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go())


# -- how it looks


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_pictures(things: dict[str, str], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", f"mait-{theme}")

    async def go() -> None:
        async with opened(TimelineRoom, SIZES[0]) as hand:
            await go_to(hand, "changed description")
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"timeline-{width}x{height}-{theme}", hand.picture())
                await hand.press("enter")
                compare(f"history-{width}x{height}-{theme}", hand.picture())
                await hand.press("escape")
                assert hand.house.focused is room(hand).rows

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(things: dict[str, str], size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(TimelineRoom, size) as hand:
            await hand.press("j", "2", "j", "1", "enter", "j", "escape", "question_mark", "escape", "p", "escape")
            assert isinstance(hand.house.screen, TimelineRoom)
            if size[0] >= 40:
                assert "Quit" in hand.text
                assert "the desk" in hand.text

    run(go())


def test_monkey(things: dict[str, str]) -> None:
    monkeys.hammer("1 2 p m t slash x h l", 120, TimelineRoom)
