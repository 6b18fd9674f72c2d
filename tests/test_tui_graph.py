"""The graph as a screen: the list, the diagram and the table, going from thing to thing, and what is told of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import NINE, SIZES, Hand, compare, fixed, opened, run

from mait_code.commands import graph, memory
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.tui.graph import GraphRoom
from mait_code.tui.graph_map import Map, TieRows

if TYPE_CHECKING:
    from pathlib import Path

LINKS = (
    ("shop", "uses", "Redis"),
    ("shop", "runs on", "fly"),
    ("Ada Lovelace", "maintains", "shop"),
    ("Bob", "asks about", "shop"),
    ("shop", "keeps", "sessions"),
    ("Redis", "holds", "cache"),
    ("Acme", "employs", "Ada Lovelace"),
    ("sessions", "stored in", "Redis"),
    ("日本語プロジェクト", "uses", "Redis"),
)
TYPES = {
    "shop": "project", "Redis": "tool", "fly": "service", "Ada Lovelace": "person", "Bob": "person", "sessions": "concept",
    "cache": "concept", "Acme": "org", "日本語プロジェクト": "project", "lonely": "tool",
}  # fmt: skip
#: How often each is mentioned; the others once.
OFTEN = {
    "shop": 5,
    "Redis": 4,
    "Ada Lovelace": 3,
    "Bob": 2,
    "fly": 2,
    "sessions": 2,
    "日本語プロジェクト": 2,
    "lonely": 3,
}


@pytest.fixture
def things(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    fixed(monkeypatch)
    with Workspace.open() as ws:
        made, _ = memory.draft("The shop keeps its sessions in Redis.", "decision", 7, Place("global"), wall=NINE)
        told = memory.store(ws, made).memory.entity
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            for name, type_ in TYPES.items():
                for _ in range(OFTEN.get(name, 1)):
                    graph.mention(writer, store, name, type_, memory=told)
        with ws.journal.writing(store) as writer:
            for source, relation, target in LINKS:
                assert graph.link(writer, store, source, relation, target, memory=told)
        ws.refreshed("memory")
    return home


def room(hand: Hand) -> GraphRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, GraphRoom)
    return found


def middle(hand: Hand) -> str:
    found = room(hand)
    assert found._map._ego is not None
    return found._map._ego.centre.name


def names(hand: Hand) -> list[str]:
    found = room(hand).found
    assert found is not None
    return [found.items[key].name for key in room(hand).rows.keys if key in found.items]


def test_the_list_the_diagram_and_the_text(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            assert names(hand)[:3] == ["shop", "Redis", "Ada Lovelace"]
            assert "lonely" not in names(hand), "nothing relates to it"
            assert "cache" not in names(hand), "it was mentioned once"
            assert middle(hand) == "shop"
            assert "─uses▶ ▲ Redis" in hand.text
            assert "● Ada Lovelace ─manages▶" in hand.text
            assert "The shop keeps its sessions" in hand.text
            await hand.press("j")
            assert middle(hand) == "Redis"
            assert "← uses shop" in hand.text

    run(go())


def test_a_shows_everything(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            await hand.press("a")
            assert {"lonely", "cache", "Acme"} <= set(names(hand))
            assert "10 of 10 things" in hand.text
            await hand.press("a")
            assert "lonely" not in names(hand)

    run(go())


def test_going_from_thing_to_thing_and_back(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            await hand.press("2")
            assert isinstance(hand.house.focused, Map)
            await hand.press("right", "up", "up")
            assert "▲ tool" in hand.text
            await hand.press("enter")
            assert middle(hand) == "Redis"
            assert room(hand).rows.at is not None
            assert room(hand).rows.at.name == "Redis", "the list goes along"
            await hand.press("right", "enter")
            assert middle(hand) == "cache", "although it is not in the list"
            await hand.press("escape")
            assert middle(hand) == "Redis"
            await hand.press("escape")
            assert middle(hand) == "shop"
            await hand.press("left", "down")
            assert room(hand).told_of == room(hand)._map.key
            await hand.press("escape")
            assert hand.house.focused is room(hand).rows

    run(go())


def test_steps(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            assert "Acme" not in hand.text
            await hand.press("plus")
            assert "★ Acme" in hand.text
            assert "2 steps" in hand.text
            await hand.press("plus", "plus", "plus")
            assert "3 steps" in hand.text
            await hand.press("minus", "minus", "minus")
            assert "Acme" not in hand.text

    run(go())


def test_the_table(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            await hand.press("t", "2")
            assert isinstance(hand.house.focused, TieRows)
            assert "→ uses" in hand.text
            await hand.press("j", "enter")
            assert middle(hand) == "Redis"
            await hand.press("t")
            assert isinstance(hand.house.focused, Map), "the cursor stays in the neighbourhood"
            await hand.press("3")
            assert hand.house.focused is room(hand).pane

    run(go())


def test_filter_and_merge_live(things: Path) -> None:
    async def go() -> None:
        async with opened(GraphRoom) as hand:
            await hand.press("slash")
            await hand.type("redi")
            assert names(hand) == ["Redis"]
            await hand.press("escape")
            with Workspace.open() as ws:
                graph.merge(ws, "fly", "shop")
            await hand.until(lambda: "fly" not in names(hand))
            await hand.press("g", "j")
            assert "also fly" in hand.text

    run(go())


def test_nothing_yet(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(GraphRoom) as hand:
            assert "speak of nobody and nothing yet" in hand.text
            await hand.press("t", "a", "plus", "2", "enter", "3")
            with Workspace.open() as ws, ws.journal.writing(ws.store("memory")) as writer:
                graph.mention(writer, ws.store("memory"), "one", "tool")
            await hand.until(lambda: names(hand) == ["one"])

    run(go())


def test_thousands_of_things(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            for number in range(3000):
                writer.append("entity.mentioned", graph_entity(f"thing {number}"), name=f"thing {number}", type="tool")
            for number in range(1, 1000):
                writer.append(
                    "entity.linked", graph_entity("thing 0"), relation="has", target=graph_entity(f"thing {number}")
                )
        ws.refreshed("memory")

    async def go() -> None:
        async with opened(GraphRoom) as hand:
            await hand.press("a")
            assert "3000 of 3000 things" in hand.text
            assert len(room(hand).rows._painted) < 200
            assert "and 9" in hand.text, "what finds no room is counted"

    run(go())


def graph_entity(name: str) -> str:
    from mait_code.commands.graph_names import entity_of

    return entity_of(name)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_pictures(things: Path, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", f"mait-{theme}")

    async def go() -> None:
        async with opened(GraphRoom, SIZES[0]) as hand:
            await hand.press("plus", "2")
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"graph-{width}x{height}-{theme}", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(things: Path, size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(GraphRoom, size) as hand:
            await hand.press("2", "j", "enter", "t", "3", "escape")
            assert hand.house._exception is None

    run(go())


def test_monkey(things: Path) -> None:
    monkeys.hammer("slash t a plus minus 1 2 3 h l p", 120, GraphRoom)
