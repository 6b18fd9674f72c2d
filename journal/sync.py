"""Sync: commit what this machine wrote, merge what the others wrote, push. Folding and printing are the caller's.

    lock; drain the spool; put back what the work tree lost; commit; fetch; merge; push, and again where somebody was first

Every step leaves a state from which the next sync goes on, so a kill between any two costs nothing but the time. Other
processes append all the while: only what must not be overtaken is done under the append lock.
"""

from __future__ import annotations

import os
import time

from mait_code.journal import mending, reconcile, remote, replica, root, segments
from mait_code.journal.errors import Busy, GitFailed
from mait_code.journal.home import write_atomically
from mait_code.journal.journal import Journal
from mait_code.journal.lock import Lock
from mait_code.journal.merging import Merge
from mait_code.journal.repository import EMPTY_TREE, Repository, default_branch, last_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

#: How often a push that came second is tried, and how often a merge that the work tree overtook.
TRIES = 5
#: Seconds to wait for another sync of this machine.
SYNC_WAIT = 60.0

_MESSAGE = "Write down what happened on this machine"
#: What stands in the repository while the user is in the middle of something that has to be ended first.
_UNDERWAY = {
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


class SyncReport:
    """What a sync did. Counts of events are counts of lines."""

    def __init__(self) -> None:
        #: Whether this machine had something to commit.
        self.committed = False
        #: Commits that the remote does not have yet, when it could not be reached.
        self.commits_waiting = 0
        self.sent = 0
        self.received = 0
        #: Lines that lost their file and were moved into a directory of their own.
        self.adopted = 0
        #: Files that were gone, cut or changed here, and put back.
        self.restored: list[str] = []
        #: Journal files that the remote took away or cut; ours were kept and sent again. The caller ends with 1.
        self.shrank: list[str] = []
        #: Texts put beside a document that was edited on two machines.
        self.documents: list[str] = []
        #: This machine's new replica id, where another one was found writing under the old.
        self.new_identity = ""
        #: Why the remote could not be reached, in git's words.
        self.offline = ""
        #: The remote's address without secrets; empty where there is none.
        self.remote = ""
        #: How many pushes it took.
        self.tries = 0


class _SyncLock(Lock):
    """One sync at a time. The git processes it starts hold it too, so it is free only when the last of them has ended."""

    @property
    def handle(self) -> int:
        return self._handle


class _Running:
    """The time of one sync: the lock, and a mark that tells the next one when this one was killed."""

    def __init__(self, repository: Repository, wait: float) -> None:
        self._repository = repository
        self._wait = wait
        self._lock = _SyncLock(repository.home.in_state("sync.lock"))
        self._mark = repository.home.in_state("sync.running")

    def __enter__(self) -> None:
        if not self._lock.acquire(self._wait):
            raise Busy(f"another sync is running ({self._lock.holder()})", "wait for it; nothing is lost")
        self._lock.name_holder()
        try:
            killed_at = os.stat(self._mark).st_mtime
        except FileNotFoundError:
            killed_at = 0.0
        self._repository.held = self._lock.handle
        self._repository.is_stale = lambda lock: _is_stale(lock, killed_at)
        write_atomically(self._mark, b"")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._repository.held = -1
        try:
            os.unlink(self._mark)
        finally:
            self._lock.release()


def _is_stale(lock: str, killed_at: float) -> bool:
    """Whether a lock file is from before this machine started, or from the minutes of a sync of ours that was killed."""
    try:
        made = os.stat(lock).st_mtime
    except FileNotFoundError:
        return False
    if killed_at and -1.0 < made - killed_at < 600.0:
        return True
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return clock is not None and made < time.time() - time.clock_gettime(clock) - 5.0


def sync(journal: Journal, fetch_timeout: float = 30.0, wait: float = SYNC_WAIT) -> SyncReport:
    """Bring this machine and the remote to the same journal.

    `fetch_timeout` is how many seconds the remote may be silent. Not reaching it is no error: the report says so. Raises
    GitFailed where the user has to act, Busy where another sync does not end.
    """
    repository = Repository(journal.home, fetch_timeout)
    journal.home.make()
    with _Running(repository, wait):
        run = _Sync(journal, repository)
        run.prepare()
        run.go()
        return run.report


class _Sync:
    def __init__(self, journal: Journal, repository: Repository) -> None:
        self.journal = journal
        self.home = journal.home
        self.repository = repository
        self.report = SyncReport()
        self.head = ""

    # -- before

    def prepare(self) -> None:
        repository = self.repository
        repository.check_version()
        if not repository.exists():
            repository.make()
        for name, what in _UNDERWAY.items():
            if os.path.exists(repository.in_git(name)):
                raise GitFailed(f"{what} of yours is underway in {self.home.data}", "finish it with git, then sync again")
        repository.settings()
        with self.journal.writing():
            pass  # drains the spool, and notices a copied machine

    def go(self) -> None:
        self._compare_with_last_time()
        self.commit()
        name = self.repository.remote_name()
        if name:
            self.report.remote = remote.without_secrets(self.repository.remote_url())
            self._exchange(name)
        self._remember()

    # -- home

    def _compare_with_last_time(self) -> None:
        """Put back what left the history since our last sync: a reset, a pull from an emptied remote, a removed file."""
        before = (segments.read(self.home.in_state("kept")) or b"").decode("ascii", "replace").strip()
        now = self.repository.head()
        if not before or before == now or self.repository.ask("cat-file", "-e", f"{before}^{{tree}}").code != 0:
            return
        lost = [(one.path, one.before) for one in self.repository.difference(before, now) if one.before]
        self._put_back([(path, blob) for path, blob in lost if reconcile.sort_of(path) != reconcile.FORMAT])

    def _remember(self) -> None:
        if self.head:
            write_atomically(self.home.in_state("kept"), self.head.encode() + b"\n")

    def _put_back(self, committed: list[tuple[str, str]]) -> None:
        if committed:
            mended = mending.Mended()
            with Lock(self.home.in_state("lock")):
                mending.put_back(self.repository, committed, mended)
            self.report.restored += mended.restored
            self.report.adopted += mended.adopted

    def commit(self) -> None:
        """Commit what is ours, and nothing else that the user may have staged."""
        root.write_missing(self.home)
        changes = mending.look(self.repository)
        if changes.unmerged:
            raise GitFailed(f"unmerged in {self.home.data}: {', '.join(changes.unmerged)}", "settle them with git, then sync again")
        self.head = changes.head
        self._put_back(changes.tracked)
        paths = sorted({path for path, _ in changes.tracked} | set(mending.look(self.repository).new if self._adopted() else changes.new))
        if paths:
            self._commit(paths)
