"""MEMORY.md: written from what is pinned, and what somebody wrote into it taken over first.

`adopt` before a command looks at memories, `write` after it: `refresh` is both. Where neither the file nor the journal has
changed that is a look at the file and one small file of state. The file is never written while it holds an edit that was not
taken over, nor while an editor has it open.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from mait_code.commands.memory_file_state import FILE, File, State, fill, is_open
from mait_code.journal.errors import Busy, MaitError
from mait_code.journal.home import make_directory
from mait_code.journal.lock import COMMAND_WAIT, Lock
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["adopt", "in_step", "refresh", "write"]

#: Seconds to wait for another process that is at the file; then it is left to that one.
_WAIT = 1.0
#: How often to take over and write again where somebody goes on saving.
_TRIES = 3
#: Grows when the same memories and text come out as other bytes, so that every file is written again.
_WRITTEN_AS = 2


def adopt(ws: Workspace, wait: float = COMMAND_WAIT) -> list[str]:
    """Take over what somebody did to the file since it was written. Returns what to tell. Never fails, as `refresh`."""
    file = File.of(ws.home)
    if file.missing or State(ws.home).is_of(file):
        return []
    return _at_it(ws, wait, writes=False)


@contextmanager
def in_step(ws: Workspace, tell: Callable[[str], None], adopts: bool = True) -> Iterator[None]:
    """Around a command that reads or changes memories: what was edited by hand counts before it, and the file shows what it
    did. `tell` gets what there is to tell. Without `adopts` for one that may come upon memories, as undo does: there is
    only a look afterwards, and only if it did."""
    for note in adopt(ws) if adopts else ():
        tell(note)
    yield
    for note in refresh(ws) if adopts or ws.has_open("memory") else ():
        tell(note)


def write(ws: Workspace) -> bool:
    """`refresh` for callers that tell nothing. Whether the file was written."""
    before = File.of(ws.home).stamp
    refresh(ws)
    return File.of(ws.home).stamp != before


def refresh(ws: Workspace, wait: float = COMMAND_WAIT) -> list[str]:
    """Take over what somebody did to the file, and write it where what is pinned has changed. Returns what to tell.

    It never fails: what hinders it is told, and left to the next command. `wait` is for the append lock, in seconds.
    """
    file, state = File.of(ws.home), State(ws.home)
    if state.is_of(file) or (file.missing and not state.was_written):
        store = ws.reading("memory")
        if store.behind or state.raw.get("token") == _token(store):
            return []
    return _at_it(ws, wait, writes=True)


def _token(store: Store) -> str:
    """Something that is another whenever events have been folded, or a newer program writes the file otherwise. It is asked
    for by every command, so nothing is loaded for it."""
    parts = store.query("SELECT count(*), total(size), total(lines), max(key) FROM segments")[0]
    return " ".join(map(str, (_WRITTEN_AS, *parts, store.missing(), store.largest_seen())))


def _at_it(ws: Workspace, wait: float, *, writes: bool) -> list[str]:
    notes: list[str] = []
    try:
        if not os.path.isdir(ws.home.state):
            make_directory(ws.home.state)
        lock = Lock(ws.home.in_state("memory-file.lock"))
        if not lock.acquire(min(wait, _WAIT)):
            return []
        try:
            for _ in range(_TRIES):
                file, state = File.of(ws.home), State(ws.home)
                file.read()
                if not _taken_over(ws, file, state, notes, wait) or not writes or _written(ws, file, state, notes):
                    break
        finally:
            lock.release()
    except Busy:
        return notes  # somebody else writes: the next command finds the file as it is
    except (MaitError, OSError) as error:
        what = error.message if isinstance(error, MaitError) else str(error.strerror)
        notes.append(f"{FILE} was left as it is: {what}")
    return notes


def _taken_over(ws: Workspace, file: File, state: State, notes: list[str], wait: float) -> bool:
    """Whether the file holds nothing any more that is not in the log, so that it may be written."""
    if file.fault:
        notes.append(f"{FILE} is neither read nor written: {file.fault}")
        return False
    if file.missing:
        return True
    if not file.content:
        # An editor that empties a file to fill it again, or a disk that was full: nobody means "forget all" by it.
        return not file.young
    if state.was_written and state.holds(file):
        if not state.is_of(file) and not file.young:
            state.save(file)
        return True
    from mait_code.commands import memory_adoption
    from mait_code.projections.memory_file import Bullet, parse
    from mait_code.projections.memory_file_edits import Written

    parsed = parse(file.text)
    free = hex_prefix(parsed.template.encode())
    bullets = [Written(Bullet(*bullet), ids) for *bullet, ids in state.raw.get("bullets", ())]
    last = memory_adoption.Last(state.was_written, bullets, state.raw.get("heads", []), free != state.raw.get("free"))
    done = memory_adoption.adopt(ws, last, parsed, wait)
    notes += done.notes
    state.save(
        file, token="", of="", free=free, heads=done.heads, bullets=[[*one.bullet, one.ids] for one in done.bullets]
    )  # fmt: skip
    return True


def _written(ws: Workspace, file: File, state: State, notes: list[str]) -> bool:
    """Write the file, whose content is all in the log. False where it was saved again meanwhile."""
    from mait_code.projections import memory_pins

    store = ws.reading("memory")
    if store.behind:
        return True
    token, pinned, document = _token(store), memory_pins.rows(store), store.state(memory_pins.DOCUMENT)
    made_of = hex_prefix(repr((_WRITTEN_AS, pinned, document)).encode("utf-8", "surrogatepass"))
    if state.raw.get("of") == made_of and (state.holds(file) if state.was_written else file.missing):
        if state.raw.get("token") != token:
            state.save(file, token=token, digest=state.raw["digest"])
        return True
    if file.missing and not pinned and document is None:
        state.save(file, token=token, digest="", of=made_of)
        return True
    from mait_code.projections import register
    from mait_code.projections.memory_file import DEFAULT, parse, render

    known = document or register.start()
    template = register.value(known, "text")
    text, placed = render(DEFAULT if template is None else str(template), memory_pins.entries(pinned))
    content = text.encode()
    if file.missing or content != file.content:
        if is_open(file.path):
            return True
        if not _put(file, content):
            return False
        if state.was_written and not file.content:
            notes.append(f"{FILE} was {'missing' if file.missing else 'empty'} and has been made again")
        file = File(file.path)
        file.content = content
    parsed = parse(text)
    bullets = [[*bullet, entry.ids] for bullet, entry in zip(parsed.bullets, placed, strict=True)]
    heads = register.heads_of(known).get("text", [])
    free = hex_prefix(parsed.template.encode())
    state.save(file, token=token, of=made_of, free=free, heads=heads, bullets=bullets)
    return True


def _put(file: File, content: bytes) -> bool:
    """Replace the file, unless it is not the one any more that was read."""
    directory = os.path.dirname(file.path)
    if not os.path.isdir(directory):
        make_directory(directory)
    temporary = f"{file.path}.{os.getpid()}.tmp"
    fill(temporary, content)
    if File(file.path).stamp != file.stamp:
        os.unlink(temporary)
        return False
    os.replace(temporary, file.path)
    return True
