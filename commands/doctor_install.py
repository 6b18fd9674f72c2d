"""What doctor says of the installation in Claude Code: the record, hooks, skills, imports, and whether sessions arrive."""

from __future__ import annotations

import os
import shutil
import time

from mait_code.commands.output import counted, path_text
from mait_code.journal import settings
from mait_code.journal.errors import MaitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace

    Found = Iterator[tuple[str, str, str, str]]

OK, WARN, FAIL = "ok", "warn", "fail"
_AGAIN = "mait-code install puts it right, and leaves what is yours"
#: Days of the log that are looked at for hooks that failed, and hours by which recording may be behind the transcripts.
_DAYS, _HOURS = 7, 24
#: Bytes at the end of a log that are looked at.
_TAIL = 4 * 1024 * 1024


def look(ws: Workspace) -> Found:
    """(name, level, message, hint) of each thing looked at, in order."""
    from mait_code.commands.install import state

    yield _settings_file()
    yield _environment()
    found = state.look(ws)
    yield _record(found)
    yield from _source()
    yield _client(found)
    if found["record_present"] or found["hooks_registered"]:
        yield from _hooks(found)
        yield from _parts(ws)
        yield _imports(ws, found)
        yield _on_path(found)
        yield _updater()
    if found["state"] != "not installed":
        yield from _pipeline(ws, found)


def _settings_file() -> tuple[str, str, str, str]:
    path = settings.path()
    if not os.path.lexists(path):
        return "settings-file", OK, f"{path} is not there: every setting has its default", ""
    if not os.access(path, os.R_OK):
        return "settings-file", FAIL, f"{path} cannot be read", "check its owner and permissions"
    return "settings-file", OK, path, ""


def _environment() -> tuple[str, str, str, str]:
    held = settings.extra_environment()
    other = sorted(name for name, value in held.items() if os.environ.get(name, value) != value)
    if other:
        message = f"set otherwise in the environment, which wins: {', '.join(other)}"
        return "env-table", WARN, message, "take one of the two away"
    return "env-table", OK, f"{counted(len(held), 'variable')} for every run", ""


def _record(found: dict[str, Any]) -> tuple[str, str, str, str]:
    if found["record_error"]:
        return "install-record", FAIL, found["record_error"], "move it away; mait-code install makes it again"
    if found["record_present"]:
        said = f"version {found['installed_version']}, {found['updated_at']}"
        if found["outdated"]:
            return "install-record", WARN, f"{said}: the program is newer than what is in Claude Code", _AGAIN
        return "install-record", OK, said, ""
    if found["hooks_registered"]:
        message = "hooks are registered, but not by this program"
        return "install-record", WARN, message, "mait-code install takes them over"
    if found["plugin"]:
        return "install-record", OK, f"not needed: the plug-in {found['plugin']} is enabled", ""
    return "install-record", OK, "not installed in Claude Code; mait-code install does that", ""


def _source() -> Found:
    from mait_code.commands.install import links, record

    place = record.source()
    names = links.offered()
    if not names:
        yield "source-dir", FAIL, f"{place} has no skills", "install mait-code again, the way you did"
    else:
        kind = "checkout" if record.is_checkout() else "package"
        yield "source-dir", OK, f"{place} ({kind})", ""


def _client(found: dict[str, Any]) -> tuple[str, str, str, str]:
    if found["settings_error"]:
        return "client-settings", FAIL, found["settings_error"], "correct it in an editor"
    if found["plugin"] and found["hooks_registered"]:
        message = f"the plug-in {found['plugin']} is enabled and hooks are registered too"
        return "client-settings", WARN, message, "keep one: disable the plug-in with /plugin, or mait-code uninstall"
    return "client-settings", OK, os.path.join(found["claude_dir"], "settings.json"), ""


def _hooks(found: dict[str, Any]) -> Found:
    from mait_code.commands.install import settings_json
    from mait_code.commands.install.files import Edit

    try:
        edit = Edit(found["claude_dir"], settings_json.FILE)
        registered = settings_json.registered(settings_json.parse(edit.path, edit.before))
    except MaitError:
        return  # said already
    gone = sorted({word for word in registered.values() if shutil.which(word) is None})
    missing = [event for event in found["hooks_wanted"] if event not in registered]
    surplus = [event for event in registered if event not in found["hooks_wanted"]]
    if gone:
        yield "hooks-on-path", FAIL, f"registered, but no program: {', '.join(gone)}", _AGAIN
    if missing and not found["plugin"]:
        yield "hooks-on-path", WARN, f"not registered: {', '.join(missing)}", _AGAIN
    if surplus:
        yield "hooks-on-path", WARN, f"registered, though their setting is off: {', '.join(surplus)}", _AGAIN
    if not (gone or missing or surplus):
        yield "hooks-on-path", OK, ", ".join(registered), ""


def _parts(ws: Workspace) -> Found:
    from mait_code.commands.install import links

    clean = True
    for claude_dir, steps in _steps(ws):
        dangling = [step.name for step in steps if os.path.islink(step.path) and not os.path.exists(step.path)]
        behind = [step.name for step in steps if step.action and step.name not in dangling]
        kept = [f"{step.name} ({step.kept})" for step in steps if step.kept]
        for names, level, words in (
            (dangling, FAIL, "links that lead nowhere"),
            (behind, WARN, "missing or older than this program"),
        ):
            if names:
                clean = False
                yield "links", level, f"{claude_dir}: {words}: {', '.join(names)}", _AGAIN
        if kept:
            clean = False
            yield "links", WARN, f"{claude_dir}: not ours: {', '.join(kept)}", "rename yours if you want both"
    if clean:
        yield "links", OK, f"{counted(len(links.offered()), 'skill or agent', 'skills and agents')} in place", ""


def _steps(_ws: Workspace) -> Iterator[tuple[str, list[Any]]]:
    from mait_code.commands.install import record
    from mait_code.commands.install.links import Parts

    try:
        held = record.Record()
    except MaitError:
        return
    for claude_dir, place in held.places():
        if place.links:
            yield claude_dir, Parts(claude_dir, place, held.former_source, record.is_checkout()).installing()


def _imports(ws: Workspace, found: dict[str, Any]) -> tuple[str, str, str, str]:
    from mait_code.commands.install import claude_md
    from mait_code.commands.install.files import Edit

    path = found["claude_md_path"]
    if not found["claude_md_block"]:
        return "claude-md", WARN, f"{path} does not import your documents", _AGAIN
    try:
        text = (Edit(found["claude_dir"], claude_md.FILE).before or b"").decode("utf-8", "replace")
        other = claude_md.with_block(text, ws.home.data, path) != text
    except MaitError as error:
        return "claude-md", WARN, error.message, error.hint
    if other:
        return "claude-md", WARN, f"{path} imports from elsewhere than {path_text(ws.home.data)}", _AGAIN
    absent = [name for name in claude_md.DOCUMENTS if not os.path.isfile(ws.home.in_data(name))]
    if absent:
        return "claude-md", WARN, f"imported, but not there: {', '.join(absent)}", _AGAIN
    return "claude-md", OK, path, ""


def _on_path(found: dict[str, Any]) -> tuple[str, str, str, str]:
    if found["binary_path"]:
        return "program-on-path", OK, path_text(found["binary_path"]), ""
    hint = "add its directory to PATH (uv tool update-shell, or pipx ensurepath), and start the client anew"
    return "program-on-path", WARN, "mait-code is not on PATH: skills cannot run it", hint


def _updater() -> tuple[str, str, str, str]:
    from mait_code.commands.install import record, updating

    how = updating.how_installed()
    needed = (["git"] if record.is_checkout() else []) + ([how] if how != "pip" else [])
    missing = [name for name in needed if shutil.which(name) is None]
    if missing:
        return "update", WARN, f"not on PATH: {', '.join(missing)}", "mait-code update needs it"
    return "update", OK, f"with {' and '.join(needed) or 'pip'}", ""


def _pipeline(ws: Workspace, found: dict[str, Any]) -> Found:
    if settings.value("capture") == "off":
        yield "observe-pipeline", OK, "capture is off", ""
        return
    failed = _failed_hooks()
    if failed:
        from mait_code.commands.invocations import log_path

        message = f"{counted(failed, 'run')} of hooks went wrong in the last {_DAYS} days"
        yield "observe-pipeline", WARN, message, f"what and when is in {path_text(log_path())}"
    newest = str(ws.reading("memory").value("SELECT max(created_at) FROM turns") or "")
    behind = _behind(found["claude_dir"], newest, str(found["first_installed_at"] or ""))
    if behind:
        yield (
            "observe-pipeline",
            WARN,
            behind,
            "see whether hooks are switched off (disableAllHooks), and hooks-on-path",
        )
    elif not failed:
        yield "observe-pipeline", OK, f"last recorded {newest}" if newest else "nothing recorded yet", ""


def _failed_hooks() -> int:
    """Runs of hooks that the log of the last days names as failed."""
    from mait_code.commands.invocations import log_path

    path = log_path()
    folder, name = os.path.split(path)
    since = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - _DAYS * 86400)).encode()
    try:
        names = [one for one in os.listdir(folder) if one.startswith(name.removesuffix(".jsonl"))]
    except OSError:
        return 0
    count = 0
    for one in names:
        for line in _last_lines(os.path.join(folder, one)):
            if b'"command":"hook ' in line and b'"outcome":"ok"' not in line and line[7:26] >= since:
                count += 1
    return count


def _last_lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            return file.read().splitlines()
    except OSError:
        return []


def _behind(claude_dir: str, newest: str, installed: str) -> str:
    """Why it looks as if sessions were not recorded: a transcript is much younger than what was recorded last."""
    last = 0.0
    for folder, folders, names in os.walk(os.path.join(claude_dir, "projects")):
        folders[:] = [one for one in folders if one not in ("subagents", "tool-results", "memory")]
        for name in names:
            if name.endswith(".jsonl") and not name.startswith("agent-"):
                try:
                    last = max(last, os.stat(os.path.join(folder, name)).st_mtime)
                except OSError:
                    continue  # the client has cleared it away meanwhile
    # Both stamps begin with the same form, so their first nineteen characters compare as times.
    limit = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(last - _HOURS * 3600))
    if not last or newest[:19] >= limit or installed[:19] >= limit:
        return ""
    said = f"the last is of {newest[:10]}" if newest else "there is none at all"
    return f"a session of {time.strftime('%Y-%m-%d', time.gmtime(last))} was not recorded: {said}"


def fix(_ws: Workspace) -> Iterator[str]:
    """Take links of ours away that lead nowhere. Raises DiskRefused."""
    from mait_code.commands.install import links

    for _claude_dir, steps in _steps(_ws):
        for step in steps:
            if os.path.islink(step.path) and not os.path.exists(step.path) and step.action:
                links.apply(step)
                yield f"{step.path} leads somewhere again" if step.action == "link" else f"{step.path} led nowhere"
