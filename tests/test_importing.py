"""Imports: everything the other tools hold, once, with its own dates, from whatever state their files are in."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import apsw
import peer_databases as peers
import pytest
from peer_databases import at, card, memory
from two_machines import Machine, exchange

from mait_code.commands import claude_files
from mait_code.commands.importing import claude_native
from mait_code.commands.importing.rows import Source
from mait_code.commands.importing.values import listed, moment
from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Cli = Callable[..., Any]


def rows(query: str, store: str = "memory") -> list[tuple[Any, ...]]:
    """What a store holds now."""
    with Workspace.open() as ws:
        return ws.reading(store).query(query)


def shown(time_: str) -> str:
    """A time of the peer as our stores have it."""
    return time_.replace("+00:00", "Z")


def events(home: Path) -> list[dict[str, Any]]:
    lines = b"".join(path.read_bytes() for path in sorted((home / "data/journal").glob("*/*.jsonl"))).splitlines()
    return [json.loads(line) for line in lines]


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def brought(cli: Cli, *arguments: str, code: int = 0) -> Any:
    """Import, and what it says as JSON."""
    done = cli("import", *arguments, "--json")
    assert done.code == code, done.err
    return done.json


def new(said: Any) -> dict[str, int]:
    return {what: count["new"] for what, count in said["counts"].items()}


@pytest.fixture
def peer(tmp_path: Path) -> Path:
    return peers.mait_code(tmp_path / "peer")


@pytest.fixture
def mem(tmp_path: Path) -> Path:
    return peers.claude_mem(tmp_path / "claude-mem/claude-mem.db")


# -- mait-code --------------------------------------------------------------------------------------------------------


def test_memories_keep_dates_and_state(cli: Cli, peer: Path) -> None:
    said = brought(cli, "mait-code", str(peer))
    assert new(said) == {
        "project aliases": 1, "memories": 6, "entities": 3, "relations": 2, "reflections": 2, "cards": 4,
        "inbox items": 1, "reminders": 3, "observations": 1,
    }  # fmt: skip
    found = rows(
        "SELECT m.content, m.entry_type, m.importance, m.scope, m.project, m.branch, m.created_at, m.reviewed_at,"
        " s.content, m.superseded_at, m.retired_at, m.live FROM memory_entries m"
        " LEFT JOIN memory_entries s ON s.id = m.superseded_by ORDER BY m.created_at"
    )
    port = "The build runs on port "
    assert found == [
        (port + "5432", "fact", 7, "global", None, None, shown(at(1)), shown(at(40)), None, None, None, 1),
        (port + "5433", "fact", 5, "global", None, None, shown(at(2)), None, port + "5434", shown(at(30)), None, 0),
        (port + "5434", "decision", 5, "project", "rocket", None, shown(at(3)), None, None, None, None, 1),
        ("Old and retired", "fact", 5, "global", None, None, shown(at(4)), None, None, None, shown(at(31)), 0),
        ("On a branch", "procedure", 5, "branch", "rocket", "fix/x", shown(at(5)), None, None, None, None, 1),
        (port + "5432", "fact", 5, "global", None, None, shown(at(6)), None, None, None, None, 1),
    ]
    assert rows("SELECT memory_class FROM memory_entries WHERE content = 'On a branch'") == [("procedural",)]
    assert rows("SELECT alias, name FROM project_aliases", "projects") == [("rocket-old", "rocket")]


def test_the_graph_and_reflections(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    things = "SELECT name, entity_type, first_seen, last_seen, mention_count FROM memory_entities ORDER BY first_seen"
    assert rows(things) == [
        ("Anna", "person", shown(at(1)), shown(at(9)), 3),
        ("sqlite", "concept", shown(at(2)), shown(at(2)), 1),
        ("rocket", "unknown", shown(at(3)), shown(at(3)), 1),
    ]
    links = (
        "SELECT s.name, r.relationship_type, t.name, r.context FROM memory_relationships r"
        " JOIN memory_entities s ON s.id = r.source JOIN memory_entities t ON t.id = r.target ORDER BY 1"
    )
    assert rows(links) == [("Anna", "owns", "rocket", "since spring"), ("rocket", "depends_on", "sqlite", None)]
    assert sorted(rows("SELECT coalesce(project, ''), count FROM reflections")) == [("", 2), ("rocket", 3)]


def test_cards_with_all_that_hangs_on_them(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    listed_ = cli("board", "list", "--all", "--archived", "--json").json
    told = sorted((one["number"], one["title"], one["status"], one["priority"], one["project"]) for one in listed_)
    assert told == [
        (1, "Fix login", "in_progress", "high", "rocket"),
        (2, "Ship it", "done", "medium", "rocket"),
        (3, "Long gone", "archived", "medium", None),
        (4, "New", "backlog", "medium", "rocket"),
    ]
    first, second, third = (cli("board", "show", number, "--json").json for number in "123")
    assert first["description"] == "It fails"
    assert first["tags"] == ["blocked", "bug"]
    assert [(one["author"], one["body"], one["created_at"]) for one in first["comments"]] == [
        ("claude", "Looked at it", shown(at(15))),
        ("me", "Thanks", shown(at(16))),
    ]
    assert (first["created_at"], first["updated_at"]) == (shown(at(1)), shown(at(20)))
    assert second["completed_at"] == shown(at(21))
    assert second["completion_summary"] == "Shipped"
    assert [(one["label"], one["value"]) for one in second["references"]] == [
        ("PR", "https://example.org/2"),
        ("Spec", "spec.md"),
    ]
    moves = [
        (one["data"]["column"], one.get("wall", one["at"]))
        for one in events_of(cli, third["id"])
        if one["kind"] == "card.moved"
    ]
    assert moves == [("done", shown(at(10))), ("archived", shown(at(25)))]


def events_of(cli: Cli, id_: str) -> list[dict[str, Any]]:
    path = os.path.join(os.environ["MAIT_CODE_DATA_DIR"], "journal")
    lines = []
    for directory, _, names in os.walk(path):
        for name in sorted(names):
            if name.endswith(".jsonl"):
                with open(os.path.join(directory, name), "rb") as file:
                    lines += [json.loads(line) for line in file]
    return [line for line in lines if line["entity"].endswith(id_)]


def test_inbox_reminders_and_observations(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    items = cli("inbox", "list", "--json").json
    assert [(one["body"], one["project"], one["created_at"]) for one in items] == [
        ("call the bank", "rocket", shown(at(3)))
    ]
    kept = rows(
        "SELECT what, due, due_local, zone, dismissed, dismissed_at, notified_at FROM reminders ORDER BY due",
        "reminders",
    )
    assert kept == [
        ("Pay", "2025-02-01T07:00:00Z", "2025-02-01T07:00", "UTC", 1, shown(at(33)), shown(at(32))),
        ("Overdue", "2025-02-03T04:05:06Z", "2025-02-03T04:05:06", "UTC", 0, None, None),
        ("Renew", "2031-05-06T07:08:00Z", "2031-05-06T07:08", "UTC", 0, None, None),
    ]
    observed = rows("SELECT type, created_at, project, facts, concepts FROM observations")
    assert observed == [
        (
            "precompact", "2025-02-03T10:11:12.131415Z", "rocket",
            '["Uses tabs","Decision: Chose SQLite","rocket depends on SQLite"]', '["SQLite"]',
        )
    ]  # fmt: skip


def test_what_says_the_same_twice_is_kept_and_shown_once(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    found = cli("memory", "search", "build port 5432", "--json").json["hits"]
    assert [one["content"] for one in found].count("The build runs on port 5432") == 1
    assert len(rows("SELECT 1 FROM memory_entries WHERE content LIKE '%5432'")) == 2


def test_the_actor_is_told_and_undo_leaves_it_alone(cli: Cli, peer: Path, home: Path) -> None:
    brought(cli, "mait-code", str(peer))
    assert {one["actor"] for one in events(home)} == {"import/mait-code"}
    assert cli("undo").code == 1


# -- once, however often ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["mait-code", "claude-mem"])
def test_a_second_run_writes_nothing(cli: Cli, home: Path, peer: Path, mem: Path, source: str) -> None:
    path = str(peer if source == "mait-code" else mem)
    first = brought(cli, source, path)
    journal = files(home / "data")
    again = brought(cli, source, path)
    assert files(home / "data") == journal
    assert {what: count["known"] for what, count in again["counts"].items()} == new(first)
    assert not any(count["new"] or count["changed"] for count in again["counts"].values())


@pytest.mark.parametrize("source", ["mait-code", "claude-mem"])
def test_a_dry_run_counts_and_writes_nothing(cli: Cli, home: Path, peer: Path, mem: Path, source: str) -> None:
    path = str(peer if source == "mait-code" else mem)
    counted = brought(cli, source, path, "--dry-run")
    assert counted["dry_run"] is True
    assert events(home) == []
    real = brought(cli, source, path)
    assert new(counted) == new(real)
    assert counted["lost"] == real["lost"]


def test_two_machines_that_import_the_same_agree(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, peer: Path, mem: Path
) -> None:
    one, other = (Machine(tmp_path, name, cli, monkeypatch) for name in ("ada", "bob"))
    other.ok("memory", "store", "something of its own")  # its clock is ahead of the other's
    one.ok("import", "mait-code", str(peer))
    for machine in (other, one):
        machine.ok("import", "claude-mem", str(mem))
    other.ok("import", "mait-code", str(peer))
    exchange(one, other)
    assert one.json("conflicts") == other.json("conflicts") == []
    for machine in (one, other):
        assert len(machine.json("board", "list", "--all", "--archived")) == 4
        machine.enter()
        assert rows("SELECT count(*) FROM memory_entries") == [(7,)]
        assert rows("SELECT mention_count FROM memory_entities WHERE name = 'Anna'") == [(3,)]
        assert rows("SELECT count(*) FROM observations") == [(5,)]
        machine.ok("verify")
        before = machine.files()
        said = machine.json("import", "mait-code", str(peer))
        assert not any(count["new"] or count["changed"] for count in said["counts"].values())
        assert machine.files() == before
    before_ = one.digest()
    one.ok("rebuild")
    assert one.digest() == before_ == other.digest()


def test_one_took_less_because_its_copy_was_damaged(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = many(tmp_path / "sound", 400)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "memory.db").write_bytes((sound / "memory.db").read_bytes())
    spoil(broken / "memory.db", b"marker 0200.")
    one, other = (Machine(tmp_path, name, cli, monkeypatch) for name in ("ada", "bob"))
    one.ok("import", "mait-code", str(sound))
    assert other("import", "mait-code", str(broken)).code == 1
    exchange(one, other)
    other.enter()
    assert rows("SELECT count(*) FROM memory_entries") == [(400,)]
    assert other.json("conflicts") == []


def test_what_happened_since_is_brought_in(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    cli("board", "move", "4", "refined")
    db = apsw.Connection(str(peer / "memory.db"))
    # The peer puts the date forward where it hears the same again.
    db.execute("UPDATE memory_entries SET created_at = ?, importance = 9 WHERE id = 1", (at(60),))
    db.execute("UPDATE memory_entries SET superseded_by = 1, superseded_at = ? WHERE id = 6", (at(61),))
    db.execute("UPDATE memory_entities SET mention_count = 5, last_seen = ? WHERE name = 'Anna'", (at(62),))
    db.close()
    db = apsw.Connection(str(peer / "board.db"))
    db.execute(
        "UPDATE cards SET title = 'Fix the login', status = 'done', updated_at = ?, completed_at = ? WHERE id = 1",
        (at(70), at(69)),
    )
    db.execute(
        "INSERT INTO card_comments (card_id, author, body, created_at) VALUES (1, 'me', 'Done now', ?)", (at(69),)
    )
    db.close()
    said = brought(cli, "mait-code", str(peer))
    assert {what: count["changed"] for what, count in said["counts"].items() if count["changed"]} == {
        "memories": 2, "entities": 1, "cards": 1,
    }  # fmt: skip
    assert set(new(said).values()) == {0}
    told = "SELECT importance, seen_count, created_at, last_seen_at FROM memory_entries WHERE content LIKE '%5432' AND live"
    assert rows(told) == [(9, 2, shown(at(1)), shown(at(60)))]
    assert rows("SELECT mention_count FROM memory_entities WHERE name = 'Anna'") == [(5,)]
    changed = cli("board", "show", "1", "--json").json
    assert (changed["title"], changed["status"], changed["completed_at"]) == ("Fix the login", "done", shown(at(69)))
    assert [one["body"] for one in changed["comments"]] == ["Looked at it", "Thanks", "Done now"]
    assert cli("board", "show", "4", "--json").json["status"] == "refined", "what the peer did not touch stays ours"
    again = brought(cli, "mait-code", str(peer))
    assert not any(count["new"] or count["changed"] for count in again["counts"].values())


def test_what_was_deleted_here_stays_deleted(cli: Cli, peer: Path) -> None:
    brought(cli, "mait-code", str(peer))
    cli("board", "remove", "1")
    db = apsw.Connection(str(peer / "board.db"))
    db.execute("UPDATE cards SET title = 'Else', updated_at = ? WHERE id = 1", (at(70),))
    db.close()
    brought(cli, "mait-code", str(peer))
    assert cli("conflicts", "--json").json == []
    assert 1 not in [one["number"] for one in cli("board", "list", "--all", "--json").json]


def test_a_kill_leaves_whole_actions_and_another_run_completes_them(tmp_path: Path, home: Path, cli: Cli) -> None:
    source = many(tmp_path / "peer", 9000)
    command = [sys.executable, "-m", "mait_code.commands.cli.main", "import", "mait-code", str(source)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    before = 0
    while time.monotonic() < deadline:
        size = sum(one.stat().st_size for one in (home / "data/journal").glob("*/*.jsonl"))
        if size and size == before:
            break  # one action is written, the next not begun
        before = size
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = len(events(home))
    assert 0 < there < 9000
    assert there % 2000 == 0
    assert new(brought(cli, "mait-code", str(source)))["memories"] == 9000 - there
    assert rows("SELECT count(*) FROM memory_entries") == [(9000,)]
    assert cli("verify").code == 0


# -- the source is left alone -----------------------------------------------------------------------------------------


def test_the_source_is_not_touched(cli: Cli, peer: Path, mem: Path) -> None:
    before = files(peer), files(mem.parent)
    brought(cli, "mait-code", str(peer))
    brought(cli, "claude-mem", str(mem))
    assert (files(peer), files(mem.parent)) == before


def test_a_directory_that_may_not_be_written(cli: Cli, peer: Path) -> None:
    peer.chmod(0o555)
    try:
        assert new(brought(cli, "mait-code", str(peer)))["memories"] == 6
    finally:
        peer.chmod(0o755)


@contextlib.contextmanager
def still_open(path: Path, statement: str, *bindings: Any) -> Iterator[None]:
    """Another program has the database open, and what it wrote last stands in the log beside it."""
    db = apsw.Connection(str(path))
    db.pragma("wal_autocheckpoint", 0)
    db.execute(statement, bindings)
    try:
        yield
    finally:
        db.close()


def test_what_stands_in_the_log_beside_the_database_is_read(cli: Cli, peer: Path, tmp_path: Path) -> None:
    statement = "INSERT INTO inbox_items (body, created_at) VALUES ('written last', ?)"
    with still_open(peer / "inbox.db", statement, at(9)):
        assert (peer / "inbox.db-wal").stat().st_size > 0
        before = files(peer)
        assert new(brought(cli, "mait-code", str(peer)))["inbox items"] == 2
        assert files(peer) == before
    assert [one["body"] for one in cli("inbox", "list", "--json").json] == ["call the bank", "written last"]


def test_copies_are_cleaned_away(cli: Cli, peer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with still_open(peer / "inbox.db", "DELETE FROM inbox_items"):
        brought(cli, "mait-code", str(peer))
    assert list(scratch.iterdir()) == []


def test_a_database_that_is_written_while_it_is_read(tmp_path: Path, peer: Path) -> None:
    with Source(str(peer / "inbox.db")) as source:
        assert not source.changed
        db = apsw.Connection(str(peer / "inbox.db"))
        db.execute("INSERT INTO inbox_items (body) VALUES ('meanwhile')")
        db.close()
        assert source.changed
    with still_open(peer / "inbox.db", "DELETE FROM inbox_items"), Source(str(peer / "inbox.db")) as source:
        with still_open(peer / "inbox.db", "INSERT INTO inbox_items (body) VALUES ('later')"):
            assert not source.changed, "a copy was taken, and nobody writes that"
        assert list(source.rows("inbox_items")) == []


def test_the_old_directory_may_be_ours(cli: Cli, home: Path) -> None:
    peers.mait_code(home / "data")
    said = brought(cli, "mait-code", str(home / "data"))
    assert new(said)["memories"] == 6
    assert new(said)["cards"] == 4
    assert cli("verify").code == 0
    assert set(new(brought(cli, "mait-code", str(home / "data"))).values()) == {0}


def test_a_path_with_marks_of_a_uri(cli: Cli, tmp_path: Path) -> None:
    odd = tmp_path / "a?b#c %20"
    peers.mait_code(odd)
    assert new(brought(cli, "mait-code", str(odd)))["memories"] == 6


# -- what is odd ------------------------------------------------------------------------------------------------------


def test_odd_memories(cli: Cli, tmp_path: Path) -> None:
    loose = peers.MEMORY.replace("NOT NULL", "")
    entries = [
        memory(1, None),
        memory(2, "  "),
        memory(3, 42, entry_type=None, importance="lots", scope=None, created_at=None),
        memory(4, b"bytes \xff\xfe of text", importance=99, scope="nowhere", project="p" * 300),
        memory(5, "word " * 80_000),
        memory(6, "itself", superseded_by=6, superseded_at=at(2)),
        memory(7, "dangling", superseded_by=999, superseded_at=None),
        memory(8, "tomorrow", created_at="2099-01-01T00:00:00+00:00", reviewed_at="2098-01-01"),
        memory(9, "naive", created_at="2025-03-04 05:06:07"),
        memory(10, "zoned", created_at="2025-03-04T05:06:07+05:30"),
        memory(11, "a new type", entry_type="Hunch", scope="branch", branch="b", project=None),
        memory(12, "one", superseded_by=13, superseded_at=at(3)),
        memory(13, "two", superseded_by=12, superseded_at=at(3)),
        memory(14, "nul \0 and half", importance=-3),
        memory(15, "<private>nobody's business</private>"),
        memory(16, "token = ghp_0123456789abcdefghijABCDEFGHIJ012345 here"),
        memory(17, "before the epoch", created_at="1931-01-01T00:00:00"),
        memory(18, "a number of seconds", created_at=1_735_800_000, superseded_at="soon"),
    ]
    peers.database(tmp_path / "peer/memory.db", loose, {"memory_entries": entries})
    peers.raw_text(tmp_path / "peer/memory.db", "UPDATE memory_entries SET branch = ? WHERE id = 10", b"caf\xe9")
    said = brought(cli, "mait-code", str(tmp_path / "peer"), code=1)
    lost = {(one["table"], one["first"]): one["reason"] for one in said["lost"]}
    assert set(lost) == {("memory_entries", 1), ("memory_entries", 2), ("memory_entries", 15)}
    found = {
        row[0]: row[1:]
        for row in rows(
            "SELECT origin, content, entry_type, importance, scope, project, created_at, live, branch FROM memory_entries"
        )
    }
    of = {int(origin.rpartition(" ")[2]): row for origin, row in found.items()}
    assert sorted(of) == [3, *range(4, 15), 16, 17, 18]
    assert of[3][:4] == ("42", "fact", 5, "global")
    assert of[4][0] == "bytes \ufffd\ufffd of text"
    assert (of[4][2], of[4][3], of[4][4]) == (10, "project", "p" * 200)
    assert set(of[5][0].split()) == {"word"}
    assert 200_000 < len(of[5][0]) < 262_144
    assert (of[6][6], of[7][6], of[12][6], of[13][6], of[18][6]) == (0, 0, 0, 0, 0)
    assert of[8][5] < "2098"
    assert of[9][5].startswith("2025-03-04T05:06:07")
    assert of[10][5].startswith("2025-03-03T23:36:07")
    assert of[10][7] == "caf\ufffd"
    assert (of[11][1], of[11][3]) == ("hunch", "global")
    assert of[14][0] == "nul \ufffd and half"
    assert of[14][2] == 1
    assert "ghp_" not in of[16][0]
    assert "[masked" in of[16][0]
    assert of[18][5].startswith("2025-01-02T06:40:00")
    told = cli("import", "mait-code", str(tmp_path / "peer"))
    assert "new" in told.out
    assert not any(int(part.split()[-2]) for part in told.out.splitlines() if part.endswith("new"))
    assert "nobody" not in b"".join(files(tmp_path / "home").values()).decode("utf-8", "replace")


def test_every_change_is_told(cli: Cli, tmp_path: Path) -> None:
    entries = [memory(1, "word " * 80_000), memory(2, "self", superseded_by=2, superseded_at=at(2))]
    peers.database(tmp_path / "peer/memory.db", peers.MEMORY, {"memory_entries": entries})
    told = cli("import", "mait-code", str(tmp_path / "peer"))
    assert told.code == 0
    assert "memory_entries row 1: the content is too long" in told.err
    assert "memory_entries row 2: it is superseded by itself: taken as retired" in told.err


def test_odd_cards_and_reminders(cli: Cli, tmp_path: Path) -> None:
    peer = tmp_path / "peer"
    loose = peers.BOARD.replace("NOT NULL", "")
    loose = loose.replace("PRIMARY KEY (card_id, tag)) WITHOUT ROWID", "PRIMARY KEY (card_id, tag))")
    peers.database(
        peer / "board.db",
        loose,
        {
            "cards": [
                card(1, None),
                card(2, "two\nlines", status="On Hold", priority="URGENT", created_at=None, updated_at=None),
                card(3, "In Progress", status="In-Progress", description="d " * 150_000, acceptance_criteria="a" * 10),
                card(-4, "negative", status="done", completed_at=None),
            ],
            "card_comments": [
                {"card_id": 99, "body": "of nobody"},
                {"card_id": 3, "body": None},
                {"card_id": 3, "author": None, "body": "undated", "created_at": None},
            ],
            "card_tags": [{"card_id": None, "tag": "x"}, {"card_id": 3, "tag": "t" * 300}, {"card_id": 3, "tag": ""}],
            "card_references": [
                {"card_id": 3, "label": None, "value": "v"},
                {"card_id": 3, "label": "l", "value": None},
            ],
        },
    )
    peers.database(
        peer / "reminders.db",
        peers.REMINDERS,
        {
            "reminders": [
                {"what": None, "due": at(1)},
                {"what": "no time", "due": "next week"},
                {"what": "far", "due": "9999-12-31T00:00:00"},
                {"what": "half", "due": "2031-01-01T00:00:00.5", "dismissed": 1},
            ]
        },
    )
    said = brought(cli, "mait-code", str(peer), code=1)
    assert sorted((one["table"], one["first"]) for one in said["lost"]) == [
        ("card_comments", 1), ("card_comments", 2), ("card_references", 2), ("card_tags", 1), ("card_tags", 3),
        ("cards", 1), ("reminders", 1), ("reminders", 2), ("reminders", 3),
    ]  # fmt: skip
    by_title = {one["title"]: one for one in cli("board", "list", "--all", "--json").json}
    assert {title: one["status"] for title, one in by_title.items()} == {
        "two lines": "backlog", "In Progress": "in_progress", "negative": "done",
    }  # fmt: skip
    two = cli("board", "show", by_title["two lines"]["id"], "--json").json
    assert [one["body"] for one in two["comments"]] == ["Status before the import: On Hold"]
    three = cli("board", "show", by_title["In Progress"]["id"], "--json").json
    assert three["tags"] == ["t" * 200]
    assert [one["value"] for one in three["references"]] == ["v"]
    assert len(three["description"]) < 262_144
    assert by_title["negative"]["number"] is None
    assert rows("SELECT what, due_local, dismissed FROM reminders", "reminders") == [("half", "2031-01-01T00:00:01", 1)]
    again = brought(cli, "mait-code", str(peer), code=1)
    assert not any(count["new"] or count["changed"] for count in again["counts"].values())


def test_an_older_schema(cli: Cli, tmp_path: Path) -> None:
    schema = "CREATE TABLE memory_entries (id INTEGER PRIMARY KEY, content TEXT, entry_type TEXT, created_at TEXT)"
    path = tmp_path / "peer/memory.db"
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute(schema)
    db.execute("INSERT INTO memory_entries VALUES (1, 'from long ago', 'fact', ?)", (at(1),))
    db.close()
    assert new(brought(cli, "mait-code", str(path.parent)))["memories"] == 1
    assert rows("SELECT scope, created_at FROM memory_entries") == [("global", shown(at(1)))]


def test_a_table_without_what_it_needs(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "peer/memory.db"
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE memory_entries (id INTEGER PRIMARY KEY, body TEXT)")
    db.close()
    said = brought(cli, "mait-code", str(path.parent), code=1)
    assert said["lost"][0]["reason"] == "it has no column content"


def test_lines_of_observations_that_are_none(cli: Cli, peer: Path) -> None:
    good = json.dumps(peers.batch("Second", "Third")).encode()
    empty = json.dumps({"timestamp": at(1), "extraction": {"facts": []}}).encode()
    lines = [b"{torn", b"[]", b"\xff\xfe", good, b"", empty, good.replace(b"Second", b"<private>s</private>")]
    (peer / "memory/observations/2025-02-04.jsonl").write_bytes(b"\n".join(lines))
    (peer / "project-aliases.json").write_text('{"a": "a", "": "b", "c": 3, "d": "e"}')
    said = brought(cli, "mait-code", str(peer), code=1)
    assert [(one["table"], one["first"]) for one in said["lost"]] == [
        *(("project-aliases.json", number) for number in (1, 2, 3)),
        *(("2025-02-04.jsonl", number) for number in (1, 2, 3)),
    ]
    assert new(said)["observations"] == 3
    assert new(said)["project aliases"] == 1


def loosened(schema: str) -> tuple[str, dict[str, list[str]]]:
    """A schema without its constraints, and the columns of each table but its ids."""
    kept = []
    columns: dict[str, list[str]] = {}
    for statement in schema.split(";\n"):
        made = re.match(r"\s*CREATE TABLE (\w+) \((.*)\)( WITHOUT ROWID)?\s*$", statement, re.DOTALL)
        if made is None or made[1].startswith("schema_version"):
            continue
        names = [
            part.split()[0]
            for part in re.split(r",(?![^(]*\))", made[2])
            if part.split()[0] not in ("UNIQUE", "PRIMARY")
        ]
        columns[made[1]] = [name for name in names if name != "id"]
        declared = [f"{name} INTEGER PRIMARY KEY" if name == "id" else name for name in names]
        kept.append(f"CREATE TABLE {made[1]} ({', '.join(declared)});")
    return "\n".join(kept), columns


def test_rows_of_any_values(cli: Cli, tmp_path: Path, home: Path) -> None:
    """Whatever stands in whatever column, an import ends well and a second one has nothing to add."""
    rng = random.Random(11)
    odd = (
        None,
        0,
        -1,
        7,
        2**62,
        1.5,
        "",
        " ",
        "word",
        "a\nb",
        "é" * 150,
        b"\xff\0",
        b"",
        "2025-01-02",
        "<private>x",
        "1e999",
    )
    schemas = {"memory": peers.MEMORY, "board": peers.BOARD, "inbox": peers.INBOX, "reminders": peers.REMINDERS}
    for name, schema in {**schemas, "claude": peers.CLAUDE_MEM}.items():
        loose, columns = loosened(schema)
        made = {table: [{one: rng.choice(odd) for one in named} for _ in range(80)] for table, named in columns.items()}
        peers.database(tmp_path / f"peer/{name}.db", loose, made)
    for source, path in (("mait-code", tmp_path / "peer"), ("claude-mem", tmp_path / "peer/claude.db")):
        first = brought(cli, source, str(path), code=1)
        assert sum(new(first).values()) > 40, first
        journal = files(home / "data")
        again = brought(cli, source, str(path), code=1)
        assert files(home / "data") == journal
        assert not any(count["new"] or count["changed"] for count in again["counts"].values())
    assert cli("verify").code == 0
    before = cli("digest", "--json").json["total"]
    cli("rebuild")
    assert cli("digest", "--json").json["total"] == before


# -- what is damaged --------------------------------------------------------------------------------------------------


def many(directory: Path, count: int) -> Path:
    """A directory whose memory.db has rows that can be found in the file."""
    entries = (memory(n, f"marker {n:04}. {'abc def ' * 20}") for n in range(1, count + 1))
    peers.database(directory / "memory.db", peers.MEMORY, {"memory_entries": entries})
    return directory


def spoil(path: Path, marker: bytes, how: bytes = b"\xff") -> list[int]:
    """Damage the page of the table that holds a marker. Returns the numbers of the rows that were on it."""
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    # A page of the table, not of the full-text index: its rows are many and whole.
    for start in range(0, len(content), size):
        page = bytes(content[start : start + size])
        if marker in page and page[0] == 13:
            content[start : start + size] = how * size
            path.write_bytes(content)
            return sorted({int(one) for one in re.findall(rb"marker (\d{4})\.", page)})
    raise AssertionError("no page holds the marker")


@pytest.mark.parametrize("how", [b"\xff", b"\0"])
@pytest.mark.parametrize(
    "markers", [(b"marker 0200.",), (b"marker 0001.",), (b"marker 0400.",), (b"marker 0100.", b"marker 0300.")]
)
def test_a_damaged_page_costs_its_rows(cli: Cli, tmp_path: Path, markers: tuple[bytes, ...], how: bytes) -> None:
    peer = many(tmp_path / "peer", 400)
    gone = sorted({one for marker in markers for one in spoil(peer / "memory.db", marker, how)})
    done = cli("import", "mait-code", str(peer))
    assert done.code == 1
    assert "memory_entries row" in done.err
    kept = {int(content[7:11]) for (content,) in rows("SELECT content FROM memory_entries")}
    assert kept == set(range(1, 401)).difference(gone)
    said = brought(cli, "mait-code", str(peer), "--dry-run", code=1)
    named = {one for lost in said["lost"] for one in range(lost["first"], lost["last"] + 1)}
    assert set(gone) <= named
    assert named.isdisjoint(kept)


def overwritten(path: Path, seed: int) -> None:
    """Nine thousand bytes of noise, once, anywhere behind the first pages."""
    rng = random.Random(seed)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(rng.randrange(20_000, size - 9000))
        file.write(rng.randbytes(9000))


def dotted(path: Path, seed: int) -> None:
    """Single bytes anywhere behind the first pages, so that pages contradict each other."""
    rng = random.Random(seed)
    content = bytearray(path.read_bytes())
    for _ in range(30):
        content[rng.randrange(20_000, len(content))] = rng.randrange(256)
    path.write_bytes(content)


def readable(path: Path, table: str, ids: Iterable[int]) -> set[int]:
    """The ids whose row SQLite gives when it is asked for that one alone."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
        db.text_factory = bytes  # text that is not UTF-8 is taken too
        found = set()
        for id_ in ids:
            with contextlib.suppress(sqlite3.DatabaseError):
                if db.execute(f"SELECT * FROM {table} WHERE id = ?", (id_,)).fetchall():
                    found.add(id_)
        return found


def taken(path: Path, table: str) -> tuple[list[int], set[int]]:
    """The ids that the reader takes of a table, and those it names as lost."""
    with Source(str(path)) as source:
        ids = [row.id for row in source.rows(table)]
        assert all(lost.first is not None for lost in source.lost)
        assert len({(lost.table, lost.first) for lost in source.lost}) == len(source.lost)
        named = {id_ for lost in source.lost for id_ in range(lost.first or 0, (lost.last or 0) + 1)}
    return ids, named


def observations(path: Path, ids: Iterable[int]) -> Path:
    rows_ = ({"id": n, "title": f"number {n}.", "narrative": f"told {n} " * 8, "project": "rocket",
              "type": "discovery", "created_at_epoch": 1_735_800_000_000 + n} for n in ids)  # fmt: skip
    return peers.database(path, peers.CLAUDE_MEM, {"observations": rows_})


@pytest.mark.parametrize("damage", [overwritten, dotted])
@pytest.mark.parametrize("table", ["observations", "memory_entries"])
def test_every_row_that_its_id_finds_is_taken(tmp_path: Path, table: str, damage: Callable[[Path, int], None]) -> None:
    ids = range(1, 5001)
    if table == "observations":
        path = observations(tmp_path / "sound.db", ids)
    else:
        path = many(tmp_path, len(ids)) / "memory.db"
    content = path.read_bytes()
    losses = 0
    for seed in range(1, 13):
        path.write_bytes(content)
        damage(path, seed)
        there = readable(path, table, ids)
        took, named = taken(path, table)
        assert took == sorted(there), seed
        assert named == set(ids) - there, seed
        losses += bool(named)
    assert losses >= 3


def test_rows_behind_the_damage_are_imported_and_the_lost_are_told(cli: Cli, tmp_path: Path) -> None:
    path = observations(tmp_path / "claude-mem.db", range(1, 3001))
    overwritten(path, 4)
    there = readable(path, "observations", range(1, 3001))
    assert 0 < len(there) < 3000
    done = cli("import", "claude-mem", str(path))
    assert done.code == 1
    told = re.findall(r"observations rows? (\d+)(?: to (\d+))?: \w+", done.err)
    assert {id_ for first, last in told for id_ in range(int(first), int(last or first) + 1)} >= (
        set(range(1, 3001)) - there
    )
    found = rows("SELECT title FROM observations")
    kept = {int(one) for (title,) in found for one in re.findall(r"^number (\d+)\.$", title or "")}
    assert max(kept) == max(there)
    assert len(kept) >= len(there) - 3  # a row may be there and have become something that cannot be stored


@pytest.mark.parametrize("ids", [range(1, 400_000, 150), range(10**12, 10**12 + 10**10, 10**7), range(70_000, 71_000)])
def test_ids_far_apart_around_damage(tmp_path: Path, ids: range) -> None:
    path = observations(tmp_path / "sound.db", ids)
    assert taken(path, "observations") == (list(ids), set())
    content = bytearray(path.read_bytes())
    found = content.index(b"number %d." % ids[len(ids) // 2]) // 4096 * 4096
    content[found : found + 4096] = b"\xff" * 4096
    path.write_bytes(content)
    there = readable(path, "observations", ids)
    assert 0 < len(there) < len(ids)
    with Source(str(path)) as source:
        assert [row.id for row in source.rows("observations")] == sorted(there)
        for id_ in set(ids) - there:
            assert any((lost.first or 0) <= id_ <= (lost.last or 0) for lost in source.lost)


def test_deleted_rows_of_a_sound_table_are_not_lost(cli: Cli, tmp_path: Path) -> None:
    path = observations(tmp_path / "claude-mem.db", (n for n in range(5, 400) if n % 7))
    peers.raw_text(path, "UPDATE observations SET narrative = ? WHERE id = 20", b"caf\xe9")
    said = brought(cli, "claude-mem", str(path))
    assert said["lost"] == []
    assert new(said)["observations"] == len([n for n in range(5, 400) if n % 7])


def test_a_file_that_was_cut(cli: Cli, tmp_path: Path) -> None:
    peer = many(tmp_path / "peer", 2000)
    content = (peer / "memory.db").read_bytes()
    (peer / "memory.db").write_bytes(content[: len(content) * 2 // 3 // 4096 * 4096])
    done = cli("import", "mait-code", str(peer))
    assert done.code == 1
    kept = rows("SELECT count(*) FROM memory_entries")[0][0]
    assert 100 < kept < 2000
    assert "Traceback" not in done.err


def test_one_database_that_is_none_does_not_cost_the_others(cli: Cli, peer: Path) -> None:
    (peer / "memory.db").write_bytes(b"not a database at all" * 400)
    said = brought(cli, "mait-code", str(peer), code=1)
    assert [one["table"] for one in said["lost"]] == ["memory.db"]
    assert new(said)["cards"] == 4
    assert "memories" not in new(said)


def test_random_damage_never_ends_in_a_crash(cli: Cli, tmp_path: Path) -> None:
    rng = random.Random(7)
    sound = many(tmp_path / "sound", 300)
    content = (sound / "memory.db").read_bytes()
    for _ in range(25):
        spoilt = bytearray(content)
        for _ in range(rng.randint(1, 30)):
            start = rng.randrange(len(spoilt))
            length = rng.choice((1, 8, 600))
            spoilt[start : start + length] = rng.randbytes(len(spoilt[start : start + length]))
        (sound / "memory.db").write_bytes(spoilt)
        done = cli("import", "mait-code", str(sound), "--dry-run")
        assert done.code in (0, 1), done.err
        assert "unexpected" not in done.err


# -- claude-mem -------------------------------------------------------------------------------------------------------


def test_claude_mem(cli: Cli, mem: Path) -> None:
    said = brought(cli, "claude-mem", str(mem))
    assert new(said) == {"sessions": 3, "prompts": 3, "observations": 4, "summaries": 1}
    assert [(one["table"], one["first"], one["private"]) for one in said["lost"]] == [("sdk_sessions", 3, True)]
    sessions = "SELECT session_id, project, title, platform, ended, created_at FROM sessions ORDER BY session_id"
    assert rows(sessions) == [
        ("c-1", "rocket", "Login", "claude-code", "completed", "2025-01-02T06:40:00.000000Z"),
        ("c-2", "rocket", None, "claude-code", None, "2025-01-02T06:40:00.005000Z"),
        ("c-3", "rocket/tree", None, "cursor", None, "2025-01-02T06:40:00.000000Z"),
    ]
    assert rows("SELECT session_id, prompt_text, prompt_number FROM user_prompts ORDER BY created_at") == [
        ("c-1", "fix the login", 1),
        ("c-1", "and the logout", 2),
        ("c-2", "only here", 1),
    ]
    observed = rows(
        "SELECT session_id, project, type, title, subtitle, narrative, facts, concepts, files_read, files_modified,"
        " prompt_number, discovery_tokens, generated_by, created_at FROM observations ORDER BY created_at, title"
    )
    assert observed[0] == (
        "c-1", "rocket", "bugfix", "Login fixed", "A cookie", "The cookie was stale", '["one fact","another"]',
        '["gotcha","problem-solution"]', '["a.py"]', '["b.py","c.py"]', 1, 900, "haiku", "2025-01-02T06:40:01.000000Z",
    )  # fmt: skip
    assert [row[3] for row in observed[1:3]] == ["Told twice", "Told twice"]
    assert observed[3][:7] == ("c-3", "rocket", "discovery", None, None, "from the old days", '["no list"]')
    summary = rows("SELECT session_id, request, learned, files_modified, prompt_number FROM session_summaries")
    assert summary == [("c-1", "fix the login", "cookies go stale", '["b.py"]', 1)]
    found = cli("memory", "search", "stale cookie", "--scope", "all", "--json").json["hits"]
    assert {"observation", "summary"} <= {one["kind"] for one in found}


def test_nothing_private_reaches_the_disk(cli: Cli, mem: Path, home: Path) -> None:
    cli("import", "claude-mem", str(mem))
    every = b"".join(files(home).values())
    assert b"my pin" not in every
    assert b"all of it</private>" not in every


def test_claude_mem_rows_with_other_numbers_are_the_same(cli: Cli, mem: Path, tmp_path: Path) -> None:
    brought(cli, "claude-mem", str(mem))
    merged = tmp_path / "merged.db"
    merged.write_bytes(mem.read_bytes())
    db = apsw.Connection(str(merged))
    for table in ("sdk_sessions", "user_prompts", "observations", "session_summaries"):
        db.execute(f"UPDATE {table} SET id = id + 1000")
    db.execute("UPDATE user_prompts SET session_db_id = session_db_id + 1000")
    db.close()
    said = brought(cli, "claude-mem", str(merged))
    assert set(new(said).values()) == {0}


def test_odd_rows_of_claude_mem(cli: Cli, tmp_path: Path) -> None:
    path = peers.database(
        tmp_path / "c.db",
        peers.CLAUDE_MEM,
        {
            "sdk_sessions": [{"id": 1}, {"id": 2, "memory_session_id": "m-2", "started_at_epoch": "soon", "status": "failed"}],
            "user_prompts": [{"id": 1, "prompt_text": None}, {"id": 2, "prompt_text": "some " * 100_000, "prompt_number": 0}],
            "observations": [
                {"id": 1},
                {"id": 2, "memory_session_id": "nobody", "type": "t" * 500, "title": "t", "facts": '{"a": [1]}',
                 "concepts": '["", "' + "c" * 300 + '", 5]', "files_read": "[null, 3]", "discovery_tokens": -5},
                {"id": 3, "title": "big", "facts": json.dumps(["f " * 500] * 600), "narrative": "n " * 150_000},
                {"id": 4, "title": "<private>t</private>"},
            ],
            "session_summaries": [{"id": 1}, {"id": 2, "request": b"\xff\xfe", "created_at": "2025-13-45"}],
        },
    )  # fmt: skip
    said = brought(cli, "claude-mem", str(path), code=1)
    assert new(said) == {"sessions": 1, "prompts": 1, "observations": 2, "summaries": 1}
    assert sorted((one["table"], one["first"]) for one in said["lost"]) == [
        ("observations", 1), ("observations", 4), ("sdk_sessions", 1), ("session_summaries", 1), ("user_prompts", 1),
    ]  # fmt: skip
    kept = rows(
        "SELECT type, facts, concepts, files_read, discovery_tokens, session_id FROM observations WHERE title = 't'"
    )
    assert kept == [
        ("t" * 200, '["{\\"a\\":[1]}"]', json.dumps(["c" * 200, "5"], separators=(",", ":")), '["3"]', None, "nobody")
    ]


def test_what_is_no_database_of_claude_mem(cli: Cli, tmp_path: Path, peer: Path, home: Path) -> None:
    for path, reason in (
        (peer / "board.db", "is no database of claude-mem"),
        (tmp_path / "none.db", "is not there"),
        (tmp_path, "is a directory, not a database"),
        (tmp_path / "/dev/null", "is no file"),
        (peer / "project-aliases.json", "cannot be read"),
    ):
        done = cli("import", "claude-mem", str(path))
        assert done.code == 1
        assert reason in done.err
    assert cli("import", "mait-code", str(tmp_path / "none")).code == 1
    assert "is a file, not a directory" in cli("import", "mait-code", str(peer / "board.db")).err
    assert "is no directory" in cli("import", "claude-native", str(peer / "board.db")).err
    assert "is not there" in cli("import", "claude-native", str(tmp_path / "none")).err
    assert events(home) == []


# -- Claude Code's own files ------------------------------------------------------------------------------------------


def native(home: Path, project: Path) -> Path:
    """The client's directory with memory files of a project that is there."""
    folder = home / ".claude/projects" / claude_files.slug_of(str(project)) / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(
        "# Notes\n\n- [Testing](testing.md) — how tests run\n- Uses tabs,\n  never blanks\n\n## Build\n\n"
        "Run make first.\nThen the tests.\n\n```\nmake all\n\nmake test\n```\n- see `gone.md` for more\n"
    )
    (folder / "testing.md").write_text(
        "---\nname: testing\ndescription: how tests run\ntype: feedback\nmodified: 2025-04-05T06:07:08Z\n---\n\nUse pytest -x.\n"
    )
    (folder / "sub").mkdir()
    (folder / "sub/me.md").write_text("---\ntype: user\n---\nI am Anna.\n")
    return folder


def test_memory_files_of_the_client(cli: Cli, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "work.dir/my_rocket"
    project.mkdir(parents=True)
    folder = native(home, project)
    os.utime(folder / "MEMORY.md", (1_735_800_000, 1_735_800_000))
    said = brought(cli, "claude-native")
    assert new(said) == {"memories": 6}
    found = rows("SELECT content, entry_type, scope, project, tags, created_at FROM memory_entries ORDER BY content")
    assert [row[:5] for row in found] == [
        ("I am Anna.", "preference", "global", None, '["user"]'),
        ("Run make first.\nThen the tests.", "fact", "project", "my_rocket", '["Build"]'),
        ("Uses tabs,\n  never blanks", "fact", "project", "my_rocket", '["Notes"]'),
        ("```\nmake all\n\nmake test\n```", "fact", "project", "my_rocket", '["Build"]'),
        ("how tests run\n\nUse pytest -x.", "preference", "project", "my_rocket", '["feedback"]'),
        ("see `gone.md` for more", "fact", "project", "my_rocket", '["Build"]'),
    ]
    dates = {row[0][:4]: row[5] for row in found}
    assert dates["how "].startswith("2025-04-05T06:07:08")
    assert dates["Uses"].startswith("2025-01-02T06:40:00")
    again = brought(cli, "claude-native", str(home / ".claude"))
    assert again["counts"]["memories"]["new"] == 0


def test_a_topic_that_changed_takes_the_place_of_what_it_said(cli: Cli, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "rocket"
    project.mkdir()
    folder = native(home, project)
    brought(cli, "claude-native")
    (folder / "testing.md").write_text("---\ntype: feedback\n---\nUse pytest -n 4.\n")
    assert new(brought(cli, "claude-native", str(folder))) == {"memories": 1}
    live = (
        "SELECT live, superseded_by IS NOT NULL FROM memory_entries WHERE content LIKE '%pytest%' ORDER BY created_at"
    )
    assert rows(live) == [(0, 1), (1, 0)]
    assert new(brought(cli, "claude-native", str(folder.parent))) == {"memories": 0}


def test_two_machines_with_the_project_in_other_places(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = []
    for name in ("ada", "bob"):
        machine = Machine(tmp_path, name, cli, monkeypatch)
        project = machine.folder / "src/rocket"
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        subprocess.run(
            ["git", "-C", str(project), "remote", "add", "origin", "git@example.org:me/rocket.git"], check=True
        )
        native(machine.folder, project)
        assert new(machine.json("import", "claude-native", str(machine.folder / ".claude")))["memories"] > 3
        machines.append(machine)
    exchange(*machines)
    assert machines[0].json("conflicts") == []
    assert rows("SELECT DISTINCT project FROM memory_entries WHERE project IS NOT NULL") == [("me/rocket",)]
    assert rows("SELECT count(*), count(DISTINCT content) FROM memory_entries") == [(6, 6)]


def test_the_project_of_a_directory_that_is_gone(tmp_path: Path) -> None:
    home = tmp_path / "-gone-with-the-wind"
    home.mkdir()
    assert claude_native.project_of(str(home)) == "-gone-with-the-wind"
    (home / "s.jsonl").write_text('{"type":"mode"}\n{"cwd":"/elsewhere"}\n{"cwd":"/gone/with.the/wind"}\n')
    assert claude_native.project_of(str(home)) == "wind"
    assert claude_files.slug_of("/home/u/a.b_c d🎉") == "-home-u-a-b-c-d--"


def test_nothing_to_bring_in(cli: Cli, home: Path, tmp_path: Path) -> None:
    (home / ".claude").mkdir()
    done = cli("import", "claude-native")
    assert (done.code, done.out) == (0, "There is nothing to bring in.\n")
    assert cli("import", "claude-native", str(tmp_path / "none")).code == 1
    empty = tmp_path / "empty"
    empty.mkdir()
    assert cli("import", "claude-native", str(empty)).code == 1


@pytest.mark.parametrize("where", ["none", "client", "data", "memory", "link", "elsewhere"])
def test_what_mait_code_wrote_itself_is_never_imported(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Its data directory lies in the client's, and so may one that was in use before."""
    data = home / ".claude/mait-code-data"
    monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(data))
    stored = cli("memory", "store", "foo", "--json").json
    cli("memory", "pin", stored["id"])
    assert "- foo" in (data / "memory/MEMORY.md").read_text()
    if where == "elsewhere":
        monkeypatch.setenv("MAIT_CODE_DATA_DIR", str(home / "other"))
    if where == "link":
        folder = home / ".claude/projects/-home-me/memory"
        folder.mkdir(parents=True)
        (folder / "MEMORY.md").symlink_to(data / "memory/MEMORY.md")
    client = home / ".claude"
    named = {"client": client, "elsewhere": client, "data": data, "memory": data / "memory"}.get(where)
    done = cli("import", "claude-native", *([] if named is None else [str(named)]))
    assert done.code == (0 if named is None else 1), done.out + done.err
    if where in ("data", "memory"):
        assert "is a data directory of mait-code" in done.err
    assert rows("SELECT content FROM memory_entries") == ([] if where == "elsewhere" else [("foo",)])


def test_sections_of_ours_in_a_file_of_the_client(cli: Cli, home: Path) -> None:
    """A user may have moved their MEMORY.md there. What fenced code shows of markers is text like any other."""
    from mait_code.projections.memory_file import DEFAULT

    folder = home / ".claude/projects/-home-me-rocket/memory"
    folder.mkdir(parents=True)
    ours = "## Facts\n<!-- mait-code:facts -->\n- kept by us\n- and this\n<!-- /mait-code -->\n"
    code = "```\n<!-- mait-code:tasks -->\n- shown\n<!-- /mait-code -->\n```"
    (folder / "MEMORY.md").write_text(f"{DEFAULT}- mine\n{ours}\n{code}\n<!-- /mait-code -->\nrest\n")
    (folder / "topic.md").write_text(f"---\ntype: user\n---\nbefore\n{ours}")
    done = cli("import", "claude-native")
    assert done.code == 0
    assert done.err.count("between the markers of mait-code is not imported") == 2
    found = [row[0] for row in rows("SELECT content FROM memory_entries ORDER BY content")]
    assert found == [f"{code}\nrest", "before", "mine"]
    assert "0 new, 3 known already" in cli("import", "claude-native").out


# -- times, progress, speed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "micros"),
    [
        ("2025-01-02T06:40:00+00:00", 1_735_800_000_000_000),
        ("2025-01-02 06:40:00", 1_735_800_000_000_000),
        ("2025-01-02T06:40:00.5Z", 1_735_800_000_500_000),
        ("2025-01-02T08:40:00+02:00", 1_735_800_000_000_000),
        (1_735_800_000, 1_735_800_000_000_000),
        (1_735_800_000_123, 1_735_800_000_123_000),
        (1_735_800_000_123_456, 1_735_800_000_123_456),
        ("1735800000123", 1_735_800_000_123_000),
        (1_735_800_000.25, 1_735_800_000_250_000),
        *(
            (odd, None)
            for odd in (
                "",
                "soon",
                None,
                -5,
                0,
                float("nan"),
                float("inf"),
                "1931-01-01",
                10**30,
                b"\xff",
                "9999-12-31T23:59:59-14:00",
            )
        ),
    ],
)
def test_times_as_others_write_them(value: Any, micros: int | None) -> None:
    assert moment(value) == micros


def test_lists_as_others_write_them() -> None:
    assert listed('["a", 1, null, ""]') == ["a", "1"]
    assert listed("plain") == ["plain"]
    assert listed('"one"') == ["one"]
    assert listed(None) == []


def test_progress_is_shown_on_a_terminal(tmp_path: Path, terminal: Callable[..., str], cli: Cli) -> None:
    peer = peers.large(tmp_path / "peer", 6000)
    assert "rows brought in " in terminal("import", "mait-code", str(peer))


@pytest.mark.slow
def test_ten_thousand_rows_within_a_minute(tmp_path: Path, program: Callable[..., Any]) -> None:
    peer = peers.large(tmp_path / "peer", 10_000)
    started = time.monotonic()
    done = program("import", "mait-code", str(peer))
    took = time.monotonic() - started
    assert done.code == 0, done.err
    assert took < 60
    assert rows("SELECT count(*) FROM memory_entries") == [(10_000,)]
