"""Journals of a given size, as two machines would have written them: seeded, so every run measures the same bytes.

Every kind of event is in it, in about the proportions of daily use. Recent things change most, an event names the heads
that stand, and one change in fifty was made without knowing the last one, so there are conflicts and they get closed.
"""

from __future__ import annotations

import os
import random

import orjson

from mait_code.journal import clock, segments
from mait_code.journal.event import Event
from mait_code.journal.ids import derived_entity, derived_event_id
from mait_code.journal.kinds import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home

    Data = dict[str, Any]

_VOCABULARY = """
    fix deploy cache retry schema parser token budget index login flaky timeout review naïve café 更新 release rollback
    metrics queue worker payload header proxy socket branch merge rebase commit hook session memory board inbox
"""
WORDS = _VOCABULARY.split()
PROJECTS = ("acme/shop", "acme/api", "me/dotfiles")
REPLICAS = ("k7f3qz9m", "m2x8v4nb")
#: The machine that was away: its events come late.
AWAY = "r5w9t2cd"
#: Microseconds between events, at most: 100,000 of them are about six weeks of two busy machines.
STEP = 77_000_000
UNAWARE = 0.02
SESSIONS = ("c42ab26b-6005-474c-a2bc-304a290f230f", "0b1d5a1e-77d4-4a0e-9f0c-5d2f6f6f3a11")

#: What happens next, with its weight. The first of each family makes something new.
KIND_WEIGHTS = {
    "card.created": 90,
    "card.moved": 180,
    "card.edited": 80,
    "card.tagged": 80,
    "card.untagged": 15,
    "card.commented": 80,
    "card.comment_deleted": 5,
    "card.referenced": 30,
    "card.unreferenced": 5,
    "card.bound": 30,
    "card.unbound": 10,
    "card.deleted": 6,
    "card.restored": 3,
    "inbox.captured": 110,
    "inbox.edited": 20,
    "inbox.done": 80,
    "inbox.deleted": 15,
    "inbox.restored": 5,
    "reminder.set": 40,
    "reminder.edited": 10,
    "reminder.snoozed": 15,
    "reminder.dismissed": 50,
    "reminder.notified": 35,
    "reminder.deleted": 4,
    "reminder.restored": 2,
}
CREATING = {"card": "card.created", "inbox": "inbox.captured", "reminder": "reminder.set"}
#: Never late: what is new names nothing, and nobody restores what they never saw deleted.
NEVER_LATE = (*CREATING.values(), "card.restored", "inbox.restored", "reminder.restored")


class Thing:
    """One entity as the writers know it: the heads of its registers, and when it was made and last changed."""

    __slots__ = ("changes", "due", "entity", "gone", "heads", "last", "made", "said")

    def __init__(self, entity: str, made: int, due: str = "") -> None:
        self.entity = entity
        self.made = self.last = made
        self.changes = 0
        self.due = due
        self.gone = False
        self.heads: dict[str, list[str]] = {}
        #: Ids of its comments and references.
        self.said: dict[str, list[str]] = {"comment": [], "reference": []}


class Corpus:
    """Makes seeded events, and writes them into a home, replica by replica, in segments of 64 KiB."""

    def __init__(self, home: Home, seed: int = 7) -> None:
        self.home = home
        self.random = random.Random(seed)
        self.now = clock.micros("2024-01-01T08:00:00.000000Z")
        self.seq: dict[str, int] = {}
        self.open: dict[str, list[bytes]] = {}
        self.size: dict[str, int] = {}
        self.number: dict[str, int] = {}
        self.things: dict[str, list[Thing]] = {family: [] for family in CREATING}
        self.made = 0
        self.kinds = list(KIND_WEIGHTS)
        self.weights = list(KIND_WEIGHTS.values())

    # -- files

    def write(self, count: int) -> None:
        """Write `count` events and close the last segments."""
        for replica in REPLICAS:
            named = {"label": f"machine {replica[0]}", "of": replica}
            self.put(self._event(replica, "journal.replica_labelled", self._label(replica), named))
        for kind in self.random.choices(self.kinds, self.weights, k=count - len(REPLICAS)):
            self.now += self.random.randrange(STEP)
            self.put(self._next(kind))
        self.close()

    def write_late(self, count: int) -> None:
        """Write `count` events of a machine that was away, each older than the last one of the thing it names."""
        for _ in range(count):
            self.put(self._late())
        self.close()

    def put(self, event: Event) -> None:
        """Add an event to its replica's segment."""
        line = event.line()
        replica = event.replica
        self.open.setdefault(replica, []).append(line)
        self.size[replica] = self.size.get(replica, 0) + len(line) + 1
        if self.size[replica] >= segments.CLOSED_AT:
            self._close(replica)

    def close(self) -> None:
        """Write what is not in a file yet."""
        for replica in self.open:
            self._close(replica)

    def _close(self, replica: str) -> None:
        if not self.open[replica]:
            return
        directory = os.path.join(self.home.journal, replica)
        number = self.number.get(replica, 1)
        os.makedirs(directory, exist_ok=True)
        if number == 1:
            with open(os.path.join(directory, "replica.json"), "wb") as file:
                file.write(orjson.dumps({"label": f"machine {replica[0]}", "created": clock.text(self.now)}) + b"\n")
        with open(os.path.join(directory, segments.name_of(number)), "wb") as file:
            file.write(b"\n".join(self.open[replica]) + b"\n")
        self.open[replica], self.size[replica] = [], 0
        self.number[replica] = number + 1

    # -- events

    def _event(self, replica: str, kind: str, thing: Thing, data: Data, at: int = 0) -> Event:
        event = Event()
        self.made += 1
        self.seq[replica] = self.seq.get(replica, 0) + 1
        event.kind, event.v, event.data, event.declared = kind, KINDS[kind].version, data, KINDS[kind]
        event.id = event.tx = derived_event_id(kind, str(self.made))
        event.at, event.replica, event.seq = clock.text(at or self.now), replica, self.seq[replica]
        event.entity, event.undoes, event.wall = thing.entity, "", ""
        by_claude = self.random.random() < 0.5
        event.actor = "claude" if by_claude else "me"
        event.session = self.random.choice(SESSIONS) if by_claude else ""
        event.sees = {} if at else self._see(thing, event)
        return event

    def _see(self, thing: Thing, event: Event) -> dict[str, list[str]]:
        """The heads an event names, as the writing block would; and they are its own from now on."""
        unaware = self.random.random() < UNAWARE
        sees: dict[str, list[str]] = {}
        registers = [register for register, _ in event.declared.writes(event.id, event.data)]
        if event.kind.endswith(".deleted") and not unaware:
            sees["*"] = sorted({head for heads in thing.heads.values() for head in heads})
        for register in registers:
            known = thing.heads.get(register, [])
            if known and not unaware:
                sees[register] = known
            thing.heads[register] = [*known, event.id] if unaware else [event.id]
        thing.last = self.now
        thing.changes += 1
        return sees

    def _label(self, replica: str) -> Thing:
        return Thing(derived_entity("replica", replica), self.now)

    def _next(self, kind: str) -> Event:
        replica = self.random.choice(REPLICAS)
        family = kind.partition(".")[0]
        things = self.things[family]
        if kind == CREATING[family] or not things:
            return self._new(replica, family)
        restores = kind == f"{family}.restored"
        for _ in range(1000):
            thing = things[-1 - int(self.random.expovariate(1 / 200)) % len(things)]
            if thing.gone == restores:
                thing.gone = kind == f"{family}.deleted"
                return self._event(replica, kind, thing, self._data(kind, thing))
        return self._new(replica, family)

    def _new(self, replica: str, family: str) -> Event:
        kind = CREATING[family]
        thing = Thing(derived_entity(family, str(self.made)), self.now)
        if family == "reminder":
            day = self.random.randrange(1, 28)
            thing.due = f"2027-{self.random.randrange(1, 13):02d}-{day:02d}T{self.random.randrange(7, 20):02d}:30"
        self.things[family].append(thing)
        return self._event(replica, kind, thing, self._data(kind, thing))

    def _late(self) -> Event:
        """An event about something that has changed since: its author had seen only how it began."""
        while True:
            kind = self.random.choices(self.kinds, self.weights)[0]
            family = kind.partition(".")[0]
            things = self.things[family]
            thing = things[self.random.randrange(len(things))]
            if thing.changes > 1 and kind not in NEVER_LATE:
                at = (thing.made + thing.last) // 2
                return self._event(AWAY, kind, thing, self._data(kind, thing), at)

    # -- what they say

    def text(self, words: int) -> str:
        return " ".join(self.random.choices(WORDS, k=words))

    def _data(self, kind: str, thing: Thing) -> Data:
        family, _, what = kind.partition(".")
        if what in ("deleted", "unbound"):
            return {}
        if what == "restored":
            return {"register": "deleted"}
        if family == "card":
            return self._card(what, thing)
        return self._thought(what) if family == "inbox" else self._reminder(what, thing)

    def _card(self, what: str, thing: Thing) -> Data:
        pick = self.random.choice
        if what in ("comment_deleted", "unreferenced"):
            key = "comment" if what == "comment_deleted" else "reference"
            said = thing.said[key]
            return {key: pick(said) if said else derived_event_id("nothing", thing.entity)}
        if what in ("commented", "referenced"):
            thing.said["comment" if what == "commented" else "reference"].append(
                derived_event_id(f"card.{what}", str(self.made + 1))
            )
        if what == "created":
            return {
                "title": self.text(6),
                "description": self.text(25),
                "priority": pick(("low", "medium", "high")),
                "column": "backlog",
                "project": pick(PROJECTS),
                "number": len(self.things["card"]),
            }
        makers: dict[str, Data] = {
            "moved": {"column": pick(("refined", "in_progress", "in_review", "done"))},
            "edited": {pick(("title", "description", "acceptance_criteria")): self.text(12)},
            "tagged": {"tag": pick(WORDS[:8])},
            "untagged": {"tag": pick(WORDS[:8])},
            "commented": {"body": self.text(20), "author": "me"},
            "referenced": {"label": "pr", "value": f"https://example.org/pull/{self.made}"},
            "bound": {"by": {"session": pick(SESSIONS)}},
        }
        return makers[what]

    def _thought(self, what: str) -> Data:
        if what == "done":
            return {"outcome": self.random.choice(("done", "card"))}
        said: Data = {"body": self.text(12)}
        return said | {"project": self.random.choice(PROJECTS)} if what == "captured" else said

    def _reminder(self, what: str, thing: Thing) -> Data:
        zone = self.random.choice(("Europe/Berlin", "America/New_York", "UTC"))
        if what in ("set", "edited"):
            when: Data = {"due": thing.due, "zone": zone}
            if self.random.random() < 0.25:
                when["rule"] = {"days": ["mon"], "every": "week", "interval": 1}
            return {"what": self.text(6), "when": when} if what == "set" else {"when": when}
        if what == "snoozed":
            return {"occurrence": thing.due, "until": {"due": thing.due[:8] + "28T09:00", "zone": zone}}
        return {"occurrence": thing.due}
