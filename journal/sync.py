"""Sync: commit what this machine wrote, merge what the others wrote, push. Folding and printing are the caller's.

    lock; drain the spool; put back what the work tree lost; commit; fetch; merge; push, and again where somebody was first

Every step leaves a state from which the next sync goes on, so a kill between any two costs nothing but the time. Other
processes append all the while: only what must not be overtaken is done under the append lock.
"""

from __future__ import annotations

import os
import re
import time

from mait_code.journal import finishing, mending, reconcile, remote, replica, root, segments
from mait_code.journal.errors import Busy, DiskRefused, GitFailed, Refused
from mait_code.journal.git import failure
from mait_code.journal.home import PRIVATE_FILE, write_atomically
from mait_code.journal.journal import Journal
from mait_code.journal.lock import Lock
from mait_code.journal.merging import Merge
from mait_code.journal.repository import EMPTY_TREE, LOCAL_SETTINGS, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

#: How often a push that came second is tried, and how often a merge that the work tree overtook.
TRIES = 5
#: Seconds to wait for another sync of this machine.
SYNC_WAIT = 60.0
#: Seconds to wait for the user's own `git merge`, when it stands without conflicts, before finishing it.
MERGE_WAIT = 2.0

#: A lock file made within so many seconds of the start of a sync that was killed is that sync's.
KILLED_SPAN = 600.0
_NUMBER = re.compile(rb"[0-9]+\.[0-9]+")
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
    """The time of one sync: the lock, and a mark with its start. Marks that are found are of syncs that were killed."""

    def __init__(self, repository: Repository, wait: float) -> None:
        self._repository = repository
        self._wait = wait
        self._lock = _SyncLock(repository.home.in_state("sync.lock"))
        self._mark = repository.home.in_state("sync.running")

    def __enter__(self) -> None:
        if not self._lock.acquire(self._wait):
            raise Busy(f"another sync is running ({self._lock.holder()})", "wait for it; nothing is lost")
        self._lock.name_holder()
        killed = [float(line) for line in (segments.read(self._mark) or b"").split(b"\n")[:-1] if _NUMBER.fullmatch(line)]
        self._repository.held = self._lock.handle
        self._repository.is_stale = lambda lock: _is_stale(lock, killed)
        try:
            handle = os.open(self._mark, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE_FILE)
            try:
                os.write(handle, b"%.3f\n" % time.time())
            finally:
                os.close(handle)
        except OSError as error:
            self._lock.release()
            raise DiskRefused(f"cannot write {self._mark}: {error.strerror}", "check free space and permissions") from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._repository.held = -1
        try:
            os.unlink(self._mark)
        finally:
            self._lock.release()


def _is_stale(lock: str, killed: list[float]) -> bool:
    """Whether a lock file is from before this machine started, or from the minutes of a sync of ours that was killed."""
    try:
        made = os.stat(lock).st_mtime
    except FileNotFoundError:
        return False
    if any(-1.0 < made - start < KILLED_SPAN for start in killed):
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


def repair(journal: Journal) -> SyncReport | None:
    """Finish a merge that a plain `git pull` left open on journal files. None where there is nothing for us to do.

    Costs one `stat` when no merge is open. A merge with unmerged files of the user's, or with none at all, is theirs.
    What stops us here (no git, a locked index, a full disk) stops no command: the next sync says it.
    """
    if not os.path.exists(journal.home.in_data(".git/MERGE_HEAD")):
        return None
    repository = Repository(journal.home)
    repository.lock_wait = 0.2
    report = SyncReport()
    try:
        journal.home.make()
        with _Running(repository, 0.0):
            repository.settings()
            if not repository.unmerged() or finishing.foreign(repository):
                return None
            finishing.finish(repository, report)
    except (Busy, GitFailed, DiskRefused, Refused):
        return None
    return report


class _Sync:
    def __init__(self, journal: Journal, repository: Repository) -> None:
        self.journal = journal
        self.home = journal.home
        self.repository = repository
        self.report = SyncReport()
        self.head = ""
        self.branch = ""
        self._populated = False

    # -- before

    def prepare(self) -> None:
        repository = self.repository
        repository.check_version()
        if not repository.exists():
            repository.make()
        for name, what in _UNDERWAY.items():
            if os.path.exists(repository.in_git(name)):
                raise GitFailed(f"{what} of yours is underway in {self.home.data}", "finish it with git, then sync again")
        if any(repository.setting(key.lower()) != wanted for key, wanted in LOCAL_SETTINGS.items()):
            repository.mend_settings()  # a clone made by hand has none of ours
        with self.journal.writing(wait=mending.PATIENCE):
            pass  # drains the spool, and notices a copied machine
        if self._merge_is_open():
            finishing.finish(repository, self.report)

    def _merge_is_open(self) -> bool:
        """Whether a merge stands half done. One without conflicts may be a git that is just asking for its message."""
        deadline = time.monotonic() + MERGE_WAIT
        while os.path.exists(self.repository.in_git("MERGE_HEAD")):
            if time.monotonic() > deadline or self.repository.unmerged():
                return True
            time.sleep(0.1)
        return False

    def go(self) -> None:
        self.commit()
        if self._compare_with_last_time():
            self.commit()
        name = self.repository.remote_name(self.branch)
        if name:
            self.report.remote = remote.without_secrets(self.repository.remote_url(name))
            self._exchange(name)
        self._remember()
        self.repository.tidy()

    # -- home

    def _compare_with_last_time(self) -> bool:
        """Put back what left the history since our last sync: a reset, a pull from an emptied remote, a removed file."""
        before = (segments.read(self.home.in_state("kept")) or b"").decode("ascii", "replace").strip()
        now = self.head
        if not before or before == now or self.repository.ask("cat-file", "-e", f"{before}^{{tree}}").code != 0:
            return False
        lost = [(one.path, one.before) for one in self.repository.difference(before, now) if one.before]
        return self._put_back([(path, blob) for path, blob in lost if reconcile.sort_of(path) == reconcile.SEGMENT])

    def _remember(self) -> None:
        if self.head:
            write_atomically(self.home.in_state("kept"), self.head.encode() + b"\n")

    def _put_back(self, committed: list[tuple[str, str]]) -> bool:
        """Put back what the work tree lost of these (path, blob); says whether anything was."""
        if not committed:
            return False
        mended = mending.Mended()
        with mending.AppendLock(self.home):
            mending.put_back(self.repository, committed, mended)
        self.report.restored += mended.restored
        self.report.adopted += mended.adopted
        return bool(mended.restored)

    def commit(self) -> None:
        """Commit what is ours, and nothing else that the user may have staged."""
        changes = mending.look(self.repository)
        if self._put_back(changes.tracked) | root.write_missing(self.home):
            changes = mending.look(self.repository)
        if changes.branch == "(detached)":
            raise GitFailed(f"{self.home.data} has no branch checked out", "switch to its branch, then sync again")
        self.head, self.branch = changes.head, changes.branch
        self._settle_leftovers(changes.unmerged)
        paths = sorted({path for path, _ in changes.tracked}.union(changes.new, changes.unmerged))
        if paths and self._commit(paths):
            self.report.committed = True
            self.head = self.repository.head()

    def _settle_leftovers(self, unmerged: list[str]) -> None:
        """Segments that are unmerged without a merge: a stash that did not apply. The committed bytes stay in place, and
        what only one of the others holds is adopted."""
        if not unmerged:
            return
        stuck = [path for path in unmerged if reconcile.sort_of(path) not in (reconcile.SEGMENT, reconcile.NOTE)]
        if stuck:
            raise GitFailed(f"{', '.join(stuck)}: unmerged in {self.home.data}", "settle that with git, then sync again")
        committed = self.repository.difference(EMPTY_TREE, self.head, *unmerged)
        self._put_back([(one.path, one.after) for one in committed])
        stages = self.repository.unmerged()
        for path in unmerged:
            contents = self.repository.blobs(blob for _, blob in stages.get(path, {}).values())
            if reconcile.sort_of(path) == reconcile.SEGMENT:
                lines = reconcile.extra_lines(segments.read(self.home.in_data(path)) or b"", *contents.values())
                self.report.adopted += mending.adopt(self.home, lines)

    def _commit(self, paths: list[str]) -> bool:
        """Commit these paths as they are now. A document that is gone goes; a segment that is gone is left as it was."""
        present = [path for path in paths if os.path.isfile(self.home.in_data(path))]
        gone = [path for path in paths if path not in present and reconcile.sort_of(path) == reconcile.DOCUMENT]
        own = f"journal/{self._own()}/"
        for path in present:
            if path.startswith(own):
                mending.flush(self.home, path)
        listed = os.fsencode("".join(f"{path}\0" for path in present))
        # Under the lock no writer is half way through a line that it may have to take back.
        with mending.AppendLock(self.home):
            self.repository.run("update-index", "--add", "-z", "--stdin", given=listed)
        words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--only", "-m", f"mait-code: from {self._own()}")
        named = os.fsencode("".join(f"{path}\0" for path in present + gone))
        answer = self.repository.ask(
            "--literal-pathspecs", *words, "--pathspec-from-file=-", "--pathspec-file-nul", given=named
        )
        if answer.code == 0:
            return True
        if answer.code == 1 and not answer.complaint.strip():
            return False  # put back as it was: nothing to commit
        raise failure("git commit", answer)

    def _own(self) -> str:
        identity = replica.load(self.home)
        return identity.replica if identity is not None else ""

    # -- the remote

    def _exchange(self, name: str) -> None:
        second = ""
        for attempt in range(TRIES):
            if attempt:
                # Two machines that were turned away together should not come back together.
                time.sleep(int.from_bytes(os.urandom(2), "big") / 65536 * 0.2 * 2**attempt)
            theirs = self._fetch(name)
            if theirs is None:
                return
            if theirs:
                self.merge(theirs)
            if theirs == self.head:
                return
            self.report.tries += 1
            second = self._push(name, theirs)
            if not second:
                return
        raise GitFailed(f"the push came second {TRIES} times: {second}", "everything is committed here; sync again in a moment")

    def _their_branch(self) -> str:
        followed = self.repository.setting(f"branch.{self.branch}.merge")
        return followed.removeprefix("refs/heads/") or self.branch

    def _fetch(self, name: str) -> str | None:
        """Fetch and return the commit of the branch we follow: empty where the remote has none, None when offline."""
        words = ["fetch", "--progress", "--prune", "--no-tags", "--no-recurse-submodules"]
        if self.repository.version >= (2, 29):
            words.append("--no-write-fetch-head")  # a `git pull` of the user's may be between fetching and merging
        answer = self.repository.talk(*words, name, f"+refs/heads/*:refs/remotes/{name}/*")
        if answer.code != 0:
            self._offline(name, self.repository.offline(answer, self.repository.remote_url(name)))
            return None
        theirs = self._find(name)
        if not theirs and self._populated:
            self.report.offline = self.repository.adopt_branch(name, self.branch)
            self.branch = self.repository.branch()
            theirs = self._find(name)
        elif not self.repository.setting(f"branch.{self.branch}.merge"):
            self.repository.follow(name, self._their_branch())
        return theirs

    def _find(self, name: str) -> str:
        far = f"refs/remotes/{name}/"
        found = self.repository.refs(f"refs/heads/{self.branch}", far)
        self.head = found.get(f"refs/heads/{self.branch}", self.head)
        self._populated = any(ref.startswith(far) and ref != f"{far}HEAD" for ref in found)
        return found.get(far + self._their_branch(), "")

    def _offline(self, name: str, reason: str) -> None:
        self.report.offline = reason
        theirs = self._find(name)
        range_ = [self.head, f"^{theirs}"] if theirs else [self.head]
        self.report.commits_waiting = int(self.repository.run("rev-list", "--count", *range_))

    def _push(self, name: str, theirs: str) -> str:
        """Push. Returns what the remote said where somebody was first, and an empty string when there is no more to do."""
        words = ("push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--no-signed")
        target = f"{self.head}:refs/heads/{self._their_branch()}"
        answer = self.repository.talk(*words, "--recurse-submodules=no", name, target)
        if answer.code == 0:
            self.report.sent += self.repository.lines_added(theirs or EMPTY_TREE, self.head)
            return ""
        for line in answer.out.decode("utf-8", "replace").splitlines():
            if line.startswith("!"):
                reason = remote.without_secrets(line.rpartition("\t")[2])
                if remote.came_second(line):
                    return reason
                raise GitFailed(f"the remote refused the push: {reason}", "everything is committed here")
        self._offline(name, self.repository.offline(answer, self.repository.remote_url(name)))
        return ""

    # -- merging

    def merge(self, theirs: str) -> None:
        """Bring what the remote holds into the work tree. Goes round again when somebody wrote in the meantime."""
        for _ in range(TRIES):
            plan = Merge(self.repository, self.head, theirs, self._own())
            if plan.taken:
                self._give_up_identity(plan.taken)
                self.commit()
                continue
            adopted = sum(mending.adopt(self.home, lines) for lines in plan.extra)
            if adopted:
                self.report.adopted += adopted
                self.commit()
                continue
            if self._bring_in(plan.result()):
                self.report.shrank += [path for path in plan.shrank if path not in self.report.shrank]
                self.report.documents += plan.beside
                return
            self.commit()
        raise GitFailed(f"{self.home.data} changed again during each of {TRIES} merges", "sync again in a moment")

    def _give_up_identity(self, taken: dict[str, bytes]) -> None:
        """Another machine wrote under our id: take a new one. Not so where our files have grown past what it holds."""
        with mending.AppendLock(self.home):
            grown = (segments.read(self.home.in_data(path)) for path in taken)
            if all(now is not None and reconcile.grew(seen, now) for seen, now in zip(taken.values(), grown, strict=True)):
                return
            self.report.new_identity = replica.take_new(self.home, forked_from=self._own()).replica

    def _bring_in(self, result: str) -> bool:
        """Move branch, index and work tree on to a merge; False when the work tree or the branch moved meanwhile."""
        if result == self.head:
            return True
        answer = self.repository.ask("merge", "--ff-only", "--no-verify-signatures", "--no-stat", "--quiet", result)
        if answer.code == 0:
            self.report.received += self.repository.lines_added(self.head, result)
            self.head = result
            return True
        names = [line.strip() for line in answer.complaint.splitlines() if line.startswith("\t")]
        stuck = [
            name
            for name in names
            if reconcile.sort_of(name) == reconcile.OTHER or os.path.islink(self.home.in_data(name))
        ]
        if stuck:
            raise GitFailed(
                f"{', '.join(stuck)}: another machine's version would replace yours", "commit yours with git, then sync again"
            )
        if names or "fast-forward" in answer.complaint:
            return False
        raise failure("git merge", answer)
