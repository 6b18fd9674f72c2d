"""The user's own documents, to be filled in: written once, and never again."""

from __future__ import annotations

import os

from mait_code.journal.home import make_directory, write_atomically

__all__ = ["TEMPLATES", "missing", "write"]

TEMPLATES = {
    "soul_document.md": """\
# Who Claude is to me

<!-- Every session reads this. Write what should always hold, and take out what you do not need. Comments like this one are
for you. mait-code never changes this file. -->

## Working together

<!-- How should Claude work with you? For instance: asks before it deletes; says when it is unsure; keeps changes small. -->

## Tone

<!-- For instance: short and plain; no praise; humour is welcome. -->

## Never

<!-- What must not happen, whatever the task. -->
""",
    "user_context.md": """\
# Who I am

<!-- Every session reads this. A few lines are enough: each costs a little of every session. mait-code never changes this
file. -->

## About me

<!-- What you do, what you know well, what is new to you. -->

## My machines and tools

<!-- Systems, editors, shells, package managers; what is installed and what you would rather avoid. -->

## How I like code

<!-- Style, tests, commit messages: what holds in all your projects. What holds in one belongs into its CLAUDE.md. -->
""",
}


def missing(data_dir: str) -> list[str]:
    """Which documents are not there yet."""
    return [name for name in TEMPLATES if not os.path.lexists(os.path.join(data_dir, name))]


def write(data_dir: str) -> list[str]:
    """Write those that are missing, and return their names."""
    names = missing(data_dir)
    if names:
        make_directory(data_dir)
    for name in names:
        write_atomically(os.path.join(data_dir, name), TEMPLATES[name].encode())
    return names


_COMMENT = "<!--", "-->"


def spoken(data_dir: str, limit: int) -> str:
    """The documents as one text of at most `limit` characters, in whole lines: for where nothing imports them.

    Comments are for the user, and a heading with nothing below it says nothing; both are left out.
    """
    from mait_code.commands.context_text import units

    told: list[str] = []
    room = limit
    for name in (*TEMPLATES, "communication_style.md", os.path.join("memory", "MEMORY.md")):
        for line in _said(os.path.join(data_dir, name)):
            room -= units(line) + 1
            if room < 0:
                return "\n".join(told).strip()
            told.append(line)
        if told and told[-1]:
            told.append("")
            room -= 1
    return "\n".join(told).strip()


def _said(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []  # not there, or not to be read: doctor names it
    begin, end = _COMMENT
    while begin in text:
        before, _, rest = text.partition(begin)
        text = before + rest.partition(end)[2]
    lines = [line.rstrip() for line in text.splitlines()]
    kept: list[str] = []
    for line in reversed(lines):
        # From below: a heading stays where something stands between it and the next one of its level or above.
        if line.startswith("#") and not _is_above(kept, line):
            continue
        if line or (kept and kept[-1]):
            kept.append(line)
    kept.reverse()
    return kept


def _is_above(below: list[str], heading: str) -> bool:
    """Whether something stands under a heading; `below` is what follows it, the last line first."""
    following = next((line for line in reversed(below) if line), "")
    level = len(heading) - len(heading.lstrip("#"))
    return bool(following) and (not following.startswith("#") or len(following) - len(following.lstrip("#")) > level)
