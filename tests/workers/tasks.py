"""What the victims of the crash tests do until they are killed. A task acknowledges an event once its block is left."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from mait_code.journal import ids, spool, sync
from mait_code.journal.errors import MaitError
from mait_code.projections import stores
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.projections.store import Store
    from workers.place import Place

    Acknowledge = Callable[[list[str]], None]

#: A task left alone ends by itself after so many turns.
TURNS = 2000


def append(place: Place, seed: int, acknowledge: Acknowledge) -> None:
    """Write as commands do: one or several events, deciding with stores, now and then without."""
    generator = random.Random(seed)
    journal = place.journal()
    opened = place.stores()
    board, memories = (next(one for one in opened if one.name == name) for name in ("board.db", "memory.db"))
    for turn in range(TURNS):
        with journal.writing(*opened) as writer:
            _some_events(writer.append, generator, board, memories, turn)
        acknowledge([event.id for event in writer.events])


def _some_events(
    say: Callable[..., object], generator: random.Random, board: Store, memories: Store, turn: int
) -> None:
    text = "x" * generator.choice([1, 40, 400])
    if turn % 5 == 0:
        say("inbox.captured", body=text)
    elif turn % 5 == 1:
        say("memory.stored", content=text, type="fact", tags=["a"], session=f"s{turn % 2}")
        say("entity.mentioned", ids.derived_entity("entity", "redis"), name="Redis")
    elif turn % 5 == 2:
        for (id_,) in memories.query("SELECT id FROM memory_entries WHERE live ORDER BY id LIMIT 2"):
            say(generator.choice(["memory.pinned", "memory.retired", "memory.deleted", "memory.seen"]), f"memory/{id_}")
        say("observation.recorded", type="bugfix", title=text)
    elif turn % 5 == 3:
        say("card.created", title=text, number=turn)
        say("reminder.set", what=text, when={"due": "2030-01-01T09:00", "zone": "UTC"})
    else:
        for (id_,) in board.query("SELECT id FROM cards ORDER BY id LIMIT 3"):
            say("card.moved", f"card/{id_}", column=generator.choice(["done", "refined", "in_progress"]))


def append_once(place: Place, seed: int, acknowledge: Acknowledge) -> None:
    """One action of three events."""
    with place.journal().writing(*place.stores()) as writer:
        card = writer.append("card.created", title=f"card {seed}", number=1)
        writer.append("card.moved", card.entity, column="done")
        writer.append("inbox.captured", body="x" * 300)
    acknowledge([event.id for event in writer.events])


def hook(place: Place, seed: int, acknowledge: Acknowledge) -> None:
    """Write as hooks do: what the lock refuses goes into the spool."""
    generator = random.Random(seed)
    journal = place.journal("hook/test")
    inbox = stores.inbox(place.home)
    for _ in range(TURNS):
        with journal.writing_from_hook(inbox) as writer:
            for _ in range(generator.choice([1, 1, 3])):
                writer.append("inbox.captured", body="from a hook " + "x" * generator.choice([1, 200]))
        acknowledge([event.id for event in writer.events])


def spool_once(place: Place, seed: int, acknowledge: Acknowledge) -> None:
    """Leave one action in the spool, as a hook does that does not get the lock."""
    with place.journal("hook/test").writing(wait=0) as _holder:
        journal = place.journal("hook/test")
        with journal.writing_from_hook() as writer:
            writer.append("inbox.captured", body=f"spooled {seed}")
            writer.append("inbox.captured", body=f"spooled {seed}, second")
        assert spool.waiting(place.home)
    acknowledge([event.id for event in writer.events])


def fold(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    """Catch all stores up, again and again, opened anew each time."""
    for _ in range(TURNS):
        fold_once(place, 0, _acknowledge)


def fold_once(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    for store in place.stores():
        store.catch_up(wait=False)
        store.close()


def remake(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    """Make all stores anew, again and again. Another process may be doing the same."""
    for _ in range(TURNS):
        try:
            remake_once(place, 0, _acknowledge)
        except MaitError:
            continue


def remake_once(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    opened = place.stores()
    try:
        rebuild(place.home, opened)
    finally:
        for store in opened:
            store.close()


def exchange(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    """Sync and fold, again and again. A remote that is briefly locked is no fault."""
    for _ in range(20):
        exchange_once(place, 0, _acknowledge)


def exchange_once(place: Place, _seed: int, _acknowledge: Acknowledge) -> None:
    sync.sync(place.journal("me"), wait=20)
    fold_once(place, 0, _acknowledge)


TASKS: dict[str, Callable[[Place, int, Acknowledge], None]] = {
    task.__name__: task
    for task in (append, append_once, hook, spool_once, fold, fold_once, remake, remake_once, exchange, exchange_once)
}
