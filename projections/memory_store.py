"""memory.db: memories, the graph, what happened in sessions, documents; and the full-text index over what can be searched."""

from __future__ import annotations

from mait_code.projections import entries
from mait_code.projections.documents import Documents, Reflections
from mait_code.projections.entries import FullText
from mait_code.projections.graph import Things
from mait_code.projections.index import Index
from mait_code.projections.memories import Memories
from mait_code.projections.projection import Several
from mait_code.projections.sessions import Observations, Prompts, Sessions, Summaries, Turns
from mait_code.projections.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from mait_code.journal.home import Home
    from mait_code.projections.projection import Projection


class Everything(Several):
    """All families of memory.db. Several of them have entries, so the table is theirs together."""

    def __init__(self) -> None:
        super().__init__(
            Memories(),
            Things(),
            Sessions(),
            Summaries(),
            Prompts(),
            Turns(),
            Observations(),
            Documents(),
            Reflections(),
        )
        self.tables = {**self.tables, "entries": entries.TABLE}  # type: ignore[misc]
        self.indexes = (*self.indexes, *entries.INDEXES)


class MemoryIndex(Index):
    """The event index of memory.db, which keeps the full-text index in step."""

    def __init__(self, db: apsw.Connection, projection: Projection) -> None:
        super().__init__(db, projection)
        self._full_text = FullText(db)

    def changing(self, entities: Iterable[str]) -> None:
        self._full_text.before(entity.partition("/")[2] for entity in entities)

    def changed(self, entities: Iterable[str]) -> None:
        self._full_text.after(entity.partition("/")[2] for entity in entities)

    def filled(self) -> None:
        self._full_text.fill()


class MemoryStore(Store):
    """The store of everything that is remembered."""

    extra_tables = (entries.FULL_TEXT,)

    def __init__(self, home: Home) -> None:
        super().__init__(home, Everything(), "memory.db")

    def index(self) -> Index:
        return MemoryIndex(self.db, self.projection)

    def begin_anew(self) -> Index:
        index = super().begin_anew()
        self.db.execute("DELETE FROM entries_fts")
        return index
