"""Reminders: what is overdue, today's, later ones and those that recur; set, put off and dismissed by single keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content

from mait_code.commands.times import local
from mait_code.tui import list_reading
from mait_code.tui.list_room import ListRoom
from mait_code.tui.reminders_reading import DELETED, GONE, STANDING, Due, Question
from mait_code.tui.sections import Sections
from mait_code.tui.text_lines import cell_len, visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.reminder_queries import Reminder
    from mait_code.tui.list_reading import Listed
    from mait_code.tui.rows import Piece

__all__ = ["RemindersRoom"]

#: Seconds after which what is overdue is looked at anew: time goes on though nothing is written.
_TICK = 20
#: Lengths that a reminder is often put off by.
_OFTEN = ("1h", "3h", "tomorrow 9am", "monday 9am", "1w", "30m")


class DueRows(Sections[Due]):
    """Reminders, under their headings."""

    KEYS_TITLE = "In the list"

    def paint(self, item: Due, width: int) -> list[list[Piece]]:
        one = item.reminder
        text = " ".join(one.what.split())
        facts = self._facts(item)
        if self.row_height == 1:
            when = item.when
            room = width - cell_len(when) - 2
            if room < width // 2:
                return [[(self._style_of(item), _short_when(when)), ("", f"  {text}")]]
            return [[("", wrapped(text, room, 1)[0].ljust(room)), (self._style_of(item), f"  {when}")]]
        return [[("", text)], facts]

    @staticmethod
    def _style_of(item: Due) -> str:
        return {"#overdue": "error", "#today": "warning"}.get(item.section, "dim")

    def _facts(self, item: Due) -> list[Piece]:
        one = item.reminder
        facts: list[Piece] = [(self._style_of(item), item.when)]
        if one.recurrence:
            facts.append(("primary", f"  ↻ {one.recurrence}"))
        if one.until:
            facts.append(("dim", "  put off"))
        if one.conflicts:
            facts.append(("error", "  ≠ conflict"))
        if one.newer:
            facts.append(("warning", "  newer version"))
        if one.project:
            facts.append(("accent", f"  {one.project.rpartition('/')[2]}"))
        return facts


def _short_when(when: str) -> str:
    """Without its zone, for a narrow list: "Tue 3 Mar 09:00"."""
    return " ".join(when.split(" (")[0].split()[:4])


class RemindersRoom(ListRoom[Due]):
    """The reminders of this machine's user."""

    NAME: ClassVar[str] = "Reminders"
    VIEWS: ClassVar[tuple[str, ...]] = ("Standing", "Dismissed", "Deleted")
    FINDS: ClassVar[str] = "words of the text, an id, a project"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New", tooltip="Set a reminder"),
        Binding("s", "snooze", "Put off", tooltip="Put it off: asks until when"),
        Binding("d", "put_away", "Dismiss", tooltip="Dismiss it; of a recurring one the present occurrence"),
        Binding("e", "edit", "Edit", tooltip="Edit time, text and project"),
        Binding("x", "remove", "Remove", tooltip="Delete it, all its occurrences with it"),
        Binding("u", "restore", "Bring back", tooltip="Have it stand again"),
        Binding("S", "snooze_an_hour", "Put off an hour", show=False),
        Binding("slash", "search", "Search"),
        Binding("v", "other_view", "View", tooltip="Standing, dismissed, deleted"),
        *(Binding(str(number), f"view({number - 1})", "Go to view", show=False) for number in range(1, 4)),
    ]

    def begin(self) -> None:
        super().begin()
        self.set_interval(_TICK, self._time_goes_on)

    def _time_goes_on(self) -> None:
        if self.app.screen is self:
            self.reload()
        else:
            self.stale = True

    def rows_widget(self) -> Sections[Due]:
        return DueRows(id="reminders")

    def reading(self) -> Callable[[Workspace], Listed[Due]]:
        return Question(self.view, self.search)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What stands can be put off and dismissed, what does not can be brought back, what is deleted only that."""
        if action in ("snooze", "snooze_an_hour", "put_away") and self.view != STANDING:
            return False
        if action in ("edit", "remove") and self.view == DELETED:
            return False
        if action == "restore" and self.view == STANDING:
            return False
        return super().check_action(action, parameters)

    def nothing(self, found: Listed[Due]) -> str:  # noqa: ARG002
        if self.view == DELETED:
            return "Nothing is deleted.\n\n1 shows what stands."
        if self.view == GONE:
            return "Nothing is dismissed.\n\n1 shows what stands."
        return "No reminders stand.\n\nn sets one: “friday EOD”, “every monday 9am” …"

    def title_of(self, item: Due) -> str:
        return item.reminder.short

    def whole(self, item: Due) -> Content:
        one = item.reminder
        facts: list[tuple[str, str]] = [("due", item.when)]
        if one.recurrence:
            facts.append(("recurs", one.recurrence))
        if one.until and one.occurrence:
            facts.append(("put off", f"from {one.occurrence.replace('T', ' ')}"))
        if one.project:
            facts.append(("project", visible(one.project)))
        if one.origin:
            facts.append(("made from", visible(one.origin)))
        if one.dismissed_at and self.view == GONE:
            facts.append(("dismissed", local(one.dismissed_at)))
        facts.append(("set", local(one.created_at)))
        if one.conflicts:
            facts.append(("conflict", f"{', '.join(one.conflicts)}: mait-code conflicts shows both sides"))
        facts.append(("id", one.short))
        lines = [Content.assemble((f"{name:<10}", "$dim"), (words, "$dim")) for name, words in facts]
        return Content("\n").join([Content(visible(one.what, multiline=True)), Content(""), *lines])

    # -- what the keys do

    def _carry_out(
        self, work: Callable[[Workspace, str], Reminder], said: Callable[[Reminder], str], goes: bool
    ) -> None:
        """A change of the reminder under the cursor, which is out of this view after it, or stays in it."""
        found = self.chosen()
        if found is None:
            return
        entity = found.reminder.entity
        if goes:
            self.send_away(lambda ws: work(ws, entity), said)
        else:
            self.house.change(lambda ws: work(ws, entity), said)

    def action_put_away(self) -> None:
        found = self.item
        recurs = found is not None and found.reminder.rule is not None

        def dismiss(ws: Workspace, entity: str) -> Reminder:
            from mait_code.commands import reminders

            return reminders.dismiss(ws, entity, list_reading.moment())

        def said(one: Reminder) -> str:
            following = f", next {one.shown(list_reading.moment())}" if one.occurrence is not None else ""
            return f"{one.short} dismissed{following}"

        self._carry_out(dismiss, said, goes=not recurs)

    def action_remove(self) -> None:
        def remove(ws: Workspace, entity: str) -> Reminder:
            from mait_code.commands import reminders

            return reminders.remove(ws, entity, list_reading.moment())

        self._carry_out(remove, lambda one: f"{one.short} deleted", goes=True)

    def action_restore(self) -> None:
        def restore(ws: Workspace, entity: str) -> Reminder:
            from mait_code.commands import reminders

            return reminders.restore(ws, entity, list_reading.moment())

        self._carry_out(restore, lambda one: f"{one.short} is back, due {one.shown(list_reading.moment())}", goes=True)

    def action_snooze_an_hour(self) -> None:
        found = self.chosen()
        if found is not None:
            self._put_off(found.reminder, "1h")

    def action_snooze(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.tui.when_entry import AskWhen

        one = found.reminder

        def given(until: str | None) -> None:
            if until is not None:
                self._put_off(one, until)

        self.app.push_screen(AskWhen(f"Put off {one.short}", visible(one.heading), _OFTEN, snooze=True), given)

    def _put_off(self, one: Reminder, until: str) -> None:
        def snooze(ws: Workspace) -> Reminder:
            from mait_code.commands import reminders

            return reminders.snooze(ws, one.entity, until, list_reading.moment())

        self.house.change(snooze, lambda found: f"{found.short} put off until {found.shown(list_reading.moment())}")

    def action_new(self) -> None:
        from mait_code.commands import reminders_form
        from mait_code.tui.form import Field, Form
        from mait_code.tui.when_entry import WhenField

        def save(ws: Workspace, _seen: Mapping[str, str], wanted: Mapping[str, str]) -> Reminder:
            return reminders_form.create(ws, wanted, list_reading.moment())

        form: Form[Reminder] = Form(
            "New reminder",
            [
                WhenField("when", "When"),
                Field("what", "What", lines=3),
                Field("project", "Project", hint="may stay empty"),
            ],
            reminders_form.EMPTY,
            save,
            lambda one: f"{one.short} set for {one.shown(list_reading.moment())}",
        )
        self.app.push_screen(form, self._set)

    def _set(self, one: Reminder | None) -> None:
        if one is not None:
            self.goal = one.id
            self.view = STANDING
            self.refresh_bindings()
            self.reload()

    def action_edit(self) -> None:
        found = self.chosen()
        if found is None:
            return
        from mait_code.commands import reminders_form
        from mait_code.tui.form import Field, Form
        from mait_code.tui.when_entry import WhenField

        one = found.reminder
        shown_at = list_reading.moment()

        def now(ws: Workspace) -> dict[str, str]:
            from mait_code.commands import reminders

            return reminders_form.texts(reminders.find(ws, one.entity, shown_at), shown_at)

        def save(ws: Workspace, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Reminder:
            return reminders_form.save(ws, one.entity, seen, wanted, list_reading.moment(), shown_at)

        form: Form[Reminder] = Form(
            f"Edit {one.short}",
            [
                Field("what", "What", lines=3),
                WhenField("when", "When", standing=found.when),
                Field("project", "Project", hint="empty for none"),
            ],
            reminders_form.texts(one, shown_at),
            save,
            lambda changed: f"{changed.short} saved, due {changed.shown(list_reading.moment())}",
            now=now,
        )
        self.app.push_screen(form, self._saved)

    def _saved(self, one: Reminder | None) -> None:
        if one is not None and one.occurrence is not None and self.view == GONE:
            self.goal = one.id
            self.view = STANDING
            self.refresh_bindings()
            self.reload()
