"""What every kind of event and every projection must keep to. Both are found by themselves: a new one is tested by being there.

A new kind needs a line in tests/golden/; a new sort of field, a strategy in VALUES below.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from convergence.checks import against_model, agree, tables
from convergence.model import WRITES, Model
from convergence.world import scratch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_event import sealed
from test_golden import LINES

from mait_code.journal import clock, ids, segments
from mait_code.journal import kinds as declared_kinds
from mait_code.journal.event import Bad, Event, parse
from mait_code.journal.home import Home
from mait_code.journal.kinds import KINDS, RESERVED
from mait_code.journal.kinds.declare import NAME, kind
from mait_code.journal.tail import adopt
from mait_code.projections import stores
from mait_code.projections.digest import digest
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.journal.kinds import Kind
    from mait_code.projections.store import Store

GOLDEN: dict[str, list[bytes]] = defaultdict(list)
for _line in LINES:
    GOLDEN[orjson.loads(_line)["kind"]].append(_line)

every_kind = pytest.mark.parametrize("name", sorted(KINDS))
every_store = pytest.mark.parametrize("name", stores.NAMES)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Home(str(tmp_path / "data"))


def put(home: Home, lines: list[bytes], directory: str = "k7f3qz9m", number: int = 1) -> None:
    path = os.path.join(home.journal, directory)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, segments.name_of(number)), "ab") as file:
        file.write(b"".join(line + b"\n" for line in lines))


def folded(store: Store) -> tuple[str, dict[str, list[tuple[Any, ...]]]]:
    """Everything a store says, caught up."""
    store.catch_up()
    return digest(store), tables(store)


def state_of(home: Home, kind: str) -> Any:
    """What the store that folds a kind says of a journal."""
    store = next(store for store in (opener(home) for opener in stores.OPENERS.values()) if _folds(store, kind))
    found = folded(store)
    store.close()
    return found


def _folds(store: Store, kind: str) -> bool:
    return kind.partition(".")[0] in store.projection.families


# -- kinds


def test_the_registry_holds_what_is_declared() -> None:
    families = {name.partition(".")[0] for name in KINDS}
    assert all(name == kind.name for name, kind in KINDS.items())
    assert not set(RESERVED) & set(KINDS)
    assert families == {
        one for opener in stores.OPENERS.values() for one in opener(Home("/nowhere")).projection.families
    }


@every_kind
def test_has_a_golden_line_for_every_version(name: str) -> None:
    versions = {orjson.loads(line)["v"] for line in GOLDEN[name]}
    assert versions == set(range(1, KINDS[name].version + 1))


@every_kind
def test_golden_lines_have_every_field(name: str) -> None:
    newest = [orjson.loads(line)["data"] for line in GOLDEN[name] if orjson.loads(line)["v"] == KINDS[name].version]
    assert {key for data in newest for key in data} >= set(KINDS[name].fields)


@every_kind
def test_upcasts_lead_from_every_version_to_the_present_one(name: str) -> None:
    assert set(KINDS[name].upcasts) == set(range(1, KINDS[name].version))
    for line in GOLDEN[name]:
        event = parse(line)
        assert type(event) is Event
        assert not event.declared.fault(event.data)


@every_kind
def test_a_required_field_must_be_there_and_an_optional_one_may_be_null(name: str) -> None:
    for key, field in KINDS[name].fields.items():
        data = next(data for data in map(_data, GOLDEN[name]) if key in data)
        without = _parse(name, {other: value for other, value in data.items() if other != key})
        null = _parse(name, {**data, key: None})
        if field.required:
            assert isinstance(without, Bad)
            assert without.reason == f"data.{key} is missing"
            assert isinstance(null, Bad)
        else:
            assert type(without) is type(null) is Event


@every_kind
def test_every_field_is_checked(name: str) -> None:
    for key, field in KINDS[name].fields.items():
        data = next(data for data in map(_data, GOLDEN[name]) if key in data)
        for wrong in (True, 1.5, ["x"], [1], [""]):
            if wrong in (["x"], [""]) and field.check(wrong):
                continue  # a list of such things is what the field takes
            found = _parse(name, {**data, key: wrong})
            assert isinstance(found, Bad), f"{key}: {wrong}"
            assert found.reason == f"data.{key} is not {field.what}"


@every_kind
def test_names_only_entities_of_its_own_type(name: str) -> None:
    line = GOLDEN[name][0]
    raw = orjson.loads(line)
    other = re.sub(rb'"entity":"[a-z]+/', b'"entity":"zebra/', line)
    found = parse(_resealed(other))
    assert isinstance(found, Bad)
    assert found.reason == f"{name} names an entity that is no {raw['entity'].partition('/')[0]}"


@every_kind
def test_unknown_fields_are_kept_and_change_nothing(name: str, home: Home, tmp_path: Path) -> None:
    """A newer program may add fields without a new version; its line is carried on byte for byte and read as before."""
    more = [_with_more(line) for line in LINES if orjson.loads(line)["kind"] == name]
    rest = [line for line in LINES if orjson.loads(line)["kind"] != name]
    for line in more:
        event = parse(line)
        assert type(event) is Event
        assert event.data["mood"] == {"of": "the day"}
        assert b'"mood":{"of":"the day"}' in event.line()
    other = Home(str(tmp_path / "other"))
    put(home, more + rest)
    put(other, LINES)
    assert state_of(home, name) == state_of(other, name)
    directory = adopt(home, more)
    content = Path(home.journal, directory, segments.name_of(1)).read_bytes()
    assert content.split(b"\n")[:-1] == more


@every_kind
def test_folding_a_line_twice_is_folding_it_once(name: str, home: Home, tmp_path: Path) -> None:
    once = Home(str(tmp_path / "once"))
    put(once, LINES)
    put(home, LINES)
    put(home, GOLDEN[name], "adpt0000")
    wanted = state_of(once, name)
    assert state_of(home, name) == wanted
    put(home, GOLDEN[name], "adpt0001")
    assert state_of(home, name) == wanted


@every_kind
def test_the_model_of_the_tests_knows_the_kind(name: str) -> None:
    event = parse(GOLDEN[name][0])
    assert isinstance(event, Event)
    assert dict(event.declared.writes(event.id, event.data)) == WRITES[name](event.id, event.data)


def _data(line: bytes) -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(line)["data"]
    return data


def _parse(name: str, data: dict[str, Any]) -> Event | Bad:
    head, _, _rest = GOLDEN[name][-1].partition(b',"sum":"')
    return parse(sealed(head, b',"data":' + orjson.dumps(data) + b"}"))


def _resealed(line: bytes) -> bytes:
    head, _, rest = line.partition(b',"sum":"')
    return sealed(head, rest[17:])


def _with_more(line: bytes) -> bytes:
    head, _, _rest = line.partition(b',"sum":"')
    data = {"mood": {"of": "the day"}, **_data(line)}
    return sealed(head + b',"weather":["fine",1]', b',"data":' + orjson.dumps(data) + b"}")


# -- versions


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Kind:
    """This program after an upgrade: moving a card says where to in other words, and cards can sparkle."""

    moved = kind("card.moved", 2, column=NAME, upcasts={1: lambda data: {"column": data["column"].upper()}})
    sparkled = kind("card.sparkled", title=NAME)
    monkeypatch.setitem(KINDS, "card.moved", moved)
    monkeypatch.setitem(KINDS, "card.sparkled", sparkled)
    return moved


def test_an_older_version_is_brought_to_the_present_one(newer: Kind) -> None:
    event = parse(GOLDEN["card.moved"][0])
    assert type(event) is Event
    assert (event.v, event.data, event.declared) == (1, {"column": "IN_PROGRESS"}, newer)


def test_data_that_cannot_be_brought_there_is_a_bad_line(newer: Kind) -> None:
    for data in ({}, {"column": 7}, {"column": None}):
        found = _parse("card.moved", data)
        assert isinstance(found, Bad)
        assert found.reason == "data of version 1 cannot be brought to version 2"


def test_a_newer_line_is_kept_and_folded_after_the_upgrade(home: Home, request: pytest.FixtureRequest) -> None:
    head, _, _ = GOLDEN["card.moved"][0].partition(b',"sum":"')
    head = head.replace(b'"v":1', b'"v":2').replace(orjson.loads(head + b"}")["id"].encode(), b"a" * 20)
    late = sealed(head, b',"data":{"column":"in_review"}}')
    head = head.replace(b"card.moved", b"card.sparkled").replace(b'"v":2', b'"v":1').replace(b"a" * 20, b"b" * 20)
    sparkled = sealed(head, b',"data":{"title":"sparkling"}}')
    put(home, [GOLDEN["card.created"][0], late, sparkled])
    board, log = stores.board(home), stores.journal(home)
    board.catch_up()
    log.catch_up()
    assert board.query("SELECT title, status, newer FROM cards") == [("Größe prüfen 更新 🚀", "backlog", 1)]
    newer_lines = [(number, reason) for _file, number, _severity, reason in log.problems("newer")]
    assert newer_lines == [(2, "card.moved version 2"), (3, "card.sparkled version 1")]
    board.close()
    log.close()
    request.getfixturevalue("newer")
    board, log = stores.board(home), stores.journal(home)
    board.catch_up()
    log.catch_up()
    assert board.query("SELECT title, status, newer FROM cards") == [("sparkling", "in_review", 0)]
    assert log.problems() == []


def test_other_kinds_make_a_store_fold_anew(request: pytest.FixtureRequest) -> None:
    before = declared_kinds.fingerprint()
    request.getfixturevalue("newer")
    assert declared_kinds.fingerprint() != before


# -- projections

GIVEN_ONCE = {"": ("number", "origin"), "memory": ("session", "ref", "source", "origin"), "observation": ()}


@every_store
def test_every_kind_of_the_family_has_a_place_in_the_state(name: str, home: Home) -> None:
    put(home, LINES)
    store = stores.OPENERS[name](home)
    store.catch_up()
    of_family = [line for line in LINES if orjson.loads(line)["kind"].partition(".")[0] in store.projection.families]
    assert of_family
    found = [event.id for entity, _ in store.states() for event in store.events_of(entity)]
    assert sorted(found) == sorted(orjson.loads(line)["id"] for line in of_family)
    against_model(store, Model(LINES))


@every_store
def test_a_register_can_be_written_back_to_any_value_it_had(name: str, home: Home) -> None:
    """`inverse` is what undo and picks are made of: what it gives must be sound and must set the value."""
    put(home, LINES)
    store = stores.OPENERS[name](home)
    store.catch_up()
    for entity, raw in list(store.states()):
        state = orjson.loads(raw)
        for event in store.events_of(entity):
            for register, value in event.declared.writes(event.id, event.data):
                if register in GIVEN_ONCE.get(entity.partition("/")[0], GIVEN_ONCE[""]):
                    continue  # given when a thing is made and never written again
                kind, data = store.part(entity).inverse(register, value, state)
                assert not KINDS[kind].fault(data), (kind, data)
                assert dict(KINDS[kind].writes("0" * 20, data))[register] == value


# -- any order, any grouping, any data

WORDS = st.text(max_size=8)
MOMENTS = st.one_of(
    st.sampled_from(
        ["2026-07-01T09:00", "2026-07-02T09:00", "2026-02-30T09:00", "someday or never", "8999-12-31T23:59"]
    ),
    st.text(min_size=10, max_size=26),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=5,
)  # fmt: skip
RULES = st.one_of(
    st.none(),
    st.just({"every": "day", "interval": 1}),
    st.just({"every": "month", "interval": 1, "monthdays": [31]}),
    st.dictionaries(st.sampled_from(["every", "interval", "days", "month", "monthdays", "nth"]), ANYTHING, max_size=4),
)
#: A strategy for each sort of field, by the words it is described with.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": WORDS,
    "a name of 1 to 200 characters": st.one_of(st.sampled_from(["a", "b", "done", "in_progress"]), st.text(min_size=1, max_size=200)),
    "a whole number from 1": st.integers(1, 2**53 - 1),
    "an importance from 1 to 10": st.integers(1, 10),
    "a time such as 2026-11-30T15:21:07.123004Z": st.integers(0, clock.LAST_MICROS).map(clock.text),
    "a list of texts": st.lists(WORDS, max_size=3),
    "a list of names of 1 to 200 characters": st.lists(st.one_of(st.sampled_from(["a", "b"]), st.text(min_size=1, max_size=200)), max_size=3),
    "a list of objects": st.lists(st.dictionaries(WORDS, ANYTHING, max_size=2), max_size=2),
    "an object": st.dictionaries(st.one_of(st.just("session"), WORDS), ANYTHING, max_size=3),
    "a register that can be reopened": st.sampled_from(["deleted", "done", "comment:x", "reference:", "occurrence:2026-07-01T09:00", "superseded", "retired", "merged", "link:", "link:a:b"]),
    'a time such as {"due": "2026-12-01T09:00", "zone": "Europe/Berlin"}': st.fixed_dictionaries(
        {"due": MOMENTS, "zone": st.one_of(st.sampled_from(["UTC", "Europe/Berlin", "../../etc/passwd"]), st.text(min_size=1, max_size=64))},
        optional={"rule": RULES, "more": ANYTHING},
    ),
}  # fmt: skip


@st.composite
def events(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = (),
    first: tuple[str, ...] = ("card.created", "inbox.captured", "reminder.set"),
    entities: int = 2,
) -> list[bytes]:
    """A handful of sound lines of any kinds about few entities, with any data and any `sees`, some of them twice."""
    made: list[bytes] = []
    seen: list[str] = []
    chosen = draw(st.lists(st.sampled_from(kinds or sorted(KINDS)), min_size=1, max_size=14))
    for number, name in enumerate([*first, *chosen]):
        declared = KINDS[name]
        data = {}
        for key, field in declared.fields.items():
            if field.required or draw(st.booleans()):
                data[key] = draw(VALUES[field.what].filter(field.check))
        event = Event()
        event.kind, event.v, event.data = name, declared.version, data
        event.id = draw(st.sampled_from(seen)) if seen and draw(st.integers(0, 19)) == 0 else f"{number:020x}"
        event.at = clock.text(draw(st.integers(0, 4)) * 10**6)
        event.replica, event.seq = draw(st.sampled_from(("aaaaaaaa", "bbbbbbbb"))), number + 1
        event.entity = ids.derived_entity(declared.entity, str(draw(st.integers(0, entities - 1))))
        event.actor, event.session, event.tx, event.undoes, event.wall = "me", "", event.id, "", ""
        registers = [register for register, _ in declared.writes(event.id, data)]
        named = st.lists(st.sampled_from(seen), max_size=3) if seen else st.just([])
        event.sees = {register: found for register in [*registers, "*"] if (found := draw(named))}
        seen.append(event.id)
        made.append(event.line())
    return made


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    folder = scratch()
    yield folder
    shutil.rmtree(folder)


ROUND = itertools.count()


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(lines=events(), order=st.randoms(use_true_random=False), groups=st.integers(1, 4))
def test_any_order_and_grouping_give_one_state(lines: list[bytes], order: Any, groups: int, place: str) -> None:
    """Incremental, rebuilt, and in any other order: the same states, the same rows; and those of the model."""
    folder = f"{place}/{next(ROUND)}"
    home = _home(f"{folder}/one")
    opened = _grow(home, [lines])
    wanted = {store.name: folded(store) for store in opened}
    for store in opened:
        against_model(store, Model(lines))
    rebuild(home, opened)
    for store in opened:
        agree(f"{store.name}: rebuilt", folded(store), wanted[store.name])
        store.close()
    mixed = list(lines)
    order.shuffle(mixed)
    for store in _grow(_home(f"{folder}/other"), [mixed[part::groups] for part in range(groups)]):
        agree(f"{store.name}: in another order", folded(store), wanted[store.name])
        store.close()
    shutil.rmtree(folder)


def _home(folder: str) -> Home:
    home = Home(f"{folder}/data")
    home.state = f"{folder}/state"
    return home


def _grow(home: Home, groups: list[list[bytes]]) -> list[Store]:
    """The stores of a journal that grew group by group, looked at after each."""
    opened = [opener(home) for opener in stores.OPENERS.values()]
    for number, group in enumerate(groups, 1):
        put(home, group, ids.derived_replica(str(number).encode()))
        for store in opened:
            store.catch_up()
    return opened


@pytest.mark.parametrize("entity", sorted({one.entity for one in KINDS.values()}))
@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_state_that_was_read_back_says_the_same(entity: str, data: st.DataObject) -> None:
    """A state is kept as JSON with its keys sorted, so nothing that is shown may hang on the order in which keys came."""
    kinds = tuple(name for name in sorted(KINDS) if KINDS[name].entity == entity)
    creating = tuple(name for name in kinds if KINDS[name].creates)[:1]
    few = data.draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=2), label="kinds")
    lines = data.draw(events(tuple(few), creating, entities=1))
    found = {event.id: event for line in lines if isinstance(event := parse(line), Event)}
    store = stores.OPENERS[stores.HOLDS[entity]](Home("/nowhere"))
    part = store.part(f"{entity}/")
    kept: dict[str, Any] = {}
    read: dict[str, Any] = {}
    for event in sorted(found.values(), key=lambda one: one.key):
        kept[event.entity] = part.fold(kept.get(event.entity), event)
        back = part.fold(read.get(event.entity), event)
        read[event.entity] = orjson.loads(orjson.dumps(back, option=orjson.OPT_SORT_KEYS))
    for one, state in kept.items():
        assert _rows(part, one, state) == _rows(part, one, read[one])


def _rows(part: Any, entity: str, state: Any) -> list[Any]:
    return list(part.rows(entity.partition("/")[2], state)) if state["c"] or part.known_by_name else []
