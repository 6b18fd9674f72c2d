"""What somebody did to MEMORY.md: its bullets against those it was last written with.

A bullet that stands as it stood, or elsewhere, is the same memory. Of the others each new one is held against those that are
gone: one much like it, or somewhat like it in the very same place, was changed; what is left is new, or was removed. A wrong
"changed" would hide a memory behind another, a wrong "removed and added" only unpins it, so doubt counts as the latter.
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mait_code.projections.memory_file_block import Bullet

#: From this likeness on (0 to 1) a bullet was changed: in the same place, in the same section, anywhere.
SAME_PLACE = 0.5
SAME_SECTION = 0.6
ELSEWHERE = 0.8
#: What a bullet and one that holds it, in the same place, have at most in common beyond their likeness.
_CONTAINED = 0.9
#: Pairs to be compared by their text, beyond which only those in the same place are.
_MOST_PAIRS = 20_000


#: When two bullets are the same one, the closest first.
_SAME: tuple[Callable[[Bullet], object], ...] = (
    lambda one: one,
    lambda one: one[:2],
    lambda one: one[1:],
    lambda one: one.text,
)


class Edit:
    """A bullet of the file. `before` is what it was when the file was last written; None for a new one."""

    __slots__ = ("before", "bullet", "ids")

    def __init__(self, bullet: Bullet, before: Bullet | None = None, ids: Sequence[str] = ()) -> None:
        self.bullet = bullet
        self.before = before
        self.ids = list(ids)


class Written:
    """A bullet as it was last written, and the memories that it stood for."""

    __slots__ = ("bullet", "ids")

    def __init__(self, bullet: Bullet, ids: Sequence[str]) -> None:
        self.bullet = bullet
        self.ids = list(ids)


def compare(before: Sequence[Written], now: Sequence[Bullet]) -> tuple[list[Edit], list[Written]]:
    """Every bullet of the file with what it was, in order, and those that are gone."""
    matched = _matched(before, now)
    taken = set(matched.values())
    left = [place for place in range(len(before)) if place not in taken]
    new = [place for place in range(len(now)) if place not in matched]
    for place, was in _changed(before, now, left, new, matched):
        matched[place] = was
        taken.add(was)
    edits = []
    for place, bullet in enumerate(now):
        old = before[matched[place]] if place in matched else None
        edits.append(Edit(bullet) if old is None else Edit(bullet, old.bullet, old.ids))
    return edits, [before[place] for place in left if place not in taken]


def _matched(before: Sequence[Written], now: Sequence[Bullet]) -> dict[int, int]:
    """Bullets that are as they were (their place in the file -> what it was), then those of the same words elsewhere."""
    matched: dict[int, int] = {}
    taken: set[int] = set()
    for same in _SAME:
        known: dict[object, list[int]] = {}
        for place, written in enumerate(before):
            if place not in taken:
                known.setdefault(same(written.bullet), []).append(place)
        for place, bullet in enumerate(now):
            found = known.get(same(bullet)) if place not in matched else None
            if found:
                matched[place] = found.pop(0)
                taken.add(matched[place])
    return matched


def _changed(
    before: Sequence[Written], now: Sequence[Bullet], left: list[int], new: list[int], matched: dict[int, int]
) -> list[tuple[int, int]]:
    """Pairs (new, gone) that are one bullet changed: the most alike first, each once."""
    places_before = _places([one.bullet.section for one in before], {was: was for was in matched.values()})
    places_now = _places([bullet.section for bullet in now], matched)
    all_pairs = len(left) * len(new) <= _MOST_PAIRS
    found: list[tuple[float, int, int]] = []
    pieces: dict[str, Counter[str]] = {}
    for place in new:
        for was in left:
            one, other = now[place], before[was].bullet
            same_place = _is_same_place(places_now[place], places_before[was])
            if not (same_place or all_pairs):
                continue
            alike = likeness(one.text, other.text, pieces, same_place)
            least = SAME_PLACE if same_place else SAME_SECTION if one.section == other.section else ELSEWHERE
            if alike >= least:
                found.append((-alike, place, was))
    pairs: dict[int, int] = {}
    used: set[int] = set()
    for _alike, place, was in sorted(found):
        if place not in pairs and was not in used:
            pairs[place] = was
            used.add(was)
    return list(pairs.items())


def _places(sections: Sequence[str], matched: dict[int, int]) -> list[tuple[str, int, int]]:
    """For each bullet its section, the last one before it there that is in both (its old number, or -1), and how many
    bullets after that one it stands."""
    last: dict[str, tuple[int, int]] = {}
    places = []
    for place, section in enumerate(sections):
        after, rank = last.get(section, (-1, 0))
        places.append((section, after, rank))
        last[section] = (matched[place], 0) if place in matched else (after, rank + 1)
    return places


def _is_same_place(one: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
    return one[:2] == other[:2] and abs(one[2] - other[2]) <= 1


def likeness(one: str, other: str, pieces: dict[str, Counter[str]], same_place: bool = False) -> float:
    """How much two texts have in common, 0 to 1: twice the pairs of characters in both, by all of them (Dice 1945). In the
    same place a text that holds the other counts as like it."""
    first, second = _pieces(one, pieces), _pieces(other, pieces)
    common = (first & second).total()
    alike = 2 * common / ((first.total() + second.total()) or 1)
    shorter, longer = sorted((one.casefold(), other.casefold()), key=len)
    if same_place and len(shorter) >= 4 and shorter in longer:
        return max(alike, _CONTAINED)
    return alike


def _pieces(text: str, known: dict[str, Counter[str]]) -> Counter[str]:
    found = known.get(text)
    if found is None:
        plain = " ".join(text.casefold().split())
        found = known[text] = Counter(plain[at : at + 2] for at in range(max(len(plain) - 1, 1)))
    return found
