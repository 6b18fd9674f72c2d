"""Short ids: what is printed can be typed, on every machine, for ever."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from two_machines import Machine, exchange

from mait_code.journal.errors import Ambiguous, NotFound
from mait_code.journal.ids import ALPHABET, LETTERS
from mait_code.projections import ids, stores

if TYPE_CHECKING:
    from mait_code.projections.store import Store


def capture(machine: Machine, *names: str) -> Store:
    """An inbox with items of these ids, each made by an event of its own."""
    inbox = stores.inbox(machine.home)
    with machine.journal().writing(inbox) as writer:
        for name in names:
            writer.append("inbox.captured", f"inbox/{name}", body=f"thought {name}")
    inbox.catch_up()
    return inbox


# -- cards ------------------------------------------------------------------------------------------------------------


def test_forms_of_a_card(desk: Machine) -> None:
    for number in range(12):
        made = desk.json("board", "add", f"card {number + 1}")
    id_, short = made["id"], made["short"]
    assert short == f"12{id_[:2]}"
    board = stores.board(desk.home)
    board.catch_up()
    for text in (
        "12",
        "#12",
        short,
        short.upper(),
        f"#{short}",
        f" {short} ",
        id_,
        id_[:5],
        f"card/{short}",
        f"card/{id_}",
    ):
        assert ids.resolve(board, text) == f"card/{id_}", text
    for text in ("13", "012x", "1 2", "12zz" if id_[:2] != "zz" else "12aa", "##12", "12/12", "inbox/12", "", "١٢"):
        with pytest.raises(NotFound):
            ids.resolve(board, text)
    board.close()


def test_the_next_number_is_never_used_twice(desk: Machine) -> None:
    desk.ok("board", "add", "one")
    desk.ok("board", "add", "two")
    desk.ok("board", "remove", "2")
    assert desk.json("board", "add", "three")["number"] == 3
    assert desk.json("board", "restore", "2")["number"] == 2


def test_two_offline_machines_make_the_same_number(desk: Machine, lap: Machine) -> None:
    ours = desk.json("board", "add", "from the desk")
    theirs = lap.json("board", "add", "from the laptop")
    assert ours["number"] == theirs["number"] == 1
    exchange(desk, lap)
    for machine in (desk, lap):
        done = machine("board", "show", "1")
        assert done.code == 1
        for words in (ours["short"], theirs["short"], "from the desk", "from the laptop"):
            assert words in done.err
        for made in (ours, theirs):
            assert machine.json("board", "show", made["short"])["id"] == made["id"]
            assert machine.json("history", made["short"])[0]["entity"] == f"card/{made['id']}"
        assert "names several" in machine.refused("history", "1")
    assert desk.json("board", "add", "next")["number"] == 2


def test_a_number_is_free_for_the_living_one(desk: Machine, lap: Machine) -> None:
    """Bare `1` works while one living card claims it."""
    desk.ok("board", "add", "from the desk")
    theirs = lap.json("board", "add", "from the laptop")
    exchange(desk, lap)
    desk.ok("board", "remove", theirs["short"])
    assert desk.json("board", "show", "1")["title"] == "from the desk"
    desk.ok("board", "remove", "1")
    assert "names several" in desk.refused("board", "restore", "1")


def test_a_short_form_that_was_made_twice(desk: Machine) -> None:
    board = stores.board(desk.home)
    with desk.journal().writing(board) as writer:
        for name in ("kfaaaaaaaaaa", "kfbbbbbbbbbb"):
            writer.append("card.created", f"card/{name}", title=f"card {name}", number=12)
    board.catch_up()
    for text in ("12", "12kf", "kf"):
        with pytest.raises(Ambiguous) as caught:
            ids.resolve(board, text)
        assert caught.value.candidates == ["kfaaaaaaaaaa", "kfbbbbbbbbbb"]
        for candidate in caught.value.candidates:
            assert ids.resolve(board, candidate) == f"card/{candidate}"
    assert ids.resolve(board, "kfa") == "card/kfaaaaaaaaaa"
    board.close()


# -- everything else --------------------------------------------------------------------------------------------------


def test_shortest_unique_beginning(desk: Machine) -> None:
    names = ["kfhq2m9xt47w", "kfhq2m9xt47x", "kfhq3m9xt47x", "zzzzzzzzzzzz", "aa0000000000"]
    inbox = capture(desk, *names)
    expected = {
        "kfhq2m9xt47w": "kfhq2m9xt47w",
        "kfhq2m9xt47x": "kfhq2m9xt47x",
        "kfhq3m9xt47x": "kfhq3",
        "zzzzzzzzzzzz": "zzzzz",
        "aa0000000000": "aa000",
    }
    assert ids.shorts(inbox) == expected
    assert {name: ids.short_of(inbox, name) for name in names} == expected
    for name, short in expected.items():
        assert ids.resolve(inbox, short) == f"inbox/{name}"
    inbox.close()


NAMES = st.lists(
    st.tuples(st.text(LETTERS[:2], min_size=2, max_size=2), st.text(ALPHABET[:2], min_size=10, max_size=10)).map(
        "".join
    ),
    min_size=1,
    max_size=30,
    unique=True,
)


class Rows:
    """What `ids` asks of a store, from a list of names."""

    family = "inbox"

    def __init__(self, names: list[str]) -> None:
        self.db = __import__("apsw").Connection(":memory:")
        self.db.execute("CREATE TABLE entities (entity TEXT PRIMARY KEY, number INTEGER, deleted INTEGER, state BLOB)")
        self.db.executemany("INSERT INTO entities VALUES (?, NULL, 0, '{}')", [(f"inbox/{name}",) for name in names])

    def query(self, sql: str, bindings: tuple[Any, ...] = ()) -> Any:
        return self.db.execute(sql, bindings).fetchall()

    def value(self, sql: str, bindings: tuple[Any, ...] = ()) -> Any:
        return self.db.execute(sql, bindings).get

    def state(self, _entity: str) -> None:
        return None


@given(NAMES)
def test_what_is_shown_is_unique_and_shortest(names: list[str]) -> None:
    store: Any = Rows(names)
    shorts = ids.shorts(store)
    assert set(shorts) == set(names)
    assert len(set(shorts.values())) == len(names)
    for name, short in shorts.items():
        assert ids.short_of(store, name) == short
        assert ids.resolve(store, short) == f"inbox/{name}"
        assert len(short) >= ids.SHORTEST
        if len(short) > ids.SHORTEST:
            assert sum(other.startswith(short[:-1]) for other in names) > 1


def test_an_old_short_form_stays_understood_or_is_answered(desk: Machine) -> None:
    """Ids that come later make the short form longer; what was printed before then names the candidates."""
    inbox = capture(desk, "kfhq2m9xt47w")
    assert ids.short_of(inbox, "kfhq2m9xt47w") == "kfhq2"
    inbox.close()
    inbox = capture(desk, "kfhq2zzzzzzz")
    assert ids.short_of(inbox, "kfhq2m9xt47w") == "kfhq2m"
    with pytest.raises(Ambiguous):
        ids.resolve(inbox, "kfhq2")
    inbox.close()


def test_deleted_things_are_found(desk: Machine) -> None:
    for words in (["board", "add", "a"], ["inbox", "add", "b"], ["reminders", "set", "2090-01-02", "c"]):
        made = desk.json(*words)
        desk.ok(words[0], "remove", made["short"])
        assert len(desk.json("history", made["short"])) == 2
        assert desk.json(words[0], "restore", made["short"])["id"] == made["id"]


def test_one_beginning_in_two_families(desk: Machine) -> None:
    inbox, reminders = stores.inbox(desk.home), stores.reminders(desk.home)
    with desk.journal().writing(inbox, reminders) as writer:
        writer.append("inbox.captured", "inbox/kfhq2m9xt47w", body="a thought")
        writer.append(
            "reminder.set", "reminder/kfhq2zzzzzzz", what="a reminder", when={"due": "2090-01-02T09:00", "zone": "UTC"}
        )
    inbox.close()
    reminders.close()
    said = desk.refused("history", "kfhq2")
    assert "inbox/kfhq2m9xt47w" in said
    assert "reminder/kfhq2zzzzzzz" in said
    assert len(desk.json("history", "inbox/kfhq2")) == 1
    assert len(desk.json("inbox", "show", "kfhq2")) > 1


@pytest.mark.slow
def test_many(desk: Machine) -> None:
    rows: Any = Rows([f"{a}{b}{number:010d}" for number in range(50) for a in LETTERS[:20] for b in LETTERS[:20]])
    started = time.process_time()
    assert len(ids.shorts(rows)) == 20_000
    assert time.process_time() - started < 2
