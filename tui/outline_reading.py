"""What a room with an outline, and a pane of what is under its cursor, asks for. Nothing here knows a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Branch", "Line", "Outline", "Text", "in_sight"]

T = TypeVar("T")
#: A line as pieces of a style (as rows know them: dim, strong, success ...; empty for plain) and text.
Line = list[tuple[str, str]]

#: Leaves that are read before it is known how many are seen, and those read beside the ones in sight: new ones come there.
_FIRST, _BESIDE = 60, 10


class Branch:
    """A heading of an outline. `leaves` are the keys beneath it, which may be left out while it is closed; `count` is how
    many there are. Branches beneath it follow it with a greater `depth`. `mark` is a style and a sign before its words."""

    __slots__ = ("count", "depth", "detail", "is_open", "key", "leaves", "mark", "words")

    def __init__(
        self,
        key: str,
        words: str,
        detail: str = "",
        *,
        count: int = 0,
        depth: int = 0,
        is_open: bool = True,
        mark: tuple[str, str] = ("", ""),
    ) -> None:
        self.key = key
        self.words = words
        self.detail = detail
        self.count = count
        self.depth = depth
        self.is_open = is_open
        self.mark = mark
        self.leaves: list[str] = []


class Outline(Generic[T]):
    """The answer: branches in their order with the keys beneath them, the leaves that are in sight, where this is, and what
    else the banner says."""

    __slots__ = ("banner", "branches", "items", "total", "where")

    def __init__(self, where: str = "", banner: str = "") -> None:
        self.branches: list[Branch] = []
        self.items: dict[str, T] = {}
        self.where = where
        self.banner = banner
        #: How much there is, whatever is filtered.
        self.total = 0

    def keys(self, folds: Mapping[str, bool]) -> list[str]:
        """The rows that are seen: `folds` says of branches that somebody opened or closed, whether they are open."""
        found: list[str] = []
        closed: int | None = None  # the depth of the closed branch that this is beneath
        for branch in self.branches:
            if closed is not None and branch.depth > closed:
                continue
            closed = None
            found.append(branch.key)
            if folds.get(branch.key, branch.is_open):
                found += branch.leaves
            else:
                closed = branch.depth
        return found


def in_sight(listed: list[str], seen: Iterable[str]) -> list[str]:
    """Of the keys that are listed those that were seen, with what has come between and beside them; else the first ones."""
    before = set(seen)
    places = [place for place, key in enumerate(listed) if key in before]
    if not places:
        return listed[:_FIRST]
    low = max(0, places[0] - _BESIDE)
    return listed[low : min(places[-1] + _BESIDE, low + 4 * _FIRST)]


class Text:
    """What the pane shows: a title, facts by name, and a text in Markdown. `plain` says that the text is none. `lines` is
    what stands in place of the text where its pieces have styles."""

    __slots__ = ("facts", "lines", "plain", "text", "title")

    def __init__(
        self,
        title: str,
        facts: list[tuple[str, str]],
        text: str,
        plain: bool = False,
        lines: list[Line] | None = None,
    ) -> None:
        self.title = title
        self.facts = [(name, value) for name, value in facts if value]
        self.text = text
        self.plain = plain or lines is not None
        self.lines = lines

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]
