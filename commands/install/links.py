"""Skills and agents in the client's directories: links into a checkout, copies from a package.

A file of the user's with the same name stays, and so does a copy of ours that the user edited; both are named.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mait_code.commands.install import record
from mait_code.commands.install.files import digest, read, replace
from mait_code.journal.errors import DiskRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.commands.install.record import Place

__all__ = ["Parts", "offered"]

KINDS = ("skills", "agents")


def offered() -> list[str]:
    """What comes with this program: "skills/NAME" for a directory with a SKILL.md, "agents/NAME.md" for an agent."""
    found = []
    for kind in KINDS:
        folder = os.path.join(record.source(), kind)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            skill = kind == "skills" and os.path.isfile(os.path.join(folder, name, "SKILL.md"))
            if skill or (kind == "agents" and name.endswith(".md")):
                found.append(f"{kind}/{name}")
    return found


def _contents(path: str) -> dict[str, bytes]:
    """Every file under a path by its name from there; a file itself under the empty name."""
    if os.path.isfile(path):
        return {"": read(path) or b""}
    found = {}
    for folder, _folders, names in os.walk(path):
        for name in names:
            whole = os.path.join(folder, name)
            if name.endswith(".pyc") or not os.path.isfile(whole):
                continue
            found[os.path.relpath(whole, path)] = read(whole) or b""
    return found


class Step:
    """What happens to one skill or agent: link, copy, remove, or nothing (`kept` says why)."""

    __slots__ = ("action", "files", "kept", "name", "path", "target")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path
        self.action = ""
        self.kept = ""
        self.target = ""
        #: The files to be written, or those to be removed.
        self.files: dict[str, bytes] = {}


class Parts:
    """The steps that bring one directory of the client's up to this program, or take ours out of it."""

    def __init__(self, claude_dir: str, place: Place, former: str, linked: bool) -> None:
        self.claude_dir = claude_dir
        self.place = place
        #: Sources whose links are ours, though perhaps dangling.
        self.sources = {record.source(), os.path.realpath(former) if former else record.source()}
        self.linked = linked
        self.links: dict[str, dict[str, Any]] = dict(place.links)

    def installing(self) -> list[Step]:
        """A step for everything offered, and for what was installed and is offered no more."""
        names = offered()
        steps = [self._install(name) for name in names]
        return steps + [self._remove(name) for name in self.place.links if name not in names]

    def removing(self) -> list[Step]:
        """A step for everything that was installed; without a record, for links into this program."""
        names = list(self.place.links) or [
            name for name in offered() if self._is_our_link(os.path.join(self.claude_dir, name))
        ]
        return [self._remove(name) for name in names]

    def _install(self, name: str) -> Step:
        step = Step(name, os.path.join(self.claude_dir, name))
        source = os.path.join(record.source(), name)
        if os.path.islink(step.path):
            if not self._is_our_link(step.path) and os.path.realpath(step.path) != source:
                step.kept = "a link of yours has that name"
                return step
        elif self.linked and name not in self.links and os.path.lexists(step.path):
            step.kept = _yours(name)
            return step
        if self.linked:
            return self._link(step, source)
        return self._copy(step, source)

    def _link(self, step: Step, source: str) -> Step:
        step.target = source
        if os.path.islink(step.path) and os.readlink(step.path) == source:
            self.links[step.name] = {"target": source}
            return step
        if not os.path.islink(step.path) and os.path.lexists(step.path) and self._edited(step.name, step.path):
            step.kept = "you edited it"
            return step
        step.action = "link"
        self.links[step.name] = {"target": source}
        return step

    def _copy(self, step: Step, source: str) -> Step:
        wanted = _contents(source)
        if os.path.islink(step.path):
            step.action, step.files = "copy", wanted
        else:
            present = _contents(step.path) if os.path.lexists(step.path) else {}
            known = self.links.get(step.name, {}).get("files") or {}
            if present and not known and present != wanted:
                step.kept = _yours(step.name)
                return step
            edited = sorted(
                name
                for name, text in present.items()
                if name in known and digest(text) not in (known[name], digest(wanted.get(name)))
            )
            if edited:
                step.kept = "you edited it" if edited == [""] else f"you edited {', '.join(edited)}"
            step.files = {
                name: text
                for name, text in wanted.items()
                if name not in edited and present.get(name) != text and (name in known or name not in present)
            }
            step.action = "copy" if step.files else ""
            self.links[step.name] = {
                "files": {name: known[name] if name in edited else digest(text) for name, text in wanted.items()}
            }
            return step
        self.links[step.name] = {"files": {name: digest(text) for name, text in wanted.items()}}
        return step

    def _remove(self, name: str) -> Step:
        step = Step(name, os.path.join(self.claude_dir, name))
        known = self.links.pop(name, {})
        if os.path.islink(step.path):
            if self._is_our_link(step.path):
                step.action = "unlink"
            else:
                step.kept = "a link of yours has that name"
            return step
        if not os.path.lexists(step.path):
            return step
        files = known.get("files") or {}
        present = _contents(step.path)
        step.files = {inside: text for inside, text in present.items() if files.get(inside) == digest(text)}
        edited = sorted(inside for inside in present if inside not in step.files)
        if edited:
            step.kept = "it is yours" if edited == [""] else f"{', '.join(edited)} is yours"
        step.action = "remove" if step.files else ""
        return step

    def _edited(self, name: str, path: str) -> bool:
        known = self.links.get(name, {}).get("files") or {}
        present = _contents(path)
        return any(known.get(inside) != digest(text) for inside, text in present.items())

    def _is_our_link(self, path: str) -> bool:
        """Whether a link leads into a source of ours, also where that is gone by now."""
        if not os.path.islink(path):
            return False
        target = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        name = os.path.relpath(path, self.claude_dir)
        known = self.place.links.get(name, {}).get("target")
        inside = any(target.startswith(os.path.join(source, "")) for source in self.sources)
        return inside or (known is not None and target == known)


def _yours(name: str) -> str:
    return f"{'a skill' if name.startswith('skills/') else 'an agent'} of yours has that name"


def apply(step: Step) -> None:
    """Carry one step out. Raises DiskRefused."""
    try:
        _apply(step)
    except OSError as error:
        raise DiskRefused(f"cannot change {step.path}: {error.strerror}", "check its owner and permissions") from error


def _apply(step: Step) -> None:
    if step.action == "link":
        os.makedirs(os.path.dirname(step.path), exist_ok=True)
        if os.path.lexists(step.path) and not os.path.islink(step.path):
            _clear(step.path, _contents(step.path))
        temporary = f"{step.path}.{os.getpid()}.tmp"
        os.symlink(step.target, temporary)
        os.replace(temporary, step.path)
    elif step.action == "copy":
        if os.path.islink(step.path):
            os.unlink(step.path)
        for name, text in step.files.items():
            whole = os.path.join(step.path, name) if name else step.path
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            replace(whole, text)
    elif step.action == "unlink":
        os.unlink(step.path)
    elif step.action == "remove":
        _clear(step.path, step.files)
    if step.action in ("unlink", "remove"):
        _drop_if_empty(os.path.dirname(step.path))


def _clear(path: str, names: dict[str, bytes]) -> None:
    folders = {path} if os.path.isdir(path) else set()
    for name in names:
        whole = os.path.join(path, name) if name else path
        os.unlink(whole)
        if name:
            folders.add(os.path.dirname(whole))
    for folder in sorted(folders, key=len, reverse=True):
        _drop_if_empty(folder)


def _drop_if_empty(folder: str) -> None:
    if os.path.isdir(folder) and not os.listdir(folder):
        os.rmdir(folder)


def words(steps: list[Step]) -> Iterator[tuple[str, str]]:
    """(what, name) of each step that does something."""
    said = {"link": "linked", "copy": "copied", "unlink": "removed", "remove": "removed"}
    for step in steps:
        if step.action:
            yield said[step.action], step.name
