"""The conflicts' screen: both sides of every field, one picked by its number, and how it looks."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import SIZES, Hand, compare, opened, run
from thoughts import PROJECT, fill_conflicts, looked_at, meet, stopped

from mait_code.commands import board, board_moves, conflicts, inbox
from mait_code.commands.workspace import Workspace
from mait_code.tui.conflicts import ConflictsRoom, Sides

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Two machines that met, and the entities that are in conflict."""
    place = tmp_path_factory.mktemp("conflicts")
    with pytest.MonkeyPatch.context() as patch:
        stopped(place, patch)
        return place, fill_conflicts(place, patch)


@pytest.fixture
def things(
    home: Path, tmp_path: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """The desk, with six fields in conflict. The laptop lies beside it."""
    monkeypatch.chdir(home)
    looked_at(monkeypatch)
    shutil.copytree(written[0], tmp_path / "machines")
    monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(tmp_path / "machines" / "desk" / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "machines" / "desk" / "state"))
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "desk")
    return written[1]


def room(hand: Hand) -> ConflictsRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, ConflictsRoom)
    return found


def at(hand: Hand) -> str:
    """Kind and field under the cursor."""
    found = room(hand).item
    return "" if found is None else f"{found.kind} {found.field}"


def left() -> set[str]:
    """What is in conflict, as another process sees it."""
    with Workspace.open() as ws:
        return {f"{one.entity.partition('/')[0]} {one.field}" for one in conflicts.listed(ws)}


ALL = {"card status", "card title", "card description", "inbox deleted", "reminder when"}


async def go_to(hand: Hand, entity: str, register: str) -> None:
    assert room(hand).rows.go_to(f"{entity} {register}")
    await hand.rest()


# -- reading


def test_both_sides(things: dict[str, str]) -> None:
    assert left() == ALL

    async def go() -> None:
        async with opened(ConflictsRoom, (80, 24)) as hand:
            assert "5 fields of 3 things" in hand.text
            await go_to(hand, things["card"], "column")
            for words in ("status", "done", "in_review", "me on the desk, 2026-03-02 09:", "me on the laptop"):
                assert words in hand.text
            assert hand.text.replace("\N{NO-BREAK SPACE}", " ").count("shown meanwhile") == 1
            seen = []
            await hand.press("g")
            for _ in range(6):
                seen.append(at(hand))
                await hand.press("j")
            assert len(set(seen)) == 5
            assert seen[-1] == seen[-2], "the last one"
            await hand.press("k", "G", "up", "home", "end")

    run(go())


def test_one_conflict_whole(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom, (80, 24)) as hand:
            await go_to(hand, things["card"], "description")
            await hand.press("space", "space", "enter")
            assert isinstance(hand.house.screen, Sides)
            assert "Two and a half" in hand.text
            assert "Four" in hand.text
            await hand.press("j", "9", "escape")
            assert left() == ALL
            await hand.press("enter", "1")
            assert isinstance(hand.house.screen, ConflictsRoom)
            assert left() == ALL - {"card description"}
            with Workspace.open() as ws:
                picked = board.show(ws, things["card"]).description
            await hand.press("z")
            with Workspace.open() as ws:
                back = board.show(ws, things["card"]).description
            assert {picked, back} == {"One\nTwo\nThree\nFour", "One\nTwo and a half\nThree"}, "as it was shown before"

    run(go())


# -- picking


def test_pick(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await go_to(hand, things["card"], "title")
            found = room(hand).item
            assert found is not None
            wanted = next(side for side in found.sides if side.text == "Repair the login")
            await hand.press("3")
            assert left() == ALL, "there is no third side"
            await hand.press(str(wanted.number))
            assert left() == ALL - {"card title"}
            with Workspace.open() as ws:
                assert board.find(ws.board, things["card"]).title == "Repair the login"
            assert any("is Repair the login" in words and "Undo" in words for words in hand.said)
            assert at(hand) != "card title"

    run(go())


def test_pick_all_one_after_the_other(things: dict[str, str], tmp_path: Path) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            for _ in ALL:
                hand.strike("1")
            await hand.rest()
            assert left() == set()
            assert "No open conflicts" in hand.text
            await hand.press("1", "enter", "space")

    run(go())
    meet(tmp_path / "machines", "desk", "lap")
    with Workspace.open(str(tmp_path / "machines" / "lap" / "data")) as ws:
        assert not conflicts.listed(ws), "on the other machine it is closed too"


def test_a_deletion(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await go_to(hand, things["thought"], "deleted")
            assert "kept, with body" in hand.text
            found = room(hand).item
            assert found is not None
            await hand.press(str(next(side.number for side in found.sides if side.text.startswith("kept"))))
            with Workspace.open() as ws:
                assert inbox.show(ws, things["thought"]).body == "Call the bank about the card"

    run(go())


def test_what_changed_meanwhile_is_not_picked(things: dict[str, str]) -> None:
    """A side that nobody has seen came in between: the pick is refused, and the sides are shown anew."""

    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await go_to(hand, things["card"], "column")
            with Workspace.open() as ws:
                board_moves.move(ws, things["card"], "archived")
            hand.strike("1")
            await hand.until(
                lambda: any("not in conflict any more" in words for words in hand.said) or at(hand) != "card status"
            )
            await hand.rest()
            with Workspace.open() as ws:
                assert board.find(ws.board, things["card"]).status == "archived"

    run(go())


# -- filters, and what happens elsewhere


def test_search(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await hand.press("slash")
            await hand.type("reminder")
            await hand.press("enter")
            assert at(hand) == "reminder when"
            await hand.press("slash")
            await hand.type(" zebra")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            assert len(room(hand).rows.items) == 5
            await hand.press("slash", "1", "escape")
            assert left() == ALL, "a number that is typed picks nothing"

    run(go())


def test_live(things: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await hand.until(lambda: hand.house._watcher is not None and hand.house._watcher.watching)
            await go_to(hand, things["due"], "when")
            with Workspace.open() as ws:
                conflicts.pick(ws, conflicts.of(ws, things["card"], "title")[0], 1)
            await hand.until(lambda: "4 fields of 3 things" in hand.text, 1.0)
            assert at(hand) == "reminder when"

    run(go())


def test_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(ConflictsRoom, (80, 24)) as hand:
            assert "No open conflicts" in hand.text
            await hand.press("1", "2", "enter", "space", "j", "G", "r", "slash", "escape")
            assert isinstance(hand.house.screen, ConflictsRoom)

    run(go())


def test_leaving(things: dict[str, str]) -> None:
    async def go(key: str) -> None:
        async with opened(ConflictsRoom) as hand:
            hand.strike(key)
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go("q"))
    run(go("escape"))


# -- how it looks


@pytest.mark.parametrize("theme", ["mait-dark", "mait-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(things: dict[str, str], size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", theme)

    async def go() -> None:
        async with opened(ConflictsRoom, size) as hand:
            await go_to(hand, things["card"], "description")
            compare(f"conflicts-{size[0]}x{size[1]}-{theme.removeprefix('mait-')}", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (10, 3)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(things: dict[str, str], size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(ConflictsRoom, size) as hand:
            await hand.press("j", "enter", "j", "escape", "question_mark", "escape", "slash", "escape")
            assert isinstance(hand.house.screen, ConflictsRoom)
            if size[0] >= 40:
                assert "status" in hand.text
                assert "Quit" in hand.text

    run(go())


def test_hostile_values(things: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = "[/] \x1b[31mred\x1b[0m \u202e [@click=app.exit]x[/]"
    with Workspace.open() as ws:
        made = board.add(ws, "Start", project=PROJECT).entity
    machines = tmp_path / "machines"
    meet(machines, "desk", "lap")
    from mait_code.commands import board_edits

    with Workspace.open() as ws:
        board_edits.edit(ws, made, title=bad, description=f"{bad}\n{bad} 2")
    with monkeypatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(machines / "lap" / "state"))
        patch.setenv("MAIT_CODE_MACHINE_ID", "lap")
        with Workspace.open(str(machines / "lap" / "data")) as ws:
            board_edits.edit(ws, made, title="\\", description=f"{bad}\nother")
    meet(machines, "lap", "desk")

    async def go() -> None:
        async with opened(ConflictsRoom) as hand:
            await go_to(hand, made, "title")
            await hand.press("enter", "escape", "1")
            await go_to(hand, made, "description")
            await hand.press("enter")
            assert "\x1b" not in hand.text
            assert "\u202e" not in hand.text

    run(go())


# -- anything at all


def test_monkey(things: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeys.hammer("slash 1 2 3", 150, ConflictsRoom)
