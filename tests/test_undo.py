"""undo: actions are taken back newest first, nothing of anybody else's is lost, and a refusal says why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from two_machines import Machine, exchange

from mait_code.commands.workspace import Workspace
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def card(machine: Machine, id_: str = "1") -> Any:
    return machine.json("board", "show", id_)


def last_tx(machine: Machine) -> str:
    return str(machine.json("log", "-n", "1")[0]["tx"])


# -- one machine ------------------------------------------------------------------------------------------------------


def test_nothing_to_take_back(desk: Machine) -> None:
    assert "nothing of yours" in desk.refused("undo")
    desk.ok("board", "add", "one")
    desk.ok("undo")
    assert "nothing of yours" in desk.refused("undo")


def test_undo_of_a_new_thing_deletes_it(desk: Machine) -> None:
    for words in (
        ["board", "add", "a card"],
        ["inbox", "add", "a thought"],
        ["reminders", "set", "in 2 weeks", "look"],
    ):
        made = desk.json(*words)
        done = desk.ok("undo")
        assert "Took back" in done.out
        assert made["short"] in done.out
        assert desk.json(words[0], "list") == []
        assert desk.json(words[0], "restore", made["short"])["id"] == made["id"]


@pytest.mark.parametrize(
    "words",
    [
        ["board", "edit", "1", "--title", "another", "--description", "new", "--priority", "high"],
        ["board", "edit", "1", "--description", ""],
        ["board", "move", "1", "in_progress"],
        ["board", "move", "1", "done"],
        ["board", "refine", "1", "--description", "more", "--acceptance", "when it runs"],
        ["board", "complete", "1", "--summary", "did it"],
        ["board", "archive", "1"],
        ["board", "tag", "1", "new"],
        ["board", "untag", "1", "old"],
        ["board", "comment", "1", "said"],
        ["board", "ref", "add", "1", "pr", "https://example.org/1"],
        ["board", "ref", "remove", "1", "1"],
        ["board", "block", "1", "waits for someone"],
        ["board", "remove", "1"],
        ["board", "bind", "1", "--session", "s", "--pid", "1"],
        ["board", "next", "--claim", "--session", "s", "--pid", "1"],
    ],
    ids=" ".join,
)
def test_every_board_command(desk: Machine, words: list[str]) -> None:
    desk.ok("board", "add", "the card", "--description", "old text")
    desk.ok("board", "tag", "1", "old")
    desk.ok("board", "ref", "add", "1", "issue", "42")
    if "bind" in words:
        desk.ok("board", "move", "1", "in_progress")
    before = seen(desk)
    desk.ok(*words)
    changed = seen(desk)
    assert changed != before
    done = desk.json("undo")
    assert len(done) == 1
    assert seen(desk) == before
    redone = desk.json("undo", done[0]["undo"])
    assert redone[0]["tx"] == done[0]["undo"]
    assert seen(desk) == changed


def test_inbox_and_triage(desk: Machine) -> None:
    item = desk.json("inbox", "add", "buy milk\nand bread")["short"]
    for words in (
        ["inbox", "edit", item, "buy oat milk"],
        ["inbox", "done", item],
        ["inbox", "triage", item, "--to", "card"],
        ["inbox", "triage", item, "--to", "reminder", "--when", "in 2 weeks"],
        ["inbox", "remove", item],
    ):
        before = seen(desk)
        desk.ok(*words)
        assert seen(desk) != before
        desk.ok("undo")
        assert seen(desk) == before, words


def test_triage_is_one_action(desk: Machine) -> None:
    item = desk.json("inbox", "add", "buy milk")["short"]
    desk.ok("inbox", "triage", item, "--to", "card")
    assert desk.json("inbox", "list") == []
    (done,) = desk.json("undo")
    assert {thing["kind"] for thing in done["things"]} == {"card", "inbox"}
    assert [one["body"] for one in desk.json("inbox", "list")] == ["buy milk"]
    assert desk.json("board", "list") == []


def test_reminders(desk: Machine) -> None:
    one = desk.json("reminders", "set", "in 2 weeks", "water the plants")["short"]
    often = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    for words in (
        ["reminders", "edit", one, "--what", "water them"],
        ["reminders", "edit", one, "--when", "in 3 weeks"],
        ["reminders", "edit", often, "--when", "every tuesday 9am", "--what", "all bins"],
        ["reminders", "snooze", one, "3d"],
        ["reminders", "dismiss", one],
        ["reminders", "dismiss", often],
        ["reminders", "remove", often],
    ):
        before = seen(desk)
        desk.ok(*words)
        assert seen(desk) != before
        desk.ok("undo")
        assert seen(desk) == before, words


def test_restoring_is_taken_back_too(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    desk.ok("board", "remove", "1")
    desk.ok("board", "restore", "1")
    desk.ok("undo")
    assert desk.json("board", "list") == []
    desk.ok("undo")
    assert len(desk.json("board", "list")) == 1


def test_a_restore_with_later_work_is_kept(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    desk.ok("board", "remove", "1")
    desk.ok("board", "restore", "1")
    restored = last_tx(desk)
    desk.ok("board", "edit", "1", "--title", "better")
    assert "title of card" in desk.refused("undo", restored)
    assert card(desk)["title"] == "better"


def test_newest_first_and_passing_over(desk: Machine) -> None:
    for title in ("one", "two", "three", "four"):
        desk.ok("board", "add", title)
    assert "four" in desk.ok("undo").out
    assert "three" in desk.ok("undo").out
    done = desk.ok("undo", "2")
    assert [line.rpartition(" ")[2] for line in done.out.splitlines()] == ["two", "one"]
    assert desk.json("board", "list") == []


def test_more_than_there_is(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("inbox", "add", "two")
    assert "only 2 of your actions can be taken back" in desk.refused("undo", "520")
    assert len(desk.json("board", "list")) == 1
    desk.ok("undo", "2")


def test_new_actions_after_an_undo_come_first(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "move", "1", "refined")
    desk.ok("undo")
    desk.ok("board", "move", "1", "in_review")
    desk.ok("undo")
    assert card(desk)["status"] == "backlog"
    desk.ok("undo")
    assert desk.json("board", "list") == []


def test_redo_and_undo_again(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "move", "1", "refined")
    moved = last_tx(desk)
    (first,) = desk.json("undo")
    desk.ok("undo", first["undo"])
    assert card(desk)["status"] == "refined"
    assert "is not" not in desk.ok("undo").out
    assert card(desk)["status"] == "backlog"
    assert "taken back already" in desk.refused("undo", moved)


def test_an_action_is_named_by_the_ids_that_log_and_history_print(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "block", "1", "waits")
    shown = re.findall(r"^([0-9a-f]{8})  ", desk.ok("history", "1").out, flags=re.MULTILINE)
    assert len(shown) == 3
    desk.ok("undo", shown[2])  # the comment's id takes the tag back as well: one action
    assert card(desk)["tags"] == []
    assert card(desk)["comments"] == []


@pytest.mark.parametrize("text", ["0", "-1", "xyz", "%", "'; DROP", "", " "])
def test_not_an_action(desk: Machine, text: str) -> None:
    desk.ok("board", "add", "one")
    assert desk("undo", text).code == 2
    assert len(desk.json("board", "list")) == 1


def test_unknown_and_ambiguous_actions(desk: Machine) -> None:
    assert "no action" in desk.refused("undo", "ffffffff")
    for number in range(40):
        desk.ok("inbox", "add", f"thought {number}")
    ids = [one["tx"] for one in desk.json("log", "-n", "100")]
    letter = next(one for one in "abcdef" if sum(tx.startswith(one) for tx in ids) > 1)
    done = desk("undo", letter)
    assert done.code == 1
    assert "several actions" in done.err
    assert len(desk.json("inbox", "list")) == 40


def test_a_refusal_half_way_shows_what_went_before(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    exchange(desk, lap)
    lap.ok("board", "comment", "1", "mine")
    desk.ok("board", "move", "1", "refined")
    exchange(desk, lap)
    done = desk("undo", "2")
    assert done.code == 1
    assert "Took back" in done.out
    assert "commented on since, by me on" in done.err
    assert card(desk)["status"] == "backlog"


def test_what_claude_did_is_mine_and_what_a_hook_did_is_not(desk: Machine) -> None:
    desk.ok("board", "add", "one", "--as", "claude")
    with desk.journal("hook/observe").writing(store := stores.inbox(desk.home)) as writer:
        writer.append("inbox.captured", body="from a hook")
    store.close()
    desk.ok("undo")
    assert desk.json("board", "list") == []
    assert len(desk.json("inbox", "list")) == 1
    assert "nothing of yours" in desk.refused("undo")


def test_a_bulk_action_goes_as_one(desk: Machine) -> None:
    for title in ("one", "two", "three"):
        desk.ok("board", "add", title)
    board = stores.board(desk.home)
    board.catch_up()
    with desk.journal().writing(board) as writer:
        for entity, _state in list(board.states()):
            writer.append("card.moved", entity, column="refined")
    board.close()
    assert {one["status"] for one in desk.json("board", "list")} == {"refined"}
    (done,) = desk.json("undo")
    assert len(done["events"]) == 3
    assert {one["status"] for one in desk.json("board", "list")} == {"backlog"}


def test_a_label(desk: Machine) -> None:
    """Setting up is an action as well, and must not stand in the way of those before it."""
    desk.ok("board", "add", "one")
    made_as = desk.json("replicas")[0]["label"]
    desk.ok("init", "--label", "den")
    desk.ok("init", "--label", "attic")
    assert desk.json("replicas")[0]["label"] == "attic"
    desk.ok("undo")
    assert desk.json("replicas")[0]["label"] == "den"
    desk.ok("undo")
    assert desk.json("replicas")[0]["label"] == made_as
    desk.ok("undo")
    assert desk.json("board", "list") == []


# -- something later depends on it ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["board", "edit", "1", "--title", "later"], "title of card"),
        (["board", "move", "1", "refined"], "status of card"),
        (["board", "comment", "1", "later"], "was commented on since"),
        (["board", "tag", "1", "later"], "tag later of card"),
        (["board", "ref", "add", "1", "a", "b"], "a reference of card"),
        (["board", "remove", "1"], "is deleted already"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
def test_a_new_card_that_was_worked_on(
    desk: Machine, lap: Machine, words: list[str], reason: str, elsewhere: bool
) -> None:
    desk.ok("board", "add", "the card")
    made = last_tx(desk)
    if elsewhere:
        exchange(desk, lap)
        lap.ok(*words)
        exchange(desk, lap)
    else:
        desk.ok(*words)
    events = len(desk.json("log"))
    said = desk.refused("undo", made)
    assert reason in said
    assert "hint: " in said
    assert len(desk.json("log")) == events


def test_the_hint_leads_on(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    made = last_tx(desk)
    desk.ok("board", "edit", "1", "--title", "later")
    said = desk.refused("undo", made)
    found = re.search(r"mait-code undo ([0-9a-f]{8})", said)
    assert found is not None
    desk.ok("undo", found[1])
    desk.ok("undo", made)
    assert desk.json("board", "list") == []


def test_a_field_that_was_written_again(desk: Machine) -> None:
    desk.ok("board", "add", "first")
    desk.ok("board", "edit", "1", "--title", "second")
    second = last_tx(desk)
    desk.ok("board", "edit", "1", "--title", "third")
    assert "title of card" in desk.refused("undo", second)
    desk.ok("undo")
    desk.ok("undo", second)
    assert card(desk)["title"] == "first"


def test_what_does_not_touch_it_stays(desk: Machine) -> None:
    desk.ok("board", "add", "first")
    desk.ok("board", "edit", "1", "--title", "second")
    second = last_tx(desk)
    desk.ok("board", "comment", "1", "said since")
    desk.ok("board", "move", "1", "refined")
    desk.ok("undo", second)
    now = card(desk)
    assert (now["title"], now["status"], len(now["comments"])) == ("first", "refined", 1)


def test_a_claim_since(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    desk.ok("board", "move", "1", "in_progress")
    moved = last_tx(desk)
    desk.ok("board", "bind", "1", "--session", "s", "--pid", "1")
    assert "was claimed since" in desk.refused("undo", moved)
    desk.ok("undo")
    desk.ok("undo", moved)
    assert card(desk)["status"] == "backlog"


def test_a_claim_that_leaving_released_comes_back(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    desk.ok("board", "next", "--claim", "--session", "s", "--pid", "1")
    desk.ok("board", "complete", "1", "--summary", "done")
    assert card(desk)["bound"] is None
    desk.ok("undo")
    assert card(desk)["bound"]["session"] == "s"
    desk.ok("undo")
    assert card(desk)["status"] == "backlog"
    assert card(desk)["bound"] is None
    desk.ok("undo")
    assert desk.json("board", "list") == []


def test_deleted_since(desk: Machine) -> None:
    desk.ok("board", "add", "the card")
    desk.ok("board", "edit", "1", "--title", "other")
    edited = last_tx(desk)
    desk.ok("board", "remove", "1")
    assert "was deleted since, by me" in desk.refused("undo", edited)
    desk.ok("undo")
    desk.ok("undo", edited)
    assert card(desk)["title"] == "the card"


# -- two machines -----------------------------------------------------------------------------------------------------


def test_only_this_machines_actions(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "from desk")
    lap.ok("board", "add", "from lap")
    exchange(desk, lap)
    desk.ok("undo")
    assert "nothing of yours" in desk.refused("undo")
    exchange(desk, lap)
    assert [one["title"] for one in lap.json("board", "list")] == ["from lap"]


def test_another_machines_action_by_name(desk: Machine, lap: Machine) -> None:
    lap.ok("board", "add", "from lap")
    lap.ok("board", "move", "1", "done")
    exchange(desk, lap)
    desk.ok("undo", last_tx(desk))
    exchange(desk, lap)
    assert card(lap)["status"] == "backlog"
    lap.ok("undo")  # its move is taken back already, so this is the card
    assert lap.json("board", "list") == []


def test_a_conflict_that_nobody_picked_stays(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("board", "edit", "1", "--title", "from desk")
    lap.ok("board", "edit", "1", "--title", "from lap")
    exchange(desk, lap)
    assert len(desk.json("conflicts")) == 1
    done = desk.ok("undo")
    assert "in conflict over title" in done.err
    (left,) = desk.json("conflicts")
    assert {side["value"] for side in left["sides"]} == {"the card", "from lap"}
    exchange(desk, lap)
    assert lap.json("conflicts")[0]["field"] == "title"


def test_both_take_back_their_side(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("board", "edit", "1", "--title", "from desk")
    lap.ok("board", "edit", "1", "--title", "from lap")
    exchange(desk, lap)
    desk.ok("undo")
    lap.ok("undo")
    exchange(desk, lap)
    assert desk.json("conflicts") == []
    assert card(desk)["title"] == "the card"


def test_deleted_on_both_and_one_takes_it_back(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("board", "remove", "1")
    lap.ok("board", "remove", "1")
    exchange(desk, lap)
    done = desk.ok("undo")
    assert "in conflict over deletion" in done.err
    assert desk.json("board", "list") == []
    lap.send_to(desk)
    desk.send_to(lap)
    lap.ok("undo")
    exchange(desk, lap)
    assert len(desk.json("board", "list")) == 1
    assert desk.json("conflicts") == []


def test_undo_of_a_pick_writes_the_earlier_value(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("board", "move", "1", "done")
    lap.ok("board", "move", "1", "archived")
    exchange(desk, lap)
    (conflict,) = desk.json("conflicts")
    standing = next(side["value"] for side in conflict["sides"] if side["stands"])
    other = next(n for n, side in enumerate(conflict["sides"], 1) if not side["stands"])
    desk.ok("conflicts", "pick", "1", str(other))
    assert card(desk)["status"] != standing
    desk.ok("undo")
    assert card(desk)["status"] == standing
    assert desk.json("conflicts") == []


@pytest.mark.parametrize("pick", ["deleted", "kept"])
def test_undo_of_a_pick_about_a_deletion(desk: Machine, lap: Machine, pick: str) -> None:
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("board", "remove", "1")
    lap.ok("board", "edit", "1", "--title", "worked on")
    exchange(desk, lap)
    (conflict,) = desk.json("conflicts")
    number = next(n for n, side in enumerate(conflict["sides"], 1) if side["value"] == (pick == "deleted"))
    desk.ok("conflicts", "pick", "1", str(number))
    assert desk.json("conflicts") == []
    desk.ok("undo")
    # Deleted as it was; the other machine's work is not swallowed, so the question is open again.
    assert desk.json("board", "list") == []
    if pick == "kept":
        assert desk.json("conflicts")[0]["field"] == "deleted"
    exchange(desk, lap)


def test_an_undo_that_crosses_an_edit(desk: Machine, lap: Machine) -> None:
    """The card is taken back here while somebody works on it there: their work is offered, not lost."""
    desk.ok("board", "add", "the card")
    exchange(desk, lap)
    desk.ok("undo")
    lap.ok("board", "edit", "1", "--title", "worked on")
    exchange(desk, lap)
    (conflict,) = lap.json("conflicts")
    assert conflict["field"] == "deleted"
    lap.ok("conflicts", "pick", "1", "2")
    assert card(lap)["title"] == "worked on"


def test_undo_after_the_other_machine_undid_the_same(desk: Machine, lap: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "move", "1", "refined")
    moved = last_tx(desk)
    exchange(desk, lap)
    desk.ok("undo", moved)
    lap.ok("undo", moved)
    exchange(desk, lap)
    assert card(desk)["status"] == "backlog"
    assert desk.json("conflicts") == []
    desk.ok("undo")
    assert desk.json("board", "list") == []


def test_a_missing_event_before(desk: Machine, lap: Machine) -> None:
    """What an action overwrote has not arrived: nobody guesses."""
    desk.ok("board", "add", "one")
    desk.ok("board", "edit", "1", "--description", "first")
    desk.ok("board", "edit", "1", "--description", "second")
    for path, content in desk.files().items():
        lines = content.splitlines(keepends=True)
        lap.put(path, b"".join(lines[:1] + lines[2:]) if path.endswith(".jsonl") else content)
    assert "is not known here" in lap.refused("undo", last_tx(lap))


def test_json_and_text(desk: Machine) -> None:
    made = desk.json("board", "add", "a \x1b[31mred\x1b[0m card")
    (done,) = desk.json("undo")
    assert set(done) == {"tx", "kinds", "things", "undo", "events"}
    assert done["kinds"] == ["card.created"]
    assert done["things"] == [{"kind": "card", "id": made["id"], "short": made["short"], "title": made["title"]}]
    desk.ok("board", "restore", made["short"])
    desk.ok("board", "move", made["short"], "done")
    shown = desk.ok("undo")
    assert "\x1b" not in shown.out
    assert "(card.moved)" in shown.out


# -- any sequence -----------------------------------------------------------------------------------------------------


def seen(machine: Machine) -> dict[str, Any]:
    """Everything a person can see, without the times at which it was last touched."""
    with Workspace(machine.home) as ws:
        return visible_values(ws)


def visible_values(ws: Workspace) -> dict[str, Any]:
    board, inbox, reminders = ws.board, ws.inbox, ws.reminders
    return {
        "cards": board.query(
            "SELECT id, number, project, title, coalesce(description, ''), coalesce(acceptance_criteria, ''), status,"
            " priority, coalesce(completion_summary, ''), completed_at IS NULL, bound_session, origin FROM cards"
            " ORDER BY id"
        ),
        "tags": board.query("SELECT card_id, tag FROM card_tags ORDER BY card_id, tag"),
        "comments": board.query("SELECT card_id, author, body FROM card_comments ORDER BY card_id, id"),
        "references": board.query(
            "SELECT card_id, position, label, value FROM card_references ORDER BY card_id, position"
        ),
        "waiting": inbox.query("SELECT id, body, project FROM inbox_items ORDER BY id"),
        "done": inbox.query("SELECT id, body, project, outcome, ref FROM inbox_done ORDER BY id"),
        "reminders": reminders.query(
            "SELECT id, what, due_local, zone, rule, project, dismissed, next_at, occurrences FROM reminders"
            " ORDER BY id"
        ),
    }


CARDS = st.sampled_from(["1", "2", "3"])
WORDS = st.sampled_from(["ä", "two\nlines", "漢字", "x"])
THING = st.integers(0, 3)
BOARD, INBOX, REMINDERS = st.just("board"), st.just("inbox"), st.just("reminders")


def words(text: str) -> tuple[st.SearchStrategy[str], ...]:
    return tuple(st.just(word) for word in text.split())


COMMANDS = st.one_of(
    st.tuples(BOARD, st.just("add"), WORDS),
    st.tuples(BOARD, st.just("move"), CARDS, st.sampled_from(["backlog", "in_progress", "done", "archived"])),
    st.tuples(BOARD, st.just("edit"), CARDS, st.just("--title"), WORDS, st.just("--description"), WORDS),
    st.tuples(BOARD, st.just("complete"), CARDS, st.just("--summary"), WORDS),
    st.tuples(BOARD, st.just("refine"), CARDS, st.just("--acceptance"), WORDS),
    st.tuples(BOARD, st.sampled_from(["tag", "untag"]), CARDS, WORDS),
    st.tuples(BOARD, st.sampled_from(["comment", "block"]), CARDS, WORDS),
    st.tuples(BOARD, st.sampled_from(["remove", "restore", "unbind", "unblock"]), CARDS),
    st.tuples(BOARD, *words("ref add"), CARDS, WORDS, WORDS),
    st.tuples(BOARD, *words("ref remove"), CARDS, st.just("1")),
    st.tuples(BOARD, *words("next --claim --session s --pid 1")),
    st.tuples(INBOX, st.just("add"), WORDS),
    st.tuples(INBOX, st.just("edit"), THING, WORDS),
    st.tuples(INBOX, st.sampled_from(["done", "remove", "restore"]), THING),
    st.tuples(INBOX, st.just("triage"), THING, *words("--to card")),
    st.tuples(INBOX, st.just("triage"), THING, *words("--to reminder --when"), st.just("in 3 days")),
    st.tuples(REMINDERS, st.just("set"), st.sampled_from(["in 2 weeks", "every monday 9am"]), WORDS),
    st.tuples(REMINDERS, st.just("edit"), THING, st.just("--when"), st.just("in 4 weeks"), st.just("--what"), WORDS),
    st.tuples(REMINDERS, st.just("snooze"), THING, st.sampled_from(["3d", "5w"])),
    st.tuples(REMINDERS, st.sampled_from(["dismiss", "remove", "restore"]), THING),
    st.tuples(st.just("undo")),
)
SEEDS = (
    ("board", "add", "first"),
    ("board", "add", "second"),
    ("inbox", "add", "a thought"),
    ("reminders", "set", "every monday 9am", "the bins"),
)


class Story:
    """Commands given one after the other, and what was seen before each action that was not an undo."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.before: list[tuple[str, dict[str, Any]]] = []

    def tell(self, words: tuple[Any, ...]) -> None:
        before = seen(self.machine)
        known = self.transactions()
        self.machine(*self.spelled(words))
        new = [tx for tx in self.transactions() if tx not in known]
        if words == ("undo",):
            if self.before:
                self.before.pop()
        elif new:
            self.before.append((new[0], before))

    def transactions(self) -> list[str]:
        return list(dict.fromkeys(one["tx"] for one in self.machine.json("log", "-n", "1000")))

    def spelled(self, words: tuple[Any, ...]) -> Iterator[str]:
        for word in words:
            yield self.thing(words[0], word) if isinstance(word, int) else word

    def thing(self, family: str, number: int) -> str:
        with Workspace(self.machine.home) as ws:
            names = [entity.partition("/")[2] for entity, _state in ws.reading(family).states()]
        return names[number % len(names)] if names else "nothing"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands=st.lists(COMMANDS, min_size=1, max_size=14), back=st.integers(1, 14), at_once=st.booleans())
def test_any_sequence_is_taken_back(
    tmp_path_factory: pytest.TempPathFactory,
    cli: Callable[..., Any],
    commands: list[tuple[Any, ...]],
    back: int,
    at_once: bool,
) -> None:
    """On one machine N undos always lead to where things stood N actions before, one by one or at once."""
    with pytest.MonkeyPatch.context() as patch:
        machine = Machine(tmp_path_factory.mktemp("story"), "desk", cli, patch)
        story = Story(machine)
        for words in (*SEEDS, *commands):
            story.tell(words)
        back = min(back, len(story.before))
        if not back:
            return
        if at_once:
            machine.ok("undo", str(back))
        else:
            for _ in range(back):
                machine.ok("undo")
        assert seen(machine) == story.before[-back][1]
        assert machine("verify").code == 0
