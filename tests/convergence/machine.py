"""One machine of a history: its data and state directories, its clock, its stores. All of them live in this process."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

from convergence.model import read
from mait_code.journal import reading, replica, segments
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.journal.lock import Lock
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.journal.event import Event
    from mait_code.projections.store import Store

FAMILIES = {
    "card": stores.board,
    "inbox": stores.inbox,
    "reminder": stores.reminders,
    "memory": stores.memory,
    "project": stores.projects,
    "journal": stores.journal,
}
#: Every machine believes its data to lie here, so that a copied machine finds its state again.
REAL_PATH = "/home/someone/.claude/mait-code-data"
#: More than the granularity of file times: a tick of the kernel's clock, in seconds.
TICK = 0.012
_ID = re.compile(rb'"id":"([0-9a-f]{20})"')


@contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Something of the product stands in for something else, for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class Machine:
    """A data directory, a state directory, and a machine id. `skew` is how wrong the clock is, in microseconds."""

    def __init__(self, folder: str, machine_id: str, skew: int, own_path: bool = False) -> None:
        self.folder = folder
        self.machine_id = machine_id
        self.skew = skew
        self.home = Home(os.path.join(folder, "data"))
        self.home.state = os.path.join(folder, "state")
        if not own_path:
            self.home.real = REAL_PATH
        #: Events this machine wrote and still remembers, for undo.
        self.written: list[Event] = []
        self._stores: dict[str, Store] = {}

    def journal(self, actor: str = "me", session: str = "") -> Journal:
        return Journal(self.home, actor, session, label=os.path.basename(self.folder))

    def store(self, family: str) -> Store:
        """The store of a family, open; not caught up."""
        if family not in self._stores:
            self._stores[family] = FAMILIES[family](self.home)
        return self._stores[family]

    def close(self) -> None:
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def lose_store(self, family: str) -> None:
        """Delete a store's file: it can be made again."""
        store = self.store(family)
        store.close()
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(store.path + ending):
                os.unlink(store.path + ending)

    @property
    def replica(self) -> str:
        """The id this machine writes under; empty before it first wrote."""
        identity = replica.load(self.home)
        return identity.replica if identity else ""

    @contextmanager
    def lock_held(self) -> Iterator[None]:
        """As if another process were writing."""
        self.home.make()
        lock = Lock(self.home.in_state("lock"))
        assert lock.acquire(0)
        try:
            yield
        finally:
            lock.release()

    # -- the files of the journal

    def files(self) -> dict[str, bytes]:
        """Every segment with its bytes, by its path inside the journal."""
        found = {}
        for directory in segments.directories(self.home.journal):
            for name, _status in segments.in_directory(self.home.journal, directory):
                with open(os.path.join(self.home.journal, directory, name), "rb") as file:
                    found[f"{directory}/{name}"] = file.read()
        return found

    def lines(self) -> list[bytes]:
        return [line for content in self.files().values() for line in content.split(b"\n") if line]

    def put(self, path: str, content: bytes) -> None:
        """Replace a file of the journal as git does: a new file under the old name."""
        path = os.path.join(self.home.journal, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".tmp", "wb") as file:
            file.write(content)
        os.replace(path + ".tmp", path)

    def ids_on_disk(self) -> set[str]:
        """Ids of whole events in the journal or waiting in the spool."""
        found = {fact.id for fact in map(read, self.lines()) if fact}
        spool = self.home.in_state("spool")
        for name in os.listdir(spool) if os.path.isdir(spool) else ():
            with open(os.path.join(spool, name), "rb") as file:
                found.update(id_.decode() for id_ in _ID.findall(file.read()))
        return found

    def own_segment(self) -> str:
        """The path of the segment this machine last wrote, or an empty string."""
        found = segments.in_directory(self.home.journal, self.replica) if self.replica else []
        return os.path.join(self.home.journal, self.replica, found[-1][0]) if found else ""

    def settle(self) -> None:
        """Let time pass, so that the stores trust the stamps of the files and look no closer while those stay."""
        time.sleep(TICK)  # whatever is written from here on has other times than what was there
        with replaced(reading, "time", SimpleNamespace(time_ns=lambda: time.time_ns() + 10**10)):
            for family in FAMILIES:
                self.store(family).catch_up()
        time.sleep(TICK)

    # -- backups and copies

    def copy_to(self, folder: str, *, data: bool = True, state: bool = True) -> None:
        """Copy the directories elsewhere, as a backup or a cloned disk does."""
        self.close()
        for name, wanted in (("data", data), ("state", state)):
            source = os.path.join(self.folder, name)
            if wanted and os.path.isdir(source):
                shutil.copytree(source, os.path.join(folder, name))

    def put_back(self, folder: str, *, data: bool, state: bool) -> None:
        """Put a backup in the place of what is there."""
        self.close()
        for name, wanted in (("data", data), ("state", state)):
            target = os.path.join(self.folder, name)
            if wanted:
                shutil.rmtree(target, ignore_errors=True)
                if os.path.isdir(os.path.join(folder, name)):
                    shutil.copytree(os.path.join(folder, name), target)
