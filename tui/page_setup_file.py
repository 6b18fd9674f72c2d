"""The file behind setting up the start page: reading it, saving a draft of it, and leaving."""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding

from mait_code.commands import dashboard_approval, dashboard_edit
from mait_code.tui.keys_wait import start
from mait_code.tui.page_setup_reading import Opened, Question
from mait_code.tui.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.dashboard_edit import Draft
    from mait_code.commands.workspace import Workspace

__all__ = ["FileRoom"]


class FileRoom(Room[Opened]):
    """A room with a `draft` of dashboard.toml, which is written by Ctrl+S and not before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", tooltip="Write dashboard.toml"),
        Binding("ctrl+e", "editor", "Editor", tooltip="Save, and open the file in $EDITOR"),
        Binding("q", "cancel", "Back", tooltip="Back to home; asks where something is not saved"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.draft: Draft | None = None
        self.opened: Opened | None = None
        #: Commands that were typed here: who typed them has seen them, so saving allows them.
        self.typed: set[str] = set()
        self._saves = False

    @property
    def dirty(self) -> bool:
        """Whether leaving would lose something."""
        return self.draft is not None and self.draft.dirty

    def reading(self) -> Callable[[Workspace], Opened]:
        return Question(self.draft)

    def show(self, found: Opened) -> None:
        self.opened = found
        # What was written here while the answer was on its way stays.
        if found.draft is not None and not self.dirty:
            self.draft = found.draft

    # -- saving

    def action_save(self) -> None:
        start(self, self._write, group="changes")

    async def _write(self, over: bool = False) -> None:
        await self._saved(over)

    async def _saved(self, over: bool = False) -> bool:
        """Write the draft. False where that did not come about; where the file was changed meanwhile the person is asked."""
        from mait_code.commands.forms import ChangedMeanwhile

        draft = self.draft
        if draft is None or self._saves:
            return False
        text, began = draft.text, draft.began
        seen = [one.tile.command for one in draft.entries if one.tile is not None and one.tile.command in self.typed]

        def save(ws: Workspace) -> None:
            dashboard_edit.save(ws.home, text, began, over)
            if seen:
                dashboard_approval.approve(ws.home, seen)

        self._saves = True
        try:
            await self.house.ask(save)
        except ChangedMeanwhile:
            self._ask_over()
            return False
        except Exception as error:
            self.house.tell_error(error)
            return False
        finally:
            self._saves = False
        draft.began = text
        self.house.tell("The start page is saved.")
        self.house.look_again()
        return True

    def _ask_over(self) -> None:
        from mait_code.tui.dialogs import Confirm

        def answered(yes: bool | None) -> None:
            if yes:
                start(self, partial(self._write, over=True), group="changes")

        question = "dashboard.toml was changed meanwhile. Write over it?"
        self.app.push_screen(Confirm(question, "No goes on here.", yes="Write over", danger=True), answered)

    def action_editor(self) -> None:
        start(self, self._edit_by_hand, group="changes")

    async def _edit_by_hand(self) -> None:
        """Save, and open the file in the person's editor."""
        if self.opened is None or (self.draft is not None and not await self._saved()):
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            with self.app.suspend():
                subprocess.run([*shlex.split(editor), self.opened.path], check=False)
        except (SuspendNotSupported, OSError, ValueError) as error:
            self.house.tell(f"{editor} cannot be started: {getattr(error, 'strerror', None) or error}", "error")
        self.house.look_again()

    # -- leaving

    def action_back(self) -> None:
        self.action_cancel()

    def action_cancel(self) -> None:
        """Leave; where something is not saved, ask first."""
        from mait_code.tui.dialogs import Confirm

        def answered(leave: bool | None) -> None:
            if leave:
                super(FileRoom, self).action_back()

        if self.app.screen is not self:
            return
        if not self.dirty:
            super().action_back()
            return
        self.app.push_screen(Confirm("Leave without saving the start page?", yes="Leave", danger=True), answered)
