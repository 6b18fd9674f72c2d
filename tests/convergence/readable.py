"""What the readable tables must hold, from the model: what a person sees of a card, a thought, a reminder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from convergence.model import Entity

    Rows = dict[str, list[tuple[Any, ...]]]

#: What is asked of each family's store, by the name under which the model answers.
QUESTIONS = {
    "card": {
        "cards": "SELECT id, number, project, title, description, acceptance_criteria, status, priority,"
        " completion_summary, completed_at, bound_session, origin, newer FROM cards ORDER BY id",
        "tags": "SELECT card_id, tag FROM card_tags ORDER BY card_id, tag",
        "comments": "SELECT card_id, id, author, body FROM card_comments ORDER BY card_id, id",
        "references": "SELECT card_id, id, label, value FROM card_references ORDER BY card_id, id",
    },
    "inbox": {
        "open": "SELECT id, body, project, newer FROM inbox_items ORDER BY id",
        "done": "SELECT id, body, project, outcome, ref, newer FROM inbox_done ORDER BY id",
    },
    "reminder": {
        "reminders": "SELECT id, what, due_local, zone, project, dismissed, newer FROM reminders ORDER BY id",
    },
    "journal": {},
}


def expected(family: str, entities: dict[str, Entity]) -> Rows:
    """The rows of each question, in its order."""
    rows: Rows = {name: [] for name in QUESTIONS[family]}
    add = {"card": _card, "inbox": _thought, "reminder": _reminder, "journal": lambda *_: None}[family]
    for name, entity in sorted(entities.items()):
        kind, _, id_ = name.partition("/")
        if kind == family and entity.is_created and not entity.is_deleted:
            add(rows, id_, entity)
    return {name: sorted(found, key=repr) for name, found in rows.items()}


def _card(rows: Rows, id_: str, card: Entity) -> None:
    column, completed_at, is_bound = _story(card)
    value = card.value
    session = (value("binding") or {}).get("session") if is_bound and column == "in_progress" else None
    told = [
        value("title") or "",
        value("description"),
        value("acceptance_criteria"),
        column,
        value("priority") or "medium",
    ]
    rows["cards"].append(
        (id_, value("number"), value("project"), *told, value("completion_summary"), completed_at, session)
        + (value("origin"), _newer(card))
    )
    for register in card.registers:
        sort, _, rest = register.partition(":")
        if sort == "tag" and value(register):
            rows["tags"].append((id_, rest))
        if sort not in ("comment", "reference") or not value(register):
            continue
        said = next((fact for fact in card.understood if fact.id == rest), None)
        if said is not None and said.kind == "card.commented":
            author = said.data.get("author") or ("claude" if said.actor == "claude" else "me")
            rows["comments"].append((id_, rest, author, said.data["body"]))
        elif said is not None and said.kind == "card.referenced":
            rows["references"].append((id_, rest, said.data["label"], said.data["value"]))


def _story(card: Entity) -> tuple[str, str | None, bool]:
    """Column, when it was completed, and whether the last claim still stands, told event by event."""
    column, completed_at, is_bound = "", None, False
    for count, fact in enumerate(card.facts, 1):
        if not fact.is_understood:
            continue
        before, column = column, card.upto(count).value("column") or "backlog"
        if column != "done":
            completed_at = None
        elif before != "done":
            completed_at = fact.shown
        if fact.kind == "card.bound":
            is_bound = True
        elif before == "in_progress" != column:
            is_bound = False
    return column, completed_at, is_bound


def _newer(entity: Entity) -> int:
    """Whether something was said of it that only a newer program understands."""
    return int(len(entity.facts) > len(entity.understood))


def _thought(rows: Rows, id_: str, thought: Entity) -> None:
    done = thought.value("done")
    told = (id_, thought.value("body") or "", thought.value("project"))
    if done:
        rows["done"].append((*told, done["outcome"], done.get("ref"), _newer(thought)))
    else:
        rows["open"].append((*told, _newer(thought)))


def _reminder(rows: Rows, id_: str, reminder: Entity) -> None:
    when = reminder.value("when") or {"due": "1970-01-01T00:00", "zone": "UTC"}
    said = [fact.writes[name] for name in [f"occurrence:{when['due']}"] for fact in reminder.heads(name)]
    dismissed = when.get("rule") is None and {"dismissed": True} in said
    told = (reminder.value("what") or "", when["due"], when["zone"], reminder.value("project"))
    rows["reminders"].append((id_, *told, int(dismissed), _newer(reminder)))
