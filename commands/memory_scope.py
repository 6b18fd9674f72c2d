"""Where a memory belongs, and from where it is seen: the project and the branch of this directory."""

from __future__ import annotations

from mait_code.commands import project as projects
from mait_code.commands import stored_text
from mait_code.journal.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Branches whose memories are the project's.
MAIN = ("main", "master", "default", "trunk")


class Place:
    """A scope with what it needs: global, a project, or a branch of one."""

    __slots__ = ("branch", "project", "scope")

    def __init__(self, scope: str, project: str | None = None, branch: str | None = None) -> None:
        self.scope = scope
        self.project = project
        self.branch = branch


def context(directory: str | None = None) -> tuple[str | None, str | None]:
    """The project and the branch of a directory; the branch is None on a main branch, and where none is checked out."""
    project = projects.here(directory)
    branch = projects.branch(directory) if project is not None else None
    return project, None if branch in MAIN else branch


def here(scope: str = "", project: str | None = None, branch: str | None = None) -> Place:
    """Where something stored here belongs: on the branch, else to the project, else everywhere; or as it is said.

    Raises BadInput where a scope needs a project or branch that there is not, or a name is none.
    """
    if scope == "global":
        return Place("global")
    project = stored_text.name(project, "the project") if project is not None else None
    branch = stored_text.name(branch, "the branch") if branch else None
    if project is None:
        project, found = context()
        branch = branch or (found if scope in ("", "branch") else None)
    wanted = scope or ("branch" if branch else "project" if project else "global")
    if wanted == "global":
        return Place("global")
    if not project:
        raise BadInput(f"scope {wanted} needs a project", "run it inside a project, or name one with --project")
    if wanted == "project":
        return Place("project", project)
    if not branch:
        raise BadInput("scope branch needs a branch", "check one out, or name one with --branch")
    return Place("branch", project, branch)


def refuse_contradiction(scope: str | None, project: str | None, branch: str | None) -> None:
    """Raise BadInput where what is said of a place contradicts itself. None is what was not said, an empty project none."""
    if scope == "global" and project:
        raise BadInput(f"scope global belongs to no project, and {project!r} was named", "leave out one of the two")
    if scope in ("global", "project") and branch:
        raise BadInput(f"scope {scope} belongs to no branch, and {branch!r} was named", "leave out one of the two")
    if project is not None and not project.strip() and (scope in ("project", "branch") or branch):
        raise BadInput(f"scope {scope or 'branch'} needs a project, and an empty one was named", "name one")


def seen_from(
    scope: str = "", names: tuple[str, ...] = (), branch: str | None = None, prefix: str = "e."
) -> tuple[str, list[Any]]:
    """SQL for what is seen from a project (by all its names) and a branch: what is global, the project's, the branch's.

    A named scope narrows it to that; `all` and no project lift it.
    """
    if scope == "all" or (not names and scope in ("", "project", "branch")):
        return "", []
    if scope == "global":
        return f"{prefix}scope = 'global'", []
    of_project = f"{prefix}project IN ({', '.join('?' * len(names))})"
    if scope == "project":
        return f"{prefix}scope = 'project' AND {of_project}", [*names]
    if scope == "branch":
        return f"{prefix}scope = 'branch' AND {of_project} AND {prefix}branch IS ?", [*names, branch]
    return (
        f"({prefix}scope = 'global' OR ({of_project} AND ({prefix}scope = 'project' OR {prefix}branch IS ?)))",
        [*names, branch],
    )
