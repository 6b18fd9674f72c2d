"""Sessions that began and were never seen to end: the client was killed, or the machine went down.

Each session that starts leaves a cursor that says which process it runs in. Whoever starts next completes the record of those
whose process is gone.
"""

from __future__ import annotations

import os
import time

from mait_code.commands.capture import cursors, recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.capture.cursors import Cursor
    from mait_code.commands.workspace import Workspace

#: Seconds after which a transcript nobody writes is taken for ended, where its process is not known.
_LONG_AGO = 12 * 3600
#: Seconds after which the cursor of a transcript that is not there is dropped.
_FORGOTTEN = 40 * 86400
#: What is recorded as the reason of such an end.
REASON = "lost"


def note(ws: Workspace, path: str) -> None:
    """A session has begun, or goes on: its transcript is watched from here on."""
    cursor = cursors.load(ws.home, path)
    pid = os.environ.get("CLAUDE_PID", "")
    cursor.pid = int(pid) if pid.isascii() and pid.isdigit() and len(pid) < 10 else 0
    cursor.closed = False
    cursors.store(ws.home, cursor)


def complete_unfinished(ws: Workspace) -> list[str]:
    """Complete the record of sessions that are over. Returns the transcripts that held something new."""
    found = []
    for cursor in cursors.every(ws.home):
        try:
            status = os.stat(cursor.path)
        except OSError:
            cursors.drop_if_old(ws.home, cursor, _FORGOTTEN)
            continue
        if cursor.closed and status.st_size == cursor.size:
            continue
        if not cursors.is_agent(cursor.path) and _is_over(cursor, status.st_mtime):
            # The client writes a little after it has told of the end.
            recording.record(ws, cursor.path, reason=None if cursor.closed else REASON, closes=True)
            found.append(cursor.path)
    return found


def not_handed_over(ws: Workspace) -> list[str]:
    """Transcripts of sessions that ended, of which nobody has seen to that they are understood: who was to do it was
    killed."""
    return [
        cursor.path
        for cursor in cursors.every(ws.home)
        if cursor.closed
        and cursor.handed != cursor.size
        and not cursors.is_agent(cursor.path)
        and os.path.exists(cursor.path)
    ]


def hand_over(ws: Workspace, path: str, size: int) -> None:
    """A transcript is understood up to a size, or it is noted elsewhere what is left of it."""
    cursor = cursors.load(ws.home, path)
    if cursor.size:
        cursor.handed = size
        cursors.store(ws.home, cursor)


def _is_over(cursor: Cursor, written: float) -> bool:
    if not cursor.pid:
        return time.time() - written > _LONG_AGO
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    if clock is not None and written < time.time() - time.clock_gettime(clock):
        return True  # written before this machine started: another process has that number now
    try:
        os.kill(cursor.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
