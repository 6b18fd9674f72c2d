"""What befalls a machine's files: torn tails, backups, copies, and lines that somebody else's program wrote."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import orjson

from convergence.world import MOST_MACHINES, SECOND
from mait_code.journal import clock, ids, segments, spool
from mait_code.journal.event import Event, parse
from mait_code.journal.kinds import KINDS
from mait_code.journal.sha import sha256
from mait_code.journal.tail import adopt

if TYPE_CHECKING:
    from collections.abc import Callable

    from convergence.machine import Machine
    from convergence.world import World

    Accident = Callable[[World, Machine, int], None]

ACCIDENTS: dict[str, Accident] = {}


def accident(function: Accident) -> Accident:
    ACCIDENTS[function.__name__] = function
    return function


# -- a machine that was killed, or lost power


def _append_raw(machine: Machine, content: bytes) -> None:
    path = machine.own_segment()
    if path:
        with open(path, "ab") as file:
            file.write(content)


@accident
def torn_tail(world: World, machine: Machine, value: int) -> None:
    """Killed in the middle of a line."""
    lines = machine.lines()
    if lines:
        _append_raw(machine, lines[value % len(lines)][: 20 + 40 * value])


@accident
def nul_tail(world: World, machine: Machine, value: int) -> None:
    """What some file systems leave after a power cut."""
    _append_raw(machine, b"\0" * (1 + 64 * value))


@accident
def rubbish(world: World, machine: Machine, value: int) -> None:
    """Whole lines that are no events."""
    _append_raw(machine, (b"<<<<<<< HEAD\n", b"\xff\xfe\n", b"{}\n\n", b'{"kind":"card.moved","v":1}\n')[value % 4])


@accident
def spooled_twice(world: World, machine: Machine, value: int) -> None:
    """Killed between appending a spooled action and removing its file: the file is there again."""
    folder = machine.home.in_state("spool")
    kept = machine.home.in_state("spool-kept")
    os.makedirs(folder, exist_ok=True)
    os.makedirs(kept, exist_ok=True)
    for path in spool.waiting(machine.home):
        with open(path, "rb") as source, open(os.path.join(kept, os.path.basename(path)), "wb") as target:
            target.write(source.read())
    for name in os.listdir(kept):
        os.replace(os.path.join(kept, name), os.path.join(folder, name))


@accident
def restart(world: World, machine: Machine, value: int) -> None:
    machine.close()


@accident
def lost_store(world: World, machine: Machine, value: int) -> None:
    machine.lose_store(("card", "inbox", "reminder", "journal")[value % 4])


@accident
def settle(world: World, machine: Machine, value: int) -> None:
    machine.settle()


@accident
def clock_set(world: World, machine: Machine, value: int) -> None:
    """Somebody sets the clock, forward or back."""
    machine.skew += (-86_400, 3_600, -1, 400_000)[value % 4] * SECOND


# -- backups and copied machines


@accident
def backed_up(world: World, machine: Machine, value: int) -> None:
    world.back_up(machine)


@accident
def put_back(world: World, machine: Machine, value: int) -> None:
    world.put_back(value, data=value % 4 != 1, state=value % 4 != 0)


@accident
def machine_copied(world: World, machine: Machine, value: int) -> None:
    """The whole machine is cloned: same path, same state; the clone may even answer to the same machine id."""
    if len(world.machines) < MOST_MACHINES:
        twin = world.add_machine(machine.skew, same_hardware=machine if value % 2 else None)
        machine.copy_to(twin.folder)
        twin.written = list(machine.written)


@accident
def data_cloned(world: World, machine: Machine, value: int) -> None:
    """A new machine begins with a copy of the data alone."""
    if len(world.machines) < MOST_MACHINES:
        machine.copy_to(world.add_machine(0).folder, state=False)


@accident
def joined(world: World, machine: Machine, value: int) -> None:
    """A new machine begins on its own."""
    if len(world.machines) < MOST_MACHINES:
        world.join(machine.skew)


# -- lines that come from elsewhere


def event(kind: str, entity: str, data: dict[str, Any], *, at: str, version: int = 1, **rest: Any) -> Event:
    """An event as another program writes it, of any kind and version."""
    made = Event()
    made.kind, made.v, made.entity, made.data, made.at = kind, version, entity, data, at
    made.id = rest.get("id") or ids.new_event_id()
    made.replica, made.seq = rest.get("replica") or ids.new_replica(), rest.get("seq") or 1
    made.actor, made.session, made.tx, made.undoes = "me", "", made.id, ""
    made.sees, made.wall = rest.get("sees") or {}, ""
    return made


def put_lines(machine: Machine, lines: list[bytes], end: bytes = b"\n") -> None:
    """Lines in a directory of another replica, as a merge brings them."""
    machine.put(f"{ids.new_replica()}/000001.jsonl", end.join(lines) + end)


def _entity(machine: Machine, value: int, *types: str) -> str:
    """An entity of one of the types that the machine's files name, or an empty string."""
    found = {made.entity for made in map(parse, machine.lines()) if isinstance(made, Event)}
    sorts = sorted(entity for entity in found if entity.partition("/")[0] in types)
    return sorts[value % len(sorts)] if sorts else ""


@accident
def newer_program(world: World, machine: Machine, value: int) -> None:
    """Kinds, families and versions this program does not know, on entities it does."""
    entity = _entity(machine, value, "card", "inbox", "reminder", "replica") or "card/abcdefghjkmn"
    family = {"replica": "journal"}.get(entity.partition("/")[0], entity.partition("/")[0])
    at = clock.text(world.now)
    said = [made for made in map(parse, machine.lines()) if isinstance(made, Event) and made.entity == entity]
    sees = {key: [made.id] for made in said for key in made.data}  # what it took away is not for us to say
    known = next(name for name in KINDS if name.startswith(family + "."))
    made = (
        event("zebra.ran", ids.new_entity("zebra"), {"legs": 4}, at=at),
        event(f"{family}.sparkled", entity, {"how": "much"}, at=at, sees=sees),
        event(known, entity, {"nothing": "as it was"}, at=at, version=2, sees=sees),
        event(f"{family}.sparkled", ids.new_entity(family), {}, at=at),
    )[value % 4]
    put_lines(machine, [made.line()])


@accident
def far_times(world: World, machine: Machine, value: int) -> None:
    """A sound event from the first or the last moment there is; what follows the last cannot be later."""
    at = (clock.FIRST, clock.LAST)[value % 2]
    entity = _entity(machine, value, "card")
    if entity:
        put_lines(machine, [event("card.moved", entity, {"column": "done"}, at=at).line()])


@accident
def odd_spelling(world: World, machine: Machine, value: int) -> None:
    """A sound line as another writer spells it: other order, white space, keys nobody knows; CRLF, a byte order mark."""
    entity = _entity(machine, value, "card")
    if not entity:
        return
    made = event("card.edited", entity, {"title": "spelt oddly", "mood": "blue"}, at=clock.text(world.now))
    raw = orjson.loads(made.line())
    del raw["sum"]
    data = raw.pop("data")
    raw = {"weather": "fine", **raw} if value % 2 else dict(reversed(raw.items()))
    line = (
        orjson.dumps(raw)[:-1]
        + b', "data": '
        + orjson.dumps(data, option=orjson.OPT_INDENT_2).replace(b"\n", b" ")
        + b"}"
    )
    place = line.index(b', "data": ')
    line = line[:place] + b',"sum":"' + sha256(line).hexdigest()[:16].encode() + b'"' + line[place:]
    put_lines(machine, [b"\xef\xbb\xbf" + line if value % 4 == 1 else line], b"\r\n" if value % 4 == 2 else b"\n")


@accident
def strange_sees(world: World, machine: Machine, value: int) -> None:
    """An event that names ids nobody wrote, ids that come later, and itself."""
    entity = _entity(machine, value, "card")
    if not entity:
        return
    id_ = ids.new_event_id()
    named = [made.id for made in map(parse, machine.lines()) if isinstance(made, Event) and made.entity == entity]
    sees = {"column": [*named[: value + 1], "0" * 20], "title": named}
    if value == 3:
        sees["column"].append(id_)
    data = {"column": "in_review"}
    put_lines(machine, [event("card.moved", entity, data, at=clock.text(world.now), id=id_, sees=sees).line()])


@accident
def same_id(world: World, machine: Machine, value: int) -> None:
    """One id in two lines that differ: another place in the order, and perhaps another entity and other words."""
    lines = [made for made in map(parse, machine.lines()) if isinstance(made, Event) and made.kind == "card.edited"]
    if not lines:
        return
    one = lines[value % len(lines)]
    at = (clock.FIRST, one.at, clock.text(world.now), one.at)[value % 4]
    rest: dict[str, Any] = {"id": one.id, "sees": one.sees}
    if value % 4 == 3:
        rest |= {"replica": one.replica, "seq": one.seq}
    entity = _entity(machine, 0, "card") if value % 2 else one.entity
    if entity:
        world.displaced.add(one.id)
        put_lines(machine, [event("card.edited", entity, {"title": f"again {value}"}, at=at, **rest).line()])


@accident
def adopted(world: World, machine: Machine, value: int) -> None:
    """`doctor` adopts lines that are there already."""
    lines = [line for line in machine.lines() if isinstance(parse(line), Event)]
    if lines:
        adopt(machine.home, lines[value :: value + 1] or lines[:1])


@accident
def segment_duplicated(world: World, machine: Machine, value: int) -> None:
    """A segment stands in the journal a second time, under a name that is folded."""
    files = sorted(machine.files().items())
    if files:
        path, content = files[value % len(files)]
        machine.put(f"{ids.derived_replica(path.encode())}/{segments.name_of(value + 1)}", content)


@accident
def stray_copies(world: World, machine: Machine, value: int) -> None:
    """Files that sync tools leave beside a segment are never folded, whatever is in them."""
    directories = segments.directories(machine.home.journal)
    if directories:
        made = event("card.created", ids.new_entity("card"), {"title": "stray"}, at=clock.text(world.now))
        name = ("000001 2.jsonl", "000001.sync-conflict-20260601-080000-ABCDEFG.jsonl", "000001.jsonl~")[value % 3]
        machine.put(f"{directories[value % len(directories)]}/{name}", made.line() + b"\n")
