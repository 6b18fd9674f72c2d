"""Damaged logs: never a traceback or a hang, never more lost than the damaged lines, and each of those is named."""

from __future__ import annotations

import os
import random
import shutil
from typing import TYPE_CHECKING

import pytest
from workers import mutations
from workers.mutations import Log
from workers.place import Place, scratch

from mait_code.commands import journal_check
from mait_code.commands.workspace import Workspace
from mait_code.journal import ids, segments
from mait_code.journal.event import Bad, Event, Future, parse
from mait_code.projections import stores
from mait_code.projections.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.projections.store import Store

#: Another number damages other logs: `CORRUPTION_SEED=8 ./dev test tests/test_corruption.py -n auto`.
SEED = int(os.environ.get("CORRUPTION_SEED", "7"))
#: 20,000 logs in so many tests, for the workers of a parallel run.
CHUNKS, LOGS = 20, 1000
#: Of so many logs one is folded into files by all stores and compared with a rebuild.
IN_FULL = 100


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    folder = scratch("corruption-")
    yield Place(os.path.join(folder, "place"))
    shutil.rmtree(folder)


def fill(place: Place) -> dict[str, bytes]:
    """A journal of two machines and a future one, in four segments. Returns its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "CLOSED_AT", 1800)
        for machine in ("machine-1", "machine-2"):
            patch.setenv("MAIT_CODE_MACHINE_ID", machine)
            _write_some(place)
    first = place.events()[0]
    newer = Future()
    for name in (
        "v",
        "id",
        "at",
        "replica",
        "seq",
        "entity",
        "actor",
        "session",
        "tx",
        "undoes",
        "sees",
        "wall",
        "data",
    ):
        setattr(newer, name, getattr(first, name))
    newer.kind, newer.id, newer.replica = "inbox.starred", "f" * 20, "fntnre00"
    newer.tx = newer.id
    folder = os.path.join(place.home.journal, newer.replica)
    os.makedirs(folder)
    with open(os.path.join(folder, "000001.jsonl"), "wb") as file:
        file.write(newer.line() + b"\n")
    return place.segments()


def _write_some(place: Place) -> None:
    opened = place.stores()
    board = opened[0]
    for number in range(2):
        with place.journal().writing(*opened) as writer:
            card = writer.append("card.created", title=f"naïve café {number} 🎉", number=number + 1)
            writer.append("card.bound", card.entity, by={"session": "s"})
            writer.append("inbox.captured", body='مرحبا\nworld\t"quoted"')
            when = {"due": "2030-01-01T09:00", "zone": "Europe/Berlin"}
            writer.append("reminder.set", what="call", when=when)
            memory = writer.append("memory.stored", content="Größe 更新", type="fact", tags=["a"], session="s")
            writer.append("memory.seen", memory.entity, content="again", importance=7)
            writer.append("entity.mentioned", ids.derived_entity("entity", "redis"), name="Redis", type="service")
            writer.append("observation.recorded", type="bugfix", title="fast", facts=["one"], session="s")
            writer.append("project.aliased", ids.derived_entity("project", "old"), alias="old", name="acme/new")
        with place.journal().writing(board) as writer:
            writer.append("card.moved", card.entity, column="done")
            writer.append("card.commented", card.entity, body="fine")
    for store in opened:
        store.close()


class Reader:
    """Stores in memory that follow a journal through all its damage, so that each log is also a change from the last."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.log = stores.journal(place.home)
        self.families = [store for store in place.stores() if store.name != "journal.db"]
        for store in (self.log, *self.families):
            store.live_in_memory()
            store.catch_up()

    def check(self, damaged: Log, family: Store) -> None:
        """Compare what is folded and named with an independent reading of what is left."""
        whole, perhaps, named, maybe = damaged.expected()
        self.log.catch_up(wait=False)
        folded = {row[0] for row in self.log.query("SELECT id FROM lines")}
        assert whole <= folded, f"lost with their lines untouched: {whole - folded}"
        said = {
            (file, number) for file, number, severity, _reason in self.log.problems() if severity in ("bad", "torn")
        }
        assert named <= said, f"damaged and not named: {sorted(named - said)}"
        assert said <= named | maybe, f"named and not damaged: {sorted(said - named - maybe)}"
        assert len(folded - whole) <= len(maybe - said), "folded from nowhere"
        if perhaps <= whole:
            assert folded == whole
        family.catch_up(wait=False)
        held = {row[0] for row in family.query("SELECT id FROM events")}
        mine = {
            row[0]
            for first in family.projection.families
            for row in self.log.query("SELECT id FROM lines WHERE kind LIKE ?", (f"{first}.%",))
        }
        assert held == mine
        family.conflicted()

    def close(self) -> None:
        for store in (self.log, *self.families):
            store.close()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_twenty_thousand_damaged_logs(place: Place, chunk: int) -> None:
    whole = fill(place)
    reader = Reader(place)
    before: mutations.Files = dict(whole)
    for number in range(LOGS):
        seed = SEED * 1_000_000 + chunk * LOGS + number
        damaged = Log(whole, random.Random(seed))
        for _ in range(damaged.random.choice([1, 1, 2, 3])):
            damaged.mutate()
        damaged.write(place.home.journal, before)
        before = damaged.files
        try:
            reader.check(damaged, reader.families[number % len(reader.families)])
            if number % IN_FULL == 0:
                check_in_full(place, reader)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {', '.join(damaged.done)}") from error
    reader.close()


def check_in_full(place: Place, reader: Reader) -> None:
    """Through files, all stores, `verify` and the next command that writes."""
    expected = place.folded_anew()
    assert place.folded() == expected
    for store in reader.families:
        store.catch_up()
        assert digest(store) == expected[store.name], "what followed all the damage says what a rebuild says"
    ws = Workspace(place.home)
    found = journal_check.verify(ws)
    ws.close()
    assert found.differing == []
    list(segments.strangers(place.home.journal))


def test_the_next_command_writes_whatever_stands_in_the_journal(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fill(place)
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-2")  # whose segments some of the damage is in
    for number in range(150):
        damaged = Log(whole, random.Random(number))
        for _ in range(3):
            damaged.mutate()
        shutil.rmtree(place.home.journal)
        damaged.write(place.home.journal, {})
        event = place.capture("after the damage")
        again = place.capture("and again")
        assert again.seq == event.seq + 1, f"seed {number}: {damaged.done}"
        assert event.at < again.at < "2999", f"seed {number}: no damaged time is believed: {damaged.done}"
        folded = {one.id for one in place.events()}
        assert damaged.expected()[0] | {event.id, again.id} <= folded, f"seed {number}: {damaged.done}"


# -- single lines -----------------------------------------------------------------------------------------------------


def test_every_flipped_bit_of_a_line_is_found(place: Place) -> None:
    fill(place)
    for line in {event.line() for event in place.events()[:3]}:
        assert isinstance(parse(line), Event)
        for number in range(len(line)):
            for bit in range(8):
                flipped = line[:number] + bytes([line[number] ^ 1 << bit]) + line[number + 1 :]
                assert isinstance(parse(flipped), Bad), f"byte {number}, bit {bit}"


def test_any_beginning_of_a_line_is_no_event(place: Place) -> None:
    fill(place)
    line = place.events()[0].line()
    for length in range(len(line)):
        assert isinstance(parse(line[:length]), Bad)


@pytest.mark.parametrize("value", mutations.VALUES, ids=lambda value: value[:20])
def test_any_value_in_any_field_is_read_or_refused(place: Place, value: str) -> None:
    """With a right checksum: what a hostile program may write. Whatever is read can also be folded, and shown."""
    fill(place)
    lines = []
    for event in place.events():
        line = event.line()
        for field in {
            "kind",
            "v",
            "id",
            "at",
            "replica",
            "seq",
            "entity",
            "actor",
            "session",
            "tx",
            "undoes",
            "sees",
            "wall",
        }:
            lines.append(mutations.with_checksum(line[:-1] + f',"{field}":{value}}}'.encode()))
            lines.append(mutations.with_checksum(f'{{"{field}":{value},'.encode() + line[1:]))
        for field in event.data:
            start = line.index(b',"data":') + 8
            datas = (f'{{"{field}":{value}}}', f'{line[start:-2].decode()},"{field}":{value}}}', value)
            lines += [mutations.with_checksum(line[:start] + data.encode() + b"}") for data in datas]
    folder = os.path.join(place.home.journal, "h0st11e0")
    os.makedirs(folder)
    with open(os.path.join(folder, "000001.jsonl"), "wb") as file:
        file.write(b"\n".join(lines) + b"\n")
    assert place.folded() == place.folded_anew()
    log = stores.journal(place.home)
    log.catch_up()
    counted = log.query(
        "SELECT count(*) FROM lines JOIN segments s ON s.key = place >> 36 WHERE s.directory = 'h0st11e0'"
    )
    bad = [one for one in log.problems("bad") if one[0].startswith("h0st11e0")]
    assert counted[0][0] + len(bad) == len(lines)
    for event in log.action(place.events()[0].tx):
        assert event.id
    log.close()
    place.capture("after")
