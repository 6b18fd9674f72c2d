"""Short ids: what people type and see in place of `card/kfhq2m9xt47w`.

Cards are a number and the first two letters of their id, `12kf`. Two machines that were offline may both have made a
12; both keep what was printed, and a bare `12` is answered with the candidates. Everything else goes by the shortest
unique beginning of its id, at least five characters. Nothing is ever renumbered.
"""

from __future__ import annotations

import re

from mait_code.journal.errors import Ambiguous, NotFound
from mait_code.journal.ids import ENTITY_LENGTH
from mait_code.projections import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.projections.store import Store

SHORTEST = 5
#: Registers that say what a thing is about, one per kind of thing.
TITLES = ("title", "body", "what", "label", "content", "name", "request", "text", "narrative")

#: Candidates told one by one where an id names several.
_TOLD = 10
#: What people call a thing of a family, where that is another word.
_NAMES = {"inbox": "inbox item", "replica": "machine"}

_NUMBERED = re.compile(r"#?(\d{1,15})([a-z]{2})?", re.ASCII)
_PREFIX = re.compile(r"[0-9a-z]{1,12}", re.ASCII)


def short_of(store: Store, id_: str, number: int | None = None, type_: str = "") -> str:
    """The short form of an entity's 12 characters."""
    if number is not None:
        return f"{number}{id_[:2]}"
    type_ = type_ or store.family
    entity = f"{type_}/{id_}"
    longest = SHORTEST
    neighbours = (
        "SELECT max(entity) FROM entities WHERE entity < ?",
        "SELECT min(entity) FROM entities WHERE entity > ?",
    )
    for query in neighbours:
        other = store.value(query, (entity,))
        if isinstance(other, str):
            longest = max(longest, len(_common(entity, other)) - len(type_))
    return id_[: min(longest, ENTITY_LENGTH)]


class Shorts:
    """The short forms of things of several types in one store, each asked for once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, str] = {}

    def of(self, entity: str) -> str:
        """The short form of an entity (`type/id`)."""
        found = self._known.get(entity)
        if found is None:
            type_, _, id_ = entity.partition("/")
            found = self._known[entity] = short_of(self._store, id_, type_=type_)
        return found


def shorts(store: Store, type_: str = "") -> dict[str, str]:
    """The short form of everything in a store (or of one type) whose things have no number, by their 12 characters.

    In one pass: in order, nothing shares more with an id than its neighbours do.
    """
    within = "WHERE entity >= ? AND entity < ? " if type_ else ""
    query = f"SELECT entity FROM entities {within}ORDER BY entity"
    names = [row[0].partition("/")[2] for row in store.query(query, (f"{type_}/", f"{type_}0") if type_ else ())]
    found, before = {}, 0
    for place, name in enumerate(names):
        after = len(_common(name, names[place + 1])) if place + 1 < len(names) else 0
        found[name] = name[: max(SHORTEST, before + 1, after + 1)]
        before = after
    return found


def _common(one: str, other: str) -> str:
    length = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        length += 1
    return one[:length]


def next_number(store: Store) -> int:
    """The next free number: the highest known here, deleted cards included, plus one. Ask under the append lock."""
    highest = store.value("SELECT max(number) FROM entities WHERE number IS NOT NULL")
    return (highest if isinstance(highest, int) else 0) + 1


def resolve(store: Store, text: str, types: tuple[str, ...] = ()) -> str:
    """The entity (`type/id`) that `text` names: a short id, a number, a beginning of an id, or the whole of it.

    It is one of these `types`, or of the family whose store it is. Deleted entities are found too, for `restore` and
    `history`. Raises NotFound or Ambiguous with the candidates.
    """
    types = types or (store.family,)
    given = text.strip()
    asked = given.lower()
    if "/" in asked:
        kind, _, asked = asked.partition("/")
        if kind not in types:
            raise NotFound(f"{given} is no {types[0]}", f"ids of this kind look like {types[0]}/…")
        types = (kind,)
    found = [one for type_ in types for one in _candidates(store, asked, type_)]
    if len(found) == 1:
        return found[0][0]
    if not found:
        raise NotFound(f"no {_NAMES.get(types[0], types[0])} {given!r} here", "the list command shows the ids")
    raise _ambiguous(store, given, found)


def _ambiguous(store: Store, given: str, found: list[tuple[str, int | None]]) -> Ambiguous:
    """The candidates by a name that tells them apart, each with its first words."""
    names = [f"{number}{entity.partition('/')[2][:2]}" for entity, number in found if number is not None]
    if len(names) < len(found) or len(set(names)) < len(names):
        one_type = len({entity.partition("/")[0] for entity, _ in found}) == 1
        names = [entity.partition("/")[2] if one_type else entity for entity, _ in found]
    told = [f"{name}{_title(store, entity)}" for name, (entity, _) in zip(names, found, strict=True)][:_TOLD]
    more = " ..." if len(found) > _TOLD else ""
    return Ambiguous(f"{given!r} names several: {', '.join(told)}{more}", names, "give one of these")


def _title(store: Store, entity: str) -> str:
    state = store.state(entity)
    text = "" if state is None else next(filter(None, (register.value(state, name) for name in TITLES)), "")
    heading = str(text).strip().partition("\n")[0]
    gone = ", deleted" if state is not None and register.is_deleted(state) else ""
    return f" ({heading if len(heading) <= 40 else heading[:39] + '…'}{gone})" if heading else ""


def _candidates(store: Store, asked: str, type_: str) -> list[tuple[str, int | None]]:
    numbered = _NUMBERED.fullmatch(asked)
    if numbered:
        number, letters = int(numbered[1]), numbered[2] or ""
        rows = store.query("SELECT entity, number FROM entities WHERE number = ? ORDER BY entity", (number,))
        found = [(row[0], row[1]) for row in rows if row[0].partition("/")[2].startswith(letters)]
        if found and not letters:
            living = [
                one
                for one in found
                if not store.query("SELECT deleted FROM entities WHERE entity = ?", (one[0],))[0][0]
            ]
            if len(living) == 1:
                return living
        if found:
            return found
    if not _PREFIX.fullmatch(asked):
        return []
    low = f"{type_}/{asked}"
    rows = store.query(
        "SELECT entity, number FROM entities WHERE entity >= ? AND entity < ? ORDER BY entity LIMIT 20",
        (low, low + "~"),
    )
    return [(row[0], row[1]) for row in rows]
