"""The git processes themselves: started so that nothing can ask a question, and ended with all they started.

No other module of the product starts git.
"""

from __future__ import annotations

import os

from mait_code.journal.errors import GitFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from subprocess import Popen


class Answer:
    """What git said: exit code, standard output, complaint (standard error). `silent` when it was cut off."""

    __slots__ = ("code", "complaint", "out", "silent")

    def __init__(self, code: int, out: bytes, complaint: str, silent: bool = False) -> None:
        self.code = code
        self.out = out
        self.complaint = complaint
        self.silent = silent


def start(command: list[str], environment: Mapping[str, str], where: str, umask: int, held: int) -> Popen[bytes]:
    """Start git. `umask` -1 leaves it as it is; `held` is a descriptor that the process inherits, or -1."""
    from subprocess import PIPE, Popen

    try:
        # In a session of its own nothing can ask on the terminal, and the whole group can be ended at once.
        return Popen(
            command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            cwd=where,
            umask=umask,
            pass_fds=(held,) if held >= 0 else (),
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise GitFailed(
            "git is not installed: no such program on PATH", "install git; only syncing needs it"
        ) from error
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}", "check the git program on PATH") from error


def finish(process: Popen[bytes], given: bytes) -> Answer:
    """Give the process its input and wait for its end."""
    try:
        out, complaint = process.communicate(given)
    except BaseException:
        _end(process)
        raise
    return Answer(process.returncode, out, complaint.decode("utf-8", "replace"))


def listen(process: Popen[bytes], silence: float) -> Answer:
    """Collect what a remote command prints; end it when it says nothing for `silence` seconds."""
    import selectors
    import time

    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    got = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    heard = time.monotonic()
    silent = False
    try:
        with selectors.DefaultSelector() as pipes:
            for handle in got:
                pipes.register(handle, selectors.EVENT_READ)
            while pipes.get_map() and not silent:
                ready = pipes.select(0.2)
                for key, _events in ready:
                    heard = time.monotonic()
                    part = os.read(key.fd, 65536)
                    got[key.fd] += part
                    if not part:
                        pipes.unregister(key.fd)
                # A helper that stays behind (a credential cache) may hold our pipes open after git has ended.
                if not ready and process.poll() is not None:
                    break
                silent = time.monotonic() - heard > silence
        if not silent:
            process.wait()
    finally:
        _end(process)
    out, complaint = got.values()
    return Answer(process.returncode, bytes(out), complaint.decode("utf-8", "replace"), silent)


def _end(process: Popen[bytes]) -> None:
    """End a git process with all it started, and close its pipes. One that has ended is only collected."""
    import signal
    from subprocess import TimeoutExpired

    for wish in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            break
        try:
            os.killpg(process.pid, wish)
            process.wait(2)
        except (ProcessLookupError, TimeoutExpired):
            continue
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
