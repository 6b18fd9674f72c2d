"""Looking after the journal: verify, rebuild, digest, replicas, and what is wrong with its lines."""

from __future__ import annotations

import os
import re

from mait_code.journal import clock, replica, segments
from mait_code.journal.errors import DiskRefused
from mait_code.projections import digest as digests
from mait_code.projections.rebuild import rebuild as rebuild_stores
from mait_code.projections.stores import NAMES, OPENERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

    Place = tuple[str, int, str]

BAD_LINES, GAPS, STORES_DIFFER = 3, 4, 5
#: A machine whose clock runs this far ahead of ours is named.
CLOCK_AHEAD = 60 * clock.SECOND
#: Ids asked for in one query.
_CHUNK = 500

_ID = re.compile(rb'"id":"([0-9a-f]{20})"')


class Gap:
    """Sequence numbers of a replica that are in none of its files."""

    __slots__ = ("first", "last", "replica")

    def __init__(self, of: str, first: int, last: int) -> None:
        self.replica = of
        self.first = first
        self.last = last


class Lines:
    """The lines that are not as we write them, each (file inside the journal, line number, reason).

    `bad` are skipped; `accepted` too, but a sound copy of them was written since; `torn` may be completed yet; `newer`
    wait for an update; `notes` were read.
    """

    __slots__ = ("accepted", "bad", "newer", "notes", "torn")

    def __init__(self) -> None:
        self.bad: list[Place] = []
        self.accepted: list[Place] = []
        self.torn: list[Place] = []
        self.newer: list[Place] = []
        self.notes: list[Place] = []


class Findings:
    """What `verify` found. `exit_code` is 0 clean, 3 bad lines, 4 gaps, 5 stores differ; the gravest counts. Where something
    cannot be read it is 74, and neither gaps nor stores were looked at: what is missing may stand in there."""

    __slots__ = ("differing", "events", "gaps", "gone", "lines", "unreadable")

    def __init__(self) -> None:
        self.events = 0
        self.lines = Lines()
        self.gaps: list[Gap] = []
        self.gone = 0
        self.differing: list[str] = []
        #: Files and directories that are there and cannot be read, each with the reason.
        self.unreadable: dict[str, str] = {}

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        if self.unreadable:
            return DiskRefused.exit_code
        if self.differing:
            return STORES_DIFFER
        if self.gaps or self.gone:
            return GAPS
        return BAD_LINES if self.lines.bad else 0

    def json(self) -> dict[str, Any]:
        """The findings as `--json` prints them."""
        lines = self.lines
        return {
            "events": self.events,
            "unreadable": [{"path": path, "reason": reason} for path, reason in sorted(self.unreadable.items())],
            "bad": _places(lines.bad),
            "accepted": _places(lines.accepted),
            "torn": _places(lines.torn),
            "newer": _places(lines.newer),
            "notes": _places(lines.notes),
            "gaps": [{"replica": gap.replica, "first": gap.first, "last": gap.last} for gap in self.gaps],
            "gone": self.gone,
            "stores_differ": self.differing,
            "exit_code": self.exit_code,
        }


def _places(rows: Iterable[Place]) -> list[dict[str, Any]]:
    return [{"file": f"journal/{file}", "line": number, "reason": reason} for file, number, reason in rows]


# -- lines ------------------------------------------------------------------------------------------------------------


def lines(ws: Workspace) -> Lines:
    """What is wrong, or odd, about the lines of the journal."""
    found = Lines()
    into = {"bad": found.bad, "torn": found.torn, "newer": found.newer, "note": found.notes}
    for file, number, severity, reason in ws.log.problems():
        into[severity].append((file, number, reason))
    settled = _accepted(ws, [place for place in found.bad if place[2] == "checksum"])
    if settled:
        found.accepted = [place for place in found.bad if place in settled]
        found.bad = [place for place in found.bad if place not in settled]
    return found


def _accepted(ws: Workspace, places: list[Place]) -> set[Place]:
    """Those lines with a wrong checksum whose event stands elsewhere with a right one."""
    named: dict[Place, str] = {}
    contents: dict[str, list[bytes]] = {}
    for place in places:
        file, number, _reason = place
        if file not in contents:
            contents[file] = (segments.read(os.path.join(ws.home.journal, file)) or b"").split(b"\n")
        found = _ID.search(contents[file][number - 1]) if number <= len(contents[file]) else None
        if found is not None:
            named[place] = found[1].decode()
    known = present(ws, named.values())
    return {place for place, id_ in named.items() if id_ in known}


def present(ws: Workspace, ids: Iterable[str]) -> set[str]:
    """Those of the event ids that stand in a sound line of the journal."""
    wanted, found = list(dict.fromkeys(ids)), set[str]()
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        marks = ", ".join("?" * len(chunk))
        rows = ws.log.query(f"SELECT id FROM lines WHERE id IN ({marks})", tuple(chunk))  # noqa: S608
        found.update(row[0] for row in rows)
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


# -- stores -----------------------------------------------------------------------------------------------------------


def verify(ws: Workspace, step: Callable[[int, int], None] | None = None) -> Findings:
    """Read every line of the journal again and compare what the stores hold with what it says."""
    found = Findings()
    for name in NAMES:
        ws.store(name).catch_up(thorough=True)
    log = ws.log
    found.events = log.query("SELECT count(DISTINCT id) FROM lines")[0][0]
    found.lines = lines(ws)
    found.gone = len({id_ for name in NAMES for id_, _line in ws.store(name).gone()})
    found.unreadable = dict(ws.home.unreadable)
    if not found.unreadable:
        found.gaps = gaps(ws)
        found.differing = differing(ws, list(NAMES), step)
    return found


def differing(ws: Workspace, names: list[str], step: Callable[[int, int], None] | None = None) -> list[str]:
    """The stores whose states differ from a fold of the whole journal into memory. Raises DiskRefused where a part of the
    journal cannot be read."""
    fresh: list[Store] = []
    for name in names:
        store = OPENERS[name](ws.home)
        store.live_in_memory()
        fresh.append(store)
    try:
        rebuild_stores(ws.home, fresh, step, whole=True)
        return [name for name, store in zip(names, fresh, strict=True) if _differs(ws.store(name), store)]
    finally:
        for store in fresh:
            store.close()


def _differs(store: Store, fresh: Store) -> bool:
    store.catch_up()
    fresh.catch_up()  # what was written between the two
    if digests.digest(store) != digests.digest(fresh):
        return True
    tables = ("conflicts", *store.projection.tables)
    return any(_content(store, table) != _content(fresh, table) for table in tables)


def _content(store: Store, table: str) -> list[tuple[Any, ...]]:
    return sorted(store.query(f"SELECT * FROM {table}"), key=repr)  # noqa: S608


def rebuild(ws: Workspace, names: list[str], step: Callable[[int, int], None] | None = None) -> dict[str, int]:
    """Make stores anew; returns the number of events folded into each. Raises DiskRefused where a part of the journal
    cannot be read, and keeps the stores: they may hold what is in it."""
    counts = rebuild_stores(ws.home, [ws.store(name) for name in names], step, whole=True)
    return {name: counts[ws.store(name).name] for name in names}


def digest(ws: Workspace) -> tuple[list[tuple[str, str]], str]:
    """(store, digest) for every store, and the total."""
    found = [(name, digests.digest(ws.reading(name))) for name in NAMES]
    return found, digests.total(found)


# -- machines ---------------------------------------------------------------------------------------------------------


def _directories(ws: Workspace) -> set[str]:
    try:
        return set(segments.directories(ws.home.journal))
    except OSError:
        return set()  # the stores have said so


def replicas(ws: Workspace) -> list[dict[str, Any]]:
    """The machines that wrote here, and directories of adopted lines."""
    log = ws.log
    labels = log.labels()
    mine = replica.load(ws.home)
    counted = {
        row[0]: row[1:]
        for row in log.query(
            "SELECT replica, count(DISTINCT id), min(coalesce(wall, at)), max(coalesce(wall, at)) FROM lines"
            " GROUP BY replica"
        )
    }
    now = clock.wall()
    found = []
    for name in sorted(counted.keys() | _directories(ws)):
        said = replica.described(ws.home, name)
        events, first, last = counted.get(name, (0, None, None))
        ahead = clock.micros(last) - now if last else 0
        found.append(
            {
                "replica": name,
                "label": labels.get(name),
                "this_machine": mine is not None and mine.replica == name,
                "stays": segments.stays(ws.home.journal, name),
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
