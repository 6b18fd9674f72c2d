"""Memory commands through the real command line: listing, changing, replacing, reviewing, and taking it all back."""

from __future__ import annotations

import itertools
import random
import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from two_machines import Machine, exchange

from mait_code.journal import clock
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]

DAY = 86_400 * clock.SECOND
MEMORY_KEYS = {
    "id", "short", "content", "entry_type", "importance", "memory_class", "scope", "project", "branch", "created_at",
    "last_seen_at", "seen_count", "reviewed_at", "superseded_by", "superseded_at", "retired_at", "pinned", "tags", "ref",
    "refs", "newer", "session", "copies", "conflicts",
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("rocket")


def done(cli: Cli, *arguments: str) -> Any:
    """Run a memory command that must succeed, and return what it says as JSON."""
    result = cli("memory", "--json", *arguments)
    assert result.code == 0, result.err
    return result.json


def stored(cli: Cli, *arguments: str) -> str:
    """Store a memory; returns its short id."""
    return str(done(cli, "store", *arguments)["short"])


def refused(cli: Cli, *arguments: str, code: int = 1) -> str:
    """Run a memory command that must fail, and return the one line that says why."""
    result = cli("memory", *arguments)
    assert (result.code, result.out) == (code, ""), (result.code, result.out, result.err)
    assert result.err.startswith("mait-code: ")
    assert len(result.err.splitlines()) <= 3
    return str(result.err.splitlines()[0])


def contents(cli: Cli, *arguments: str) -> list[str]:
    return [one["content"] for one in done(cli, "list", *arguments)]


def events(home: Path) -> list[dict[str, Any]]:
    """Every event of the journal."""
    lines = b"".join(path.read_bytes() for path in (home / "data" / "journal").glob("*/*.jsonl")).splitlines()
    return [orjson.loads(line) for line in lines]


def told(home: Path, content: str, days_ago: float, **more: Any) -> str:
    """A memory of an earlier day, as an import would bring it."""
    own = Home(str(home / "data"))
    with Journal(own).writing(stores.memory(own)) as writer:
        data = {"content": content, "type": "fact", "scope": "project", "project": "rocket", **more}
        return writer.append("memory.stored", wall=clock.wall() - int(days_ago * DAY), **data).entity.partition("/")[2]


# -- listing ----------------------------------------------------------------------------------------------------------


def test_nothing_there_is_said_everywhere(cli: Cli) -> None:
    assert "mait-code memory store" in cli("memory").out
    assert "mait-code memory store" in cli("memory", "list").out
    assert cli("memory", "list", "--type", "fact").out == "Nothing here.\n"
    assert cli("memory", "review").out == "Nothing is due for review.\n"
    assert done(cli, "list") == done(cli) == []
    assert done(cli, "review") == {"due": []}
    assert done(cli, "stats")["live"] == 0
    assert cli("memory", "stats").code == 0
    assert done(cli, "reindex")["texts"] == 0
    assert "nothing found" in refused(cli, "timeline", "--query", "whatever")


def test_list_is_newest_first_and_cut(cli: Cli, home: Path) -> None:
    for number in range(12):
        told(home, f"memory number {number}", 12 - number)
    listed = done(cli, "list")
    assert [one["content"] for one in listed] == [f"memory number {number}" for number in range(11, 1, -1)]
    assert set(listed[0]) == MEMORY_KEYS
    assert len(done(cli, "list", "--limit", "3")) == 3
    told(home, "word " * 60, 0)
    line = cli("memory", "list", "--limit", "1").out
    assert len(line) < 180
    assert line.endswith("…\n")
    assert refused(cli, "list", "--limit", "0", code=2)


def test_list_narrows(cli: Cli, home: Path) -> None:
    told(home, "old", 10)
    stored(cli, "deploy with make ship", "--type", "procedure", "--tag", "Ops")
    pinned = stored(cli, "tea, not coffee", "--type", "preference")
    done(cli, "pin", pinned)
    assert contents(cli, "--type", "procedure") == contents(cli, "--tag", "ops") == ["deploy with make ship"]
    assert contents(cli, "--pinned") == ["tea, not coffee"]
    assert contents(cli, "--since", "7d") == ["tea, not coffee", "deploy with make ship"]
    assert contents(cli, "--until", "7d") == ["old"]
    assert contents(cli, "--since", "1w", "--until", "24h") == []
    assert "garbage" in refused(cli, "list", "--since", "garbage", code=2)
    assert "nonsense" in refused(cli, "list", "--type", "nonsense", code=2)


def test_every_named_scope_is_honoured(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(cli, "of all", "--scope", "global")
    stored(cli, "of the project")
    stored(cli, "of the branch", "--branch", "feature")
    stored(cli, "of another", "--project", "acme/engine")
    here = {"of all", "of the project"}
    assert set(contents(cli)) == here
    assert set(contents(cli, "--branch", "feature")) == {*here, "of the branch"}
    assert contents(cli, "--scope", "global") == ["of all"]
    assert contents(cli, "--scope", "project") == ["of the project"]
    assert contents(cli, "--scope", "branch") == []
    assert contents(cli, "--scope", "branch", "--branch", "feature") == ["of the branch"]
    assert len(contents(cli, "--scope", "all")) == 4
    assert set(contents(cli, "--project", "engine")) == {"of all", "of another"}  # by its short name
    found = [hit["content"] for hit in done(cli, "search", "of", "the", "another", "--project", "engine")["hits"]]
    assert set(found) <= {"of all", "of another"}
    assert "of another" in found
    monkeypatch.chdir(home_of(tmp_path))
    assert len(contents(cli)) == 4
    assert set(contents(cli, "--scope", "project")) == {"of the project", "of another"}
    assert contents(cli, "--scope", "branch") == ["of the branch"]


def test_an_empty_project_is_none(cli: Cli) -> None:
    assert done(cli, "store", "of none", "--project", "")["scope"] == "global"
    stored(cli, "of the project")
    assert contents(cli, "--project", "") == ["of none"]
    assert done(cli, "store", "x", "--project", "Rocket")["project"] == "rocket"


def test_what_is_told_again_gets_the_new_tags(cli: Cli, home: Path) -> None:
    stored(cli, "the port is 5432", "--tag", "a")
    again = done(cli, "store", "The port is 5432", "--tag", "a", "--tag", "b")
    assert (again["deduplicated"], again["tags"]) == (True, ["a", "b"])
    assert [event["kind"] for event in events(home)] == ["memory.stored", "memory.seen", "memory.edited"]
    assert cli("undo").code == 0
    assert done(cli, "list")[0]["tags"] == ["a"]


def home_of(tmp_path: Path) -> Path:
    """The home directory, which is no project."""
    return tmp_path / "home"


def test_the_summary_is_by_type_five_each(cli: Cli) -> None:
    for number in range(7):
        stored(cli, f"fact number {number}")
    stored(cli, "a decision", "--type", "decision")
    lines = cli("memory").out.splitlines()
    assert lines[0] == "fact (7)"
    assert [line.split("  ")[-1].strip() for line in lines[1:6]] == [
        f"fact number {number}" for number in range(6, 1, -1)
    ]
    assert lines[6] == "decision (1)"
    assert len(lines) == 8
    assert len(done(cli)) == 6


def test_what_would_act_on_a_terminal_is_made_visible(cli: Cli) -> None:
    short = stored(cli, "--", "\x1b[2J gone \u202e back\nsecond line")
    stored(cli, "plain")
    for command in (
        (), ("list",), ("show", short), ("timeline", short), ("stats",), ("export",), ("pin", short), ("unpin", short),
        ("search", "gone"), ("reviewed", short),
    ):  # fmt: skip
        result = cli("memory", *command)
        assert result.code == 0, (command, result.err)
        assert "\x1b" not in result.out, command
        assert "\u202e" not in result.out, command
    assert done(cli, "show", short)["content"] == "\x1b[2J gone \u202e back\nsecond line"


def test_show_tells_all_and_takes_several(cli: Cli) -> None:
    first = stored(cli, "first", "--tag", "a", "--importance", "8")
    second = done(cli, "supersede", first, "second")["short"]
    shown = done(cli, "show", second)
    assert (shown["kind"], set(shown) - {"kind"}) == ("memory", MEMORY_KEYS)
    both = done(cli, "show", first, second)
    assert [one["content"] for one in both] == ["first", "second"]
    text = cli("memory", "show", first, second).out
    assert "importance  8" in text
    assert f"superseded  by {second}" in text
    assert f"supersedes  {first}" in text
    assert "tags        a" in text
    done(cli, "delete", second)
    assert "restore-entry" in cli("memory", "show", second).err
    assert "no memory" in refused(cli, "show", "zzzzz")
    assert refused(cli, "show", code=2)


def test_records_of_sessions_are_shown_and_stand_in_the_timeline(cli: Cli, home: Path) -> None:
    own = Home(str(home / "data"))
    now = clock.wall()
    with Journal(own).writing(stores.memory(own)) as writer:
        # Written out of order, so that ids and places in the file say nothing of time.
        for minutes, kind, data in (
            (
                30,
                "observation.recorded",
                {"type": "bugfix", "title": "Fixed the pump", "facts": ["a", "b"], "concepts": ["pump"]},
            ),
            (50, "prompt.submitted", {"text": "why does the pump leak"}),
            (40, "turn.recorded", {"request": "look at the pump", "answer": "the seal is worn"}),
            (10, "session.summarised", {"request": "pump", "learned": "seals wear"}),
        ):
            fields = {"session": "s1", "project": "rocket", **data}
            writer.append(kind, wall=now - minutes * 60 * clock.SECOND, **fields)
    memory = told(home, "seals are replaced every year", 20 / 1440)
    timeline = done(cli, "timeline", memory)
    assert [one["kind"] for one in timeline] == ["prompt", "turn", "observation", "memory", "summary"]
    assert [one["anchor"] for one in timeline] == [False, False, False, True, False]
    assert [one["kind"] for one in done(cli, "timeline", memory, "--before", "1", "--after", "0")] == [
        "observation",
        "memory",
    ]
    assert [one["kind"] for one in done(cli, "timeline", memory, "--kind", "turn")] == ["turn", "memory"]
    asked = done(cli, "timeline", "--query", "fixed pump", "--before", "0", "--after", "1")
    assert [one["kind"] for one in asked] == ["observation", "memory"]
    text = cli("memory", "timeline", memory).out.splitlines()
    assert [line[0] for line in text] == [" ", " ", " ", ">", " "]
    observation = done(cli, "show", asked[0]["short"])
    assert (observation["kind"], observation["facts"], observation["session_id"]) == ("observation", ["a", "b"], "s1")
    assert "Fixed the pump" in cli("memory", "show", asked[0]["short"]).out
    assert cli("history", asked[0]["short"]).code == 0
    assert "no kind" in refused(cli, "timeline", memory, "--kind", "card", code=2)
    assert refused(cli, "timeline", code=2)
    assert refused(cli, "timeline", memory, "--query", "x", code=2)
    assert refused(cli, "timeline", "--query", " ", code=2)


def test_the_timeline_of_what_is_retired(cli: Cli, home: Path) -> None:
    told(home, "before", 3)
    middle = told(home, "middle", 2)
    told(home, "after", 1)
    done(cli, "retire", middle)
    found = done(cli, "timeline", middle)
    assert [(one["content"], one["anchor"]) for one in found] == [("before", False), ("middle", True), ("after", False)]
    assert "fact, retired" in cli("memory", "timeline", middle).out


# -- changing ---------------------------------------------------------------------------------------------------------


def test_edit_changes_what_is_given_alone(cli: Cli, home: Path) -> None:
    short = stored(cli, "the port is 5432", "--tag", "a", "--tag", "b")
    before = done(cli, "show", short)
    after = done(cli, "edit", short, "the", "port", "is", "5433")
    changed = {name for name in MEMORY_KEYS if after[name] != before[name]}
    assert changed == {"content"}
    assert after["created_at"] == before["created_at"]
    after = done(cli, "edit", short, "--type", "procedure", "--importance", "9", "--tag", "c", "--untag", "a")
    assert (after["entry_type"], after["memory_class"], after["importance"]) == ("procedure", "procedural", 9)
    assert after["tags"] == ["b", "c"]
    assert done(cli, "edit", short, "--scope", "global")["project"] is None
    after = done(cli, "edit", short, "--scope", "branch", "--branch", "feature")
    assert (after["scope"], after["project"], after["branch"]) == ("branch", "rocket", "feature")
    count = len(events(home))
    same = cli("memory", "edit", short, "--importance", "9", "--tag", "c", "--untag", "zzz")
    assert (same.code, "nothing changed" in same.err, len(events(home))) == (0, True, count)
    assert "nothing to change" in refused(cli, "edit", short)
    assert refused(cli, "edit", short, " ", code=2)
    assert refused(cli, "edit", short, "--type", "nonsense", code=2)
    assert refused(cli, "edit", short, "--importance", "11", code=2)
    assert "needs a branch" in refused(cli, "edit", stored(cli, "x"), "--scope", "branch", code=2)


def test_an_edit_is_found_by_its_new_words_only(cli: Cli) -> None:
    short = stored(cli, "the zebra eats")
    done(cli, "edit", short, "the giraffe eats")
    assert [hit["short"] for hit in done(cli, "search", "giraffe", "--mode", "fts")["hits"]] == [short]
    assert done(cli, "search", "zebra", "--mode", "fts")["hits"] == []


def test_supersede_keeps_the_old_one_hidden_behind_the_new(cli: Cli, home: Path) -> None:
    old = done(cli, "store", "the port is 5432", "--importance", "8", "--tag", "net", "--type", "decision")
    done(cli, "pin", old["short"])
    new = done(cli, "supersede", old["short"], "the port is 5433")
    assert {name: new[name] for name in ("entry_type", "importance", "tags", "pinned", "scope", "project")} == {
        "entry_type": "decision", "importance": 8, "tags": ["net"], "pinned": True, "scope": "project", "project": "rocket",
    }  # fmt: skip
    last = events(home)[-3:]
    assert [event["kind"] for event in last] == ["memory.stored", "memory.superseded", "memory.pinned"]
    assert {event.get("tx", event["id"]) for event in last} == {last[0]["id"]}
    assert contents(cli) == ["the port is 5433"]
    assert contents(cli, "--include-superseded") == ["the port is 5433", "the port is 5432"]
    text = cli("memory", "list", "--include-superseded").out
    assert f"(superseded by {new['id'][:8]})" in text
    hits = done(cli, "search", "port", "--mode", "fts")["hits"]
    assert [hit["content"] for hit in hits] == ["the port is 5433"]
    assert done(cli, "supersede", new["short"], "the port is 5434", "--importance", "3")["importance"] == 3


def test_what_is_superseded_or_retired_is_not_changed(cli: Cli) -> None:
    old = stored(cli, "the port is 5432")
    new = done(cli, "supersede", old, "the port is 5433")["short"]
    newest = done(cli, "supersede", new, "the port is 5434")["short"]
    for command in (("supersede", old, "x"), ("edit", old, "x"), ("reviewed", old), ("pin", old)):
        result = cli("memory", *command)
        assert result.code == 1
        assert f"was superseded by {new}: the port is 5433" in result.err
        assert f"change {newest} instead" in result.err
    retired = stored(cli, "retired one")
    done(cli, "retire", retired)
    for command in (("supersede", retired, "x"), ("edit", retired, "x"), ("reviewed", retired), ("pin", retired)):
        assert "is retired" in refused(cli, *command)
    assert "(retired)" in cli("memory", "list", "--include-superseded").out
    again = cli("memory", "retire", retired)
    assert (again.code, "already" in again.err) == (0, True)
    again = cli("memory", "retire", old)
    assert (again.code, f"superseded by {new}" in again.err) == (0, True)


def test_storing_again_what_was_put_away_is_told(cli: Cli) -> None:
    old = stored(cli, "the port is 5432")
    done(cli, "supersede", old, "the port is 5433")
    again = cli("memory", "store", "The port is 5432.")
    assert f"{old} says the same and was superseded" in again.err
    assert len(contents(cli)) == 2
    new = done(cli, "list")[0]["short"]
    done(cli, "retire", new)
    third = done(cli, "store", "the port is 5432")
    assert third["put_away"]["short"] == new
    assert done(cli, "store", "the port is 5432", "--scope", "global")["put_away"] is None
    done(cli, "retire", third["short"])
    assert "and was retired" in cli("memory", "store", "the port is 5432").err
    assert done(cli, "show", old)["superseded_by"] is not None


def test_superseding_by_what_is_known(cli: Cli, home: Path) -> None:
    old = stored(cli, "the port is 5432")
    other = done(cli, "store", "the port is 5433", "--tag", "kept")
    done(cli, "edit", old, "--tag", "new")
    result = cli("memory", "supersede", old, "The port is 5433.", "--json")
    assert (result.code, result.json["id"], result.json["tags"]) == (0, other["id"], ["kept", "new"])
    assert "says that already" in result.err
    count = len(events(home))
    assert "says that already" in refused(cli, "supersede", other["short"], "the port is 5433")
    assert len(events(home)) == count


def test_merge(cli: Cli, home: Path) -> None:
    first = stored(cli, "tea", "--type", "preference", "--importance", "4", "--tag", "a", "--scope", "global")
    second = stored(cli, "coffee", "--importance", "9", "--tag", "b")
    gone = stored(cli, "gone")
    done(cli, "retire", gone)
    result = cli("memory", "merge", first, "zzzzz", second, gone, first, "--into", "tea", "and", "coffee", "--json")
    assert result.code == 0
    merged = result.json
    assert {name: merged[name] for name in ("content", "entry_type", "importance", "tags", "scope", "project")} == {
        "content": "tea and coffee", "entry_type": "preference", "importance": 9, "tags": ["a", "b"], "scope": "global",
        "project": None,
    }  # fmt: skip
    assert [one[:5] for one in merged["merged"]] == [first, second]
    assert [one["id"] for one in merged["skipped"]] == ["zzzzz", gone]
    assert [event["kind"] for event in events(home)[-3:]] == ["memory.stored", "memory.superseded", "memory.superseded"]
    assert contents(cli) == ["tea and coffee"]
    text = cli("memory", "merge", "yyyyy", "zzzzz", "--into", "x")
    assert (text.code, text.out) == (1, "")
    assert "yyyyy" in text.err
    assert "zzzzz" in text.err
    assert refused(cli, "merge", first, code=2)
    assert refused(cli, "merge", "--into", "x", code=2)
    alone = done(cli, "list")[0]
    for named in ([alone["id"]], [alone["id"], alone["short"]]):
        assert "takes two memories" in refused(cli, "merge", *named, "--into", "x")
    assert contents(cli) == ["tea and coffee"]
    again = cli("memory", "merge", alone["id"], first, "--into", "only tea")
    assert (again.code, "was superseded" in again.err) == (0, True), "one of two was left, and that is told"


def test_merging_into_one_of_them_keeps_that_one(cli: Cli) -> None:
    first, second = stored(cli, "tea in the morning"), stored(cli, "coffee")
    merged = done(cli, "merge", second, first, "--into", "Tea in the morning")
    assert merged["short"] == first
    assert contents(cli) == ["tea in the morning"]
    assert "says that already" in refused(cli, "supersede", first, "tea in the morning")


def test_the_words_of_into_end_at_the_next_option(cli: Cli) -> None:
    first, second, third = stored(cli, "tea"), stored(cli, "black"), stored(cli, "leaves")
    assert done(cli, "merge", first, second, "--into", "black", "tea", "--importance", "7")["importance"] == 7
    assert contents(cli) == ["black tea", "leaves"]
    assert done(cli, "merge", done(cli, "list")[0]["short"], third, "--into=green tea")["content"] == "green tea"


def test_delete_and_restore_entry(cli: Cli) -> None:
    short = stored(cli, "keep me", "--tag", "t")
    before = done(cli, "show", short)
    assert done(cli, "delete", short)["content"] == "keep me"
    assert contents(cli, "--scope", "all", "--include-superseded") == []
    assert done(cli, "search", "keep")["hits"] == []
    assert "restore-entry" in cli("memory", "delete", short).err
    assert [one["short"] for one in done(cli, "list", "--deleted")] == [short]
    after = done(cli, "restore-entry", short)
    assert {**after, "kind": "memory"} == before
    assert "nothing changed" in cli("memory", "restore-entry", short).err
    assert done(cli, "list", "--deleted") == []
    assert "no memory" in refused(cli, "restore-entry", "zzzzz")


def test_restore_entry_makes_the_retired_and_superseded_count_again(cli: Cli) -> None:
    old = stored(cli, "the port is 5432")
    new = done(cli, "supersede", old, "the port is 5433")["short"]
    back = cli("memory", "restore-entry", old)
    assert f"its successor {new} stays" in back.err
    assert set(contents(cli)) == {"the port is 5432", "the port is 5433"}
    done(cli, "retire", old)
    done(cli, "delete", old)
    restored = cli("memory", "restore-entry", old)
    assert "it was retired before" in restored.err
    assert done(cli, "restore-entry", old)["retired_at"] is None


def test_a_deleted_successor_leaves_nothing_hidden(cli: Cli) -> None:
    first = stored(cli, "the port is 1")
    second = done(cli, "supersede", first, "the port is 2")["short"]
    third = done(cli, "supersede", second, "the port is 3")["short"]
    result = cli("memory", "delete", second)  # from the middle: the chain closes
    assert f"{first}, which it had superseded, is now superseded by {third}" in result.err.replace(
        done(cli, "show", third)["id"], third
    )
    assert contents(cli) == ["the port is 3"]
    result = cli("memory", "delete", third)
    assert f"{first}, which it had superseded, counts again" in result.err
    assert contents(cli) == ["the port is 1"]
    assert cli("undo").code == 0
    assert contents(cli) == ["the port is 3"]
    done(cli, "retire", third)
    assert "is retired like it" in cli("memory", "delete", third).err
    assert contents(cli) == []
    assert done(cli, "stats")["lost"] == []


def test_pin_and_unpin(cli: Cli, home: Path) -> None:
    short = stored(cli, "keep in sight")
    assert done(cli, "pin", short)["pinned"] is True
    count = len(events(home))
    assert "already" in cli("memory", "pin", short).err
    assert len(events(home)) == count
    assert done(cli, "unpin", short)["pinned"] is False
    assert "already" in cli("memory", "unpin", short).err


# -- review -----------------------------------------------------------------------------------------------------------


def test_review_lists_the_most_decayed_first(cli: Cli, home: Path) -> None:
    event = told(home, "the demo went well", 9, type="event")
    fact = told(home, "the port is 5432", 120)
    told(home, "unimportant", 500, importance=4)
    told(home, "deploy with make", 120, type="procedure")
    told(home, "fresh", 1)
    told(home, "elsewhere", 500, project="engine")
    gone = told(home, "gone", 500)
    done(cli, "retire", gone)
    due = done(cli, "review")["due"]
    assert [(one["id"], one["recall"]) for one in due] == [(event, 0.125), (fact, round(0.5 ** (120 / 90), 4))]
    assert set(due[0]) >= {
        "id",
        "content",
        "entry_type",
        "importance",
        "memory_class",
        "scope",
        "reviewed_at",
        "recall",
    }
    assert [line.split()[1:3] for line in cli("memory", "review").out.splitlines()] == [["12", "%"], ["40", "%"]]
    limited = cli("memory", "review", "--limit", "1")
    assert (len(limited.out.splitlines()), "1 more" in limited.err) == (1, True)
    assert done(cli, "review", "--scope", "all")["due"][0]["content"] == "elsewhere"
    assert done(cli, "review", "--scope", "global")["due"] == []
    reviewed = done(cli, "reviewed", event)
    assert reviewed["reviewed_at"] is not None
    assert [one["id"] for one in done(cli, "review")["due"]] == [fact]
    done(cli, "store", "The port is 5432")  # told again, and so remembered
    assert done(cli, "review")["due"] == []


def test_review_goes_by_the_settings(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(home, "the port is 5432", 10)
    assert done(cli, "review")["due"] == []
    monkeypatch.setenv("MAIT_CODE_HALF_LIFE_SEMANTIC", "5")
    assert len(done(cli, "review")["due"]) == 1
    monkeypatch.setenv("MAIT_CODE_REVIEW_THRESHOLD", "0.2")
    assert done(cli, "review")["due"] == []
    monkeypatch.setenv("MAIT_CODE_REVIEW_THRESHOLD", "1")
    assert len(done(cli, "review")["due"]) == 1
    monkeypatch.setenv("MAIT_CODE_REVIEW_MIN_IMPORTANCE", "6")
    assert done(cli, "review")["due"] == []
    monkeypatch.setenv("MAIT_CODE_REVIEW_THRESHOLD", "0")
    assert done(cli, "review")["due"] == []


# -- numbers and vectors ----------------------------------------------------------------------------------------------


def test_stats(cli: Cli, home: Path) -> None:
    old = stored(cli, "the port is 5432", "--type", "decision")
    done(cli, "supersede", old, "the port is 5433")
    done(cli, "retire", stored(cli, "gone"))
    done(cli, "delete", stored(cli, "deleted"))
    done(cli, "pin", stored(cli, "for all", "--scope", "global", "--type", "event"))
    stored(cli, "seen through", "--type", "insight")
    found = done(cli, "stats")
    assert {name: found[name] for name in ("total", "live", "superseded", "retired", "deleted", "pinned")} == {
        "total": 5, "live": 3, "superseded": 1, "retired": 1, "deleted": 1, "pinned": 1,
    }  # fmt: skip
    assert found["by_type"] == {"decision": 1, "event": 1, "insight": 1}
    assert found["by_class"] == {"semantic": 2, "episodic": 1}
    assert found["by_project"] == {"rocket": 2, "": 1}
    assert (found["unreflected"], found["last_reflection"], found["entries"]) == (2, None, {"memory": 3})
    vectors = found["embeddings"]
    assert (vectors["texts"], vectors["embedded"], vectors["dim"], vectors["available"]) == (3, 0, 384, True)
    done(cli, "reindex")
    assert done(cli, "stats")["embeddings"]["embedded"] == 3
    text = cli("memory", "stats").out
    assert "3 memories; 1 superseded, 1 retired, 1 deleted; 1 pinned" in text
    assert "3 of 3 texts" in text


def test_reindex_embeds_what_is_missing_and_prunes(cli: Cli) -> None:
    short = stored(cli, "first")
    stored(cli, "second")
    assert done(cli, "reindex")["embedded"] == 2
    assert done(cli, "reindex")["embedded"] == 0
    stored(cli, "third")
    done(cli, "delete", short)
    found = done(cli, "reindex", "--prune")
    assert (found["embedded"], found["pruned"], found["texts"]) == (1, 1, 2)
    assert "all 2 have vectors" in cli("memory", "reindex").out
    hits = done(cli, "search", "third", "--mode", "vector")["hits"]
    assert hits[0]["content"] == "third"


def test_without_a_model_reindex_says_why(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stored(cli, "first")
    monkeypatch.setattr("mait_code.projections.model_files.PACKAGE", "no_such_package")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", "/nonexistent")
    assert "no_such_package is not installed" in refused(cli, "reindex")
    stats = done(cli, "stats")["embeddings"]
    assert (stats["available"], stats["embedded"], "not installed" in stats["reason"]) == (False, 0, True)
    assert done(cli, "search", "first")["hits"][0]["content"] == "first"


def test_an_interrupted_reindex_goes_on(cli: Cli, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    own = Home(str(home / "data"))
    with Journal(own).writing(stores.memory(own)) as writer:
        for number in range(300):
            writer.append("memory.stored", content=f"memory number {number}", type="fact", scope="global")
    from mait_code.projections import vectors

    kept = vectors.Vectors.add
    calls = itertools.count(1)

    def add(self: Any, rows: Any) -> None:
        kept(self, rows)
        if next(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(vectors.Vectors, "add", add)
    result = cli("memory", "reindex")
    assert result.code == 130
    assert "goes on from there" in result.err
    left = done(cli, "stats")["embeddings"]
    assert 0 < left["embedded"] < left["texts"] == 300
    assert done(cli, "reindex")["embedded"] == 300 - left["embedded"]


def test_a_search_embeds_what_was_stored_before_it(cli: Cli) -> None:
    stored(cli, "the kitten sleeps on the sofa")
    stored(cli, "quarterly tax figures")
    assert done(cli, "stats")["embeddings"]["embedded"] == 0  # storing waits for no model
    hits = done(cli, "search", "where is my cat")["hits"]
    assert hits[0]["content"] == "the kitten sleeps on the sofa"
    assert done(cli, "stats")["embeddings"]["embedded"] == 2
    stored(cli, "a third thing")
    done(cli, "search", "where is my cat")  # known by now, so no model is loaded for it
    assert done(cli, "stats")["embeddings"]["embedded"] == 2


# -- what makes no sense ----------------------------------------------------------------------------------------------


LONG = "x" * 201


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--tag", "", "y"), "a tag is empty"),
        (("--tag", LONG, "y"), "a tag is longer than 200 characters"),
        (("--tag", "<private>s</private>", "y"), "a tag is all private"),
        (("--project", LONG, "y"), "the project is longer than 200 characters"),
        (("--branch", LONG, "y"), "the branch is longer than 200 characters"),
        (("--project", "<private>s</private>", "y"), "the project is all private"),
        (("--scope", "global", "--project", "a/b", "y"), "scope global belongs to no project, and 'a/b' was named"),
        (("--scope", "global", "--branch", "b", "y"), "scope global belongs to no branch"),
        (("--scope", "project", "--branch", "b", "y"), "scope project belongs to no branch"),
        (("--scope", "project", "--project", "", "y"), "scope project needs a project, and an empty one was named"),
        (("--project", "", "--branch", "b", "y"), "scope branch needs a project"),
    ],
)
def test_names_and_places_that_are_none(cli: Cli, home: Path, arguments: tuple[str, ...], said: str) -> None:
    """Told in words of the command line, of store and edit alike, and nothing is written."""
    id_ = stored(cli, "first")
    count = len(events(home))
    for command in (("store",), ("edit", id_)):
        assert said in refused(cli, *command, *arguments, code=2)
    assert len(events(home)) == count


def test_edit_of_place_and_tags(cli: Cli) -> None:
    id_ = stored(cli, "first", "--tag", "a")
    assert "both" not in cli("memory", "edit", id_, "--tag", "b", "--untag", "a").err
    assert "is to be added and taken off" in refused(cli, "edit", id_, "--tag", "c", "--untag", " c ", code=2)
    moved = done(cli, "edit", id_, "--project", "")
    assert (moved["scope"], moved["project"], moved["tags"]) == ("global", None, ["b"])
    moved = done(cli, "edit", id_, "--project", "me/rocket", "--branch", "b")
    assert (moved["scope"], moved["project"], moved["branch"]) == ("branch", "me/rocket", "b")
    moved = done(cli, "edit", id_, "--branch", "")
    assert (moved["scope"], moved["project"], moved["branch"]) == ("project", "me/rocket", None)
    nothing = cli("memory", "edit", id_)
    assert nothing.code == 1
    assert all(option in nothing.err for option in ("--project", "--branch", "--scope", "--untag"))


def test_what_differs_by_capitals_only_is_told_so(cli: Cli) -> None:
    stored(cli, "the build is run by make")
    said = cli("memory", "store", "the build is run by Make")
    assert "100 %" not in said.err
    assert "the same but for capitals:  the build is run by make" in said.err
    assert "99 %" in cli("memory", "store", "the build is run not by make").err
    close = done(cli, "store", "the build was run by make")["similar"]
    assert {one["similarity"] <= 1 for one in close} == {True}


def test_one_is_one(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No count with a wrong plural, where there is one of everything."""
    stored(cli, "only this")
    out = cli("memory", "reindex").out + cli("memory", "stats").out + cli("projects").out
    assert "1 memory" in out
    assert "1 text" in out
    path = tmp_path / "out.jsonl"
    cli("memory", "export", "--out", str(path))
    path.write_text(path.read_text() + '{"kind": "of-tomorrow"}\n')
    told = cli("memory", "import", str(path))
    out += told.out + told.err
    assert "1 was here already" in told.out
    assert "1 line is of a kind that this version does not know" in told.err
    assert not re.search(r"\b1 (\w+s|memories|were|are|more are)\b", out.replace("1 was", "")), out


def test_import_of_what_is_no_file(cli: Cli, tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none.jsonl", "is not there"), (tmp_path, "is a directory, not a file")):
        said = cli("memory", "import", str(path))
        assert (said.code, said.out) == (1, "")
        assert reason in said.err
        assert "memory export --out FILE" in said.err


def test_what_is_imported_is_never_of_the_future(cli: Cli, tmp_path: Path) -> None:
    id_ = stored(cli, "from tomorrow")
    path = tmp_path / "out.jsonl"
    cli("memory", "export", "--out", str(path))
    lines = (
        path.read_text()
        .replace(done(cli, "show", id_)["created_at"][:4], "2999")
        .replace(done(cli, "show", id_)["id"], "zz0000000000")
    )
    path.write_text(lines)
    assert cli("memory", "import", str(path)).code == 0
    assert {one["created_at"][:2] for one in done(cli, "list", "--limit", "9")} == {"20"}
    assert {one["created_at"][:4] for one in done(cli, "list", "--limit", "9")} != {"2999"}
    assert "2999" not in str(done(cli, "list"))


# -- undo, history, conflicts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "commands",
    [
        (("store", "another"),),
        (("store", "the port is 5432", "--importance", "9"),),
        (("edit", "ID", "new words", "--tag", "t"),),
        (("supersede", "ID", "the port is 1"),),
        (("store", "another"), ("merge", "ID", "MADE", "--into", "the port is 1")),
        (("retire", "ID"),),
        (("delete", "ID"),),
        (("pin", "ID"),),
        (("pin", "ID"), ("unpin", "ID")),
        (("reviewed", "ID"),),
        (("retire", "ID"), ("restore-entry", "ID")),
        (("supersede", "ID", "x"), ("restore-entry", "ID")),
    ],
    ids=lambda commands: " ".join(command[0] for command in commands),
)
def test_undo_takes_each_back_and_undo_of_undo_does_it_again(cli: Cli, commands: tuple[tuple[str, ...], ...]) -> None:
    id_ = done(cli, "store", "the port is 5432", "--tag", "net")["id"]

    def state() -> Any:
        held = done(cli, "list", "--include-superseded", "--scope", "all")
        for one in held:  # what is put away again by an undo is so since then; that it was told stays in the history
            one["superseded_at"], one["retired_at"] = one["superseded_at"] is not None, one["retired_at"] is not None
            del one["last_seen_at"], one["seen_count"]
        return sorted(held, key=lambda one: one["id"])

    states = [state()]
    named = {"ID": id_}
    for command in commands:
        named["MADE"] = done(cli, *(named.get(word, word) for word in command))["id"]
        states.append(state())
        assert states[-1] != states[-2]
    for before in states[-2::-1]:
        assert cli("undo").code == 0
        assert state() == before
    last = [one for one in cli("log", "--json").json if one["undoes"]][-1]
    assert cli("undo", last["tx"]).code == 0
    assert state() == states[1]


def test_undo_takes_back_that_it_was_told_again(cli: Cli) -> None:
    first = stored(cli, "the port is 5432")
    stored(cli, "the sky is blue")
    assert done(cli, "store", "The port is 5432")["deduplicated"] is True
    assert done(cli, "show", first)["seen_count"] == 2
    assert cli("undo").code == 0
    assert done(cli, "show", first)["seen_count"] == 1
    assert cli("undo", "2").code == 0
    assert contents(cli) == []
    assert "nothing of yours" in cli("undo").err
    assert done(cli, "restore-entry", first)["seen_count"] == 1


def test_history_of_a_memory(cli: Cli) -> None:
    short = stored(cli, "the port is 5432")
    done(cli, "pin", short)
    new = done(cli, "supersede", short, "the port is 5433")
    out = cli("history", short).out
    assert out.splitlines()[0] == f"memory {short}  the port is 5432"
    assert f"superseded: memory/{new['id']}" in out
    assert "pinned: yes" in out
    assert cli("history", f"memory/{new['id']}").code == 0


@pytest.fixture
def machines(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, Machine]:
    return Machine(tmp_path, "anna", cli, monkeypatch), Machine(tmp_path, "bert", cli, monkeypatch)


def test_two_machines_that_store_the_same_see_it_once(machines: tuple[Machine, Machine]) -> None:
    anna, bert = machines
    anna.ok("memory", "store", "the port is 5432", "--project", "rocket", "--tag", "a")
    bert.ok("memory", "store", "The port is 5432.", "--project", "rocket", "--tag", "b", "--importance", "8")
    exchange(anna, bert)
    listed = [machine.json("memory", "list", "--scope", "all") for machine in machines]
    assert listed[0] == listed[1]
    (only,) = listed[0]
    assert (only["seen_count"], only["tags"], only["importance"], len(only["copies"])) == (2, ["a", "b"], 8, 1)
    assert "seen 2 times" in anna.ok("memory", "list").out
    assert anna.ok("memory").out.splitlines()[0] == "fact (1)"
    for machine in machines:
        assert [hit["id"] for hit in machine.json("memory", "search", "port")["hits"]] == [only["id"]]
    assert len(anna.json("memory", "timeline", only["short"])) == 1
    assert len(anna.json("memory", "review", "--scope", "all")["due"]) == 0
    again = anna.json("memory", "store", "the port is 5432", "--project", "rocket")
    assert (again["id"], again["deduplicated"], again["seen_count"]) == (only["id"], True, 3)
    # What is done to it is done to both, and undone for both.
    anna.ok("memory", "retire", only["copies"][0])
    assert anna.json("memory", "list") == []
    anna.ok("undo")
    new = anna.json("memory", "supersede", only["short"], "the port is 1")
    assert [one["id"] for one in anna.json("memory", "list")] == [new["id"]]
    anna.ok("undo")
    anna.ok("memory", "delete", only["short"])
    assert anna.json("memory", "list") == []
    exchange(anna, bert)
    assert bert.json("memory", "list") == []


def test_an_edit_on_both_sides_is_a_conflict_that_can_be_settled(machines: tuple[Machine, Machine]) -> None:
    anna, bert = machines
    short = anna.json("memory", "store", "the port is 5432")["short"]
    exchange(anna, bert)
    anna.ok("memory", "edit", short, "the port is 1")
    bert.ok("memory", "edit", short, "the port is 2")
    exchange(anna, bert)
    (conflict,) = anna.json("conflicts")
    assert (conflict["kind"], conflict["short"], conflict["field"]) == ("memory", short, "content")
    assert "!conflict: content" in anna.ok("memory", "list").out
    assert "content" in anna.ok("memory", "show", short).out
    sides = [side["value"] for side in conflict["sides"]]
    anna.ok("conflicts", "pick", short, "content", str(sides.index("the port is 1") + 1))
    assert [one["content"] for one in anna.json("memory", "list")] == ["the port is 1"]
    assert anna.json("memory", "list")[0]["conflicts"] == []


def test_a_successor_deleted_elsewhere_meanwhile_is_told_of(machines: tuple[Machine, Machine]) -> None:
    anna, bert = machines
    old = anna.json("memory", "store", "the port is 5432")["short"]
    known = anna.json("memory", "store", "the port is 5433")["short"]
    exchange(anna, bert)
    anna.ok("memory", "supersede", old, "the port is 5433")
    bert.ok("memory", "delete", known)
    exchange(anna, bert)
    stats = anna.ok("memory", "stats", "--json")
    assert [one[:5] for one in stats.json["lost"]] == [old]
    assert "restore-entry" in stats.err
    assert "which is deleted" in anna.refused("memory", "edit", old, "x")
    assert "(deleted: restore-entry" in anna.ok("memory", "show", old).out
    anna.ok("memory", "restore-entry", old)
    assert [one["short"] for one in anna.json("memory", "list")] == [old]
    assert anna.json("memory", "stats")["lost"] == []


# -- from the inbox ---------------------------------------------------------------------------------------------------


def test_an_inbox_item_becomes_a_memory_in_one_action(cli: Cli, home: Path) -> None:
    item = cli("inbox", "add", "the pump leaks", "--json").json
    sorted_ = cli(
        "inbox", "triage", item["short"], "--to", "memory", "--type", "task", "--importance", "7", "--json"
    ).json
    made, finished = events(home)[-2:]
    assert (made["kind"], finished["kind"], finished["tx"]) == ("memory.stored", "inbox.done", made["id"])
    memory = done(cli, "list")[0]
    assert sorted_["ref"] == f"memory/{memory['id']}"
    assert (memory["content"], memory["entry_type"], memory["importance"]) == ("the pump leaks", "task", 7)
    assert (memory["scope"], memory["project"]) == ("project", "rocket")
    assert made["data"]["origin"] == f"inbox/{item['id']}"
    assert f"inbox {item['short']}: the pump leaks" in cli("memory", "show", memory["short"]).out
    assert f"memory {memory['short']}" in cli("inbox", "show", item["short"]).out
    assert cli("undo").code == 0
    assert (done(cli, "list"), cli("inbox", "count").out) == ([], "1\n")


def test_triage_to_memory_by_scope_and_to_what_is_known(cli: Cli) -> None:
    known = stored(cli, "the pump leaks")
    item = cli("inbox", "add", "The pump leaks.", "--json").json
    result = cli("inbox", "triage", item["short"], "--to", "memory", "--json")
    assert (result.json["ref_short"], "says that already" in result.err) == (known, True)
    assert done(cli, "show", known)["seen_count"] == 2
    item = cli("inbox", "add", "for all", "--json").json
    cli("inbox", "triage", item["short"], "--to", "memory", "--scope", "global")
    assert done(cli, "list", "--scope", "global")[0]["project"] is None
    item = cli("inbox", "add", "of none", "--project", "", "--json").json
    cli("inbox", "triage", item["short"], "--to", "memory")
    assert done(cli, "list")[0]["scope"] == "global"
    item = cli("inbox", "add", "stays", "--json").json
    for options in (("--title", "x"), ("--when", "tomorrow"), ("--type", "nonsense"), ("--scope", "branch")):
        assert cli("inbox", "triage", item["short"], "--to", "memory", *options).code == 2
    assert cli("inbox", "triage", item["short"], "--to", "card", "--importance", "3").code == 2
    assert cli("inbox", "count").out == "1\n"


@pytest.mark.parametrize("seed", range(4))
def test_whatever_two_machines_do_nothing_vanishes(machines: tuple[Machine, Machine], seed: int) -> None:
    """Random changes on both, exchanged now and then: every memory that nobody deleted counts, is retired, stands behind one
    that is there, or is named as lost; and both machines agree."""
    chance = random.Random(seed)
    anna, bert = machines
    for number in range(3):
        anna.ok("memory", "store", f"the port is {number}")
    for step in range(36):
        machine = chance.choice(machines)
        known = machine.json("memory", "list", "--include-superseded", "--limit", "99")
        one, other = (chance.choice(known)["id"] if known else "zzzzz" for _ in range(2))
        arguments = chance.choice(
            [
                ("store", f"the port is {chance.randrange(8)}"),
                ("supersede", one, f"the port is {chance.randrange(8)}"),
                ("merge", one, other, "--into", f"the port is {chance.randrange(8)}"),
                ("delete", one),
                ("retire", one),
                ("restore-entry", one),
                ("edit", one, f"the port is {chance.randrange(8)}"),
                ("pin", one),
            ]
        )
        result = machine("memory", *arguments)
        assert result.code in (0, 1), (arguments, result.err)
        assert "unexpected" not in result.err
        if step % 6 == 5:
            exchange(anna, bert)
    exchange(anna, bert)
    deleted = {one["id"] for one in anna.json("memory", "list", "--deleted", "--limit", "99")}
    stats = anna.json("memory", "stats")
    assert stats == bert.json("memory", "stats")
    listing = ("memory", "list", "--include-superseded", "--limit", "99")
    every = anna.json(*listing)
    assert every == bert.json(*listing)
    present = {id_ for one in every for id_ in (one["id"], *one["copies"])}
    assert not present & deleted
    behind = {one["id"]: one["superseded_by"] for one in every if one["superseded_by"]}
    for one in behind:
        passed, at = {one}, behind[one]
        while at in behind and at not in passed:
            passed.add(at)
            at = behind[at]
        assert (at in present and at not in behind) != (one in stats["lost"]), one
    assert {one["content"] for one in every if not one["superseded_by"] and not one["retired_at"]} == {
        one["content"] for one in anna.json("memory", "list", "--limit", "99")
    }
    for one in stats["lost"]:
        anna.ok("memory", "restore-entry", one)
    assert anna.json("memory", "stats")["lost"] == []
