"""Looking for trouble in the data, the stores and what surrounds them. Repairing it is in doctor_repairs."""

from __future__ import annotations

import os

from mait_code.commands import doctor_repairs, journal_check, times
from mait_code.commands.doctor_repairs import gone_lines, store_fault, unseen
from mait_code.commands.output import counted
from mait_code.journal import segments, spool
from mait_code.journal.errors import MaitError
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mait_code.commands.journal_check import Place
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.repository import Repository

    Look = Callable[[Workspace], Iterator["Check"]]

OK, WARN, FAIL = "ok", "warn", "fail"
#: Lines named one by one in a message; the rest are counted.
NAMED = 5


class Check:
    """One thing looked at. `hint` says what to do where `level` is warn or fail."""

    __slots__ = ("hint", "level", "message", "name")

    def __init__(self, name: str, level: str, message: str, hint: str = "") -> None:
        self.name = name
        self.level = level
        self.message = message
        self.hint = hint

    def json(self) -> dict[str, Any]:
        """The check as `--json` prints it."""
        return {"name": self.name, "level": self.level, "message": self.message, "fix_hint": self.hint or None}


def examine(ws: Workspace) -> list[Check]:
    """Every check of the journal part, in order. One that cannot be made is a failed one and stops none of the rest."""
    checks: list[Check] = []
    for name, look in LOOKS:
        try:
            checks.extend(look(ws))
        except MaitError as error:
            checks.append(Check(name, FAIL, f"could not be looked at: {error.message}", error.hint))
        except Exception as error:  # whatever is damaged, the other checks still have something to say
            checks.append(Check(name, FAIL, f"could not be looked at: {type(error).__name__}: {error}", _LAST_RESORT))
    return checks


_LAST_RESORT = "check that the files are there and readable; if they are, this is a fault of ours"


def _directories(ws: Workspace) -> Iterator[Check]:
    for name, path in (("data-dir", ws.home.data), ("state-dir", ws.home.state)):
        if not os.path.lexists(path):
            yield Check(name, WARN, f"{path} is not there yet", "the first command that writes makes it")
        elif not os.path.isdir(path):
            yield Check(name, FAIL, f"{path} is no directory", "move it away, or name another with --data-dir")
        elif not os.access(path, os.R_OK | os.X_OK):
            yield Check(name, FAIL, f"{path} cannot be read", "check its owner and permissions")
        elif not os.access(path, os.W_OK) or not _takes_files(path):
            yield Check(name, FAIL, f"{path} cannot be written", "check its owner and permissions; reading goes on")
        else:
            yield Check(name, OK, path)


def _takes_files(path: str) -> bool:
    """Whether a file can be made there: a read-only disk says no only when it is tried."""
    trial = os.path.join(path, f".doctor-{os.getpid()}.tmp")
    try:
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        os.unlink(trial)
    except OSError:
        return False
    return True


def _format(ws: Workspace) -> Iterator[Check]:
    from mait_code.journal.home import format_fault

    fault = format_fault(ws.home)
    yield Check("format", FAIL, fault, "update mait-code") if fault else Check("format", OK, "format 1")


def _settings(_ws: Workspace) -> Iterator[Check]:
    from mait_code.journal import settings

    problems = [str(problem) for problem in settings.problems()]
    hint = "mend it with mait-code settings set, or in the file; the default is used meanwhile"
    for problem in problems:
        yield Check("settings", WARN, problem, hint)
    if not problems:
        yield Check("settings", OK, settings.path())


def _stores(ws: Workspace) -> Iterator[Check]:
    for name in NAMES:
        check = f"store-{name}"
        fault = store_fault(ws, name)
        store = ws.store(name)
        if fault:
            yield Check(check, FAIL, f"{store.path}: {fault}", "--fix makes it again from the journal")
        elif store.in_memory:
            yield Check(check, WARN, f"{store.path} cannot be written; it is folded anew each time", "check the disk")
        elif os.path.isfile(f"{store.path}.damaged"):
            message = f"{store.path} was damaged and made again from the journal"
            yield Check(check, WARN, message, f"what it was is in {store.path}.damaged: move it away when you like")
        else:
            yield Check(check, OK, store.path)


def _segments(ws: Workspace) -> Iterator[Check]:
    refused = dict(ws.home.unreadable)  # what folding met on its way
    count = 0
    try:
        present = segments.directories(ws.home.journal)
    except OSError as error:
        present, refused[ws.home.journal] = [], str(error.strerror)
    for directory in present:
        try:
            files = segments.in_directory(ws.home.journal, directory)
        except OSError as error:
            files, refused[os.path.join(ws.home.journal, directory)] = [], str(error.strerror)
        for name, _status in files:
            count += 1
            path = os.path.join(ws.home.journal, directory, name)
            try:
                segments.read_or_raise(path, 0, 1)
            except OSError as error:
                refused[path] = str(error.strerror)
    if refused:
        told = _some([f"{path}: {reason}" for path, reason in sorted(refused.items())])
        yield Check("segments", FAIL, f"cannot be read: {told}", "check the owner and permissions, and the disk")
    else:
        yield Check("segments", OK, "1 file of the journal" if count == 1 else f"{count} files of the journal")


_ABOUT_LINES: tuple[tuple[str, str, str], ...] = (
    (
        "bad",
        FAIL,
        "they are skipped; git has their earlier text, and --accept FILE:LINE takes one whose checksum is off",
    ),
    ("torn", WARN, "a writer was killed or a copy is not finished; the next write sets it apart, nothing else is lost"),
    ("newer", WARN, "they are kept, and read after an update of mait-code"),
    ("notes", WARN, "they were read; something rewrote the file, so check core.autocrlf and your editor"),
    ("accepted", OK, ""),
)


def _lines(ws: Workspace) -> Iterator[Check]:
    found = journal_check.lines(ws)
    clean = True
    for name, level, hint in _ABOUT_LINES:
        places: list[Place] = getattr(found, name)
        if places:
            clean = clean and level == OK
            told = _some([f"journal/{file}:{number}: {reason}" for file, number, reason in places])
            yield Check(f"lines-{name}", level, told, hint)
    if clean:
        count = ws.log.query("SELECT count(*) FROM lines")[0][0]
        yield Check("lines", OK, "1 line, which is sound" if count == 1 else f"{count} lines, all sound")


def _some(rows: list[str]) -> str:
    more = f" and {len(rows) - NAMED} more (mait-code verify lists them)" if len(rows) > NAMED else ""
    return "; ".join(rows[:NAMED]) + more


def _gaps(ws: Workspace) -> Iterator[Check]:
    if ws.home.unreadable:
        hint = "make the files readable first"
        yield Check("gaps", WARN, "cannot be told: a part of the journal cannot be read", hint)
        return
    found = journal_check.gaps(ws)
    for gap in found:
        span = f"event {gap.first}" if gap.first == gap.last else f"events {gap.first} to {gap.last}"
        verb = "is" if gap.first == gap.last else "are"
        hint = "sync with the machine that has them; a clone of the remote may too"
        yield Check("gaps", WARN, f"{span} of replica {gap.replica} {verb} missing", hint)
    if not found:
        yield Check("gaps", OK, "no event is missing")


def _gone(ws: Workspace) -> Iterator[Check]:
    count = len(gone_lines(ws))
    if count:
        yield Check(
            "gone", FAIL, f"{counted(count, 'event')} that were here: in no file now", "--fix writes them again"
        )
    else:
        yield Check("gone", OK, "every event that was folded is still there")


def _strangers(ws: Workspace) -> Iterator[Check]:
    found = list(segments.strangers(ws.home.journal))
    for path, reason in found:
        count = len(unseen(ws, path))
        if count:
            message = f"journal/{path}: {reason}, with {counted(count, 'event')} found nowhere else"
            yield Check("strangers", FAIL, message, "--fix adopts them")
        else:
            message = f"journal/{path}: {reason}; not read, and nothing new in it"
            yield Check("strangers", WARN, message, "move it away when you like")
    if not found:
        yield Check("strangers", OK, "nothing strange in the journal")


def _spool(ws: Workspace) -> Iterator[Check]:
    homes = (ws.home, ws.local_journal.home)
    damaged = [path for home in homes for path in spool.damaged(home)]
    waiting = sum(len(spool.waiting(home)) for home in homes)
    for path in damaged:
        yield Check("spool", WARN, f"{path} could not be read and was set aside", "look into it, then move it away")
    if waiting:
        message = f"{waiting} {'action' if waiting == 1 else 'actions'} of hooks not written yet"
        yield Check("spool", WARN, message, "any command that writes takes them in")
    elif not damaged:
        yield Check("spool", OK, "empty")


def _clocks(ws: Workspace) -> Iterator[Check]:
    ahead = [one for one in journal_check.replicas(ws) if one["clock_ahead_seconds"]]
    for one in ahead:
        name = one["label"] or one["replica"]
        message = f"the clock of {name} ran {times.span(one['clock_ahead_seconds'])} ahead of this machine's"
        yield Check("clocks", WARN, message, "set the clock that is wrong; the order of events is not harmed")
    if not ahead:
        yield Check("clocks", OK, "no machine's clock runs ahead")


def _git(ws: Workspace) -> Iterator[Check]:
    from mait_code.journal.repository import Repository

    repository = Repository(ws.home)
    if not repository.exists():
        message = "the data directory is no git repository: there is no sync and no history to go back to"
        yield Check("git", WARN, message, "mait-code init makes it one")
        return
    faults = repository.config_faults()
    for fault in faults:
        yield Check("git-settings", WARN, fault, "--fix sets it, in this repository only")
    if not faults:
        yield Check("git-settings", OK, "as sync needs them")
    clean = True
    for name, what in (("index.lock", "git was killed, or is at work"), ("MERGE_HEAD", "a merge is not finished")):
        path = repository.in_git(name)
        if os.path.exists(path):
            clean = False
            hint = "mait-code sync finishes a merge, and clears a lock that nobody holds any more"
            yield Check("git", WARN, f"{path}: {what}", hint)
    for message in _blocks_sync(repository):
        clean = False
        yield Check("sync", WARN, message, "commit yours with git, or move it away; until then nothing is exchanged")
    if clean:
        yield Check("git", OK, "nothing left half done")


def _blocks_sync(repository: Repository) -> Iterator[str]:
    """What the next sync will stop at, as far as it can be known without the network."""
    from mait_code.journal.sync import UNDERWAY, blocking

    for name, what in UNDERWAY.items():
        if os.path.exists(repository.in_git(name)):
            yield f"{what} is underway in {repository.home.data}"
            return
    if not repository.branch():
        yield f"{repository.home.data} has no branch checked out"
        return
    files = blocking(repository)
    if files:
        yield f"{_some(files)}: another machine's version would replace what is here and in no commit"


def _of(module: str) -> Look:
    """What a part's own module looks at, imported when it is its turn."""

    def look(ws: Workspace) -> Iterator[Check]:
        from importlib import import_module

        for name, level, message, hint in import_module(f"mait_code.commands.{module}").look(ws):
            yield Check(name, level, message, hint)

    return look


LOOKS: tuple[tuple[str, Look], ...] = (
    ("directories", _directories),
    ("format", _format),
    ("settings", _settings),
    ("stores", _stores),
    ("segments", _segments),
    ("lines", _lines),
    ("gaps", _gaps),
    ("gone", _gone),
    ("strangers", _strangers),
    ("spool", _spool),
    ("clocks", _clocks),
    ("git", _git),
    ("memory", _of("doctor_memory")),
    ("understanding", _of("doctor_understanding")),
    ("bridge", _of("doctor_bridge")),
    ("install", _of("doctor_install")),
)

fix = doctor_repairs.fix
accept = doctor_repairs.accept
