"""Install and uninstall: everything is looked at and decided first, and only then is anything written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mait_code.commands import claude_files
from mait_code.commands.install import claude_md, identity, links, programs, record, settings_json
from mait_code.commands.install.files import Edit, read
from mait_code.commands.install.links import Parts
from mait_code.commands.install.record import Record
from mait_code.journal import settings
from mait_code.journal.errors import DiskRefused, GitFailed, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.install.links import Step
    from mait_code.commands.install.record import Place
    from mait_code.commands.workspace import Workspace

__all__ = ["Outcome", "install", "uninstall"]


class Outcome:
    """What was done, or would be: lines about changes, about what was kept and why, and the diffs of files."""

    __slots__ = ("changed", "claude_dir", "data_dir", "diffs", "dry_run", "kept", "notes")

    def __init__(self, claude_dir: str, data_dir: str, dry_run: bool) -> None:
        self.claude_dir = claude_dir
        self.data_dir = data_dir
        self.dry_run = dry_run
        self.changed: list[str] = []
        self.kept: list[str] = []
        self.notes: list[str] = []
        self.diffs: list[str] = []

    def json(self) -> dict[str, Any]:
        """The outcome as `--json` prints it."""
        return {
            "version": record.version(),
            "claude_dir": self.claude_dir,
            "data_dir": self.data_dir,
            "dry_run": self.dry_run,
            "changed": self.changed,
            "kept": self.kept,
            "notes": self.notes,
        }


class _Plan:
    """One installation as it was decided: the edits and steps, and what the record will say."""

    def __init__(self, claude_dir: str, outcome: Outcome) -> None:
        self.record = Record()
        self.claude_dir = claude_dir
        self.place: Place = self.record.place(claude_dir)
        self.outcome = outcome
        self.edits: list[Edit] = []
        self.steps: list[Step] = []
        self.parts = Parts(claude_dir, self.place, self.record.former_source, record.is_checkout())

    def edit(self, name: str, change: Callable[[Edit], bytes | None]) -> None:
        """Look at a file and decide what becomes of it."""
        edit = Edit(self.claude_dir, name)
        edit.after = change(edit)
        self.edits.append(edit)

    def tell(self) -> None:
        """Put what will happen into the outcome."""
        for edit in self.edits:
            if edit.changes:
                verb = "made" if edit.before is None else "removed" if edit.after is None else "changed"
                self.outcome.changed.append(f"{verb} {edit.path}")
                self.outcome.diffs.append(edit.diff())
        self.outcome.changed += [
            f"{what} {os.path.join(self.claude_dir, name)}" for what, name in links.words(self.steps)
        ]
        self.outcome.kept += [f"{step.path}: {step.kept}" for step in self.steps if step.kept]


def install(ws: Workspace, given: str | None = None, statusline: bool = False, dry_run: bool = False) -> Outcome:
    """Set mait-code up in the client, or bring what is there up to this program. A second run changes nothing.

    Raises Refused where the client's settings are malformed or the plug-in is enabled, DiskRefused where the disk takes
    nothing; the client's files are then as they were.
    """
    claude_dir = claude_files.directory(given)
    outcome = Outcome(claude_dir, ws.home.data, dry_run)
    directory = programs.programs_directory()
    plan = _Plan(claude_dir, outcome)
    plan.edit(settings_json.FILE, lambda edit: _with_hooks(edit, plan.place, directory, statusline))
    plan.edit(claude_md.FILE, lambda edit: _with_imports(edit, ws.home.data, plan.record.former_source))
    if not os.path.lexists(settings.path()):
        plan.edit(settings.path(), lambda _edit: settings_file_text().encode())
    plan.steps = plan.parts.installing()
    plan.place.data_dir = ws.home.data
    plan.tell()
    _tell_data(ws, outcome)
    if not dry_run:
        _check_writable(plan)
        _data(ws, outcome)
        plan.place.links = plan.parts.links
        _write(plan)
    return outcome


def _write(plan: _Plan) -> None:
    # The record first: whatever is cut off after it can be taken out again.
    for edit in plan.edits:
        edit.note(plan.place)
    plan.record.save(plan.claude_dir, plan.place)
    for step in plan.steps:
        links.apply(step)
    # Last what makes the client call us.
    for edit in reversed(plan.edits):
        edit.write()


def _check_writable(plan: _Plan) -> None:
    """Raise DiskRefused before anything is changed, where something could not be."""
    folders = {os.path.dirname(os.path.realpath(edit.path)) for edit in plan.edits if edit.changes}
    folders |= {os.path.dirname(step.path) for step in plan.steps if step.action}
    folders |= {record.directory()} if folders else set()
    for folder in sorted(folders):
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise DiskRefused(f"cannot write in {folder}", "check its owner and permissions; nothing was changed")


def _with_hooks(edit: Edit, place: Place, directory: str, statusline: bool) -> bytes | None:
    document = settings_json.parse(edit.path, edit.before)
    name = settings_json.plugin(document)
    if name:
        raise Refused(
            f"the plug-in {name} is enabled: every hook would run twice",
            "keep it, or disable it with /plugin in Claude Code and then install",
        )
    before = document.text
    settings_json.merge(document, programs.wanted(), directory, place.made)
    settings_json.merge_statusline(document, directory, place.made, statusline)
    return edit.before if document.text == before else settings_json.encode(document, edit.before)


def _with_imports(edit: Edit, data_dir: str, former: str) -> bytes:
    target = os.path.join(os.path.dirname(edit.path), os.readlink(edit.path)) if os.path.islink(edit.path) else ""
    if former and os.path.normpath(target) == os.path.join(former, "config", claude_md.FILE):
        # The program before linked its own file here, and put the user's aside.
        edit.take_over(read(f"{edit.path}.backup"))
    return claude_md.with_block(_text(edit), data_dir, edit.path).encode()


def _text(edit: Edit) -> str:
    try:
        return (edit.before or b"").decode()
    except UnicodeDecodeError as error:
        raise Refused(
            f"{edit.path} is not UTF-8 (byte {error.start})", "convert it first; nothing was changed"
        ) from error


def _tell_data(ws: Workspace, outcome: Outcome) -> None:
    if not os.path.isdir(os.path.join(ws.home.data, ".git")):
        outcome.changed.append(f"made the repository in {ws.home.data}")
    outcome.changed += [f"made {ws.home.in_data(name)}" for name in identity.missing(ws.home.data)]
    if settings.resolve("data-dir").source == "env":
        outcome.notes.append(
            "MAIT_CODE_DATA_DIR names the data directory here; Claude Code has to be started with it too,"
            " or write it down: mait-code settings set data-dir PATH"
        )


def _data(ws: Workspace, outcome: Outcome) -> None:
    from mait_code.commands import exchange

    ws.home.make()
    try:
        exchange.init(ws)
    except GitFailed as error:
        outcome.notes.append(f"there is no repository yet: {error.message}; mait-code init makes it")
    identity.write(ws.home.data)


def settings_file_text() -> str:
    """A settings.toml that says nothing yet and names everything that can be said."""
    rows = [
        "# Settings of mait-code. Take the # off a line to change it; `mait-code settings list` shows what is in force.",
        "",
    ]
    for entry in settings.REGISTRY:
        default = entry.shown_default.replace("$XDG_STATE_HOME", "~/.local/state")
        shown = default if entry.kind in ("int", "float", "bool") else f'"{default}"'
        takes = "" if entry.kind in ("text", "path", "bool") else f" Takes {entry.accepts}."
        unit = f" In {entry.unit}." if entry.unit else ""
        rows += [f"# {entry.help}{takes}{unit}", f"# {entry.key} = {shown}", ""]
    rows += ["# Variables that every run gets, unless the environment has them already.", "# [env]", '# NAME = "value"']
    return "\n".join(rows) + "\n"


def uninstall(ws: Workspace, given: str | None = None, purge_data: bool = False, dry_run: bool = False) -> Outcome:
    """Take out what install put in. Files that nothing else changed since get the bytes they had.

    `purge_data` also deletes the data directory and what this machine keeps of it. Raises Refused where the client's
    settings are malformed, or where the data directory is no journal.
    """
    claude_dir = claude_files.directory(given)
    outcome = Outcome(claude_dir, ws.home.data, dry_run)
    plan = _Plan(claude_dir, outcome)
    place = plan.place
    plan.edit(settings_json.FILE, lambda edit: _without_hooks(edit, place))
    plan.edit(claude_md.FILE, lambda edit: _without_imports(edit, place))
    for name in [name for name in place.files if os.path.isabs(name)]:
        plan.edit(name, lambda edit: edit.after if edit.restored(place) else edit.before)
    plan.steps = plan.parts.removing()
    plan.tell()
    if purge_data:
        _check_purge(ws)
        outcome.changed += [f"deleted {path}" for path in (ws.home.data, ws.home.state) if os.path.lexists(path)]
    if dry_run:
        return outcome
    _check_writable(plan)
    for edit in plan.edits:
        edit.write()
    for step in plan.steps:
        links.apply(step)
    _forget(plan)
    if purge_data:
        _purge(ws)
    return outcome


def _forget(plan: _Plan) -> None:
    import shutil

    folder = os.path.dirname(record.backup_path(plan.claude_dir, ""))
    if os.path.isdir(folder):
        shutil.rmtree(folder)
    plan.record.save(plan.claude_dir, None, installed=False)
    for path in (os.path.dirname(folder), record.directory()):
        if os.path.isdir(path) and not os.listdir(path):
            os.rmdir(path)


def _without_hooks(edit: Edit, place: Place) -> bytes | None:
    if edit.before is None or edit.restored(place):
        return edit.after
    document = settings_json.parse(edit.path, edit.before)
    before = document.text
    settings_json.strip(document, place.made, place.rules)
    if document.root == {} and _was_missing(edit, place):
        return None
    return edit.before if document.text == before else settings_json.encode(document, edit.before)


def _without_imports(edit: Edit, place: Place) -> bytes | None:
    if edit.before is None or edit.restored(place):
        return edit.after
    text = _text(edit)
    left = claude_md.without_block(text, edit.path)
    if not left.strip() and left != text and _was_missing(edit, place):
        return None
    return edit.before if left == text else left.encode()


def _was_missing(edit: Edit, place: Place) -> bool:
    known = place.files.get(edit.name)
    return known is not None and known["before"] is None


def _check_purge(ws: Workspace) -> None:
    if os.path.isdir(ws.home.data) and not os.path.isdir(ws.home.journal) and os.listdir(ws.home.data):
        raise Refused(
            f"{ws.home.data} holds no journal, so it is not deleted",
            "look what it is, and name the right one with --data-dir",
        )


def _purge(ws: Workspace) -> None:
    import shutil

    ws.close()
    for path in (ws.home.data, ws.home.state):
        if os.path.isdir(path):
            try:
                shutil.rmtree(path)
            except OSError as error:
                raise DiskRefused(
                    f"cannot delete {path}: {error.strerror}", "check its owner and permissions"
                ) from error
