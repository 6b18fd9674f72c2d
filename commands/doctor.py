"""Looking for trouble in the data, the stores and what surrounds them, and repairing what can be repaired safely.

A repair never throws anything away: events that are in no file any more are written again, copies that sync tools left are
adopted, a store that is no database any more is made again from the journal.
"""

from __future__ import annotations

import os

from mait_code.commands import journal_check
from mait_code.journal import segments, spool
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.journal.event import BOM, Bad, Event, checksum_fault, parse
from mait_code.journal.writing import adopt
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace

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
        return {"name": self.name, "level": self.level, "message": self.message, "fix_hint": self.hint or None}


def examine(ws: Workspace) -> list[Check]:
    """Every check of the journal part, in order."""
    checks: list[Check] = []
    for look in (_directories, _format, _settings, _stores, _lines, _gaps, _gone, _strangers, _spool, _clocks, _git):
        checks.extend(look(ws))
    return checks


def _directories(ws: Workspace) -> Iterator[Check]:
    for name, path in (("data-dir", ws.home.data), ("state-dir", ws.home.state)):
        if not os.path.isdir(path):
            yield Check(name, WARN, f"{path} is not there yet", "the first command that writes makes it")
        elif not os.access(path, os.W_OK | os.X_OK):
            yield Check(name, FAIL, f"{path} cannot be written", "check its owner and permissions; reading goes on")
        else:
            yield Check(name, OK, path)


def _format(ws: Workspace) -> Iterator[Check]:
    from mait_code.journal.home import format_fault

    fault = format_fault(ws.home)
    yield Check("format", FAIL, fault, "update mait-code") if fault else Check("format", OK, "format 1")


def _settings(ws: Workspace) -> Iterator[Check]:
    from mait_code.journal import settings

    problems = [str(problem) for problem in settings.problems()]
    for problem in problems:
        yield Check(
            "settings", WARN, problem, "mend it with `settings set`, or in the file; the default is used meanwhile"
        )
    if not problems:
        yield Check("settings", OK, settings.path())


def _stores(ws: Workspace) -> Iterator[Check]:
    for name in NAMES:
        store = ws.reading(name)
        if store.in_memory:
            yield Check(
                f"store-{name}", WARN, f"{store.path} cannot be written; folded in memory each time", "free space"
            )
            continue
        result = store.db.pragma("quick_check")
        if result == "ok":
            yield Check(f"store-{name}", OK, store.path)
        else:
            yield Check(f"store-{name}", FAIL, f"{store.path}: {result}", "--fix makes it again from the journal")


def _lines(ws: Workspace) -> Iterator[Check]:
    problems = ws.log.problems()
    for severity, level, hint in (
        (
            "bad",
            FAIL,
            "they are skipped; git has their earlier text, and `--accept FILE:LINE` takes one whose checksum is off",
        ),
        ("newer", WARN, "they are kept and read after an update of mait-code"),
        ("note", WARN, "they were read; something rewrote the file, so check core.autocrlf and your editor"),
    ):
        rows = [f"journal/{file}:{number}: {reason}" for file, number, kind, reason in problems if kind == severity]
        if rows:
            more = f" and {len(rows) - NAMED} more (`verify` lists them)" if len(rows) > NAMED else ""
            yield Check(f"lines-{severity}", level, "; ".join(rows[:NAMED]) + more, hint)
    if not problems:
        yield Check("lines", OK, f"{ws.log.query('SELECT count(*) FROM lines')[0][0]} lines, all sound")


def _gaps(ws: Workspace) -> Iterator[Check]:
    found = journal_check.gaps(ws)
    for gap in found:
        yield Check(
            "gaps", WARN, f"events {gap.first} to {gap.last} of replica {gap.replica} are missing",
            "sync with the machine that has them; a clone of the remote may too",
        )  # fmt: skip
    if not found:
        yield Check("gaps", OK, "no event is missing")


def _gone(ws: Workspace) -> Iterator[Check]:
    count = len(_gone_lines(ws))
    if count:
        yield Check("gone", FAIL, f"{count} events that were here are in no file now", "--fix writes them again")
    else:
        yield Check("gone", OK, "every event that was folded is still there")


def _strangers(ws: Workspace) -> Iterator[Check]:
    found = list(segments.strangers(ws.home.journal))
    for path, reason in found:
        unseen = len(_unseen(ws, path))
        if unseen:
            yield Check(
                "strangers",
                FAIL,
                f"journal/{path}: {reason}, with {unseen} events found nowhere else",
                "--fix adopts them",
            )
        else:
            yield Check(
                "strangers",
                WARN,
                f"journal/{path}: {reason}; not read, nothing new in it",
                "move it away when you like",
            )
    if not found:
        yield Check("strangers", OK, "nothing strange in the journal")


def _spool(ws: Workspace) -> Iterator[Check]:
    for path in spool.damaged(ws.home):
        yield Check("spool", WARN, f"{path} could not be read and was set aside", "look into it, then move it away")
    waiting = len(spool.waiting(ws.home))
    if waiting:
        yield Check(
            "spool", WARN, f"{waiting} actions of hooks wait to be written", "any command that writes takes them in"
        )
    elif not spool.damaged(ws.home):
        yield Check("spool", OK, "empty")


def _clocks(ws: Workspace) -> Iterator[Check]:
    ahead = [one for one in journal_check.replicas(ws) if one["clock_ahead_seconds"]]
    for one in ahead:
        name = one["label"] or one["replica"]
        yield Check(
            "clocks", WARN, f"the clock of {name} ran {one['clock_ahead_seconds']} s ahead", "set that machine's clock"
        )
    if not ahead:
        yield Check("clocks", OK, "no machine's clock runs ahead")


def _git(ws: Workspace) -> Iterator[Check]:
    from mait_code.journal.repository import Repository

    repository = Repository(ws.home)
    if not repository.exists():
        yield Check(
            "git", WARN, "the data directory is no git repository: there is no sync and no backup", "run `init`"
        )
        return
    faults = repository.config_faults()
    for fault in faults:
        yield Check("git-settings", WARN, fault, "--fix sets it, in this repository only")
    if not faults:
        yield Check("git-settings", OK, "as sync needs them")
    for name, what in (("index.lock", "git was killed, or is at work"), ("MERGE_HEAD", "a merge is not finished")):
        path = ws.home.in_data(f".git/{name}")
        if os.path.exists(path):
            yield Check("git", WARN, f"{path}: {what}", "`sync` finishes a merge; a lock left behind can be moved away")


# -- repairs ----------------------------------------------------------------------------------------------------------


def fix(ws: Workspace) -> list[str]:
    """Repair what can be repaired without a decision. Returns what was done, in words."""
    done: list[str] = []
    repairs: tuple[Callable[[Workspace], list[str]], ...] = (_fix_stores, _fix_gone, _fix_strangers, _fix_git)
    for repair in repairs:
        done.extend(repair(ws))
    return done


def _fix_stores(ws: Workspace) -> list[str]:
    broken = [
        name for name in NAMES if not ws.store(name).in_memory and ws.reading(name).db.pragma("quick_check") != "ok"
    ]
    for name in broken:
        ws.store(name).set_aside()
        ws.refreshed(name)
    return [f"made {name} again" for name in broken]


def _gone_lines(ws: Workspace) -> list[tuple[str, bytes]]:
    found: dict[str, bytes] = {}
    for name in NAMES:
        found.update(ws.reading(name).gone())
    return sorted(found.items())


def _fix_gone(ws: Workspace) -> list[str]:
    lines = [line for _id, line in _gone_lines(ws)]
    if not lines:
        return []
    return [f"wrote {len(lines)} events again, in journal/{_adopt(ws, lines)}"]


def _fix_strangers(ws: Workspace) -> list[str]:
    done = []
    for path, _reason in list(segments.strangers(ws.home.journal)):
        lines = _unseen(ws, path)
        if lines:
            done.append(f"adopted {len(lines)} events of journal/{path} in journal/{_adopt(ws, lines)}")
    return done


def _fix_git(ws: Workspace) -> list[str]:
    from mait_code.journal.repository import Repository

    repository = Repository(ws.home)
    if not repository.exists():
        return []
    faults = repository.config_faults()
    if faults:
        repository.mend_settings()
    return [f"set {fault}" for fault in faults]


def _adopt(ws: Workspace, lines: list[bytes]) -> str:
    with ws.journal.writing():
        directory = adopt(ws.home, lines)
    for name in NAMES:
        ws.refreshed(name)
    return directory


def _unseen(ws: Workspace, path: str) -> list[bytes]:
    """The sound events of a file that is not folded whose ids stand nowhere in the journal."""
    full = os.path.join(ws.home.journal, path)
    if os.path.isdir(full):
        return []
    try:
        with open(full, "rb") as file:
            content = file.read()
    except OSError:
        return []
    log, found = ws.log, []
    for line in dict.fromkeys(content.split(b"\n")):
        event = parse(line)
        if isinstance(event, Event) and not log.query("SELECT 1 FROM lines WHERE id = ? LIMIT 1", (event.id,)):
            found.append(line.rstrip(b"\r").removeprefix(BOM))
    return found


def accept(ws: Workspace, where: str) -> Event:
    """Take a line whose only fault is its checksum, named as `journal/REPLICA/000001.jsonl:12`: it is written again, with
    its checksum set right. Raises Refused where the line has another fault."""
    file, _, number = where.rpartition(":")
    if not number.isdecimal():
        raise BadInput(f"{where!r} is no FILE:LINE", "give it as `doctor` prints it")
    file = file.removeprefix("journal/")
    directory, _, name = file.partition("/")
    content = segments.read(os.path.join(ws.home.journal, directory, name)) if segments.is_segment(name) else None
    rows = (content or b"").split(b"\n")
    if not 0 < int(number) <= len(rows):
        raise NotFound(f"there is no line {where}", "`doctor` names the lines")
    line = rows[int(number) - 1].rstrip(b"\r").removeprefix(BOM)
    if checksum_fault(line) != "checksum":
        raise Refused(f"{where} is not a line with a wrong checksum", "`verify` names each line's fault")
    mended = _with_right_checksum(line)
    event = parse(mended)
    if isinstance(event, Bad):
        raise Refused(f"{where}: {event.reason}", "only a line that is sound but for its checksum can be accepted")
    _adopt(ws, [mended])
    return event


def _with_right_checksum(line: bytes) -> bytes:
    from mait_code.journal.sha import hex_prefix

    start = line.find(b',"sum":"')
    end = line.index(b'"', start + 8) + 1
    return line[:start] + b',"sum":"' + hex_prefix(line[:start] + line[end:]).encode() + b'"' + line[end:]
