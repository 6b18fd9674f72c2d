"""Finishing a merge that stands half done in the data directory: a plain `git pull` that met a conflict.

A restored backup followed by `git pull` does that once: this machine and its own past both continued one segment.
Journal and documents are settled by our rules in the work tree, whatever else git merged stays as git (or the user)
left it in the index, and the merge is committed.
"""

from __future__ import annotations

import os

from mait_code.journal import documents, mending, reconcile, replica, segments
from mait_code.journal.errors import GitFailed
from mait_code.journal.git import failure
from mait_code.journal.home import write_atomically
from mait_code.journal.merging import Merge, settle
from mait_code.journal.reconcile import OTHER, SEGMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.committing import SyncReport
    from mait_code.journal.repository import Repository


def foreign(repository: Repository) -> list[str]:
    """The unmerged files that are neither journal nor documents: only the user can settle those."""
    return sorted(path for path in repository.unmerged() if reconcile.sort_of(path) == OTHER)


def finish(repository: Repository, report: SyncReport, patience: float = mending.PATIENCE) -> None:
    """Settle and commit the merge that `MERGE_HEAD` names. Raises GitFailed where files of the user's are unmerged."""
    home = repository.home
    strangers = foreign(repository)
    if strangers:
        raise GitFailed(
            f"{', '.join(strangers)}: unmerged in {home.data}", "settle and commit that merge with git, then sync again"
        )
    with open(repository.in_git("MERGE_HEAD"), encoding="ascii") as file:
        heads = file.read().split()
    if len(heads) != 1:
        raise GitFailed(
            f"a merge of {len(heads)} branches stands in {home.data}", "finish it with git, then sync again"
        )
    with mending.AppendLock(home, patience):
        identity = replica.load(home)
        own = identity.replica if identity is not None else ""
        plan = Merge(repository, repository.head(), heads[0], own)
        _Settlement(repository, plan, own, report).make()
    report.committed = True
    report.shrank += plan.shrank


class _Settlement:
    """The work tree and index brought to what the merge is to be. Under the append lock throughout."""

    def __init__(self, repository: Repository, plan: Merge, own: str, report: SyncReport) -> None:
        self.repository = repository
        self.home = repository.home
        self.plan = plan
        self.own = own
        self.report = report
        self.touched: set[str] = set()

    def make(self) -> None:
        for path, (mode, blob) in self.plan.wanted.items():
            if mode.startswith("100"):
                self._journal_file(path, blob)
        for path, stages in self.repository.unmerged().items():
            if path not in self.plan.wanted:
                self._document(path, stages)
        new = mending.look(self.repository).new
        paths = sorted(path for path in self.touched.union(new) if os.path.isfile(self.home.in_data(path)))
        self.repository.run(
            "update-index", "--add", "-z", "--stdin", given=os.fsencode("".join(f"{path}\0" for path in paths))
        )
        words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit", "--cleanup=strip")
        answer = self.repository.ask(*words)
        if answer.code != 0:
            raise failure("git commit", answer)

    def _journal_file(self, path: str, blob: str) -> None:
        """What stands in the work tree may be longer than what was committed: writers went on during the merge."""
        self.touched.add(path)
        now = segments.read(self.home.in_data(path))
        sides = self.plan.sides.get(path)
        if sides is None:
            wanted = self.repository.blobs([blob])[blob] if now is None or reconcile.sort_of(path) != SEGMENT else now
            if reconcile.sort_of(path) == SEGMENT and self._is_own(path) and path in self.plan.taken:
                self._take_new_identity()
        else:
            base, ours, theirs = sides
            ours = now if now is not None and reconcile.grew(ours, now) else ours
            outcome = reconcile.segment(base, ours, theirs)
            wanted = outcome.content
            extra = reconcile.extra_lines(wanted, ours, theirs, base, now)
            self.report.adopted += mending.adopt(self.home, extra)
            if self._is_own(path) and wanted != ours:
                self._take_new_identity()
        if wanted != now:
            self._write(path, wanted)

    def _is_own(self, path: str) -> bool:
        return path.startswith(f"journal/{self.own}/")

    def _take_new_identity(self) -> None:
        if not self.report.new_identity:
            self.report.new_identity = replica.take_new(self.home, forked_from=self.own).replica

    def _document(self, path: str, stages: dict[str, tuple[str, str]]) -> None:
        """A text that the user has already settled by hand stays; else the rule for documents."""
        self.touched.add(path)
        now = segments.read(self.home.in_data(path))
        contents = self.repository.blobs(blob for _, blob in stages.values())
        if now is not None and now not in contents.values() and not documents.has_markers(now):
            return
        commits = (self.plan.ours, self.plan.theirs)
        settled = settle(self.repository, path, stages, commits, self.report.documents)
        for name, (_, blob) in settled.items():
            self.touched.add(name)
            self._write(name, self.repository.blobs([blob])[blob])

    def _write(self, path: str, content: bytes) -> None:
        full = self.home.in_data(path)
        os.makedirs(os.path.dirname(full), mode=0o700, exist_ok=True)
        write_atomically(full, content)
