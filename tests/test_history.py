"""history: every event of a thing, who, where and when, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from two_machines import Machine, exchange

if TYPE_CHECKING:
    pass


def changes(machine: Machine, *arguments: str) -> list[dict[str, tuple[Any, Any]]]:
    """What each event changed: field -> (before, after)."""
    return [
        {one["field"]: (one["before"], one["after"]) for one in step["changes"]}
        for step in machine.json("history", *arguments)
    ]


def test_a_card(desk: Machine) -> None:
    made = desk.json("board", "add", "Fix the login", "--priority", "high")
    desk.ok("board", "edit", "1", "--title", "Fix the logout", "--description", "two\nlines")
    desk.ok("board", "move", "1", "done", "--as", "claude")
    desk.ok("board", "tag", "1", "web")
    desk.ok("board", "comment", "1", "first line\nsecond line")
    desk.ok("board", "ref", "add", "1", "pr", "https://example.org/1")
    desk.ok("undo")
    found = desk.json("history", "1")
    assert [one["kind"] for one in found] == [
        "card.created", "card.edited", "card.moved", "card.tagged", "card.commented", "card.referenced",
        "card.unreferenced",
    ]  # fmt: skip
    assert set(found[0]) == {
        "event", "kind", "time", "at", "entity", "actor", "session", "replica", "machine", "seq", "tx", "undoes",
        "newer", "data", "changes",
    }  # fmt: skip
    assert [one["seq"] for one in found] == list(range(1, 8))
    assert {one["entity"] for one in found} == {f"card/{made['id']}"}
    assert [one["actor"] for one in found[:3]] == ["me", "me", "claude"]
    assert found[6]["undoes"] == found[5]["tx"]
    assert found[2]["data"] == {"status": "done"}, "as every other JSON calls it"
    told = changes(desk, "1")
    assert told[0]["title"] == (None, "Fix the login")
    assert told[1] == {"title": ("Fix the login", "Fix the logout"), "description": (None, "two\nlines")}
    assert told[2] == {"status": ("backlog", "done")}
    assert told[3] == {"tag:web": (None, True)}
    text = desk.ok("history", "1").out
    for words in (
        f"card {made['short']}  Fix the logout", "title: Fix the login → Fix the logout", "status: backlog → done",
        "claude on ", "tag web: yes", "      first line\n      second line\n", "pr: https://example.org/1",
        f"takes back {found[5]['tx'][:8]}", "      + two\n      + lines\n",
    ):  # fmt: skip
        assert words in text, words
    assert "column" not in text
    assert text.count(" UTC  ") == 7


def test_two_machines(desk: Machine, lap: Machine) -> None:
    desk.ok("init", "--label", "the desk")
    lap.ok("init", "--label", "the laptop")
    desk.ok("board", "add", "one")
    exchange(desk, lap)
    lap.ok("board", "move", "1", "done", "--as", "claude")
    exchange(desk, lap)
    assert [(one["machine"], one["actor"]) for one in desk.json("history", "1")] == [
        ("the desk", "me"), ("the laptop", "claude"),
    ]  # fmt: skip
    assert "claude on the laptop  card.moved" in desk.ok("history", "1").out
    assert desk.json("history", "1") == lap.json("history", "1")


def test_items_and_reminders(desk: Machine) -> None:
    item = desk.json("inbox", "add", "buy milk")
    desk.ok("inbox", "triage", item["short"], "--to", "reminder", "--when", "2090-01-02 9:00")
    assert changes(desk, item["short"])[1]["done"][1]["outcome"] == "reminder"
    one = desk.json("reminders")[0]
    desk.ok("reminders", "snooze", one["short"], "2090-01-03 9:00")
    desk.ok("reminders", "dismiss", one["short"])
    assert [step["kind"] for step in desk.json("history", one["short"])] == [
        "reminder.set", "reminder.snoozed", "reminder.dismissed",
    ]  # fmt: skip
    text = desk.ok("history", one["short"]).out
    assert "when: 2090-01-02 09:00 UTC" in text
    assert "the occurrence of 2090-01-02 09:00: put off until 2090-01-03 09:00 UTC" in text
    assert "put off until 2090-01-03 09:00 UTC → dismissed" in text


def test_deleted_things(desk: Machine) -> None:
    for words in (["board", "add", "a"], ["inbox", "add", "b"], ["reminders", "set", "2090-01-02", "c"]):
        made = desk.json(*words)
        desk.ok(words[0], "remove", made["short"])
        assert changes(desk, made["short"])[1] == {"deleted": (None, True)}
        assert "deletion: yes" in desk.ok("history", made["short"]).out
        desk.ok("undo")
        assert changes(desk, made["short"])[2] == {"deleted": (True, False)}


def test_the_ways_to_name_a_thing(desk: Machine) -> None:
    made = desk.json("board", "add", "one")
    id_, short = made["id"], made["short"]
    for text in (
        "1",
        "#1",
        short,
        short.upper(),
        f"#{short}",
        id_,
        id_.upper(),
        id_[:6],
        f"card/{id_}",
        f"CARD/{short}",
        " 1 ",
    ):
        assert desk.json("history", text)[0]["entity"] == f"card/{id_}", text
    for text in ("2", "card/2", "inbox/1", "nonsense", "", "/", "card/", "%", "_", "1'"):
        done = desk("history", text)
        assert done.code == 1, text
        assert done.err.startswith("mait-code: ")


def test_an_ambiguous_beginning(desk: Machine) -> None:
    items = [desk.json("inbox", "add", f"thought {number}")["id"] for number in range(60)]
    letter = max("abcdefghjkmnpqrstvwxyz", key=lambda one: sum(id_.startswith(one) for id_ in items))
    done = desk("history", letter)
    assert done.code == 1
    assert "names several" in done.err
    assert "(thought " in done.err


def test_a_replica(desk: Machine) -> None:
    desk.ok("init", "--label", "den")
    desk.ok("init", "--label", "attic")
    entity = next(one["entity"] for one in desk.json("log") if one["kind"] == "journal.replica_labelled")
    assert changes(desk, entity)[-1]["label"][1] == "attic"


def test_long_odd_and_hostile_text(desk: Machine) -> None:
    title = "漢字 שלום 🎉 naïve " * 500
    desk.ok("board", "add", title)
    desk.ok("board", "edit", "1", "--description", "\x1b]0;owned\x07\x1b[2J\u202eevil\r\nnext")
    text = desk.ok("history", "1").out
    assert title.strip() in text
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "\\x1b]0;owned\\x07" in text
    assert "\r" not in text
    assert desk.json("history", "1")[1]["data"]["description"].startswith("\x1b]0;owned")


def test_written_by_a_newer_version(desk: Machine, lap: Machine) -> None:
    import orjson

    from mait_code.journal.sha import hex_prefix

    desk.ok("board", "add", "one")
    path = desk.segment()
    (line,) = desk.files()[path].splitlines()
    raw = orjson.loads(line)
    raw |= {"kind": "card.weighed", "id": "f" * 20, "seq": 2, "at": "2090-01-01T00:00:00.000000Z", "data": {"kg": 3}}
    del raw["sum"]
    body = orjson.dumps(raw)
    cut = body.index(b',"data":')
    desk.put(path, line + b"\n" + body[:cut] + b',"sum":"' + hex_prefix(body).encode() + b'"' + body[cut:] + b"\n")
    found = desk.json("history", "1")
    assert [one["newer"] for one in found] == [False, True]
    assert found[1]["changes"] == []
    assert "by a newer version" in desk.ok("history", "1").out
    assert "newer version" in desk.refused("undo", "ffff")
