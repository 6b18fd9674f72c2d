"""dashboard.toml: what is read of it, editing that keeps what people wrote, what may run, and what came of it."""

from __future__ import annotations

import os
import time
import tomllib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mait_code.commands import board, board_moves, dashboard_approval, dashboard_edit, dashboard_run, dashboard_tiles
from mait_code.commands import home as homes
from mait_code.commands.dashboard import (
    DEFAULT_WIDGETS,
    MOST_TILES,
    WIDGETS,
    Tile,
    of_text,
    path,
    placed,
    read,
    tile_of,
)
from mait_code.commands.dashboard_edit import Draft
from mait_code.commands.doctor import Check
from mait_code.commands.forms import ChangedMeanwhile
from mait_code.commands.workspace import Workspace
from mait_code.journal.errors import BadInput, DiskRefused, Refused
from mait_code.journal.home import Home

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT = [Tile(widget) for widget in DEFAULT_WIDGETS]


@pytest.fixture
def data(home: Path) -> Home:
    (home / "data").mkdir()
    return Home(str(home / "data"))


def write(data: Home, text: str | bytes) -> None:
    with open(path(data), "wb") as file:
        file.write(text.encode() if isinstance(text, str) else text)


# -- reading


def test_a_page() -> None:
    page = of_text(
        'columns = 3\n[[tile]]\nwidget = " Board "\n[[tile]]\ncommand = "date\\nls"\nspan = 2\n'
        '[[tile]]\ncommand = "ls"\ntitle = " Files "\n'
    )
    assert (page.columns, page.warnings) == (3, [])
    assert page.tiles == [Tile("board"), Tile(command="date\nls", span=2), Tile(command="ls", title="Files")]
    assert [tile.heading for tile in page.tiles] == ["Board", "date", "Files"]
    assert page.commands == ["date\nls", "ls"]
    assert len(set(page.tiles)) == 3


def test_without_a_file_or_tiles_there_are_the_default_ones(data: Home) -> None:
    page = read(data)
    assert (page.columns, page.tiles, page.warnings) == (2, DEFAULT, [])
    write(data, "\ufeffcolumns = 4\n")
    assert (read(data).columns, read(data).tiles) == (4, DEFAULT)
    write(data, "tile = []\n")
    assert read(data).tiles == [], "that is asked for"


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("columns = ", "not TOML"),
        ("a = 1\na = 2\n", "not TOML"),
        ("x = " + "[" * 5000, "not TOML"),
        ("tile = 3\n", "written as [[tile]]"),
        ("tile = [1]\n", "written as [[tile]]"),
        ("[tile]\nwidget='board'\n", "written as [[tile]]"),
        ("[[tile]]\nwidget='nope'\n", "no widget 'nope'"),
        ("[[tile]]\n", "neither"),
        ("[[tile]]\nwidget='board'\ncommand='ls'\n", "both"),
        ("[[tile]]\nwidget=3\n", "no text"),
        ("[[tile]]\ncommand=' '\n", "no text"),
        ("[[tile]]\ncommand='a'\ntitle=1\n", "title is no text"),
        ("[[tile]]\ncommand='a'\nspan=0\n", "at least 1"),
        ("[[tile]]\ncommand='a'\nspan=true\n", "at least 1"),
        ("[[tile]]\ncommand='a'\nspan='2'\n", "at least 1"),
        ('[[tile]]\ncommand="a\\u0000b"\n', "at most"),
        (f"[[tile]]\ncommand='{'a' * 5000}'\n", "at most"),
    ],
)
def test_what_cannot_be_used_is_told_and_the_default_page_stands_in(text: str, warning: str) -> None:
    page = of_text(text)
    assert page.tiles == DEFAULT
    assert warning in " ".join(page.warnings)


@pytest.mark.parametrize(
    ("columns", "shown"), [("0", 1), ("-3", 1), ("9", 4), ("'2'", 2), ("true", 2), ("2.5", 2), (str(10**30), 4)]
)
def test_columns_are_one_to_four(columns: str, shown: int) -> None:
    page = of_text(f"columns = {columns}\n")
    assert page.columns == shown
    assert "from 1 to 4" in page.warnings[0]


def test_the_rest_of_a_file_is_shown() -> None:
    page = of_text("colums = 3\n[[tile]]\nwidget='inbox'\nspam=1\nspan=7\n[[tile]]\n")
    assert page.tiles == [Tile("inbox", span=2)]
    assert len(page.warnings) == 4
    many = of_text("[[tile]]\nwidget='inbox'\n" * (MOST_TILES + 3))
    assert len(many.tiles) == MOST_TILES
    assert "only the first" in many.warnings[0]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * (1 << 19)])
def test_a_file_that_is_no_text(data: Home, content: bytes) -> None:
    write(data, content)
    assert (read(data).tiles, len(read(data).warnings)) == (DEFAULT, 1)
    with pytest.raises(Refused):
        dashboard_edit.load(data)


def test_a_file_that_is_none(data: Home) -> None:
    os.mkfifo(path(data))
    began = time.monotonic()
    assert "no file" in read(data).warnings[0]
    assert time.monotonic() - began < 1, "a pipe keeps nobody"
    os.unlink(path(data))
    os.mkdir(path(data))
    assert read(data).tiles == DEFAULT
    with pytest.raises((DiskRefused, Refused)):
        dashboard_edit.load(data)
    os.rmdir(path(data))
    os.symlink(path(data), path(data))
    assert len(read(data).warnings) == 1


@given(text=st.text(max_size=200) | st.binary(max_size=100).map(lambda raw: raw.decode("latin-1")))
@settings(max_examples=60, deadline=None)
def test_no_text_stops_it(text: str) -> None:
    page = of_text(text)
    assert 1 <= page.columns <= 4


@given(spans=st.lists(st.integers(1, 6), max_size=12), columns=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_rows_are_full_and_in_order(spans: list[int], columns: int) -> None:
    rows = placed([Tile("board", span=span) for span in spans], columns)
    assert [number for row in rows for number, _ in row] == list(range(len(spans)))
    assert all(sum(span for _, span in row) == columns for row in rows)


# -- editing

MINE = """\
# My page.

columns = 3   # as wide as the screen

# What is due
[[tile]]
widget = 'reminders' # first

[[ tile ]]  # second
command = '''
date
[[tile]]
'''
title = "When"
color = "red"
  # about the inbox
  [[tile]]
  span = 2
  widget = "inbox"

# The end.
[other]
x = 1 # kept
"""
COMMENTS = ("# My page.", "# as wide as the screen", "# The end.", "x = 1 # kept", "[other]")


def told(draft: Draft) -> list[str]:
    return [entry.heading for entry in draft.entries]


def test_moving_takes_its_comment_along() -> None:
    draft = Draft(MINE.replace("[[tile]]\n'''", "'''"))
    assert not draft.dirty
    assert told(draft) == ["Reminders", "When", "Inbox"]
    assert draft.move(0, 2) == 2
    assert told(draft) == ["When", "Inbox", "Reminders"]
    assert "# What is due\n[[tile]]\nwidget = 'reminders' # first\n" in draft.text
    assert draft.move(0, -1) == 0
    assert draft.move(2, 5) == 2
    draft.move(2, -2)
    assert draft.text == MINE.replace("[[tile]]\n'''", "'''"), "back where it was, byte for byte"


def test_a_header_inside_a_text_is_left_to_the_editor() -> None:
    with pytest.raises(Refused, match="not written as"):
        Draft(MINE)
    for text in ("tile = [{widget='board'}]\n", "tile = 3\n", "x =", "[tile]\nwidget='board'\n"):
        with pytest.raises(Refused):
            Draft(text)


def test_changing_keeps_comments_and_what_means_nothing_to_us() -> None:
    draft = Draft(MINE.replace("[[tile]]\n'''", "'''"))
    draft.change(1, Tile(command="date -u", title="Now", span=3))
    assert 'color = "red"' in draft.text
    assert "[[ tile ]]  # second" in draft.text
    draft.change(0, Tile(widget="health"))
    assert "widget = 'health' # first" in draft.text or 'widget = "health" # first' in draft.text
    assert [entry.tile for entry in draft.entries][:2] == [
        Tile(widget="health"), Tile(command="date -u", title="Now", span=3),
    ]  # fmt: skip
    draft.change(1, Tile(widget="board"))
    assert draft.entries[1].tile == Tile(widget="board"), "a command may become a built-in one"
    draft.set_columns(1)
    assert "columns = 1   # as wide as the screen" in draft.text
    draft.remove(0)
    assert "# What is due" not in draft.text
    for words in COMMENTS:
        assert words in draft.text
    for _ in range(5):
        assert draft.undo()
    assert not draft.undo()
    assert not draft.dirty


def test_all_tiles_can_go_and_others_come() -> None:
    draft = Draft("# top\n[[tile]]\nwidget = 'board'\n[other]\nx = 1\n")
    draft.remove(0)
    assert of_text(draft.text).tiles == []
    assert draft.entries == []
    assert draft.add(Tile("inbox"), 9) == 0
    assert of_text(draft.text).tiles == [Tile("inbox")]
    assert "tile = []" not in draft.text
    assert "# top" in draft.text
    assert "x = 1" in draft.text


def test_the_default_tiles_are_written_out_by_a_change() -> None:
    for text in (None, "columns = 3", "# mine", "[other]\nx = 1\n", ""):
        draft = Draft(text)
        assert told(draft) == ["Reminders", "Board", "Inbox", "Memory"]
        assert not draft.dirty
        draft.remove(1)
        assert told(draft) == ["Reminders", "Inbox", "Memory"]
        draft.undo()
        assert not draft.dirty
        draft.set_columns(4)
        assert (draft.columns, draft.dirty, told(draft)) == (4, True, ["Reminders", "Board", "Inbox", "Memory"])


def test_limits_of_a_draft() -> None:
    draft = Draft("[[tile]]\nwidget='inbox'\n" * MOST_TILES)
    with pytest.raises(Refused, match="at most"):
        draft.add(Tile("board"))
    for columns in (0, 5):
        with pytest.raises(BadInput):
            draft.set_columns(columns)
    assert not draft.dirty
    odd = Draft("[[tile]]\nwidget = 'nope'\ntitle = 'Mine'\n[[tile]]\nspan = 2\n")
    assert [(entry.tile, entry.heading) for entry in odd.entries] == [(None, "Mine"), (None, "tile")]
    assert "no widget" in odd.entries[0].fault


_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
_TILES = st.builds(Tile, widget=st.sampled_from(list(WIDGETS)), title=_WORDS.map(str.strip), span=st.integers(1, 4)) | (
    st.builds(Tile, command=_WORDS.filter(str.strip), title=_WORDS.map(str.strip), span=st.integers(1, 4))
)
_STEPS = st.lists(st.tuples(st.sampled_from(["add", "remove", "move", "change", "columns"]), st.integers(0, 5), _TILES))


@given(
    steps=_STEPS,
    ends=st.sampled_from(["\n", "\r\n"]),
    comments=st.lists(st.text("ab #=[]'\"é", max_size=8), min_size=3, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_done_comments_stay_with_their_tiles(
    steps: list[tuple[str, int, Tile]], ends: str, comments: list[str]
) -> None:
    rows = ["# TOP", "columns = 2 # WIDE", ""]
    for number, comment in enumerate(comments):
        rows += [
            f"# ABOVE{number} {comment}",
            "[[tile]]",
            f"widget = 'board' # BESIDE{number} {comment}",
            f"n = {number}",
        ]
    draft = Draft(ends.join([*rows, "# END", "[mine]", "x = 1", ""]))
    wanted = [(Tile("board"), number) for number in range(3)]
    wide = 2
    for what, place, tile in steps:
        here = place % (len(wanted) or 1)
        if what == "add":
            draft.add(tile, place)
            wanted.insert(min(place, len(wanted)), (tile, -1))
        elif what == "columns":
            wide = place % 4 + 1
            draft.set_columns(wide)
        elif not wanted:
            continue
        elif what == "remove":
            draft.remove(here)
            del wanted[here]
        elif what == "move":
            draft.move(here, place - 2)
            wanted.insert(max(0, min(here + place - 2, len(wanted) - 1)), wanted.pop(here))
        else:
            draft.change(here, tile)
            wanted[here] = tile, wanted[here][1]
    document = tomllib.loads(draft.text)
    assert document["mine"] == {"x": 1}
    assert document.get("columns") == wide
    assert [(tile_of(one), one.get("n", -1)) for one in document["tile"]] == wanted
    assert "# TOP" in draft.text
    assert "# WIDE" in draft.text
    assert "# END" in draft.text
    places = [draft.text.index(f"# ABOVE{number}") for _, number in wanted if number >= 0]
    assert places == sorted(places), "a comment goes where its tile goes"
    assert [number for number in range(3) if f"# ABOVE{number}" in draft.text] == sorted(n for _, n in wanted if n >= 0)
    while draft.undo():
        pass
    assert not draft.dirty


# -- saving


def test_saving(data: Home) -> None:
    draft = dashboard_edit.load(data)
    assert draft.began is None
    draft.add(Tile(command="date"))
    dashboard_edit.save(data, draft.text, draft.began)
    assert os.stat(path(data)).st_mode & 0o777 == 0o600
    again = dashboard_edit.load(data)
    assert (again.text, again.began) == (draft.text, draft.text)
    os.chmod(path(data), 0o640)
    write(data, "columns = 1\n")
    with pytest.raises(ChangedMeanwhile) as caught:
        dashboard_edit.save(data, again.text, again.began)
    assert caught.value.now == {"text": "columns = 1\n"}
    dashboard_edit.save(data, again.text, again.began, over=True)
    assert os.stat(path(data)).st_mode & 0o777 == 0o640
    assert read(data).tiles[-1] == Tile(command="date")


def test_a_link_stays_one(data: Home, home: Path) -> None:
    (home / "dots").mkdir()
    os.symlink(home / "dots/page.toml", path(data))
    dashboard_edit.save(data, "columns = 1\n", None)
    assert os.path.islink(path(data))
    assert (home / "dots/page.toml").read_text() == "columns = 1\n"


# -- what may run here


def test_approval_is_of_this_text_and_this_machine(data: Home, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    print_of = dashboard_approval.fingerprint
    assert dashboard_approval.approved(data) == set()
    dashboard_approval.approve(data, ["date", "ls"])
    dashboard_approval.approve(data, ["ls"])
    dashboard_approval.approve(data, ["uptime\ud800"])
    found = dashboard_approval.approved(data)
    assert found == {print_of("date"), print_of("ls"), print_of("uptime\ud800")}
    assert print_of("date ") not in found
    assert not any("dashboard" in name for name in os.listdir(data.data)), "nothing of it travels"
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "other"))
    assert dashboard_approval.approved(Home(data.data)) == set()


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b'{"form":2,"approved":["x"]}', b'{"form":1,"approved":3}', b"\xff", b"x" * (1 << 21)],
)
def test_a_damaged_approval_allows_nothing(data: Home, content: bytes) -> None:
    dashboard_approval.approve(data, ["date"])
    name = data.in_state("dashboard-commands.json")
    with open(name, "wb") as file:
        file.write(content)
    assert dashboard_approval.approved(data) == set()
    dashboard_approval.approve(data, ["ls"])
    assert dashboard_approval.approved(data) == {dashboard_approval.fingerprint("ls")}


def test_what_others_could_have_written_allows_nothing(data: Home) -> None:
    dashboard_approval.approve(data, ["date"])
    os.chmod(data.in_state("dashboard-commands.json"), 0o666)
    assert dashboard_approval.approved(data) == set()


# -- running


def test_output_is_cut_and_made_visible() -> None:
    out = dashboard_run.run("seq 30; echo oops >&2", 5)
    assert out.lines == [str(number) for number in range(1, 21)]
    assert (out.more, out.fault) == (11, "")
    assert dashboard_run.run("printf '\\033[31mred\\033[0m \\033]0;title\\007x\\a\\tb\\n\\n'", 5).lines == [
        "red x\\x07  b"
    ]
    assert dashboard_run.run("printf '10%%\\r50%%\\r100%%\\r\\n'", 5).lines == ["100%"]
    assert dashboard_run.run("printf '\\377\\376ok \\342\\200\\256x'", 5).lines[0].startswith("��ok ")
    assert "\u202e" not in dashboard_run.run("printf '\\342\\200\\256x'", 5).lines[0]
    assert len(dashboard_run.run("head -c 9000 /dev/zero | tr '\\0' a", 5).lines[0]) == 500
    assert dashboard_run.run("true", 5).lines == []


def test_it_knows_its_width_and_has_no_input() -> None:
    assert dashboard_run.run("echo $COLUMNS $NO_COLOR; cat; test -t 1 || echo pipe", 5, 33).lines == ["33 1", "pipe"]


def test_failures_are_told() -> None:
    failed = dashboard_run.run("echo so far; exit 3", 5)
    assert (failed.lines, failed.fault) == (["so far"], "it failed with exit code 3")
    assert "127" in dashboard_run.run("no-such-command-here", 5).fault
    assert dashboard_run.run("kill -TERM $$", 5).fault == "it was ended by SIGTERM"
    assert dashboard_run.run("a\0b", 5).fault.startswith("it cannot be started")


def test_what_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    began = time.monotonic()
    out = dashboard_run.run(f"echo first; (sleep 30; touch {tmp_path}/left) & sleep 30", 0.3)
    assert (out.lines, out.fault) == (["first"], "it took longer than 0.3 s")
    assert dashboard_run.run("exec >&- 2>&-; sleep 30", 0.3).fault == "it took longer than 0.3 s"
    assert time.monotonic() - began < 3
    assert dashboard_run.run("sleep 30", 20, stop=lambda: time.monotonic() - began > 1).fault == "it was stopped"


def test_what_does_not_end_is_stopped() -> None:
    out = dashboard_run.run("yes", 20)
    assert (out.fault, out.lines[:2], len(out.lines)) == ("it does not end", ["y", "y"], 20)
    assert out.more > 100_000


def test_what_is_left_in_the_background_holds_nothing_up() -> None:
    began = time.monotonic()
    assert dashboard_run.run("sleep 20 & echo here", 10).lines == ["here"]
    assert time.monotonic() - began < 3


# -- what the built-in tiles say


def said(ws: Workspace, widget: str, now: datetime) -> str:
    summary = homes.summary(ws, now)
    return "\n".join("".join(text for _, text in line) for line in dashboard_tiles.lines(ws, widget, summary, now))


def test_tiles_of_nothing_say_what_to_do_next(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    with Workspace.open() as ws:
        for widget in WIDGETS:
            if widget != "health":
                assert "mait-code" in said(ws, widget, datetime.now(UTC))


def test_velocity_counts_by_day(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    now = datetime.now(UTC)
    with Workspace.open() as ws:
        for number in range(3):
            board_moves.move(ws, board.add(ws, f"card {number}", project="").entity, "done")
        assert said(ws, "velocity", now).startswith("3 cards done in 7 days  0 in the 7 before")
        assert "█  14 days" in said(ws, "velocity", now)
        later = said(ws, "velocity", now + timedelta(days=8))
        assert later.startswith("0 cards done in 7 days  3 in the 7 before")
        assert "No card was done" in said(ws, "velocity", now + timedelta(days=60))


def test_health_tells_the_worst_first() -> None:
    many = [Check("a", "warn", "odd"), Check("b", "fail", "broken"), *[Check("c", "warn", "odd") for _ in range(9)]]
    rows = ["".join(text for _, text in line) for line in dashboard_tiles.health(many)]
    assert rows[0] == "✗ b  broken"
    assert rows[-1] == "and 6 more: mait-code doctor"
    assert "in order" in dashboard_tiles.health([Check("a", "ok", "")])[0][0][1]
