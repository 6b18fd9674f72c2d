"""The text of a session's context: lines of what is stored, and how they are made to fit.

Its length is counted as the client counts it, in UTF-16 units, of which most emoji have two.
"""

from __future__ import annotations

from mait_code.commands.output import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["Item", "Section", "fitted", "one_line", "units"]

#: How the client marks what it says itself: stored text must not look like that.
_TAG = r"<(?=\s*/?\s*system)"


class Item:
    """One line, and the same as data."""

    __slots__ = ("data", "line")

    def __init__(self, line: str, data: dict[str, Any]) -> None:
        self.line = line
        self.data = data


class Section:
    """What there is to say of one thing. `total` counts what is not among the items too; `more` is the command that shows
    all of it. `shown` is how many items stand in the text."""

    __slots__ = ("items", "more", "name", "shown", "title", "total")

    def __init__(self, name: str, title: str, items: list[Item], total: int = 0, more: str = "") -> None:
        self.name = name
        self.title = title
        self.items = items
        self.total = max(total, len(items))
        self.more = more
        self.shown = 0

    def json(self) -> dict[str, Any]:
        """The section as `--json` prints it."""
        items = [one.data for one in self.items]
        return {"name": self.name, "title": self.title, "total": self.total, "shown": self.shown, "items": items}


def units(text: str) -> int:
    """How long the client finds a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def one_line(text: object, most: int) -> str:
    """Stored text as part of one line, of at most so many units: nothing in it acts on a terminal or looks like a line of
    ours."""
    flat = visible(" ".join(str(text)[: 4 * most].split()))
    if "<" in flat:
        import re

        flat = re.sub(_TAG, "‹", flat, flags=re.IGNORECASE)
    if units(flat) <= most and len(str(text)) <= 4 * most:
        return flat
    kept = flat[: most - 1]
    while (over := units(kept) - (most - 1)) > 0:
        kept = kept[: -((over + 1) // 2)]
    return kept.rstrip() + "…"


def fitted(head: Sequence[str], notices: Sequence[str], sections: Sequence[Section], limit: int) -> str:
    """Notices and sections below the head, in order, as many whole lines as fit into the limit. Empty where there are none."""
    text = "\n".join(head)
    left = limit - units(text)
    said = False
    for notice in notices:
        if units(notice) + 1 <= left:
            text += f"\n{notice}"
            left -= units(notice) + 1
            said = True
    for section in sections:
        lines = _lines(section, left)
        if lines:
            block = "\n\n" + "\n".join(lines)
            text += block
            left -= units(block)
    return text if said or any(section.shown for section in sections) else ""


def _lines(section: Section, left: int) -> list[str]:
    """The heading and the items that fit, with a word about those that do not. Nothing where not one does."""
    heading = f"## {section.title}"
    left -= units(heading) + 2
    lines: list[str] = []
    for item in section.items:
        left -= units(item.line) + 3
        if left < 0:
            left += units(item.line) + 3
            break
        lines.append(f"- {item.line}")
    section.shown = len(lines)
    if lines and section.shown < section.total and section.more:
        while True:
            rest = f"- and {section.total - section.shown} more: {section.more}"
            if units(rest) + 1 <= left:
                lines.append(rest)
                break
            if section.shown <= 1:
                break
            left += units(lines.pop()) + 1
            section.shown -= 1
    return [heading, *lines] if lines else []
