"""An outline: rows beneath branches that open and close, of which only what is seen is painted."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.binding import Binding

from mait_code.tui.outline_reading import Branch, Outline
from mait_code.tui.rows import Rows

if TYPE_CHECKING:
    from textual.binding import BindingType

    from mait_code.tui.rows import Piece

__all__ = ["OutlineRows"]

T = TypeVar("T")


class OutlineRows(Rows["T | Branch"], Generic[T]):
    """Subclasses say with `leaf` how a leaf looks. Branches can be stood on; Enter, Space, ← and → open and close them."""

    KEYS_TITLE: ClassVar[str] = "In the list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "fold", "Close", show=False, tooltip="Close, or go to the heading"),
        Binding("right,l", "unfold", "Open", show=False, tooltip="Open a heading"),
        Binding("space", "flip", "Open or close", show=False),
    ]

    class Unfolded(Rows.Moved):
        """A branch was opened whose leaves are not here yet."""

    def __init__(self, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.outline: Outline[T] = Outline()
        #: Branches that somebody opened or closed, and whether they are open.
        self.folds: dict[str, bool] = {}

    def leaf(self, item: T, width: int) -> list[Piece]:
        """The line of a leaf."""
        raise NotImplementedError

    def paint(self, item: T | Branch, width: int) -> list[list[Piece]]:
        if not isinstance(item, Branch):
            return [self.leaf(item, width)]
        sign = "▾ " if self.is_open(item) else "▸ "
        style, mark = item.mark
        return [
            [
                ("dim", "  " * item.depth + sign),
                (style, mark),
                ("primary" if not item.depth else "", item.words),
                ("dim", f"  {item.detail}" if item.detail else ""),
            ]
        ]

    # -- contents

    def fill_outline(self, outline: Outline[T]) -> None:
        """Show other contents; what was opened and closed stays so."""
        self.outline = outline
        self._fill()

    def _fill(self) -> None:
        outline = self.outline
        items: dict[str, T | Branch] = {branch.key: branch for branch in outline.branches}
        items.update(outline.items)
        self.fill(outline.keys(self.folds), items)

    def add_leaves(self, items: dict[str, T]) -> None:
        """More leaves, asked for by `Wanted`."""
        self.outline.items.update(items)
        self.add(items)

    @property
    def branch(self) -> Branch | None:
        """The branch under the cursor, or the one that the cursor's leaf is beneath."""
        for place in range(min(self.cursor, len(self.keys) - 1), -1, -1):
            item = self.items.get(self.keys[place])
            if isinstance(item, Branch):
                return item
        return None

    @property
    def at(self) -> T | None:
        """The leaf under the cursor."""
        item = self.item
        return None if isinstance(item, Branch) else item

    def is_open(self, branch: Branch) -> bool:
        """Whether what is beneath a branch is seen."""
        return self.folds.get(branch.key, branch.is_open)

    # -- opening and closing

    def set_open(self, branch: Branch, is_open: bool) -> None:
        """Open or close a branch; the cursor goes to it where it was beneath it."""
        if self.is_open(branch) == is_open:
            return
        self.folds[branch.key] = is_open
        if not is_open:
            self.go_to(branch.key)
        self._fill()
        if is_open and branch.count and not branch.leaves:
            self.post_message(self.Unfolded(self))

    def action_fold(self) -> None:
        here = self.branch
        if here is None:
            return
        if self.key == here.key and not self.is_open(here):
            above = [
                one for one in self.outline.branches[: self.outline.branches.index(here)] if one.depth < here.depth
            ]
            if above:
                self.go_to(above[-1].key)
        elif self.key == here.key:
            self.set_open(here, False)
        else:
            self.go_to(here.key)

    def action_unfold(self) -> None:
        here = self.branch
        if here is not None and self.key == here.key:
            if self.is_open(here):
                self.action_step(1)
            else:
                self.set_open(here, True)

    def action_flip(self) -> None:
        here = self.branch
        if here is not None:
            self.set_open(here, not self.is_open(here))

    def action_choose(self) -> None:
        if isinstance(self.item, Branch):
            self.action_flip()
        else:
            super().action_choose()

    def clicked(self, times: int) -> None:
        if not isinstance(self.item, Branch):
            super().clicked(times)
        elif times == 1:
            self.action_flip()
