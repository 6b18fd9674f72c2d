"""What the readable tables must hold, from the model: what a person sees of a card, a thought, a reminder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.model import KNOWN_BY_NAME

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
    "memory": {
        "memories": "SELECT id, content, entry_type, importance, project, branch, superseded_by, pinned, live, newer"
        " FROM memory_entries ORDER BY id",
        "searched": "SELECT id, kind FROM entries ORDER BY id",
        "relations": "SELECT source, relationship_type, target FROM memory_relationships ORDER BY 1, 2, 3",
    },
    "project": {"aliases": "SELECT alias, name FROM project_aliases ORDER BY alias"},
    "journal": {},
}


def expected(family: str, entities: dict[str, Entity]) -> Rows:
    """The rows of each question, in its order."""
    rows: Rows = {name: [] for name in QUESTIONS[family]}
    add = {"card": _card, "inbox": _thought, "reminder": _reminder}
    for name, entity in sorted(entities.items()):
        kind, _, id_ = name.partition("/")
        if entity.is_deleted or not (entity.is_created or kind in KNOWN_BY_NAME):
            continue
        if kind == family and kind in add:
            add[kind](rows, id_, entity)
        elif family == "memory":
            _remembered(rows, kind, id_, entity)
        elif family == "project" and entity.value("name"):
            rows["aliases"].append((entity.value("name")["alias"], entity.value("name")["name"]))
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


SEARCHED = {
    "summary": ("request", "investigated", "learned", "completed", "next_steps", "notes"),
    "prompt": ("text",),
    "turn": ("request", "answer", "failures"),
    "observation": ("title", "subtitle", "narrative", "facts"),
}


def _remembered(rows: Rows, kind: str, id_: str, entity: Entity) -> None:
    value = entity.value
    if kind == "memory":
        by = value("superseded")
        live = not by and not value("retired")
        rows["memories"].append(
            (id_, value("content") or "", value("type") or "fact", value("importance") or 5, value("project"))
            + (
                value("branch"),
                by.partition("/")[2] if by else None,
                int(bool(value("pinned"))),
                int(live),
                _newer(entity),
            )
        )
        if live and value("content"):
            rows["searched"].append((id_, kind))
    elif any(value(name) for name in SEARCHED.get(kind, ())):
        rows["searched"].append((id_, kind))
    elif kind == "entity":
        for register in entity.registers:
            if register.startswith("link:") and value(register) is not None:
                _, relation, target = register.split(":", 2)
                rows["relations"].append((id_, relation, target.partition("/")[2]))


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
