"""A place to work in: a data and a state directory, as one machine has them, here and in child processes."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING

from mait_code.journal import segments
from mait_code.journal.event import Event, parse
from mait_code.journal.home import Home
from mait_code.journal.ids import new_entity, new_event_id
from mait_code.journal.journal import Journal
from mait_code.journal.sha import hex_prefix
from mait_code.projections import stores
from mait_code.projections.digest import digest
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from mait_code.projections.store import Store

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Place:
    """The directories of one machine under `folder`. `machine_id` is what makes it that machine and no other."""

    def __init__(self, folder: str | os.PathLike[str], machine_id: str = "machine-1") -> None:
        self.folder = os.fspath(folder)
        self.machine_id = machine_id
        self.home = Home(os.path.join(self.folder, "data"))
        self.home.state = os.path.join(self.folder, "state", "mait-code", hex_prefix(os.fsencode(self.home.real)))
        os.makedirs(self.folder, exist_ok=True)

    def environment(self, **more: str) -> dict[str, str]:
        """What a child process needs to work here, with the tests' own modules importable."""
        path = os.pathsep.join(part for part in (TESTS, os.environ.get("PYTHONPATH", "")) if part)
        return {
            **os.environ,
            "HOME": self.folder,
            "MAIT_CODE_DATA_DIR": self.home.data,
            "MAIT_CODE_MACHINE_ID": self.machine_id,
            "XDG_STATE_HOME": os.path.join(self.folder, "state"),
            "XDG_CONFIG_HOME": os.path.join(self.folder, "config"),
            "PYTHONPATH": path,
            **more,
        }

    def command(self, module: str, *arguments: str) -> list[str]:
        return [sys.executable, "-m", module, *arguments]

    def mait(self, *arguments: str) -> list[str]:
        """A command line of the real program."""
        return self.command("mait_code.commands.cli.main", *arguments)

    def journal(self, actor: str = "me") -> Journal:
        return Journal(self.home, actor, label="test")

    def stores(self) -> list[Store]:
        """The four stores, opened anew."""
        return [stores.OPENERS[name](self.home) for name in stores.NAMES]

    def capture(self, body: str, *, hook: bool = False) -> Event:
        """Write one thought, deciding with the inbox as commands do."""
        journal = self.journal()
        inbox = stores.inbox(self.home)
        try:
            with journal.writing_from_hook(inbox) if hook else journal.writing(inbox) as writer:
                return writer.append("inbox.captured", body=body)
        finally:
            inbox.close()

    # -- what is in the files, read without the code that is tested but for the line itself

    def segments(self) -> dict[str, bytes]:
        """Every segment's bytes by `directory/name`."""
        found = {}
        for directory in segments.directories(self.home.journal):
            for name, _status in segments.in_directory(self.home.journal, directory):
                with open(os.path.join(self.home.journal, directory, name), "rb") as file:
                    found[f"{directory}/{name}"] = file.read()
        return found

    def events(self) -> list[Event]:
        """Every sound line of every segment."""
        found = []
        for content in self.segments().values():
            for line in content.split(b"\n"):
                event = parse(line)
                if isinstance(event, Event):
                    found.append(event)
        return found

    def gaps(self) -> dict[str, list[int]]:
        """Sequence numbers that are missing, by replica; empty where every replica counts from 1 without one."""
        seen: dict[str, set[int]] = {}
        for event in self.events():
            seen.setdefault(event.replica, set()).add(event.seq)
        missing = {replica: sorted(set(range(1, max(seqs))) - seqs) for replica, seqs in seen.items()}
        return {replica: seqs for replica, seqs in missing.items() if seqs}

    # -- what the stores say

    def folded(self) -> dict[str, str]:
        """The digest of every store after catching up, by name."""
        found = {}
        for store in self.stores():
            try:
                store.catch_up()
                found[store.name] = digest(store)
            finally:
                store.close()
        return found

    def folded_anew(self) -> dict[str, str]:
        """The digests of a fold of the whole journal into memory: what every store should say."""
        fresh = self.stores()
        for store in fresh:
            store.live_in_memory()
        try:
            rebuild(self.home, fresh)
            return {store.name: digest(store) for store in fresh}
        finally:
            for store in fresh:
                store.close()


def scratch(prefix: str) -> str:
    """A new directory, in memory where the system has such a place: for tests that sync thousands of times to a disk
    whose delays teach nothing."""
    fast = "/dev/shm"
    return tempfile.mkdtemp(prefix=prefix, dir=fast if os.access(fast, os.W_OK | os.X_OK) else None)


def read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in place: the inode stays."""
    with open(path, "wb") as file:
        file.write(content)


def another(line: bytes, *, entity: str = "", **data: object) -> bytes:
    """A sound line like `line`: another event with other data, about another thing unless `entity` says which."""
    event = parse(line)
    assert isinstance(event, Event)
    event.id = event.tx = new_event_id()
    event.entity = entity or new_entity(event.entity.partition("/")[0])
    event.data = {**event.data, **data}
    return event.line()
