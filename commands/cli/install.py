"""Setting up in Claude Code from the command line."""

from __future__ import annotations

from mait_code.commands.cli.frame import argument, command, option, pass_output, pass_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.install.installing import Outcome
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@command("install")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@option("--statusline", is_flag=True, help="Show what waits in the status line, behind your own.")
@option("--dry-run", is_flag=True, help="Only show what would change.")
@pass_workspace
def install(ws: Workspace, out: Output, claude_dir: str | None, statusline: bool, dry_run: bool) -> None:
    """Set mait-code up in Claude Code: hooks, skills, and your own documents.

    What is yours in the client's files stays. A second run changes nothing, so it is also how to bring everything up to
    date and how to have a changed setting (inject-on-prompt, file-context, capture) take effect.
    """
    from mait_code.commands.install import installing

    _name_data_dir(ws, dry_run)
    outcome = installing.install(ws, claude_dir, statusline, dry_run)
    _print(out, outcome, "Nothing to change: mait-code is installed and up to date.")
    if not dry_run and outcome.changed and not out.json:
        out.note("next: start a new session of Claude Code; mait-code status shows what is there")


def _name_data_dir(ws: Workspace, dry_run: bool) -> None:
    """Write down a directory that was given for this run: hooks have to find it too."""
    import os

    from mait_code.journal import settings

    here = str(settings.value("data-dir"))
    if os.path.realpath(os.path.expanduser(here)) != ws.home.real and not dry_run:
        from mait_code.commands.settings import change

        change("data-dir", ws.home.data)


def _print(out: Output, outcome: Outcome, nothing: str) -> None:
    if out.json:
        out.data(outcome.json())
    elif outcome.dry_run:
        for diff in outcome.diffs:
            out.block(diff)
        out.lines(f"would have {line}" for line in outcome.changed)
    else:
        out.lines(line[:1].upper() + line[1:] for line in outcome.changed)
    if not outcome.changed and not out.json:
        out.line(nothing)
    for line in outcome.kept:
        out.warn(f"kept {line}")
    for line in outcome.notes:
        out.note(line)


@command("uninstall")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@option("--purge-data", is_flag=True, help="Delete the data directory too: everything that was recorded. Asks first.")
@option("--yes", is_flag=True, help="With --purge-data: do not ask.")
@option("--dry-run", is_flag=True, help="Only show what would change.")
@pass_workspace
def uninstall(ws: Workspace, out: Output, claude_dir: str | None, purge_data: bool, yes: bool, dry_run: bool) -> None:
    """Take mait-code out of Claude Code, and leave its files as they were.

    Your data stays unless you say --purge-data; the program itself goes the way it came (uv tool, pipx, pip).
    """
    from mait_code.commands.install import installing

    if purge_data and not (yes or dry_run):
        _ask_before_purging(ws.home.data)
    outcome = installing.uninstall(ws, claude_dir, purge_data, dry_run)
    _print(out, outcome, "Nothing to take out: mait-code is not installed there.")


def _ask_before_purging(data: str) -> None:
    """Raises Refused where nobody says yes: what is not on another machine or remote is gone for good."""
    import sys

    from mait_code.commands.output import path_text
    from mait_code.journal.errors import Refused

    agreed = False
    if sys.stdin.isatty():
        import click

        agreed = click.confirm(f"Delete {path_text(data)} and everything in it?", err=True)
    if not agreed:
        raise Refused(f"{path_text(data)} stays, and nothing was taken out", "--yes deletes it without a question")


@command("update")
@option("--ref", metavar="REF", help="Go to this branch, tag or commit of the checkout.")
@option("--force", is_flag=True, help="Install again, though nothing is new.")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default every one that was installed into).")
@pass_output
def update(out: Output, ref: str | None, force: bool, claude_dir: str | None) -> None:
    """Bring mait-code up to date, and with it what is in Claude Code.

    From a checkout its branch is followed with git; else uv, pipx or pip are asked for the newest package. A file of the
    checkout that you edited stops it: nothing of yours is thrown away.
    """
    from mait_code.commands.install import updating
    from mait_code.commands.install.record import Record

    before = Record()
    done = updating.update(out.note, ref, force)
    places = [claude_dir] if claude_dir else [place for place, _known in before.places()]
    said = [line for place in places for line in updating.refresh(place).splitlines()]
    if out.json:
        commits = {"before": done.before or None, "after": done.after or None}
        out.data({**commits, "reinstalled": done.reinstalled, "claude_dirs": places})
        return
    out.lines([*done.lines, *said])
    if not places:
        out.note("nothing is installed in Claude Code; mait-code install does that")


@command("status")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@pass_workspace
def status(ws: Workspace, out: Output, claude_dir: str | None) -> None:
    """Show what is installed in Claude Code.

    It says whether all of it is there; `doctor` says what to do where it is not.
    """
    from mait_code.commands.install import state

    found = state.look(ws, claude_dir)
    if out.json:
        out.data(found)
        return
    colour = {"healthy": "green", "plug-in": "green", "degraded": "yellow"}.get(found["state"], "dim")
    out.line("mait-code ", found["version"], ": ", out.style(found["state"], colour))
    for title, rows in _groups(found):
        out.line(out.style(title, "bold"))
        width = max(len(name) for name, _value in rows)
        out.lines(f"  {name.ljust(width)}  {value}" for name, value in rows)
    for fault in (found["record_error"], found["settings_error"]):
        if fault:
            out.warn(fault)


def _groups(found: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    missing = [event for event in found["hooks_wanted"] if event not in found["hooks_registered"]]
    hooks = ", ".join(found["hooks_registered"]) or "none"
    yes = {True: "yes", False: "no"}
    return [
        (
            "Install",
            [
                ("program", found["binary_path"] or "not on PATH"),
                ("from", found["source_dir"]),
                (
                    "installed",
                    f"{found['installed_version']}, {found['updated_at']}" if found["record_present"] else "no",
                ),
                *([("plug-in", found["plugin"])] if found["plugin"] else []),
            ],
        ),
        (
            "Identity",
            [
                (
                    "CLAUDE.md",
                    "imports your documents" if found["claude_md_block"] else "does not import your documents",
                ),
                ("soul_document.md", yes[found["has_soul_document"]]),
                ("user_context.md", yes[found["has_user_context"]]),
                ("MEMORY.md", yes[found["has_memory_md"]]),
            ],
        ),
        (
            "Components",
            [
                ("hooks", hooks + (f" (missing: {', '.join(missing)})" if missing and not found["plugin"] else "")),
                ("skills", f"{found['skills_linked']} of {found['skills_total']}"),
                ("agents", f"{found['agents_linked']} of {found['agents_total']}"),
                ("status line", yes[found["statusline"]]),
            ],
        ),
        ("Data", [("directory", found["data_dir_path"]), ("size", f"{found['data_dir_size_bytes'] / 1e6:.1f} MB")]),
    ]


@pass_output
def permissions_overview(out: Output) -> None:
    """What `mait-code permissions` prints: the list."""
    _list_permissions(out, None)


@command("list")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@pass_output
def permissions_list(out: Output, claude_dir: str | None) -> None:
    """List the presets, and which are allowed."""
    _list_permissions(out, claude_dir)


def _list_permissions(out: Output, claude_dir: str | None) -> None:
    from mait_code.commands.install import permissions

    rows = permissions.listing(claude_dir)
    if out.json:
        out.data(rows)
        return
    marks = {(True, False): ("✓", "green"), (False, True): ("●", "yellow"), (False, False): ("·", "dim")}
    group = ""
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            out.line(out.style(group, "bold"), f"  {row['label']}")
        mark, colour = marks[row["enabled"], row["partial"]]
        commands = ", ".join(pattern[5:-1] for pattern in row["patterns"] if not pattern.endswith(":*)"))
        tier = "" if row["tier"] == permissions.READS else "  (changes files of the project)"
        out.line("  ", out.style(mark, colour), f" {row['id']:<12}{commands}{tier}")


@command("add")
@argument("preset")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@pass_output
def permissions_add(out: Output, preset: str, claude_dir: str | None) -> None:
    """Let Claude run the commands of a preset, or of a group of them, without asking."""
    _change_permissions(out, preset, True, claude_dir)


@command("remove")
@argument("preset")
@option("--claude-dir", metavar="DIR", help="The client's directory (by default $CLAUDE_CONFIG_DIR, else ~/.claude).")
@pass_output
def permissions_remove(out: Output, preset: str, claude_dir: str | None) -> None:
    """Have Claude ask again before the commands of a preset or group."""
    _change_permissions(out, preset, False, claude_dir)


def _change_permissions(out: Output, preset: str, allow: bool, claude_dir: str | None) -> None:
    from mait_code.commands.install import permissions

    changed = permissions.change(preset, allow, claude_dir)
    if out.json:
        out.data({"preset": preset, "added" if allow else "removed": changed})
    elif changed:
        out.lines(f"{'Allowed' if allow else 'Taken back'}: {rule}" for rule in changed)
    else:
        out.line("Nothing to change: all of it is allowed." if allow else "Nothing to change: none of it is allowed.")
