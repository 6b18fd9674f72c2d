"""conflicts: both sides are shown with who and where, and a pick closes them on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from two_machines import Machine, exchange

from mait_code.commands import conflicts
from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def machine(tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Machine]:
    return lambda name: Machine(tmp_path, name, cli, monkeypatch)


@pytest.fixture
def desk(machine: Callable[[str], Machine]) -> Machine:
    return machine("desk")


@pytest.fixture
def lap(machine: Callable[[str], Machine]) -> Machine:
    return machine("lap")


def apart(desk: Machine, lap: Machine, first: list[str], second: list[str]) -> None:
    """Both machines know the same, each does its own, then they meet."""
    exchange(desk, lap)
    desk.ok(*first)
    lap.ok(*second)
    exchange(desk, lap)


def side(conflict: Any, value: Any) -> str:
    """The number of the side that says so."""
    return str(next(n for n, one in enumerate(conflict["sides"], 1) if one["value"] == value))


def test_none(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    assert desk.json("conflicts") == []
    assert desk.json("conflicts", "list") == []
    assert "No open conflicts" in desk.ok("conflicts").out
    assert "card 1" in desk.refused("conflicts", "show", "1")
    assert "not in conflict" in desk.refused("conflicts", "pick", "1", "1")


def test_two_columns(desk: Machine, lap: Machine) -> None:
    desk.ok("init", "--label", "the desk")
    lap.ok("init", "--label", "the laptop")
    made = desk.json("board", "add", "Fix the login")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review", "--as", "claude"])
    (conflict,) = desk.json("conflicts")
    assert set(conflict) == {"kind", "id", "short", "title", "field", "sides"}
    assert conflict["kind"] == "card"
    assert (conflict["id"], conflict["short"]) == (made["id"], made["short"])
    assert conflict["field"] == "status"
    assert [(one["value"], one["actor"], one["machine"]) for one in conflict["sides"]] == [
        ("done", "me", "the desk"),
        ("in_review", "claude", "the laptop"),
    ]
    assert [one["stands"] for one in conflict["sides"]] == [False, True]
    assert desk.json("board", "show", "1")["status"] == "in_review"
    text = desk.ok("conflicts").out
    for words in ("Fix the login", "status:", "done", "me on the desk", "claude on the laptop", "shown meanwhile"):
        assert words in text
    assert "column" not in text
    assert "conflicts pick" in desk.ok("conflicts").err


def test_a_pick_closes_it_everywhere(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    (conflict,) = desk.json("conflicts", "show", "1")
    done = desk.ok("conflicts", "pick", "1", "status", side(conflict, "done"))
    assert "done" in done.out
    assert desk.json("conflicts") == []
    exchange(desk, lap)
    assert lap.json("conflicts") == []
    assert lap.json("board", "show", "1")["status"] == "done"


def test_two_titles_by_value(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "edit", "1", "--title", "the 2nd"], ["board", "edit", "1", "--title", "2"])
    (conflict,) = desk.json("conflicts")
    assert desk("conflicts", "pick", "1", "title", "neither", "--value").code == 2
    assert desk("conflicts", "pick", "1", "title", "the 2nd").code == 2
    picked = desk.json("conflicts", "pick", "1", "title", "the 2nd", "--value")
    assert picked["picked"]["value"] == "the 2nd"
    assert picked["event"]
    assert picked["field"] == conflict["field"] == "title"
    exchange(desk, lap)
    assert lap.json("board", "show", "1")["title"] == "the 2nd"
    assert lap.json("conflicts") == []


@pytest.mark.parametrize("number", ["0", "3", "99999999999999999999", "x", "", "-1"])
def test_no_such_side(desk: Machine, lap: Machine, number: str) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "archived"])
    assert desk("conflicts", "pick", "1", "status", "--", number).code == 2
    assert len(desk.json("conflicts")) == 1


def test_several_fields_of_one_card(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(
        desk, lap,
        ["board", "edit", "1", "--title", "a", "--priority", "high"],
        ["board", "edit", "1", "--title", "b", "--priority", "low"],
    )  # fmt: skip
    assert [one["field"] for one in desk.json("conflicts", "show", "1")] == ["priority", "title"]
    done = desk("conflicts", "pick", "1", "1")
    assert done.code == 1
    assert "priority, title" in done.err
    assert "not in conflict" in desk.refused("conflicts", "show", "1", "status")
    assert len(desk.json("conflicts", "show", "1", "Title")) == 1
    desk.ok("conflicts", "pick", "1", "title", "1")
    desk.ok("conflicts", "pick", "1", "2")  # only one is left, so it needs no name
    assert desk.json("conflicts") == []
    assert desk("conflicts", "pick", "1", "a", "title", "1").code == 2


def test_the_same_on_both_is_no_conflict(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "done"])
    assert desk.json("conflicts") == []


def test_three_sides_two_of_which_agree(machine: Callable[[str], Machine]) -> None:
    all_of_them = [machine(name) for name in ("a", "b", "c", "d")]
    first = all_of_them[0]
    first.ok("board", "add", "one")
    for other in all_of_them[1:]:
        first.send_to(other)
    for one, column in zip(all_of_them, ("done", "in_review", "archived", "done"), strict=True):
        one.ok("board", "move", "1", column)
    for _ in range(2):
        for other in all_of_them[1:]:
            exchange(first, other)
    (conflict,) = first.json("conflicts")
    assert sorted(one["value"] for one in conflict["sides"]) == ["archived", "done", "in_review"]
    assert [one["stands"] for one in conflict["sides"]] == [False, False, True]
    first.ok("conflicts", "pick", "1", side(conflict, "archived"))
    for other in all_of_them[1:]:
        exchange(first, other)
        assert other.json("conflicts") == []
        assert other.json("board", "show", "1")["status"] == "archived"


def test_any_later_write_that_saw_both_closes_it(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    lap.ok("board", "move", "1", "refined")
    exchange(desk, lap)
    assert desk.json("conflicts") == lap.json("conflicts") == []


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "deleted"])
def test_edit_against_delete(desk: Machine, lap: Machine, keep: bool) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "remove", "1"], ["board", "edit", "1", "--title", "worked on"])
    assert desk.json("board", "list") == []
    (conflict,) = desk.json("conflicts")
    assert conflict["field"] == "deleted"
    assert [one["value"] for one in conflict["sides"]] == [True, False]
    assert conflict["sides"][1]["fields"] == ["title"]
    text = desk.ok("conflicts", "show", "1").out
    assert "kept, with title" in text
    desk.ok("conflicts", "pick", "1", side(conflict, not keep))
    exchange(desk, lap)
    for one in (desk, lap):
        assert one.json("conflicts") == []
        assert [card["title"] for card in one.json("board", "list")] == (["worked on"] if keep else [])


def test_edit_against_delete_is_kept_by_value(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "remove", "1"], ["board", "edit", "1", "--title", "worked on"])
    desk.ok("conflicts", "pick", "1", "deleted", "kept, with title", "--value")
    assert desk.json("conflicts") == []
    assert len(desk.json("board", "list")) == 1


def test_deleted_on_one_and_restored_on_the_other(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "remove", "1")
    exchange(desk, lap)
    lap.ok("board", "restore", "1")
    lap.ok("board", "remove", "1")
    desk.ok("board", "restore", "1")
    exchange(desk, lap)
    assert [one["field"] for one in desk.json("conflicts")] == ["deleted"]
    desk.ok("conflicts", "pick", "1", "2")
    exchange(desk, lap)
    assert len(lap.json("board", "list")) == 1
    assert lap.json("conflicts") == []


def test_long_and_many_line_bodies(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    long = "z" * 10_000
    apart(
        desk, lap,
        ["board", "edit", "1", "--description", "first line\nsecond\tline\n\x1b[31mred"],
        ["board", "edit", "1", "--description", long],
    )  # fmt: skip
    text = desk.ok("conflicts").out
    assert "         first line\n         second\tline\n         \\x1b[31mred\n" in text
    assert f"         {long}\n" in text
    assert "\x1b" not in text
    desk.ok("conflicts", "pick", "1", "description", "1")
    assert desk.json("board", "show", "1")["description"].startswith("first line\nsecond")


def test_tags(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "tag", "1", "to do")
    exchange(desk, lap)
    desk.ok("board", "untag", "1", "to do")
    desk.ok("board", "tag", "1", "to do")
    lap.ok("board", "untag", "1", "to do")
    exchange(desk, lap)
    (conflict,) = desk.json("conflicts")
    assert conflict["field"] == "tag:to do"
    text = desk.ok("conflicts").out
    assert "with tag to do" in text
    assert "without tag to do" in text
    desk.ok("conflicts", "pick", "1", "tag:to do", side(conflict, False))
    exchange(desk, lap)
    assert lap.json("board", "show", "1")["tags"] == []


def test_different_things_do_not_meet(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "tag", "1", "a"], ["board", "tag", "1", "b"])
    apart(desk, lap, ["board", "comment", "1", "x"], ["board", "comment", "1", "y"])
    apart(desk, lap, ["board", "edit", "1", "--title", "new"], ["board", "move", "1", "done"])
    assert desk.json("conflicts") == []
    now = desk.json("board", "show", "1")
    assert (now["tags"], now["title"], now["status"], len(now["comments"])) == (["a", "b"], "new", "done", 2)


def test_inbox_body_and_done(desk: Machine, lap: Machine) -> None:
    item = desk.json("inbox", "add", "buy milk")["short"]
    apart(desk, lap, ["inbox", "edit", item, "buy oat milk"], ["inbox", "edit", item, "buy soy milk"])
    (conflict,) = lap.json("conflicts")
    assert (conflict["kind"], conflict["field"]) == ("inbox", "body")
    lap.ok("conflicts", "pick", item, side(conflict, "buy oat milk"))
    apart(desk, lap, ["inbox", "triage", item, "--to", "card"], ["inbox", "done", item])
    (conflict,) = desk.json("conflicts")
    assert conflict["field"] == "done"
    outcomes = [one["value"]["outcome"] for one in conflict["sides"]]
    assert sorted(outcomes) == ["card", "done"]
    assert "card, as card/" in desk.ok("conflicts").out
    desk.ok("conflicts", "pick", item, "done", str(outcomes.index("card") + 1))
    exchange(desk, lap)
    assert lap.json("conflicts") == []
    assert lap.json("inbox", "show", item)["outcome"] == "card"


def test_reminders(desk: Machine, lap: Machine) -> None:
    one = desk.json("reminders", "set", "in 2 weeks", "look")["short"]
    apart(
        desk, lap,
        ["reminders", "edit", one, "--when", "2090-01-02 10:00", "--what", "look here"],
        ["reminders", "edit", one, "--when", "every monday 9am", "--what", "look there"],
    )  # fmt: skip
    found = {conflict["field"]: conflict for conflict in desk.json("conflicts")}
    assert set(found) == {"when", "what"}
    values = [each["value"] for each in found["when"]["sides"]]
    assert {"due": "2090-01-02T10:00", "zone": "UTC"} in values
    text = desk.ok("conflicts").out
    assert "2090-01-02 10:00 UTC" in text
    assert "every Monday" in text
    wanted = {"due": "2090-01-02T10:00", "zone": "UTC"}
    desk.ok("conflicts", "pick", one, "when", side(found["when"], wanted))
    desk.ok("conflicts", "pick", one, "what", side(found["what"], "look there"))
    exchange(desk, lap)
    assert lap.json("conflicts") == []
    now = lap.json("reminders", "show", one)
    assert (now["due"], now["what"], now["rule"]) == ("2090-01-02T10:00:00Z", "look there", None)


def test_two_snoozes_of_one_occurrence(desk: Machine, lap: Machine) -> None:
    one = desk.json("reminders", "set", "2090-01-02 10:00", "look")["short"]
    apart(
        desk, lap,
        ["reminders", "snooze", one, "2090-01-03 10:00"],
        ["reminders", "snooze", one, "2090-01-04 10:00"],
    )  # fmt: skip
    (conflict,) = desk.json("conflicts")
    assert conflict["field"] == "occurrence:2090-01-02T10:00"
    assert "put off until 2090-01-03 10:00 UTC" in desk.ok("conflicts").out
    desk.ok("conflicts", "pick", one, "1")
    exchange(desk, lap)
    assert lap.json("reminders", "show", one)["due"] == "2090-01-03T10:00:00Z"
    assert lap.json("conflicts") == []


def test_dismissed_wins_over_put_off(desk: Machine, lap: Machine) -> None:
    one = desk.json("reminders", "set", "2090-01-02 10:00", "look")["short"]
    apart(desk, lap, ["reminders", "snooze", one, "2090-01-03 10:00"], ["reminders", "dismiss", one])
    for each in (desk, lap):
        assert each.json("conflicts") == []
        assert each.json("reminders", "show", one)["dismissed"] is True


def test_a_claim_has_a_winner_and_no_conflict(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(
        desk, lap,
        ["board", "next", "--claim", "--session", "s1", "--pid", "1"],
        ["board", "next", "--claim", "--session", "s2", "--pid", "1"],
    )  # fmt: skip
    assert desk.json("conflicts") == lap.json("conflicts") == []
    assert desk.json("board", "show", "1")["bound"]["session"] == "s2"


def test_what_took_the_place_of_a_memory_is_told_in_words(desk: Machine, lap: Machine) -> None:
    id_ = desk.json("memory", "store", "the port is 1")["id"]
    apart(desk, lap, ["memory", "supersede", id_, "the port is 2"], ["memory", "supersede", id_, "the port is 3"])
    shorts = {one["content"]: one["short"] for one in desk.json("memory", "list")}
    for out in (desk.ok("conflicts").out, desk.ok("conflicts", "show", id_).out):
        assert f"{shorts['the port is 2']}: the port is 2" in out
        assert f"{shorts['the port is 3']}: the port is 3" in out
        assert "memory/" not in out
    (conflict,) = desk.json("conflicts")
    assert all(one["value"].startswith("memory/") for one in conflict["sides"])
    picked = desk.ok("conflicts", "pick", id_, f"{shorts['the port is 3']}: the port is 3", "--value").out
    assert f"superseded: {shorts['the port is 3']}: the port is 3" in picked
    assert desk.json("conflicts") == []


def test_a_pick_is_told_by_what_the_thing_is_called_now(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "edit", "1", "--title", "edit on a"], ["board", "edit", "1", "--title", "edit on b"])
    (conflict,) = desk.json("conflicts")
    chosen = next(one["value"] for one in conflict["sides"] if not one["stands"])
    done = desk.ok("conflicts", "pick", "1", side(conflict, chosen)).out
    assert done.splitlines()[0].endswith(f" {chosen}; the conflict is closed.")
    assert desk.json("board", "show", "1")["title"] == chosen


def test_picked_meanwhile(desk: Machine, lap: Machine) -> None:
    """Decided under the lock: another process's pick, or a third side, is noticed."""
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    with Workspace(desk.home) as ws:
        (conflict,) = conflicts.listed(ws)
        desk.ok("conflicts", "pick", "1", "1")
        with pytest.raises(conflicts.NotFound, match="not in conflict any more"):
            conflicts.pick(ws, conflict, 2)


def test_a_third_side_meanwhile(desk: Machine, lap: Machine, machine: Callable[[str], Machine]) -> None:
    third = machine("third")
    desk.ok("board", "add", "one")
    desk.send_to(third)
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    third.ok("board", "move", "1", "archived")
    with Workspace(desk.home) as ws:
        (conflict,) = conflicts.listed(ws)
        third.send_to(desk)
        desk.enter()
        with pytest.raises(conflicts.Refused, match="changed again meanwhile"):
            conflicts.pick(ws, conflict, 1)
    assert len(desk.json("conflicts")[0]["sides"]) == 3


def test_both_pick_the_same(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    desk.ok("conflicts", "pick", "1", "1")
    lap.ok("conflicts", "pick", "1", "1")
    exchange(desk, lap)
    assert desk.json("conflicts") == lap.json("conflicts") == []


def test_both_pick_another(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    desk.ok("conflicts", "pick", "1", "1")
    lap.ok("conflicts", "pick", "1", "2")
    exchange(desk, lap)
    (conflict,) = desk.json("conflicts")
    assert {one["value"] for one in conflict["sides"]} == {"done", "in_review"}


def test_on_a_terminal(desk: Machine, lap: Machine, terminal: Callable[..., str]) -> None:
    desk.ok("board", "add", "\u05e9\u05dc\u05d5\u05dd \u202e evil 漢字 🎉")
    apart(desk, lap, ["board", "move", "1", "done"], ["board", "move", "1", "in_review"])
    coloured = terminal("conflicts", "list", env=desk.environment)
    assert "\x1b[1mdone\x1b[0m" in coloured
    assert "\\u202e" in coloured
    assert "漢字 🎉" in coloured
    plain = terminal("conflicts", "list", env={**desk.environment, "NO_COLOR": "1"})
    assert "\x1b" not in plain
