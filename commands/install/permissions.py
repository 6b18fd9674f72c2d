"""Permission presets: harmless commands that Claude may run without asking, put into the client's settings.json.

Each command has two rules, one for it alone and one for it with arguments. The user's own rules keep their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mait_code.commands import claude_files
from mait_code.commands.install import settings_json
from mait_code.commands.install.files import Edit
from mait_code.commands.install.record import Record
from mait_code.journal.errors import NotFound, Refused

if TYPE_CHECKING:
    from mait_code.commands.install.json_text import Document

__all__ = ["PRESETS", "Preset", "change", "listing"]

READS, WRITES = "read-only", "writes-workspace"


class Preset:
    """One command, or a few that belong together. `tier` says whether it only reads, or changes files of the project."""

    __slots__ = ("commands", "group", "id", "tier")

    def __init__(self, id: str, group: str, commands: tuple[str, ...], tier: str = READS) -> None:  # noqa: A002
        self.id = id
        self.group = group
        self.commands = commands
        self.tier = tier

    @property
    def rules(self) -> list[str]:
        """The rules as the client reads them."""
        return [rule for command in self.commands for rule in (f"Bash({command})", f"Bash({command}:*)")]


GROUPS = {
    "git": "Git, reading only",
    "files": "Looking at files",
    "tooling": "Tools of Python projects",
    "mait-code": "mait-code, reading only",
}
PRESETS = (
    *(Preset(f"git-{name}", "git", (f"git {name}",)) for name in ("status", "diff", "log", "show", "blame")),
    Preset("ls", "files", ("ls",)),
    Preset("wc", "files", ("wc",)),
    Preset("head-tail", "files", ("head", "tail")),
    Preset("file-stat", "files", ("file", "stat")),
    Preset("du-tree", "files", ("du", "tree")),
    Preset("uv-tree", "tooling", ("uv tree",)),
    Preset("pyright", "tooling", ("pyright",)),
    Preset("ruff-check", "tooling", ("ruff check",), WRITES),
    Preset("ruff-format", "tooling", ("ruff format",), WRITES),
    Preset("pytest", "tooling", ("pytest",), WRITES),
    Preset("board", "mait-code", tuple(f"mait-code board {name}" for name in ("list", "show", "export", "summary"))),
    Preset(
        "memory",
        "mait-code",
        tuple(f"mait-code memory {name}" for name in ("search", "timeline", "show", "list", "stats", "relationships")),
    ),
    Preset("reminders", "mait-code", ("mait-code reminders list", "mait-code reminders check")),
    Preset("inbox", "mait-code", ("mait-code inbox list", "mait-code inbox count")),
)


def chosen(name: str) -> list[Preset]:
    """The presets of a name: one, or a whole group. Raises NotFound."""
    found = [preset for preset in PRESETS if name in (preset.id, preset.group)]
    if not found:
        raise NotFound(f"there is no preset {name!r}", "mait-code permissions list shows them, and their groups")
    return found


def _allowed(document: Document) -> list[Any]:
    rules = document.get(["permissions", "allow"])
    return rules if type(rules) is list else []


def listing(given: str | None = None) -> list[dict[str, Any]]:
    """Every preset with what of it is allowed: enabled, partial or off. Raises Refused where the file is malformed."""
    edit = Edit(claude_files.directory(given), settings_json.FILE)
    allowed = set(filter(lambda rule: isinstance(rule, str), _allowed(settings_json.parse(edit.path, edit.before))))
    rows = []
    for preset in PRESETS:
        count = len(allowed.intersection(preset.rules))
        state = "off" if not count else "enabled" if count == len(preset.rules) else "partial"
        rows.append(
            {
                "id": preset.id,
                "group": preset.group,
                "label": GROUPS[preset.group],
                "tier": preset.tier,
                "patterns": preset.rules,
                "enabled": state == "enabled",
                "partial": state == "partial",
            }
        )
    return rows


def change(name: str, allow: bool, given: str | None = None) -> list[str]:
    """Allow a preset or a group, or take its rules back; returns the rules that were added or removed.

    Raises NotFound for an unknown name, Refused where the client's settings are malformed, DiskRefused.
    """
    rules = [rule for preset in chosen(name) for rule in preset.rules]
    claude_dir = claude_files.directory(given)
    record = Record()
    place = record.place(claude_dir)
    edit = Edit(claude_dir, settings_json.FILE)
    document = settings_json.parse(edit.path, edit.before)
    present = _allowed(document)
    if allow:
        changed = [rule for rule in rules if rule not in present]
        _add(document, edit.path, changed, place.made)
        place.rules += [rule for rule in changed if rule not in place.rules]
    else:
        changed = [rule for rule in rules if rule in present]
        settings_json.remove_rules(document, changed, place.made)
        place.rules = [rule for rule in place.rules if rule not in changed]
    if changed:
        edit.after = settings_json.encode(document, edit.before)
        edit.note(place)
        record.save(claude_dir, place, installed=False)
        edit.write()
    return changed


def _add(document: Document, path: str, rules: list[str], made: list[str]) -> None:
    if not rules:
        return
    for container, empty in ((["permissions"], {}), (["permissions", "allow"], [])):
        held = document.get(container)
        if held is not None and type(held) is not type(empty):
            raise Refused(f"{path} is malformed: {'.'.join(container)} is of another kind", "correct it in an editor")
        if held is None:
            document.put(container, empty)
            if ".".join(container) not in made:
                made.append(".".join(container))
    for rule in rules:
        document.append(["permissions", "allow"], rule)
