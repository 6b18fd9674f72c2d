"""An outline that grows at its top: what is looked at stays where it is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from mait_code.tui.outline_rows import OutlineRows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mait_code.tui.outline_reading import Branch

__all__ = ["LiveRows"]

T = TypeVar("T")


class LiveRows(OutlineRows[T], Generic[T]):
    """Days with what happened on them, the newest first."""

    def fill(self, keys: Sequence[str], items: Mapping[str, T | Branch]) -> None:
        """As always; where rows came in above the cursor, the view moves along with it."""
        key, before, top = self.key, self.cursor, self.scroll_offset.y
        super().fill(keys, items)
        moved = self.cursor - before
        if key is None or self.key != key or not moved or not self.is_mounted:
            return
        if top:
            self.scroll_to(y=top + moved * self.row_height, animate=False, force=True, immediate=True)
        else:
            self.show_cursor()

    def go_to_first(self) -> None:
        """Put the cursor on the first leaf: one reads what happened, not the name of a day."""
        names = {branch.key for branch in self.outline.branches}
        for key in self.keys:
            if key not in names:
                self.go_to(key)
                self.scroll_to(y=0, animate=False, force=True, immediate=True)
                return
