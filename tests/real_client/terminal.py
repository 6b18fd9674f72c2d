"""The client in a terminal, typed to as a person does."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from real_client.machine import Machine

#: What moves the cursor and sets colours.
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()=>][A-Z0-9]?")
_ROWS, _COLUMNS = 50, 140


class Terminal:
    """A session in a terminal; use it as a context manager."""

    def __init__(self, machine: Machine, *arguments: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [machine.claude, *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=machine.project,
            env=machine.environment,
            start_new_session=True,
        )
        os.close(theirs)
        self._shown = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=10)
        os.close(self._ours)

    def type(self, text: str) -> None:
        """Type a line and send it, once it is seen to be there."""
        self._shown = b""
        os.write(self._ours, text.encode())
        self.shows(text)
        self._shown = b""
        os.write(self._ours, b"\r")

    def shows(self, text: str) -> None:
        """Wait until something is on the screen that was not there when the last line was sent."""
        wanted = "".join(text.split())
        self.until(f"{text} is shown", lambda: wanted in self.text)

    def until(self, what: str, seen: Callable[[], object], seconds: float = 20) -> None:
        """Wait for anything, and read on meanwhile: a client that nobody reads from stands still."""
        end = time.monotonic() + seconds
        while not seen():
            assert time.monotonic() < end, f"not within {seconds} s: {what}\n{self.text}"
            self._read(0.1)

    def ended(self) -> int:
        """Wait until the client is gone, and return its exit code."""
        self.until("the client ends", lambda: self._process.poll() is not None)
        return self._process.wait()

    @property
    def text(self) -> str:
        """What was shown, without colours; and without blanks, which the cursor passes over in many ways."""
        return "".join(_CONTROL.sub(b"", self._shown).decode("utf-8", "replace").split())

    def _read(self, seconds: float) -> None:
        """Take what comes within some time."""
        if select.select([self._ours], [], [], seconds)[0]:
            try:
                self._shown += os.read(self._ours, 65536)
            except OSError:
                time.sleep(seconds)  # the client has closed its end
