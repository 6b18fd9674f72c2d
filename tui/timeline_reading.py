"""What the timeline asks of the journal and the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import history, lookup, project_aliases, timeline
from mait_code.commands.event_words import FAMILIES, said
from mait_code.commands.output import counted
from mait_code.commands.times import local
from mait_code.projections import ids
from mait_code.projections.stores import HOLDS
from mait_code.tui.observations_reading import day_text
from mait_code.tui.outline_reading import Branch, Outline, in_sight

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.history import Step
    from mait_code.commands.timeline import Hit, Window
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event

__all__ = [
    "EVERYWHERE", "HERE", "PAGE", "History", "Line", "Past", "Question", "Shown", "View", "first", "leaves", "machines",
    "projects",
]  # fmt: skip

#: Places besides projects: this directory's, and everything. No project is called so.
HERE, EVERYWHERE = "\0here", "\0all"
#: Events that are listed at first, and how many more when somebody comes to their end.
PAGE = 500
#: Seconds that one look may take where a filter finds little; the next one goes on from there.
_PATIENCE = 0.15


class Line:
    """An event as a row shows it."""

    __slots__ = ("clock", "id", "machine", "takes_back", "title", "words")

    def __init__(self, event: Event, day: str, machine: str, title: str) -> None:
        self.id = event.id
        shown = local(event.shown)
        #: "09:12"; with its date where the writer's clock stood at another day than the one it is listed under.
        self.clock = shown[11:16] if shown[:10] == day else shown[:16]
        self.machine = machine
        self.words = said(event)
        self.title = title
        self.takes_back = bool(event.undoes)


class View:
    """What is looked at: words, project, machine and family, and what was found of it so far.

    Made by the screen, used in the workroom alone; another choice is another view.
    """

    def __init__(self, words: str = "", place: str = EVERYWHERE, replica: str = "", family: str = "") -> None:
        self.choice = (words, place, replica, family)
        self.words = words
        self.place = place
        self.replica = replica
        self.family = family
        self._window: Window | None = None

    def window(self, ws: Workspace) -> Window:
        """The journal as this view filters it."""
        if self._window is None:
            wanted = timeline.Filter(self.words, self._names(ws), self.replica, self.family)
            self._window = timeline.Window(wanted)
        return self._window

    def _names(self, ws: Workspace) -> tuple[str, ...] | None:
        place = _named(self.place)
        if place is None:
            return timeline.EVERY
        return project_aliases.names_of(ws, place) if place else ()

    def where(self, labels: dict[str, str]) -> str:
        """The choice in words, for the banner."""
        place = _named(self.place)
        parts = ["all projects" if place is None else place or "no project"]
        if self.replica:
            parts.append(labels.get(self.replica, self.replica))
        if self.family:
            parts.append(self.family)
        return ", ".join(parts)


def _named(place: str) -> str | None:
    """The project that a place is; None for all of them, empty for what is of none."""
    if place != HERE:
        return None if place == EVERYWHERE else place
    from mait_code.commands import project

    return project.here()


class Shown(Outline[Line]):
    """The answer, with the events of the index by their keys, and whether older ones are still to be looked for."""

    __slots__ = ("hits", "is_whole", "searching")

    def __init__(self, where: str) -> None:
        super().__init__(where)
        self.hits: dict[str, Hit] = {}
        #: Whether these are all there are.
        self.is_whole = True
        #: Whether fewer were found so far than are wanted, and the beginning of the journal was not reached.
        self.searching = False


class Question:
    """The newest `want` events of a view; those that are in sight come with what they say."""

    __slots__ = ("seen", "view", "want")

    def __init__(self, view: View, want: int = PAGE, seen: Iterable[str] = ()) -> None:
        self.view = view
        self.want = want
        self.seen = list(seen)

    def __call__(self, ws: Workspace) -> Shown:
        window = self.view.window(ws)
        hits = window.look(ws, self.want, _PATIENCE)
        labels = ws.log.labels()
        found = Shown(self.view.where(labels))
        found.hits = {hit.id: hit for hit in hits}
        found.is_whole = window.is_whole and len(hits) < self.want
        found.searching = not window.is_whole and len(hits) < self.want
        found.total = len(hits) if window.filter.is_empty else 1
        for hit in hits:
            _put_under_day(found, hit.id, hit.at)
        if found.branches and not found.is_whole:
            found.branches[-1].detail += "+"
        found.items = leaves(ws, found, in_sight(list(found.hits), self.seen))
        found.banner = counted(len(hits), "event") + ("" if found.is_whole else ", older below")
        if found.searching:
            found.banner = f"{len(hits)} found, looked back to {local(window.reached)[:10]}"
        return found


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question(View())


def _put_under_day(found: Outline[Line], key: str, at: str) -> None:
    """Under the day of its place in the order, so that days follow each other whatever clocks showed."""
    day = local(at)[:10]
    if not found.branches or found.branches[-1].key != f"day:{day}":
        found.branches.append(Branch(f"day:{day}", day_text(day)))
    branch = found.branches[-1]
    branch.leaves.append(key)
    branch.count += 1
    branch.detail = str(branch.count)


def leaves(ws: Workspace, found: Shown, keys: Iterable[str]) -> dict[str, Line]:
    """What events say, by their ids."""
    labels = ws.log.labels()
    titles: dict[str, str] = {}
    lines: dict[str, Line] = {}
    for key in keys:
        hit = found.hits.get(key)
        event = ws.log.event_at(hit.place) if hit is not None else None
        if hit is None or event is None:
            continue  # a heading, or a file that changed this moment: the next look shows it
        if hit.entity not in titles:
            titles[hit.entity] = lookup.title(timeline.state_of(ws, hit.entity))
        machine = labels.get(event.replica) or event.replica
        lines[key] = Line(event, local(hit.at)[:10], machine, titles[hit.entity] or hit.entity)
    return lines


# -- the history of one thing -----------------------------------------------------------------------------------------


class Past(Outline[Line]):
    """Every event of one thing, with what each changed, by their ids."""

    __slots__ = ("called", "steps", "title")

    def __init__(self, called: str, title: str) -> None:
        super().__init__(f"{called}  {title}".rstrip())
        self.called = called
        self.title = title
        self.steps: dict[str, Step] = {}


class History:
    """The whole history of a thing, the newest first, or those events of it that have these words."""

    __slots__ = ("entity", "words")

    def __init__(self, entity: str, words: str = "") -> None:
        self.entity = entity
        self.words = words

    def __call__(self, ws: Workspace) -> Past:
        called, title = names_of(ws, self.entity)
        found = Past(called, title)
        asked = self.words.casefold().split()
        every = steps_of(ws, self.entity)
        for step in reversed(every):
            event = step.event
            machine = step.label or event.replica
            text = "\n".join([said(event), event.kind, event.actor, machine, str(step.changes), str(event.data)])
            if not all(word in text.casefold() for word in asked):
                continue
            _put_under_day(found, event.id, event.at)
            found.items[event.id] = Line(event, local(event.at)[:10], machine, "")
            found.steps[event.id] = step
        found.total = len(every)
        found.banner = counted(len(found.steps), "event")
        return found


def steps_of(ws: Workspace, entity: str) -> list[Step]:
    """Every event of a thing in order; none where no store holds its kind."""
    kind = entity.partition("/")[0]
    return history.steps(ws, ws.reading(HOLDS[kind]), entity) if kind in HOLDS else []


def names_of(ws: Workspace, entity: str) -> tuple[str, str]:
    """What a thing is called ("card 12kf"), and its title."""
    kind, _, id_ = entity.partition("/")
    if kind not in HOLDS:
        return f"{kind} {id_}", ""
    store = ws.reading(HOLDS[kind])
    state = store.state(entity)
    if state is None:
        return f"{kind} {id_[: ids.SHORTEST]}", ""
    return f"{kind} {lookup.short(store, entity, state)}", lookup.title(state)


# -- choices ----------------------------------------------------------------------------------------------------------


def projects(ws: Workspace) -> list[tuple[str, str, str]]:
    """The projects to choose from: key, name, and which one is here."""
    from mait_code.commands import projects as known

    every = known.listing(ws)
    here = next((one.name for one in every if one.here), "")
    options = [(EVERYWHERE, "All projects", "")]
    if here:
        options.append((HERE, f"This directory's: {here}", ""))
    options.append(("", "Outside any project", ""))
    return options + [(one.name, one.name, ", ".join(one.aliases)) for one in every]


def machines(ws: Workspace) -> list[tuple[str, str, str]]:
    """The machines to choose from: the replica's id, its label, and its id beside it."""
    from mait_code.journal import segments

    labels = ws.log.labels()
    names = segments.directories(ws.home.journal)
    found = sorted((labels.get(name) or name, name) for name in names)
    return [("", "All machines", ""), *((name, label, name if label != name else "") for label, name in found)]


def families() -> list[tuple[str, str, str]]:
    """The families to choose from."""
    return [("", "Everything", ""), *((name, name, "") for name in FAMILIES)]
