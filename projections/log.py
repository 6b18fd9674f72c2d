"""journal.db: where every event stands, who wrote it, and what is wrong with the journal.

It answers `log`, `undo`, `verify`, `doctor` and `replicas`. Unlike the other stores it reads every line. The lines
themselves stay in the segments.
"""

from __future__ import annotations

import os

from mait_code.journal import segments
from mait_code.journal.event import BOM, LONGEST_LINE, Event, Future, parse
from mait_code.projections import register
from mait_code.projections.index import OFFSET_BITS, Index
from mait_code.projections.projection import Projection
from mait_code.projections.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.journal.home import Home
    from mait_code.projections.index import BadLine, Line
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State


class Replicas(Projection):
    """Folds journal.* events: the labels people give their machines."""

    family = "journal"
    entity = "replica"
    known_by_name = True
    naming = ("of",)
    tables: ClassVar[dict[str, str]] = {"replicas": "id TEXT PRIMARY KEY, replica TEXT NOT NULL, label TEXT NOT NULL"}

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        of, label = register.value(state, "of"), register.value(state, "label")
        if isinstance(of, str) and isinstance(label, str) and label:
            yield "replicas", (entity, of, label)

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        # An empty label is none: what replica.json says counts again.
        return "journal.replica_labelled", {"label": value or "", "of": register.value(state, "of")}


#: What is absent is NULL: the index over `undoes` holds only those that have one.
_INSERT = "INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, nullif(?, ''))"
_BRACE, _CLOSING = b"{}"


class LogIndex(Index):
    """Takes every line: events go to `lines`, what is wrong or new goes to `problems`."""

    PLACED = ("events", "lines", "problems")

    def __init__(self, db: Any, projection: Projection) -> None:
        super().__init__(db, projection)
        self._taken = 0
        self._problems: list[Row] = []

    @property
    def waiting(self) -> int:
        return self._taken

    def take(self, lines: list[Line], bad: list[BadLine]) -> None:
        start = self._key << OFFSET_BITS
        self._problems += [
            (start + at, number, "bad", one.reason) for at, number, line, one in bad if line.strip(b"\r")
        ]
        rows, own = [], []
        for one in lines:
            at, number, line, e = one
            kind = e.kind
            if line[0] != _BRACE or line[-1] != _CLOSING or type(e) is Future:
                self._note(start + at, number, line, e)
            if kind[:8] == "journal." and type(e) is not Future:
                own.append(one)
            rows.append(
                (start + at, number, e.id, e.at, e.replica, e.seq, kind, e.entity, e.tx, e.undoes, e.actor, e.wall)
            )
        self.db.executemany(_INSERT, rows)
        self._taken += len(rows)
        super().take(own, bad)
        self.largest = max([self.largest, *[row[3] for row in rows]])

    def _note(self, place: int, number: int, line: bytes, event: Event) -> None:
        if line[-1:] == b"\r":
            self._problems.append((place, number, "note", "CRLF line ending"))
        if line[:3] == BOM:
            self._problems.append((place, number, "note", "byte order mark"))
        if type(event) is Future:
            self._problems.append((place, number, "newer", f"{event.kind} version {event.v}"))

    def flush(self) -> int:
        super().flush()
        taken, self._taken = self._taken, 0
        problems, self._problems = self._problems, []
        self.db.executemany("INSERT OR REPLACE INTO problems VALUES (?, ?, ?, ?)", problems)
        return taken


class Log(Store):
    """The store of the journal itself."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, Replicas(), "journal.db")
        self.prefixes = (b"",)

    extra_tables = (
        (
            "CREATE TABLE lines (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, id TEXT NOT NULL,"
            " at TEXT NOT NULL,"
            " replica TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, entity TEXT NOT NULL, tx TEXT NOT NULL,"
            " undoes TEXT, actor TEXT NOT NULL, wall TEXT)"
        ),
        # severity: bad (skipped), newer (kept until an upgrade), note (read, but not as we write). Torn lines are not
        # here: whether a last line is torn is seen from its segment's size.
        (
            "CREATE TABLE problems (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, severity TEXT NOT NULL,"
            " reason TEXT NOT NULL)"
        ),
    )
    extra_indexes = (
        "CREATE INDEX IF NOT EXISTS lines_order ON lines (at, replica, seq, id)",
        "CREATE INDEX IF NOT EXISTS lines_replica ON lines (replica, seq)",
        "CREATE INDEX IF NOT EXISTS lines_tx ON lines (tx)",
        "CREATE INDEX IF NOT EXISTS lines_undoes ON lines (undoes) WHERE undoes IS NOT NULL",
    )

    def index(self) -> Index:
        return LogIndex(self.db, self.projection)

    def wants(self, line: bytes) -> bool:  # noqa: ARG002
        return True

    def owns(self, event: Event) -> bool:  # noqa: ARG002
        return True

    # -- queries ------------------------------------------------------------------------------------------------------

    def event_at(self, place: int) -> Event | None:
        """Read an event back from its segment; None where the file has changed since."""
        rows = self.query(
            f"SELECT s.directory || '/' || s.name, l.id FROM lines l JOIN segments s ON s.key = l.place >> {OFFSET_BITS}"
            " WHERE l.place = ?",
            (place,),
        )
        if not rows:
            return None
        name, id_ = rows[0]
        offset = place & ((1 << OFFSET_BITS) - 1)
        content = segments.read(os.path.join(self.home.journal, name), offset, LONGEST_LINE + 64)
        event = parse((content or b"").partition(b"\n")[0])
        return event if isinstance(event, Event) and event.id == id_ else None

    def problems(self, severity: str = "") -> list[tuple[str, int, str, str]]:
        """(file, line number, severity, reason) of every line that is bad, newer, odd, or torn: a last line that is no
        event and has no newline may be completed yet, by whoever writes it or by git."""
        rows = self.query(
            "SELECT s.directory || '/' || s.name, p.number, p.severity, p.reason FROM problems p"
            " JOIN segments s ON s.key = p.place >> ? UNION ALL"
            " SELECT directory || '/' || name, lines + 1, 'torn', 'the last line is not complete' FROM segments"
            " WHERE total > size ORDER BY 1, 2",
            (OFFSET_BITS,),
        )
        return [(file, number, kind, reason) for file, number, kind, reason in rows if severity in ("", kind)]

    def action(self, tx: str) -> list[Event]:
        """The events of an action in the order they were written."""
        rows = self.query("SELECT place FROM lines WHERE tx = ? ORDER BY at, replica, seq, id", (tx,))
        found: dict[str, Event] = {}
        for (place,) in rows:
            event = self.event_at(place)
            if event is not None:
                found.setdefault(event.id, event)
        return list(found.values())

    def labels(self) -> dict[str, str]:
        """What people call each replica: its latest label, else the one in its replica.json."""
        from mait_code.journal import replica

        found: dict[str, str] = {}
        for directory in segments.directories(self.home.journal):
            label = replica.described(self.home, directory).get("label")
            if isinstance(label, str) and label:
                found[directory] = label
        found.update(self.db.execute("SELECT replica, label FROM replicas ORDER BY id"))
        return found
