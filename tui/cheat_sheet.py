"""Keys as they are bound at this moment: the cheat-sheet, the line of keys and the palette are made from the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from mait_code.tui.dialog import Dialog
from mait_code.tui.text_lines import cell_len

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from textual.app import ComposeResult
    from textual.binding import ActiveBinding, BindingType
    from textual.dom import DOMNode
    from textual.screen import Screen

__all__ = ["CheatSheet", "actions", "joined"]

_SHOWN = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "enter": "Enter", "escape": "Esc", "pageup": "PgUp",
    "pagedown": "PgDn", "home": "Home", "end": "End", "tab": "Tab", "shift+tab": "Shift+Tab", "space": "Space",
    "question_mark": "?", "slash": "/", "less_than_sign": "<", "greater_than_sign": ">", "delete": "Del",
}  # fmt: skip


#: What Textual binds by itself in every screen.
_UNTOLD = ("app.focus_next", "app.focus_previous", "screen.copy_text", "help_quit")


class Keys:
    """The keys of one description, in the order of their bindings."""

    def __init__(self, node: DOMNode, binding: Binding) -> None:
        self.node = node
        self.binding = binding
        self.keys: list[str] = []

    @property
    def shown(self) -> str:
        """The keys for people: "↓ j", "1–5"."""
        if len(self.keys) > 2 and all(key.isdigit() for key in self.keys):
            return f"{self.keys[0]}–{self.keys[-1]}"
        return " ".join(self.keys)

    @property
    def width(self) -> int:
        """Cells in the line of keys, the gap after it included."""
        return cell_len(self.shown) + 1 + cell_len(self.binding.description) + 2

    def content(self) -> Content:
        """As the line of keys shows it."""
        return Content.assemble((self.shown, "bold $accent"), " ", (self.binding.description, "$dim"))


def joined(bindings: Iterable[ActiveBinding]) -> list[Keys]:
    """Bindings with a description, those of one description at one place taken together."""
    found: dict[tuple[int, str, bool], Keys] = {}
    for node, binding, enabled, _ in bindings:
        if binding.description and enabled and not binding.system and binding.action not in _UNTOLD:
            entry = found.setdefault((id(node), binding.description, binding.show), Keys(node, binding))
            entry.keys.append(_key(binding))
    return list(found.values())


def _key(binding: Binding) -> str:
    shown = binding.key_display or _SHOWN.get(binding.key)
    if shown:
        return shown
    *held, key = binding.key.split("+")
    return "+".join([*(one.capitalize() for one in held), key.capitalize() if held else key])


def actions(screen: Screen[Any]) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """What can be done now, for the palette: words, keys, and what does it. Keys that only move about are left out."""
    for entry in joined(screen.active_bindings.values()):
        binding = entry.binding
        if len(entry.keys) == 1 and binding.key not in _SHOWN.keys() - {"slash", "question_mark"}:
            yield binding.tooltip or binding.description, entry.shown, _run(screen, entry)


def _run(screen: Screen[Any], entry: Keys) -> Callable[[], object]:
    return lambda: screen.app.call_later(screen.app.run_action, entry.binding.action, entry.node)


class CheatSheet(Dialog[None]):
    """Every key that works in the screen below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "close", "Close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, below: Screen[Any]) -> None:
        super().__init__()
        self._sections = _sections(below)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog sheet") as sheet:
            sheet.border_title = "Keys"
            sheet.border_subtitle = "Esc closes"
            first, *others = self._sections
            with Horizontal():
                yield Static(_section(*first))
                yield Static(Content("\n").join(_section(*one) for one in others))

    def action_close(self) -> None:
        self.leave()

    def action_scroll(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)


def _sections(below: Screen[Any]) -> list[tuple[str, list[Keys]]]:
    """The keys of the screen, then those of what has the focus in it, then those of the house."""
    found: dict[str, list[Keys]] = {}
    for entry in joined(below.active_bindings.values()):
        node = entry.node
        title = getattr(node, "KEYS_TITLE", "") or getattr(node, "NAME", "") or type(node).__name__
        found.setdefault(title, []).append(entry)
    own = getattr(below, "KEYS_TITLE", "") or getattr(below, "NAME", "")
    return sorted(found.items(), key=lambda item: item[0] != own)


def _section(title: str, entries: list[Keys]) -> Content:
    width = max(cell_len(entry.shown) for entry in entries)
    lines = [Content.styled(title, "bold $primary")]
    for entry in entries:
        gap = " " * (width - cell_len(entry.shown) + 2)
        words = entry.binding.tooltip or entry.binding.description
        lines.append(Content.assemble("  ", (entry.shown, "bold $accent"), gap, words))
    return Content("\n").join([*lines, Content("")])
