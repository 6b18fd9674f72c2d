"""The file behind a store: opening it, and putting a damaged one out of the way so that it is made again.

Several processes may find the same file damaged at once, while others open it. Opening shares a lock, putting away
excludes: nobody ever has the main file of one store and the write-ahead log of the next.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from contextlib import contextmanager

import apsw
import orjson

from mait_code.journal.home import PRIVATE_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WRITER_WAIT_MS = 5000
#: What SQLite keeps beside a file: the write-ahead log with its index, and what undoes a write that broke off.
BESIDE = ("-wal", "-shm", "-journal")
#: Putting a file away takes a moment; nobody waits longer than this for a process that was stopped while doing it.
_LOCK_WAIT = 1.0


_NO_LOCK = frozenset(
    {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT, errno.EISDIR, errno.ENOLCK, errno.ENOTSUP}
)


class Damaged(Exception):  # noqa: N818
    """A store's file is sound SQLite, and does not hold what a store holds."""


#: What SQLite says of a file that is no sound database any more, and what we say of its contents.
#: A constraint that does not hold means rows without their state, or the other way round: nobody writes one alone.
LOST = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.ConstraintError, Damaged)
NO_ROOM = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)
BUSY = (apsw.BusyError, apsw.ProtocolError)
#: Everything that may mean damage; `is_damage` tells.
SUSPECT = (*LOST, apsw.SQLError, orjson.JSONDecodeError, UnicodeDecodeError)
#: Our own SQL is right, so a file where it does not fit is not ours, or somebody has been at it.
_MISFITS = ("no such table", "no such column", "no such index", "table ", "index ", "view ")


def is_damage(error: BaseException) -> bool:
    """Whether an error means that the store must be made again."""
    return not isinstance(error, apsw.SQLError) or str(error).startswith(_MISFITS)


def connect(path: str) -> tuple[apsw.Connection, int]:
    """Open a store's file, made where it is missing. Returns it with the inode that was opened.

    Raises one of LOST, NO_ROOM and BUSY, or OSError.
    """
    with _lock(path, fcntl.LOCK_SH):
        inode = _make(path)
        db = apsw.Connection(path)
        try:
            db.set_busy_timeout(WRITER_WAIT_MS)
            # The write-ahead log is not folded back at every close: a command must not wait for a disk.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            # The first reading opens the write-ahead log beside the file, so both are of one store.
            log_ahead(db)
            db.pragma("user_version")
            db.pragma("synchronous", "normal")
            db.pragma("wal_autocheckpoint", 0)  # the store does it when the log has grown, see Store._bound_log
        except BaseException:
            db.close()
            raise
    return db, inode


def log_ahead(db: apsw.Connection) -> None:
    """Have a file keep a write-ahead log, so that readers and a writer do not wait for each other. A file that another
    process is filling (`write_through`) is left as it is: it gets its log afterwards, or when it is opened next."""
    if db.pragma("journal_mode") != "wal":
        _try_mode(db, "wal")


def write_through(db: apsw.Connection) -> None:
    """Have an empty file filled without its log, through which every page would be written twice. Where another process
    has it open it keeps the log."""
    _try_mode(db, "delete")


def _try_mode(db: apsw.Connection, mode: str) -> None:
    db.set_busy_timeout(0)
    try:
        db.pragma("journal_mode", mode)
    except apsw.BusyError:
        return
    finally:
        db.set_busy_timeout(WRITER_WAIT_MS)


def in_memory() -> apsw.Connection:
    """A store without a file."""
    return apsw.Connection(":memory:")


def _make(path: str) -> int:
    """Make an empty file, private to the user, where there is none. Returns its inode."""
    if any(_is_in_the_way(path + ending) for ending in BESIDE):
        raise Damaged(f"something stands where the log of {path} belongs")
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, PRIVATE_FILE)
    except FileExistsError:
        if _is_in_the_way(path):
            raise Damaged(f"{path} is no file") from None
        return os.stat(path).st_ino
    try:
        return os.fstat(handle).st_ino
    finally:
        os.close(handle)


def _is_in_the_way(path: str) -> bool:
    """Whether something that is no file has the name of one: a directory, a pipe, a link to nowhere."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return os.path.islink(path)


def set_aside(path: str, inode: int) -> None:
    """Move a damaged file away, never deleting it unseen, with the logs that belong to it.

    `inode` is the file that was found damaged; where another process has put it away already, its successor stays.
    """
    with _lock(path, fcntl.LOCK_EX):
        try:
            present = os.stat(path, follow_symlinks=not os.path.islink(path)).st_ino
        except FileNotFoundError:
            present = 0
        if inode and present and present != inode:
            return
        for ending in BESIDE:
            if os.path.isdir(path + ending):
                os.replace(path + ending, _free_name(path + ending))
            elif os.path.lexists(path + ending):
                os.unlink(path + ending)
        if present:
            os.replace(path, _free_name(path))


def _free_name(path: str) -> str:
    """The last damaged file is kept under one name; what stands there and is no file is left alone."""
    name = f"{path}.damaged"
    return f"{path}.{time.time_ns()}.damaged" if os.path.lexists(name) and not os.path.isfile(name) else name


@contextmanager
def _lock(path: str, how: int) -> Iterator[None]:
    """Hold the lock that keeps opening and putting away apart. Where the disk refuses it, nothing can be put away."""
    handle = -1
    lock = os.path.join(os.path.dirname(path), "stores.lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        _take(handle, how)
    except OSError as error:
        if error.errno not in _NO_LOCK:
            raise
    try:
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _take(handle: int, how: int) -> None:
    deadline = time.monotonic() + _LOCK_WAIT
    while time.monotonic() < deadline:
        try:
            fcntl.flock(handle, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.002)
