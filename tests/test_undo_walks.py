"""Any walk over one machine is undone step by step, all the way back, past every state it went through."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_undo import visible_values
from two_machines import Machine, exchange

from mait_code.commands import graph
from mait_code.commands.memory_file_state import FILE
from mait_code.commands.workspace import Workspace
from mait_code.projections.memory_file import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: So many things of a family are worked on, that much is done to each.
THING = st.integers(0, 1)
WORD = st.sampled_from(["ä", "two\nlines", "x"])
FACT = st.sampled_from(["The login uses tokens", "Releases are cut on Tuesdays", "Backups run every night"])
IMPORTANCE = st.sampled_from(["3", "8"])
NAME = st.sampled_from(["Anna", "Postgres", "Shop"])


def does(words: str, *more: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """A command: its words, one of several where there are bars, and what is given to it. A number stands for a thing."""
    return st.tuples(*(st.sampled_from(word.split("|")) for word in words.split()), *more)


BOARD = (
    does("board add", WORD),
    does("board remove|restore|unbind|unblock|archive", THING),
    does("board restore", THING),
    does("board move", THING, st.sampled_from(["backlog", "in_progress", "done"])),
    does("board tag|untag|comment|block", THING, WORD),
    does("board edit", THING, st.sampled_from(["--title", "--description", "--priority=high", "--project"]), WORD),
    does("board edit", THING, st.just("--priority"), st.sampled_from(["high", "low"])),
    does("board complete", THING, st.just("--summary"), WORD),
    does("board refine", THING, st.just("--acceptance"), WORD),
    does("board bind", THING, *(st.just(word) for word in ("--session", "s", "--pid", "1"))),
    does("board next --claim --session s --pid 1"),
    does("board ref add", THING, WORD, WORD),
    does("board ref remove", THING, st.just("1")),
)
INBOX = (
    does("inbox add", st.one_of(WORD, FACT)),
    does("inbox edit", THING, st.one_of(WORD, FACT)),
    does("inbox done|remove|restore", THING),
    does("inbox restore", THING),
    does("inbox triage", THING, st.just("--to"), st.sampled_from(["card", "memory", "done"])),
    does("inbox triage", THING, *(st.just(word) for word in ("--to", "reminder", "--when", "in 3 days"))),
    does("inbox triage", THING, st.just("--to"), st.just("memory"), st.just("--importance"), IMPORTANCE),
)
REMINDERS = (
    does("reminders set", st.sampled_from(["in 2 weeks", "every monday 9am"]), WORD),
    does("reminders edit", THING, st.just("--what"), WORD),
    does("reminders edit", THING, st.just("--when"), st.sampled_from(["in 4 weeks", "every tuesday 9am"])),
    does("reminders snooze", THING, st.sampled_from(["3d", "5w"])),
    does("reminders dismiss|remove|restore", THING),
    does("reminders restore", THING),
)
MEMORY = (
    does("memory store", FACT),
    does("memory store --importance", IMPORTANCE, st.just("--tag"), WORD, FACT),
    does("memory edit", THING, FACT),
    does("memory edit", THING, st.sampled_from(["--tag", "--untag"]), WORD),
    does("memory edit", THING, st.just("--importance"), IMPORTANCE),
    does("memory edit", THING, st.just("--type"), st.sampled_from(["fact", "decision"])),
    does("memory edit", THING, st.just("--scope=project"), st.just("--project"), st.sampled_from(["a/b", "c/d"])),
    does("memory supersede", THING, FACT),
    does("memory merge", THING, THING, st.just("--into"), FACT),
    does("memory retire|delete|restore-entry|pin|unpin|reviewed", THING),
    does("memory restore-entry|pin", THING),
)
FILES = (does("file written|changed|bullet|unpinned|reworded"),)
OTHERS = (
    does("memory entities merge", NAME, NAME),
    does("memory entities remove", NAME),
    does("projects alias", st.sampled_from(["a/b", "old/b"]), st.sampled_from(["c/d", "e/f"])),
    does("projects unalias", st.sampled_from(["a/b", "old/b"])),
    does("init --label", WORD),
)
#: Each family's actions, how a thing of it is made, and the ways in which one goes and comes back.
FAMILIES = {
    "board": (BOARD, ("board", "add", "x"), [("remove", "restore")]),
    "inbox": (INBOX, ("inbox", "add", "x"), [("remove", "restore"), ("done", "restore")]),
    "reminders": (
        REMINDERS,
        ("reminders", "set", "every monday 9am", "x"),
        [("remove", "restore"), ("dismiss", "restore")],
    ),
    "memory": (
        (*MEMORY, *FILES),
        ("memory", "store", "The login uses tokens"),
        [("delete", "restore-entry"), ("retire", "restore-entry"), ("pin", "unpin")],
    ),
}
ANY = (*BOARD, *INBOX, *REMINDERS, *MEMORY, *FILES, *OTHERS)
UNDO = ("undo",)


@st.composite
def there_and_back(draw: st.DrawFn, family: str) -> list[tuple[Any, ...]]:
    """A thing goes and comes back, things are done to it, and some of all that is taken back."""
    actions, _made, ways = FAMILIES[family]
    away, back = draw(st.sampled_from(ways))
    thing = draw(THING)
    said: list[tuple[Any, ...]] = [(family, away, thing), (family, back, thing)]
    for words in draw(st.lists(st.one_of(*actions), min_size=1, max_size=4)):
        said.append(tuple(thing if isinstance(word, int) else word for word in words))
    return said + [UNDO] * draw(st.integers(0, len(said) + 1))


@st.composite
def walks(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """Within a family mostly, as more happens to each thing then."""
    family = draw(st.sampled_from([*FAMILIES, "any"]))
    if family == "any":
        made = [made for _actions, made, _ways in FAMILIES.values()]
        return made + draw(st.lists(st.one_of(*ANY, st.just(UNDO)), min_size=6, max_size=20))
    actions, made, _ways = FAMILIES[family]
    parts = st.one_of(there_and_back(family), st.lists(st.one_of(*actions, st.just(UNDO)), min_size=1, max_size=3))
    return [made, *(words for part in draw(st.lists(parts, min_size=2, max_size=5)) for words in part)]


class Walk:
    """A machine on its walk: what stood there before each of its actions that is not undone."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        machine.enter()
        self.file = os.path.join(machine.home.data, FILE)
        self.before: list[tuple[str, dict[str, Any]]] = []

    def step(self, words: tuple[Any, ...]) -> None:
        if words == UNDO:
            self.back()
            return
        before = self.seen()
        known = self.actions()
        if words[0] == "file":
            self.edit(words[1])
            self.machine.ok("memory", "list")
        else:
            self.machine(*self.spelled(words))
        for tx in self.actions()[len(known) :]:
            self.before.append((tx, before))
        self.no_conflict(words)

    def back(self) -> None:
        """Undo once, and look whether all is as it was then."""
        if not self.before:
            assert "nothing of yours is left" in self.machine.refused("undo")
            return
        tx, before = self.before.pop()
        (done,) = self.machine.json("undo")
        assert done["tx"] == tx
        assert self.seen() == before, done["kinds"]
        self.no_conflict(("undo", *done["kinds"]))

    def no_conflict(self, words: tuple[Any, ...]) -> None:
        assert self.machine.json("conflicts") == [], words

    def actions(self) -> list[str]:
        """What was done so far, without undos, in order."""
        with Workspace(self.machine.home) as ws:
            rows = ws.log.query("SELECT DISTINCT tx FROM lines WHERE undoes IS NULL GROUP BY tx ORDER BY min(seq)")
        return [tx for (tx,) in rows]

    def seen(self) -> dict[str, Any]:
        """Everything a person can see, without the times at which it was last touched."""
        with Workspace(self.machine.home) as ws:
            memory = ws.reading("memory")
            return {
                **visible_values(ws),
                "memories": memory.query(
                    "SELECT id, content, entry_type, importance, scope, project, branch, seen_count, last_seen_at,"
                    " reviewed_at, superseded_by, retired_at IS NULL, pinned, tags, refs, live FROM memory_entries"
                    " ORDER BY id"
                ),
                "found": memory.query("SELECT id, text FROM entries WHERE kind = 'memory' ORDER BY id"),
                "entities": memory.query(
                    "SELECT id, name, entity_type, mention_count, merged_into FROM memory_entities ORDER BY id"
                ),
                "relationships": memory.query("SELECT * FROM memory_relationships ORDER BY 1, 2, 3"),
                "projects": ws.reading("projects").query("SELECT * FROM project_aliases ORDER BY id"),
                "label": sorted(ws.log.labels().values()),
                "file": self.read(),
            }

    def read(self) -> str:
        try:
            with open(self.file, encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return DEFAULT  # as it would be made

    def edit(self, how: str) -> None:
        """What somebody does to MEMORY.md by hand."""
        text = self.read()
        lines = text.splitlines(keepends=True)
        bullets = [number for number, line in enumerate(lines) if line.startswith("- ")]
        if how == "written":
            text += "My text\n"
        elif how == "changed":
            text = text.replace("My", "Our", 1)
        elif how == "bullet":
            text += "\n<!-- mait-code:facts -->\n- Backups run every night\n"
        elif bullets and how == "unpinned":
            text = "".join(lines[: bullets[0]] + lines[bullets[0] + 1 :])
        elif bullets:
            lines[bullets[0]] = lines[bullets[0]].rstrip("\n") + ", mostly\n"
            text = "".join(lines)
        os.makedirs(os.path.dirname(self.file), exist_ok=True)
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)

    def spelled(self, words: tuple[Any, ...]) -> list[str]:
        return [self.thing(words[0], word) if isinstance(word, int) else word for word in words]

    def thing(self, family: str, number: int) -> str:
        kind = {"board": "card", "reminders": "reminder"}.get(family, family)
        with Workspace(self.machine.home) as ws:
            names = [name for name, _state in ws.reading(family).states() if name.startswith(f"{kind}/")]
        return names[number % len(names)].partition("/")[2] if names else "nothing"

    def speak_of_things(self) -> None:
        """Names in the graph, as something else than the person at this machine would bring them in."""
        with Workspace(self.machine.home) as ws:
            store = ws.store("memory")
            journal = self.machine.journal("hook/observe")
            with journal.writing(store) as writer:
                graph.link(writer, store, "Anna", "uses", "Postgres")
                graph.link(writer, store, "Shop", "uses", "Postgres", "for orders")
        self.machine.ok("memory", "entities")


# -- walks that once went astray --------------------------------------------------------------------------------------


@pytest.fixture
def walk(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Walk:
    return Walk(Machine(tmp_path, "desk", cli, monkeypatch))


def go(walk: Walk, actions: list[tuple[Any, ...]]) -> None:
    """Take every step, then all of them back."""
    walk.speak_of_things()
    for words in actions:
        walk.step(words)
    while walk.before:
        walk.back()
    walk.back()


@pytest.mark.parametrize(
    "actions",
    [
        [("board", "add", "x"), ("board", "remove", 0), ("board", "restore", 0), ("board", "move", 0, "done")],
        [("board", "add", "x"), ("board", "remove", 0), ("board", "restore", 0), ("board", "tag", 0, "x")],
        [("inbox", "add", "x"), ("inbox", "done", 0), ("inbox", "restore", 0), ("inbox", "edit", 0, "y")],
        [
            ("memory", "store", "x"),
            ("memory", "delete", 0),
            ("memory", "restore-entry", 0),
            ("memory", "retire", 0),
            ("memory", "restore-entry", 0),
            ("memory", "edit", 0, "y"),
        ],
    ],
    ids=["moved", "tagged", "edited", "retired"],
)
def test_a_change_after_a_restore(walk: Walk, actions: list[tuple[Any, ...]]) -> None:
    go(walk, actions)


@pytest.mark.parametrize("pinned", [True, False])
def test_own_text_in_the_memory_file(walk: Walk, pinned: bool) -> None:
    first: list[tuple[Any, ...]] = [("memory", "store", "x")] + [("memory", "pin", 0)] * pinned
    go(walk, [*first, ("file", "written"), ("file", "changed"), ("file", "bullet"), ("file", "reworded")])


def test_a_memory_that_was_known_is_not_seen_any_more(walk: Walk) -> None:
    told = ("memory", "store", "--importance", "8", "--tag", "t", "x")
    actions: list[tuple[Any, ...]] = [("memory", "store", "x"), told, ("inbox", "add", "x")]
    go(walk, [*actions, ("inbox", "triage", 0, "--to", "memory"), UNDO, told, UNDO, UNDO])


def test_a_telling_is_told_again_by_undoing_its_undo(walk: Walk) -> None:
    walk.machine.ok("memory", "store", "x")
    once = walk.seen()
    walk.machine.ok("memory", "store", "x")
    twice = walk.seen()
    assert [row[7] for row in once["memories"] + twice["memories"]] == [1, 2]
    undone = walk.machine.json("undo")[0]["undo"]
    assert walk.seen() == once
    redone = walk.machine.json("undo", undone)[0]["undo"]
    assert walk.seen() == twice
    walk.machine.ok("undo", redone)
    assert walk.seen() == once
    exported = walk.machine.ok("memory", "export").out
    assert '"seen":[]' in exported
    assert walk.machine("verify").code == 0
    digest = walk.machine.digest()
    walk.machine.ok("rebuild")
    assert walk.machine.digest() == digest


def test_a_telling_that_two_machines_take_back_counts_once_less(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, lap = (Walk(Machine(tmp_path, name, cli, monkeypatch)) for name in ("desk", "lap"))
    desk.machine.ok("memory", "store", "x")
    desk.machine.ok("memory", "store", "x")
    desk.machine.ok("memory", "store", "x")
    told = desk.actions()[-1]
    exchange(desk.machine, lap.machine)
    for one in (desk, lap):
        one.machine.ok("undo", told)
    exchange(desk.machine, lap.machine)
    for one in (desk, lap):
        assert [row[7] for row in one.seen()["memories"]] == [2]
        one.no_conflict(("undo",))


def test_the_hint_names_what_was_written_not_an_undo_that_brought_it_back(walk: Walk) -> None:
    """Taking back that undo would only lead round in a circle."""
    for words in (["add", "1"], ["edit", "1", "--title", "2"], ["edit", "1", "--title", "3"]):
        walk.machine.ok("board", *words)
    _, second, third = walk.actions()
    walk.machine.ok("board", "edit", "1", "--title", "4")
    walk.machine.ok("undo")
    assert f"mait-code undo {third[:8]}" in walk.machine.refused("undo", second)
    walk.machine.ok("undo", third)
    walk.machine.ok("undo", second)
    assert walk.machine.json("board", "show", "1")["title"] == "1"


# -- any walk ---------------------------------------------------------------------------------------------------------


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(actions=walks())
def test_every_walk_leads_back(
    tmp_path_factory: pytest.TempPathFactory, cli: Callable[..., Any], actions: list[tuple[Any, ...]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        go(Walk(Machine(tmp_path_factory.mktemp("walk"), "desk", cli, patch)), actions)
