"""What a question about memories looks at: the project and the branch it is asked from, by every name they go by."""

from __future__ import annotations

from mait_code.commands import memory_scope
from mait_code.commands import project as projects
from mait_code.journal.errors import Ambiguous

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace


class Seen:
    """What is seen from somewhere, as SQL, and where that is. `project` and `branch` are None where none is meant."""

    __slots__ = ("bindings", "branch", "project", "where")

    def __init__(self, where: str, bindings: list[Any], project: str | None, branch: str | None) -> None:
        self.where = where
        self.bindings = bindings
        self.project = project
        self.branch = branch


def seen(
    ws: Workspace, scope: str = "", project: str | None = None, branch: str | None = None, prefix: str = "e."
) -> Seen:
    """What is seen from this directory, or from a named project and branch; from an empty project what is global. An empty
    `where` means everything.

    Raises Ambiguous where a short name is that of several projects.
    """
    from mait_code.commands.project_aliases import names_of

    if project is not None:
        project = known_as(ws, project)
        scope = scope or ("" if project else "global")
    elif scope not in ("all", "global"):
        project, found = memory_scope.context()
        branch = branch or found
    names = names_of(ws, project) if project else ()
    where, bindings = memory_scope.seen_from(scope, names, branch, prefix)
    if not where and scope in ("project", "branch"):
        # Outside any project a named scope still means what it says: all there is of it.
        where, bindings = f"{prefix}scope = ?", [scope]
    return Seen(where, bindings, names[0] if names else project, branch)


def known_as(ws: Workspace, project: str) -> str | None:
    """The project that a person means by a name: a known one by its short name, else a new one; None for an empty name.

    Raises Ambiguous.
    """
    wanted = project.strip()
    if not wanted:
        return None
    known = [
        row[0] for row in ws.reading("memory").query("SELECT DISTINCT project FROM entries WHERE project NOT NULL")
    ]
    here = projects.here() if "/" not in wanted else None
    found = projects.matching(wanted, known if here is None else dict.fromkeys([*known, here]))
    if len({one.casefold() for one in found}) > 1:
        raise Ambiguous(f"{wanted!r} names several projects: {', '.join(found)}", found, "give one of these")
    return found[0] if found else wanted
