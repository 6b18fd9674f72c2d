"""The journal from its newest event backwards: what passes a filter, how far is read, and what comes in later."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_golden import LINES
from two_machines import Machine, exchange

from mait_code.commands import board, board_edits, inbox, timeline
from mait_code.commands.cli import timeline as from_the_command_line
from mait_code.commands.event_words import FAMILIES, said
from mait_code.commands.timeline import Filter, Window
from mait_code.commands.workspace import Workspace
from mait_code.journal.errors import Ambiguous, NotFound
from mait_code.journal.event import Event, parse
from mait_code.journal.kinds import KINDS
from mait_code.projections.log import Log
from mait_code.tui import differences

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def outside_any_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def every(ws: Workspace) -> list[str]:
    """The ids of all events, newest first."""
    query = "SELECT DISTINCT at, replica, seq, id FROM lines ORDER BY at DESC, replica DESC, seq DESC, id DESC"
    return [row[3] for row in ws.log.query(query)]


def ids(window: Window, ws: Workspace, want: int = 1_000_000) -> list[str]:
    return [hit.id for hit in window.look(ws, want)]


# -- words


@pytest.mark.parametrize("line", LINES, ids=[str(number) for number in range(len(LINES))])
def test_every_kind_is_said_in_words(line: bytes) -> None:
    event = parse(line)
    assert isinstance(event, Event)
    words = said(event)
    assert words
    assert words == words.strip()
    assert len(words) < 300
    assert "\n" not in words
    assert "_" not in words.partition(":")[0].partition(" to ")[0], "names of ours are no words"


def test_every_kind_is_of_a_family() -> None:
    firsts = {first for kinds in FAMILIES.values() for first in kinds}
    assert {name.partition(".")[0] for name in KINDS} == firsts
    assert tuple(FAMILIES) == from_the_command_line.KINDS


def test_differences() -> None:
    def text(*arguments: Any) -> list[str]:
        return ["".join(piece for _style, piece in line) for line in differences.changed(*arguments)]

    assert text("title", None, "One") == ["title  One"]
    assert text("column", "backlog", "done") == ["status  backlog → done"]
    assert text("title", "One", None) == ["title  One → —"]
    assert text("tag:web", None, True) == ["+ tag web"]
    assert text("tag:web", True, False) == ["- tag web"]
    assert text("link:uses:entity/x", None, {"context": "it does"}) == ["+ the relation uses entity/x  context it does"]
    assert text("link:uses:entity/x", None, {}) == ["+ the relation uses entity/x"]
    assert text("description", "a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nC\nd\ne\nf\ng\nh\ni") == [
        "description", "  b", "- c", "+ C", "  d", "  ⋯", "  h", "+ i",
    ]  # fmt: skip
    assert text("body", None, "x" * 200) == ["body", "+ " + "x" * 200]
    assert text("body", "x" * 5000, "y")[1] == "- " + "x" * 2000 + "…"
    long = "\n".join(map(str, range(1000)))
    assert text("body", long, long + "\nx")[-3:] == ["+ 38", "+ 39", "  and 961 lines more"]


# -- how far is read


def test_no_more_is_read_than_is_wanted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace.open() as ws:
        with ws.journal.writing(ws.store("inbox")) as writer:
            for number in range(1300):
                writer.append("inbox.captured", body=f"thought {number} {'needle' if number in (7, 900) else ''}")
        rows, read = 0, 0
        ask, event_at = Log.query, Log.event_at

        def counting(self: Log, *arguments: Any) -> Any:
            nonlocal rows
            found = ask(self, *arguments)
            rows += len(found)
            return found

        def reading(self: Log, place: int) -> Any:
            nonlocal read
            read += 1
            return event_at(self, place)

        monkeypatch.setattr(Log, "query", counting)
        monkeypatch.setattr(Log, "event_at", reading)
        window = Window(Filter())
        assert len(window.look(ws, 500)) == 500
        assert rows < 600
        assert read == 0, "no event is read from its file for a list of them"
        assert not window.is_whole
        assert len(window.look(ws, 1000)) == 1000
        assert len(window.look(ws, 5000)) == 1300
        assert window.is_whole

        found = Window(Filter("needle"))
        assert len(found.look(ws, 1)) == 1
        assert read == 500, "it is in the first batch"
        assert len(found.look(ws, 2)) == 2
        assert read == 1300
        found.look(ws, 2)
        assert read == 1300, "what was looked at is not looked at again"
        slow = Window(Filter("nothing like it"))
        assert slow.look(ws, 1, seconds=1e-9) == []
        assert not slow.is_whole
        assert slow.reached > ""
        for _ in range(2):
            slow.look(ws, 1, seconds=1e-9)
        assert slow.is_whole


def test_a_window_follows_the_journal(desk: Machine, lap: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is appended, brought late, copied, taken away or made anew: it shows what a new window shows."""
    monkeypatch.setattr(timeline, "_BATCH", 7)
    dice = random.Random(11)
    for machine in (desk, lap):
        machine.ok("inbox", "add", f"of {machine.name}")
    desk.enter()
    windows = [Window(Filter()), Window(Filter("late")), Window(Filter(family="board"))]
    short = Window(Filter())
    kept = desk.folder / "kept"
    with Workspace.open() as ws:
        for step in range(60):
            what = dice.choice(["append", "append", "append", "late", "copy", "gone", "rebuild"])
            if what == "append":
                inbox.add(ws, f"thought {step}", "")
            elif what == "late":
                lap.ok(*dice.choice([("inbox", "add", f"late {step}"), ("board", "add", f"a late card {step}")]))
                if dice.random() < 0.7:
                    exchange(desk, lap)
                desk.enter()
            elif what == "copy":
                _copy_some(ws, dice)
            elif what == "gone" and dice.random() < 0.5:
                files = sorted(Path(ws.home.journal).glob("*/0*.jsonl"))
                shutil.move(dice.choice(files), kept)
                ws.look_again()
                [window.look(ws, 10_000) for window in windows]
                (Path(ws.home.journal) / "k7f3qz9m").mkdir(exist_ok=True)
                number = len(list((Path(ws.home.journal) / "k7f3qz9m").iterdir())) + 1
                shutil.move(kept, Path(ws.home.journal) / "k7f3qz9m" / f"{number:06d}.jsonl")
            elif what == "rebuild":
                ws.log.rebuild()
            ws.look_again()
            all_of_it = every(ws)
            assert ids(windows[0], ws) == all_of_it, (step, what)
            assert ids(short, ws, 5) == all_of_it[:5], (step, what)
            for window in windows[1:]:
                assert ids(window, ws) == ids(Window(window.filter), ws), (step, what)
            assert set(ids(windows[1], ws)) < set(all_of_it)


def _copy_some(ws: Workspace, dice: random.Random) -> None:
    """Lines that stand in one file come to stand in another one too."""
    files = sorted(Path(ws.home.journal).glob("*/0*.jsonl"))
    lines = dice.choice(files).read_bytes().splitlines(keepends=True)
    directory = Path(ws.home.journal) / "m2x8v4nb"
    directory.mkdir(exist_ok=True)
    number = len(list(directory.iterdir())) + 1
    (directory / f"{number:06d}.jsonl").write_bytes(b"".join(dice.sample(lines, min(2, len(lines)))))


# -- filters


def test_filters(desk: Machine, lap: Machine) -> None:
    desk.ok("init", "--label", "the desk")
    lap.ok("init", "--label", "the laptop")
    desk.enter()
    with Workspace.open() as ws:
        card = board.add(ws, "Fix the Login", project="acme/login").entity
        inbox.add(ws, "Buy milk", "")
    exchange(desk, lap)
    lap.enter()
    with Workspace.open() as ws:
        board_edits.edit(ws, card, description="Straße")
    exchange(desk, lap)
    desk.ok("projects", "alias", "acme/old", "acme/login")
    desk.enter()
    with Workspace.open() as ws:

        def kinds(*arguments: Any, **named: Any) -> list[str]:
            return [hit.kind for hit in Window(Filter(*arguments, **named)).look(ws, 100)]

        assert kinds("login") == ["project.aliased", "card.edited", "card.created"], (
            "the title of what was edited counts"
        )
        assert kinds("STRASSE") == ["card.edited"], "case-folded"
        assert kinds("laptop edited") == ["card.edited"]
        assert kinds("milk login") == []
        assert kinds(family="inbox") == ["inbox.captured"]
        assert kinds(projects=("Acme/Login",)) == ["card.edited", "card.created"]
        assert "inbox.captured" in kinds(projects=())
        assert "card.created" not in kinds(projects=())
        laptop = timeline.machine_named(ws, "The Laptop")
        assert timeline.machine_named(ws, laptop) == laptop
        assert "card.edited" in kinds(replica=laptop)
        assert "card.created" not in kinds(replica=laptop)
        with pytest.raises(NotFound):
            timeline.machine_named(ws, "the phone")
    lap.ok("init", "--label", "the desk")
    exchange(desk, lap)
    desk.enter()
    with Workspace.open() as ws, pytest.raises(Ambiguous):
        timeline.machine_named(ws, "the desk")


# -- the command line


def test_command_line(cli: Callable[..., Any]) -> None:
    assert "nothing has happened here yet" in cli("timeline").err
    assert cli("timeline", "--json").json == []
    cli("board", "add", "Fix the login", "--project", "acme/login")
    cli("board", "move", "1", "done")
    cli("inbox", "add", "Buy milk")
    assert cli("timeline").out == cli("log").out
    assert cli("timeline", "--json").json == cli("log", "--json").json
    assert cli("timeline", "list", "-n", "1").out.endswith("Buy milk\n")

    def found(*arguments: str) -> list[str]:
        return [one["kind"] for one in cli("timeline", "list", "--json", *arguments).json]

    assert found("--kind", "board") == ["card.created", "card.moved"], "the newest last"
    assert found("--project", "acme/login", "--words", "moved") == ["card.moved"]
    assert found("--project", "") == ["inbox.captured"]
    replica = cli("replicas", "--json").json[0]["replica"]
    assert len(found("--machine", replica)) == 3
    assert cli("timeline", "list", "--machine", "nobody").code == 1
    assert "no event is like that" in cli("timeline", "list", "--words", "zebra").err
