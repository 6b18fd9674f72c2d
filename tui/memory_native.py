"""What the memory screen shows of Claude Code's own memory files. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import native_memories
from mait_code.commands.output import counted, path_text
from mait_code.tui.outline_reading import Branch, Outline, Text

if TYPE_CHECKING:
    from mait_code.commands.native_memories import NativeFile
    from mait_code.commands.workspace import Workspace

__all__ = ["NativeQuestion", "projects", "whole"]

#: The project of each directory of the client's, by its path: telling it takes a look at the disk.
Known = dict[str, str]


class NativeQuestion:
    """What is to be shown: of which project (None: of all), with which words. `known` is filled."""

    __slots__ = ("known", "project", "words")

    def __init__(self, project: str | None, words: str, known: Known) -> None:
        self.project = project
        self.words = words
        self.known = known

    def __call__(self, ws: Workspace) -> Outline[NativeFile]:
        del ws
        found: Outline[NativeFile] = Outline(f"Claude Code's own  {self.project or ''}".rstrip())
        files = native_memories.files()
        branches: dict[str, Branch] = {}
        for one in files:
            project = _project(one, self.known)
            if self.project not in (None, project) or not _matches(one, self.words):
                continue
            branch = branches.get(one.home)
            if branch is None:
                branch = branches[one.home] = Branch(f"slug:{one.home}", project)
                found.branches.append(branch)
            branch.leaves.append(one.full)
            found.items[one.full] = one
        for branch in found.branches:
            branch.count = len(branch.leaves)
            branch.detail = str(branch.count)
        found.total = len(files)
        shown = len(found.items)
        found.banner = counted(found.total, "file") if shown == found.total else f"{shown} of {found.total} files"
        return found


def _project(one: NativeFile, known: Known) -> str:
    if one.home not in known:
        known[one.home] = native_memories.project_of(one.home)
    return known[one.home]


def _matches(one: NativeFile, words: str) -> bool:
    """Whether each word stands in the path or in the file."""
    asked = words.casefold().split()
    if not asked:
        return True
    try:
        text = f"{one.path}\n{native_memories.text(one.full)}".casefold()
    except OSError:
        text = one.path.casefold()
    return all(word in text for word in asked)


def projects(known: Known) -> list[tuple[str, str, str]]:
    """The projects that have memory files: key, name, how many."""
    counts: dict[str, int] = {}
    for one in native_memories.files():
        project = _project(one, known)
        counts[project] = counts.get(project, 0) + 1
    return [(name, name, counted(count, "file")) for name, count in sorted(counts.items())]


def whole(found: Outline[NativeFile], key: str) -> Text | None:
    """A file, or what a project's branch is of."""
    one = found.items.get(key)
    if one is None:
        branch = next((branch for branch in found.branches if branch.key == key), None)
        if branch is None:
            return None
        place = path_text(f"{key.partition(':')[2]}/memory")
        return Text(branch.words, [("directory", place), ("files", branch.detail)], "")
    from datetime import UTC, datetime

    from mait_code.commands.times import local

    facts = [("file", path_text(one.full)), ("changed", local(datetime.fromtimestamp(one.changed, UTC).isoformat()))]
    try:
        return Text(path_text(one.path), facts, _body(native_memories.text(one.full)))
    except OSError as error:
        return Text(path_text(one.path), facts, f"It cannot be read: {error.strerror or error}", plain=True)


def _body(text: str) -> str:
    """The fields at the head of a file as code, so that they stay one to a line."""
    head, mark, rest = text.removeprefix("---\n").partition("\n---\n")
    return f"```yaml\n{head}\n```\n\n{rest.lstrip()}" if mark and text.startswith("---\n") else text
