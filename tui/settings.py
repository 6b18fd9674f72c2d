"""Settings: what each is, where it comes from, and what it can be; and what Claude may run without asking."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from mait_code.commands import settings
from mait_code.journal import settings as held
from mait_code.tui import settings_reading
from mait_code.tui.outline_room import OutlineRoom
from mait_code.tui.outline_rows import OutlineRows
from mait_code.tui.settings_reading import Item, Question
from mait_code.tui.text_lines import padded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import PurePath

    from textual.binding import BindingType

    from mait_code.commands.settings import Change
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Outline, Text
    from mait_code.tui.rows import Piece

__all__ = ["SettingsRoom"]

#: Cells of a key, and of one in a list that is narrower than so many.
_KEY, _SHORT_KEY, _WIDE = 26, 24, 56
#: What follows from another model: vectors that were made by the one before are not compared with its own.
_EMBEDS = ("embedding-provider", "embedding-model", "bedrock-model-id")
_MOVE, _STAY = "move", "stay"


class SettingRows(OutlineRows[Item]):
    """Groups, and what is in them."""

    def leaf(self, item: Item, width: int) -> list[Piece]:
        key = padded(item.key, _KEY if width >= _WIDE else _SHORT_KEY)
        if item.kind == "preset":
            return [("", "    "), item.mark, ("", key), ("dim", item.source)]
        own = item.kind in ("setting", "variable") and item.source != "default"
        return [("", "    "), ("strong" if own else "", key), ("accent" if own else "dim", item.value)]


class SettingsRoom(OutlineRoom[Item]):
    """Every setting with its value and where that comes from. What is changed here is changed by the commands."""

    NAME: ClassVar[str] = "Settings"
    CSS_PATH: ClassVar[str | list[str | PurePath]] = ["outline_room.tcss", "settings.tcss"]
    FINDS: ClassVar[str] = "words of a key, its value, where it comes from, what it is for"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Change"),
        Binding("d", "default", "Default", tooltip="Back to the default; a variable goes"),
        Binding("n", "variable", "New variable", tooltip="A variable that every run gets"),
    ]

    def rows_widget(self) -> OutlineRows[Item]:
        return SettingRows(id="settings")

    def reading(self) -> Callable[[Workspace], Outline[Item]]:
        return Question(self.words)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Item]]:
        del keys  # all are here
        return lambda _ws: {}

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        found = self.found
        item = None if found is None else found.items.get(key)
        return lambda _ws: None if item is None else settings_reading.whole(item)

    def nothing(self, found: Outline[Item]) -> str:
        del found
        return "There are no settings."

    # -- what the keys do

    def enter(self) -> None:
        self.action_edit()

    def action_edit(self) -> None:
        """Change what is under the cursor, in the way that its kind wants."""
        item = self.rows.at
        if item is None:
            self.house.tell("There is no setting under the cursor.")
        elif item.kind == "preset":
            self._allow(item)
        elif item.kind == "variable":
            self._ask_variable(item.key)
        elif item.kind != "setting":
            self.house.tell(f"{item.key} is only shown here.")
        elif item.source == "env":
            variable = held.setting(item.key).variable
            self.house.tell(f"{variable} is set here and wins.\nUnset it where it is set, then change {item.key}.")
        elif item.key in settings.WEIGHTS:
            self._weigh()
        else:
            self._ask(item)

    def action_default(self) -> None:
        item = self.rows.at
        if item is None or item.kind not in ("setting", "variable") or settings.held(item.key) is None:
            self.house.tell("There is nothing here that was changed.")
        elif item.key == "data-dir":
            self.house.tell("The default would leave your data where it is, unread.\nEnter names another place for it.")
        else:
            self._change(item.key, None)

    def action_variable(self) -> None:
        from mait_code.tui.dialogs import Ask

        def named(name: str | None) -> None:
            if name is not None:
                self._ask_variable(f"env.{name.strip().removeprefix('env.')}")

        self.app.push_screen(Ask("A variable of every run", hint="Its name, such as HTTPS_PROXY."), named)

    # -- asking

    def _ask(self, item: Item) -> None:
        from mait_code.tui.dialogs import Ask, Pick

        entry = held.setting(item.key)
        now = item.row["value"]
        if entry.kind == "bool":
            self._change(item.key, "false" if now else "true")
            return
        choices = tuple(self.app.available_themes) if item.key == "theme" else entry.choices
        if choices:
            options = [(choice, choice, "the default" if choice == entry.default else "") for choice in choices]
            self.app.push_screen(Pick(item.key, options, str(now)), lambda given: self._given(item, given))
            return
        hint = f"{entry.help}\nTakes {entry.accepts}{f', in {entry.unit}' if entry.unit else ''}."
        self.app.push_screen(Ask(item.key, str(now), hint, empty=True), lambda given: self._given(item, given))

    def _given(self, item: Item, given: str | None) -> None:
        if given is None or given == str(item.row["value"]):
            return
        if item.key == "data-dir":
            self._move(given)
        elif item.key in _EMBEDS:
            self._embed(item.key, given)
        elif item.key == "theme":
            self.app.theme = given  # the house keeps it
            self.set_timer(0.3, self.reload)
        else:
            self._change(item.key, given)

    def _ask_variable(self, key: str) -> None:
        from mait_code.tui.dialogs import Ask

        def given(value: str | None) -> None:
            if value is not None:
                self._change(key, value)

        # What may be a secret is not shown to whoever looks over a shoulder.
        name = key.removeprefix("env.")
        now = settings.held(key) or ""
        secret = settings.masked(name, now) != now
        hint = "What every run gets, unless the environment has it already."
        self.app.push_screen(Ask(key, "" if secret else now, hint, empty=True), given)

    def _weigh(self) -> None:
        from mait_code.tui.form import Field, Form

        before: dict[str, str | None] = {}

        def save(_ws: Workspace, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Change:
            before.update((key, settings.held(key)) for key in settings.WEIGHTS)
            return settings.change_weights(seen, wanted)

        def back(_ws: Workspace) -> list[str]:
            return [note for key, raw in before.items() for note in settings.change(key, raw).notes]

        fields = [Field(key, key.removeprefix("score-weight-").capitalize(), hint="0 to 1") for key in settings.WEIGHTS]
        form: Form[Change] = Form(
            "Weights: they sum to 1",
            fields,
            settings.weights(),
            save,
            lambda change: f"weights: {change.before} → {change.after}",
            now=lambda _ws: settings.weights(),
            back=lambda _change: back,
        )
        self.app.push_screen(form, lambda _change: self.reload())

    # -- changing

    def _change(self, key: str, raw: str | None, then: Callable[[Change], None] | None = None) -> None:
        """Change a key by the command, with a way back to what the file said before."""
        before: list[str | None] = []

        def change(_ws: Workspace) -> Change:
            before.append(settings.held(key))
            return settings.change(key, raw)

        def back(done: Change) -> Callable[[Workspace], list[str]] | None:
            return None if settings.held(key) == before[0] else lambda _ws: settings.change(done.key, before[0]).notes

        self.house.change(change, _told, then, back=back)

    def _embed(self, key: str, raw: str) -> None:
        from mait_code.tui.dialogs import Confirm
        from mait_code.tui.embedding import Embedding

        def answered(yes: bool | None) -> None:
            if yes:
                self._change(key, raw, lambda _change: embedding.ask())

        embedding = Embedding(self, told=lambda: self.about(held.path(), embedding.words), done=self.reload)
        detail = "What is remembered needs new vectors then: until they are made, it is found by its words."
        self.app.push_screen(Confirm(f"{key}: {raw}?", detail, yes="Change"), answered)

    def _move(self, raw: str) -> None:
        from mait_code.tui.dialogs import Pick

        def chosen(how: str | None) -> None:
            if how is not None:
                self.house.change(lambda _ws: settings.change_data_dir(raw, how == _MOVE), _told, left)

        def left(change: Change) -> None:
            self.app.exit(0, message=f"data-dir: {change.after}\nOpen mait-code again to go on there.")

        options = [
            (_MOVE, "Take what is in the present directory along", ""),
            (_STAY, "Leave it, and go on with what is at the new place", ""),
        ]
        self.app.push_screen(Pick(f"The data directory: {raw}", options), chosen)

    def _allow(self, item: Item) -> None:
        from mait_code.commands.install import permissions
        from mait_code.tui.dialogs import Confirm

        allow, was = item.state != "enabled", item.state

        def back(_rules: list[str]) -> Callable[[Workspace], list[str]] | None:
            # What was there in part only cannot be told from what was added.
            return None if was == "partial" else lambda _ws: permissions.change(item.key, not allow) and []

        def change() -> None:
            said = f"{item.key}: {'allowed' if allow else 'Claude asks again'}"
            self.house.change(lambda _ws: permissions.change(item.key, allow), said, back=back)

        if not allow or item.source == permissions.READS:
            change()
            return
        detail = "It changes files of the project."
        question = f"Let Claude run {', '.join(item.row['patterns'][::2])} without asking?"
        self.app.push_screen(Confirm(question, detail, yes="Allow"), lambda yes: change() if yes else None)


def _told(change: Change) -> str:
    return f"{change.key}: {settings_reading.shown(change.before)} → {settings_reading.shown(change.after)}"
