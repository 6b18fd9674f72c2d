"""One sync at a time on one machine, and what a sync that was killed left behind."""

from __future__ import annotations

import os
import re
import time

from mait_code.journal import segments
from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.home import PRIVATE_FILE
from mait_code.journal.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from mait_code.journal.git import Git

#: A lock file made within so many seconds of the start of a sync that was killed is that sync's.
KILLED_SPAN = 600.0
_NUMBER = re.compile(rb"[0-9]+\.[0-9]+")


class _Inherited(Lock):
    """One sync at a time. The git processes it starts hold it too, so it is free only when the last of them has
    ended."""

    @property
    def handle(self) -> int:
        return self._handle


class Running:
    """The time of one sync: the lock, and a mark with its start. Marks that are found are of syncs that were killed."""

    def __init__(self, repository: Git, wait: float) -> None:
        self._repository = repository
        self._wait = wait
        self._lock = _Inherited(repository.home.in_state("sync.lock"))
        self._mark = repository.home.in_state("sync.running")

    def __enter__(self) -> None:
        if not self._lock.acquire(self._wait):
            raise Busy(f"another sync is running: {self._lock.holder()}", "wait for it; nothing is lost")
        self._lock.name_holder()
        killed = [
            float(line) for line in (segments.read(self._mark) or b"").split(b"\n")[:-1] if _NUMBER.fullmatch(line)
        ]
        self._repository.held = self._lock.handle
        self._repository.is_stale = lambda lock: _is_stale(lock, killed)
        try:
            handle = os.open(self._mark, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE_FILE)
            try:
                os.write(handle, b"%.3f\n" % time.time())
            finally:
                os.close(handle)
        except OSError as error:
            self._lock.release()
            raise DiskRefused(
                f"cannot write {self._mark}: {error.strerror}", "check free space and permissions"
            ) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._repository.held = -1
        try:
            os.unlink(self._mark)
        finally:
            self._lock.release()


def _is_stale(lock: str, killed: list[float]) -> bool:
    """Whether a lock file is from before this machine started, or from the minutes of a sync of ours that was
    killed."""
    try:
        made = os.stat(lock).st_mtime
    except FileNotFoundError:
        return False
    if any(-1.0 < made - start < KILLED_SPAN for start in killed):
        return True
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return clock is not None and made < time.time() - time.clock_gettime(clock) - 5.0
