"""The inbox: thoughts that wait, each made a card, a reminder, a memory, or done with, by a single key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from mait_code.commands.times import local
from mait_code.projections.cards import PRIORITIES
from mait_code.projections.memories import SCOPES, TYPES
from mait_code.tui import inbox_reading
from mait_code.tui.inbox_reading import DELETED, FINISHED, WAITING, Question, Thought
from mait_code.tui.keys_wait import start
from mait_code.tui.list_room import ListRoom
from mait_code.tui.sections import Sections
from mait_code.tui.text_lines import cell_len, visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.inbox_queries import Item
    from mait_code.tui.form import Field
    from mait_code.tui.list_reading import Listed
    from mait_code.tui.rows import Piece

    Saves = Callable[[Workspace, str, Mapping[str, str], Mapping[str, str]], Item]

__all__ = ["InboxRoom"]

#: The choice of all projects: no project is called that.
_EVERY = "\0"
#: Times that a thought is often to come back at.
_OFTEN = ("tomorrow 9am", "friday EOD", "monday 9am", "in 1 week", "in 2 hours", "first of the month")
_ACTS = ("card", "memory", "reminder", "done", "remove", "edit")


class ThoughtRows(Sections[Thought]):
    """The items of the inbox."""

    KEYS_TITLE = "In the list"

    def paint(self, item: Thought, width: int) -> list[list[Piece]]:
        one = item.item
        facts = self._facts(item)
        text = " ".join(one.body.split()) or "(nothing but blanks)"
        if self.row_height == 1:
            room = width - sum(cell_len(words) for _style, words in facts) - 2
            if room < width // 2:
                return [[("", text)]]
            return [[("", wrapped(text, room, 1)[0].ljust(room)), ("", "  "), *facts]]
        return [[("", text)], facts]

    def _facts(self, item: Thought) -> list[Piece]:
        one = item.item
        facts: list[Piece] = [("dim", f"{one.short}  {item.age}")]
        if one.conflicts:
            facts.append(("error", "  ≠ conflict"))
        if one.newer:
            facts.append(("warning", "  newer version"))
        if one.outcome:
            facts.append(("success", f"  → {item.became}"))
        if one.project:
            facts.append(("accent", f"  {one.project.rpartition('/')[2]}"))
        return facts


class InboxRoom(ListRoom[Thought]):
    """The inbox. Small letters sort at once, capital ones ask first."""

    NAME: ClassVar[str] = "Inbox"
    VIEWS: ClassVar[tuple[str, ...]] = ("Waiting", "Dealt with", "Deleted")
    FINDS: ClassVar[str] = "words of the text, an id, a project"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Capture a thought"),
        Binding("c", "card", "Card", tooltip="Make it a card"),
        Binding("m", "memory", "Memory", tooltip="Make it a memory: a fact of its project"),
        Binding("t", "reminder", "Reminder", tooltip="Make it a reminder: asks for the time"),
        Binding("d", "done", "Done", tooltip="It is dealt with"),
        Binding("e", "edit", "Edit", tooltip="Edit the text"),
        Binding("x", "remove", "Remove", tooltip="Delete it"),
        Binding("u", "restore", "Bring back", tooltip="Have it wait again"),
        Binding("C", "card_form", "Card, in a form", show=False),
        Binding("M", "memory_form", "Memory, in a form", show=False),
        Binding("T", "reminder_form", "Reminder, in a form", show=False),
        Binding("slash", "search", "Search"),
        Binding("p", "project", "Project"),
        Binding("v", "other_view", "View", tooltip="Waiting, dealt with, deleted"),
        *(Binding(str(number), f"view({number - 1})", "Go to view", show=False) for number in range(1, 4)),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._project: str | None = None

    def rows_widget(self) -> Sections[Thought]:
        return ThoughtRows(id="items")

    def reading(self) -> Callable[[Workspace], Listed[Thought]]:
        return Question(self.view, self._project, self.search)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What waits can be sorted, what does not can be brought back."""
        if action.removesuffix("_form") in _ACTS and self.view != WAITING:
            return False
        if action == "restore" and self.view == WAITING:
            return False
        return super().check_action(action, parameters)

    def nothing(self, found: Listed[Thought]) -> str:  # noqa: ARG002
        if self.view == DELETED:
            return "Nothing is deleted.\n\n1 shows what waits."
        if self.view == FINISHED:
            return "Nothing was dealt with yet.\n\n1 shows what waits."
        if self._project is not None:
            return (
                f"Nothing waits in {self._project or 'no project'}.\n\np shows another project, n captures a thought."
            )
        return "The inbox is empty.\n\nn captures a thought."

    def title_of(self, item: Thought) -> str:
        return str(item.item.short)

    def whole(self, item: Thought) -> Content:
        one = item.item
        facts: list[tuple[str, str]] = [("captured", local(one.created_at))]
        if one.project:
            facts.append(("project", visible(one.project)))
        if one.outcome:
            facts.append(("became", f"{item.became}, {local(one.done_at or '')}"))
        if one.conflicts:
            facts.append(("conflict", f"{', '.join(one.conflicts)}: mait-code conflicts shows both sides"))
        facts.append(("id", one.short))
        lines = [Content.assemble((f"{name:<10}", "$dim"), (words, "$dim")) for name, words in facts]
        return Content("\n").join([Content(visible(one.body, multiline=True)), Content(""), *lines])

    # -- sorting

    def action_card(self) -> None:
        self._sort("card")

    def action_memory(self) -> None:
        self._sort("memory", memory=True)

    def action_done(self) -> None:
        self._sort("done")

    def _sort(self, to: str, memory: bool = False, **more: str) -> None:
        found = self.chosen()
        if found is None:
            return
        entity, short = found.item.entity, found.item.short

        def triage(ws: Workspace) -> Item:
            from mait_code.commands import inbox

            return inbox.triage(ws, entity, to, when=more.get("when"))

        self.send_away(triage, f"{short} is done with" if to == "done" else f"{short} is a {to} now", memory)

    def action_reminder(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.tui.when_entry import AskWhen

        key = found.item.id

        def given(when: str | None) -> None:
            if when is not None and (self.rows.key == key or self.rows.go_to(key)):
                self._sort("reminder", when=when)

        self.app.push_screen(AskWhen(f"Remind me of {found.item.short}", visible(found.item.first_line), _OFTEN), given)

    def action_remove(self) -> None:
        found = self.chosen()
        if found is None:
            return
        entity = found.item.entity

        def remove(ws: Workspace) -> Item:
            from mait_code.commands import inbox

            return inbox.remove(ws, entity)

        self.send_away(remove, lambda item: f"{item.short} deleted")

    def action_restore(self) -> None:
        found = self.chosen()
        if found is None:
            return
        entity = found.item.entity

        def restore(ws: Workspace) -> Item:
            from mait_code.commands import inbox

            return inbox.restore(ws, entity)

        self.send_away(
            restore, lambda item: f"{item.short} waits again" if not item.outcome else f"{item.short} is back"
        )

    # -- forms

    def action_new(self) -> None:
        from mait_code.tui.form import Field, Form

        project = self._project

        def save(ws: Workspace, _seen: Mapping[str, str], wanted: Mapping[str, str]) -> Item:
            from mait_code.commands import inbox

            return inbox.add(ws, wanted["body"], project)

        form: Form[Item] = Form(
            "Capture", [Field("body", "What is on your mind", lines=5)], {}, save, lambda item: f"{item.short} captured"
        )
        self.app.push_screen(form, self._captured)

    def _captured(self, item: Item | None) -> None:
        if item is not None:
            self.goal = item.id
            self.view = WAITING
            self.refresh_bindings()
            self.reload()

    def action_edit(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.commands import inbox_form
        from mait_code.tui.form import Field, Form

        entity = found.item.entity

        def now(ws: Workspace) -> dict[str, str]:
            from mait_code.commands import inbox

            return inbox_form.texts(inbox.show(ws, entity))

        form: Form[Item] = Form(
            f"Edit {found.item.short}",
            [Field("body", "Text", lines=8)],
            inbox_form.texts(found.item),
            lambda ws, seen, wanted: inbox_form.save(ws, entity, seen, wanted),
            lambda item: f"{item.short} saved",
            now=now,
        )
        self.app.push_screen(form)

    def action_card_form(self) -> None:
        from mait_code.commands import inbox_form
        from mait_code.tui.form import Field

        fields = [
            Field("title", "Title"),
            Field("priority", "Priority", choices=PRIORITIES, hint="← →"),
            Field("project", "Project", hint="empty for none"),
            Field("description", "Description", lines=6, hint="Markdown"),
        ]
        self._sort_in_form("card", fields, inbox_form.card_texts, inbox_form.to_card)

    def action_reminder_form(self) -> None:
        from mait_code.commands import inbox_form
        from mait_code.tui.form import Field
        from mait_code.tui.when_entry import WhenField

        fields = [WhenField("when", "When"), Field("what", "What"), Field("project", "Project", hint="empty for none")]
        self._sort_in_form("reminder", fields, inbox_form.reminder_texts, inbox_form.to_reminder)

    def action_memory_form(self) -> None:
        from mait_code.commands import inbox_form
        from mait_code.tui.form import Field

        importances = (inbox_form.USUAL, *(str(number) for number in range(1, 11)))
        fields = [
            Field("type", "Type", choices=TYPES, hint="← →"),
            Field("importance", "Importance", choices=importances, hint="← →"),
            Field("scope", "Scope", choices=(inbox_form.BY_PROJECT, *SCOPES), hint="← →"),
            Field("project", "Project", hint="empty for none"),
        ]
        self._sort_in_form("memory", fields, inbox_form.memory_texts, inbox_form.to_memory, memory=True)

    def _sort_in_form(
        self,
        to: str,
        fields: list[Field],
        texts: Callable[[Item], dict[str, str]],
        save: Saves,
        memory: bool = False,
    ) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.tui.form import Form

        entity = found.item.entity
        form: Form[Item] = Form(
            f"{found.item.short} becomes a {to}",
            fields,
            texts(found.item),
            lambda ws, seen, wanted: save(ws, entity, seen, wanted),
            lambda item: f"{item.short} is a {to} now",
            memory=memory,
        )
        self.app.push_screen(form)

    # -- projects

    def action_project(self) -> None:
        from mait_code.tui.dialogs import Pick

        async def ask() -> None:
            try:
                names = await self.house.ask(inbox_reading.projects)
            except Exception as error:
                self.house.tell_error(error)
                return
            options = [(_EVERY, "All projects", "")]
            options += [(name, name or "Without a project", count) for name, count in names]
            self.app.push_screen(Pick("Items of", options, _EVERY if self._project is None else self._project), chosen)

        def chosen(name: str | None) -> None:
            if name is not None:
                self._project = None if name == _EVERY else name
                self.reload()

        start(self, ask, group="dialogs", exclusive=True)
