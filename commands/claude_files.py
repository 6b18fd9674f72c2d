"""Where Claude Code keeps its files: its own directory, and in it one directory per project."""

from __future__ import annotations

import os
import re

__all__ = ["directory", "project_directory", "slug_of"]

_ODD = re.compile(r"[^A-Za-z0-9]")
#: Characters of a slug that the client keeps; behind them it puts a digest.
_LONGEST_SLUG = 200


def directory(given: str | None = None) -> str:
    """The client's directory: the one given, else `$CLAUDE_CONFIG_DIR`, else ~/.claude."""
    named = given or os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
    return os.path.abspath(os.path.expanduser(named))


def slug_of(path: str) -> str:
    """The name that the client gives a directory, whole: long ones it cuts, and adds a digest."""
    return _ODD.sub(lambda one: "--" if one[0] > "\uffff" else "-", path)  # one dash per UTF-16 unit


def project_directory(path: str) -> str:
    """The directory in which the client keeps the transcripts of sessions that began in `path`; empty where there is none."""
    projects = os.path.join(directory(), "projects")
    slug = slug_of(os.path.realpath(path))
    if len(slug) <= _LONGEST_SLUG:
        found = os.path.join(projects, slug)
        return found if os.path.isdir(found) else ""
    try:
        names = [name for name in os.listdir(projects) if name.startswith(f"{slug[:_LONGEST_SLUG]}-")]
    except OSError:
        return ""
    # Two directories whose names differ further behind cannot be told apart here.
    return os.path.join(projects, names[0]) if len(names) == 1 else ""
