"""The data directory as a git repository. The one module that runs git.

Two ways to run it. `run` is for work at home: none of the user's configuration, hooks, filters or attributes take part, so
a commit holds the bytes that are in the files. `talk` is for the remote: there the user's configuration is wanted
(credential helpers, proxies, `insteadOf`), but nothing may ask a question, and silence is cut off.

The repository is always named outright (`--git-dir`), so an inherited `GIT_DIR` or a repository around the data directory
is never mistaken for ours.
"""

from __future__ import annotations

import os
import re

from mait_code.journal import remote, root
from mait_code.journal.errors import BadInput, GitFailed
from mait_code.journal.home import Home, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from subprocess import Popen

#: 2.25 is the first git that reads the paths of a commit from a file.
OLDEST_GIT = (2, 25)
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#: The address a command line's `git pull` and `git push` are to find: what merging needs to be safe for our files.
LOCAL_SETTINGS = {"pull.rebase": "false", "merge.ff": "true", "rebase.autoStash": "false", "core.autocrlf": "false"}
#: Seconds that another git may hold a lock file before we say so.
LOCK_WAIT = 5.0
#: No object id at all, as git's raw listings write it.
NOTHING = "0" * 40

_BRANCH = "main"
_KEPT = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|PROXY_COMMAND|ALLOW_PROTOCOL|SSL_.*|HTTP_.*"
    r"|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_[0-9]+|VALUE_[0-9]+))"
)
_QUIET = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.autocrlf=false"),
    *("core.attributesFile=/dev/null", "core.quotePath=false", "core.fsync=committed,loose-object,reference"),
    *("gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false", "merge.autoStash=false", "submodule.recurse=false"),
    *("advice.detachedHead=false", "core.sparseCheckout=false", "core.ignoreStat=false", "core.safecrlf=false"),
)


class Answer:
    """What git said: exit code, standard output, complaint (standard error). `silent` when it was cut off."""

    __slots__ = ("code", "complaint", "out", "silent")

    def __init__(self, code: int, out: bytes, complaint: str, silent: bool = False) -> None:
        self.code = code
        self.out = out
        self.complaint = complaint
        self.silent = silent


class Repository:
    """The repository of one data directory. `fetch_timeout` is how many seconds a remote may be silent.

    Everything raises GitFailed, with git's own last line, where git fails.
    """

    def __init__(self, home: Home, fetch_timeout: float = 30.0) -> None:
        self.home = home
        self.fetch_timeout = fetch_timeout
        #: A descriptor that git processes at home inherit: a lock stays held until the last of them has ended.
        self.held = -1
        #: Whether a lock file was left by a git that no longer lives; such a file is removed.
        self.is_stale = root.older_than_boot
        self._settings: dict[str, list[str]] | None = None

    @property
    def git_dir(self) -> str:
        """The repository itself. A `.git` file (a work tree of another repository) is followed."""
        path = self.home.in_data(".git")
        try:
            with open(path, "rb") as file:
                target = os.fsdecode(file.read(4096).removeprefix(b"gitdir: ").rstrip(b"\n"))
            return os.path.join(self.home.data, target)
        except OSError:
            return path

    def in_git(self, name: str) -> str:
        """A file of the repository."""
        return os.path.join(self.git_dir, name)

    def exists(self) -> bool:
        """Whether there is a repository. Runs no git."""
        return os.path.exists(self.in_git("HEAD"))

    # -- running git

    def run(self, *arguments: str, given: bytes = b"", fine: tuple[int, ...] = (0,), index: str = "") -> bytes:
        """Run git at home and return what it printed. `index` names another index file than the repository's."""
        return self.ask(*arguments, given=given, fine=fine, index=index).out

    def ask(self, *arguments: str, given: bytes = b"", fine: tuple[int, ...] = (0,), index: str = "") -> Answer:
        """The same, with exit code and complaint. Waits for other gits' locks; removes a lock that nobody holds."""
        import time

        deadline = time.monotonic() + LOCK_WAIT
        environment = self._at_home(index)
        command = [*self._prefix(), *self._filters_off(), *arguments]
        while True:
            answer = self._finish(self._start(command, environment, 0o077), given)
            lock = remote.lock_named(answer.complaint) if answer.code not in fine else ""
            if not lock:
                break
            if time.monotonic() > deadline:
                raise GitFailed(
                    f"git is locked by {lock}", "if no git command is running here, one was interrupted: remove that file"
                )
            if not self._unlock(lock):
                time.sleep(0.05)
        if answer.code not in fine:
            raise GitFailed(f"git {arguments[0]}: {remote.last_line(answer.complaint) or f'exit {answer.code}'}")
        return answer

    def _unlock(self, lock: str) -> bool:
        if not self.is_stale(lock):
            return False
        try:
            os.unlink(lock)
        except FileNotFoundError:
            return True
        return True

    def talk(self, *arguments: str) -> Answer:
        """Run git against the remote with the user's configuration. Never asks, never waits longer than the limit for a
        sign of life. The caller judges the answer."""
        environment = self._inherited()
        environment.update(
            GIT_TERMINAL_PROMPT="0", GIT_ASKPASS="", SSH_ASKPASS_REQUIRE="never", GCM_INTERACTIVE="never", LC_ALL="C"
        )
        seconds = max(1, int(self.fetch_timeout))
        if not {"GIT_SSH", "GIT_SSH_COMMAND"} & environment.keys() and not self.setting("core.sshcommand"):
            environment["GIT_SSH_COMMAND"] = f"ssh -o BatchMode=yes -o ConnectTimeout={seconds}"
        quiet = [word for pair in _QUIET for word in ("-c", pair)]
        slow = ["-c", "http.lowSpeedLimit=1", "-c", f"http.lowSpeedTime={seconds}"]
        return self._listen(self._start([*self._prefix(), *quiet, *slow, *arguments], environment, -1))

    def _prefix(self) -> list[str]:
        return ["git", f"--git-dir={self.git_dir}", f"--work-tree={self.home.data}"]

    def _filters_off(self) -> list[str]:
        words = [word for pair in _QUIET for word in ("-c", pair)]
        names = {key.rpartition(".")[0] for key in self._settings or {} if key.startswith("filter.")}
        for name in sorted(names):
            for key in ("clean=", "smudge=", "process=", "required=false"):
                words += ["-c", f"{name}.{key}"]
        return words

    @staticmethod
    def _inherited() -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name[:4] != "GIT_" or _KEPT.fullmatch(name)}

    def _at_home(self, index: str) -> dict[str, str]:
        """An environment in which git finds no configuration but the repository's own."""
        environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
        nowhere = self.home.in_state("no-such-directory")
        environment.update(HOME=nowhere, XDG_CONFIG_HOME=nowhere, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
        environment.update(GIT_ATTR_NOSYSTEM="1", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_EDITOR=":", LC_ALL="C")
        for role in ("AUTHOR", "COMMITTER"):
            for part in ("NAME", "EMAIL"):
                environment[f"GIT_{role}_{part}"] = self._identity(role.lower(), part.lower())
        if index:
            environment["GIT_INDEX_FILE"] = index
        return environment

    def _identity(self, role: str, part: str) -> str:
        """The user's name or address for commits, or a local one where they never told git."""
        fallback = {"name": "mait-code", "email": "mait-code@localhost"}[part]
        settings = self._settings or {}
        for key in (f"{role}.{part}", f"user.{part}"):
            value = settings.get(key, [""])[-1]
            if re.search(r"[^\s.,:;<>\"\\']", value):
                return value
        return fallback

    def _start(self, command: list[str], environment: Mapping[str, str], umask: int) -> Popen[bytes]:
        from subprocess import PIPE, Popen

        keep = (self.held,) if self.held >= 0 and umask >= 0 else ()
        try:
            # A session of its own: nothing can ask on the terminal, and the whole group can be ended at once.
            return Popen(
                command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, pass_fds=keep, umask=umask,
                start_new_session=True, cwd=self.home.data if os.path.isdir(self.home.data) else "/",
            )  # fmt: skip
        except FileNotFoundError as error:
            raise GitFailed("git is not installed: no such program on PATH", "install git; only syncing needs it") from error
        except OSError as error:
            raise GitFailed(f"git cannot be started: {error.strerror}", "check the git program on PATH") from error

    @staticmethod
    def _finish(process: Popen[bytes], given: bytes) -> Answer:
        try:
            out, complaint = process.communicate(given)
        except BaseException:
            _end(process)
            raise
        return Answer(process.returncode, out, complaint.decode("utf-8", "replace"))

    def _listen(self, process: Popen[bytes]) -> Answer:
        """Collect what a remote command prints; end it when it has been silent for too long."""
        import selectors
        import time

        assert process.stdin and process.stdout and process.stderr
        process.stdin.close()
        got = {process.stdout: bytearray(), process.stderr: bytearray()}
        deadline = time.monotonic() + self.fetch_timeout
        silent = False
        try:
            with selectors.DefaultSelector() as waiting:
                for pipe in got:
                    waiting.register(pipe, selectors.EVENT_READ)
                while waiting.get_map() and not silent:
                    ready = waiting.select(0.2)
                    for key, _events in ready:
                        part = os.read(key.fd, 65536)
                        deadline = time.monotonic() + self.fetch_timeout
                        if part:
                            got[key.fileobj] += part  # type: ignore[index]
                        else:
                            waiting.unregister(key.fileobj)
                    # A helper that stays behind (a credential cache) may hold our pipes open after git has ended.
                    if not ready and process.poll() is not None:
                        break
                    silent = time.monotonic() > deadline
        finally:
            _end(process)
        complaint = got[process.stderr].decode("utf-8", "replace")
        return Answer(process.returncode, bytes(got[process.stdout]), complaint, silent)

    # -- settings

    def check_version(self) -> None:
        """Raise GitFailed where git is missing or too old."""
        words = self._finish(self._start(["git", "version"], self._at_home(""), 0o077), b"").out.split()
        found = re.match(rb"(\d+)\.(\d+)", words[2]) if len(words) > 2 else None
        if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
            version = words[2].decode("ascii", "replace") if len(words) > 2 else "unknown"
            wanted = ".".join(map(str, OLDEST_GIT))
            raise GitFailed(f"git {version} is too old: mait-code needs {wanted} or newer", "install a newer git")

    def settings(self) -> dict[str, list[str]]:
        """The effective configuration, the user's included: key (lower case but for its middle) -> values in order."""
        if self._settings is None:
            command = [*self._prefix(), "config", "--list", "-z"]
            answer = self._finish(self._start(command, {**self._inherited(), "LC_ALL": "C"}, 0o077), b"")
            if answer.code != 0:
                raise GitFailed(f"git's configuration cannot be read: {remote.last_line(answer.complaint)}")
            self._settings = _pairs(answer.out)
        return self._settings

    def setting(self, key: str) -> str:
        """The effective value of one setting, or an empty string."""
        return self.settings().get(key, [""])[-1]

    def set(self, key: str, value: str) -> None:
        """Change one setting of this repository, never of the user."""
        self.run("config", "--local", "--replace-all", key, value)
        self._settings = None

    def config_faults(self) -> list[str]:
        """What of this repository's settings could make a plain `git pull` lose something, one line each."""
        own = _pairs(self.run("config", "--local", "--list", "-z")) if self.exists() else {}
        faults = []
        for key, wanted in LOCAL_SETTINGS.items():
            value = own.get(key.lower(), ["not set"])[-1]
            if value != wanted:
                faults.append(f"{key} is {value}, should be {wanted}")
        return faults

    def mend_settings(self, overwrite: bool = True) -> None:
        """Give this repository the settings that plain git needs here. Without `overwrite` only those that are not set:
        a clone made by hand has none of them."""
        own = _pairs(self.run("config", "--local", "--list", "-z"))
        for key, wanted in LOCAL_SETTINGS.items():
            value = own.get(key.lower(), [""])[-1]
            if value != wanted and (overwrite or not value):
                self.set(key, wanted)

    # -- making

    def make(self, remote: str | None = None) -> None:
        """Make the data directory a repository whose first commit is the same on every machine for ever.

        A repository that has commits keeps its history; missing format files are written. Calling it again does no harm.
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
        known = self._finish(self._start(["git", "init", "-h"], self._at_home(""), 0o077), b"").out
        options = ["--quiet", "--template="]
        if b"--object-format" in known:
            options.append("--object-format=sha1")
        if b"--ref-format" in known:
            options.append("--ref-format=files")
        command = ["git", *options_first("init", options), self.home.data]
        answer = self._finish(self._start(command, self._at_home(""), 0o077), b"")
        if answer.code != 0:
            raise GitFailed(f"git init: {remote.last_line(answer.complaint)}")
        self._settings = None

    def _write_root(self) -> None:
        for kind, content in root.objects():
            self.run("hash-object", "-t", kind, "-w", "--stdin", "--no-filters", given=content)
        self.run("symbolic-ref", "HEAD", f"refs/heads/{_BRANCH}")
        self.run("update-ref", f"refs/heads/{_BRANCH}", root.COMMIT)
        if not os.path.exists(self.in_git("index")):
            self.run("read-tree", "HEAD")

    # -- what the history holds

    def head(self) -> str:
        """The commit that is checked out, or an empty string before the first."""
        return self.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}", fine=(0, 1)).decode().strip()
