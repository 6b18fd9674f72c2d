"""Cards: adding, finding, listing. What moves and edits them is in board_moves and board_edits.

Functions take a Workspace and plain values, decide under the append lock from the store as it is then, and return the
card as it is afterwards; `card.notes` holds what a person should be told besides.
"""

from __future__ import annotations

from mait_code.commands import board_sessions, project_aliases, stored_text
from mait_code.commands import project as projects
from mait_code.journal.errors import Ambiguous, BadInput, NotFound, Refused
from mait_code.projections import board_queries, ids
from mait_code.projections.board_queries import Card
from mait_code.projections.cards import COLUMNS, PRIORITIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.commands.project_aliases import Names
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["Card", "Scope", "add", "deleted", "find", "held", "listing", "scope", "show", "summary"]


def column_named(text: str) -> str:
    """The column a person means: in_progress, "in progress" and In-Progress are one. Raises BadInput."""
    column = "_".join(text.strip().lower().replace("-", " ").replace("_", " ").split())
    if column not in COLUMNS:
        raise BadInput(f"there is no column {text!r}", "columns are " + ", ".join(COLUMNS))
    return column


def priority_named(text: str) -> str:
    """A priority in its one spelling. Raises BadInput."""
    priority = text.strip().lower()
    if priority not in PRIORITIES:
        raise BadInput(f"there is no priority {text!r}", "priorities are " + ", ".join(PRIORITIES))
    return priority


# -- projects ---------------------------------------------------------------------------------------------------------


class Scope:
    """Which projects a command is about: all (`every`), those without one (`project` None), or one by its spellings."""

    __slots__ = ("every", "names", "project")

    def __init__(self, project: str | None = None, names: Iterable[str] = (), every: bool = False) -> None:
        self.every = every
        self.project = project
        self.names = tuple(names)

    def condition(self) -> tuple[str, tuple[str, ...]]:
        """The same as SQL over the table `cards`."""
        if self.every:
            return "1", ()
        if self.project is None:
            return "project IS NULL", ()
        return f"project IN ({', '.join('?' * len(self.names))})", self.names

    def holds(self, card: Card) -> bool:
        """Whether a card is of these projects."""
        return self.every or (card.project in self.names if self.project is not None else card.project is None)


def scope(store: Store, project: str | None = None, every: bool = False) -> Scope:
    """What `--project` and `--all` mean: without either the project of this directory, outside any project all of them.

    An empty `project` means cards without one. A short name stands for the one known project that ends in it.
    """
    if every:
        if project is not None:
            raise BadInput("--all and --project contradict each other", "give one of them")
        return Scope(every=True)
    if project is not None and not project.strip():
        return Scope()
    here = projects.here() if project is None or "/" not in project else None
    if project is None and here is None:
        return Scope(every=True)
    return _scope_of(store, project, here)


def _scope_of(store: Store, project: str | None, here: str | None) -> Scope:
    known = board_queries.projects(store)
    others = project_aliases.names_in(store)
    if project is None:
        assert here is not None
        return _spelt(others, here, known)
    asked = stored_text.name(project, "the project")
    found = projects.matching(asked, dict.fromkeys([*known, *([here] if here is not None else []), *others.every()]))
    if len({others.project(one).casefold() for one in found}) > 1:
        raise Ambiguous(f"{asked!r} names several projects: {', '.join(found)}", found, "give one of these")
    return _spelt(others, found[0] if found else asked, known)


def _spelt(others: Names, project: str, known: list[str]) -> Scope:
    """A project by all its names. A clone whose URL differs in case belongs to the same one, under the name that is known
    already."""
    names = others.of(project)
    spelt = [one for one in known if one.casefold() == names[0].casefold()]
    named = names[0] if names[0] in spelt or not spelt else spelt[0]
    folded = {one.casefold() for one in names}
    return Scope(named, dict.fromkeys([named, *names, *(one for one in known if one.casefold() in folded)]))


# -- one card ---------------------------------------------------------------------------------------------------------


def find(store: Store, text: str, project: str | None = None) -> Card:
    """The living card that an id names, of `project` where that is given. Raises NotFound, Ambiguous, Refused."""
    entity = locate(store, text, project)
    card = board_queries.one(store, entity)
    if card is not None:
        return card
    gone = board_queries.deleted_cards(store, entity)
    if gone:
        hint = f"mait-code board restore {gone[0].short} brings it back"
        if gone[0].conflicts:
            hint = f"it was changed elsewhere at the same time: see mait-code conflicts, or {hint[10:]}"
        raise Refused(f"{gone[0].short} ({_brief(gone[0].title)}) was deleted", hint)
    raise Refused(f"{text} cannot be read yet: it was written by a newer version", "update mait-code on this machine")


def locate(store: Store, text: str, project: str | None = None) -> str:
    """The entity that an id names, deleted ones too. `project` decides between cards of one number."""
    try:
        found = ids.resolve(store, text)
    except Ambiguous as error:
        if project is None:
            raise
        wanted = scope(store, project)
        entities = [ids.resolve(store, candidate) for candidate in error.candidates]
        inside = [entity for entity in entities if _inside(store, entity, wanted)]
        if len(inside) != 1:
            raise
        return inside[0]
    if project is not None and not _inside(store, found, wanted := scope(store, project)):
        where = f"of {wanted.project}" if wanted.project else "without a project"
        raise NotFound(f"{text} is no card {where}", "leave --project away, or name its own")
    return found


def _inside(store: Store, entity: str, wanted: Scope) -> bool:
    card = board_queries.one(store, entity)
    found = [card] if card is not None else board_queries.deleted_cards(store, entity)
    return any(wanted.holds(one) for one in found)


def _brief(title: str) -> str:
    return title if len(title) <= 60 else title[:59] + "…"


def afterwards(ws: Workspace, entity: str, notes: Iterable[str] = ()) -> Card:
    """The card as it is after this process wrote, with what is to be told."""
    card = board_queries.one(ws.refreshed("board"), entity)
    if card is None:
        raise Refused(f"{entity} was deleted by another process meanwhile", "mait-code board restore brings it back")
    card.notes.extend(notes)
    return card


def add(
    ws: Workspace,
    title: str,
    *,
    description: str | None = None,
    acceptance: str | None = None,
    priority: str = "medium",
    project: str | None = None,
) -> Card:
    """Add a card to the backlog. Without `project` it belongs to this directory's; an empty one means none."""
    title = stored_text.required(stored_text.one_line(title), "the title")
    texts, notes = stored_text.fitted(
        {"title": title, "description": description or None, "acceptance criteria": acceptance or None}
    )
    fields: dict[str, Any] = {
        "title": texts["title"],
        "description": texts["description"],
        "acceptance_criteria": texts["acceptance criteria"],
        "priority": priority_named(priority),
        "column": COLUMNS[0],
        "project": scope(ws.board, project).project,
    }
    with ws.journal.writing(ws.store("board")) as writer:
        number = ids.next_number(ws.store("board"))
        kept = {key: value for key, value in fields.items() if value is not None}
        event = writer.append("card.created", **kept, number=number)
    return afterwards(ws, event.entity, notes)


def show(ws: Workspace, text: str, project: str | None = None) -> Card:
    """One card with its comments."""
    return find(ws.board, text, project)


def restore(ws: Workspace, text: str, project: str | None = None) -> Card:
    """Bring a deleted card back as it was."""
    store = ws.store("board")
    notes = []
    with ws.journal.writing(store) as writer:
        entity = locate(store, text, project)
        if board_queries.one(store, entity) is None and board_queries.deleted_cards(store, entity):
            writer.append("card.restored", entity, register="deleted")
        else:
            notes.append(f"{find(store, entity).short} is not deleted; nothing changed")
    return afterwards(ws, entity, notes)


# -- many cards -------------------------------------------------------------------------------------------------------


def listing(
    store: Store,
    chosen: Scope,
    *,
    statuses: Iterable[str] = (),
    archived: bool = False,
    search: str = "",
    comments: bool = False,
    brief: bool = False,
) -> list[Card]:
    """Cards of a scope, most urgent first. Archived ones only when asked for, or when `statuses` names that column.

    `search` keeps cards that hold each of its words in title, description, acceptance criteria, summary or tags.
    `brief` leaves the bodies out.
    """
    where, bindings = chosen.condition()
    wanted = tuple(dict.fromkeys(column_named(status) for status in statuses))
    if wanted:
        where += f" AND status IN ({', '.join('?' * len(wanted))})"
        bindings += wanted
    elif not archived:
        where += " AND status <> 'archived'"
    words = search.casefold().split()
    found = board_queries.cards(store, where, bindings, comments=comments, brief=brief and not words)
    return [card for card in found if _matches(card, words)] if words else found


def _matches(card: Card, words: list[str]) -> bool:
    texts = (card.title, card.description, card.acceptance_criteria, card.completion_summary, card.short, *card.tags)
    whole = "\n".join(text for text in texts if text).casefold()
    return all(word in whole for word in words)


def summary(store: Store, chosen: Scope) -> dict[str, int]:
    """How many cards stand in each column, the archive left out."""
    found = board_queries.counts(store, *chosen.condition())
    found.pop("archived", None)
    return found


def held(ws: Workspace, chosen: Scope, session: str | None, pid: int | None) -> list[Card]:
    """Cards in progress that a session holds: the one named, else this one. Raises Refused outside any."""
    who = board_sessions.required(ws, session, pid)
    where, bindings = chosen.condition()
    found = board_queries.cards(ws.board, f"{where} AND bound_session = ?", (*bindings, who.id))
    return [card for card in found if board_sessions.mine(ws, card, who)]


def deleted(store: Store, chosen: Scope) -> list[Card]:
    """Deleted cards of a scope, the last changed first."""
    return [card for card in board_queries.deleted_cards(store) if chosen.holds(card)]
