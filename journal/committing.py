"""The home half of a sync: what the work tree lost is put back, what it gained is committed."""

from __future__ import annotations

import os
import time

from mait_code.journal import finishing, mending, reconcile, replica, root, segments
from mait_code.journal.errors import DiskRefused, GitFailed
from mait_code.journal.git import failure
from mait_code.journal.home import write_atomically
from mait_code.journal.repository import EMPTY_TREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.repository import Repository

#: How often something is tried again that another process overtook.
TRIES = 5
#: Seconds to wait for the user's own `git merge`, when it stands without conflicts, before finishing it.
MERGE_WAIT = 2.0

#: What git says when another git moved the branch, or is in the middle of a merge, at this very moment.
_OVERTAKEN = (
    "during a merge",
    "MERGE_HEAD exists",
    "cannot lock ref",
    "fast-forward",
    "unmerged files",
    "did not match any",
)


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
        #: Where files went that lay in the journal and are not of it, for another machine's of the same name.
        self.aside: list[str] = []
        #: Files beside the journal that another machine added, changed or removed: path -> which of the three.
        self.arrived: dict[str, str] = {}
        #: This machine's new replica id, where another one was found writing under the old.
        self.new_identity = ""
        #: Why the remote could not be reached, in git's words.
        self.offline = ""
        #: The remote's address without secrets; empty where there is none.
        self.remote = ""
        #: How many pushes it took.
        self.tries = 0


class Committing:
    """Commits of one data directory. `head` and `branch` are what is checked out, as last seen."""

    def __init__(self, repository: Repository) -> None:
        self.home = repository.home
        self.repository = repository
        self.report = SyncReport()
        self.head = ""
        self.branch = ""
        self._compared = False

    def commit(self) -> None:
        """Commit what is ours, and nothing else that the user may have staged."""
        for _ in range(TRIES):
            self.finish_open_merge()
            changes = self._mended()
            self.head, self.branch = changes.head, changes.branch
            self._settle_leftovers(changes.unmerged)
            paths = sorted({path for path, _ in changes.tracked}.union(changes.new, changes.unmerged))
            if not paths or self._commit(paths):
                return
        raise GitFailed(f"another git is at work in {self.home.data} all the time", "sync again when it has ended")

    def finish_open_merge(self) -> None:
        """Finish a merge that stands half done. One without conflicts may be a git that is only asking for its message,
        so it is given a moment."""
        deadline = time.monotonic() + MERGE_WAIT
        while os.path.exists(self.repository.in_git("MERGE_HEAD")):
            if time.monotonic() > deadline or self.repository.unmerged():
                finishing.finish(self.repository, self.report)
                return
            time.sleep(0.1)

    def _mended(self) -> mending.Changes:
        """How the work tree differs from what is committed, once it has again all that it lost."""
        changes = mending.look(self.repository)
        if changes.branch == "(detached)":
            raise GitFailed(f"{self.home.data} has no branch checked out", "switch to its branch, then sync again")
        lost = self._put_back(changes.tracked)
        lost |= self._put_back(self._lost_since_last_time(changes.head))
        lost |= root.write_missing(self.home)
        return mending.look(self.repository) if lost else changes

    def _lost_since_last_time(self, head: str) -> list[tuple[str, str]]:
        """Segments that left the history since our last sync, or were cut in it: by a reset, a pull from an emptied
        remote, a file that was removed and committed. Looked for once in a sync."""
        before = (segments.read(self.home.in_state("kept")) or b"").decode("ascii", "replace").strip()
        if self._compared or not before or before == head:
            return []
        self._compared = True
        if self.repository.ask("cat-file", "-e", f"{before}^{{tree}}").code != 0:
            return []
        found = self.repository.difference(before, head)
        lost = [(one.path, one.before) for one in found if reconcile.sort_of(one.path) == reconcile.SEGMENT]
        return lost + self._lost_on_the_way(before, head)

    def _lost_on_the_way(self, before: str, head: str) -> list[tuple[str, str]]:
        """The same for what was committed after that sync and is gone again: files that were removed, and, adopted right
        here, lines of a merge in which somebody took one side for all."""
        steps = {(one.path, one.before): None for one in self.repository.steps(before, head) if one.before}
        held = [one for one in steps if reconcile.sort_of(one[0]) == reconcile.SEGMENT]
        contents = self.repository.blobs(blob for _, blob in held)
        gone = []
        for path, blob in held:
            now = segments.read(self.home.in_data(path))
            if now is None:
                gone.append((path, blob))
            elif not reconcile.grew(contents[blob], now):
                self.report.adopted += mending.adopt(self.home, reconcile.extra_lines(now, contents[blob]))
        return gone

    def remember(self) -> None:
        """Note the commit that the next sync compares with."""
        if self.head:
            write_atomically(self.home.in_state("kept"), self.head.encode() + b"\n")

    def _put_back(self, committed: list[tuple[str, str]]) -> bool:
        """Put back what the work tree lost of these (path, blob); says whether anything was."""
        if not committed:
            return False
        mended = mending.Mended()
        with mending.AppendLock(self.home):
            mending.put_back(self.repository, committed, mended)
        self.report.restored += [path for path in mended.restored if path not in self.report.restored]
        self.report.adopted += mended.adopted
        return bool(mended.restored)

    def _settle_leftovers(self, unmerged: list[str]) -> None:
        """Segments that are unmerged without a merge: a stash that did not apply. The committed bytes stay in place,
        and what only one of the others holds is adopted."""
        if not unmerged:
            return
        stuck = [path for path in unmerged if reconcile.sort_of(path) not in (reconcile.SEGMENT, reconcile.NOTE)]
        if stuck:
            names = ", ".join(stuck)
            raise GitFailed(f"{names}: unmerged in {self.home.data}", "settle that with git, then sync again")
        committed = self.repository.difference(EMPTY_TREE, self.head, *unmerged)
        self._put_back([(one.path, one.after) for one in committed])
        stages = self.repository.unmerged()
        for path in unmerged:
            contents = self.repository.blobs(blob for _, blob in stages.get(path, {}).values())
            if reconcile.sort_of(path) == reconcile.SEGMENT:
                lines = reconcile.extra_lines(segments.read(self.home.in_data(path)) or b"", *contents.values())
                self.report.adopted += mending.adopt(self.home, lines)

    def _commit(self, paths: list[str]) -> bool:
        """Commit these paths as they are now; False where another git was in the way, and it is to be tried again.

        A document that is gone goes; a segment that is gone, or anything a link took the place of, is left as it was.
        """
        present = [path for path in paths if mending.is_plain(self.home, path)]
        gone = [path for path in paths if self._is_deleted_document(path)]
        own = f"journal/{self.own()}/"
        mending.flush(self.home, [path for path in present if path.startswith(own)])
        # Under the lock no writer is half way through a line that it may have to take back.
        with mending.AppendLock(self.home):
            self.repository.run("update-index", "--add", "-z", "--stdin", given=_listed(present))
        answer = self.repository.ask(
            *("--literal-pathspecs", "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--only"),
            *("-m", f"mait-code: from {self.own()}", "--pathspec-from-file=-", "--pathspec-file-nul"),
            given=_listed(present + gone),
        )
        if answer.code == 0:
            self.report.committed = True
            self.head = self.repository.head()
            return True
        if answer.code == 1 and not answer.complaint.strip():
            return True  # put back as it was: nothing to commit
        if overtaken(answer.complaint):
            return False
        raise failure("git commit", answer)

    def _is_deleted_document(self, path: str) -> bool:
        return reconcile.sort_of(path) == reconcile.DOCUMENT and not os.path.lexists(self.home.in_data(path))

    def own(self) -> str:
        """This machine's replica id."""
        identity = replica.load(self.home)
        if identity is None:
            raise DiskRefused(
                f"{self.home.in_state('identity.json')} cannot be read", "check the directory's permissions"
            )
        return identity.replica


def overtaken(complaint: str) -> bool:
    """Whether git was only stopped by another git at work, so that trying again can help."""
    return any(words in complaint for words in _OVERTAKEN)


def _listed(paths: list[str]) -> bytes:
    return os.fsencode("".join(f"{path}\0" for path in paths))
