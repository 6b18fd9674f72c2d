"""Running git.

Two ways. `run` and `ask` are for work at home: none of the user's configuration, hooks, filters or attributes take
part, so a commit holds the bytes that are in the files. `talk` is for the remote: there the user's configuration is
wanted (credential helpers, proxies, `insteadOf`), but nothing may ask a question, and silence is cut off.

The repository is always named outright (`--git-dir`), so an inherited `GIT_DIR` or a repository around the data
directory is never mistaken for ours, and git has no owner to be suspicious of.
"""

from __future__ import annotations

import os
import re

from mait_code.journal import remote
from mait_code.journal.errors import DiskRefused, GitFailed
from mait_code.journal.git_process import Answer, finish, listen, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from subprocess import Popen

    from mait_code.journal.home import Home

#: 2.25 is the first git that reads the paths of a commit from its input.
OLDEST_GIT = (2, 25)

#: Of the inherited `GIT_*` these stay when talking to a remote: how this user reaches it. All others are a caller's.
_KEPT = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|PROXY_COMMAND|ALLOW_PROTOCOL|SSL_.*|HTTP_.*"
    r"|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_[0-9]+|VALUE_[0-9]+))"
)
_ALWAYS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.autocrlf=false"),
    *("core.attributesFile=/dev/null", "core.quotePath=false", "core.fsync=committed,loose-object,reference"),
    *(
        "gc.auto=0",
        "maintenance.auto=false",
        "commit.gpgSign=false",
        "merge.autoStash=false",
        "submodule.recurse=false",
    ),
    *("core.sparseCheckout=false", "core.ignoreStat=false", "core.safecrlf=false", "core.logAllRefUpdates=true"),
)
_PRIVATE = 0o077
_DISK = (
    "No space left on device",
    "Read-only file system",
    "Permission denied",
    "insufficient permission",
    "Disk quota",
)


def never(_lock: str) -> bool:
    """The cautious answer to whether a lock file was left by a git that no longer lives."""
    return False


class Git:
    """git, for one data directory. `silence` is how many seconds a remote may say nothing.

    What fails raises GitFailed with git's own last line.
    """

    def __init__(self, home: Home, silence: float) -> None:
        self.home = home
        self.silence = silence
        #: Seconds that another git may hold a lock file before we say so.
        self.lock_wait = 5.0
        #: A descriptor that git processes at home inherit: a lock on it stays held until the last of them has ended.
        self.held = -1
        #: Whether a lock file was left by a git that no longer lives. Such a file is removed.
        self.is_stale: Callable[[str], bool] = never
        #: (major, minor), once `check_version` was asked.
        self.version = (0, 0)
        self._settings: dict[str, list[str]] | None = None

    @property
    def git_dir(self) -> str:
        """The repository itself. A `.git` file (a work tree of another repository) is followed."""
        path = self.home.in_data(".git")
        try:
            with open(path, "rb") as file:
                target = os.fsdecode(file.read(4096).removeprefix(b"gitdir: ").rstrip(b"\n"))
        except OSError:
            return path
        return os.path.join(self.home.data, target)

    def in_git(self, name: str) -> str:
        """A file of the repository."""
        return os.path.join(self.git_dir, name)

    # -- at home

    def run(self, *arguments: str, given: bytes = b"", fine: tuple[int, ...] = (0,), index: str = "") -> bytes:
        """Run git at home and return what it printed. `index` names another index file than the repository's."""
        answer = self.ask(*arguments, given=given, index=index)
        if answer.code not in fine:
            raise failure(f"git {arguments[0]}", answer)
        return answer.out

    def ask(self, *arguments: str, given: bytes = b"", index: str = "") -> Answer:
        """The same, for a caller who judges the answer. Waits for the locks of other gits, removes those nobody
        holds."""
        environment = self._at_home(index)
        command = [*self._prefix(), *self._filters_off(), *arguments]
        return self._past_locks(lambda: finish(self._start(command, environment, _PRIVATE), given))

    def _past_locks(self, call: Callable[[], Answer]) -> Answer:
        import time

        deadline = time.monotonic() + self.lock_wait
        while True:
            answer = call()
            lock = remote.lock_named(answer.complaint) if answer.code else ""
            if not lock or not os.path.realpath(lock).startswith(os.path.realpath(self.git_dir)):
                return answer  # locks on the remote's side are the caller's affair
            if time.monotonic() < deadline:
                time.sleep(0.05)
            elif self.is_stale(lock):
                _unlink(lock)
            else:
                raise GitFailed(
                    f"git is locked by {lock}", "an interrupted git leaves it: if none runs here, remove that file"
                )

    def _prefix(self) -> list[str]:
        words = ["git", f"--git-dir={self.git_dir}", f"--work-tree={self.home.data}"]
        for pair in _ALWAYS:
            words += ("-c", pair)
        return words

    def _filters_off(self) -> list[str]:
        """Only this repository's own configuration is left at home, and it may name filters."""
        words = []
        for name in sorted({key.rpartition(".")[0] for key in self._settings or {} if key.startswith("filter.")}):
            for value in ("clean=", "smudge=", "process=", "required=false"):
                words += ["-c", f"{name}.{value}"]
        return words

    def _at_home(self, index: str = "") -> dict[str, str]:
        """An environment in which git finds no configuration but the repository's own."""
        environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
        nowhere = self.home.in_state("no-such-directory")
        environment.update(HOME=nowhere, XDG_CONFIG_HOME=nowhere, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
        environment.update(
            GIT_ATTR_NOSYSTEM="1", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_EDITOR=":", LC_ALL="C"
        )
        for role in ("AUTHOR", "COMMITTER"):
            for part in ("NAME", "EMAIL"):
                environment[f"GIT_{role}_{part}"] = self._identity(role.lower(), part.lower())
        if index:
            environment["GIT_INDEX_FILE"] = index
        return environment

    def _identity(self, role: str, part: str) -> str:
        """The user's name or address for commits, or a local one where they never told git."""
        settings = self._settings or {}
        for key in (f"{role}.{part}", f"user.{part}"):
            value = settings.get(key, [""])[-1]
            if re.search(r"[^\s.,:;<>\"\\']", value):
                return value
        return {"name": "mait-code", "email": "mait-code@localhost"}[part]

    # -- with the remote

    def talk(self, *arguments: str) -> Answer:
        """Run git against the remote with the user's configuration. Nothing asks, and a remote that gives no sign of
        life within the limit is left. The caller judges the answer."""
        seconds = max(1, int(self.silence))
        own_ssh = self.setting("core.sshcommand")
        environment = inherited()
        environment.update(
            GIT_TERMINAL_PROMPT="0", GIT_ASKPASS="", SSH_ASKPASS_REQUIRE="never", GCM_INTERACTIVE="never"
        )
        if not own_ssh and not {"GIT_SSH", "GIT_SSH_COMMAND"} & environment.keys():
            environment["GIT_SSH_COMMAND"] = f"ssh -o BatchMode=yes -o ConnectTimeout={seconds}"
        command = [*self._prefix(), "-c", "http.lowSpeedLimit=1", "-c", f"http.lowSpeedTime={seconds}", *arguments]
        return self._past_locks(lambda: listen(self._start(command, environment, -1), self.silence))

    # -- settings

    def _start(self, command: list[str], environment: Mapping[str, str], umask: int) -> Popen[bytes]:
        where = self.home.data if os.path.isdir(self.home.data) else "/"
        return start(command, environment, where, umask, self.held if umask >= 0 else -1)

    def bare(self, *arguments: str) -> Answer:
        """Run git without a repository."""
        return finish(self._start(["git", *arguments], self._at_home(), _PRIVATE), b"")

    def check_version(self) -> None:
        """Raise GitFailed where git is missing or too old."""
        words = self.bare("version").out.decode("ascii", "replace").split()
        version = words[2] if len(words) > 2 else "of unknown version"
        found = re.match(r"(\d+)\.(\d+)", version)
        self.version = (int(found[1]), int(found[2])) if found else (0, 0)
        if self.version < OLDEST_GIT:
            wanted = ".".join(map(str, OLDEST_GIT))
            raise GitFailed(
                f"git {version} is too old: {wanted} is needed", "install a newer git; only syncing needs it"
            )

    def settings(self) -> dict[str, list[str]]:
        """The effective configuration, the user's included: key (lower case but for its middle) -> values in order."""
        if self._settings is None:
            command = [*self._prefix()[:3], "config", "--list", "-z"]
            answer = finish(self._start(command, inherited(), _PRIVATE), b"")
            if answer.code != 0:
                raise failure("git's configuration cannot be read", answer)
            self._settings = pairs(answer.out)
        return self._settings

    def setting(self, key: str) -> str:
        """The effective value of one setting, or an empty string."""
        return self.settings().get(key, [""])[-1]

    def set(self, key: str, value: str) -> None:
        """Change one setting of this repository, never of the user."""
        self.run("config", "--local", "--replace-all", key, value)
        section, _, name = key.rpartition(".")
        self.settings()[f"{section}.{name.lower()}"] = [value]


def failure(what: str, answer: Answer) -> GitFailed | DiskRefused:
    """The error to raise for a git that failed at home: the disk's fault where git says so."""
    words = f"{what}: {last_words(answer)}"
    if any(reason in answer.complaint for reason in _DISK):
        return DiskRefused(words, "check free space and permissions; what is in the journal's files is safe")
    return GitFailed(words)


def last_words(answer: Answer) -> str:
    """git's own last line, for a message."""
    return remote.last_line(answer.complaint) or f"git ended with {answer.code}"


def pairs(listing: bytes) -> dict[str, list[str]]:
    """What `git config --list -z` printed. A key without a value counts as true."""
    found: dict[str, list[str]] = {}
    for entry in listing.split(b"\0")[:-1]:
        key, newline, value = os.fsdecode(entry).partition("\n")
        found.setdefault(key, []).append(value if newline else "true")
    return found


def inherited() -> dict[str, str]:
    """Our environment without what belongs to a git around us (its hooks set `GIT_DIR` and more)."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or _KEPT.fullmatch(name)}
    environment["LC_ALL"] = "C"
    return environment


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
