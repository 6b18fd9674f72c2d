"""A dialog: something small over a room, that ends once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from textual.screen import ModalScreen

from mait_code.tui.keys_wait import KeysWait

if TYPE_CHECKING:
    from pathlib import PurePath

__all__ = ["Dialog"]

T = TypeVar("T")
#: Seconds between looks whether what lies over a dialog is gone.
_LOOK = 0.1


class Dialog(KeysWait, ModalScreen["T | None"], Generic[T]):
    """Subclasses end with `leave`, which may be called twice, and while another dialog lies over this one."""

    CSS_PATH: ClassVar[str | list[str | PurePath]] = "dialog.tcss"

    def __init__(self) -> None:
        super().__init__()
        self._ended = False

    @property
    def is_ending(self) -> bool:
        """Whether keys are for what comes after it."""
        return self._ended

    def leave(self, result: T | None = None) -> None:
        """End, and give the result to whoever opened it."""
        if self._ended or self not in self.app.screen_stack:
            return
        if self.app.screen is not self:
            self.set_timer(_LOOK, lambda: self.leave(result))
            return
        self._ended = True
        self.dismiss(result)
