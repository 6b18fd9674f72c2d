"""Advisory locks between the processes of one machine (`flock`): held by a file descriptor, so a killed holder lets go."""

from __future__ import annotations

import errno
import fcntl
import os
import time

from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.home import PRIVATE_FILE, make_way

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

#: How long a command waits for the append lock, and how long a hook does, in seconds.
COMMAND_WAIT = 5.0
HOOK_WAIT = 0.2


class Lock:
    """An exclusive lock on a file of the state directory. `acquire` says whether it was got in time."""

    __slots__ = ("_handle", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._handle = -1

    def acquire(self, wait: float) -> bool:
        """Take the lock within `wait` seconds. A read-only state directory raises DiskRefused."""
        handle = self._open()
        deadline = time.monotonic() + wait
        pause = 0.001
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                    os.close(handle)
                    raise DiskRefused(
                        f"cannot lock {self.path}: {error.strerror}", "use a file system with locks"
                    ) from error
                left = deadline - time.monotonic()
                if left <= 0:
                    os.close(handle)
                    return False
                time.sleep(min(pause, left))
                pause = min(pause * 1.5, 0.02)
                continue
            except BaseException:
                os.close(handle)
                raise
            if self._is_in_place(handle) or time.monotonic() > deadline:
                self._handle = handle
                return True
            # The file was removed while we waited, and those who come now lock another.
            os.close(handle)
            handle = self._open()

    def _is_in_place(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _open(self) -> int:
        try:
            if os.path.isdir(self.path):
                make_way(self.path)
            return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE_FILE)
        except OSError as error:
            raise DiskRefused(
                f"cannot open {self.path}: {error.strerror}", "check free space and permissions"
            ) from error

    def name_holder(self) -> None:
        """Leave our process id in the file, so that whoever waits can be told who holds it."""
        try:
            os.pwrite(self._handle, f"{os.getpid():<20d}\n".encode(), 0)
        except OSError:
            return  # a disk that has no room for a name may still have room for what we came to write

    def holder(self) -> str:
        """Who holds the lock, and which file it is, as words for a message."""
        pid = self._locked_by() or self._named()
        return f"{f'process {pid}' if pid else 'another process'} (lock file {self.path})"

    def _named(self) -> str:
        """Who left its name in the file."""
        try:
            with open(self.path, "rb") as file:
                pid = file.read(20).strip().decode("ascii", "replace")
        except OSError:
            return ""
        return pid if pid.isdigit() else ""

    def _locked_by(self) -> str:
        """Who holds the lock as the kernel has it (Linux): what is not ours leaves no name, and one that is left may be of
        somebody who has ended."""
        try:
            inode = os.stat(self.path).st_ino
            with open("/proc/locks", encoding="ascii") as file:
                rows = [line.split() for line in file]
        except (OSError, UnicodeDecodeError):
            return ""
        for row in rows:
            # "1: FLOCK  ADVISORY  WRITE 1234 08:01:131090 0 EOF"; one that waits has an arrow behind its number
            if len(row) > 5 and row[1] == "FLOCK" and row[5].rpartition(":")[2] == str(inode):
                return row[4] if os.path.exists(f"/proc/{row[4]}") else ""
        return ""

    def release(self) -> None:
        """Let go. Calling it twice does no harm."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        if not self.acquire(COMMAND_WAIT):
            raise Busy(f"a lock is held by {self.holder()}", "try again when it has ended")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
