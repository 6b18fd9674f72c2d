"""What came into the stores since a session was last told, by others than itself."""

from __future__ import annotations

import orjson

from mait_code.projections.index import OFFSET_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mait_code.commands.session_marks import Mark
    from mait_code.projections.store import Store

#: Events that are looked at in each store, the newest; who was away for longer has other things to read first.
_MOST = 2000


class News:
    """What is new for a session. `since` is when it was told last, as the log writes times."""

    def __init__(self, mark: Mark, session: str) -> None:
        self.since = mark.at
        self._positions = mark.positions
        self._session = session
        self._known: dict[str, dict[str, bool]] = {}

    def changed(self, store: Store, type_: str) -> list[str]:
        """The entities (`type/id`) of a type that changed, the newest first, whoever changed them."""
        start = f"{type_}/"
        return [entity for entity in self._entities(store) if entity.startswith(start)]

    def by_others(self, store: Store, type_: str) -> list[str]:
        """Those of them that not this session alone changed: it knows what it did itself."""
        entities = self._entities(store)
        return [entity for entity in self.changed(store, type_) if entities[entity]]

    def _entities(self, store: Store) -> dict[str, bool]:
        known = self._known.get(store.name)
        if known is None:
            known = self._known[store.name] = self._read(store)
        return known

    def _read(self, store: Store) -> dict[str, bool]:
        """Each entity with events that were not there, and whether another than this session wrote one of them."""
        rows: list[tuple[str, str, bytes]] = []
        query = "SELECT at, entity, line FROM events WHERE place >= ? AND place < ? ORDER BY place DESC LIMIT ?"
        for low, high in self._spans(store.query("SELECT key, directory, name FROM segments ORDER BY key DESC")):
            rows += store.query(query, (low, high, _MOST))
        rows.sort(key=lambda row: row[0], reverse=True)
        found: dict[str, bool] = {}
        for _at, entity, line in rows[:_MOST]:
            found[entity] = found.get(entity, False) or orjson.loads(line).get("session") != self._session
        return found

    def _spans(self, segments: Sequence[tuple[int, str, str]]) -> list[tuple[int, int]]:
        """The places of events that stand behind what was read then: in the last segment of each directory and in newer
        ones."""
        spans = []
        for key, directory, name in segments:
            last, size = self._positions.get(directory, ("", 0))
            if (len(name), name) >= (len(last), last):
                start = key << OFFSET_BITS
                spans.append((start + (size if name == last else 0), (key + 1) << OFFSET_BITS))
        return spans
