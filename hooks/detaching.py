"""Work that goes on when a hook has answered: in a process of its own, without its terminal, for ten minutes at most."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Seconds after which a worker is ended, whatever it is doing.
LONGEST = 600


def detach(work: Callable[[], None], keeps: int = -1) -> None:
    """Start `work` in a process that belongs to nobody, and return at once. It keeps the one open file that `keeps` names.

    Call it with every store closed: a database must not be carried into another process.
    """
    ours, its = os.pipe()
    if os.fork():
        os.close(its)
        os.read(ours, 1)  # until it has left our process group: whoever ends that must not end it
        os.close(ours)
        return
    try:
        os.setsid()
        os.close(its)
        _let_go(keeps)
        _be_short()
        work()
    finally:
        os._exit(0)


def _let_go(keeps: int) -> None:
    """Close what was inherited: the client waits until nobody holds its pipes any more."""
    null = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(null, handle)
    limit = min(os.sysconf("SC_OPEN_MAX"), 4096)
    limit = limit if limit > 3 else 4096
    os.closerange(3, max(3, keeps))
    os.closerange(max(3, keeps + 1), limit)
    os.chdir("/")


def _be_short() -> None:
    import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` with it

    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.alarm(LONGEST)
