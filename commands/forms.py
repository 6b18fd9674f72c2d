"""Forms: several fields of one thing changed together, and nobody's change lost who came between.

A form shows texts by field. Saving gives those it showed (`seen`) and those that are wanted; the command compares `seen` with
what is true under the lock, and raises ChangedMeanwhile where it differs.
"""

from __future__ import annotations

from mait_code.journal.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ChangedMeanwhile", "changed", "check", "merged"]


class ChangedMeanwhile(Refused):
    """What a form showed is not what is there any more. `now` holds the fields as they are; nothing was written."""

    def __init__(self, what: str, now: Mapping[str, str]) -> None:
        super().__init__(f"{what} was changed meanwhile; nothing was saved", "look at both, then save again")
        self.now = dict(now)


def check(what: str, seen: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise ChangedMeanwhile where a field is not as the form showed it."""
    if any(now.get(field, "") != text for field, text in seen.items()):
        raise ChangedMeanwhile(what, now)


def changed(seen: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    """The fields that the person changed."""
    return {field: text for field, text in wanted.items() if text != seen.get(field)}


def merged(
    seen: Mapping[str, str], wanted: Mapping[str, str], now: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """What both want together: each field as whoever changed it wants it, the person's own where both did. Also the fields
    that both changed, and not alike."""
    mine = changed(seen, wanted)
    both = [field for field in mine if now.get(field, "") not in (seen.get(field, ""), mine[field])]
    return {**now, **mine}, both
