"""Memory: what is remembered, by type, and the files in which Claude Code remembers by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from mait_code.commands.native_memories import NativeFile
from mait_code.commands.output import path_text
from mait_code.tui import memory_native, memory_reading
from mait_code.tui.keys_wait import start
from mait_code.tui.memory_native import NativeQuestion
from mait_code.tui.memory_reading import HERE, Line, Question
from mait_code.tui.outline_reading import Outline, Text
from mait_code.tui.outline_room import OutlineRoom
from mait_code.tui.outline_rows import OutlineRows

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory
    from mait_code.tui.rows import Piece

    Leaf = Line | NativeFile

__all__ = ["MemoryRoom"]

#: The choice of all projects among those with files of Claude Code's own.
_EVERY = "\0every"


class MemoryRows(OutlineRows["Leaf"]):
    """Memories by their types, or files by their projects."""

    def leaf(self, item: Leaf, width: int) -> list[Piece]:
        del width
        if isinstance(item, NativeFile):
            return [("", "    "), ("", path_text(item.path))]
        pieces: list[Piece] = [("", "    "), ("dim", f"{item.short}  ")]
        if item.score is not None:
            pieces.append(("accent", f"{item.score:.2f} {item.type}  "))
        if item.pinned:
            pieces.append(("warning", "◆ "))
        return [*pieces, ("", item.text or "(nothing but blanks)")]


class MemoryRoom(OutlineRoom["Leaf"]):
    """What is remembered here. It is changed on the command line and by sessions; here it is read, pinned and unpinned."""

    NAME: ClassVar[str] = "Memory"
    FINDS: ClassVar[str] = "words of the text, a tag, a project, an id"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "meaning", "By meaning", tooltip="Find by meaning: ask in your own words"),
        Binding("p", "project", "Project"),
        Binding("P", "pin", "Pin", tooltip="Pin it into MEMORY.md, or unpin it"),
        Binding("n", "native", "Claude's own", tooltip="The memory files of Claude Code's own: show, hide"),
    ]

    def __init__(self, place: str = HERE) -> None:
        super().__init__()
        self._place = place
        self._asked = ""
        self.native = False
        self._native_project: str | None = None
        self._known: dict[str, str] = {}

    def rows_widget(self) -> OutlineRows[Leaf]:
        return MemoryRows(id="memories")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What Claude Code keeps itself has no meanings here, and no pins."""
        if action in ("meaning", "pin") and self.native:
            return False
        return super().check_action(action, parameters)

    # -- reading

    def reading(self) -> Callable[[Workspace], Outline[Leaf]]:
        question: NativeQuestion | Question
        if self.native:
            question = NativeQuestion(self._native_project, self.words, self._known)
        else:
            rows = self.rows
            question = Question(self._place, self.words, self._asked, rows.folds, rows.seen_keys() if rows.keys else ())
        return question  # type: ignore[return-value]

    def show(self, found: Outline[Leaf]) -> None:
        super().show(found)
        if self._asked and not self.native:
            self.about(f"{found.where}  ≈ {self._asked}", found.banner)

    def leaves(self, keys: list[str]) -> Callable[[Workspace], dict[str, Leaf]]:
        if self.native:
            return lambda _ws: {}
        return lambda ws: dict(memory_reading.leaves(ws.reading("memory"), keys))

    def whole(self, key: str) -> Callable[[Workspace], Text | None]:
        if self.native:
            found = self.found
            return lambda _ws: None if found is None else memory_native.whole(found, key)  # type: ignore[arg-type]
        place = self._place
        return lambda ws: memory_reading.whole(ws, key, place)

    def nothing(self, found: Outline[Leaf]) -> str:
        if self.native:
            return "Claude Code keeps no memory files of its own here yet.\n\nn goes back."
        if self._asked:
            return "Nothing fits that question.\n\nEsc shows all."
        if found.where == "all projects":
            return (
                'Nothing is remembered here yet.\n\nmait-code memory store "..." stores a memory, and so do sessions.'
            )
        where = found.where if self._place == "" else f"in {found.where}"
        return f"Nothing is remembered {where} yet.\n\np shows other projects."

    # -- what the keys do

    def action_native(self) -> None:
        self.native = not self.native
        self.rows.outline = Outline()
        self.rows.cursor = 0
        self.refresh_bindings()
        self.reload()

    def action_meaning(self) -> None:
        from mait_code.tui.dialogs import Ask

        def given(question: str | None) -> None:
            if question:
                self._asked = question
                self.find_box.value = ""
                self.find_box.display = False
                self.rows.cursor = 0
                self.about(f"≈ {question}", "looking …")
                self.reload()

        self.app.push_screen(Ask("Find by meaning", self._asked, "A question or a few words; Esc ends it"), given)

    def action_find(self) -> None:
        self._asked = ""
        super().action_find()

    def retreat(self) -> bool:
        if super().retreat():
            return True
        if self._asked:
            self._asked = ""
            self.reload()
            return True
        if self.native:
            self.action_native()
            return True
        return False

    def action_pin(self) -> None:
        line = self.rows.at
        if not isinstance(line, Line):
            self.house.tell("There is no memory under the cursor.")
            return
        entity, pinned = f"memory/{line.id}", line.pinned

        def change(ws: Workspace) -> Memory:
            from mait_code.commands import memory_edits

            return memory_edits.unpin(ws, entity) if pinned else memory_edits.pin(ws, entity)

        self.house.change(change, lambda one: f"{one.short} {'unpinned' if pinned else 'pinned'}", memory=True)

    def action_project(self) -> None:
        from mait_code.tui.dialogs import Pick

        native, known = self.native, self._known

        def options(ws: Workspace) -> list[tuple[str, str, str]]:
            if native:
                return [(_EVERY, "All projects", ""), *memory_native.projects(known)]
            return memory_reading.places(ws)

        async def ask() -> None:
            try:
                found = await self.house.ask(options)
            except Exception as error:
                self.house.tell_error(error)
                return
            here = (self._native_project or _EVERY) if native else self._place
            self.app.push_screen(Pick("Memories of" if not native else "Files of", found, here), chosen)

        def chosen(key: str | None) -> None:
            if key is None:
                return
            if native:
                self._native_project = None if key == _EVERY else key
            else:
                self._place = key
            self.reload()

        start(self, ask, group="dialogs", exclusive=True)
