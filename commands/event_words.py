"""What an event did, in a few words, and the families that events belong to."""

from __future__ import annotations

from mait_code.commands.lookup import field_words, words
from mait_code.journal.event import Future

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.journal.event import Event

    Data = dict[str, Any]

__all__ = ["FAMILIES", "said"]

#: The families people choose among, and the first words of the kinds of each.
FAMILIES: dict[str, tuple[str, ...]] = {
    "board": ("card",),
    "inbox": ("inbox",),
    "reminders": ("reminder",),
    "memory": ("memory", "reflection"),
    "graph": ("entity",),
    "sessions": ("session", "prompt", "turn", "observation"),
    "documents": ("document",),
    "projects": ("project",),
    "machines": ("journal",),
}
#: Characters of a text that stands within what was done.
_BRIEF = 40


def said(event: Event) -> str:
    """What an event did: "moved to done", "changed title, priority"."""
    if isinstance(event, Future):
        return f"{event.kind}, of a newer version"
    made = _WORDS.get(event.kind)
    if made is None:
        last = event.kind.rpartition(".")[2]
        return last.rpartition("_")[2]
    return made if isinstance(made, str) else made(event.data)


def _brief(value: Any) -> str:
    text = " ".join(words(value)[: 4 * _BRIEF].split())
    return text if len(text) <= _BRIEF else text[: _BRIEF - 1] + "…"


def _changed(data: Data) -> str:
    names = {"tags": "tags", "untagged": "tags", "told": "what was said again", "untold": "what was said again"}
    changed = dict.fromkeys(names.get(key) or field_words(key) for key in data)
    return f"changed {', '.join(changed)}" if changed else "changed nothing"


def _restored(data: Data) -> str:
    name = str(data.get("register", "deleted"))
    return "brought back" if name == "deleted" else f"brought back from {_was(name)}"


def _was(name: str) -> str:
    return {"done": "done", "superseded": "being superseded", "retired": "retirement"}.get(name, field_words(name))


def _triaged(data: Data) -> str:
    outcome = str(data["outcome"])
    return "dealt with" if outcome == "done" else f"made into a {outcome}"


def _moment(value: Any) -> str:
    return str(value.get("due", "")).replace("T", " ") if isinstance(value, dict) else ""


def _count(names: Any) -> str:
    return "1 memory" if len(names) == 1 else f"{len(names)} memories"


_WORDS: dict[str, str | Callable[[Data], str]] = {
    "card.created": "added",
    "card.edited": _changed,
    "card.moved": lambda data: f"moved to {str(data['column']).replace('_', ' ')}",
    "card.tagged": lambda data: f"tagged {data['tag']}",
    "card.untagged": lambda data: f"untagged {data['tag']}",
    "card.commented": lambda data: f"commented: {_brief(data['body'])}",
    "card.comment_deleted": "deleted a comment",
    "card.referenced": lambda data: f"linked {_brief(data['label'])}",
    "card.unreferenced": "took a link off",
    "card.bound": "claimed",
    "card.unbound": "released",
    "card.restored": _restored,
    "inbox.captured": "captured",
    "inbox.edited": _changed,
    "inbox.done": _triaged,
    "inbox.restored": _restored,
    "reminder.set": lambda data: f"set for {_moment(data['when'])}",
    "reminder.edited": _changed,
    "reminder.snoozed": lambda data: f"put off until {_moment(data['until'])}",
    "reminder.dismissed": "dismissed",
    "reminder.notified": "told of",
    "reminder.restored": _restored,
    "memory.stored": "remembered",
    "memory.seen": "said again",
    "memory.edited": _changed,
    "memory.restored": _restored,
    "entity.linked": lambda data: f"linked: {str(data['relation']).replace('_', ' ')}",
    "entity.merged": lambda data: "merged" if data.get("into") else "parted again",
    "entity.removed": lambda data: "removed a relation" if data.get("link") else "removed",
    "entity.restored": _restored,
    "session.started": "began",
    "session.ended": lambda data: "ended" if data.get("reason") else "goes on",
    "session.summarised": "summed up",
    "prompt.submitted": "asked",
    "turn.recorded": "worked",
    "observation.recorded": lambda data: f"observed: {data['type']}",
    "document.text": "wrote",
    "reflection.made": lambda data: f"reflected on {_count(data['memories'])}",
    "project.aliased": lambda data: f"said to be {data['name']}",
    "project.unaliased": "a project of its own again",
    "journal.replica_labelled": lambda data: f"named {data['label']}" if data["label"] else "name taken off",
}
