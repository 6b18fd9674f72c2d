"""Conflicts: fields that two machines changed without knowing of each other, both sides of each, and a key to pick one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from mait_code.tui.conflicts_reading import Dispute, Question, Version
from mait_code.tui.list_room import ListRoom
from mait_code.tui.sections import Sections
from mait_code.tui.sheet import Sheet
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.list_reading import Listed
    from mait_code.tui.rows import Piece

__all__ = ["ConflictsRoom"]

_DIGITS = range(1, 10)
#: Characters of a value in its row.
_IN_ROW = 60


class DisputeRows(Sections[Dispute]):
    """Fields in conflict, under the things they are of."""

    KEYS_TITLE = "In the list"

    def paint(self, item: Dispute, width: int) -> list[list[Piece]]:
        del width
        values: list[Piece] = []
        for side in item.sides:
            line = " ".join(side.text.split())
            values.append(("dim", "  |  " if values else "  "))
            values.append(
                ("strong" if side.stands else "", line if len(line) <= _IN_ROW else line[: _IN_ROW - 1] + "…")
            )
        if self.row_height == 1:
            return [[("warning", f"≠ {item.field}"), *values]]
        return [[("warning", f"≠ {item.field}")], values]


class Sides(Sheet):
    """Both sides over the whole screen; a number picks here too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"pick('{number}')", "Pick a side") for number in _DIGITS)
    ]

    def __init__(self, heading: str, text: Content, count: int) -> None:
        super().__init__(heading, text)
        self._count = count

    def action_pick(self, number: str) -> None:
        if int(number) <= self._count:
            self.leave(number)


class ConflictsRoom(ListRoom[Dispute]):
    """Open conflicts, field by field."""

    NAME: ClassVar[str] = "Conflicts"
    FINDS: ClassVar[str] = "words of the title, a field, a value, a machine"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"pick({number})", "Pick a side") for number in _DIGITS),
        Binding("slash", "search", "Search"),
    ]

    def rows_widget(self) -> Sections[Dispute]:
        return DisputeRows(id="disputes")

    def reading(self) -> Callable[[Workspace], Listed[Dispute]]:
        return Question(self.search)

    def nothing(self, found: Listed[Dispute]) -> str:  # noqa: ARG002
        return (
            "No open conflicts.\n\n"
            "They appear after mait-code sync, where two machines changed one field without knowing of each other."
        )

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only sides that are there can be picked."""
        if action == "pick" and self.is_mounted and self.children:
            item = self.item
            if item is None or int(str(parameters[0])) > len(item.sides):
                return False
        return super().check_action(action, parameters)

    def moved(self) -> None:
        super().moved()
        self.refresh_bindings()

    def show(self, found: Listed[Dispute]) -> None:
        super().show(found)
        self.refresh_bindings()

    def title_of(self, item: Dispute) -> str:
        return f"{item.kind} {item.short}: {item.field}"

    def whole(self, item: Dispute) -> Content:
        blocks = [
            Content.assemble(
                (f"{item.kind} {item.short}", "bold"), "  ", visible(item.title), "\n", (item.field, "$warning")
            )
        ]
        blocks += [_side(side, item) for side in item.sides]
        last = len(item.sides)
        blocks.append(
            Content.assemble(
                (f"1–{last}" if last > 2 else "1 2", "bold $accent"),
                (" picks that side and closes the conflict", "$dim"),
            )
        )
        return Content("\n\n").join(blocks)

    def open(self, item: Dispute) -> None:
        """Both sides whole; a number picks."""

        def given(number: str | None) -> None:
            if number is not None and (self.rows.key == item.key or self.rows.go_to(item.key)):
                self.action_pick(int(number))

        self.app.push_screen(Sides(self.title_of(item), self.whole(item), len(item.sides)), given)

    def action_pick(self, number: int) -> None:
        """Close the conflict under the cursor with one of its sides."""
        item = self.chosen()
        if item is None or not 1 <= number <= len(item.sides):
            return

        def pick(ws: Workspace) -> str:
            from mait_code.commands import conflicts

            conflicts.pick(ws, item.conflict, number)
            return item.conflict.short

        picked = " ".join(item.sides[number - 1].text.split())
        shown = picked if len(picked) <= _IN_ROW else picked[: _IN_ROW - 1] + "…"
        memory = item.kind == "memory"
        self.send_away(pick, lambda short: f"{item.field} of {short} is {shown}", memory)


def _side(side: Version, item: Dispute) -> Content:
    """A side: its number, who wrote it, and the value, with the lines that the other sides have too held back."""
    head: list[Any] = [(f" {side.number} ", "bold $background on $accent"), "  ", (visible(side.who), "$dim")]
    if side.stands:
        head.append(("  ←\N{NO-BREAK SPACE}shown\N{NO-BREAK SPACE}meanwhile", "$success"))
    lines = visible(side.text, multiline=True).split("\n")
    own = side.text.split("\n")
    several = len(own) > 1
    value = [
        Content.styled(f"    {line}", "$dim" if several and raw in item.shared else "$foreground")
        for line, raw in zip(lines, own, strict=False)
    ]
    return Content("\n").join([Content.assemble(*head), *value])
