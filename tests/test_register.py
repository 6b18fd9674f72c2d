"""Multi-value registers, case by case, and in any order against the definition."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from convergence.model import Entity, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mait_code.journal.event import Event, parse
from mait_code.journal.kinds import KINDS
from mait_code.projections import register
from mait_code.projections.cards import Cards
from mait_code.projections.log import Replicas
from mait_code.projections.projection import Projection
from mait_code.projections.reminders import Reminders
from mait_code.projections.thoughts import Thoughts

CARD = "card/kfhq2m9xt47w"
WHEN = {"due": "2026-07-01T09:00", "zone": "UTC"}


class Story:
    """Events of one entity, each later than the one before unless told otherwise."""

    def __init__(self, projection: Projection | None = None, entity: str = CARD) -> None:
        self.projection = projection or Cards()
        self.entity = entity
        self.events: list[Event] = []

    def say(self, kind: str, at: int = -1, replica: str = "aaaaaaaa", sees: Any = None, **data: Any) -> str:
        """Add an event and return its id. `sees`: {register: ids}; `"all"` names every head there is."""
        event = Event()
        number = len(self.events) + 1
        event.kind, event.v, event.data, event.declared = kind, 1, data, KINDS[kind]
        event.id, event.at = f"{number:020x}", f"2026-06-01T00:00:{at if at >= 0 else number:02d}.000000Z"
        event.replica, event.seq, event.entity, event.actor = replica, number, self.entity, "me"
        event.session = event.undoes = event.wall = ""
        event.tx, event.sees = event.id, self._all(event) if sees == "all" else sees or {}
        self.events.append(event)
        return event.id

    def _all(self, event: Event) -> dict[str, list[str]]:
        heads = register.heads_of(self.state)
        sees = {name: heads[name] for name, _ in event.declared.writes(event.id, event.data) if name in heads}
        if event.kind.endswith(".deleted"):
            sees["*"] = [one for ids in heads.values() for one in ids]
        return sees

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] | None = None
        for event in sorted(self.events, key=lambda event: event.key):
            state = self.projection.fold(state, event)
        assert state is not None
        return state

    def heads(self, name: str) -> list[Any]:
        return [head[1] for head in self.state["r"].get(name, [])]

    @property
    def conflicts(self) -> list[str]:
        return self.projection.conflicts(self.state)


@pytest.fixture
def card() -> Story:
    story = Story()
    story.say("card.created", title="one", column="backlog")
    return story


# -- one field


def test_a_write_that_saw_the_head_takes_its_place(card: Story) -> None:
    card.say("card.moved", column="done", sees="all")
    assert card.heads("column") == ["done"]
    assert card.conflicts == []


def test_two_writes_that_did_not_see_each_other_are_a_conflict(card: Story) -> None:
    first = card.events[0].id
    card.say("card.moved", column="done", sees={"column": [first]})
    card.say("card.moved", column="in_review", sees={"column": [first]}, replica="bbbbbbbb")
    assert card.heads("column") == ["done", "in_review"]
    assert register.value(card.state, "column") == "in_review"
    assert card.conflicts == ["column"]


def test_the_larger_key_wins_whatever_the_clock_of_the_other_says(card: Story) -> None:
    card.say("card.moved", at=30, column="done")
    card.say("card.moved", at=20, column="in_review")
    assert register.value(card.state, "column") == "done"


@pytest.mark.parametrize(
    ("first", "second"), [(("aaaaaaaa", 20), ("bbbbbbbb", 20)), (("aaaaaaaa", 20), ("aaaaaaaa", 20))]
)
def test_ties_are_broken_by_replica_then_by_seq(card: Story, first: tuple[str, int], second: tuple[str, int]) -> None:
    card.say("card.moved", at=first[1], replica=first[0], column="done")
    card.say("card.moved", at=second[1], replica=second[0], column="in_review")
    assert register.value(card.state, "column") == "in_review"


def test_the_same_value_twice_is_no_conflict(card: Story) -> None:
    first = card.events[0].id
    for replica in ("aaaaaaaa", "bbbbbbbb"):
        card.say("card.moved", column="done", sees={"column": [first]}, replica=replica)
    assert card.heads("column") == ["done", "done"]
    assert card.conflicts == []


def test_any_write_that_sees_all_heads_closes_a_conflict(card: Story) -> None:
    card.say("card.edited", title="two")
    card.say("card.edited", title="three")
    assert card.conflicts == ["title"]
    card.say("card.edited", title="four", sees="all")
    assert card.conflicts == []
    assert card.heads("title") == ["four"]


def test_a_write_that_sees_some_heads_leaves_the_rest(card: Story) -> None:
    card.say("card.edited", title="two")
    third = card.say("card.edited", title="three")
    card.say("card.edited", title="four", sees={"title": [third]})
    assert card.heads("title") == ["one", "two", "four"]
    assert card.conflicts == ["title"]


def test_ids_named_before_they_come_are_no_heads_when_they_do(card: Story) -> None:
    card.say("card.moved", at=10, column="done", sees={"column": [f"{3:020x}"]})
    card.say("card.moved", at=20, column="in_review")
    assert card.heads("column") == ["backlog", "done"]
    assert register.value(card.state, "column") == "done"


def test_an_event_that_names_itself_is_no_head(card: Story) -> None:
    card.say("card.moved", column="done", sees={"column": [f"{2:020x}"]})
    assert card.heads("column") == ["backlog"]


def test_sees_of_one_register_say_nothing_of_another(card: Story) -> None:
    card.say("card.moved", column="done", sees={"title": [card.events[0].id]})
    assert card.heads("title") == []
    assert card.heads("column") == ["backlog", "done"]


@pytest.mark.parametrize(
    "values", [(1, 1.0), (1, True), (0, False), ([1], [1.0]), ({"a": 0}, {"a": False}), (None, False)]
)
def test_values_of_other_json_types_differ(values: tuple[Any, Any]) -> None:
    story = Story(Reminders(), "reminder/kfhq2m9xt47w")
    story.say("reminder.set", what="x", when=WHEN)
    for value in values:
        story.say("reminder.edited", when={**WHEN, "more": value}, sees={"when": [story.events[0].id]})
    assert story.conflicts == ["when"]


def test_the_order_of_keys_makes_no_difference() -> None:
    story = Story(Reminders(), "reminder/kfhq2m9xt47w")
    story.say("reminder.set", what="x", when=WHEN)
    for when in (WHEN, dict(reversed(WHEN.items()))):
        story.say("reminder.edited", when=when, sees={"when": [story.events[0].id]})
    assert story.conflicts == []


# -- deletion


def test_a_deletion_that_saw_everything_is_no_conflict(card: Story) -> None:
    card.say("card.tagged", tag="x")
    card.say("card.deleted", sees="all")
    assert register.is_deleted(card.state)
    assert card.conflicts == []


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("card.edited", {"title": "two"}),
        ("card.moved", {"column": "done"}),
        ("card.tagged", {"tag": "x"}),
        ("card.commented", {"body": "x"}),
        ("card.bound", {"by": {"session": "x"}}),
    ],
)
@pytest.mark.parametrize("after", [True, False])
def test_an_edit_the_deletion_did_not_see_is_a_conflict(card: Story, kind: str, data: Any, after: bool) -> None:
    """Whichever has the larger key: the edit never vanishes unseen."""
    card.say("card.deleted", at=30, sees="all")
    card.say(kind, at=40 if after else 20, **data)
    assert register.is_deleted(card.state)
    assert card.conflicts == ["deleted"]


def test_picking_the_deletion_closes_it_and_so_does_restoring(card: Story) -> None:
    card.say("card.deleted", at=30, sees="all")
    card.say("card.edited", at=20, title="two", sees={"title": [card.events[0].id]})
    both = len(card.events)
    card.say("card.deleted", at=50, sees="all")
    assert register.is_deleted(card.state)
    assert card.conflicts == []
    del card.events[both:]
    card.say("card.restored", at=50, register="deleted", sees="all")
    assert not register.is_deleted(card.state)
    assert card.conflicts == []
    assert register.value(card.state, "title") == "two"


def test_two_deletions_that_saw_one_edit_each_are_no_conflict(card: Story) -> None:
    """Every head is named by some deletion: nobody's edit was lost unseen."""
    first = card.events[0].id
    title = card.say("card.edited", title="two", sees={"title": [first]})
    column = card.say("card.moved", column="done", sees={"column": [first]})
    card.say("card.deleted", sees={"*": [first, title]})
    card.say("card.deleted", sees={"*": [first, column]})
    assert card.conflicts == []


def test_a_deletion_beside_a_restoration_is_deleted_and_a_conflict(card: Story) -> None:
    deletion = card.say("card.deleted", sees="all")
    card.say("card.restored", register="deleted", sees={"deleted": [deletion]})
    card.say("card.deleted", sees={"deleted": [deletion], "*": [card.events[0].id, deletion]})
    assert register.is_deleted(card.state)
    assert card.conflicts == ["deleted"]


def test_a_deleted_entity_has_no_other_conflict(card: Story) -> None:
    card.say("card.edited", title="two")
    card.say("card.edited", title="three")
    card.say("card.deleted", sees="all")
    assert card.conflicts == []
    card.say("card.restored", register="deleted", sees="all")
    assert card.conflicts == ["title"]


# -- where a rule names a winner


def test_a_claim_on_two_machines_is_held_by_the_larger_key_without_a_conflict(card: Story) -> None:
    card.say("card.moved", column="in_progress", sees="all")
    card.say("card.bound", by={"session": "one"}, replica="aaaaaaaa")
    card.say("card.bound", by={"session": "two"}, replica="bbbbbbbb")
    assert len(card.heads("binding")) == 2
    assert Cards.binding(card.state) == "two"
    assert card.conflicts == []


@pytest.mark.parametrize("order", list(itertools.permutations(("reminder.dismissed", "reminder.snoozed"))))
def test_dismissed_beats_snoozed_whichever_came_later(order: tuple[str, ...]) -> None:
    story = Story(Reminders(), "reminder/kfhq2m9xt47w")
    story.say("reminder.set", what="x", when=WHEN)
    for kind in order:
        until: dict[str, Any] = {"until": WHEN} if kind == "reminder.snoozed" else {}
        story.say(kind, occurrence=WHEN["due"], **until)
    assert Reminders.occurrences(story.state) == {WHEN["due"]: {"dismissed": True}}
    assert story.conflicts == []


def test_two_snoozes_of_one_occurrence_are_a_conflict_of_that_occurrence() -> None:
    story = Story(Reminders(), "reminder/kfhq2m9xt47w")
    story.say("reminder.set", what="x", when=WHEN)
    for day in (2, 3):
        story.say("reminder.snoozed", occurrence="2026-07-01T09:00", until={**WHEN, "due": f"2026-07-0{day}T09:00"})
    story.say("reminder.snoozed", occurrence="2026-07-08T09:00", until=WHEN)
    assert story.conflicts == ["occurrence:2026-07-01T09:00"]


# -- add-only things, and one register per tag


def test_tag_and_untag_meet_per_tag(card: Story) -> None:
    tagged = card.say("card.tagged", tag="x")
    card.say("card.untagged", tag="x", sees={"tag:x": [tagged]})
    card.say("card.tagged", tag="x", sees={"tag:x": [tagged]})
    card.say("card.tagged", tag="y")
    assert card.conflicts == ["tag:x"]
    assert Cards.tags(card.state) == ["x", "y"]


def test_comments_of_two_machines_are_both_there(card: Story) -> None:
    ids = [card.say("card.commented", body=body) for body in ("one", "two")]
    assert card.conflicts == []
    card.say("card.comment_deleted", comment=ids[0], sees="all")
    assert [row[3] for table, row in Cards().rows("x", card.state) if table == "card_comments"] == ["two"]
    card.say("card.restored", register=f"comment:{ids[0]}", sees="all")
    assert [row[3] for table, row in Cards().rows("x", card.state) if table == "card_comments"] == ["one", "two"]


def test_outcomes_differ_by_what_they_name() -> None:
    story = Story(Thoughts(), "inbox/kfhq2m9xt47w")
    first = story.say("inbox.captured", body="x")
    assert first
    story.say("inbox.done", outcome="card", ref="card/kfhq2m9xt47w")
    story.say("inbox.done", outcome="card", ref="card/abcdefghjkmn")
    assert story.conflicts == ["done"]


def test_labels() -> None:
    story = Story(Replicas(), "replica/kfhq2m9xt47w")
    story.say("journal.replica_labelled", label="desk", of="aaaaaaaa")
    story.say("journal.replica_labelled", label="lap", of="aaaaaaaa")
    assert story.conflicts == ["label"]


# -- the definition


@st.composite
def stories(draw: st.DrawFn) -> list[Event]:
    """Events of one card in an order of their own, naming any of each other."""
    story = Story()
    count = draw(st.integers(1, 9))
    names = ("column", "title", "tag:x", "deleted", "binding", "*")
    for _ in range(count):
        kind, data = draw(
            st.sampled_from(
                [
                    ("card.created", {"title": "a", "column": "backlog"}),
                    ("card.moved", {"column": "done"}),
                    ("card.moved", {"column": "backlog"}),
                    ("card.edited", {"title": "a"}),
                    ("card.edited", {"title": "b"}),
                    ("card.tagged", {"tag": "x"}),
                    ("card.untagged", {"tag": "x"}),
                    ("card.bound", {"by": {"session": "s"}}),
                    ("card.unbound", {}),
                    ("card.deleted", {}),
                    ("card.restored", {"register": "deleted"}),
                ]
            )
        )
        ids = st.lists(st.integers(1, count).map(lambda number: f"{number:020x}"), max_size=4)
        sees = draw(st.dictionaries(st.sampled_from(names), ids, max_size=3))
        story.say(
            kind, at=draw(st.integers(0, 3)), replica=draw(st.sampled_from(("aaaaaaaa", "bbbbbbbb"))), sees=sees, **data
        )
    return story.events


@settings(max_examples=500, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(events=stories())
def test_folding_is_the_definition(events: list[Event]) -> None:
    """Heads, values and conflicts of a fold are those the definition gives for the set of events."""
    projection = Cards()
    state: dict[str, Any] | None = None
    for event in sorted(events, key=lambda event: event.key):
        state = projection.fold(state, event)
    assert state is not None
    entity = Entity(filter(None, (read(event.line()) for event in events)))
    for name in entity.registers:
        assert [head[0] for head in state["r"].get(name, [])] == [fact.id for fact in entity.heads(name)]
        assert register.value(state, name) == entity.value(name)
    assert register.is_deleted(state) == entity.is_deleted
    assert projection.conflicts(state) == entity.conflicts()
    assert all(type(parse(event.line())) is Event for event in events)
