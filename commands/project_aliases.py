"""Other names of projects: who renamed a repository finds what was stored under the old name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.workspace import Workspace


def names_of(ws: Workspace, project: str) -> tuple[str, ...]:
    """A project's name and every other name it goes by, the name itself first."""
    known = aliases(ws)
    wanted = known.get(project.casefold(), project)
    others = sorted(alias for alias, name in ws.reading("projects").query(_ALL) if name.casefold() == wanted.casefold())
    return tuple(dict.fromkeys([project, wanted, *others]))


def aliases(ws: Workspace) -> dict[str, str]:
    """Case-folded other name -> the project."""
    return {alias.casefold(): name for alias, name in ws.reading("projects").query(_ALL)}


_ALL = "SELECT alias, name FROM project_aliases ORDER BY alias"
