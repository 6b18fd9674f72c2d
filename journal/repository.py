"""The data directory as a git repository: making it, its remote, and reading and writing its objects."""

from __future__ import annotations

import os

from mait_code.journal import remote, root
from mait_code.journal.errors import BadInput, GitFailed
from mait_code.journal.git import Git, failure, last_words, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.journal.git_process import Answer
    from mait_code.journal.home import Home

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
BRANCH = "main"
#: What makes a plain `git pull` and `git push` safe for our files.
LOCAL_SETTINGS = {"pull.rebase": "false", "merge.ff": "true", "rebase.autoStash": "false", "core.autocrlf": "false"}

#: git packs loose objects at 6,700, which it estimates from one of its 256 folders.
_LOOSE_IN_ONE_FOLDER = 27

#: The mode of a path in a tree that does not hold it.
NOTHING = "000000"
_PLAIN_FILES = ("100644", "100755")
_NO_BLOB = "0" * 40


class Difference:
    """One path that differs between two trees. A side's blob is empty where it has no regular file there."""

    __slots__ = ("after", "after_mode", "before", "before_mode", "path")

    def __init__(self, path: str, before_mode: str, before: str, after_mode: str, after: str) -> None:
        self.path = path
        self.before_mode = before_mode
        self.before = before if before_mode in _PLAIN_FILES else ""
        self.after_mode = after_mode
        self.after = after if after_mode in _PLAIN_FILES else ""


class Repository(Git):
    """The repository of one data directory. `fetch_timeout` is how many seconds a remote may be silent."""

    def __init__(self, home: Home, fetch_timeout: float = 30.0) -> None:
        super().__init__(home, fetch_timeout)

    def exists(self) -> bool:
        """Whether there is a repository. Runs no git."""
        return os.path.exists(self.in_git("HEAD"))

    # -- making

    def make(self, remote: str | None = None) -> None:
        """Make the data directory a repository whose first commit is the same on every machine for ever.

        A repository that has commits keeps its history; missing format files are written. Calling it again does no
        harm.
        """
        self.check_version()
        self.home.make()
        root.write_missing(self.home)
        if not self.exists():
            self._initialise()
        if not self.head():
            self._write_root()
        self.mend_settings()
        if remote is not None:
            self.set_remote(remote)

    def _initialise(self) -> None:
        known = self.bare("init", "-h")
        help_text = known.out + known.complaint.encode()
        options = [word for word in ("--object-format", "--ref-format") if word.encode() in help_text]
        values = {"--object-format": "sha1", "--ref-format": "files"}
        words = [f"{option}={values[option]}" for option in options]
        answer = self.bare("init", "--quiet", "--template=", *words, self.home.data)
        if answer.code != 0:
            raise failure("git init", answer)
        self._settings = None

    def _write_root(self) -> None:
        for kind, content in root.objects():
            self.run("hash-object", "-t", kind, "-w", "--stdin", given=content)
        self.run("symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
        self.run("update-ref", f"refs/heads/{BRANCH}", root.COMMIT)
        if not os.path.exists(self.in_git("index")):
            self.run("read-tree", "HEAD")

    def config_faults(self) -> list[str]:
        """What of this repository's settings could make a plain `git pull` lose something, one line each."""
        if not self.exists():
            return []
        own = self._own_settings()
        faults = []
        for key, wanted in LOCAL_SETTINGS.items():
            value = own.get(key.lower(), ["not set"])[-1]
            if value != wanted:
                faults.append(f"{key} is {value}, should be {wanted}")
        return faults

    def mend_settings(self) -> None:
        """Set this repository's settings that `config_faults` complains of."""
        own = self._own_settings()
        for key, wanted in LOCAL_SETTINGS.items():
            if own.get(key.lower(), [""])[-1] != wanted:
                self.set(key, wanted)

    def _own_settings(self) -> dict[str, list[str]]:
        return pairs(self.run("config", "--local", "--list", "-z"))

    # -- the remote

    def remote_name(self, branch: str = "") -> str:
        """The remote that the present branch follows, else `origin`, else the only one; empty where there is none."""
        names = [key[7:-4] for key in self.settings() if key.startswith("remote.") and key.endswith(".url")]
        followed = self.setting(f"branch.{branch or self.branch()}.remote")
        for name in (followed, "origin"):
            if name in names:
                return name
        return names[0] if len(names) == 1 else ""

    def remote_url(self, name: str = "") -> str:
        """The address of the remote, or an empty string. It may hold a password: print `remote.without_secrets` of
        it."""
        name = name or self.remote_name()
        return self.setting(f"remote.{name}.url") if name else ""

    def branch(self) -> str:
        """The present branch's name; empty where HEAD is detached."""
        return os.fsdecode(self.run("symbolic-ref", "--quiet", "--short", "HEAD", fine=(0, 1)).strip())

    def set_remote(self, url: str) -> str:
        """Make `url` the remote `origin` and let the present branch follow it, also while it is empty.

        A populated remote is adopted: its default branch gives ours its name. Returns why the remote could not be asked
        (offline), or an empty string; an address that refuses us raises GitFailed, and the remote there was stays.
        """
        url = url.strip()
        if not url or url.startswith("-") or "\n" in url or "\0" in url:
            raise BadInput(f"{url or 'an empty text'} is no address of a git repository", "give a URL or a path")
        if remote.is_path(url):
            url = os.path.abspath(os.path.expanduser(url))
        branch = self.branch()
        if not branch:
            raise GitFailed(f"{self.home.data} has no branch checked out", "switch to its branch, then try again")
        answer = self._ask_branches(url)
        offline = self.offline(answer, url) if answer.code != 0 else ""
        self.set("remote.origin.url", url)
        self.set("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        self.follow("origin", branch)
        if not offline:
            self._adopt("origin", branch, answer)
        return offline

    def adopt_branch(self, name: str, branch: str) -> str:
        """Follow the default branch of a populated remote and give ours its name. Answers as `set_remote` does."""
        answer = self._ask_branches(name)
        if answer.code != 0:
            return self.offline(answer, self.remote_url(name))
        self._adopt(name, branch, answer)
        return ""

    def _ask_branches(self, where: str) -> Answer:
        """Ask a remote, by its name or its address, for its branches."""
        return self.talk("ls-remote", "--symref", where, "HEAD", "refs/heads/*")

    def _adopt(self, name: str, branch: str, answer: Answer) -> None:
        theirs = default_branch(answer.out.decode("utf-8", "replace"))
        if theirs and theirs != branch:
            # A branch of that name that is here already keeps it; ours then follows the remote's from under its own.
            if self.ask("rev-parse", "--quiet", "--verify", f"refs/heads/{theirs}").code != 0:
                self.run("branch", "-m", branch, theirs)
                self._settings = None
                self.settings()
            self.follow(name, theirs)

    def follow(self, name: str, theirs: str) -> None:
        """Let the present branch follow `theirs` of remote `name`, as `git push -u` would, though nothing be there
        yet."""
        now = self.branch()
        self.set(f"branch.{now}.remote", name)
        self.set(f"branch.{now}.merge", f"refs/heads/{theirs}")

    def offline(self, answer: Answer, url: str) -> str:
        """Why the remote was not reached. Raises GitFailed where it was reached and refused, or can never be
        reached."""
        if answer.silent:
            return f"no answer within {self.silence:g} seconds"
        words = last_words(answer)
        if "No space left on device" in answer.complaint or "Read-only file system" in answer.complaint:
            raise failure("git", answer)
        if remote.refused(answer.complaint) and not remote.is_missing_path(url, self.home.data):
            raise GitFailed(
                f"{remote.without_secrets(url)} refused: {words}", "check the address and your access with git fetch"
            )
        return words

    # -- what the history holds

    def head(self) -> str:
        """The commit that is checked out, or an empty string before the first."""
        return self.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}", fine=(0, 1)).decode().strip()

    def refs(self, *patterns: str) -> dict[str, str]:
        """Full names of references and the commits they point at."""
        listed = self.run("for-each-ref", "--format=%(objectname) %(refname)", *patterns)
        found = {}
        for line in os.fsdecode(listed).splitlines():
            commit, _, name = line.partition(" ")
            found[name] = commit
        return found

    def merge_base(self, one: str, other: str) -> str:
        """The best common ancestor; empty where the histories are unrelated."""
        return self.run("merge-base", one, other, fine=(0, 1)).decode().strip()

    def difference(self, before: str, after: str, *paths: str) -> list[Difference]:
        """The paths that differ between two commits or trees."""
        return _differences(self.run("diff-tree", "-r", "-z", "--raw", "--no-renames", before, after, "--", *paths))

    def steps(self, before: str, after: str) -> list[Difference]:
        """How every commit that came since differs from each of its parents, in the journal."""
        words = ("log", "-m", "-z", "--raw", "--no-abbrev", "--no-renames", "--format=", f"{before}..{after}")
        return _differences(self.run(*words, "--", "journal"))

    def lines_added(self, before: str, after: str) -> int:
        """How many lines the segments of `after` hold that those of `before` do not."""
        words = ("diff-tree", "-r", "-z", "--numstat", "--text", "--no-renames", "--no-ext-diff", "--no-textconv")
        added = 0
        for entry in os.fsdecode(self.run(*words, before, after, "--", "journal")).split("\0"):
            count, _, rest = entry.partition("\t")
            if rest.endswith(".jsonl") and count.isdigit():
                added += int(count)
        return added

    def unmerged(self, index: str = "") -> dict[str, dict[str, tuple[str, str]]]:
        """Paths with an open conflict, each with git's stages ("1" ancestor, "2" ours, "3" theirs): (mode, blob)."""
        found: dict[str, dict[str, tuple[str, str]]] = {}
        for entry in os.fsdecode(self.run("ls-files", "-u", "-z", index=index)).split("\0")[:-1]:
            head, _, path = entry.partition("\t")
            mode, blob, stage = head.split(" ")
            found.setdefault(path, {})[stage] = (mode, blob)
        return found

    def blobs(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The contents of blobs, all of them by one process."""
        wanted = sorted({one for one in ids if one and one != _NO_BLOB})
        if not wanted:
            return {}
        raw = self.run("cat-file", "--batch", given="".join(f"{one}\n" for one in wanted).encode())
        found, place = {}, 0
        for one in wanted:
            end = raw.index(b"\n", place)
            head = raw[place:end].split(b" ")
            if len(head) != 3:
                raise GitFailed(f"git has lost an object of the journal: {one}", "run git fsck in the data directory")
            size = int(head[2])
            found[one] = raw[end + 1 : end + 1 + size]
            place = end + size + 2
        return found

    def tidy(self) -> None:
        """Let git pack what has piled up, when it is much by git's own measure. It does so behind our back."""
        try:
            loose = len(os.listdir(self.in_git("objects/17")))
        except FileNotFoundError:
            return
        if loose > _LOOSE_IN_ONE_FOLDER and self.setting("gc.auto") != "0":
            self.held = -1  # what it leaves running is no part of this sync
            self.ask("-c", "gc.auto=6700", "gc", "--auto", "--quiet")

    def write_blob(self, content: bytes) -> str:
        """Store bytes and return their id."""
        return self.run("hash-object", "-w", "--stdin", given=content).decode().strip()


def blob_id(content: bytes) -> str:
    """The id under which git keeps these bytes."""
    from hashlib import sha1

    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _differences(listing: bytes) -> list[Difference]:
    """The entries of git's raw format, between NULs."""
    words = [word for word in os.fsdecode(listing).split("\0") if word.strip("\n")]
    found = []
    for head, path in zip(words[::2], words[1::2], strict=True):
        before_mode, after_mode, old, new, _kind = head.lstrip("\n:").split(" ")
        found.append(Difference(path, before_mode, old, after_mode, new))
    return found


def default_branch(listing: str) -> str:
    """The branch a remote would check out, from `ls-remote --symref`; empty where it has none."""
    named, branches = "", []
    for line in listing.splitlines():
        left, _, name = line.partition("\t")
        if left.startswith("ref: refs/heads/") and name == "HEAD":
            named = left[len("ref: refs/heads/") :]
        elif name.startswith("refs/heads/"):
            branches.append(name[len("refs/heads/") :])
    for wanted in (named, BRANCH, "master"):
        if wanted in branches:
            return wanted
    return branches[0] if len(branches) == 1 else ""
