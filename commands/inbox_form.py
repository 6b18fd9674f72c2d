"""An inbox item as a form: its text, or what it is to become, saved as one action."""

from __future__ import annotations

from mait_code.commands import forms, inbox, stored_text
from mait_code.journal.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mait_code.commands.inbox import Item
    from mait_code.commands.workspace import Workspace

__all__ = [
    "BY_PROJECT", "USUAL", "card_texts", "memory_texts", "reminder_texts", "save", "texts", "to_card", "to_memory",
    "to_reminder",
]  # fmt: skip

#: The choice of an importance that leaves it to the type of the memory.
USUAL = "usual"
#: Where a memory goes when nothing is said: to its project, or to all where it has none.
BY_PROJECT = "by project"


def texts(item: Item) -> dict[str, str]:
    """The fields of an item."""
    return {"body": item.body}


def save(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Item:
    """Save another text. Raises ChangedMeanwhile where it does not read as `seen` any more."""
    return inbox.edit(ws, text, wanted["body"], _as_seen(seen, texts))


def _as_seen(seen: Mapping[str, str], now: Callable[[Item], dict[str, str]]) -> Callable[[Item], None]:
    return lambda item: forms.check(item.short, seen, now(item))


def card_texts(item: Item) -> dict[str, str]:
    """The card that an item would become."""
    heading = inbox.heading_of(item)
    return {
        "title": heading,
        "priority": "medium",
        "project": item.project or "",
        "description": item.body if item.body.strip() != heading else "",
    }


def to_card(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Item:
    """Make the card that a form says of an item."""
    changed = forms.changed(seen, wanted)
    return inbox.triage(
        ws,
        text,
        "card",
        title=changed.get("title"),
        # What it would be by itself depends on the title, and the form showed another one.
        description=wanted["description"] if changed.keys() & {"title", "description"} else None,
        priority=changed.get("priority"),
        project=changed.get("project"),
        check=_as_seen(seen, card_texts),
    )


def reminder_texts(item: Item) -> dict[str, str]:
    """The reminder that an item would become, but for its time."""
    return {"when": "", "what": stored_text.one_line(item.body), "project": item.project or ""}


def to_reminder(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Item:
    """Set the reminder that a form says of an item."""
    changed = forms.changed(seen, wanted)
    return inbox.triage(
        ws,
        text,
        "reminder",
        when=wanted["when"],
        title=changed.get("what"),
        project=changed.get("project"),
        check=_as_seen(seen, reminder_texts),
    )


def memory_texts(item: Item) -> dict[str, str]:
    """The memory that an item would become, but for its text, which is the item's."""
    return {"type": "fact", "importance": USUAL, "scope": BY_PROJECT, "project": item.project or ""}


def to_memory(ws: Workspace, text: str, seen: Mapping[str, str], wanted: Mapping[str, str]) -> Item:
    """Store the memory that a form says of an item."""
    changed = forms.changed(seen, wanted)
    importance = changed.get("importance", USUAL)
    if importance != USUAL and not importance.isdecimal():
        raise BadInput(f"{importance!r} is no importance", "choose one from 1 to 10")
    scope = changed.get("scope", BY_PROJECT)
    return inbox.triage(
        ws,
        text,
        "memory",
        type_=wanted["type"],
        importance=None if importance == USUAL else int(importance),
        scope=None if scope == BY_PROJECT else scope,
        project=changed.get("project"),
        check=_as_seen(seen, memory_texts),
    )
