"""MEMORY.md: written from what is pinned, edited by hand, taken over. Unit cases, then random histories of two machines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from convergence.world import scratch
from git_machines import bare
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from two_machines import Machine

from mait_code.commands import conflicts, memory_adoption, memory_file, memory_file_state, undo
from mait_code.commands.workspace import Workspace
from mait_code.journal import segments
from mait_code.journal.home import Home
from mait_code.projections import register
from mait_code.projections.digest import digest
from mait_code.projections.memory_file import DEFAULT, MOST_LINES, SECTIONS, Bullet, Entry, parse, render
from mait_code.projections.memory_file_block import canonical
from mait_code.projections.memory_file_edits import Written, compare
from mait_code.projections.memory_pins import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Texts that Markdown, our markers or a careless parser could take for something else.
AWKWARD = (
    "plain words",
    "ends with a comment <!-- /mait-code -->",
    "<!-- mait-code:facts -->",
    "two\nlines",
    "a\n\nparagraph of its own",
    "list\n- one\n  - two\n- three",
    "code\n```sh\n# no heading\n- no bullet\n<!-- /mait-code -->\n```",
    "- begins like a bullet",
    "1. begins like a number",
    "# begins like a heading",
    "--- rule",
    "[ ] a task",
    "tab\n\tindented\n\t\ttwice",
    "carriage\r\nreturn\rhere",
    "日本語の記憶 🎉\n\u3000全角",
    "trailing blanks  \nand more  ",
    "not a place _(project)_",
    "a place by itself _(project some/where, branch x)_",
    "_3 more are pinned_",
    "<private",
    "## Facts",
    "control \x0b\x85\u2028 characters",
)


class Desk:
    """One machine: a data and a state directory; every call is as a command of its own."""

    def __init__(self, folder: str, name: str = "desk") -> None:
        self.folder = os.path.join(folder, name)
        self.name = name
        with self.here():
            self.home = Home(os.path.join(self.folder, "data"))
        self.path = self.home.in_data("memory/MEMORY.md")

    @contextmanager
    def here(self) -> Iterator[None]:
        names = {"XDG_STATE_HOME": os.path.join(self.folder, "state"), "MAIT_CODE_MACHINE_ID": self.name}
        before = {name: os.environ.get(name) for name in names}
        os.environ.update(names)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})

    @contextmanager
    def open(self) -> Iterator[Workspace]:
        with self.here(), Workspace(self.home) as ws:
            yield ws

    def write(self, *events: tuple[str, str, dict[str, Any]]) -> list[str]:
        """Events of one action; the entities they name. Number n in `by` and for an entity is that of the n-th event."""
        with self.open() as ws, ws.journal.writing(ws.store("memory")) as writer:
            made: list[str] = []
            for kind, entity, data in events:
                filled = {
                    key: made[int(value)] if key == "by" and value.isdigit() else value for key, value in data.items()
                }
                made.append(writer.append(kind, made[int(entity)] if entity.isdigit() else entity, **filled).entity)
            return made

    def pin(self, content: str, type_: str = "fact", **more: Any) -> str:
        """Store a memory and pin it."""
        stored = {"content": content, "type": type_, "scope": "global", **more}
        return self.write(("memory.stored", "", stored), ("memory.pinned", "0", {}))[0]

    def refresh(self) -> list[str]:
        with self.open() as ws:
            return memory_file.refresh(ws)

    def adopt(self) -> list[str]:
        with self.open() as ws:
            return memory_file.adopt(ws)

    @property
    def text(self) -> str:
        with open(self.path, "rb") as file:
            return file.read().decode()

    def save(self, text: str | bytes) -> None:
        """As an editor does."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def edit(self, *changes: tuple[str, str]) -> list[str]:
        """Replace texts that stand in the file once, and refresh."""
        text = self.text
        for old, new in changes:
            assert text.count(old) == 1, (old, text)
            text = text.replace(old, new)
        self.save(text)
        return self.refresh()

    def rows(self, columns: str = "content", where: str = "1") -> list[Any]:
        with self.open() as ws:
            found = ws.reading("memory").query(
                f"SELECT {columns} FROM memory_entries WHERE {where} ORDER BY content, id"
            )
        return [row[0] if len(row) == 1 else row for row in found]

    def pinned(self) -> list[str]:
        return self.rows(where="pinned AND live")

    def events(self) -> int:
        with self.open() as ws:
            return int(ws.reading("memory").value("SELECT count(*) FROM events"))

    def digest(self) -> str:
        with self.open() as ws:
            return digest(ws.reading("memory"))

    def conflicted(self) -> bool:
        with self.open() as ws:
            return (DOCUMENT, "text") in ws.reading("memory").conflicted()

    def send(self, other: Desk) -> None:
        """Copy the segments that the other lacks, or has shorter."""
        for directory in segments.directories(self.home.journal):
            there = os.path.join(other.home.journal, directory)
            os.makedirs(there, exist_ok=True)
            for name in os.listdir(os.path.join(self.home.journal, directory)):
                source, target = os.path.join(self.home.journal, directory, name), os.path.join(there, name)
                if not os.path.exists(target) or os.path.getsize(target) < os.path.getsize(source):
                    shutil.copyfile(source, target + ".new")
                    os.replace(target + ".new", target)


def exchange(one: Desk, other: Desk) -> None:
    for machine in (one, other):
        os.makedirs(machine.home.journal, exist_ok=True)
    one.send(other)
    other.send(one)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(str(tmp_path))


@pytest.fixture
def lap(tmp_path: Path) -> Desk:
    return Desk(str(tmp_path), "lap")


def entry(text: str, section: str = "facts", number: int = 0, importance: int = 5, project: str = "") -> Entry:
    bullet = Bullet(section, canonical(text), project)
    return Entry(bullet, f"id{number:03}", importance, f"2026-01-01T00:{number // 60:02}:{number % 60:02}")


# -- the text, taken apart and put together ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", AWKWARD)
def test_every_content_survives_as_a_bullet(text: str) -> None:
    entries = [entry("first", number=0), entry(text, number=1), entry("last", number=2)]
    written, placed = render(DEFAULT, entries)
    parsed = parse(written)
    assert [one.bullet.text for one in placed] == ["first", canonical(text), "last"]
    assert len(parsed.bullets) == 3
    assert parsed.template == DEFAULT
    if "_(project some" not in text:
        assert parsed.bullets[1].text == canonical(text)
    for eol in ("\r\n", "\n"):
        other = parse(written.replace("\r\n", "\n").replace("\n", eol))
        assert other.bullets == parsed.bullets


@pytest.mark.parametrize(
    "template",
    [
        "", "\n", "\n\n", "x", "x\n", "\ufeff", "\ufeffx\r\n", "x\r\ny", "x\ny\r\n", "x\r", "## Facts\n", "\n## Facts\n", "x\n## Facts\n",
        "<!-- mait-code:unknown -->\n- mine\n<!-- /mait-code -->\n", "a <!-- mait-code:facts -->\n", "- my own\n- list", " \t\n", DEFAULT,
        "```\ncode without an end\n", "<!-- a comment without an end\n", "\n" * 300,
        DEFAULT + "\n## Facts\n<!-- mait-code:facts -->\n<!-- /mait-code -->\n\n## Preferences\n<!-- mait-code:preferences -->\n",
        "x\n## Tasks\n<!-- mait-code:tasks -->\n<!-- /mait-code -->\n\n## Facts\n<!-- mait-code:facts -->\n<!-- /mait-code -->\n",
        "<!-- mait-code:facts -->\n<!-- /mait-code -->\n", "\ufeff<!-- mait-code:facts -->\n<!-- /mait-code -->\nmine",
    ],
)  # fmt: skip
@pytest.mark.parametrize("many", [0, 1, 3, 80])
def test_templates_come_back_byte_for_byte(template: str, many: int) -> None:
    """What is parsed once is what is written, and reading that again gives the same."""
    sections = ("preferences", "facts", "other")
    entries = [entry(f"number {n}", sections[n % 3], n) for n in range(many)]
    template = parse(template).template
    written, placed = render(template, entries)
    parsed = parse(written)
    assert parsed.template == template
    assert [one.text for one in parsed.bullets] == [one.bullet.text for one in placed]
    assert render(parsed.template, entries)[0] == written


@given(
    st.lists(
        st.sampled_from(
            [
                "x",
                "\n",
                "\r\n",
                "\r",
                " ",
                "\ufeff",
                "## Facts",
                "## Tasks\n",
                "- b",
                "\n  deep",
                "<!--",
                "-->",
                "```\n",
                "\n```\n",
                "\n ```sh\n",
                "\n  ~~~~\n",
                "\n~~~\n",
                "\n- code\n  ```\n  x\n  ```\n",
                "#",
            ]
            + [f"\n<!-- mait-code:{name} -->\n" for name in ("facts", "tasks", "more", "unknown")]
            + [
                "\n<!-- /mait-code -->\n",
                "<!-- /mait-code -->",
                "\n## Facts\n<!-- mait-code:facts -->\n- a\n<!-- /mait-code -->\n",
            ]
        ),
        max_size=14,
    ).map("".join),
    st.integers(0, 3),
)
@settings(max_examples=700, deadline=None)
def test_any_file_settles(text: str, many: int) -> None:
    """However a file is torn, once it is written it is read back as it was meant; and no visible character is lost."""
    parsed = parse(text)
    entries = [entry(one.text, one.section, n) for n, one in enumerate(dict.fromkeys(parsed.bullets))]
    entries += [entry(("new {}", "code {}\n```\nx\n```")[n % 2].format(n), "facts", 50 + n) for n in range(many)]
    written, placed = render(parsed.template, entries)
    again = parse(written)
    assert again.template == parsed.template == parse(parsed.template).template
    assert sorted(one.text for one in again.bullets) == sorted(one.bullet.text for one in placed)
    assert render(again.template, entries)[0] == written
    gone = re.compile(r"<!--\s*/?mait-code[^>]*-->|## (Facts|Tasks)\n|[-\s]")
    assert not set(gone.sub("", text)) - set(written)


_SHOWN = "<!-- mait-code:facts -->\n- shown, not meant\n<!-- /mait-code -->\n"


@given(
    st.lists(st.sampled_from(["x\n", "\n", "```\n", "~~~\n", "<!--\n", "- mine\n", "# T\n"]), max_size=4).map("".join),
    st.sampled_from(["```", "~~~", "````", " ```", "~~~~~~"]),
    st.sampled_from(["", "markdown", " sh x"]),
    st.sampled_from([_SHOWN, "<!-- /mait-code -->\n", "# x\n" + _SHOWN, _SHOWN * 2, "~~ ~\n``\n" + _SHOWN, "   ``` x\n" + _SHOWN]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "after\n", "<!-- mait-code:tasks -->\n- a task\n<!-- /mait-code -->\nrest\n"]),
    st.integers(0, 3),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_what_fenced_code_shows_is_the_users_text(
    before: str, fence: str, info: str, shown: str, eol: str, after: str, many: int
) -> None:
    """Markers and bullets in fenced code stay where they are, whatever is written into the file and read again."""
    code = f"{fence}{info}\n{shown}{fence} \n".replace("\n", eol)
    # Fences before it must be in pairs, else the first of the code closes one.
    text = before.replace("```\n", "```\n```\n").replace("~~~\n", "~~~\n~~~\n").replace("\n", eol) + code
    text += after.replace("\n", eol)
    parsed = parse(text)
    assert [one.text for one in parsed.bullets] == (["a task"] if "task" in after else [])
    assert code in parsed.template
    entries = [entry(f"fact {n}\n```\n{n}\n```", "facts", n) for n in range(many)]
    entries += [entry(one.text, one.section, 50) for one in parsed.bullets]
    written, placed = render(parsed.template, entries)
    assert code in written
    again = parse(written)
    assert again.template == parsed.template
    assert [one.text for one in again.bullets] == [one.bullet.text for one in placed]


def test_what_fenced_code_shows_within_a_section_is_moved_out_whole() -> None:
    code = f"```\n{_SHOWN}```\n"
    parsed = parse(f"<!-- mait-code:facts -->\n- a\n{code}- b\n<!-- /mait-code -->\n")
    assert [one.text for one in parsed.bullets] == ["a", "b"]
    assert parsed.template == f"<!-- mait-code:facts -->\n<!-- /mait-code -->\n{code}"


def test_a_fence_without_its_end_hides_no_section() -> None:
    """A slip of the hand, as while one types: nothing may be unpinned by it."""
    for fences in ("```\n", "~~~ x\n```\n", "```\n" + "```a\n" * 20_000):
        parsed = parse(f"{fences}text\n{_SHOWN}")
        assert [one.text for one in parsed.bullets] == ["shown, not meant"]


def test_what_is_no_bullet_is_moved_out() -> None:
    text = (
        "# T\n<!-- mait-code:facts -->\n### above\n\n- a\n  - nested\n\n  more of a\nlazy\n\nProse of mine.\n\n\n* b\n"
        "<!-- commented out:\n- c\n-->\n+ d\n```\n- in a fence\n```\n1. e\n-\n---\n<!-- /mait-code -->\nrest"
    )
    parsed = parse(text)
    assert [one.text for one in parsed.bullets] == ["a\n- nested\n\nmore of a\nlazy", "b", "d", "e"]
    assert parsed.template == (
        "# T\n### above\n<!-- mait-code:facts -->\n<!-- /mait-code -->\n\nProse of mine.\n"
        "<!-- commented out:\n- c\n-->\n```\n- in a fence\n```\n---\nrest"
    )


def test_a_block_without_its_end_ends_at_a_heading() -> None:
    parsed = parse("<!-- mait-code:facts -->\n- a\n\n## My own\n- mine\n<!-- mait-code:tasks -->\n- t\n")
    assert parsed.bullets == [Bullet("facts", "a"), Bullet("tasks", "t")]
    assert "\n\n## My own\n- mine\n" in parsed.template
    parsed = parse("<!-- mait-code:facts -->\n- a\n## Mine\n- mine\n<!-- /mait-code -->\nx\n<!-- /mait-code -->\n")
    assert parsed.bullets == [Bullet("facts", "a")]
    assert parsed.template == "<!-- mait-code:facts -->\n<!-- /mait-code -->\n## Mine\n- mine\nx\n<!-- /mait-code -->\n"


def test_a_section_given_twice_is_one() -> None:
    block = "<!-- mait-code:facts -->\n- {}\n<!-- /mait-code -->\n"
    parsed = parse(f"a\n{block.format('one')}b\n{block.format('two')}c\n")
    assert [one.text for one in parsed.bullets] == ["one", "two"]
    assert parsed.template == "a\n<!-- mait-code:facts -->\n<!-- /mait-code -->\nb\nc\n"


def test_indented_lists_and_projects() -> None:
    parsed = parse(
        "<!-- mait-code:facts -->\n  - a\n  - b _(project o/r)_\n    - deep\n  - c _(project o/r, branch f/x)_\n"
    )
    assert parsed.bullets == [
        Bullet("facts", "a"),
        Bullet("facts", "b\n- deep", "o/r"),
        Bullet("facts", "c", "o/r", "f/x"),
    ]
    assert parsed.bullets[2].lines() == ["- c _(project o/r, branch f/x)_"]


def test_about_150_lines_the_most_important_first() -> None:
    entries = [entry(f"memory {n}", "facts", n, 9 if n < 20 else 3) for n in range(400)]
    text, placed = render(DEFAULT, entries)
    assert MOST_LINES - 10 < text.count("\n") < MOST_LINES + 10
    shown = {one.bullet.text for one in placed}
    assert {f"memory {n}" for n in range(20)} <= shown
    assert "memory 399" in shown
    assert "memory 20" not in shown
    hidden = 400 - len(placed)
    assert text.endswith(
        f"<!-- mait-code:more -->\n_{hidden} more are pinned; `mait-code memory list --pinned` shows all._\n<!-- /mait-code -->\n"
    )
    assert parse(text).template == DEFAULT
    assert len(render("line\n" * 1000, entries)[1]) > 30, "however much the user wrote"
    text, placed = render(DEFAULT, [entry("x\n" * 500 + "y", number=1), entry("short", number=2)])
    assert [one.bullet.text for one in placed] == ["short"]
    assert "_1 more is pinned" in text


# -- what was done to the bullets -------------------------------------------------------------------------------------


def compared(before: list[str], now: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """(bullet, what it was or an empty text), and those that are gone; "t:" before a text is the section of tasks."""

    def bullet(text: str) -> Bullet:
        return Bullet("tasks", text[2:]) if text.startswith("t:") else Bullet("facts", text)

    edits, gone = compare(
        [Written(bullet(one), [str(n)]) for n, one in enumerate(before)], [bullet(one) for one in now]
    )
    assert all((edit.before is None) == (not edit.ids) for edit in edits)
    return (
        [(edit.bullet.text, before[int(edit.ids[0])] if edit.ids else "") for edit in edits],
        [one.bullet.text for one in gone],
    )


@pytest.mark.parametrize(
    ("before", "now", "edits", "gone"),
    [
        (["a", "b"], ["b", "a"], [("b", "b"), ("a", "a")], []),
        (["a", "b"], ["a", "a", "b"], [("a", "a"), ("a", ""), ("b", "b")], []),
        (["a", "t:b"], ["t:a", "t:b"], [("a", "a"), ("b", "t:b")], []),
        (["the port is 5432"], ["the port is 5433"], [("the port is 5433", "the port is 5432")], []),
        (["wants tea at work"], ["does not want tea at work"], [("does not want tea at work", "wants tea at work")], []),
        (["likes tea"], ["builds run on ninja"], [("builds run on ninja", "")], ["likes tea"]),
        (["green tea"], ["green tea, but only in the afternoon"], [("green tea, but only in the afternoon", "green tea")], []),
        (["x y z", "the port is 5432"], ["the port is 5433", "x y z"],
         [("the port is 5433", "the port is 5432"), ("x y z", "x y z")], []),
        (["deploys happen on Friday evening"], ["t:deploys happen on Friday evenings"],
         [("deploys happen on Friday evenings", "deploys happen on Friday evening")], []),
        (["a", "b", "c"], [], [], ["a", "b", "c"]),
        ([], ["a"], [("a", "")], []),
        (["port 1 is for mail", "port 2 is for web"], ["port 2 is for the web", "port 1 is for mails"],
         [("port 2 is for the web", "port 2 is for web"), ("port 1 is for mails", "port 1 is for mail")], []),
    ],
)  # fmt: skip
def test_what_was_changed(before: list[str], now: list[str], edits: list[tuple[str, str]], gone: list[str]) -> None:
    assert compared(before, now) == (edits, gone)


def test_many_bullets_are_compared_in_bounded_time() -> None:
    before = [f"old line {n} about {n * 7919 % 101}" for n in range(300)]
    edits, gone = compared(before, [f"something else, {n * 31 % 977}, entirely" for n in range(2000)])
    assert len(edits) == 2000
    assert len(gone) >= 299


# -- the file ---------------------------------------------------------------------------------------------------------


def test_nothing_pinned_no_file(desk: Desk) -> None:
    assert desk.refresh() == []
    desk.write(("memory.stored", "", {"content": "x", "type": "fact"}))
    assert desk.refresh() == []
    assert not os.path.exists(desk.path)


def test_pinned_memories_by_section(desk: Desk) -> None:
    desk.pin("tea", "preference")
    desk.pin("tabs", "decision", scope="project", project="o/r")
    desk.pin("odd", "something new")
    unpinned = desk.pin("gone")
    desk.write(("memory.unpinned", unpinned, {}))
    retired = desk.pin("retired")
    desk.write(("memory.retired", retired, {}))
    assert desk.refresh() == []
    assert desk.text == (
        DEFAULT + "\n## Preferences\n<!-- mait-code:preferences -->\n- tea\n<!-- /mait-code -->\n"
        "\n## Decisions\n<!-- mait-code:decisions -->\n- tabs _(project o/r)_\n<!-- /mait-code -->\n"
        "\n## Other\n<!-- mait-code:other -->\n- odd\n<!-- /mait-code -->\n"
    )
    assert os.stat(desk.path).st_mode & 0o777 == 0o600


def test_a_new_bullet_is_stored_and_pinned(desk: Desk) -> None:
    desk.pin("tea", "preference")
    desk.refresh()
    notes = desk.edit(
        ("- tea\n", "- tea\n- coffee too\n  - at ten _(not a place)_\n* milk _(project o/r, branch b)_\n")
    )
    assert notes == ["taken over from memory/MEMORY.md: 2 stored and pinned"]
    columns = "content, entry_type, scope, project, branch, pinned"
    assert desk.rows(columns) == [
        ("coffee too\n- at ten _(not a place)_", "preference", "global", None, None, 1),
        ("milk", "preference", "branch", "o/r", "b", 1),
        ("tea", "preference", "global", None, None, 1),
    ]
    assert "- tea\n- coffee too\n  - at ten _(not a place)_\n- milk _(project o/r, branch b)_\n<!--" in desk.text
    assert desk.refresh() == []


def test_a_new_bullet_joins_the_memory_that_says_so(desk: Desk) -> None:
    known = desk.write(("memory.stored", "", {"content": "We use tabs.", "type": "fact", "scope": "global"}))[0]
    desk.pin("tea")
    desk.refresh()
    desk.edit(("- tea\n", "- tea\n- we use tabs\n- we use tabs\n"))
    assert desk.rows("id", "content = 'We use tabs.' AND pinned") == [known.partition("/")[2]]
    assert len(desk.rows()) == 2
    assert desk.text.count("tabs") == 1
    count = desk.events()
    desk.edit(("- tea\n", "- tea\n- we use tabs\n"))
    assert desk.events() == count, "it is pinned, and was told in these words"


def test_a_removed_bullet_is_unpinned(desk: Desk) -> None:
    desk.pin("tea")
    desk.pin("milk")
    desk.refresh()
    assert desk.edit(("- tea\n", "")) == ["taken over from memory/MEMORY.md: 1 unpinned"]
    assert desk.rows("content, live, pinned") == [("milk", 1, 1), ("tea", 1, 0)]
    with desk.open() as ws:
        list(undo.undo(ws))
    assert desk.refresh() == []
    assert "- tea\n- milk\n" in desk.text


def test_a_changed_bullet_supersedes(desk: Desk) -> None:
    old = desk.pin("the port is 5432", "decision", importance=8, tags=["db"], scope="project", project="o/r")
    desk.pin("zebra", "decision")
    desk.refresh()
    assert desk.edit(("5432", "5433")) == ["taken over from memory/MEMORY.md: 1 changed"]
    (new,) = desk.rows("id", "content = 'the port is 5433'")
    assert desk.rows("superseded_by, live", f"id = '{old.partition('/')[2]}'") == [(new, 0)]
    columns = "entry_type, importance, tags, scope, project, live, pinned"
    assert desk.rows(columns, f"id = '{new}'") == [("decision", 8, '["db"]', "project", "o/r", 1, 1)]
    assert "5433 _(project o/r)_\n- zebra\n" in desk.text, "it stays in its place"
    assert desk.edit(("5433", "5432")) == ["taken over from memory/MEMORY.md: 1 changed"]
    assert len(desk.rows(where="content LIKE '%port%'")) == 3
    assert desk.edit(("the port is 5432", "The port is 5432.")) == ["taken over from memory/MEMORY.md: 1 changed"]
    assert "The port is 5432." in desk.text


def test_moved_to_another_section_or_project(desk: Desk) -> None:
    desk.pin("tea", "preference")
    desk.pin("milk", "fact")
    desk.refresh()
    notes = desk.edit(("- tea\n", ""), ("- milk\n", "- milk\n- tea\n"))
    assert notes == ["taken over from memory/MEMORY.md: 1 moved"]
    assert desk.rows("content, entry_type, pinned") == [("milk", "fact", 1), ("tea", "fact", 1)]
    assert desk.edit(("- milk", "- milk _(project o/r)_")) == ["taken over from memory/MEMORY.md: 1 moved"]
    assert desk.rows("scope, project", "content = 'milk'") == [("project", "o/r")]
    desk.edit(("- milk _(project o/r)_", "- milk"))
    assert desk.rows("scope, project", "content = 'milk'") == [("global", None)]


def test_order_and_copies_say_nothing(desk: Desk) -> None:
    for content in ("one", "two", "three"):
        desk.pin(content)
    desk.refresh()
    written, count = desk.text, desk.events()
    assert desk.edit(("- one\n- two\n- three\n", "- three\n- one\n- two\n- one\n")) == []
    assert desk.text == written
    assert desk.events() == count


@pytest.mark.parametrize(
    "free",
    [
        "# Mine\r\n\r\nWindows\r\n", "\ufeff# With a mark\n", "no end", "\n\n\n", " ", "a\rb\rc\r", "mixed\r\nends\nhere",
        "# T\n- my own\n- list\n## Facts\n- also mine\n", "tabs\t\n\ttrailing  \n", "日本語 🎉\n", "x" * 100_000 + "\n",
    ],
)  # fmt: skip
def test_the_users_text_is_kept(desk: Desk, free: str) -> None:
    desk.pin("tea")
    desk.refresh()
    block = desk.text[len(DEFAULT) :]
    desk.save(free + block)
    assert desk.refresh() == ["taken over from memory/MEMORY.md: your text"]
    assert desk.text.startswith(free)
    assert parse(desk.text).bullets == [Bullet("facts", "tea")]
    with desk.open() as ws:
        state = ws.reading("memory").state(DOCUMENT)
    assert state is not None
    assert str(register.value(state, "text")).startswith(free)
    once = desk.text
    desk.pin("milk", "preference")
    desk.refresh()
    assert free in desk.text
    assert parse(desk.text).template == parse(once).template
    assert parse(desk.text).bullets[-1].text in ("milk", "tea")
    count = desk.events()
    desk.refresh()
    assert desk.events() == count


def test_windows_line_ends_go_for_the_bullets_too(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.save(desk.text.replace("\n", "\r\n"))
    desk.refresh()
    desk.pin("milk")
    desk.refresh()
    assert "- tea\r\n- milk\r\n" in desk.text
    assert "\n" not in desk.text.replace("\r\n", "")
    assert desk.pinned() == ["milk", "tea"]


def test_sections_where_the_user_wants_them(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    block = "<!-- mait-code:facts -->\n- tea\n<!-- /mait-code -->\n"
    desk.save(f"# Was weiß ich\n\n### Tatsachen\n{block}\nEnde.\n\n<!-- mait-code:decisions -->\n- by hand\n")
    desk.refresh()
    desk.pin("milk")
    desk.pin("early", "procedure")
    desk.refresh()
    assert desk.text == (
        "# Was weiß ich\n\n### Tatsachen\n<!-- mait-code:facts -->\n- tea\n- milk\n<!-- /mait-code -->\n\nEnde.\n\n"
        "<!-- mait-code:decisions -->\n- by hand\n<!-- /mait-code -->\n"
        "\n## Procedures\n<!-- mait-code:procedures -->\n- early\n<!-- /mait-code -->\n"
    )


def test_a_file_from_before_is_taken_as_the_users_text(desk: Desk) -> None:
    theirs = "# Memory\n\n## Preferences\n- tea\n- milk\n"
    desk.save(theirs)
    desk.refresh()
    assert desk.text == theirs
    desk.pin("tabs")
    desk.refresh()
    assert desk.text == theirs + "\n## Facts\n<!-- mait-code:facts -->\n- tabs\n<!-- /mait-code -->\n"


def test_a_missing_file_is_made_again(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    written = desk.text
    desk.save(written.replace("# Memory", "# Mine"))
    desk.refresh()
    os.unlink(desk.path)
    assert desk.adopt() == []
    assert desk.refresh() == ["memory/MEMORY.md was missing and has been made again"]
    assert desk.text == written.replace("# Memory", "# Mine")
    shutil.rmtree(os.path.dirname(desk.path))
    assert desk.refresh() == ["memory/MEMORY.md was missing and has been made again"]
    assert desk.pinned() == ["tea"]


def test_an_empty_file_forgets_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.pin("tea")
    desk.refresh()
    written = desk.text
    desk.save("")
    assert desk.refresh() == []
    assert desk.text == "", "an editor may be about to fill it"
    monkeypatch.setattr(memory_file_state, "YOUNG", 0)
    assert desk.refresh() == ["memory/MEMORY.md was empty and has been made again"]
    assert desk.text == written
    desk.save("\n")
    desk.refresh()
    assert desk.pinned() == [], "somebody took everything out"
    assert desk.text == "\n"
    with desk.open() as ws:
        list(undo.undo(ws))
    desk.refresh()
    assert desk.pinned() == ["tea"]


@pytest.mark.parametrize(
    "content", [b"latin \xe4\n", "wide".encode("utf-16"), b"nul \0\n", b"x" * 300_000, b'"' * 200_000]
)
def test_what_cannot_be_kept_is_left_alone(desk: Desk, content: bytes) -> None:
    desk.pin("tea")
    desk.refresh()
    written = desk.text
    desk.save(content)
    desk.pin("milk")
    for _ in range(2):
        (note,) = desk.refresh()
        assert note.startswith("memory/MEMORY.md is neither read nor written: it is ")
    with open(desk.path, "rb") as file:
        assert file.read() == content
    desk.save(written)
    assert desk.refresh() == []
    assert desk.pinned() == ["milk", "tea"]
    assert "- milk" in desk.text


def test_a_directory_or_a_link_in_its_place(desk: Desk, tmp_path: Path) -> None:
    desk.pin("tea")
    os.makedirs(desk.path)
    assert desk.refresh() == ["memory/MEMORY.md is neither read nor written: it is a directory"]
    os.rmdir(desk.path)
    target = tmp_path / "notes" / "memory.md"
    target.parent.mkdir()
    target.write_text("# Linked\n")
    os.symlink(target, desk.path)
    desk.refresh()
    assert os.path.islink(desk.path)
    assert target.read_text().startswith("# Linked\n\n## Facts\n")
    desk.edit(("- tea", "- tea\n- milk"))
    assert desk.pinned() == ["milk", "tea"]


def test_secrets_and_private_text(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    notes = desk.edit(
        ("# Memory", f"# Memory {token}"), ("- tea\n", f"- tea\n- the token is {token}\n- <private>mine</private>\n")
    )
    assert len([note for note in notes if "what looks like a secret" in note]) == 2
    assert any("all private" in note for note in notes)
    state = os.path.join(desk.folder, "state")
    for root in (desk.home.data, state):
        for folder, _, names in os.walk(root):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                assert token.encode() not in content, name
                assert b"mine</private>" not in content, name
    count = desk.events()
    assert desk.refresh() == []
    assert desk.events() == count


def test_editors_leave_other_files_beside_it(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    folder = os.path.dirname(desk.path)
    for name in (".MEMORY.md.swp", "MEMORY.md~", "#MEMORY.md#", "4913", "MEMORY.md.orig", "MEMORY.md.1.tmp"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("- not a memory\n")
    written = desk.text
    desk.pin("milk")
    desk.refresh()
    assert desk.text == written, "somebody has it open and would write the older text over ours"
    desk.edit(("- tea\n", "- tea\n- sugar\n"))
    assert desk.pinned() == ["milk", "sugar", "tea"], "but what they saved is taken over"
    os.unlink(os.path.join(folder, ".MEMORY.md.swp"))
    desk.refresh()
    assert "- tea\n- milk\n- sugar\n" in desk.text
    assert len(os.listdir(folder)) == 6


# -- more than one at it ----------------------------------------------------------------------------------------------


def test_a_kill_between_taking_over_and_noting_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in ("tea", "the port is 5432", "milk"):
        desk.pin(content)
    desk.pin("moved", "task")
    desk.refresh()
    state = desk.home.in_state("memory-file.json")
    with open(state, "rb") as file:
        before = file.read()
    changes = [("# Memory", "# Mine"), ("- tea\n", ""), ("5432", "5433"), ("- milk\n", "- milk\n- new\n- moved\n")]
    changed = desk.text.replace("- moved\n", "")
    for old, new in changes:
        changed = changed.replace(old, new)
    desk.save(changed)
    assert desk.adopt() == [
        "taken over from memory/MEMORY.md: 1 stored and pinned, 1 changed, 1 moved, 1 unpinned, your text"
    ]
    count = desk.events()
    with open(state, "wb") as file:  # as if it had been killed before it wrote this
        file.write(before)
    assert desk.adopt() == []
    assert desk.events() == count
    for what in (desk.refresh, desk.adopt):
        with open(state, "wb") as file:  # and here between writing the file and noting that
            file.write(before)
        assert what() == []
        assert desk.events() == count
    assert desk.pinned() == ["milk", "moved", "new", "the port is 5433"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"form": 0}'])
def test_without_its_state_nothing_is_lost(desk: Desk, damage: bytes) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.edit(("# Memory", "# Mine"), ("- tea\n", "- tea\n- milk\n"))
    count, written = desk.events(), desk.text
    with open(desk.home.in_state("memory-file.json"), "wb") as file:
        file.write(damage)
    assert desk.refresh() == []
    assert (desk.events(), desk.text) == (count, written)
    os.unlink(desk.home.in_state("memory-file.json"))
    desk.edit(("# Mine", "# Other"), ("- tea\n", ""))
    assert desk.pinned() == ["milk", "tea"], "that it was removed is not known"
    assert desk.conflicted(), "what the text was before is not known"


def test_an_old_file_without_its_state_is_only_old(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.edit(("# Memory", "# First"))
    old = desk.text
    desk.edit(("# First", "# Second"))
    os.unlink(desk.home.in_state("memory-file.json"))
    desk.save(old)
    desk.refresh()
    assert not desk.conflicted()
    assert desk.text.startswith("# Second")


def test_commands_at_once(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.save(desk.text.replace("# Memory", "# Mine").replace("- tea\n", "- tea\n- milk\n- sugar\n"))
    notes: list[str] = []
    with desk.here():

        def run() -> None:
            with Workspace(desk.home) as ws:
                notes.extend(memory_file.refresh(ws))

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert notes == ["taken over from memory/MEMORY.md: 2 stored and pinned, your text"]
    assert desk.pinned() == ["milk", "sugar", "tea"]
    assert not desk.conflicted()


def test_saved_again_while_it_is_being_written(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.pin("milk")
    fill, saved = memory_file.fill, []

    def filling(path: str, content: bytes) -> None:
        fill(path, content)
        if "MEMORY.md" in path and not saved:
            saved.append(path)
            desk.save(desk.text.replace("- tea\n", "- tea\n- sugar\n"))

    monkeypatch.setattr(memory_file, "fill", filling)
    assert desk.refresh() == ["taken over from memory/MEMORY.md: 1 stored and pinned"]
    assert saved
    assert "- tea\n- milk\n- sugar\n" in desk.text


def test_what_hinders_writing_is_told(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.pin("milk")
    in_the_way = f"{desk.path}.{os.getpid()}.tmp"
    os.mkdir(in_the_way)
    assert desk.refresh() == ["memory/MEMORY.md was left as it is: Is a directory"]
    desk.save(desk.text.replace("- tea\n", "- tea\n- sugar\n"))
    assert desk.refresh()[0] == "taken over from memory/MEMORY.md: 1 stored and pinned"
    os.rmdir(in_the_way)
    assert desk.refresh() == []
    assert "- tea\n- milk\n- sugar\n" in desk.text


def test_nothing_to_do_is_a_look(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.pin("tea")
    desk.refresh()
    monkeypatch.setattr(memory_file_state, "YOUNG", 0)
    desk.refresh()

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was looked at more closely")

    monkeypatch.setattr(memory_file, "_at_it", never)
    assert desk.refresh() == desk.adopt() == []
    with desk.open() as ws:
        assert memory_file.write(ws) is False
    desk.save(desk.text + "more")
    with pytest.raises(AssertionError, match="more closely"):
        desk.refresh()


def test_a_change_that_looks_like_none_is_seen(desk: Desk) -> None:
    """Same size, and a modification time put back: as long as the file is young its bytes are compared."""
    desk.pin("tea")
    desk.refresh()
    status = os.stat(desk.path)
    desk.save(desk.text.replace("- tea", "- ale"))
    os.utime(desk.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    desk.refresh()
    assert desk.pinned() == ["ale"]


@pytest.mark.parametrize("pinned", [False, True])
def test_the_quick_way_loads_next_to_nothing(desk: Desk, pinned: bool) -> None:
    """Neither where nothing changed, nor after a command that stored what is not pinned."""
    if pinned:
        desk.pin("tea")
    desk.refresh()
    desk.write(("memory.stored", "", {"content": "x", "type": "fact"}))
    probe = (
        "import sys; from mait_code.commands.workspace import Workspace; from mait_code.journal.home import Home\n"
        f"ws = Workspace(Home({desk.home.data!r})); ws.reading('memory'); before = set(sys.modules)\n"
        "from mait_code.commands import memory_file\nassert memory_file.adopt(ws) == memory_file.refresh(ws) == []\n"
        "print(sorted(set(sys.modules) - before))"
    )
    with desk.here():
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    ours = ("commands.memory_file", "commands.memory_file_state", "journal.lock", "projections.memory_pins")
    assert set(eval(done.stdout)) <= {"fcntl", *(f"mait_code.{name}" for name in ours)}


def test_around_a_command(desk: Desk) -> None:
    desk.pin("tea")
    desk.refresh()
    desk.save(desk.text.replace("- tea\n", "- tea\n- milk\n"))
    told: list[str] = []
    with desk.open() as ws, memory_file.in_step(ws, told.append):
        found = ws.reading("memory").query("SELECT id, content FROM memory_entries ORDER BY content")
        assert [content for _, content in found] == ["milk", "tea"]
        with ws.journal.writing(ws.store("memory")) as writer:
            writer.append("memory.unpinned", f"memory/{found[1][0]}")
        ws.refreshed("memory")
    assert told == ["taken over from memory/MEMORY.md: 1 stored and pinned"]
    assert "- tea" not in desk.text
    assert "- milk" in desk.text
    desk.save(desk.text + "mine\n")
    with pytest.raises(KeyError), desk.open() as ws, memory_file.in_step(ws, told.append):
        raise KeyError("what the command does wrong stays its own")
    assert told[1:] == ["taken over from memory/MEMORY.md: your text"]


# -- two machines -----------------------------------------------------------------------------------------------------


def test_both_edit_the_text(desk: Desk, lap: Desk) -> None:
    desk.pin("tea")
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
    assert desk.text == lap.text
    desk.edit(("# Memory", "# Desk"))
    lap.edit(("# Memory", "# Lap"))
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
        assert machine.conflicted()
        assert machine.text.startswith("# Lap"), "the later one, on both"
    with desk.open() as ws:
        (conflict,) = conflicts.listed(ws)
        assert conflict.title == "memory/MEMORY.md"
        assert [str(side.value).split("\n")[0] for side in conflict.sides] == ["# Desk", "# Lap"]
        conflicts.pick(ws, conflict, 1)
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
        assert not machine.conflicted()
        assert machine.text.startswith("# Desk")
    assert desk.text == lap.text


def test_an_edit_made_before_the_others_arrived(desk: Desk, lap: Desk) -> None:
    """The other machine's edit is folded already when ours is taken over, but whoever made ours had not seen it."""
    desk.pin("tea")
    exchange(desk, lap)
    desk.refresh()
    lap.refresh()
    desk.edit(("# Memory", "# Desk"), ("- tea\n", "- tea\n- milk\n"))
    lap.save(lap.text.replace("# Memory", "# Lap").replace("- tea\n", "- tea\n- sugar\n"))
    exchange(desk, lap)
    lap.digest()
    lap.refresh()
    exchange(desk, lap)
    desk.refresh()
    assert desk.text == lap.text
    assert desk.text.startswith("# Lap")
    assert "- tea\n- milk\n- sugar\n" in desk.text
    assert desk.conflicted()
    assert lap.conflicted()


def test_the_same_edit_is_no_conflict(desk: Desk, lap: Desk) -> None:
    desk.pin("tea")
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
        machine.edit(("# Memory", "# Same"), ("- tea\n", "- tea\n- milk\n"))
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
        assert not machine.conflicted()
    assert desk.text == lap.text
    assert desk.text.count("- milk\n") == 1, "stored twice, shown once"
    desk.edit(("- milk\n", ""))
    assert desk.pinned() == ["tea"], "and both are unpinned"


def test_both_change_a_bullet(desk: Desk, lap: Desk) -> None:
    desk.pin("the port is 5432")
    exchange(desk, lap)
    for machine, port in ((desk, "5433"), (lap, "5434")):
        machine.refresh()
        machine.edit(("5432", port))
    exchange(desk, lap)
    for machine in (desk, lap):
        machine.refresh()
        assert machine.pinned() == ["the port is 5433", "the port is 5434"]
    assert desk.text == lap.text


def test_changed_there_removed_here(desk: Desk, lap: Desk) -> None:
    """What somebody changed meanwhile is not unpinned by who removed what it said before."""
    entity = desk.pin("the port is 5432")
    exchange(desk, lap)
    desk.refresh()
    lap.refresh()
    lap.write(("memory.edited", entity, {"content": "the port is 5433"}))
    desk.save(desk.text.replace("- the port is 5432\n", ""))
    exchange(desk, lap)
    assert desk.refresh() == []
    assert "- the port is 5433\n" in desk.text


# -- random histories -------------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"^\ufeff?<!-- mait-code:(\w+) -->\r?\n(.*?)^<!-- /mait-code -->\r?\n?", re.DOTALL | re.MULTILINE)
_HEADINGS = {f"## {title}" for _, title in SECTIONS.values()}
_WORDS = ("tea", "port", "release", "branch", "naming", "日本", "error", "green", "Tuesday", "<!-- /mait-code -->")


def own_lines(text: str) -> list[str]:
    """The user's lines, found without our parser: what stands in no block, but headings of ours and empty lines."""
    rest = _BLOCK.sub("", text).split("\n")
    return [bare for bare in (line.rstrip("\r") for line in rest) if bare.strip("\ufeff ") and bare not in _HEADINGS]


class Model:
    """The register of the text, as the rules have it: writes, each with what it saw."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, frozenset[int]]] = []

    def heads(self, known: set[int]) -> list[int]:
        seen = {one for number in known for one in self.writes[number][1]}
        return sorted(known - seen)


class Player(Desk):
    """A machine, what it knows of the text, and the writes its file was made from."""

    def __init__(self, folder: str, name: str, model: Model) -> None:
        super().__init__(folder, name)
        self.model = model
        self.known: set[int] = set()
        self.base: list[int] = []
        self.free = DEFAULT
        self.is_there = False

    def heads(self) -> list[int]:
        return self.model.heads(self.known)

    def look(self) -> None:
        """Run a command, and see that what it does with the text is what the model says."""
        typed: list[Bullet] = []
        if os.path.exists(self.path):
            parsed = parse(self.text)
            typed = parsed.bullets
            assert own_lines(self.text) == own_lines(parsed.template)
            if parsed.template != self.free and all(
                self.model.writes[one][0] != parsed.template for one in self.heads()
            ):
                self.model.writes.append((parsed.template, frozenset(self.base)))
                self.known.add(len(self.model.writes) - 1)
        notes = self.refresh()
        assert all(note.startswith("taken over") for note in notes), notes
        self.is_there = os.path.exists(self.path)
        heads = self.heads()
        assert self.conflicted() == (len({self.model.writes[one][0] for one in heads}) > 1)
        if self.is_there:
            self.base = heads
            self.free = self.model.writes[heads[-1]][0] if heads else DEFAULT
            assert parse(self.text).template == self.free
            assert own_lines(self.text) == own_lines(self.free)
        assert {one.text for one in typed} <= self.told()

    def told(self) -> set[str]:
        """Every text that a memory has or had."""
        with self.open() as ws:
            lines = ws.reading("memory").query("SELECT line FROM events")
        return {canonical(orjson.loads(line)["data"].get("content") or "") for (line,) in lines}

    def meet(self, other: Player) -> None:
        exchange(self, other)
        self.known |= other.known
        other.known |= self.known


def _spans(lines: list[str]) -> list[tuple[int, int, bool]]:
    """(start, end, whether it is free) of every run of lines."""
    found, start, inside = [], 0, False
    for number, line in enumerate(lines):
        if re.match(r"\ufeff?<!-- mait-code:\w+ -->", line) and not inside:
            found.append((start, number, True))
            start, inside = number + 1, True
        elif line.startswith("<!-- /mait-code -->") and inside:
            found.append((start, number, False))
            start, inside = number + 1, False
    return [*found, (start, len(lines), True)]


def by_hand(text: str, what: str, number: int, new: str) -> str:
    """A file as somebody leaves it who did `what` to it."""
    if what == "ends":
        plain = text.replace("\r\n", "\n")
        return plain.replace("\n", "\r\n") if plain == text else plain
    if what == "last":
        return text.rstrip("\n")
    lines = text.split("\n")
    spans = _spans(lines)
    free = [one for one in spans if one[2]]
    blocks = [one for one in spans if not one[2]]
    bullets = [n for start, end, _ in blocks for n in range(start, end) if lines[n].startswith("- ")]
    if what == "note":
        start, end, _ = free[number % len(free)]
        at = start + number % (end - start + 1)
        return "\n".join([*lines[:at], f"note {new}", *lines[at:]])
    if what == "unnote":
        notes = [n for start, end, _ in free for n in range(start, end) if lines[n].startswith("note")]
        return "\n".join(line for n, line in enumerate(lines) if not notes or n != notes[number % len(notes)])
    if what == "add":
        if not blocks:
            return (
                text
                + ("" if text.endswith("\n") else "\n")
                + f"<!-- mait-code:decisions -->\n- {new}\n<!-- /mait-code -->"
            )
        at = blocks[number % len(blocks)][0]
        return "\n".join([*lines[:at], f"- {new}", f"  - {new} beneath", *lines[at:]])
    if not bullets:
        return text
    at = bullets[number % len(bullets)]
    end = at + 1
    while lines[end].startswith("  "):
        end += 1
    chunk, rest = lines[at:end], [*lines[:at], *lines[end:]]
    if what == "remove":
        return "\n".join(rest)
    if what == "change":
        eol = "\r" if chunk[0].endswith("\r") else ""
        return "\n".join([*lines[:at], f"{chunk[0].rstrip(chr(13))} {new}{eol}", *chunk[1:], *lines[end:]])
    target = [span for span in _spans(rest) if not span[2]]
    start = target[number // 7 % len(target)][0]
    moved = rest if what == "move" else lines
    return "\n".join([*moved[:start], *chunk, *moved[start:]])


HAND = ("ends", "last", "note", "unnote", "add", "remove", "change", "move", "copy")
STORE = ("pin", "unpin", "retire", "merge", "supersede", "edit")
steps = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from((*HAND * 2, *STORE, "look", "look", "meet")),
        st.integers(0, 60),
        st.integers(0, 9),
    ),
    min_size=4,
    max_size=14,
)


def by_command(machine: Player, what: str, number: int, new: str) -> None:
    """What a command does to memories, written as it writes it."""
    types = ("fact", "preference", "decision", "task")
    live = machine.rows("id", "live")
    if what == "pin" or not live:
        place = ({"scope": "global"}, {"scope": "project", "project": "o/r"})[number % 2]
        machine.pin(new, types[number % 4], **place)
        return
    entity = f"memory/{live[number % len(live)]}"
    if what == "unpin":
        machine.write(("memory.unpinned", entity, {}))
    elif what == "retire":
        machine.write(("memory.retired", entity, {}))
    elif what == "edit":
        machine.write(("memory.edited", entity, {"content": new}))
    else:
        other = f"memory/{live[number // 2 % len(live)]}"
        gone = dict.fromkeys((entity, other) if what == "merge" else (entity,))
        stored = ("memory.stored", "", {"content": new, "type": types[number % 4], "scope": "global"})
        machine.write(stored, ("memory.pinned", "0", {}), *(("memory.superseded", one, {"by": "0"}) for one in gone))


@given(steps)
@settings(
    max_examples=110, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_two_machines_edit_at_random(history: list[tuple[int, str, int, int]]) -> None:
    folder = scratch()
    try:
        model = Model()
        machines = [Player(folder, name, model) for name in ("one", "two")]
        machines[0].pin("what both know from the beginning")
        machines[0].meet(machines[1])
        for machine in machines:
            machine.look()
        for number, (which, what, place, word) in enumerate(history):
            machine, new = machines[which], f"{_WORDS[word]} {_WORDS[(word + number) % 10]} {number}"
            if what == "meet":
                machine.meet(machines[1 - which])
            elif what == "look":
                machine.look()
            elif what in STORE:
                by_command(machine, what, place, new)
            elif machine.is_there:
                machine.save(by_hand(machine.text, what, place, new))
        for _ in range(2):
            for machine in machines:
                machine.look()
            machines[0].meet(machines[1])
        for machine in machines:
            machine.look()
        one, two = machines
        counts = [machine.events() for machine in machines]
        assert one.digest() == two.digest()
        assert [os.path.exists(machine.path) for machine in machines] in ([True, True], [False, False])
        if one.is_there:
            assert one.text == two.text
            shown = {bullet.text for bullet in parse(one.text).bullets}
            assert {canonical(content) for content in one.pinned()} == shown
        for machine in machines:
            machine.look()
        assert [machine.events() for machine in machines] == counts
    finally:
        shutil.rmtree(folder)


def test_histories_find_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were an edit of the text said to have seen what it had not, the model would notice."""
    text = memory_adoption._Hand.text

    def sees_all(hand: Any, last: Any, template: str) -> list[str]:
        last.heads = hand.store.heads(DOCUMENT).get("text", [])
        return text(hand, last, template)

    monkeypatch.setattr(memory_adoption._Hand, "text", sees_all)
    play: Callable[..., None] = test_two_machines_edit_at_random.hypothesis.inner_test  # type: ignore[attr-defined]
    history = [(0, "note", 1, 1), (0, "look", 0, 0), (1, "note", 1, 2), (0, "meet", 0, 0)]
    with pytest.raises(AssertionError):
        play(history)


# -- over git ---------------------------------------------------------------------------------------------------------


@pytest.mark.git
def test_sync_takes_over_and_writes(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    far = str(bare(tmp_path / "far.git"))
    desk, lap = (Machine(tmp_path, name, cli, monkeypatch) for name in ("desk", "lap"))
    for machine in (desk, lap):
        machine.ok("init", "--remote", far, "--label", machine.name)
    path = {machine.name: machine.folder / "data" / "memory" / "MEMORY.md" for machine in (desk, lap)}
    path["desk"].parent.mkdir()
    path["desk"].write_bytes(b"# Ours\r\n\r\n<!-- mait-code:facts -->\r\n- tea\r\n")
    done = desk.ok("sync")
    assert "taken over from memory/MEMORY.md: 1 stored and pinned, your text" in done.err
    lap.ok("sync")
    assert (
        path["lap"].read_bytes()
        == path["desk"].read_bytes()
        == b"# Ours\r\n\r\n<!-- mait-code:facts -->\r\n- tea\r\n<!-- /mait-code -->\r\n"
    )
    for machine in (desk, lap):
        edited = path[machine.name].read_bytes().replace(b"# Ours", b"# " + machine.name.encode())
        path[machine.name].write_bytes(
            edited.replace(b"- tea\r\n", b"- tea\r\n- from the " + machine.name.encode() + b"\r\n")
        )
        machine.ok("sync")
    done = desk.ok("sync")
    assert "memory/MEMORY.md: text: " in done.out
    assert path["lap"].read_bytes() == path["desk"].read_bytes()
    assert path["lap"].read_bytes().startswith(b"# lap\r\n")
    assert b"- from the desk\r\n- from the lap\r\n" in path["lap"].read_bytes()
    (conflict,) = desk.json("conflicts")
    assert [side["value"].split("\r\n")[0] for side in conflict["sides"]] == ["# desk", "# lap"]
    shown = desk.ok("conflicts", "show", f"document/{conflict['id']}").out
    assert "# desk" in shown
    assert "# lap" in shown
    desk.ok("conflicts", "pick", f"document/{conflict['id']}", "text", "1")
    for machine in (desk, lap):
        machine.ok("sync")
    assert path["lap"].read_bytes() == path["desk"].read_bytes()
    assert path["lap"].read_bytes().startswith(b"# desk\r\n")
    assert desk.json("conflicts") == lap.json("conflicts") == []
    assert desk("verify").code == 0
