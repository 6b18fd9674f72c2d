"""The neighbourhood of one thing in the graph: what it relates to, what those relate to, and so on, each thing once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mait_code.projections.graph_queries import Link, Thing

__all__ = ["MOST", "Ego", "Tie", "Ties", "glyph"]

#: Things of a neighbourhood at most, without the one in the middle.
MOST = 40
#: Signs of what somebody or something is, and their styles.
_GLYPHS = {"person": "●", "project": "◆", "tool": "▲", "service": "■", "concept": "○", "org": "★", "organization": "★"}
_STYLES = {"●": "accent", "◆": "primary", "▲": "success", "■": "warning", "○": "dim", "★": "error"}


def glyph(thing: Thing) -> tuple[str, str]:
    """The sign of what somebody or something is, with its style."""
    sign = _GLYPHS.get(thing.entity_type, "·")
    return _STYLES.get(sign, "dim"), sign


class Tie:
    """A thing as it hangs on another one: by which relations, whether they go out to it, and what hangs on it in turn."""

    __slots__ = ("other", "outward", "relations", "ties")

    def __init__(self, other: Thing, relations: list[tuple[str, bool]]) -> None:
        self.other = other
        #: (name, whether it goes out to the other), those that go out first.
        self.relations = sorted(relations, key=lambda one: (not one[1], one[0]))
        self.outward = self.relations[0][1]
        self.ties: list[Tie] = []

    @property
    def words(self) -> str:
        """Its relations in the direction that it is drawn in."""
        return ", ".join(name for name, outward in self.relations if outward == self.outward)


class Ego:
    """A neighbourhood. `left_out` counts what is as near, and for which there is no room."""

    __slots__ = ("centre", "left_out", "ties")

    def __init__(self, centre: Thing) -> None:
        self.centre = centre
        self.ties: list[Tie] = []
        self.left_out = 0

    def walk(self) -> Iterable[tuple[int, Tie, Thing]]:
        """Each tie with how far it is (1: next to the middle) and what it hangs on, as it is drawn: depth first."""
        waiting = [(1, tie, self.centre) for tie in reversed(self.ties)]
        while waiting:
            depth, tie, above = waiting.pop()
            yield depth, tie, above
            waiting += [(depth + 1, one, tie.other) for one in reversed(tie.ties)]


class Ties:
    """Who relates to whom, made once of all links."""

    def __init__(self, things: Mapping[str, Thing], links: Iterable[Link]) -> None:
        self._things = things
        self._of: dict[str, dict[str, list[tuple[str, bool]]]] = {}
        for source, relation, target in links:
            self._of.setdefault(source, {}).setdefault(target, []).append((relation, True))
            self._of.setdefault(target, {}).setdefault(source, []).append((relation, False))

    def count(self, id_: str) -> int:
        """To how many things one relates."""
        return len(self._of.get(id_, ()))

    def ego(self, id_: str, hops: int, most: int = MOST) -> Ego:
        """What is so many steps away at most: the nearest first, of those as near the most mentioned."""
        found = Ego(self._things[id_])
        seen, level = {id_}, [(id_, found.ties)]
        for _ in range(hops):
            following: list[tuple[str, list[Tie]]] = []
            for above, ties in level:
                near = [(self._things[other], relations) for other, relations in self._of.get(above, {}).items()]
                for other, relations in sorted(near, key=lambda one: _rank(one[0])):
                    if other.id in seen:
                        continue
                    if len(seen) > most:
                        found.left_out += 1
                        continue
                    seen.add(other.id)
                    tie = Tie(other, relations)
                    ties.append(tie)
                    following.append((other.id, tie.ties))
            level = following
        return found


def _rank(thing: Thing) -> tuple[int, str, str]:
    return -thing.mention_count, thing.name.casefold(), thing.id
