"""Making stores anew: one pass over the journal for all of them, each in one transaction of its own."""

from __future__ import annotations

from mait_code.journal import reading
from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.event import Bad
from mait_code.journal.kinds import KINDS
from mait_code.journal.reading import Mark
from mait_code.projections.opening import BUSY, SUSPECT, is_damage
from mait_code.projections.store import BATCH, without_collector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.journal.home import Home
    from mait_code.journal.reading import Change
    from mait_code.projections.index import BadLine, Index, Line
    from mait_code.projections.store import Store

#: What to do about a file of the journal that cannot be read.
READ_HINT = "check its owner and permissions, and the disk; mait-code doctor names every such file"


def rebuild(
    home: Home, stores: list[Store], step: Callable[[int, int], None] | None = None, *, whole: bool = False
) -> dict[str, int]:
    """Fold the whole journal anew into `stores`; others go on reading the old states until it is done.

    `step(done, total)` is told of segments. With `whole` a file of the journal that cannot be read raises DiskRefused and
    the stores stay as they are: they may hold what is in it. Returns the number of events folded, by store file.
    """
    try:
        return _rebuild(home, stores, step, whole)
    except SUSPECT as error:
        if not is_damage(error):
            raise
        # Everything in these files is about to be made again, so none of them is asked whether it was the one.
        for store in stores:
            store.put_away()
        return _rebuild(home, stores, step, whole)
    except BUSY as error:
        raise Busy("a store is being written by another process", "try again in a moment") from error


def _rebuild(home: Home, stores: list[Store], step: Callable[[int, int], None] | None, whole: bool) -> dict[str, int]:
    try:
        pairs = [(store, store.begin_anew()) for store in stores]
        with without_collector():
            return _fold(home, pairs, step, whole)
    finally:
        for store in stores:
            store.roll_back()


def _fold(
    home: Home, pairs: list[tuple[Store, Index]], step: Callable[[int, int], None] | None, whole: bool
) -> dict[str, int]:
    home.unreadable.clear()
    plan = reading.plan(home, Mark(), lambda _directory, _name: {}, thorough=True)
    if whole:
        refuse_unreadable(home)
    counts = dict.fromkeys((store.name for store, _index in pairs), 0)
    largest = ""
    for done, change in enumerate(plan.changes, 1):
        if not change.load(lambda: reading.git_is_working(home)):
            plan.mark.distrust(change.cursor.directory)
            if whole:
                refuse_unreadable(home)
            continue
        largest = max(largest, _take(change, pairs))
        change.content = b""
        for store, index in pairs:
            if index.waiting >= BATCH:
                counts[store.name] += index.flush()
        if step is not None:
            step(done, len(plan.changes))
    for store, index in pairs:
        counts[store.name] += index.finish()
        store.finish(store.db, plan.mark, max(largest, index.largest))
        store.db.execute("COMMIT")
        store.settle()
    return counts


def refuse_unreadable(home: Home) -> None:
    """Raise DiskRefused where something of the journal was found that cannot be read."""
    if home.unreadable:
        raise DiskRefused(f"{unreadable_words(home)}; nothing was changed", READ_HINT)


def unreadable_words(home: Home) -> str:
    """What of the journal cannot be read, in one line: the first by name, the others counted."""
    path, reason = min(home.unreadable.items())
    more = f", and {len(home.unreadable) - 1} more like it" if len(home.unreadable) > 1 else ""
    return f"{path} cannot be read: {reason}{more}"


def _take(change: Change, pairs: list[tuple[Store, Index]]) -> str:
    """Give each line to the stores it belongs in, parsed once. Returns the largest time in the segment."""
    from mait_code.journal.quick import parse

    everything = any(store.takes_all for store, _index in pairs)
    lines: list[Line] = []
    bad: list[BadLine] = []
    parts: list[list[Line]] = [[] for _ in pairs]
    families = {
        family: part
        for (store, _index), part in zip(pairs, parts, strict=True)
        for family in (() if store.takes_all else store.projection.families)
    }
    of_kind = {name: families[kind] for name in KINDS if (kind := name.partition(".")[0]) in families}
    for number, (offset, line) in enumerate(change.lines(), change.first_line):
        if not everything and not any(store.wants(line) for store, _index in pairs):
            continue
        event = parse(line)
        if isinstance(event, Bad):
            bad.append((offset, number, line, event))
            continue
        taken = (offset, number, line, event)
        lines.append(taken)
        kind = event.kind
        family = of_kind[kind] if kind in of_kind else families.get(kind.partition(".")[0])
        if family is not None:
            family.append(taken)
    for (store, index), part in zip(pairs, parts, strict=True):
        index.open(change)
        index.take(lines if store.takes_all else part, bad)
        index.keep(change.cursor)
    return max([line[3].at for line in lines], default="") if everything else change.last_at()
