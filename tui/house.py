"""The house: the one app that every screen lives in.

It owns what rooms share: the workroom, the watch on the journal, changes with their undo, toasts, themes and the palette.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.app import App
from textual.binding import Binding
from textual.color import Color
from textual.events import Key, Paste
from textual.message import Message

from mait_code.commands.output import visible
from mait_code.journal.errors import MaitError
from mait_code.tui import themes
from mait_code.tui.changing import Changing
from mait_code.tui.keys_wait import start
from mait_code.tui.room import Room
from mait_code.tui.typed_ahead import TypedAhead

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from textual.binding import BindingType
    from textual.events import Event
    from textual.screen import Screen
    from textual.theme import Theme

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.watching import Watcher
    from mait_code.tui.working import Workroom

__all__ = ["House"]

T = TypeVar("T")

#: Classes that a screen of at least so many columns, or lines, has.
_WIDTHS = [(0, "-narrow"), (60, "-medium"), (100, "-wide")]
_HEIGHTS = [(0, "-low"), (20, "-middling"), (32, "-tall")]
#: The palette's entry for a picture.
_PICTURE = "picture"
#: Seconds after which a store that another process was writing is looked at again.
_AGAIN = 0.3
#: Seconds after which the journal is watched: loading what watches it would hold up the first picture. What happens before that
#: is told when the watch stands.
_WATCHED_AFTER = 0.25


class House(Changing):
    """Runs one room, and those that are opened from it. `run()` ends with exit code 0 unless something broke."""

    KEYS_TITLE: ClassVar[str] = "Everywhere"
    TITLE = "mait-code"
    ENABLE_COMMAND_PALETTE = False  # ours looks like the other dialogs, and stands up to every key
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("z", "undo", "Undo"),
        Binding("question_mark", "keys", "Keys", key_display="?"),
        Binding("q", "leave", "Quit"),
        Binding("ctrl+p", "palette", "Palette", show=False, priority=True, tooltip="Everything, by its name"),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, tooltip="Quit, from a form too"),
    ]
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS

    class JournalChanged(Message):
        """Something was appended to the journal, by whomever."""

    class Folding(Message):
        """A store is being made from the whole journal: so much of it is done."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done = done
            self.total = total

    def __init__(self, workroom: Workroom, first: Callable[[], Room[Any]]) -> None:
        self._first = first()
        # The sheets of later rooms are read when they are opened, that of the first one only here.
        super().__init__(css_path=["house.tcss", *self._first.css_path])
        self.workroom = workroom
        self._watcher: Watcher | None = None
        self._typed = TypedAhead(self)
        themes.register(self)
        self._begin_with(themes.chosen(self))

    def _begin_with(self, name: str) -> None:
        """Have this theme from the start. Set as one that changes, it would have every style sheet read twice."""
        self.set_reactive(App.theme, name)
        dark = self.current_theme.dark
        for asked, style in ((dark, "-dark-mode"), (not dark, "-light-mode")):
            self.set_class(asked, style, update=False)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        """Textual's, and two of ours for whatever theme: `dim` for what is said in passing, `cursor` behind what is chosen."""
        found = super().get_css_variables()
        theme = self.current_theme
        ground = Color.parse(found["background"])
        found["dim"] = ground.blend(Color.parse(found["foreground"]), 0.66 if theme.dark else 0.72).hex
        found["cursor"] = ground.blend(Color.parse(theme.primary), 0.34 if theme.dark else 0.22).hex
        return found

    def get_default_screen(self) -> Screen[Any]:
        return self._first

    async def on_event(self, event: Event) -> None:
        if isinstance(event, (Key, Paste)) and not self.screen_stack:
            return  # a key that was on its way while the house was being closed
        if isinstance(event, (Key, Paste)) and not event.is_forwarded:
            await self._typed.take(event)
        else:
            await super().on_event(event)

    def on_mount(self) -> None:
        self.workroom.step = self._folded
        self.theme_changed_signal.subscribe(self, self._keep_theme)
        self.set_timer(_WATCHED_AFTER, self._watch)

    def _watch(self) -> None:
        start(self, self._begin_to_watch, group="watch")

    async def _begin_to_watch(self) -> None:
        from mait_code.tui.watching import Watcher

        try:
            directory = await self.ask(lambda ws: ws.home.journal)
        except Exception as error:
            self.tell_error(error)
            return
        self._watcher = Watcher(directory, self.look_again)
        self._watcher.start()

    def on_unmount(self) -> None:
        if self._watcher is not None:
            self._watcher.stop()
        self.workroom.close()

    # -- asking

    async def ask(self, task: Callable[[Workspace], T]) -> T:
        """The answer of a question to the stores, asked in the workroom. Raises what it raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[T, int]] = loop.create_future()

        def settle(answer: tuple[T, int] | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(error if isinstance(error, Exception) else RuntimeError(repr(error)))
            elif answer is not None:
                future.set_result(answer)

        def done(answer: tuple[T, int] | None, error: BaseException | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(settle, answer, error)

        self.workroom.submit(lambda ws: (task(ws), ws.behind), done)
        answer, behind = await future
        if behind:
            self.set_timer(_AGAIN, self.look_again)
        return answer

    # -- telling

    def tell(self, text: str, severity: str = "information") -> None:
        """One toast. The same words are not said twice at a time."""
        text = visible(text, multiline=True)
        if any(one.message == text for one in self._notifications):
            return
        self.notify(text, severity=severity, markup=False)  # type: ignore[arg-type]

    def tell_error(self, error: BaseException) -> None:
        """One toast for what went wrong, with what to do about it."""
        self.tell(_words(error), severity="error")

    # -- what changes elsewhere

    def look_again(self) -> None:
        """Have the rooms show what the journal holds now. Any thread may call it."""
        self.post_message(self.JournalChanged())

    def _folded(self, done: int, total: int) -> None:
        self.post_message(self.Folding(done, total))

    def on_house_journal_changed(self) -> None:
        seen = False
        for screen in reversed(self.screen_stack):
            if isinstance(screen, Room):
                if seen:
                    screen.stale = True
                else:
                    screen.reload()
                seen = True
            elif hasattr(screen, "journal_changed"):
                screen.journal_changed()

    def on_house_folding(self, message: House.Folding) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Room):
                screen.folding(message.done, message.total)

    # -- themes, palette, keys

    def _keep_theme(self, theme: Theme) -> None:
        name = theme.name

        def keep(_ws: Workspace) -> list[str]:
            from mait_code.commands import settings

            return settings.change("theme", name).notes

        async def run() -> None:
            try:
                for note in await self.ask(keep):
                    self.tell(note)
            except Exception as error:
                self.tell_error(error)

        start(self, run, group="theme")

    def action_palette(self) -> None:
        """Ctrl+P: everything that can be done here, found by typing a part of it, and the themes."""
        if not isinstance(self.screen, Room):
            return
        from mait_code.tui.cheat_sheet import actions
        from mait_code.tui.dialogs import Pick

        doing = {f"do {number}": entry for number, entry in enumerate(actions(self.screen))}
        options = [(key, words, keys) for key, (words, keys, _) in doing.items()]
        names = sorted(self.available_themes, key=lambda name: (not name.startswith("mait-"), name))
        options += [(f"theme {name}", f"Theme {name}", "now" if name == self.theme else "") for name in names]
        options.append((_PICTURE, "Save a picture", "SVG"))

        def chosen(key: str | None) -> None:
            if key is None:
                return
            if key in doing:
                doing[key][2]()
            elif key == _PICTURE:
                self.call_after_refresh(self.deliver_screenshot)
            else:
                self.theme = key.removeprefix("theme ")

        self.push_screen(Pick("Do", options), chosen)

    def action_keys(self) -> None:
        """Show the cheat-sheet."""
        from mait_code.tui.cheat_sheet import CheatSheet

        self.push_screen(CheatSheet(self.screen))

    def action_leave(self) -> None:
        """Leave, with exit code 0."""
        self.exit(0)

    async def action_quit(self) -> None:
        """Ctrl+Q: leave, unless a form would lose what was written."""
        for screen in reversed(self.screen_stack):
            if getattr(screen, "dirty", False):
                await screen.run_action("cancel")
                return
        self.exit(0)


def _words(error: BaseException) -> str:
    if isinstance(error, MaitError):
        return f"{error.message}\n{error.hint}" if error.hint else error.message
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror or error}"
    if type(error).__module__ == "apsw":
        return f"a store could not be read or written: {error}"
    from mait_code.commands.invocations import write_traceback

    path = write_traceback(error)
    noted = f"; it is noted in {path}" if path else ""
    return f"unexpected {type(error).__name__}: {error}\nthis is a fault of ours{noted}"
