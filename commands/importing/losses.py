"""What was not taken of another program's data, and why."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Lost", "nothing_kept"]


class Lost:
    """Rows that were not taken: `first` to `last` of a table (or lines of a file), and why.

    `meant`: not for a fault of theirs, but because they are private.
    """

    __slots__ = ("first", "last", "meant", "reason", "table")

    def __init__(
        self, table: str, first: int | None, reason: str, last: int | None = None, meant: bool = False
    ) -> None:
        self.meant = meant
        self.table = table
        self.first = first
        self.last = first if last is None else last
        self.reason = reason

    def __str__(self) -> str:
        if self.first is None:
            return f"{self.table}: {self.reason}"
        rows = f"row {self.first}" if self.first == self.last else f"rows {self.first} to {self.last}"
        return f"{self.table} {rows}: {self.reason}"

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "table": self.table,
            "first": self.first,
            "last": self.last,
            "reason": self.reason,
            "private": self.meant,
        }


def nothing_kept(table: str, row: int | None, had: object) -> Lost:
    """A row of which nothing is left to store: all of what it `had` is private, or it had nothing."""
    return Lost(table, row, "all of it is private" if had else "it is empty", meant=bool(had))
