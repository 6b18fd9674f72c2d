"""Other names of projects: who renamed a repository finds what was stored under the old name.

`alias` refuses chains and loops, but two machines that were apart may make one of their aliases together. Chains are
followed then, and of a loop the name that sorts first is the project, so that every machine reads the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.store import Store

__all__ = ["Names", "known", "names_in", "names_of"]

_ALL = "SELECT alias, name FROM project_aliases ORDER BY alias, name"


class Names:
    """Every other name that is known, and which project each stands for."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        #: Case-folded other name -> (as it is written, the name it leads to).
        self.pairs = {alias.casefold(): (alias, name) for alias, name in pairs}

    def project(self, name: str) -> str:
        """The project that a name stands for: the name itself where it is no other one's."""
        path: list[str] = []
        while (key := name.casefold()) in self.pairs:
            if key in path:
                return min(self.pairs[one][0] for one in path[path.index(key) :])
            path.append(key)
            name = self.pairs[key][1]
        return name

    def aliases(self) -> list[str]:
        """Every other name, as it is written, in order."""
        return [alias for alias, _name in self.pairs.values()]

    def leads_to(self, name: str) -> str | None:
        """What a name was said to be another name of; None where it is no other name."""
        found = self.pairs.get(name.casefold())
        return found[1] if found is not None else None

    def every(self) -> list[str]:
        """Every name that an alias has or leads to."""
        return [one for pair in self.pairs.values() for one in pair]

    def of(self, name: str) -> tuple[str, ...]:
        """The project that a name stands for, the name itself, and every other name of that project, each once."""
        project = self.project(name)
        wanted = project.casefold()
        others = [alias for alias, _ in self.pairs.values() if self.project(alias).casefold() == wanted]
        return tuple(dict.fromkeys([project, name, *sorted(others)]))


def known(store: Store) -> Names:
    """The names that projects.db holds."""
    return Names(store.query(_ALL))


def names_of(ws: Workspace, project: str) -> tuple[str, ...]:
    """A project and every other name it goes by, the project itself first."""
    return known(ws.reading("projects")).of(project)


def names_in(store: Store) -> Names:
    """The names that are known where another store lies: for what has a store in its hands and no workspace."""
    from mait_code.projections import stores

    projects = stores.projects(store.home)
    try:
        projects.catch_up(wait=False)
        return known(projects)
    finally:
        projects.close()
