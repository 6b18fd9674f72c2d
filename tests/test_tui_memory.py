"""The screens of memory: what is remembered, what is due for review, what was observed; every key, and how they look."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import monkeys
import pytest
from remembered import PROJECT, fill
from screens import NINE, SIZES, Hand, compare, fixed, opened, run
from textual.widgets import Input, Markdown, TextArea

from mait_code.commands import memory, memory_edits
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.journal import clock
from mait_code.tui.dialogs import Ask, Confirm, Pick
from mait_code.tui.form import Compare, Form
from mait_code.tui.list_room import ListRoom
from mait_code.tui.memory import MemoryRoom
from mait_code.tui.observations import ObservationsRoom
from mait_code.tui.outline_room import OutlineRoom, Pane
from mait_code.tui.review import ReviewRoom

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from mait_code.projections.memory_queries import Memory


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The journal of a small memory, and the entities in it."""
    place = tmp_path_factory.mktemp("memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        patch.setenv("TZ", "UTC")
        fixed(patch)
        with Workspace.open(str(place / "data"), "me") as ws:
            return place / "data", fill(ws)


@pytest.fixture
def kept(home: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A small memory, a directory of no project, and the clock at nine."""
    monkeypatch.chdir(home)
    shutil.copytree(written[0], home / "data")
    monkeypatch.setattr(clock, "wall", lambda: NINE)
    return written[1]


def seen(entity: str) -> Memory:
    """A memory as another process sees it."""
    with Workspace.open() as ws:
        return memory_edits.find(ws.reading("memory"), entity)


def outline(hand: Hand) -> OutlineRoom[Any]:
    found = hand.house.screen_stack[0]
    assert isinstance(found, OutlineRoom)
    return found


def due(hand: Hand) -> ReviewRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, ReviewRoom)
    return found


async def go_to(hand: Hand, entity: str) -> None:
    """Put the cursor on a memory or an observation."""
    room = hand.house.screen_stack[0]
    assert isinstance(room, OutlineRoom | ListRoom)
    assert room.rows.go_to(entity.partition("/")[2]), "it is in the list"
    await hand.rest()


def rows(hand: Hand) -> list[str]:
    """The words of the branches, and the texts of the leaves."""
    room = outline(hand)
    shown = []
    for key in room.rows.keys:
        item: Any = room.rows.items[key]
        shown.append(next(getattr(item, name) for name in ("words", "text", "title", "path") if hasattr(item, name)))
    return shown


def pane(hand: Hand) -> str:
    """The text of the pane."""
    return outline(hand).query_one("#pane-text", Markdown).source


# -- memory


def test_types_open_and_close(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            room = outline(hand)
            branches = [branch.words for branch in room.rows.outline.branches]
            assert branches == ["fact", "preference", "decision", "event", "insight", "task", "procedure"]
            assert rows(hand)[:2] == ["fact", "Rate limits count by account since the release of March."], (
                "newest first"
            )
            await hand.press("enter")
            assert rows(hand)[:2] == ["fact", "preference"], "Enter closes"
            await hand.press("right", "j", "left")
            assert room.rows.key == "type:fact", "left goes to the heading first"
            await hand.press("left")
            assert rows(hand)[:2] == ["fact", "preference"]
            await hand.press("space", "right")
            assert room.rows.cursor == 1, "right goes in where it is open"
            await hand.press("G")
            assert rows(hand)[-1].startswith("To roll back")
            assert "make rollback" in pane(hand)

    run(go())


def test_the_pane_is_markdown_and_1_and_2_go_between(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(MemoryRoom, (80, 24)) as hand:
            await go_to(hand, kept["Small"])
            assert pane(hand).startswith("Small commits, each with its test.\n\n- one thing")
            await hand.until(lambda: "• one thing at a time" in hand.text)
            assert "preference (semantic)" in hand.text
            await hand.press("2")
            assert isinstance(hand.house.screen.focused, Pane)
            await hand.press("G", "g", "j", "k", "1")
            assert hand.house.screen.focused is outline(hand).rows
            await hand.press("enter")
            assert isinstance(hand.house.screen.focused, Pane)
            await hand.press("escape")
            assert hand.house.screen.focused is outline(hand).rows, "Escape comes back before it leaves"
            await hand.press("r", "q")
        assert hand.house.return_code == 0

    run(go())


def test_filter_by_words(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            await hand.press("slash")
            await hand.type("the OF")
            assert rows(hand) == ["fact", "Rate limits count by account since the release of March."]
            box = outline(hand).query_one("#find", Input)
            box.value = "auth"
            await hand.rest()
            assert "Ask the security team about passkeys." in rows(hand), "tags count"
            box.value = "日本語"
            await hand.rest()
            assert rows(hand) == ["fact", "日本語のメモも幅どおりに切られる。"]
            box.value = "100%"
            await hand.rest()
            assert rows(hand) == []
            assert "Nothing has the words" in hand.text
            box.value = kept["To"].partition("/")[2][:6]
            await hand.rest()
            assert rows(hand)[0] == "procedure", "ids count"
            await hand.press("enter", "j")
            assert rows(hand)[1].startswith("To roll back")
            await hand.press("escape")
            assert not box.display
            assert len(outline(hand).rows.outline.branches) == 7

    run(go())


def test_find_by_meaning(kept: dict[str, str]) -> None:
    from mait_code.commands.memory_search import Meanings

    with Workspace.open() as ws:
        meanings = Meanings(ws)
        meanings.fill()  # the screen gives it two seconds, which a loaded machine may need for the model alone
        meanings.close()

    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            await hand.press("m")
            assert isinstance(hand.house.screen, Ask)
            await hand.type("how do we undo a deployment?")
            await hand.press("enter")
            await hand.until(lambda: rows(hand)[:1] == ["closest in meaning"])
            assert rows(hand)[1].startswith("To roll back"), "no word of it is the same"
            assert "how do we undo" in hand.text
            await hand.press("j", "escape")
            assert rows(hand)[0] == "fact"

    run(go())


def test_projects(kept: dict[str, str]) -> None:
    with Workspace.open() as ws:
        memory.store(ws, memory.draft("Of another project", place=Place("project", "acme/shop"))[0])

    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            assert "all projects" in hand.text
            await hand.press("p")
            assert isinstance(hand.house.screen, Pick)
            await hand.type("shop")
            await hand.press("enter")
            assert "Of another project" in rows(hand)
            assert "preference" in rows(hand), "what is global is seen from everywhere"
            assert "decision" not in rows(hand)
            await hand.press("p")
            await hand.type("no project")
            await hand.press("enter")
            assert rows(hand)[0] == "preference"

    run(go())


def test_pin_and_unpin(kept: dict[str, str], home: Path) -> None:
    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            await hand.press("P")
            assert hand.said == ["There is no memory under the cursor."]
            await go_to(hand, kept["The"])
            await hand.press("P")
            await hand.until(lambda: seen(kept["The"]).pinned)
            await hand.until(lambda: "◆" in hand.text)
            assert "nobody was told" in (home / "data" / "memory" / "MEMORY.md").read_text()
            await hand.press("P")
            await hand.until(lambda: not seen(kept["The"]).pinned)
            await hand.rest()
            await hand.press("z")
            await hand.until(lambda: seen(kept["The"]).pinned)

    run(go())


def test_another_process_stores_and_the_cursor_stays(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            await go_to(hand, kept["Sessions"])
            with Workspace.open() as ws:
                memory.store(ws, memory.draft("Said by another process", place=Place("project", PROJECT))[0])
            await hand.until(lambda: any("another process" in one for one in rows(hand)))
            assert outline(hand).rows.key == kept["Sessions"].partition("/")[2]
            with Workspace.open() as ws:
                memory_edits.edit(ws, kept["Sessions"], content="Sessions live in a jar")
            await hand.until(lambda: pane(hand) == "Sessions live in a jar")
            with Workspace.open() as ws:
                memory_edits.delete(ws, kept["Sessions"])
            await hand.until(lambda: "jar" not in pane(hand))

    run(go())


def test_the_files_of_claude_code(kept: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "client"))
    project = home / "work" / "my.shop"
    project.mkdir(parents=True)
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    for path, text in (
        (f"{slug}/memory/MEMORY.md", "# Index\n\n- [Taxes](taxes.md)\n"),
        (f"{slug}/memory/deep/taxes.md", "---\nname: taxes\n---\n\nTaxes are *rounded* once.\n"),
        (f"{slug}/memory/notes.txt", "no memory"),
        ("-gone-away/memory/a.md", "Of a directory that is gone.\n"),
        ("-empty/memory/.keep", ""),
    ):
        file = home / "client" / "projects" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            await hand.press("n")
            assert rows(hand) == ["-gone-away", "a.md", "my.shop", "MEMORY.md", "deep/taxes.md"]
            await hand.press("G")
            assert pane(hand) == "```yaml\nname: taxes\n```\n\nTaxes are *rounded* once.\n"
            assert str(home / "client") in hand.text.replace("\n", "") or "taxes.md" in hand.text
            await hand.press("slash")
            await hand.type("ROUNDED")
            await hand.press("enter")
            assert rows(hand) == ["my.shop", "deep/taxes.md"]
            await hand.press("escape", "p")
            await hand.type("gone")
            await hand.press("enter")
            assert rows(hand) == ["-gone-away", "a.md"]
            await hand.press("P", "m")
            assert hand.said == [], "no pins and no meanings there"
            (home / "client" / "projects" / "-gone-away" / "memory" / "b.md").write_text("new")
            await hand.press("r")
            assert rows(hand) == ["-gone-away", "a.md", "b.md"]
            await hand.press("n")
            assert rows(hand)[0] == "fact"

    run(go())


@pytest.mark.parametrize(
    ("room", "says"),
    [(MemoryRoom, "memory store"), (ReviewRoom, "Nothing is due"), (ObservationsRoom, "mait-code install")],
)
def test_empty_rooms_say_what_to_do_next(
    home: Path, monkeypatch: pytest.MonkeyPatch, room: type[Any], says: str
) -> None:
    monkeypatch.chdir(home)

    async def go() -> None:
        async with opened(room) as hand:
            assert says in hand.text
            await hand.press("j", "enter", "P", "c", "e", "x", "2", "1", "left", "right", "space", "n", "n")
            assert says in hand.text

    run(go())


# -- review


def test_confirm(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ReviewRoom) as hand:
            first = due(hand).item
            assert first is not None
            assert first.memory.entity == kept["The"], "an event fades quickest"
            recalls = [one.recall for one in due(hand).rows.items.values()]
            assert recalls == sorted(recalls)
            count = len(due(hand).rows.keys)
            await hand.press("c")
            assert seen(kept["The"]).reviewed_at is not None
            assert len(due(hand).rows.keys) == count - 1
            assert "is still true" in hand.said[0]
            await hand.press("z")
            assert seen(kept["The"]).reviewed_at is None
            assert len(due(hand).rows.keys) == count

    run(go())


def test_refine(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ReviewRoom) as hand:
            await hand.press("e", "escape")
            assert isinstance(hand.house.screen, ReviewRoom)
            await hand.press("e")
            form = hand.house.screen
            assert isinstance(form, Form)
            await hand.type("On 2026-02-01: ")
            await hand.press("escape")
            assert isinstance(hand.house.screen, Confirm), "what was written is not lost without a question"
            await hand.press("n")
            form.query_one("#field-content", TextArea).text = "The certificate is renewed by a job"
            await hand.press("tab", "right", "ctrl+s")
            old = seen(kept["The"])
            assert old.superseded_by is not None
            new = seen(f"memory/{old.superseded_by}")
            assert (new.content, new.importance) == ("The certificate is renewed by a job", 6)
            assert kept["The"].partition("/")[2] not in due(hand).rows.keys
            await hand.press("z")
            assert seen(kept["The"]).live

    run(go())


def test_two_writers_under_the_form(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ReviewRoom) as hand:
            await hand.press("e")
            form = hand.house.screen
            assert isinstance(form, Form)
            form.query_one("#field-content", TextArea).text = "Mine"
            with Workspace.open() as ws:
                memory_edits.edit(ws, kept["The"], content="Theirs")
            await hand.until(lambda: form.query_one(".notice").display)
            hand.strike("ctrl+s")
            await hand.until(lambda: isinstance(hand.house.screen, Compare) and "Theirs" in hand.text)
            assert seen(kept["The"]).live, "nothing was written before the answer"
            await hand.press("m")
            await hand.until(lambda: isinstance(hand.house.screen, ReviewRoom))
            assert seen(f"memory/{seen(kept['The']).superseded_by}").content == "Mine"

    run(go())


def test_retire_asks(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ReviewRoom) as hand:
            await hand.press("x")
            assert isinstance(hand.house.screen, Confirm)
            await hand.press("enter")
            assert seen(kept["The"]).live, "Enter is not how something gets put away"
            await hand.press("x", "y")
            await hand.until(lambda: seen(kept["The"]).retired_at)
            await hand.press("z")
            await hand.until(lambda: seen(kept["The"]).live)

    run(go())


def test_review_by_project_and_words(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ReviewRoom) as hand:
            everything = len(due(hand).rows.keys)
            await hand.press("p")
            await hand.type("no project")
            await hand.press("enter")
            assert [one.memory.entity for one in due(hand).rows.items.values()] == [kept["Small"]]
            await hand.press("p")
            await hand.type("all")
            await hand.press("enter", "slash")
            await hand.type("certificate")
            await hand.press("enter")
            assert len(due(hand).rows.keys) == 1
            await hand.press("escape", "r")
            assert len(due(hand).rows.keys) == everything
            await hand.press("q")
        assert hand.house.return_code == 0

    run(go())


# -- observations


def test_days(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ObservationsRoom) as hand:
            shown = rows(hand)
            assert shown == ["Sun 1 Mar 2026", "10:00  What did we say about passkeys?", "09:00  Rate limits by account",
                             "Fri 27 Feb 2026", "Mon 16 Feb 2026"]  # fmt: skip
            states = [branch.mark[1].strip() for branch in outline(hand).rows.outline.branches]
            assert states == ["●", "·", "●", "·", "✓"]
            assert "### 09:00 Rate limits by account\n● pending · acme/login" in pane(hand)
            assert "*feature* Limits are counted by account" in pane(hand)
            await hand.press("j", "j", "enter", "j")
            assert rows(hand)[3:5] == ["Limits are counted by account", "The old limiter was never reset"]
            assert pane(hand) == "Addresses are shared; accounts are not."
            await hand.until(lambda: "src/limits.py" in hand.text)
            await hand.press("enter")
            assert isinstance(hand.house.screen.focused, Pane)
            await hand.press("1", "left")
            assert "**completed** Limits are counted by account." in pane(hand)
            await hand.press("left")
            assert "Limits are counted by account" not in rows(hand)
            await hand.press("left", "left")
            assert rows(hand) == ["Sun 1 Mar 2026", "Fri 27 Feb 2026", "Mon 16 Feb 2026"]
            await hand.press("2", "escape", "q")
        assert hand.house.return_code == 0

    run(go())


def test_observations_by_words_and_project(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ObservationsRoom) as hand:
            await hand.press("slash")
            await hand.type("cookie Day")
            await hand.press("enter")
            assert rows(hand) == ["Mon 16 Feb 2026", "09:00  Move sessions to Redis", "The cookie outlived its session"]
            await hand.press("escape", "p")
            await hand.type("outside")
            await hand.press("enter")
            assert rows(hand) == []
            assert "p shows other projects" in hand.text
            await hand.press("p")
            await hand.type("login")
            await hand.press("enter", "r")
            assert len(outline(hand).rows.outline.branches) == 5

    run(go())


def test_a_day_changes_while_it_is_looked_at(kept: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(ObservationsRoom) as hand:
            await hand.press("j", "j")
            key = outline(hand).rows.key
            with Workspace.open() as ws, ws.journal.writing(ws.store("memory")) as writer:
                writer.append(
                    "observation.recorded", type="bugfix", title="Seen by a hook", session="sunday", project=PROJECT
                )
            await hand.until(lambda: "Seen by a hook" in pane(hand))
            assert outline(hand).rows.key == key

    run(go())


# -- all of them

ROOMS: list[tuple[str, Callable[[], Any]]] = [
    ("memory", MemoryRoom), ("review", ReviewRoom), ("observations", ObservationsRoom)
]  # fmt: skip
BEFORE = {"memory": "j j j j j", "review": "j j", "observations": "j j right j"}


@pytest.mark.parametrize("theme", ["mait-dark", "mait-light"])
@pytest.mark.parametrize(("name", "room"), ROOMS)
def test_pictures(kept: dict[str, str], name: str, room: Any, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", theme)

    async def go() -> None:
        async with opened(room, SIZES[0]) as hand:
            await hand.press(*BEFORE[name].split())
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"{name}-{width}x{height}-{theme.removeprefix('mait-')}", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 16), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(("name", "room"), ROOMS)
def test_small_terminals_degrade(kept: dict[str, str], name: str, room: Any, size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(room, size) as hand:
            await hand.press(
                *BEFORE[name].split(), "2", "j", "1", "e", "escape", "question_mark", "escape", "p", "escape"
            )
            assert isinstance(hand.house.screen, room)
            if size[0] >= 40:
                assert "Quit" in hand.text

    run(go())


def test_hostile_texts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setattr(clock, "wall", lambda: NINE)
    texts = [
        "[/] [@click=app.exit]x[/]",
        "\x1b[31mred",
        "a" * 5000,
        "\u202eevil",
        "\\",
        "[bold]",
        "| a |\n|--",
        "```\n",
    ]
    with Workspace.open() as ws:
        for text in texts:
            memory.store(ws, memory.draft(text, "event", 9, Place("global"), wall=NINE - 10**14, session=text[:9])[0])

    async def go(room: type[Any]) -> None:
        async with opened(room, (80, 24)) as hand:
            for _ in texts:
                await hand.press("j")
            assert "\x1b" not in hand.text
            assert "\u202e" not in hand.text
            assert hand.house._exception is None

    for room in (MemoryRoom, ReviewRoom, ObservationsRoom):
        run(go(room))


def test_many_memories_paint_what_is_seen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        drafts = (
            memory.draft(f"Memory {number} of the {number % 7}th sort", place=Place("global"))[0]
            for number in range(3000)
        )
        memory.store_all(ws, drafts)

    async def go() -> None:
        async with opened(MemoryRoom) as hand:
            assert rows(hand) == ["fact"], "of many the types are closed, so that one sees what there is"
            await hand.press("enter")
            await hand.until(lambda: len(outline(hand).rows.keys) == 3001)
            assert len(outline(hand).rows.items) <= 100, "only what is about to be seen was read"
            await hand.press("G")
            await hand.until(lambda: outline(hand).rows.at is not None)
            assert len(outline(hand).rows.items) <= 300

    run(go())


def test_monkey(kept: dict[str, str], home: Path) -> None:
    monkeys.hammer("1 2 n e c P m p slash x ctrl+s", 240, MemoryRoom, ReviewRoom, ObservationsRoom)
