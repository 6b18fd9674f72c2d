"""Review: memories that are due to be looked at again, the most decayed first, each dealt with by a single key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from mait_code.commands import memory_facts
from mait_code.tui import memory_reading
from mait_code.tui.keys_wait import start
from mait_code.tui.list_room import ListRoom
from mait_code.tui.memory_reading import HERE
from mait_code.tui.review_reading import Question, Waiting
from mait_code.tui.sections import Sections
from mait_code.tui.text_lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory
    from mait_code.tui.list_reading import Listed
    from mait_code.tui.rows import Piece

__all__ = ["ReviewRoom"]

#: Below this recall a memory is nearly gone.
_FADED = 0.1


class DueRows(Sections[Waiting]):
    """Memories that are due."""

    KEYS_TITLE = "In the list"

    def paint(self, item: Waiting, width: int) -> list[list[Piece]]:
        del width
        one = item.memory
        recall: Piece = ("error" if item.recall < _FADED else "warning", f"{round(item.recall * 100):>3} %")
        text = " ".join(one.content[:400].split()) or "(nothing but blanks)"
        if self.row_height == 1:
            return [[recall, ("dim", f"  {one.short}  "), ("", text)]]
        facts: list[Piece] = [recall, ("dim", f"  {one.short}  {one.entry_type}, importance {one.importance}")]
        if one.pinned:
            facts.append(("warning", "  ◆ pinned"))
        if one.conflicts:
            facts.append(("error", "  ≠ conflict"))
        if one.project:
            facts.append(("accent", f"  {one.project.rpartition('/')[2]}"))
        return [[("", text)], facts]


class ReviewRoom(ListRoom[Waiting]):
    """What is due. What was dealt with leaves the list at once; z brings it back."""

    NAME: ClassVar[str] = "Review"
    FINDS: ClassVar[str] = "words of the text, a type, a project, an id"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "confirm", "Confirm", tooltip="It is still true"),
        Binding("e", "refine", "Refine", tooltip="Put a better wording in its place"),
        Binding("x", "retire", "Retire", tooltip="It is true no longer: put it away"),
        Binding("slash", "search", "Search"),
        Binding("p", "project", "Project"),
    ]

    def __init__(self, place: str = HERE) -> None:
        super().__init__()
        self._place = place

    def rows_widget(self) -> Sections[Waiting]:
        return DueRows(id="due")

    def reading(self) -> Callable[[Workspace], Listed[Waiting]]:
        return Question(self._place, self.search)

    def nothing(self, found: Listed[Waiting]) -> str:  # noqa: ARG002
        return (
            "Nothing is due for review.\n\nWhat is important and was not seen for long comes here;"
            " the settings review-threshold and review-min-importance say what that means.\n\np shows other projects."
        )

    def title_of(self, item: Waiting) -> str:
        return str(item.memory.short)

    def whole(self, item: Waiting) -> Content:
        facts = [("recalled", f"{round(item.recall * 100)} %"), *memory_facts.known(item.memory)]
        lines = [
            Content.assemble((f"{name:<12}", "$dim"), (visible(value, multiline=True), "$dim"))
            for name, value in facts
            if value
        ]
        return Content("\n").join([Content(visible(item.memory.content, multiline=True)), Content(""), *lines])

    # -- what the keys do

    def action_confirm(self) -> None:
        found = self.chosen()
        if found is None:
            return
        entity = found.memory.entity

        def confirm(ws: Workspace) -> Memory:
            from mait_code.commands import memory_review

            return memory_review.reviewed(ws, entity)

        self.send_away(confirm, lambda one: f"{one.short} is still true", memory=True)

    def action_refine(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.commands import memory_form
        from mait_code.tui.form import Field, Form

        entity, short = found.memory.entity, found.memory.short

        def now(ws: Workspace) -> dict[str, str]:
            from mait_code.commands import memory_edits

            return memory_form.texts(memory_edits.living(ws.reading("memory"), entity))

        form: Form[Memory] = Form(
            f"Refine {short}",
            [
                Field("content", "What is true now", lines=8, hint="the old wording is kept, and no longer found"),
                Field("importance", "Importance", choices=tuple(map(str, range(1, 11))), hint="← →"),
            ],
            memory_form.texts(found.memory),
            lambda ws, seen, wanted: memory_form.refine(ws, entity, seen, wanted),
            lambda one: f"{one.short} stands in the place of {short}",
            now=now,
            memory=True,
        )
        self.app.push_screen(form)

    def action_retire(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.tui.dialogs import Confirm

        entity, id_ = found.memory.entity, found.memory.id

        def retire(ws: Workspace) -> Memory:
            from mait_code.commands import memory_edits

            return memory_edits.retire(ws, entity)

        def answered(yes: bool | None) -> None:
            if yes and (self.rows.key == id_ or self.rows.go_to(id_)):
                self.send_away(retire, lambda one: f"{one.short} retired", memory=True)

        question = f"Retire {found.memory.short}? It is kept, and no longer found."
        self.app.push_screen(Confirm(question, visible(found.memory.first_line), yes="Retire", danger=True), answered)

    def action_project(self) -> None:
        from mait_code.tui.dialogs import Pick

        async def ask() -> None:
            try:
                places = await self.house.ask(memory_reading.places)
            except Exception as error:
                self.house.tell_error(error)
                return
            self.app.push_screen(Pick("Memories of", places, self._place), chosen)

        def chosen(key: str | None) -> None:
            if key is not None:
                self._place = key
                self.reload()

        start(self, ask, group="dialogs", exclusive=True)
