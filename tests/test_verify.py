"""verify, rebuild: each exit code is produced by a journal or a store that really is so."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from two_machines import Machine

from mait_code.projections import stores
from mait_code.projections.stores import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path, "desk", cli, monkeypatch)
    machine.ok("board", "add", "first")
    machine.ok("board", "move", "1", "done")
    machine.ok("inbox", "add", "a thought")
    machine.ok("reminders", "set", "in 2 weeks", "look")
    return machine


def lines(machine: Machine) -> list[bytes]:
    return machine.files()[machine.segment()].splitlines(keepends=True)


def rewrite(machine: Machine, content: list[bytes]) -> None:
    machine.put(machine.segment(), b"".join(content))


def test_clean(desk: Machine) -> None:
    done = desk("verify")
    assert done.code == 0
    assert "4 events" in done.out
    assert "clean" in done.out
    found = desk("verify", "--json")
    assert found.code == 0
    assert found.json == {
        "events": 4, "unreadable": [], "bad": [], "accepted": [], "torn": [], "newer": [], "notes": [], "gaps": [], "gone": 0,
        "stores_differ": [], "exit_code": 0,
    }  # fmt: skip


def test_before_anything_exists(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Machine(tmp_path, "bare", cli, monkeypatch)
    assert bare("verify").code == 0
    assert bare("rebuild", "--check").code == 0
    assert bare("digest").code == 0
    assert bare("replicas").code == 0
    assert not os.path.exists(bare.home.data), "looking makes nothing"


def test_bad_lines_give_3(desk: Machine) -> None:
    content = lines(desk)
    rewrite(desk, [*content, b"not json\n", b'{"kind":"card.moved"}\n', b"\xff\xfe\n"])
    done = desk("verify")
    assert done.code == 3
    assert f"bad line: journal/{desk.segment()}:5: not JSON" in done.out
    assert f"bad line: journal/{desk.segment()}:7: not UTF-8" in done.out
    found = desk("verify", "--json").json
    assert [one["line"] for one in found["bad"]] == [5, 6, 7]
    assert found["exit_code"] == 3
    assert found["events"] == 4


def test_a_gap_gives_4(desk: Machine, lap: Machine) -> None:
    """The other machine's file came with a line missing: it was never here."""
    content = lines(desk)
    lap.put(desk.segment(), b"".join([content[0], content[3]]))
    done = lap("verify")
    assert done.code == 4
    assert f"missing: events 2 to 3 of replica {desk.replica}" in done.out
    assert lap("verify", "--json").json["gaps"] == [{"replica": desk.replica, "first": 2, "last": 3}]


def test_a_gap_that_adopted_lines_fill_is_none(desk: Machine, lap: Machine) -> None:
    content = lines(desk)
    lap.put(desk.segment(), b"".join([content[0], content[3]]))
    lap.put("abcdefgh/000001.jsonl", b"".join(content[1:3]))
    assert lap("verify").code == 0


def test_events_that_are_gone_give_4(desk: Machine) -> None:
    content = lines(desk)
    rewrite(desk, content[:3])
    done = desk("verify")
    assert done.code == 4
    assert "doctor --fix" in done.out
    assert desk("verify", "--json").json["gone"] == 1


@pytest.mark.parametrize(
    ("store", "statement"),
    [
        ("board", "UPDATE entities SET state = CAST(replace(state, 'done', 'doom') AS BLOB)"),
        ("board", "UPDATE entities SET state = replace(state, 'done', 'doom')"),
        ("board", "UPDATE cards SET title = 'forged'"),
        ("board", "INSERT INTO conflicts VALUES ('abcdefghjkmn', 'title', 'card')"),
        ("inbox", "DELETE FROM inbox_items"),
        ("reminders", "UPDATE reminders SET next_at = NULL"),
    ],
)
def test_a_store_that_differs_gives_5(desk: Machine, store: str, statement: str) -> None:
    db = apsw.Connection(desk.home.in_state(f"{store}.db"))
    db.execute(statement)
    assert db.total_changes()
    db.close()
    done = desk("verify")
    assert done.code == 5
    assert f"mait-code rebuild {store}" in done.out
    assert desk("verify", "--json").json["stores_differ"] == [store]
    checked = desk("rebuild", "--check")
    assert checked.code == 5
    assert f"{store}: differs" in checked.out
    assert desk("rebuild", "--check", store).code == 5
    other = next(name for name in stores.NAMES if name != store)
    assert desk("rebuild", "--check", other).code == 0
    assert desk("rebuild", store).code == 0
    assert desk("verify").code == 0


def test_the_gravest_counts(desk: Machine) -> None:
    content = lines(desk)
    rewrite(desk, [*content[:3], b"not json\n"])
    assert desk("verify").code == 4
    db = apsw.Connection(desk.home.in_state("board.db"))
    db.execute("UPDATE cards SET title = 'forged'")
    db.close()
    assert desk("verify").code == 5


def test_what_is_odd_but_read(desk: Machine) -> None:
    content = lines(desk)
    rewrite(desk, [b"\xef\xbb\xbf" + content[0], *(line.replace(b"\n", b"\r\n") for line in content[1:])])
    done = desk("verify")
    assert done.code == 0, done.out
    assert "odd, but read" in done.out
    assert {one["reason"] for one in desk("verify", "--json").json["notes"]} == {"CRLF line ending", "byte order mark"}
    assert len(desk.json("board", "list")) == 1


def test_newer_lines(desk: Machine) -> None:
    import orjson

    from mait_code.journal.sha import hex_prefix

    raw = orjson.loads(lines(desk)[-1])
    raw |= {"kind": "card.weighed", "v": 1, "id": "f" * 20, "seq": 5, "entity": "card/abcdefghjkmn", "data": {"kg": 3}}
    del raw["sum"]
    body = orjson.dumps(raw)
    before, after = body[: body.index(b',"data":')], body[body.index(b',"data":') :]
    rewrite(desk, [*lines(desk), before + b',"sum":"' + hex_prefix(body).encode() + b'"' + after + b"\n"])
    done = desk("verify")
    assert done.code == 0, done.out
    assert "newer than this program" in done.out
    assert desk("verify", "--json").json["newer"][0]["reason"] == "card.weighed version 1"


def test_rebuild(desk: Machine) -> None:
    before = desk.digest()
    for name in NAMES:
        os.unlink(desk.home.in_state(f"{name}.db"))
    assert desk.digest() == before
    done = desk.ok("rebuild")
    assert done.out.splitlines() == [
        "board: 2 events", "inbox: 1 event", "reminders: 1 event", "memory: 0 events", "projects: 0 events", "journal: 4 events",
    ]  # fmt: skip
    assert desk.json("rebuild", "inbox") == [{"store": "inbox", "events": 1}]
    assert desk.json("rebuild", "--check")[0] == {"store": "board", "differs": False}
    assert desk("rebuild", "nonsense").code == 2
    assert desk.digest() == before


def test_reading_goes_on_while_a_store_is_made_again(desk: Machine) -> None:
    """Others see the old states until the new ones are there."""
    board = stores.board(desk.home)
    board.catch_up()
    index = board.begin_anew()
    assert len(desk.json("board", "list")) == 1
    board.db.execute("ROLLBACK")
    board.close()
    del index
    assert desk("verify").code == 0
