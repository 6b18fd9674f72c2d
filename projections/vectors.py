"""Vectors of texts, kept beside the stores: a cache in `vectors.db` that any model can fill again.

A text is known by its hash, so a rebuilt store finds its vectors, and two memories of one text share them. Every model
has tables of its own: vectors of two models, or of two states of one, never meet. Beside each vector stands one bit for
each of its numbers. A search compares those first, 384 of them in a few processor instructions, and then the best again
by the vectors themselves. It is a plain table: sqlite-vec's own (`vec0`) merges its findings piece by piece, which takes
four times as long as SQLite's sorting when 400 are wanted of 100,000.
"""

from __future__ import annotations

from heapq import nlargest

from mait_code.journal.errors import MaitError
from mait_code.journal.sha import content_hash
from mait_code.projections.vector_file import VectorFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    import apsw

__all__ = ["Vectors", "content_hash"]

#: For each text that is wanted so many are compared by their vectors, and never fewer than LEAST. A vector of fewer than
#: 384 numbers has fewer bits, which say less, so it takes more of them.
OVER_FETCH = 8
LEAST = 200
#: Among so many texts every vector is compared; among more, the bits come first.
FEW = 3000
#: Vectors of questions kept, the newest.
QUERIES = 2000
#: How long keeping the vector of a question may wait for another process, in milliseconds.
_QUERY_WAIT_MS = 100
#: Hashes in one statement.
_AT_ONCE = 500


class Vectors(VectorFile):
    """The vectors of one model, and how they are asked and kept."""

    # -- asking -------------------------------------------------------------------------------------------------------

    def missing(self, hashes: Collection[bytes]) -> list[bytes]:
        """Those of `hashes` that have no vectors yet, each once, in order."""
        nothing: set[bytes] = set()
        known = self._ask(lambda db: self._known(db, hashes), nothing)
        return [one for one in dict.fromkeys(hashes) if one not in known]

    def _known(self, db: apsw.Connection, hashes: Collection[bytes]) -> set[bytes]:
        if len(hashes) > _AT_ONCE * 4:
            return self._all(db)
        found: set[bytes] = set()
        for part, marks in _parts(hashes):
            found.update(
                row[0]
                for row in db.execute(
                    f"SELECT hash FROM vectors_{self._model} WHERE window = 0 AND hash IN ({marks})", part
                )
            )
        return found

    def _all(self, db: apsw.Connection) -> set[bytes]:
        return {row[0] for row in db.execute(f"SELECT hash FROM vectors_{self._model} WHERE window = 0")}

    def count(self) -> int:
        """How many vectors there are."""
        return self._ask(lambda db: int(db.execute(f"SELECT count(*) FROM bits_{self._model}").get or 0), 0)

    def texts(self) -> int:
        """How many texts have vectors."""
        sql = "SELECT count(*) FROM vectors_{} WHERE window = 0"
        return self._ask(lambda db: int(db.execute(sql.format(self._model)).get or 0), 0)

    def nearest(self, query: bytes, limit: int) -> list[tuple[bytes, float]]:
        """The (hash, cosine) of the texts nearest to a vector, best first; of several windows of a text the best counts."""
        self._check(query)
        return self._ask(lambda db: self._nearest(db, query, limit, None), [])

    def nearest_among(self, query: bytes, hashes: Iterable[bytes], limit: int) -> list[tuple[bytes, float]]:
        """The same among these texts alone."""
        self._check(query)
        wanted = hashes if isinstance(hashes, (set, frozenset, dict)) else set(hashes)
        if len(wanted) > FEW:
            return self._ask(lambda db: self._nearest(db, query, limit, wanted), [])
        return nlargest(limit, self.cosines(query, wanted).items(), key=lambda one: one[1])

    def cosines(self, query: bytes, hashes: Collection[bytes]) -> dict[bytes, float]:
        """The cosine of each of these texts that has vectors, exactly; of several windows the best counts."""
        self._check(query)
        return self._ask(lambda db: self._cosines(db, query, hashes), {})

    def _cosines(self, db: apsw.Connection, query: bytes, hashes: Collection[bytes]) -> dict[bytes, float]:
        found: dict[bytes, float] = {}
        for part, marks in _parts(hashes):
            rows = db.execute(
                f"SELECT hash, 1 - min(vec_distance_cosine(vector, ?)) FROM vectors_{self._model}"
                f" WHERE hash IN ({marks}) GROUP BY hash",
                (query, *part),
            )
            found.update((hash_, cosine) for hash_, cosine in rows if cosine is not None)
        return found

    def of(self, hashes: Collection[bytes]) -> dict[bytes, list[bytes]]:
        """The vectors of each of these texts that has any: of a long one several, in the order of its windows."""
        nothing: dict[bytes, list[bytes]] = {}
        return self._ask(lambda db: self._of(db, hashes), nothing)

    def _of(self, db: apsw.Connection, hashes: Collection[bytes]) -> dict[bytes, list[bytes]]:
        found: dict[bytes, list[bytes]] = {}
        for part, marks in _parts(hashes):
            sql = f"SELECT hash, vector FROM vectors_{self._model} WHERE hash IN ({marks}) ORDER BY hash, window"
            for hash_, vector in db.execute(sql, part):
                found.setdefault(hash_, []).append(vector)
        return found

    def _nearest(
        self, db: apsw.Connection, query: bytes, limit: int, among: Collection[bytes] | None
    ) -> list[tuple[bytes, float]]:
        bits = db.execute("SELECT vec_quantize_binary(?)", (query,)).get
        total = int(db.execute(f"SELECT count(*) FROM bits_{self._model}").get or 0)
        share = total / max(1, len(among)) if among is not None else 1.0
        rows = int(max(LEAST, limit * OVER_FETCH) * max(1.0, share) * max(1.0, 384 / self.dimension))
        while True:
            rows_found: Iterator[Any] = db.execute(
                f"WITH near AS MATERIALIZED (SELECT row FROM bits_{self._model}"
                " ORDER BY vec_distance_hamming(vec_bit(bits), vec_bit(?)) LIMIT ?)"
                " SELECT hash, 1 - min(vec_distance_cosine(vector, ?)) AS cosine FROM near"
                f" JOIN vectors_{self._model} USING (row) GROUP BY hash HAVING cosine IS NOT NULL"
                " ORDER BY cosine DESC, hash",
                (bits, rows, query),
            )
            found = [one for one in rows_found if among is None or one[0] in among]
            # Many windows of one text, or many texts that are not wanted, may leave too few.
            if len(found) >= limit or rows >= total:
                return found[:limit]
            rows *= 4

    def cached_query(self, text: str) -> bytes | None:
        """The vector of a question that was asked before."""
        hash_ = content_hash(text)
        sql = "SELECT vector FROM queries_{} WHERE hash = ?"
        found = self._ask(lambda db: db.execute(sql.format(self._model), (hash_,)).get, None)
        return found if isinstance(found, bytes) and len(found) == self.dimension * 4 else None

    # -- keeping ------------------------------------------------------------------------------------------------------

    def add(self, rows: Iterable[tuple[bytes, Sequence[bytes]]]) -> None:
        """Keep the vectors of texts, all or none. What has vectors already keeps them.

        Raises Busy, or DiskRefused where they cannot be kept.
        """
        flat = [(hash_, window, vector) for hash_, vectors in rows for window, vector in enumerate(vectors)]
        for _, _, vector in flat:
            self._check(vector)

        def insert(db: apsw.Connection) -> None:
            self._make_model(db)
            model = self._model
            last = db.execute(f"SELECT max(row) FROM vectors_{model}").get or 0
            db.executemany(f"INSERT OR IGNORE INTO vectors_{model} (hash, window, vector) VALUES (?, ?, ?)", flat)
            db.execute(
                f"INSERT INTO bits_{model} SELECT row, vec_quantize_binary(vector) FROM vectors_{model} WHERE row > ?",
                (last,),
            )

        self._write(insert)

    def keep_query(self, text: str, vector: bytes) -> None:
        """Keep the vector of a question. It is only a saving of time, so where it cannot be kept that is that."""
        self._check(vector)

        def insert(db: apsw.Connection) -> None:
            self._make_model(db)
            table = f"queries_{self._model}"
            db.execute(f"INSERT OR REPLACE INTO {table} (hash, vector) VALUES (?, ?)", (content_hash(text), vector))
            db.execute(f"DELETE FROM {table} WHERE row <= ?", (db.last_insert_rowid() - QUERIES,))

        try:
            self._write(insert, _QUERY_WAIT_MS)
        except MaitError:
            return

    def prune(self, live: Collection[bytes]) -> int:
        """Forget the vectors of all texts but these. Returns how many texts went."""
        kept = live if isinstance(live, (set, frozenset, dict)) else set(live)

        def delete(db: apsw.Connection) -> int:
            if not self._model:
                return 0
            dead = [one for one in self._all(db) if one not in kept]
            for part, marks in _parts(dead):
                rows = f"SELECT row FROM vectors_{self._model} WHERE hash IN ({marks})"
                db.execute(f"DELETE FROM bits_{self._model} WHERE row IN ({rows})", part)
                db.execute(f"DELETE FROM vectors_{self._model} WHERE hash IN ({marks})", part)
            return len(dead)

        return self._write(delete)

    def forget_others(self) -> list[str]:
        """Drop what is kept of every other model, and of other states of this one. Returns their names."""

        def drop(db: apsw.Connection) -> list[str]:
            others = db.execute("SELECT id, name FROM models WHERE id <> ?", (self._model,)).fetchall()
            for model, _ in others:
                for table in ("vectors", "bits", "queries"):
                    db.execute(f"DROP TABLE {table}_{model}")
                db.execute("DELETE FROM models WHERE id = ?", (model,))
            return [str(name) for _, name in others]

        return self._write(drop)

    def _check(self, vector: bytes) -> None:
        if len(vector) != self.dimension * 4:
            raise ValueError(f"{self.name} has vectors of {self.dimension * 4} bytes, not {len(vector)}")


def _parts(hashes: Iterable[bytes]) -> Iterator[tuple[tuple[bytes, ...], str]]:
    """The hashes in parts that one statement takes, each with its question marks."""
    held = tuple(hashes)
    for start in range(0, len(held), _AT_ONCE):
        part = held[start : start + _AT_ONCE]
        yield part, ",".join("?" * len(part))
