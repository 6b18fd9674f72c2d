"""One card whole: what it is, what it is waiting for, and what was said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static

from mait_code.commands.output import visible
from mait_code.tui.board_actions import CardsRoom
from mait_code.tui.board_reading import heading

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card

__all__ = ["CardRoom"]


class CardRoom(CardsRoom["Card | None"]):
    """A card of the board. Escape goes back."""

    NAME: ClassVar[str] = "Card"
    CSS_PATH = "board.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "roll(1)", "Down", show=False),
        Binding("up,k", "roll(-1)", "Up", show=False),
        Binding("pagedown,space", "roll(15)", "Page down", show=False),
        Binding("pageup", "roll(-15)", "Page up", show=False),
        Binding("escape", "back", "Back"),
    ]

    def __init__(self, entity: str) -> None:
        super().__init__()
        self._entity = entity
        self._card: Card | None = None
        self._body = ""

    @property
    def card(self) -> Card | None:
        return self._card

    def body(self) -> ComposeResult:
        with VerticalScroll(id="card", can_focus=False):
            yield Static(id="card-title")
            yield Static(id="card-facts")
            yield Markdown(id="card-body", open_links=False)

    def reading(self) -> Callable[[Workspace], Card | None]:
        entity = self._entity

        def read(ws: Workspace) -> Card | None:
            from mait_code.projections import board_queries

            return board_queries.one(ws.board, entity)

        return read

    def show(self, found: Card | None) -> None:
        if found is None:
            self.house.tell(f"{self._card.short if self._card else 'The card'} was deleted.", "warning")
            if self.app.screen is self:
                self.action_back()
            return
        self._card = found
        self.about(f"{found.short}  {found.project or 'no project'}", heading(found.status))
        self.query_one("#card-title", Static).update(Content.styled(visible(found.title), "bold $primary"))
        self.query_one("#card-facts", Static).update(_facts(found))
        body = _markdown(found)
        if body != self._body:
            self._body = body
            self.query_one("#card-body", Markdown).update(body)

    def action_roll(self, by: int) -> None:
        self.query_one("#card").scroll_relative(y=by, animate=False)


def _facts(card: Card) -> Content:
    mark = {"high": "$error", "low": "$dim"}.get(card.priority, "$foreground")
    parts = [Content.assemble((heading(card.status), "$accent"), " · ", (f"{card.priority} priority", mark))]
    if card.blocked:
        parts.append(Content.styled("⊘ blocked", "$warning"))
    if card.conflicts:
        parts.append(Content.styled(f"≠ in conflict: {', '.join(card.conflicts)}", "$error"))
    if card.bound_session:
        parts.append(Content.styled("● held by a session", "$success"))
    tags = [tag for tag in card.tags if tag != "blocked"]
    if tags:
        parts.append(Content.styled(" ".join(f"#{visible(tag)}" for tag in tags), "$accent"))
    when = f"created {_day(card.created_at)}, changed {_day(card.updated_at)}"
    if card.completed_at:
        when += f", done {_day(card.completed_at)}"
    return Content(" · ").join(parts) + Content("\n") + Content.styled(when, "$dim")


def _day(time: str) -> str:
    """A time in UTC as this place's clock says it."""
    from datetime import datetime

    return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M")


def _markdown(card: Card) -> str:
    """The texts of a card as one document. They are Markdown of the person's own; what could act on a terminal is shown."""
    parts = []
    for title, text in (
        ("Description", card.description),
        ("Acceptance criteria", card.acceptance_criteria),
        ("Completion summary", card.completion_summary),
    ):
        if text:
            parts.append(f"## {title}\n\n{text}")
    if card.references:
        rows = [f"- **{_plain(label)}** {_plain(value)}" for _id, label, value in card.references]
        parts.append("## References\n\n" + "\n".join(rows))
    if card.comments:
        said = [f"**{one.author}** · {_day(one.created_at)}\n\n{one.body}" for one in card.comments]
        parts.append("## Comments\n\n" + "\n\n---\n\n".join(said))
    if not parts:
        parts.append("*Nothing is written here yet: `e` edits the card.*")
    return visible("\n\n".join(parts), multiline=True)


def _plain(text: str) -> str:
    """Text as itself within Markdown."""
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#" else letter for letter in text.replace("\n", " "))
