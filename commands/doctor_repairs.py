"""Repairs. None throws anything away.

Events that are in no file any more are written again, copies that sync tools left are adopted, a store that is no sound
database any more is put aside and made again from the journal.
"""

from __future__ import annotations

import os
import stat

import apsw

from mait_code.commands import journal_check
from mait_code.commands.output import counted
from mait_code.journal import segments
from mait_code.journal.errors import BadInput, MaitError, NotFound, Refused
from mait_code.journal.event import BOM, Bad, Event, checksum_fault, parse
from mait_code.journal.tail import adopt
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mait_code.commands.workspace import Workspace

#: Bytes of a strange file that are read at most: more is no segment of ours, whatever its name.
LARGEST = 256 * 1024 * 1024


class Repairs:
    """What was repaired, and what could not be, each in words."""

    __slots__ = ("done", "failed")

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failed: list[str] = []


def fix(ws: Workspace) -> Repairs:
    """Repair what can be repaired without a decision. One that fails does not keep the others from being tried."""
    found = Repairs()
    repairs: tuple[Callable[[Workspace], Iterator[str]], ...] = (
        _fix_stores,
        _fix_gone,
        _fix_strangers,
        _fix_git,
        _fix_install,
    )
    for repair in repairs:
        try:
            for words in repair(ws):
                found.done.append(words)
        except MaitError as error:
            found.failed.append(f"{error.message}; {error.hint}" if error.hint else error.message)
        except (OSError, apsw.Error) as error:
            found.failed.append(str(error))
    return found


# -- stores -----------------------------------------------------------------------------------------------------------


def store_fault(ws: Workspace, name: str) -> str:
    """What SQLite finds wrong with a store's file; empty where it is sound."""
    try:
        result = ws.reading(name).db.pragma("quick_check")
    except apsw.Error as error:
        return str(error)
    return "" if result == "ok" else str(result).replace("\n", ", ")


def _fix_stores(ws: Workspace) -> Iterator[str]:
    for name in NAMES:
        if not store_fault(ws, name):
            continue
        store = ws.store(name)
        try:
            gone = [line for _id, line in store.gone()]
        except apsw.Error:
            gone = []  # that page is lost as well
        store.set_aside()
        ws.refreshed(name)
        yield f"made {name} again from the journal; what it was is in {store.path}.damaged"
        lines = _only_here(ws, gone)
        if lines:
            yield f"wrote {counted(len(lines), 'event')} again that only it held, in journal/{_adopt(ws, lines)}"


# -- events -----------------------------------------------------------------------------------------------------------


def gone_lines(ws: Workspace) -> list[tuple[str, bytes]]:
    """(id, line) of events that were folded once and are in no file now."""
    found: dict[str, bytes] = {}
    for name in NAMES:
        found.update(ws.reading(name).gone())
    return sorted(found.items())


def _fix_gone(ws: Workspace) -> Iterator[str]:
    lines = [line for _id, line in gone_lines(ws)]
    if lines:
        yield f"wrote {counted(len(lines), 'event')} again, in journal/{_adopt(ws, lines)}"


def _fix_strangers(ws: Workspace) -> Iterator[str]:
    for path, _reason in list(segments.strangers(ws.home.journal)):
        lines = unseen(ws, path)
        if lines:
            yield f"adopted {counted(len(lines), 'event')} of journal/{path} in journal/{_adopt(ws, lines)}"


def _adopt(ws: Workspace, lines: list[bytes]) -> str:
    """Adopt lines; what never left this machine does not now. Returns the directories' names."""
    own: list[bytes] = []
    staying: list[bytes] = []
    kept_here = segments.staying(ws.home.journal)
    for line in lines:
        event = parse(line)
        (staying if isinstance(event, Event) and event.replica in kept_here else own).append(line)
    made = []
    for journal, some in ((ws.journal, own), (ws.local_journal, staying)):
        if some:
            with journal.writing():
                made.append(adopt(journal.home, some))
    for name in NAMES:
        ws.refreshed(name)
    return ", journal/".join(made)


def unseen(ws: Workspace, path: str) -> list[bytes]:
    """The sound events that a file or directory which is not folded holds and the journal does not, each once."""
    lines: list[bytes] = []
    for content in _contents(os.path.join(ws.home.journal, path)):
        lines += [line.rstrip(b"\r").removeprefix(BOM) for line in content.split(b"\n")]
    return _only_here(ws, lines)


def _only_here(ws: Workspace, lines: list[bytes]) -> list[bytes]:
    events: dict[str, bytes] = {}
    for line in lines:
        event = parse(line)
        if isinstance(event, Event):
            events.setdefault(event.id, line)
    known = journal_check.present(ws, events)
    return [line for id_, line in events.items() if id_ not in known]


def _contents(path: str) -> Iterator[bytes]:
    """What a strange file holds, or the files in a strange directory. Links are followed to files only."""
    if os.path.isdir(path):
        if not os.path.islink(path):
            for place, _folders, names in os.walk(path):
                for name in sorted(names):
                    yield from _contents(os.path.join(place, name))
        return
    try:
        # Opened without waiting: the name may be a pipe's.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
            yield file.read()


# -- git --------------------------------------------------------------------------------------------------------------


def _fix_git(ws: Workspace) -> Iterator[str]:
    from mait_code.journal.repository import Repository

    repository = Repository(ws.home)
    if not repository.exists():
        return
    faults = repository.config_faults()
    if faults:
        repository.mend_settings()
    for fault in faults:
        name, _, rest = fault.partition(" is ")
        yield f"set {name} to {rest.rpartition('should be ')[2]} (it was {rest.partition(',')[0]})"


# -- one line ---------------------------------------------------------------------------------------------------------


def accept(ws: Workspace, where: str) -> Event:
    """Take a line whose only fault is its checksum, named as `journal/REPLICA/000001.jsonl:12`.

    It is written again with its checksum set right. Raises Refused where the line has another fault.
    """
    file, _, number = where.rpartition(":")
    if not (number.isascii() and number.isdecimal()):
        raise BadInput(f"{where!r} is no FILE:LINE", "give it as mait-code doctor prints it")
    file = os.path.abspath(file).removeprefix(os.path.abspath(ws.home.journal) + "/") if os.path.isabs(file) else file
    directory, _, name = file.removeprefix("journal/").partition("/")
    known = directory in segments.directories(ws.home.journal) and segments.is_segment(name)
    content = segments.read(os.path.join(ws.home.journal, directory, name)) if known else None
    rows = (content or b"").split(b"\n")
    if not 0 < int(number) <= len(rows) or not rows[int(number) - 1]:
        raise NotFound(f"there is no line {where}", "mait-code doctor names the lines")
    line = rows[int(number) - 1].rstrip(b"\r").removeprefix(BOM)
    if checksum_fault(line) != "checksum":
        raise Refused(f"{where} is not a line with a wrong checksum", "mait-code verify names each line's fault")
    mended = _with_right_checksum(line)
    event = parse(mended)
    if isinstance(event, Bad):
        raise Refused(f"{where}: {event.reason}", "only a line that is sound but for its checksum can be accepted")
    if journal_check.present(ws, [event.id]):
        raise Refused(f"{where}: event {event.id[:8]} stands in the journal already", "there is nothing to accept")
    _adopt(ws, [mended])
    return event


def _with_right_checksum(line: bytes) -> bytes:
    from mait_code.journal.sha import hex_prefix

    start = line.find(b',"sum":"')
    end = line.index(b'"', start + 8) + 1
    return line[:start] + b',"sum":"' + hex_prefix(line[:start] + line[end:]).encode() + b'"' + line[end:]


# -- what is in Claude Code -----------------------------------------------------------------------------------------------


def _fix_install(ws: Workspace) -> Iterator[str]:
    from mait_code.commands import doctor_install

    yield from doctor_install.fix(ws)
