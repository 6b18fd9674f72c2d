"""One merge of two commits of the data directory, worked out before anything is touched.

The journal follows reconcile.py, documents follow documents.py, everything else git's own three-way rule. The result
is a commit that the work tree can be fast-forwarded to, so there is no half merged state for a kill to leave.
"""

from __future__ import annotations

import os

from mait_code.journal import documents, reconcile, root
from mait_code.journal.errors import GitFailed, Refused
from mait_code.journal.home import READER
from mait_code.journal.reconcile import FORMAT, NOTE, SEGMENT
from mait_code.journal.repository import EMPTY_TREE, Difference, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    Entry = tuple[str, str]  # mode, blob

_FILE = "100644"
#: What a freshly made repository of a hosting site may hold without being somebody's project.
_HARMLESS = ("readme", "license", "licence", ".git")


class Merge:
    """What merging commit `theirs` into commit `ours` comes to. `own` is the present replica id.

    `wanted` holds the paths where git's own rule is not enough. `extra` are groups of lines to be adopted before the
    merge may be made, `taken` our own segments as the other side has them (which costs us our id), `shrank` what the
    other side took away, `beside` the files written next to a document that both sides edited.
    """

    def __init__(self, repository: Repository, ours: str, theirs: str, own: str) -> None:
        self.repository = repository
        self.ours = ours
        self.theirs = theirs
        self.own = own
        self.wanted: dict[str, Entry] = {}
        #: Segments that both sides have and that differ: the contents (ancestor, ours, theirs).
        self.sides: dict[str, tuple[bytes | None, bytes, bytes]] = {}
        self.extra: list[list[bytes]] = []
        self.taken: dict[str, bytes] = {}
        self.shrank: list[str] = []
        self.beside: list[str] = []
        self.base = repository.merge_base(ours, theirs) if ours != theirs else ours
        self._differences = repository.difference(ours, theirs) if ours != theirs else []
        if not self.base:
            self._refuse_a_stranger()
        self._decide()

    def _refuse_a_stranger(self) -> None:
        """An unrelated history is welcome when it is a journal, or next to nothing."""
        names = os.fsdecode(self.repository.run("ls-tree", "-z", "--name-only", self.theirs)).split("\0")[:-1]
        if "journal" not in names and not all(name.lower().startswith(_HARMLESS) for name in names):
            raise GitFailed(
                f"the remote holds something else, no mait-code journal: {', '.join(names[:5])}",
                "name an empty repository",
            )

    def _decide(self) -> None:
        before = self._changed_by_them()
        contents = self.repository.blobs(
            blob
            for one in self._differences
            if one.before and one.after and reconcile.sort_of(one.path) in (SEGMENT, NOTE, FORMAT)
            for blob in (one.before, one.after, before.get(one.path, one.after))
        )
        for one in self._differences:
            sort = reconcile.sort_of(one.path)
            if sort == SEGMENT:
                self._segment(one, before.get(one.path, one.after), contents)
            elif sort in (NOTE, FORMAT):
                self._small_file(one, sort, contents)
        if self.shrank:
            self._keep_the_rest(before)

    def _changed_by_them(self) -> dict[str, str]:
        """Paths the other side changed since the common ancestor, each with the blob it had there (or none)."""
        if self.base == self.theirs:
            return {}
        if self.base == self.ours:
            return {one.path: one.before for one in self._differences}
        return {one.path: one.before for one in self.repository.difference(self.base or EMPTY_TREE, self.theirs)}

    def _segment(self, one: Difference, base: str, contents: dict[str, bytes]) -> None:
        if not one.before and not one.after:
            return
        if not one.before or not one.after:
            self.wanted[one.path] = (_FILE, one.before or one.after)
            if base and not one.after:
                self.shrank.append(one.path)
            if one.after and self._is_own(one.path):
                self.taken[one.path] = self.repository.blobs([one.after])[one.after]
            return
        self.sides[one.path] = (contents.get(base), contents[one.before], contents[one.after])
        outcome = reconcile.segment(*self.sides[one.path])
        kept_ours = outcome.content == contents[one.before]
        self.wanted[one.path] = (_FILE, one.before if kept_ours else one.after)
        if outcome.shrank:
            self.shrank.append(one.path)
        if outcome.extra:
            self.extra.append(outcome.extra)
        if not kept_ours and self._is_own(one.path):
            self.taken[one.path] = outcome.content

    def _is_own(self, path: str) -> bool:
        return path.split("/")[1] == self.own

    def _small_file(self, one: Difference, sort: str, contents: dict[str, bytes]) -> None:
        """A replica's note or a format file: never taken away; of two versions every machine chooses the same."""
        if one.path == root.FORMAT and one.after:
            needed = reconcile.needed_reader(self.repository.blobs([one.after])[one.after])
            if needed > READER:
                raise Refused(
                    "the journal on the remote needs a newer mait-code", "upgrade this machine, then sync again"
                )
        if not one.before or not one.after:
            if one.before or one.after:
                self.wanted[one.path] = (_FILE, one.before or one.after)
        elif sort == NOTE or one.path == root.FORMAT:
            choose = reconcile.note if sort == NOTE else reconcile.format_file
            ours, theirs = contents[one.before], contents[one.after]
            self.wanted[one.path] = (_FILE, one.before if choose(ours, theirs) == ours else one.after)

    def _keep_the_rest(self, before: dict[str, str]) -> None:
        """A side that took journal files away was emptied, not tidied: its other deletions do not count either."""
        for one in self._differences:
            if one.path not in self.wanted and one.before and one.after_mode == "000000" and one.path in before:
                self.wanted[one.path] = (one.before_mode, one.before)

    # -- the result

    def result(self) -> str:
        """The commit that holds the merge: one of the two where that is enough, else a new one."""
        if self.ours == self.theirs:
            return self.ours
        sides = {one.path: one for one in self._differences}
        if self.base == self.ours and all(entry[1] == sides[path].after for path, entry in self.wanted.items()):
            return self.theirs
        if self.base == self.theirs and all(entry[1] == sides[path].before for path, entry in self.wanted.items()):
            return self.ours
        return self._build()

    def _build(self) -> str:
        git = self.repository
        index = git.home.in_state("merge-index")
        for leftover in (index, f"{index}.lock"):
            if os.path.exists(leftover):
                os.unlink(leftover)
        git.run("read-tree", "-i", "-m", "--aggressive", self.base or EMPTY_TREE, self.ours, self.theirs, index=index)
        entries = dict(self.wanted)
        entries.update(self._unmerged(index))
        lines = [
            f"{mode} {blob}\t{path}\0" if blob else f"0 {'0' * 40}\t{path}\0" for path, (mode, blob) in entries.items()
        ]
        git.run("update-index", "-z", "--index-info", given=os.fsencode("".join(lines)), index=index)
        tree = git.run("write-tree", index=index).decode().strip()
        os.unlink(index)
        parents = [side for side in (self.ours, self.theirs) if side != self.base]
        words = [word for parent in parents for word in ("-p", parent)]
        return git.run("commit-tree", tree, *words, given=b"Merge what the other machines wrote\n").decode().strip()

    def _unmerged(self, index: str) -> dict[str, Entry]:
        """What git's three-way rule left open, beyond the journal."""
        found: dict[str, Entry] = {}
        for path, sides in self.repository.unmerged(index).items():
            if path not in self.wanted:
                found.update(settle(self.repository, path, sides, (self.ours, self.theirs), self.beside))
        return found


def settle(
    repository: Repository, path: str, sides: dict[str, Entry], commits: tuple[str, str], beside: list[str]
) -> dict[str, Entry]:
    """Settle one path that both sides changed, given git's stages ("1" the ancestor, "2" ours, "3" theirs).

    Returns what the merge holds at this path, and beside it where the texts contradict; such names go into `beside`.
    """
    ours, theirs = sides.get("2"), sides.get("3")
    if ours is None or theirs is None:
        # Edited here, deleted there: the edit stays.
        kept = ours or theirs
        return {path: kept} if kept else {path: ("0", "")}
    if ours[0][:3] != "100" or theirs[0][:3] != "100":
        raise GitFailed(
            f"{path}: not a plain file on both sides, and changed on both", "settle it with git, then sync again"
        )
    base = sides.get("1", ("", ""))[1]
    contents = repository.blobs([ours[1], theirs[1], base])
    mine, other = contents[ours[1]], contents[theirs[1]]
    if documents.is_template(mine) or documents.is_template(other):
        return {path: theirs if documents.is_template(mine) else ours}
    union = path in root.FILES
    text = documents.merged(repository, contents.get(base, b""), mine, other, union)
    if text is not None:
        return {path: (ours[0], repository.write_blob(text))}
    newer = documents.ours_is_newer(repository, path, (commits[0], ours[1]), (commits[1], theirs[1]))
    winner, loser = (ours, theirs) if newer else (theirs, ours)
    name = documents.beside(path, loser[1])
    beside.append(name)
    return {path: winner, name: (_FILE, loser[1])}
