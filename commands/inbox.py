"""The inbox: thoughts captured as they come, and what becomes of them."""

from __future__ import annotations

from mait_code.commands import project as projects
from mait_code.commands import stored_text
from mait_code.journal.errors import BadInput, Refused
from mait_code.projections import ids, inbox_queries
from mait_code.projections.inbox_queries import Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.store import Store

__all__ = [
    "Item",
    "add",
    "count",
    "described",
    "done",
    "edit",
    "find",
    "listing",
    "remove",
    "restore",
    "show",
    "triage",
]

#: What an item can be turned into.
TARGETS = ("card", "reminder", "memory", "done")
#: Which store holds what it becomes.
_STORES = {"card": "board", "reminder": "reminders", "memory": "memory"}
#: Characters of a title that is taken from an item's text.
LONGEST_HEADING = 200


def add(ws: Workspace, body: str, project: str | None = None) -> Item:
    """Capture a thought, as it was said. Without `project` it belongs to this directory's; an empty one means none."""
    texts, notes = stored_text.fitted({"text": stored_text.required(body, "the text")})
    named = projects.here() if project is None else _project_named(ws, project)
    fields: dict[str, Any] = {"body": texts["text"]}
    if named is not None:
        fields["project"] = named
    with ws.journal.writing(ws.store("inbox")) as writer:
        event = writer.append("inbox.captured", **fields)
    return _afterwards(ws, event.entity, notes)


def _project_named(ws: Workspace, project: str) -> str | None:
    """The project that `--project` means: a known one by its short name, else a new one; empty for none."""
    if not project.strip():
        return None
    from mait_code.commands.board import scope

    return scope(ws.board, project).project


def _afterwards(ws: Workspace, entity: str, notes: list[str]) -> Item:
    item = inbox_queries.one(ws.refreshed("inbox"), entity)
    if item is None:
        raise Refused(f"{entity} was deleted by another process meanwhile", "mait-code inbox restore brings it back")
    item.notes.extend(notes)
    return item


def find(store: Store, text: str) -> Item:
    """The item that an id names, waiting or dealt with. Raises NotFound, Ambiguous, and Refused where it is deleted."""
    entity = ids.resolve(store, text)
    item = inbox_queries.one(store, entity)
    if item is not None:
        return item
    from mait_code.commands.lookup import absent

    raise absent(text, next(iter(inbox_queries.deleted(store, entity)), None), "inbox restore")


def listing(ws: Workspace, *, project: str | None = None, finished: bool = False, deleted: bool = False) -> list[Item]:
    """What is waiting, oldest first; or what was dealt with or deleted, latest first. Of all projects, or of one."""
    if deleted:
        found = inbox_queries.deleted(ws.inbox)
    else:
        found = inbox_queries.finished(ws.inbox) if finished else inbox_queries.waiting(ws.inbox)
    if project is None:
        return found
    wanted = _project_named(ws, project) if "/" in project or not project.strip() else _known(ws, project)
    names = _names(ws, wanted)
    return [item for item in found if (item.project or "").casefold() in names]


def _names(ws: Workspace, project: str | None) -> set[str]:
    """Every name that a project goes by, case-folded; none of all for what is of no project."""
    if project is None:
        return {""}
    from mait_code.commands.project_aliases import names_of

    return {name.casefold() for name in names_of(ws, project)}


def _known(ws: Workspace, project: str) -> str | None:
    named = projects.matching(project.strip(), inbox_queries.projects(ws.inbox))
    return named[0] if len(named) == 1 else _project_named(ws, project)


def show(ws: Workspace, text: str) -> Item:
    """One item, waiting or dealt with."""
    return find(ws.inbox, text)


def count(ws: Workspace) -> int:
    """How many items are waiting."""
    return inbox_queries.count(ws.inbox)


def edit(ws: Workspace, text: str, body: str, check: Callable[[Item], None] | None = None) -> Item:
    """Give an item another text. Refused where it has been dealt with. `check` sees it under the lock, and may raise."""
    texts, notes = stored_text.fitted({"text": stored_text.required(body, "the text")})
    store = ws.store("inbox")
    with ws.journal.writing(store) as writer:
        item = _open_item(store, text)
        if check is not None:
            check(item)
        if item.body == texts["text"] and "body" not in item.conflicts:
            notes.append(f"{item.short} reads like that already; nothing changed")
        else:
            writer.append("inbox.edited", item.entity, body=texts["text"])
    return _afterwards(ws, item.entity, notes)


def _open_item(store: Store, text: str) -> Item:
    item = find(store, text)
    if item.outcome:
        hint = f"mait-code inbox restore {item.short} reopens it"
        raise Refused(f"{item.short} has been dealt with ({item.outcome})", hint)
    return item


def done(ws: Workspace, text: str) -> Item:
    """Mark an item as dealt with."""
    store = ws.store("inbox")
    notes = []
    with ws.journal.writing(store) as writer:
        item = find(store, text)
        if item.outcome:
            notes.append(f"{item.short} has been dealt with already ({item.outcome}); nothing changed")
        else:
            writer.append("inbox.done", item.entity, outcome="done")
    return _afterwards(ws, item.entity, notes)


def remove(ws: Workspace, text: str) -> Item:
    """Delete an item; `restore` brings it back. Returns it as it was."""
    store = ws.store("inbox")
    with ws.journal.writing(store) as writer:
        item = find(store, text)
        writer.append("inbox.deleted", item.entity)
    ws.refreshed("inbox")
    return item


def restore(ws: Workspace, text: str) -> Item:
    """Bring back an item that was deleted, or reopen one that was dealt with. What it became stays."""
    store = ws.store("inbox")
    notes = []
    with ws.journal.writing(store) as writer:
        entity = ids.resolve(store, text)
        if inbox_queries.one(store, entity) is None and inbox_queries.deleted(store, entity):
            writer.append("inbox.restored", entity, register="deleted")
        else:
            item = find(store, entity)
            if not item.outcome:
                notes.append(f"{item.short} is waiting already; nothing changed")
            else:
                writer.append("inbox.restored", entity, register="done")
                if item.ref:
                    notes.append(f"the {item.ref.partition('/')[0]} it became, {short_of_ref(ws, item.ref)}, stays")
    item = _afterwards(ws, entity, notes)
    if item.outcome:
        item.notes.append(f"it was dealt with before ({item.outcome}): restore it once more to reopen it")
    return item


# -- triage -----------------------------------------------------------------------------------------------------------


def triage(
    ws: Workspace,
    text: str,
    to: str,
    *,
    title: str | None = None,
    description: str | None = None,
    priority: str | None = None,
    project: str | None = None,
    when: str | None = None,
    type_: str | None = None,
    importance: int | None = None,
    scope: str | None = None,
    check: Callable[[Item], None] | None = None,
) -> Item:
    """Turn an item into a card, a reminder or a memory, or be done with it, in one action; both sides name each other.

    Title and description are taken from the item where they are not given; so is the project. `when` is the reminder's
    time; type, importance and scope are the memory's. Raises BadInput for what the target cannot have. `check` sees the
    item under the lock, and may raise.
    """
    _check_options(
        to, title=title, description=description, priority=priority, project=project, when=when, type=type_,
        importance=importance, scope=scope,
    )  # fmt: skip
    if to == "done":
        return done(ws, text)
    moment = _moment(when or "") if to == "reminder" else {}
    other = ws.store(_STORES[to])
    store = ws.store("inbox")
    with ws.journal.writing(store, other) as writer:
        item = _open_item(store, text)
        if check is not None:
            check(item)
        named = item.project if project is None else _project_named(ws, project)
        if to == "memory":
            made, notes = _make_memory(writer, other, item, type_ or "fact", importance, scope or "", named)
        elif to == "card":
            made, notes = _make_card(writer, other, item, title, description, priority or "medium", named)
        else:
            made, notes = _make_reminder(writer, item, title, moment, named)
        # After what it became: a kill in the middle of the write must not lose the thought.
        writer.append("inbox.done", item.entity, outcome=to, ref=made)
    ws.refreshed(other.name.partition(".")[0])
    return _afterwards(ws, item.entity, notes)


_TAKES = {
    "card": ("title", "description", "priority", "project"),
    "reminder": ("title", "project", "when"),
    "memory": ("type", "importance", "scope", "project"),
    "done": (),
}


def _check_options(to: str, **given: str | int | None) -> None:
    if to not in TARGETS:
        raise BadInput(f"an item cannot become {to!r}", "targets are " + ", ".join(TARGETS))
    surplus = [f"--{name}" for name, value in given.items() if value is not None and name not in _TAKES[to]]
    if surplus:
        raise BadInput(f"--to {to} takes no {' or '.join(surplus)}", "leave it away, or choose another target")
    if to == "reminder" and not str(given["when"] or "").strip():
        raise BadInput("a reminder needs a time", 'give it with --when "tomorrow 9am"')


def _make_card(
    writer: Writer,
    board: Store,
    item: Item,
    title: str | None,
    description: str | None,
    priority: str,
    project: str | None,
) -> tuple[str, list[str]]:
    from mait_code.commands.board import priority_named

    # What is taken from the item is in the log already.
    held = [field for field, given in (("title", title), ("description", description)) if given is None]
    heading = stored_text.required(stored_text.one_line(title if title is not None else heading_of(item)), "the title")
    if description is None:
        # Whatever the title does not say goes along.
        description = item.body if item.body.strip() != heading else ""
    texts, notes = stored_text.fitted({"title": heading, "description": description or None})
    fields: dict[str, Any] = {**texts, "priority": priority_named(priority), "column": "backlog", "project": project}
    kept = {key: value for key, value in fields.items() if value is not None}
    event = writer.append("card.created", verbatim=held, **kept, number=ids.next_number(board), origin=item.entity)
    return event.entity, notes


def heading_of(item: Item) -> str:
    """The first line of an item, cut where it is a paragraph rather than a title."""
    line = item.first_line
    return line if len(line) <= LONGEST_HEADING else line[: LONGEST_HEADING - 1].rstrip() + "…"


def _make_reminder(
    writer: Writer, item: Item, title: str | None, moment: dict[str, Any], project: str | None
) -> tuple[str, list[str]]:
    what = stored_text.required(stored_text.one_line(title if title is not None else item.body), "the title")
    texts, notes = stored_text.fitted({"title": what})
    fields: dict[str, Any] = {"what": texts["title"], "when": moment, "origin": item.entity}
    if project is not None:
        fields["project"] = project
    held = ("what",) if title is None else ()  # the item's own text is in the log already
    return writer.append("reminder.set", verbatim=held, **fields).entity, notes


def _make_memory(
    writer: Writer,
    memories: Store,
    item: Item,
    type_: str,
    importance: int | None,
    scope: str,
    project: str | None,
) -> tuple[str, list[str]]:
    """Store an item as a memory of its project, or note that it is known already."""
    from mait_code.commands import memory
    from mait_code.commands.memory_scope import Place, context, here

    place = Place("project", project) if project else Place("global")
    if scope:
        at, branch = context()
        place = here(memory.scope_named(scope), project, branch if at == project else None)
    made, notes = memory.draft(item.body, type_, importance, place, origin=item.entity)
    entity, joined = memory.append(writer, memories, made, {}, verbatim=("content",))
    if joined:
        notes.append(f"{ids.short_of(memories, entity.partition('/')[2])} says that already")
    return entity, notes


def _moment(when: str) -> dict[str, Any]:
    """What `--when` means here and now, as the event has it. Raises BadInput or Refused with examples."""
    from datetime import UTC, datetime

    from mait_code.commands.reminders import when_of

    return when_of(when, datetime.now(UTC))


# -- provenance -------------------------------------------------------------------------------------------------------


def short_of_ref(ws: Workspace, ref: str) -> str:
    """The short id of the entity that an item became, or the whole name where it is not known here."""
    kind, _, id_ = ref.partition("/")
    if kind not in _STORES:
        return ref
    store = ws.holder_of(ref)
    rows = store.query("SELECT number FROM entities WHERE entity = ?", (ref,))
    return ids.short_of(store, id_, rows[0][0], kind) if rows else ref


def described(ws: Workspace, origin: str) -> str:
    """The item that a card or reminder came from, for people: its short id and the beginning of its text."""
    item = inbox_queries.one(ws.inbox, origin)
    if item is None:
        gone = inbox_queries.deleted(ws.inbox, origin)
        if not gone:
            return origin
        item = gone[0]
    line = item.first_line
    return f"inbox {item.short}: {line if len(line) <= 60 else line[:59] + '…'}"
