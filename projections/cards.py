"""The board: one entity per card."""

from __future__ import annotations

from mait_code.projections import register
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State

COLUMNS = ("backlog", "refined", "in_progress", "in_review", "done", "archived")
PRIORITIES = ("high", "medium", "low")
_FIELDS = (
    "title",
    "description",
    "acceptance_criteria",
    "priority",
    "project",
    "completion_summary",
    "number",
    "origin",
)


class Cards(Projection):
    """Folds card.* events.

    Derived in `x`: `column` (the value after the last event), `completed_at` (stamped on entering done, taken away on
    leaving it, by whatever event), `released` (the binding ended when the card left in_progress), `comments` and
    `references` (their contents by the id of their event; a register each says whether they stand).
    """

    family = entity = "card"
    settled = ("binding",)
    tables: ClassVar[dict[str, str]] = {
        "cards": "id TEXT PRIMARY KEY, number INTEGER, project TEXT, title TEXT NOT NULL, description TEXT,"
        " acceptance_criteria TEXT, status TEXT NOT NULL, priority TEXT NOT NULL, completion_summary TEXT,"
        " created_at TEXT NOT NULL, updated_at TEXT NOT NULL, completed_at TEXT, bound_session TEXT, bound_replica TEXT,"
        " origin TEXT, newer INTEGER NOT NULL",
        "card_comments": "card_id TEXT NOT NULL, id TEXT NOT NULL, author TEXT NOT NULL, body TEXT NOT NULL,"
        " created_at TEXT NOT NULL",
        "card_tags": "card_id TEXT NOT NULL, tag TEXT NOT NULL",
        "card_references": "card_id TEXT NOT NULL, id TEXT NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL,"
        " value TEXT NOT NULL",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS cards_board ON cards (project, status)",
        "CREATE INDEX IF NOT EXISTS cards_bound ON cards (bound_session) WHERE bound_session IS NOT NULL",
        "CREATE INDEX IF NOT EXISTS card_comments_card ON card_comments (card_id)",
        "CREATE INDEX IF NOT EXISTS card_tags_card ON card_tags (card_id)",
        "CREATE INDEX IF NOT EXISTS card_references_card ON card_references (card_id)",
    )

    def derive(self, state: State, event: Event) -> None:
        extra, kind = state["x"], event.kind
        column = register.value(state, "column") or COLUMNS[0]
        if extra.get("column") != column:
            self._enter(extra, column, event.shown)
        if kind == "card.bound":
            extra.pop("released", None)
            extra["holder"] = event.replica
        elif kind == "card.commented":
            author = event.data.get("author") or ("claude" if event.actor == "claude" else "me")
            extra.setdefault("comments", {})[event.id] = [author, event.data["body"], event.shown, event.at]
        elif kind == "card.referenced":
            extra.setdefault("references", {})[event.id] = [event.data["label"], event.data["value"], event.at]

    @staticmethod
    def _enter(extra: dict[str, Any], column: str, shown: str) -> None:
        """Note that the card is in another column than before, or in its first."""
        if extra.get("column") == "in_progress":
            extra["released"] = True
        extra["column"] = column
        if column == "done":
            extra["completed_at"] = shown
        else:
            extra.pop("completed_at", None)

    def number(self, state: State) -> int | None:
        number = register.value(state, "number")
        return number if type(number) is int else None

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        registers, extra = state["r"], state["x"]
        values = {name: heads[-1][1] if (heads := registers.get(name)) else None for name in _FIELDS}
        bound = self.binding(state)
        yield (
            "cards",
            (
                entity,
                values["number"],
                values["project"],
                values["title"] or "",
                values["description"],
                values["acceptance_criteria"],
                extra.get("column", COLUMNS[0]),
                values["priority"] or "medium",
                values["completion_summary"],
                state["c"],
                state["u"],
                extra.get("completed_at"),
                bound,
                extra.get("holder") if bound else None,
                values["origin"],
                int("n" in state),
            ),
        )
        for tag in self.tags(state):
            yield "card_tags", (entity, tag)
        comments = extra.get("comments")
        if comments:
            for id_, (author, body, shown, _at) in self._standing(state, "comment", comments):
                yield "card_comments", (entity, id_, author, body, shown)
        references = extra.get("references")
        if references:
            standing = self._standing(state, "reference", references)
            for position, (id_, (label, text, _at)) in enumerate(standing, 1):
                yield "card_references", (entity, id_, position, label, text)

    @staticmethod
    def _standing(state: State, what: str, contents: dict[str, Any]) -> list[tuple[str, Any]]:
        """Comments or references that are not deleted, in the order of the log: their last field is its time."""
        standing = [(id_, content) for id_, content in contents.items() if register.value(state, f"{what}:{id_}")]
        return sorted(standing, key=lambda item: (item[1][-1], item[0]))

    @staticmethod
    def tags(state: State) -> list[str]:
        """The tags a card carries, sorted."""
        names = [name for name in state["r"] if name.startswith("tag:")]
        return sorted(name[4:] for name in names if register.value(state, name))

    @staticmethod
    def binding(state: State) -> str | None:
        """The session that holds the card, while it is in progress."""
        extra = state["x"]
        held = register.value(state, "binding")
        if not held or extra.get("released") or extra.get("column") != "in_progress":
            return None
        session = held.get("session")
        return session if type(session) is str else None

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        head, _, rest = name.partition(":")
        if name == "column":
            return "card.moved", {"column": value or COLUMNS[0]}
        if name == "deleted":
            return ("card.deleted", {}) if value else ("card.restored", {"register": "deleted"})
        if name == "binding":
            return ("card.bound", {"by": value}) if value else ("card.unbound", {})
        if head == "tag":
            return ("card.tagged" if value else "card.untagged"), {"tag": rest}
        if head in ("comment", "reference"):
            if value:
                return "card.restored", {"register": name}
            return (
                ("card.comment_deleted", {"comment": rest})
                if head == "comment"
                else ("card.unreferenced", {"reference": rest})
            )
        return "card.edited", {name: value}
