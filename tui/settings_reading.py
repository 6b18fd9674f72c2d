"""What the settings screen shows, and what it is told of each. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mait_code.commands import settings
from mait_code.commands.output import counted
from mait_code.journal import settings as held
from mait_code.tui.outline_reading import Branch, Outline, Text

if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line

__all__ = ["GROUPS", "Item", "Question", "first", "shown", "whole"]

#: Headings, and the settings beneath them, by the beginnings of their keys.
GROUPS = (
    ("Where things are", ("data-dir", "log-")),
    ("Looks", ("theme", "dashboard-")),
    ("Time limits", ("git-timeout", "sync-timeout")),
    ("Sessions", ("capture", "excluded-projects", "inject-", "file-context", "context-", "mode", "language")),
    ("Models", ("llm-", "extraction-", "reflection-")),
    ("Finding memories", ("embedding-", "bedrock-", "ranking", "score-", "scope-")),
    ("Keeping memories", ("half-life-", "review-", "dedup-")),
    ("Other machines", ("sync-evidence", "auto-sync", "bridge")),
)
_OTHERS, _ENV, _DERIVED = "Others", "Variables of every run", "What follows from them (read only)"
_PROCESS, _PERMISSIONS = "MAIT_CODE_ variables here (read only)", "What Claude may run without asking"
#: What a branch is known by.
ENV_KEY = "group:env"
_OURS = "MAIT_CODE_"
_MARKS = {"enabled": ("success", "✓ "), "partial": ("warning", "● "), "off": ("dim", "· ")}


class Item:
    """One line. `kind` is setting, variable (of the [env] table), derived, process (this environment) or preset; `row` is
    what the command's listing says of it."""

    __slots__ = ("key", "kind", "row", "source", "value")

    def __init__(self, kind: str, key: str, value: str, source: str = "", row: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.key = key
        self.value = value
        self.source = source
        self.row = row or {}

    @property
    def state(self) -> str:
        """Of a preset: enabled, partial or off."""
        return "enabled" if self.row.get("enabled") else "partial" if self.row.get("partial") else "off"

    @property
    def mark(self) -> tuple[str, str]:
        """A style and a sign before it."""
        return _MARKS[self.state] if self.kind == "preset" else ("", "")

    @property
    def words(self) -> str:
        """What it is found by."""
        return f"{self.key} {self.value} {self.source} {self.row.get('help', '')}".casefold()


class Question:
    """What is to be shown: what has these words, or all."""

    __slots__ = ("words",)

    def __init__(self, words: str = "") -> None:
        self.words = words

    def __call__(self, ws: Workspace) -> Outline[Item]:  # noqa: ARG002
        found: Outline[Item] = Outline(where=held.path())
        changed = 0
        asked = self.words.casefold().split()
        for number, (heading, key, items) in enumerate(_groups()):
            found.total += len(items)
            changed += sum(item.kind == "setting" and item.source != "default" for item in items)
            seen = [item for item in items if all(word in item.words for word in asked)]
            if not seen and (asked or key != ENV_KEY):
                continue
            branch = Branch(key or f"group:{number}", heading, count=len(seen))
            branch.leaves = [f"{item.kind}:{item.key}" for item in seen]
            found.branches.append(branch)
            found.items.update(zip(branch.leaves, seen, strict=True))
        problems = len(held.problems())
        found.banner = f"{changed} changed" + (f", {counted(problems, 'problem')}" if problems else "")
        return found


def first() -> Question:
    """What the screen asks when it is opened."""
    return Question()


def _groups() -> list[tuple[str, str, list[Item]]]:
    """Every heading with its key, where it has one of its own, and what is beneath it."""
    rows = {row["key"]: row for row in settings.listing()}
    groups: list[tuple[str, str, list[Item]]] = []
    for heading, beginnings in GROUPS:
        keys = [key for beginning in beginnings for key in rows if key.startswith(beginning)]
        groups.append((heading, "", [_setting(rows.pop(key)) for key in dict.fromkeys(keys)]))
    groups.append((_OTHERS, "", [_setting(row) for row in rows.values()]))
    variables = [Item("variable", f"env.{name}", value, "settings") for name, value in settings.variables().items()]
    groups.append((_ENV, ENV_KEY, variables))
    groups.append((_PERMISSIONS, "", _presets()))
    derived = [Item("derived", row["key"], shown(row["value"]), row["source"], row) for row in settings.derived()]
    groups.append((_DERIVED, "", derived))
    groups.append((_PROCESS, "", _process()))
    return groups


def _setting(row: dict[str, Any]) -> Item:
    return Item("setting", row["key"], shown(row["value"], row["unit"]), row["source"], row)


def _presets() -> list[Item]:
    from mait_code.commands.install import permissions
    from mait_code.journal.errors import MaitError

    try:
        rows = permissions.listing()
    except MaitError as error:
        return [Item("derived", "settings.json", error.message, "Claude Code")]
    return [Item("preset", row["id"], row["label"], row["tier"], row) for row in rows]


def _process() -> list[Item]:
    known = {entry.variable for entry in held.REGISTRY}
    return [
        Item("process", name, settings.masked(name, value), "" if name in known else "no setting is called so")
        for name, value in sorted(os.environ.items())
        if name.startswith(_OURS)
    ]


def shown(value: object, unit: str = "") -> str:
    """A value as people read it."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{text} {unit}" if unit else text


def whole(item: Item) -> Text:
    """Everything that is known of a line."""
    lines: list[Line] = []
    if item.kind == "preset":
        lines = [[item.mark, ("", {"enabled": "allowed", "partial": "partly allowed"}.get(item.state, "not allowed"))]]
        lines += [[("dim", item.source + (": it changes files of the project" if item.source != "read-only" else ""))]]
        lines += [[], *([("", rule)] for rule in item.row["patterns"])]
        return Text(
            f"{item.value}: {item.key}", [], "", lines=[*lines, [], [("dim", "Enter allows it, or takes it back")]]
        )
    if item.row.get("help"):
        lines += [[("", item.row["help"])], []]
    lines += [[("dim", "now      "), ("strong", item.value)]]
    if item.kind == "setting":
        default = shown(item.row["default"], item.row["unit"])
        lines += [[("dim", "default  "), ("", default)], [("dim", "takes    "), ("", item.row["accepts"])]]
    lines += [[("dim", "from     "), ("", _from(item))]]
    problem = next((one for one in held.problems([item.key])), None) if item.kind == "setting" else None
    if problem is not None:
        lines += [[], [("warning", str(problem))]]
    return Text(item.key, [], "", lines=lines)


def _from(item: Item) -> str:
    if item.kind == "process":
        return f"this environment{f'; {item.source}' if item.source else ''}"
    if item.kind == "derived":
        return item.source
    if item.source == "env":
        return f"{held.setting(item.key).variable}, which is set here and wins"
    if item.source == "settings":
        line = held.contents().lines.get(item.key)
        return held.path() + (f", line {line}" if line else "")
    return "nowhere: this is the default"
