"""Changing memories: correcting, replacing and merging them, putting them away and bringing them back.

Two machines that stored the same without knowing of each other made copies, which are shown as one; so what is done to
one is done to all of them, in the same action.
"""

from __future__ import annotations

from mait_code.commands import memory, stored_text
from mait_code.commands.memory_scope import Place, here, refuse_contradiction
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.projections import ids, memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.memory_queries import Memory
    from mait_code.projections.store import Store

__all__ = ["Merged", "delete", "edit", "find", "merge", "pin", "restore_entry", "retire", "supersede", "unpin"]


def find(store: Store, text: str) -> Memory:
    """The memory that an id names, superseded or retired ones too. Raises NotFound, Ambiguous, and Refused where it is
    deleted."""
    entity = ids.resolve(store, text)
    found = memory_queries.one(store, entity)
    if found is not None:
        return found
    from mait_code.commands.lookup import absent

    raise absent(text, next(iter(memory_queries.deleted(store, entity)), None), "memory restore-entry")


def living(store: Store, text: str) -> Memory:
    """The same for a memory that is to be changed: Refused where it is superseded, naming the successor, or retired."""
    found = find(store, text)
    if found.superseded_by:
        raise Refused(f"{found.short} was superseded {_by(store, found)}", _instead(store, found))
    if found.retired_at:
        hint = f"mait-code memory restore-entry {found.short} makes it count again"
        raise Refused(f"{found.short} is retired", hint)
    return found


def _by(store: Store, found: Memory) -> str:
    """By what it was superseded, for people."""
    successor = memory_queries.one(store, f"memory/{found.superseded_by}")
    if successor is None:
        return f"by {found.superseded_by}, which is deleted"
    return f"by {successor.short}: {successor.first_line}"


def _instead(store: Store, found: Memory) -> str:
    last = latest(store, found)
    if last is None:
        return f"mait-code memory restore-entry {found.short} makes it count again"
    return f"change {last.short} instead"


def latest(store: Store, found: Memory) -> Memory | None:
    """What stands for a superseded memory at the end: the last of its successors; None where that is deleted."""
    passed = {found.id}
    at: Memory | None = found
    while at is not None and at.superseded_by:
        if at.superseded_by in passed:
            return None
        passed.add(at.superseded_by)
        at = memory_queries.one(store, f"memory/{at.superseded_by}")
    return at


def _entities(found: Memory) -> list[str]:
    """A memory and its copies, as events name them."""
    return [found.entity, *(f"memory/{id_}" for id_ in found.copies)]


def _afterwards(ws: Workspace, entity: str, notes: Sequence[str] = ()) -> Memory:
    found = memory_queries.one(ws.refreshed("memory"), entity)
    if found is None:
        hint = "mait-code memory restore-entry brings it back"
        raise Refused(f"{entity} was deleted by another process meanwhile", hint)
    found.notes.extend(notes)
    return found


# -- correcting -------------------------------------------------------------------------------------------------------


def edit(
    ws: Workspace,
    text: str,
    *,
    content: str | None = None,
    type_: str | None = None,
    importance: int | None = None,
    scope: str | None = None,
    project: str | None = None,
    branch: str | None = None,
    tags: Iterable[str] = (),
    untag: Iterable[str] = (),
) -> Memory:
    """Change what is given of a living memory; an empty project or branch is none. `supersede` is for what has become true
    since: it keeps the old one."""
    refuse_contradiction(scope, project, branch)
    tags, untag = [stored_text.name(tag, "a tag") for tag in tags], [stored_text.name(tag, "a tag") for tag in untag]
    both = next((tag for tag in tags if tag in untag), None)
    if both is not None:
        raise BadInput(f"tag {both!r} is to be added and taken off", "give --tag or --untag, not both")
    wanted: dict[str, Any] = {}
    notes: list[str] = []
    if content is not None:
        fitted, notes = stored_text.fitted({"text": stored_text.required(content, "the text")})
        wanted["content"] = fitted["text"]
    if type_ is not None:
        wanted["type"] = memory.type_named(type_)
    if importance is not None:
        wanted["importance"] = memory.importance_of(importance)
    placed = [one for one in (scope, project, branch) if one is not None]
    if not (wanted or placed or tags or untag):
        options = "--type, --importance, --scope, --project, --branch, --tag, --untag"
        raise Refused("nothing to change", f"write the new text, or give {options}")
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        found = living(store, text)
        if placed:
            wanted |= _placed(found, scope, project, branch)
        changes = _changes(found, wanted, tags, untag)
        if not changes:
            notes.append(f"{found.short} is like that already; nothing changed")
        for entity in _entities(found) if changes else ():
            writer.append("memory.edited", entity, **changes)
    after = _afterwards(ws, found.entity, notes)
    if len(after.copies) > len(found.copies):
        other = ids.short_of(ws.store("memory"), after.copies[0])
        after.notes.append(f"{after.short} now says the same as {other}; they are shown as one")
    return after


def _placed(found: Memory, scope: str | None, project: str | None, branch: str | None) -> dict[str, Any]:
    """Where a memory belongs afterwards. What is not said stays, else it is as for a new one."""
    if scope:
        named = memory.scope_named(scope)
    elif branch:
        named = "branch"
    elif project is not None:
        named = "project" if project else "global"
    else:
        named = found.scope if found.scope != "branch" or branch is None else "project"
    if named == "global":
        return {"scope": "global", "project": None, "branch": None}
    place = here(named, project or found.project, branch or found.branch)
    if named == "branch" and place.branch is None:
        place = here(named)
    return {"scope": place.scope, "project": place.project, "branch": place.branch}


def _changes(found: Memory, wanted: dict[str, Any], tags: list[str], untag: list[str]) -> dict[str, Any]:
    """Of what is wanted, what is not so yet, or in conflict, which writing it again settles."""
    known = {"type": found.entry_type}
    changes = {
        name: value
        for name, value in wanted.items()
        if value != known.get(name, getattr(found, name, None)) or name in found.conflicts
    }
    added = [tag for tag in dict.fromkeys(tags) if tag not in found.tags or f"tag:{tag}" in found.conflicts]
    taken = [tag for tag in dict.fromkeys(untag) if tag in found.tags or f"tag:{tag}" in found.conflicts]
    return {**changes, **({"tags": added} if added else {}), **({"untagged": taken} if taken else {})}


# -- replacing --------------------------------------------------------------------------------------------------------


def supersede(
    ws: Workspace,
    text: str,
    content: str,
    importance: int | None = None,
    check: Callable[[Memory], None] | None = None,
) -> Memory:
    """Put a new memory in the place of an old one, which is kept and no longer found. The new one takes over type,
    importance, place, tags and pin. Where a living memory says so already, that one takes the place. `check` sees the old
    one under the lock, and may raise."""
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        found = living(store, text)
        if check is not None:
            check(found)
        entity, notes = _replace(writer, store, [found], content, importance)
    return _afterwards(ws, entity, notes)


class Merged:
    """What merging came to: the memory it made, those it took in, and (id as given, why) of those it passed over."""

    __slots__ = ("memory", "skipped", "sources")

    def __init__(self, made: Memory, sources: list[Memory], skipped: list[tuple[str, str]]) -> None:
        self.memory = made
        self.sources = sources
        self.skipped = skipped


def merge(ws: Workspace, texts: Sequence[str], content: str, importance: int | None = None) -> Merged:
    """Make one memory of several. It is of the type and place of the first, as important as the most important, and
    carries the tags of all. Ids that name nothing living are passed over; Refused where none is left, or
    only one was named."""
    store = ws.store("memory")
    skipped: list[tuple[str, str]] = []
    with ws.journal.writing(store) as writer:
        sources: list[Memory] = []
        for text in texts:
            try:
                found = living(store, text)
            except (NotFound, Refused) as error:
                skipped.append((text, error.message))
                continue
            if not any(found.id in (one.id, *one.copies) for one in sources):
                sources.append(found)
        if not sources:
            why = "; ".join(reason for _text, reason in skipped)
            raise Refused(f"there is nothing to merge: {why}", "mait-code memory list shows the ids")
        if len(sources) == 1 and not skipped:
            hint = f"name another; mait-code memory supersede {sources[0].short} TEXT puts a new text in its place"
            raise Refused(f"to merge takes two memories, and only {sources[0].short} was named", hint)
        entity, notes = _replace(writer, store, sources, content, importance)
    return Merged(_afterwards(ws, entity, notes), sources, skipped)


def _replace(
    writer: Writer, store: Store, sources: list[Memory], content: str, importance: int | None
) -> tuple[str, list[str]]:
    """Write what takes the place of the sources, then that it does. Returns it, and notes."""
    first = sources[0]
    most = max(one.importance for one in sources) if importance is None else importance
    tags = list(dict.fromkeys(tag for one in sources for tag in one.tags))
    place = Place(first.scope, first.project, first.branch)
    made, notes = memory.draft(content, first.entry_type, most, place, tags=tags)
    gone = [entity for one in sources for entity in _entities(one)]
    known = memory_queries.living_same(store, made.same)
    if known in gone:
        known_id = known.partition("/")[2]
        gone = [one for one in gone if one not in _entities(next(s for s in sources if known_id in (s.id, *s.copies)))]
        if not gone:
            raise Refused(
                f"{first.short} says that already", "mait-code memory edit changes the words and keeps the id"
            )
    entity, joined = memory.append(writer, store, made, {})
    if joined:
        notes.append(f"{ids.short_of(store, entity.partition('/')[2])} says that already, and takes the place")
    for one in gone:
        writer.append("memory.superseded", one, by=entity)
    if any(one.pinned for one in sources):
        writer.append("memory.pinned", entity)
    return entity, notes


# -- away and back ----------------------------------------------------------------------------------------------------


def retire(ws: Workspace, text: str) -> Memory:
    """Put a memory away that is true no longer and has no successor. It is kept, and no longer found."""
    store = ws.store("memory")
    notes = []
    with ws.journal.writing(store) as writer:
        found = find(store, text)
        if not found.live:
            how = f"superseded {_by(store, found)}" if found.superseded_by else "retired"
            notes.append(f"{found.short} is {how} already; nothing changed")
        else:
            for entity in _entities(found):
                writer.append("memory.retired", entity)
    return _afterwards(ws, found.entity, notes)


def delete(ws: Workspace, text: str) -> Memory:
    """Delete a memory; `restore-entry` and undo bring it back. Returns it as it was.

    What it had superseded does not stay hidden behind it: it counts again, or belongs to the successor's successor.
    """
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        found = find(store, text)
        entities = _entities(found)
        for entity in entities:
            for before in memory_queries.predecessors(store, entity.partition("/")[2]):
                if before.entity not in entities:
                    found.notes.append(_let_go(writer, found, before))
        for entity in entities:
            writer.append("memory.deleted", entity)
    ws.refreshed("memory")
    return found


def _let_go(writer: Writer, found: Memory, before: Memory) -> str:
    """Write what becomes of a memory whose successor goes. Returns it in words."""
    if found.superseded_by and found.superseded_by != before.id:
        writer.append("memory.superseded", before.entity, by=f"memory/{found.superseded_by}")
        return f"{before.short}, which it had superseded, is now superseded by {found.superseded_by}"
    writer.append("memory.restored", before.entity, register="superseded")
    if found.retired_at and not before.retired_at:
        # The newer wording was given up as untrue, so the older is no truer.
        writer.append("memory.retired", before.entity)
        return f"{before.short}, which it had superseded, is retired like it"
    return f"{before.short}, which it had superseded, counts again: {before.first_line}"


def restore_entry(ws: Workspace, text: str) -> Memory:
    """Bring back a memory that was deleted, as it was; or make one that was superseded or retired count again."""
    store = ws.store("memory")
    notes = []
    with ws.journal.writing(store) as writer:
        entity = ids.resolve(store, text)
        gone = memory_queries.deleted(store, entity) if memory_queries.one(store, entity) is None else []
        if gone:
            writer.append("memory.restored", entity, register="deleted")
        else:
            found = find(store, entity)
            if found.live:
                notes.append(f"{found.short} counts already; nothing changed")
            if found.superseded_by:
                writer.append("memory.restored", entity, register="superseded")
                notes += [f"its successor {one.short} stays" for one in [latest(store, found)] if one is not None]
            if found.retired_at:
                writer.append("memory.restored", entity, register="retired")
    back = _afterwards(ws, entity, notes)
    if not back.live:
        back.notes.append(f"it was {back.state} before: restore it once more to make it count again")
    return back


# -- pinning ----------------------------------------------------------------------------------------------------------


def pin(ws: Workspace, text: str) -> Memory:
    """Keep a memory in sight: it goes into MEMORY.md."""
    return _pinned(ws, text, True, lambda found: [found.entity])


def unpin(ws: Workspace, text: str) -> Memory:
    """Take a memory out of MEMORY.md. It is found as before."""
    return _pinned(ws, text, False, _entities)


def _pinned(ws: Workspace, text: str, wanted: bool, which: Callable[[Memory], list[str]]) -> Memory:
    store = ws.store("memory")
    notes = []
    with ws.journal.writing(store) as writer:
        found = living(store, text) if wanted else find(store, text)
        if found.pinned == wanted and "pinned" not in found.conflicts:
            notes.append(f"{found.short} is {'pinned' if wanted else 'not pinned'} already; nothing changed")
        else:
            for entity in which(found):
                writer.append("memory.pinned" if wanted else "memory.unpinned", entity)
    return _afterwards(ws, found.entity, notes)
