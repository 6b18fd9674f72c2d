"""What can be done to a card, from the board and from the card's own screen alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding

from mait_code.projections.cards import COLUMNS, PRIORITIES
from mait_code.tui.board_reading import heading
from mait_code.tui.keys_wait import start
from mait_code.tui.room import Room

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card
    from mait_code.tui.form import Field

__all__ = ["CardsRoom", "form_fields"]

T = TypeVar("T")


class CardsRoom(Room[T]):
    """A room with a card under the cursor, and the keys that change it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit"),
        Binding("less_than_sign", "shift(-1)", "Move", key_display="<", tooltip="Move left, right"),
        Binding("greater_than_sign", "shift(1)", "Move", key_display=">", tooltip="Move left, right"),
        Binding("c", "comment", "Comment"),
        Binding("C", "complete", "Complete", tooltip="Complete, with a summary"),
        Binding("t", "tag", "Tag", tooltip="Tag, or take a tag off"),
        Binding("b", "block", "Block", tooltip="Block, with a reason"),
        Binding("u", "unblock", "Unblock"),
        Binding("x", "export", "Export", tooltip="Export to a file", show=False),
    ]

    @property
    def card(self) -> Card | None:
        """The card that keys are about."""
        raise NotImplementedError

    def _chosen(self) -> Card | None:
        card = self.card
        if card is None:
            self.house.tell("There is no card under the cursor; n makes one.")
        return card

    def beside(self, status: str, by: int) -> str | None:
        """The column left or right of one; None at the edge. In review is passed over, and nothing is archived by a slip."""
        order = [column for column in COLUMNS if column not in ("in_review", "archived") or column == status]
        place = order.index(status) + by if status in order else 0
        return order[place] if 0 <= place < len(order) else None

    def move_to(self, card: Card, column: str) -> None:
        """Move a card to a column, and say so."""

        def move(ws: Workspace) -> Card:
            from mait_code.commands import board_moves

            return board_moves.move(ws, card.entity, column)

        self.house.change(move, f"{card.short} moved to {heading(column).lower()}", self.moved)

    def moved(self, card: Card) -> None:
        """A card came into another column."""

    def action_shift(self, by: int) -> None:
        card = self._chosen()
        if card is None:
            return
        column = self.beside(card.status, by)
        if column is not None:
            self.move_to(card, column)

    def action_edit(self) -> None:
        card = self._chosen()
        if card is None:
            return
        start(self, partial(self._edit, card.entity), group="dialogs", exclusive=True)

    async def _edit(self, entity: str) -> None:
        from mait_code.commands import board, board_form
        from mait_code.tui.form import Form

        def now(ws: Workspace) -> dict[str, str]:
            return board_form.texts(board.find(ws.board, entity))

        try:
            card = await self.house.ask(lambda ws: board.find(ws.board, entity))
        except Exception as error:
            self.house.tell_error(error)
            return
        form: Form[Card] = Form(
            f"Edit {card.short}",
            form_fields(),
            board_form.texts(card),
            lambda ws, seen, wanted: board_form.save(ws, entity, seen, wanted),
            lambda saved: f"{saved.short} saved",
            now=now,
        )
        self.app.push_screen(form)

    def action_comment(self) -> None:
        def save(ws: Workspace, entity: str, text: str) -> Card:
            from mait_code.commands import board_edits

            return board_edits.comment(ws, entity, text)

        self._write("Comment on", "Comment", save, "commented on")

    def action_complete(self) -> None:
        def save(ws: Workspace, entity: str, text: str) -> Card:
            from mait_code.commands import board_moves

            return board_moves.complete(ws, entity, text)

        self._write("Complete", "What was done (may stay empty)", save, "completed")

    def _write(self, heading_: str, label: str, save: Callable[[Workspace, str, str], Card], done: str) -> None:
        """A form of one text about the card."""
        card = self._chosen()
        if card is None:
            return
        from mait_code.tui.form import Field, Form

        def stored(ws: Workspace, _seen: Mapping[str, str], wanted: Mapping[str, str]) -> Card:
            return save(ws, card.entity, wanted["text"])

        form: Form[Card] = Form(
            f"{heading_} {card.short}",
            [Field("text", label, lines=6, hint="Markdown")],
            {},
            stored,
            lambda saved: f"{saved.short} {done}",
        )
        self.app.push_screen(form)

    def action_tag(self) -> None:
        card = self._chosen()
        if card is None:
            return
        from mait_code.tui.dialogs import Ask

        def given(tag: str | None) -> None:
            if not tag:
                return
            carried = tag in card.tags

            def change(ws: Workspace) -> Card:
                from mait_code.commands import board_edits

                return (board_edits.untag if carried else board_edits.tag)(ws, card.entity, tag)

            self.house.change(change, f"{card.short} {'lost' if carried else 'got'} the tag {tag}")

        carries = f"It carries {', '.join(card.tags)}; the same again takes it off." if card.tags else ""
        self.app.push_screen(Ask(f"Tag {card.short}", hint=carries), given)

    def action_block(self) -> None:
        card = self._chosen()
        if card is None:
            return
        from mait_code.tui.dialogs import Ask

        def given(reason: str | None) -> None:
            if reason is None:
                return

            def change(ws: Workspace) -> Card:
                from mait_code.commands import board_edits

                return board_edits.block(ws, card.entity, reason)

            self.house.change(change, f"{card.short} blocked")

        self.app.push_screen(Ask(f"Block {card.short}", hint="Why? It may stay empty.", empty=True), given)

    def action_unblock(self) -> None:
        card = self._chosen()
        if card is None:
            return

        def change(ws: Workspace) -> Card:
            from mait_code.commands import board_edits

            return board_edits.unblock(ws, card.entity)

        self.house.change(change, f"{card.short} unblocked")

    def action_export(self) -> None:
        card = self._chosen()
        if card is None:
            return
        from mait_code.tui.dialogs import Ask

        def given(file: str | None) -> None:
            if file is not None:
                self._export(card, file)

        self.app.push_screen(Ask(f"Export {card.short} to", f"card-{card.short}.md", "Markdown, to this file."), given)

    def _export(self, card: Card, file: str) -> None:
        import os

        from mait_code.tui.dialogs import Confirm

        def write(sure: bool | None) -> None:
            def export(ws: Workspace) -> str:
                from mait_code.commands import board, board_export

                return board_export.write(file, board_export.markdown([board.show(ws, card.entity)]))

            async def run() -> None:
                try:
                    self.house.tell(f"Wrote {await self.house.ask(export)}")
                except Exception as error:
                    self.house.tell_error(error)

            if sure:
                start(self, run, group="changes")

        if os.path.isfile(os.path.expanduser(file)):
            self.app.push_screen(Confirm(f"{file} is there already. Replace it?", yes="Replace", danger=True), write)
        else:
            write(True)


def form_fields() -> list[Field]:
    """The fields of a card, in the order of the form."""
    from mait_code.tui.form import Field

    return [
        Field("title", "Title"),
        Field("priority", "Priority", choices=PRIORITIES, hint="← →"),
        Field("status", "Status", choices=COLUMNS, hint="← →"),
        Field("tags", "Tags", hint="with commas between"),
        Field("references", "References", lines=3, hint="label: value, one a line"),
        Field("description", "Description", lines=6, hint="Markdown"),
        Field("acceptance", "Acceptance criteria", lines=4, hint="Markdown"),
    ]
