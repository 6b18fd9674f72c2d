"""A workspace: one data directory as one invocation uses it, with its journal, stores, actor and project."""

from __future__ import annotations

import os
import time

from mait_code.journal.errors import BadInput, Busy, DiskRefused
from mait_code.journal.home import Home, default_data_dir, state_root
from mait_code.journal.journal import Journal
from mait_code.projections import stores
from mait_code.projections.opening import LOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal, Self

    from mait_code.projections.log import Log
    from mait_code.projections.store import Store

#: What reading a store whose contents are damaged may raise, where the file as such is sound.
_ODD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: How often to look, a tenth of a second apart, for what a git that is at work has taken away.
TRIES = 20
#: The client sets this in everything it starts.
SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"


class Workspace:
    """Opened by the command-line frame, hooks and screens; stores open on first use, already caught up.

    `reading(name)` never waits for another process; `behind` counts events it could not fold yet for that reason.
    """

    def __init__(self, home: Home, actor: str = "me", session: str = "") -> None:
        self.home = home
        self.session = session
        self.journal = Journal(home, actor, session)
        self._stores: dict[str, Store] = {}
        self._fresh: set[str] = set()
        self.behind = 0
        #: Told (done, total) of segments while a store is made from the whole journal.
        self.step: Callable[[int, int], None] | None = None

    @classmethod
    def open(cls, data_dir: str | None = None, actor: Literal["me", "claude"] | None = None) -> Workspace:
        """The workspace of `data_dir`, else of the setting `data-dir`. Inside a Claude Code session the actor is claude."""
        session = os.environ.get(SESSION_VARIABLE, "")[:200]
        if os.path.exists(os.path.join(state_root(), "moving.json")):
            from mait_code.commands import data_move

            try:
                data_move.finish()
            except DiskRefused:
                pass  # reading goes on where nothing can be written, and finds what is there
        if data_dir is None:
            from mait_code.journal import settings

            data_dir = str(settings.value("data-dir") or default_data_dir())
        workspace = cls(Home(data_dir), actor or ("claude" if session else "me"), session)
        if os.path.exists(workspace.home.in_data(".git/MERGE_HEAD")):
            from mait_code.journal import sync

            sync.repair(workspace.journal)
        return workspace

    @property
    def local_journal(self) -> Journal:
        """The journal of what stays on this machine: the same directory, another replica."""
        return Journal(Home(self.home.data, stays=True), self.journal.actor, self.session)

    def refuse_a_file(self) -> None:
        """Raise BadInput where the data directory is a file: reading it as empty would hide the slip."""
        if os.path.exists(self.home.data) and not os.path.isdir(self.home.data):
            raise BadInput(f"{self.home.data} is not a directory", "name the data directory, or leave --data-dir out")

    def store(self, name: str) -> Store:
        """A store by its name (board, inbox, reminders, journal), open but not caught up."""
        found = self._stores.get(name)
        if found is None:
            found = self._stores[name] = stores.OPENERS[name](self.home)
            found.step = self.step
        return found

    def has_open(self, name: str) -> bool:
        """Whether a store has been asked for."""
        return name in self._stores

    def reading(self, name: str) -> Store:
        """A store caught up for reading: if another process is writing it, it is served as it is."""
        store = self.store(name)
        if name not in self._fresh:
            self.behind += store.catch_up(wait=False).behind
            self._fresh.add(name)
        return store

    def refreshed(self, name: str) -> Store:
        """A store caught up after this process wrote, so that what it shows is what it wrote."""
        self._fresh.add(name)
        store = self.store(name)
        try:
            store.catch_up(wait=True)
        except Busy:
            # What was written is written, and must not be reported as a failure because the store is taken.
            store.live_in_memory()
            store.catch_up()
        self._find_again(store)
        return store

    def _find_again(self, store: Store) -> None:
        """See that what was written is there. A `git pull` that resets files under us may have taken it away a moment
        later; the next writer puts it back, so we are that one."""
        written = self.journal.written
        ids = [written.pop(family) for family in store.projection.families if family in written]
        for _ in range(TRIES):
            if all(store.value("SELECT 1 FROM events WHERE id = ?", (id_,)) for id_ in ids):
                return
            time.sleep(0.1)
            try:
                with self.journal.writing():
                    pass
                store.catch_up()
            except Busy:
                return

    def look_again(self) -> None:
        """Have every store catch up when it is next read: for a process that stays, as a screen does."""
        self._fresh.clear()
        self.behind = 0

    def holder_of(self, entity: str) -> Store:
        """The store that holds an entity (`type/id`), caught up for reading."""
        return self.reading(stores.HOLDS[entity.partition("/")[0]])

    @property
    def board(self) -> Store:
        """board.db, caught up."""
        return self.reading("board")

    @property
    def inbox(self) -> Store:
        """inbox.db, caught up."""
        return self.reading("inbox")

    @property
    def reminders(self) -> Store:
        """reminders.db, caught up."""
        return self.reading("reminders")

    @property
    def log(self) -> Log:
        """journal.db, caught up."""
        log: Log = self.reading("journal")  # type: ignore[assignment]
        return log

    @property
    def missing(self) -> int:
        """Events that the open stores have folded once and that stand in no file any more."""
        return sum(store.missing() for store in self._stores.values() if store.is_open)

    def close(self) -> None:
        """Close every store."""
        for store in self._stores.values():
            store.close()
        self._stores.clear()
        self._fresh.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (*_ODD, *LOST)):
            # SQLite checks no sums, so a flipped bit can look like a fault of the program. If it was one, folding anew
            # does no harm; if it was not, the next command is right again.
            for store in self._stores.values():
                store.distrust()
        self.close()
