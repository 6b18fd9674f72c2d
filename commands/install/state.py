"""What is installed, as `mait-code status` and doctor see it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

from mait_code.commands import claude_files
from mait_code.commands.install import claude_md, identity, links, programs, record, settings_json
from mait_code.commands.install.files import Edit
from mait_code.commands.install.record import Record
from mait_code.commands.output import path_text
from mait_code.journal.errors import MaitError

if TYPE_CHECKING:
    from mait_code.commands.install.json_text import Document
    from mait_code.commands.workspace import Workspace

__all__ = ["look", "route"]


def look(ws: Workspace, given: str | None = None) -> dict[str, Any]:
    """Everything there is to say, under the keys that `--json` prints. Changes nothing and raises nothing of its own."""
    claude_dir = claude_files.directory(given)
    found: dict[str, Any] = {
        "record_present": False,
        "record_error": None,
        "source_dir": path_text(record.source()),
        "version": record.version(),
        "installed_version": None,
        "first_installed_at": None,
        "updated_at": None,
        "claude_dir": path_text(claude_dir),
    }
    try:
        held = Record()
        found["record_present"] = held.present
        found["installed_version"] = held.raw.get("version")
        found["first_installed_at"] = held.raw.get("first_installed_at") or held.raw.get("installed_at")
        found["updated_at"] = held.raw.get("updated_at")
    except MaitError as error:
        found["record_error"] = error.message
    found |= _client(claude_dir) | _parts(claude_dir) | _data(ws)
    found["outdated"] = bool(record.older_than_program())
    found["statusline"] = bool(found.pop("_statusline"))
    found["binary_path"] = shutil.which("mait-code")
    found["state"] = _state(found)
    return found


def route() -> str:
    """How Claude Code comes to run our hooks: install, plug-in, or empty where it does not."""
    found = _client(claude_files.directory())
    if found["hooks_registered"]:
        return "install"
    return "plug-in" if found["plugin"] else ""


def _client(claude_dir: str) -> dict[str, Any]:
    path = os.path.join(claude_dir, claude_md.FILE)
    found: dict[str, Any] = {
        "settings_error": None,
        "plugin": None,
        "hooks_registered": [],
        "hooks_wanted": [hook.event for hook in programs.wanted()],
        "_statusline": False,
        "claude_md_path": path_text(path),
        "claude_md_block": False,
        "claude_md_is_symlink": os.path.islink(path),
        "claude_md_target": path_text(os.path.realpath(path)) if os.path.islink(path) else None,
    }
    try:
        edit = Edit(claude_dir, settings_json.FILE)
        document = settings_json.parse(edit.path, edit.before)
        found["plugin"] = settings_json.plugin(document) or None
        found["hooks_registered"] = list(settings_json.registered(document))
        found["_statusline"] = _has_statusline(document)
    except MaitError as error:
        found["settings_error"] = error.message
    try:
        text = (Edit(claude_dir, claude_md.FILE).before or b"").decode("utf-8", "replace")
        found["claude_md_block"] = claude_md.has_block(text)
    except MaitError as error:
        found["settings_error"] = found["settings_error"] or error.message
    return found


def _has_statusline(document: Document) -> bool:
    return bool(programs.program_of(document.get(["statusLine", "command"]), programs.STATUSLINE))


def _parts(claude_dir: str) -> dict[str, Any]:
    names = links.offered()
    there = {name for name in names if os.path.exists(os.path.join(claude_dir, name))}
    found: dict[str, Any] = {}
    for kind in links.KINDS:
        found[f"{kind}_linked"] = sum(name.startswith(f"{kind}/") for name in there)
        found[f"{kind}_total"] = sum(name.startswith(f"{kind}/") for name in names)
    return found


def _data(ws: Workspace) -> dict[str, Any]:
    from mait_code.commands.memory_file_state import FILE

    size = 0
    for folder, _folders, names in os.walk(ws.home.data):
        for name in names:
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue  # gone since it was listed
    soul, context = identity.TEMPLATES
    return {
        "data_dir_path": path_text(ws.home.data),
        "data_dir_size_bytes": size,
        "has_soul_document": os.path.isfile(ws.home.in_data(soul)),
        "has_user_context": os.path.isfile(ws.home.in_data(context)),
        "has_memory_md": os.path.isfile(ws.home.in_data(FILE)),
    }


def _state(found: dict[str, Any]) -> str:
    if found["plugin"] and not found["hooks_registered"]:
        return "plug-in"
    if not found["record_present"] and not found["hooks_registered"]:
        return "not installed"
    whole = (
        set(found["hooks_wanted"]) <= set(found["hooks_registered"])
        and found["claude_md_block"]
        and all(found[f"{kind}_linked"] == found[f"{kind}_total"] for kind in links.KINDS)
        and not (found["plugin"] or found["outdated"] or found["record_error"] or found["settings_error"])
    )
    return "healthy" if whole else "degraded"
