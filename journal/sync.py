"""Sync: commit what this machine wrote, merge what the others wrote, push. Folding and printing are the caller's.

    lock; drain the spool; put back what was lost; commit; fetch; merge; push, and again where somebody was first

Every step leaves a state from which the next sync goes on, so a kill between any two costs nothing but the time. Other
processes append all the while: only what must not be overtaken is done under the append lock.
"""

from __future__ import annotations

import os
import time

from mait_code.journal import documents, finishing, mending, reconcile, remote, replica, segments
from mait_code.journal.committing import TRIES, Committing, SyncReport, overtaken
from mait_code.journal.errors import Busy, DiskRefused, GitFailed, Refused
from mait_code.journal.git import failure
from mait_code.journal.merging import Merge
from mait_code.journal.repository import EMPTY_TREE, LOCAL_SETTINGS, NOTHING, Repository, blob_id
from mait_code.journal.sync_lock import Running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.git_process import Answer
    from mait_code.journal.journal import Journal

__all__ = ["UNDERWAY", "SyncReport", "blocking", "repair", "sync"]

#: Seconds to wait for another sync of this machine.
SYNC_WAIT = 60.0
#: What stands in the repository while the user is in the middle of something that has to be ended first.
UNDERWAY = {
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
}


def sync(journal: Journal, fetch_timeout: float = 30.0, wait: float = SYNC_WAIT) -> SyncReport:
    """Bring this machine and the remote to the same journal.

    `fetch_timeout` is how many seconds the remote may be silent. Not reaching it is no error: the report says so.
    Raises GitFailed where the user has to act, Busy where another sync does not end.
    """
    repository = Repository(journal.home, fetch_timeout)
    journal.home.make()
    with Running(repository, wait):
        run = _Sync(repository)
        run.prepare(journal)
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
        with Running(repository, 0.0):
            repository.settings()
            if not repository.unmerged() or finishing.foreign(repository):
                return None
            finishing.finish(repository, report, patience=2.0)
    except (Busy, GitFailed, DiskRefused, Refused):
        return None
    return report


def _in_the_way(answer: Answer) -> list[str]:
    """The files that git names because a merge would overwrite what they hold."""
    return [line.strip() for line in answer.complaint.splitlines() if line.startswith("\t")] if answer.code else []


def blocking(repository: Repository) -> list[str]:
    """Files that stop the next sync, as far as is known without asking the remote: another machine changed them, and here
    they hold something that is in no commit."""
    branch = repository.branch()
    followed = repository.setting(f"branch.{branch}.merge").removeprefix("refs/heads/") or branch
    head = repository.head()
    theirs = repository.refs(f"refs/remotes/{repository.remote_name(branch)}/{followed}")
    found = []
    for commit in theirs.values() if head else ():
        base = repository.merge_base(head, commit)
        changed = {one.path for one in repository.difference(base or EMPTY_TREE, commit)}
        for one in repository.difference(head, commit):
            path = repository.home.in_data(one.path)
            if one.path not in changed or not os.path.lexists(path):
                continue
            if os.path.islink(path):
                found.append(one.path)
            elif reconcile.sort_of(one.path) == reconcile.OTHER and not one.path.startswith("journal/"):
                content = segments.read(path)
                if content is None or blob_id(content) not in (one.before, one.after):
                    found.append(one.path)
    return found


class _Sync(Committing):
    """One sync, its lock held."""

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository)
        self._populated = False

    def prepare(self, journal: Journal) -> None:
        """Make the repository where there is none, refuse what the user has to end first, take in what hooks left."""
        repository = self.repository
        repository.check_version()
        if not repository.exists():
            repository.make()
        for name, what in UNDERWAY.items():
            if os.path.exists(repository.in_git(name)):
                raise GitFailed(f"{what} is underway in {self.home.data}", "end it with git, then sync again")
        if any(repository.setting(key.lower()) != wanted for key, wanted in LOCAL_SETTINGS.items()):
            repository.mend_settings()  # a clone made by hand has none of ours
        with journal.writing(wait=mending.PATIENCE):
            pass  # drains the spool, and notices a copied machine

    def go(self) -> None:
        """All of it, from the commit to the push."""
        self.commit()
        name = self.repository.remote_name(self.branch)
        if name:
            self.report.remote = remote.without_secrets(self.repository.remote_url(name))
            self._exchange(name)
        self.remember()
        self.repository.tidy()

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
        raise GitFailed(
            f"the push came second {TRIES} times: {second}", "all is committed here; sync again in a moment"
        )

    # -- fetching and pushing

    def _their_branch(self) -> str:
        followed = self.repository.setting(f"branch.{self.branch}.merge")
        return followed.removeprefix("refs/heads/") or self.branch

    def _fetch(self, name: str) -> str | None:
        """Fetch and return the commit of the branch we follow: empty where the remote has none, None when offline."""
        words = ["fetch", "--progress", "--prune", "--no-tags", "--no-recurse-submodules"]
        if self.repository.version >= (2, 29):
            words.append("--no-write-fetch-head")  # a `git pull` of the user's may be between fetching and merging
        words += [name, f"+refs/heads/*:refs/remotes/{name}/*"]
        answer = self.repository.talk(*words)
        if answer.code != 0 and overtaken(answer.complaint):
            answer = self.repository.talk(*words)  # a fetch of the user's wrote the same reference
        if answer.code != 0:
            self._offline(name, self.repository.offline(answer, self.repository.remote_url(name)))
            return None
        theirs = self._find(name)
        if not theirs and self._populated:
            reason = self.repository.adopt_branch(name, self.branch)
            if reason:
                self._offline(name, reason)
                return None
            self.branch = self.repository.branch()
            theirs = self._find(name)
        if not self.repository.setting(f"branch.{self.branch}.merge"):
            self.repository.follow(name, self._their_branch())
        return theirs

    def _find(self, name: str) -> str:
        """The remote's commit as last fetched; on the way, ours and whether the remote has any branch at all."""
        far = f"refs/remotes/{name}/"
        found = self.repository.refs(f"refs/heads/{self.branch}", far)
        self.head = found.get(f"refs/heads/{self.branch}", self.head)
        self._populated = any(ref.startswith(far) and ref != f"{far}HEAD" for ref in found)
        return found.get(far + self._their_branch(), "")

    def _offline(self, name: str, reason: str) -> None:
        self.report.offline = reason
        theirs = self._find(name)
        commits = [self.head, f"^{theirs}"] if theirs else [self.head]
        self.report.commits_waiting = int(self.repository.run("rev-list", "--count", *commits))

    def _push(self, name: str, theirs: str) -> str:
        """Push. Returns what the remote said where somebody was first, and an empty string when there is no more to
        do."""
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
            plan = Merge(self.repository, self.head, theirs, self.own())
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
            for path, seen in taken.items():
                now = segments.read(self.home.in_data(path))
                if now is None or not reconcile.grew(seen, now):
                    self.report.new_identity = replica.take_new(self.home, forked_from=self.own()).replica
                    return

    def _bring_in(self, result: str) -> bool:
        """Move branch, index and work tree on to a merge; False when the work tree or the branch moved meanwhile."""
        if result == self.head:
            return True
        answer = self._fast_forward(result)
        names = _in_the_way(answer)
        told = [name for name in names if self._is_theirs_already(name, result)]
        if told:
            answer = self._fast_forward(result)
            names = _in_the_way(answer)
        if answer.code == 0:
            self.report.received += self.repository.lines_added(self.head, result)
            self._note_arrived(result)
            self.head = result
            return True
        stuck = [name for name in names if reconcile.sort_of(name) == reconcile.OTHER or self._is_link(name)]
        if stuck and all(map(self._put_aside, stuck)):
            return False
        if stuck:
            words = f"{', '.join(stuck)}: another machine's version would replace yours"
            raise GitFailed(words, "commit yours with git, then sync again")
        if names or overtaken(answer.complaint):
            return False
        raise failure("git merge", answer)

    def _fast_forward(self, result: str) -> Answer:
        return self.repository.ask("merge", "--ff-only", "--no-verify-signatures", "--no-stat", "--quiet", result)

    def _note_arrived(self, result: str) -> None:
        """Remember the documents, and other files beside the journal, that another machine changed."""
        for one in self.repository.difference(self.head, result):
            if not one.path.startswith("journal/"):
                sort = "removed" if one.after_mode == NOTHING else "added" if one.before_mode == NOTHING else "changed"
                self.report.arrived[one.path] = sort

    def _is_theirs_already(self, path: str, result: str) -> bool:
        """Whether a file that git will not overwrite holds the very bytes that it would get. git is told so."""
        content = None if self._is_link(path) else segments.read(self.home.in_data(path))
        entry = os.fsdecode(self.repository.run("ls-tree", "-z", result, "--", path)).split("\0")[0]
        mode, _, blob = entry.partition("\t")[0].partition(" blob ")
        if content is None or not blob or self.repository.write_blob(content) != blob:
            return False
        self.repository.run("update-index", "-z", "--index-info", given=os.fsencode(f"{mode} {blob}\t{path}\0"))
        return True

    def _put_aside(self, path: str) -> bool:
        """Make way for another machine's file where ours is litter in the journal, as sync tools leave it: for such a file
        nobody would know why his machines do not sync any more."""
        content = segments.read(self.home.in_data(path)) if path.startswith("journal/") else None
        if content is None:
            return False
        name = documents.beside(path, self.repository.write_blob(content))
        os.replace(self.home.in_data(path), self.home.in_data(name))
        self.report.aside.append(name)
        return True

    def _is_link(self, path: str) -> bool:
        return os.path.islink(self.home.in_data(path))
