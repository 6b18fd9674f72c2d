"""Projects: which there are, the other names they go by, and memories that stand under such a name."""

from __future__ import annotations

from mait_code.commands import project as identity
from mait_code.commands import project_aliases, stored_text
from mait_code.journal.errors import Ambiguous, NotFound, Refused
from mait_code.journal.ids import derived_entity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.commands.project_aliases import Names
    from mait_code.commands.workspace import Workspace

__all__ = ["Known", "Move", "alias", "canonicalize", "listing", "unalias"]

#: Table, store and what its rows are called, of everything that carries a project.
_COUNTED = (("cards", "board", "cards"), ("inbox_items", "inbox", "inbox"), ("memory_entries", "memory", "memories"))


class Known:
    """A project: its other names, how much stands under any of them, and whether this directory is of it."""

    __slots__ = ("aliases", "counts", "here", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.aliases: list[str] = []
        self.counts = {what: 0 for _table, _store, what in _COUNTED}
        self.here = False

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"name": self.name, "aliases": self.aliases, "here": self.here, **self.counts}


def listing(ws: Workspace) -> list[Known]:
    """Every project that something stands under, that has another name, or that this directory is of, by name."""
    names = project_aliases.known(ws.reading("projects"))
    found: dict[str, Known] = {}

    def known(name: str) -> Known:
        project = names.project(name)
        return found.setdefault(project.casefold(), Known(project))

    for table, store, what in _COUNTED:
        for name, count in _counts(ws, table, store):
            known(name).counts[what] += count
    for alias_ in names.aliases():
        one = known(alias_)
        if alias_.casefold() != one.name.casefold():
            one.aliases.append(alias_)
    here = identity.here()
    if here is not None:
        known(here).here = True
    return sorted(found.values(), key=lambda one: one.name.casefold())


def _counts(ws: Workspace, table: str, store: str) -> list[tuple[Any, ...]]:
    query = f"SELECT project, count(*) FROM {table} WHERE project IS NOT NULL GROUP BY project ORDER BY project"  # noqa: S608
    return ws.reading(store).query(query)


def _stored(ws: Workspace) -> list[str]:
    """Every name that something stands under, and this directory's."""
    found = [name for table, store, _what in _COUNTED for name, _count in _counts(ws, table, store)]
    here = identity.here()
    return list(dict.fromkeys([*found, *([here] if here is not None else [])]))


# -- other names ------------------------------------------------------------------------------------------------------


def alias(ws: Workspace, old: str, new: str) -> tuple[str, str, list[str]]:
    """Say that the project `new` also went by `old`. Returns both as they are written, and what is to be told.

    `new` may be the short name of a project that is known. Raises Refused for chains and loops, Ambiguous for a short
    name of several.
    """
    old = stored_text.name(old, "the old name")
    new = _one_of(stored_text.name(new, "the project"), _stored(ws), old)
    if old.casefold() == new.casefold():
        raise Refused(f"{old} is that project's own name", "give the name that it had before")
    store = ws.store("projects")
    notes: list[str] = []
    with ws.journal.writing(store) as writer:
        names = project_aliases.known(store)
        _refuse_chains(names, old, new)
        before = names.leads_to(old)
        if before is not None and before.casefold() == new.casefold():
            notes.append(f"{old} is another name of {before} already; nothing changed")
        else:
            if before is not None:
                notes.append(f"{old} was another name of {before} until now")
            writer.append("project.aliased", derived_entity("project", old.casefold()), alias=old, name=new)
    ws.refreshed("projects")
    return old, new, notes


def _one_of(asked: str, known: Iterable[str], but: str) -> str:
    found = identity.matching(asked, [one for one in known if one.casefold() != but.casefold()])
    if len({one.casefold() for one in found}) > 1:
        raise Ambiguous(f"{asked!r} names several projects: {', '.join(found)}", found, "give one of these")
    return found[0] if found else asked


def _refuse_chains(names: Names, old: str, new: str) -> None:
    further = names.leads_to(new)
    if further is not None and further.casefold() == old.casefold():
        raise Refused(
            f"{new} is another name of {old} already: the two would lead to each other",
            f"mait-code projects unalias {new} takes that back",
        )
    if further is not None:
        raise Refused(f"{new} is itself another name of {further}", f"mait-code projects alias {old} {further}")
    others = [one for one in names.aliases() if (names.leads_to(one) or "").casefold() == old.casefold()]
    if others:
        raise Refused(
            f"{old} goes by other names itself: {', '.join(others)}",
            f"take each back with mait-code projects unalias, then make all of them names of {new}",
        )


def unalias(ws: Workspace, old: str) -> tuple[str, str]:
    """Take another name back. Returns it, and the project that it stood for. Raises NotFound."""
    old = stored_text.name(old, "the old name")
    store = ws.store("projects")
    with ws.journal.writing(store) as writer:
        names = project_aliases.known(store)
        before = names.leads_to(old)
        if before is None:
            raise NotFound(f"{old} is no other name of a project", "mait-code projects list shows them")
        writer.append("project.unaliased", derived_entity("project", old.casefold()))
    ws.refreshed("projects")
    return old, before


# -- memories under old names -----------------------------------------------------------------------------------------


class Move:
    """Memories that stand under one name and belong under another."""

    __slots__ = ("count", "new", "old")

    def __init__(self, old: str, new: str, count: int) -> None:
        self.old = old
        self.new = new
        self.count = count

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {"from": self.old, "to": self.new, "memories": self.count}


def canonicalize(ws: Workspace, dry_run: bool = False) -> list[Move]:
    """Move memories that stand under another name, or under the short name of the one project that has it, in one action.

    Superseded and retired ones move too: they are the history of the rest. Returns what moved, or would.
    """
    known = _stored(ws)
    names = project_aliases.known(ws.reading("projects"))
    store = ws.store("memory")
    moves: list[Move] = []
    if dry_run:
        return [Move(old, new, len(rows)) for old, new, rows in _misplaced(ws, names, known)]
    with ws.journal.writing(store) as writer:
        for old, new, rows in _misplaced(ws, names, known):
            for id_ in rows:
                writer.append("memory.edited", f"memory/{id_}", project=new)
            moves.append(Move(old, new, len(rows)))
    if moves:
        ws.refreshed("memory")
    return moves


def _misplaced(ws: Workspace, names: Names, known: list[str]) -> list[tuple[str, str, list[str]]]:
    """(name, the name it ought to be, ids) for memories under names that are not their project's."""
    rows = ws.reading("memory").query("SELECT project, id FROM memory_entries WHERE project IS NOT NULL ORDER BY id")
    by_name: dict[str, list[str]] = {}
    for project, id_ in rows:
        by_name.setdefault(project, []).append(id_)
    spelt = {names.project(one) for one in known}
    found = []
    for name in sorted(by_name):
        proper = names.project(name)
        if proper == name and "/" not in name:
            whole = sorted(one for one in spelt if one.rpartition("/")[2].casefold() == name.casefold() and "/" in one)
            if len({one.casefold() for one in whole}) == 1:
                proper = whole[0]
        if proper != name:
            found.append((name, proper, by_name[name]))
    return found
