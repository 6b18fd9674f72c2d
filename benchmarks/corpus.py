"""Journals of a given size, as two machines would have written them: seeded, so every run measures the same bytes."""

from __future__ import annotations

import os
import random

from mait_code.journal import clock, segments
from mait_code.journal.event import Event
from mait_code.journal.home import Home
from mait_code.journal.ids import derived_entity, derived_event_id
from mait_code.journal.kinds import KINDS

WORDS = (
    "fix deploy cache retry schema parser token budget index login flaky timeout review naïve café 更新 release rollback "
    "metrics queue worker payload header proxy socket branch merge rebase commit hook session memory board inbox"
).split()
REPLICAS = ("k7f3qz9m", "m2x8v4nb")
#: One event a minute and a bit: 100,000 of them are about three months of two busy machines.
STEP = 77_000_000


class Corpus:
    """Writes a seeded journal of mixed events into a home, replica by replica, in segments of 64 KiB."""

    def __init__(self, home: Home, seed: int = 7) -> None:
        self.home = home
        self.random = random.Random(seed)
        self.now = clock.micros("2024-01-01T08:00:00.000000Z")
        self.seq = dict.fromkeys(REPLICAS, 0)
        self.open: dict[str, list[bytes]] = {replica: [] for replica in REPLICAS}
        self.size = dict.fromkeys(REPLICAS, 0)
        self.number = dict.fromkeys(REPLICAS, 1)
        self.cards: list[tuple[str, dict[str, str]]] = []
        self.items: list[tuple[str, str]] = []
        self.reminders: list[tuple[str, str]] = []
        self.made = 0

    def text(self, words: int) -> str:
        return " ".join(self.random.choice(WORDS) for _ in range(words))

    def event(self, replica: str, kind: str, entity: str, data: dict[str, object], sees: dict[str, list[str]]) -> Event:
        self.made += 1
        self.now += self.random.randrange(STEP)
        self.seq[replica] += 1
        event = Event()
        event.kind, event.v, event.data, event.sees = kind, KINDS[kind].version, data, sees
        event.declared = KINDS[kind]
        event.id = event.tx = derived_event_id(kind, str(self.made))
        event.at, event.replica, event.seq = clock.text(self.now), replica, self.seq[replica]
        event.entity, event.actor = entity, self.random.choice(("me", "claude"))
        event.session, event.undoes, event.wall = "c42ab26b-6005-474c-a2bc-304a290f230f", "", ""
        return event

    def put(self, event: Event) -> None:
        line = event.line()
        replica = event.replica
        self.open[replica].append(line)
        self.size[replica] += len(line) + 1
        if self.size[replica] >= segments.CLOSED_AT:
            self.close(replica)

    def close(self, replica: str) -> None:
        if not self.open[replica]:
            return
        directory = os.path.join(self.home.journal, replica)
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, segments.name_of(self.number[replica]))
        with open(path, "wb") as file:
            file.write(b"\n".join(self.open[replica]) + b"\n")
        self.open[replica], self.size[replica] = [], 0
        self.number[replica] += 1

    def write(self, count: int) -> None:
        """Write `count` events and close the last segments."""
        for _ in range(count):
            self.put(self.next())
        for replica in REPLICAS:
            self.close(replica)

    def next(self) -> Event:
        """One more event: a quarter makes something new, the rest changes what is there."""
        replica = self.random.choice(REPLICAS)
        dice = self.random.random()
        if dice < 0.12 or not self.cards:
            return self._new_card(replica)
        if dice < 0.24 or not self.items:
            entity = derived_entity("inbox", str(self.made))
            event = self.event(replica, "inbox.captured", entity, {"body": self.text(12), "project": "acme/shop"}, {})
            self.items.append((entity, event.id))
            return event
        if dice < 0.29 or not self.reminders:
            entity = derived_entity("reminder", str(self.made))
            when = {"due": "2027-03-01T09:00", "zone": "Europe/Berlin"}
            event = self.event(replica, "reminder.set", entity, {"what": self.text(6), "when": when}, {})
            self.reminders.append((entity, event.id))
            return event
        if dice < 0.40:
            entity, _ = self.items[self.random.randrange(len(self.items))]
            return self.event(replica, "inbox.done", entity, {"outcome": "done"}, {})
        if dice < 0.43:
            entity, _ = self.reminders[self.random.randrange(len(self.reminders))]
            return self.event(replica, "reminder.dismissed", entity, {"occurrence": "2027-03-01T09:00"}, {})
        return self._change_card(replica)

    def _new_card(self, replica: str) -> Event:
        entity = derived_entity("card", str(self.made))
        data: dict[str, object] = {
            "title": self.text(6),
            "description": self.text(25),
            "priority": self.random.choice(("low", "medium", "high")),
            "column": "backlog",
            "project": self.random.choice(("acme/shop", "acme/api", "me/dotfiles")),
            "number": len(self.cards) + 1,
        }
        event = self.event(replica, "card.created", entity, data, {})
        self.cards.append((entity, dict.fromkeys(data, event.id)))
        return event

    def _change_card(self, replica: str) -> Event:
        # Recent cards change most.
        place = max(0, len(self.cards) - 1 - int(self.random.expovariate(1 / 200)))
        entity, heads = self.cards[place]
        kind = self.random.choice(("moved", "moved", "tagged", "commented", "edited"))
        if kind == "moved":
            column = self.random.choice(("refined", "in_progress", "done"))
            event = self.event(replica, "card.moved", entity, {"column": column}, {"column": [heads["column"]]})
            heads["column"] = event.id
        elif kind == "tagged":
            event = self.event(replica, "card.tagged", entity, {"tag": self.random.choice(WORDS[:8])}, {})
        elif kind == "commented":
            event = self.event(replica, "card.commented", entity, {"body": self.text(20), "author": "me"}, {})
        else:
            event = self.event(replica, "card.edited", entity, {"title": self.text(6)}, {"title": [heads["title"]]})
            heads["title"] = event.id
        return event
