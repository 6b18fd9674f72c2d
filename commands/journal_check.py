"""Looking after the journal: verify, rebuild, digest, replicas."""

from __future__ import annotations

from mait_code.journal import clock, replica, segments
from mait_code.projections import digest as digests
from mait_code.projections.rebuild import rebuild as rebuild_stores
from mait_code.projections.store import Store
from mait_code.projections.stores import NAMES, OPENERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace

BAD_LINES, GAPS, STORES_DIFFER = 3, 4, 5
#: A machine whose clock runs this far ahead of ours is named.
CLOCK_AHEAD = 60 * clock.SECOND


class Gap:
    """Sequence numbers of a replica that are in none of its files."""

    __slots__ = ("first", "last", "replica")

    def __init__(self, of: str, first: int, last: int) -> None:
        self.replica = of
        self.first = first
        self.last = last


class Findings:
    """What `verify` found. `exit_code` is 0 clean, 3 bad lines, 4 gaps, 5 stores differ; the gravest counts."""

    __slots__ = ("bad", "differing", "events", "gaps", "gone", "newer", "notes")

    def __init__(self) -> None:
        self.events = 0
        self.bad: list[tuple[str, int, str]] = []
        self.newer: list[tuple[str, int, str]] = []
        self.notes: list[tuple[str, int, str]] = []
        self.gaps: list[Gap] = []
        self.gone = 0
        self.differing: list[str] = []

    @property
    def exit_code(self) -> int:
        if self.differing:
            return STORES_DIFFER
        if self.gaps or self.gone:
            return GAPS
        return BAD_LINES if self.bad else 0


def verify(ws: Workspace, step: Callable[[int, int], None] | None = None) -> Findings:
    """Read every line of the journal again and compare what the stores hold with what it says."""
    found = Findings()
    for name in NAMES:
        ws.store(name).catch_up(thorough=True)
    log = ws.log
    found.events = log.query("SELECT count(DISTINCT id) FROM lines")[0][0]
    for severity, into in (("bad", found.bad), ("newer", found.newer), ("note", found.notes)):
        into.extend((file, number, reason) for file, number, _severity, reason in log.problems(severity))
    found.gaps = gaps(ws)
    found.gone = sum(len(ws.store(name).gone()) for name in NAMES)
    found.differing = differing(ws, list(NAMES), step)
    return found


def gaps(ws: Workspace) -> list[Gap]:
    """Sequence numbers missing from a replica's own directory that no other directory holds either."""
    log = ws.log
    found: list[Gap] = []
    for (of,) in log.query("SELECT DISTINCT replica FROM lines ORDER BY replica"):
        expected = 1
        for (seq,) in log.query("SELECT DISTINCT seq FROM lines WHERE replica = ? ORDER BY seq", (of,)):
            if seq > expected:
                found.append(Gap(of, expected, seq - 1))
            expected = seq + 1
    return found


def differing(ws: Workspace, names: list[str], step: Callable[[int, int], None] | None = None) -> list[str]:
    """The stores whose states differ from a fold of the whole journal into memory."""
    fresh: list[Store] = []
    for name in names:
        store = OPENERS[name](ws.home)
        store.live_in_memory()
        fresh.append(store)
    try:
        rebuild_stores(ws.home, fresh, step)
        return [name for name, store in zip(names, fresh, strict=True) if _differs(ws.store(name), store)]
    finally:
        for store in fresh:
            store.close()


def _differs(store: Store, fresh: Store) -> bool:
    store.catch_up()
    if digests.digest(store) != digests.digest(fresh):
        return True
    tables = ("conflicts", *store.projection.tables)
    return any(_content(store, table) != _content(fresh, table) for table in tables)


def _content(store: Store, table: str) -> list[tuple[Any, ...]]:
    return sorted(store.query(f"SELECT * FROM {table}"), key=repr)


def rebuild(ws: Workspace, names: list[str], step: Callable[[int, int], None] | None = None) -> dict[str, int]:
    """Make stores anew; returns the number of events folded into each."""
    counts = rebuild_stores(ws.home, [ws.store(name) for name in names], step)
    return {name: counts[ws.store(name).name] for name in names}


def digest(ws: Workspace) -> tuple[list[tuple[str, str]], str]:
    """(store, digest) for every store, and the total."""
    found = [(name, digests.digest(ws.reading(name))) for name in NAMES]
    return found, digests.total(found)


def replicas(ws: Workspace) -> list[dict[str, Any]]:
    """The machines that wrote here, and directories of adopted lines."""
    log = ws.log
    labels = log.labels()
    mine = replica.load(ws.home)
    counted = {
        row[0]: row[1:]
        for row in log.query(
            "SELECT replica, count(DISTINCT id), min(coalesce(wall, at)), max(coalesce(wall, at)) FROM lines GROUP BY replica"
        )
    }
    now = clock.wall()
    found = []
    for name in sorted(counted.keys() | set(segments.directories(ws.home.journal))):
        said = replica.described(ws.home, name)
        events, first, last = counted.get(name, (0, None, None))
        ahead = clock.micros(last) - now if last else 0
        found.append(
            {
                "replica": name,
                "label": labels.get(name),
                "this_machine": mine is not None and mine.replica == name,
                "events": events,
                "first": first,
                "last": last,
                "created": said.get("created"),
                "forked_from": said.get("forked_from"),
                "adopted_from": said.get("adopted_from"),
                "clock_ahead_seconds": ahead // clock.SECOND if ahead > CLOCK_AHEAD else 0,
            }
        )
    return found
