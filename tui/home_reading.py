"""What home asks of the stores. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import dashboard, dashboard_approval, dashboard_tiles, home
from mait_code.commands.output import counted
from mait_code.journal import settings
from mait_code.tui import home_texts, list_reading
from mait_code.tui.launch import ROOMS
from mait_code.tui.outline_reading import Branch, Outline

if TYPE_CHECKING:
    from mait_code.commands.dashboard import Dashboard
    from mait_code.commands.dashboard_tiles import Lines
    from mait_code.commands.home import Summary
    from mait_code.commands.workspace import Workspace

__all__ = ["DOCTOR", "START", "Hub", "Leaf", "Question", "first"]

#: Keys of what is no room: the start page itself, and what doctor says.
START, DOCTOR = "start", "doctor"
#: Branches in their order: key, words, the rooms beneath by their names in launch.ROOMS. Rooms that no branch names stand
#: beneath the last one.
_BRANCHES = (
    (START, "Start page", ("board", "reminders", "inbox", "conflicts")),
    ("memories", "Memory", ("memory", "review", "observations", "graph")),
    ("identity", "Identity", ()),
    ("system", "System", ("timeline", "logs", "settings", "bridge")),
)
#: What rooms are called, where it is not their name.
_WORDS = {"memory": "Memories"}


class Leaf:
    """One line of the tree: what it is called, a style and words beside it, and the room that it `opens` (empty: none)."""

    __slots__ = ("badge", "depth", "opens", "words")

    def __init__(self, words: str, opens: str = "", badge: tuple[str, str] = ("", ""), depth: int = 2) -> None:
        self.words = words
        self.opens = opens
        self.badge = badge
        self.depth = depth


class Hub(Outline[Leaf]):
    """The answer: the tree, how things stand, the start page with what its built-in tiles say, and which of its commands
    may run here, for how many seconds. `is_brief` says that memories were left out."""

    __slots__ = ("allowed", "is_brief", "page", "summary", "tiles", "timeout")

    def __init__(self, page: Dashboard, summary: Summary) -> None:
        super().__init__(summary.project or ("all projects" if summary.every else "no project"), _banner(summary))
        self.page = page
        self.summary = summary
        self.tiles: dict[str, Lines] = {}
        self.allowed: set[str] = set()
        self.is_brief = False
        self.timeout = 5.0

    def may_run(self, command: str) -> bool:
        """Whether a person at this machine has allowed this command."""
        return dashboard_approval.fingerprint(command) in self.allowed

    @property
    def unapproved(self) -> list[str]:
        """The commands of the page that wait for a yes."""
        return [command for command in self.page.commands if not self.may_run(command)]


class Question:
    """What is to be shown: the leaves that have these words, or all. `brief` leaves out what takes long: memories."""

    __slots__ = ("brief", "words")

    def __init__(self, words: str = "", brief: bool = False) -> None:
        self.words = words
        self.brief = brief

    def __call__(self, ws: Workspace) -> Hub:
        now = list_reading.moment()
        summary = home.summary(ws, now, memories=not self.brief)
        found = Hub(dashboard.read(ws.home), summary)
        found.is_brief = self.brief
        widgets = [tile.widget for tile in found.page.tiles if not (self.brief and tile.widget == "memory")]
        found.tiles = dashboard_tiles.asked(ws, widgets, summary, now)
        if found.page.commands:
            found.allowed = dashboard_approval.approved(ws.home)
            found.timeout = float(settings.value("dashboard-tile-timeout"))
        _grow(ws, found, self.words.casefold().split())
        return found


def first() -> Question:
    """What home asks when it is opened."""
    return Question(brief=True)


def _banner(summary: Summary) -> str:
    parts = [f"{len(summary.overdue)} overdue"] if summary.overdue else []
    parts += [f"{summary.waiting} to sort"] if summary.waiting else []
    parts += [counted(summary.conflicts, "conflict")] if summary.conflicts else []
    return ", ".join(parts)


def _grow(ws: Workspace, found: Hub, asked: list[str]) -> None:
    """Put the tree together. With words asked for, branches without a leaf that has them are left out."""
    badges = _badges(found.summary)
    told = {name for _, _, names in _BRANCHES for name in names}
    strangers = [name for name in ROOMS if name not in told and name != "home"]
    for key, words, names in _BRANCHES:
        branch = Branch(key, words)
        leaves: dict[str, Leaf] = {}
        if key == "identity":
            leaves, branch.detail = _identity(ws)
        elif key == "system":
            leaves[DOCTOR] = Leaf("Doctor")
            names = (*names, *strangers)
        for name in names:
            if name in ROOMS:
                called = _WORDS.get(name, name.replace("-", " ").capitalize())
                leaves[name] = Leaf(called, name, badges.get(name, ("", "")), 1 if key == START else 2)
        found.total += len(leaves)
        shown = {one: leaf for one, leaf in leaves.items() if all(word in leaf.words.casefold() for word in asked)}
        branch.leaves = list(shown)
        branch.count = len(shown)
        if shown or (not asked and key == START):
            found.branches.append(branch)
            found.items.update(shown)


def _badges(summary: Summary) -> dict[str, tuple[str, str]]:
    """What is said beside rooms: the most urgent thing of each."""
    found: dict[str, tuple[str, str]] = {}
    going, live = summary.columns.get("in_progress", 0), sum(summary.columns.values())
    if going:
        found["board"] = ("accent", f"{going} in progress")
    elif live:
        found["board"] = ("dim", f"{live} open")
    if summary.overdue:
        found["reminders"] = ("warning", f"{len(summary.overdue)} overdue")
    elif summary.upcoming:
        found["reminders"] = ("dim", f"{summary.upcoming} upcoming")
    if summary.waiting:
        found["inbox"] = ("accent", f"{summary.waiting} waiting")
    if summary.conflicts:
        found["conflicts"] = ("error", f"{summary.conflicts} open")
    if summary.memories:
        found["memory"] = ("dim", str(summary.memories))
    if summary.review:
        found["review"] = ("warning", f"{summary.review} due")
    return found


def _identity(ws: Workspace) -> tuple[dict[str, Leaf], str]:
    """A leaf for each document, and how many tokens they come to."""
    leaves: dict[str, Leaf] = {}
    total = 0
    for document in home_texts.documents(ws.home):
        count = home_texts.tokens(document.text)
        total += count
        leaves[document.key] = Leaf(document.words, badge=("dim", f"~{count:,}" if document.text else "none"))
    leaves[home_texts.CONTEXT] = Leaf("Session context")
    return leaves, f"~{total:,} tokens" if total else ""
