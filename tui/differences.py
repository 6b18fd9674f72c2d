"""What a change did to a value, as lines in styles: old → new in one line, or line by line where the texts are long."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from mait_code.commands.lookup import field_words, words

if TYPE_CHECKING:
    from typing import Any

    Piece = tuple[str, str]
    Styled = list[Piece]

__all__ = ["changed", "lines_of"]

#: Characters of two values that stand in one line.
_IN_LINE = 90
#: Lines shown beside those that differ, and characters of a line that is one of many.
_AROUND, _LONGEST = 1, 2000
#: Lines on both sides up to which they are compared one by one: the work grows with their product.
_COMPARED = 160_000
#: Lines told of a text that is too long to be compared.
_TOLD = 40


def changed(name: str, before: Any, after: Any) -> list[Styled]:
    """What became of a register. None is a value that is not there."""
    field = field_words(name)
    old, new = words(before), words(after)
    if name.partition(":")[0] in ("tag", "link"):
        if after in (None, False):
            return [[("error", f"- {field}")]]
        said = new if after is not True and after else ""
        return [[("success", f"+ {field}"), ("", f"  {said}" if said else "")]]
    if "\n" not in old + new and len(old) + len(new) <= _IN_LINE:
        if before is None:
            return [[("dim", f"{field}  "), ("success", new)]]
        return [[("dim", f"{field}  "), ("error", old), ("dim", " → "), ("success", new)]]
    return [[("dim", field)], *lines_of("" if before is None else old, "" if after is None else new)]


def lines_of(before: str, after: str) -> list[Styled]:
    """Two texts line by line: those that went, those that came, and a line of what stayed around them."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > _COMPARED:
        return [*_told("error", "- ", old), *_told("success", "+ ", new)]
    found: list[Styled] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_AROUND)):
        if number:
            found.append([("dim", "  ⋯")])
        for tag, low, high, start, end in group:
            if tag == "equal":
                found += _marked("dim", "  ", old[low:high])
            else:
                found += _marked("error", "- ", old[low:high])
                found += _marked("success", "+ ", new[start:end])
    return found


def _told(style: str, mark: str, lines: list[str]) -> list[Styled]:
    found = _marked(style, mark, lines[:_TOLD])
    return [*found, [("dim", f"  and {len(lines) - _TOLD} lines more")]] if len(lines) > _TOLD else found


def _marked(style: str, mark: str, lines: list[str]) -> list[Styled]:
    return [[(style, f"{mark}{line if len(line) <= _LONGEST else line[:_LONGEST] + '…'}")] for line in lines]
