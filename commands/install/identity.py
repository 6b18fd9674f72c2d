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
