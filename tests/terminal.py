"""A real terminal in tests: `mait-code` on a pseudo-terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None, size: tuple[int, int] = (80, 24)) -> None:
        command = [sys.executable, "-m", "mait_code.commands.cli.main", *arguments]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update({"TERM": "xterm-256color", **(env or {})})
            os.execv(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.out = b""

    def until(self, text: bytes, seconds: float = 15) -> None:
        end = time.monotonic() + seconds
        while text not in self.out:
            if not self.look(0.1):
                break
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"{text!r} did not come: {self.out[-2000:]!r}")

    def look(self, seconds: float = 0) -> bool:
        """Read what was written meanwhile: a program whose terminal nobody reads stands still. False where it has ended."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if ready:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:  # as Linux says that nobody is at the other end
                return False
            self.out += piece
            return bool(piece)
        return True

    def write(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def end(self, seconds: float = 15) -> int:
        """Read to the end; the exit code. A program that does not end is killed."""
        end = time.monotonic() + seconds
        while self.look(0.1):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)
