"""Watching the journal: a line that another process appends, or that sync brings, is told within half a second."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sized

__all__ = ["Watcher"]

#: Milliseconds: changes that come within one step of each other are told together, after the longest wait at the latest.
_STEP, _LONGEST = 40, 300
#: Milliseconds without a change after which the watch says that it stands.
_QUIET = 250
#: Seconds between looks for a journal that is not there yet.
_LOOK = 0.5


class Watcher:
    """Calls `changed` from a thread of its own at each change below `directory`, or with `recursive` False in it, from
    `start` to `stop`."""

    def __init__(self, directory: str, changed: Callable[[], None], recursive: bool = True) -> None:
        self._directory = directory
        self._recursive = recursive
        self._changed = changed
        self._stop = threading.Event()
        #: Whether the watch stands: from now on nothing is missed.
        self.watching = False
        self._thread = threading.Thread(target=self._watch, name="watcher", daemon=True)

    def start(self) -> None:
        """Begin to watch. A journal that is not there yet is waited for."""
        self._thread.start()

    def stop(self) -> None:
        """Tell nothing more."""
        self._stop.set()

    def _watch(self) -> None:
        polls = False
        while not self._stop.is_set():
            inode = _inode(self._directory)
            if not inode:
                self._stop.wait(_LOOK)
                continue
            try:
                self._tell_while_it_stands(inode, polls)
            except OSError:
                # Out of inotify watches, a file system without them, or the directory went away under us.
                polls = True
                self._stop.wait(_LOOK)

    def _tell_while_it_stands(self, inode: int, polls: bool) -> None:
        for changes in self._changes(polls):
            if not changes and self.watching:
                if _inode(self._directory) != inode:
                    break  # another directory of that name: the watch is on the old one
                continue
            self.watching = True
            self._changed()  # the first time for what happened before the watch stood
        self.watching = False

    def _changes(self, poll: bool) -> Iterator[Sized]:
        from watchfiles import watch

        return watch(
            self._directory,
            watch_filter=None,
            debounce=_LONGEST,
            step=_STEP,
            stop_event=self._stop,
            rust_timeout=_QUIET,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=poll,
            poll_delay_ms=300,
            recursive=self._recursive,
        )


def _inode(directory: str) -> int:
    try:
        return os.stat(directory).st_ino
    except OSError:
        return 0
