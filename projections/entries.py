"""What search looks through: one row per memory, observation, summary, prompt and turn, and the full-text index over them.

The index holds three columns: the text, the text of the entry before it in the same session (an answer is often found by
its question), and the pieces of words that a reader sees and a tokenizer does not (see pieces.py). It is contentless:
the texts stand in the rows.
"""

from __future__ import annotations

from mait_code.journal.sha import content_hash
from mait_code.projections.pieces import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    from mait_code.projections.register import State

    Row = tuple[Any, ...]

TABLE = (
    "id TEXT PRIMARY KEY, kind TEXT NOT NULL, type TEXT, title TEXT, text TEXT NOT NULL, session TEXT, project TEXT,"
    " branch TEXT, scope TEXT NOT NULL, importance INTEGER NOT NULL, created_at TEXT NOT NULL, last_seen_at TEXT NOT NULL,"
    " place TEXT NOT NULL, hash BLOB NOT NULL, same TEXT NOT NULL, detail TEXT NOT NULL, lead TEXT NOT NULL"
)
INDEXES = (
    "CREATE INDEX IF NOT EXISTS entries_session ON entries (session, place) WHERE session IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS entries_place ON entries (place)",
    "CREATE INDEX IF NOT EXISTS entries_hash ON entries (hash)",
    # What a session is told at its start: of one kind, the latest in a project, and the latest of each importance.
    "CREATE INDEX IF NOT EXISTS entries_project ON entries (project, kind, importance, place)",
)
FULL_TEXT = (
    "CREATE VIRTUAL TABLE entries_fts USING fts5(text, previous, pieces, content='', contentless_delete=1,"
    ' tokenize="porter unicode61 remove_diacritics 2")'
)
#: The kinds of entries, in the order in which they are told.
KINDS = ("memory", "observation", "summary", "prompt", "turn")
#: From so many changed entries on they are put right session by session.
MANY = 30
#: Characters of the entry before that lead into an entry's vector.
LEAD = 300
#: What no memory says of itself is as important as this.
IMPORTANCE = 5

_BEFORE = "SELECT text FROM entries WHERE session = ? AND place < ? ORDER BY place DESC LIMIT 1"
#: What was changed and what stands behind it, each with the text before it.
_CHANGED = """
SELECT id, row, text, previous, 1 FROM (
    SELECT id, rowid AS row, text, lag(text) OVER w AS previous, lag(id) OVER w AS before FROM entries
    WHERE session IN (SELECT session FROM entries JOIN temp.changed USING (id) WHERE session IS NOT NULL)
    WINDOW w AS (PARTITION BY session ORDER BY place))
WHERE id IN (SELECT id FROM temp.changed) OR before IN (SELECT id FROM temp.changed)
UNION ALL SELECT e.id, e.rowid, e.text, NULL, 0 FROM entries e JOIN temp.changed USING (id) WHERE e.session IS NULL
"""
_AFTER = "SELECT id FROM entries WHERE session = ? AND place > ? ORDER BY place LIMIT 1"


def row(
    id_: str,
    kind: str,
    state: State,
    text: str,
    *,
    type_: str | None = None,
    title: str | None = None,
    scope: str = "",
    importance: int = IMPORTANCE,
    last: str = "",
    same: str = "",
    detail: str = "{}",
) -> tuple[str, Row]:
    """The row of an entry. `same` is what it shares with others that say the same; `detail` JSON for filters."""
    values = {name: heads[-1][1] for name in ("session", "project", "branch") if (heads := state["r"].get(name))}
    at, replica, seq = state["x"].get("o") or ("", "", 0)
    created = state["c"]
    project = values.get("project")
    return (
        "entries",
        (
            id_,
            kind,
            type_,
            title,
            text,
            values.get("session"),
            project,
            values.get("branch"),
            scope or ("project" if project else "global"),
            importance,
            created,
            last or created,
            f"{created} {at} {replica} {seq:015d}",
            content_hash(text),
            same or id_,
            detail,
            "",
        ),
    )


def led(rowid: int, text: str, previous: str) -> Row:
    """What is embedded of an entry that follows another: the end of that one leads in. Returns lead, hash and row."""
    lead = previous[-LEAD:]
    return lead, content_hash(embedded(text, lead)), rowid


def embedded(text: str, lead: str) -> str:
    """The text whose vector an entry has."""
    return f"{lead}\n{text}" if lead else text


class FullText:
    """Keeps the full-text index in step with the rows, inside the transaction that changes them."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self._touched: set[str] = set()

    def before(self, ids: Iterable[str]) -> None:
        """Take entries out that are about to change or go, and remember what they stand before."""
        for id_ in ids:
            found: list[Row] = self.db.execute(
                "SELECT rowid, session, place FROM entries WHERE id = ?", (id_,)
            ).fetchall()
            for rowid, session, place in found:
                self.db.execute("DELETE FROM entries_fts WHERE rowid = ?", (rowid,))
                self._note_successor(session, place)

    def after(self, ids: Iterable[str]) -> None:
        """Put entries in that have changed or come, and put right what they stand before."""
        ids = list(ids)
        if len(ids) >= MANY:
            self._after_many(ids)
            return
        for id_ in ids:
            found: list[Row] = self.db.execute("SELECT session, place FROM entries WHERE id = ?", (id_,)).fetchall()
            for session, place in found:
                self._note_successor(session, place)
        for id_ in ids:
            self._put(id_)
        for id_ in self._touched.difference(ids):
            self.db.execute("DELETE FROM entries_fts WHERE rowid = (SELECT rowid FROM entries WHERE id = ?)", (id_,))
            self._put(id_)
        self._touched.clear()

    def _after_many(self, ids: list[str]) -> None:
        """The same by sessions as a whole: a query for each entry would cost more than folding it."""
        db = self.db
        db.execute("CREATE TEMP TABLE IF NOT EXISTS changed (id TEXT PRIMARY KEY) WITHOUT ROWID")
        db.execute("DELETE FROM temp.changed")
        db.executemany("INSERT OR IGNORE INTO temp.changed VALUES (?)", ((id_,) for id_ in (*ids, *self._touched)))
        found: list[Row] = db.execute(_CHANGED).fetchall()
        here = set(ids)
        db.executemany("DELETE FROM entries_fts WHERE rowid = ?", [(row[1],) for row in found if row[0] not in here])
        self._insert([(rowid, text, previous or "", pieces(text)) for _id, rowid, text, previous, _session in found])
        self._lead([led(rowid, text, previous or "") for _id, rowid, text, previous, session in found if session])
        self._touched.clear()

    def _note_successor(self, session: str | None, place: str) -> None:
        if session is not None:
            successor = self.db.execute(_AFTER, (session, place)).get
            if successor is not None:
                self._touched.add(str(successor))

    def _put(self, id_: str) -> None:
        query = "SELECT rowid, session, place, text FROM entries WHERE id = ?"
        found: list[Row] = self.db.execute(query, (id_,)).fetchall()
        for rowid, session, place, text in found:
            previous = str(self.db.execute(_BEFORE, (session, place)).get or "") if session is not None else ""
            self._insert([(rowid, text, previous, pieces(text))])
            if session is not None:
                self._lead([led(rowid, text, previous)])

    def fill(self) -> None:
        """Index everything: the index is empty."""
        query = (
            "SELECT rowid, text, CASE WHEN session IS NULL THEN '' ELSE"
            " coalesce(lag(text) OVER (PARTITION BY session ORDER BY place), '') END FROM entries ORDER BY rowid"
        )
        batch: list[Row] = []
        leads: list[Row] = []
        rows: Iterable[Row] = self.db.execute(query)
        for rowid, text, previous in rows:
            batch.append((rowid, text, previous, pieces(text)))
            if previous:
                leads.append(led(rowid, text, previous))
            if len(batch) >= 2000:
                self._insert(batch)
                batch = []
        self._insert(batch)
        self._lead(leads)

    def _lead(self, rows: list[Row]) -> None:
        self.db.executemany("UPDATE entries SET lead = ?, hash = ? WHERE rowid = ?", rows)

    def _insert(self, rows: list[Row]) -> None:
        self.db.executemany("INSERT INTO entries_fts (rowid, text, previous, pieces) VALUES (?, ?, ?, ?)", rows)
