"""The block in CLAUDE.md that has the client read the user's own documents. Whatever else stands there stays."""

from __future__ import annotations

import os

from mait_code.journal.errors import Refused

__all__ = ["FILE", "has_block", "with_block", "without_block"]

FILE = "CLAUDE.md"
BEGIN = "<!-- mait-code begin: kept by `mait-code install`; what you write above and below stays -->"
END = "<!-- mait-code end -->"
_BEGIN_WORDS = "<!-- mait-code begin"
_END_WORDS = "<!-- mait-code end"
#: The documents every session reads, and those that are read where they are there.
DOCUMENTS = ("soul_document.md", "user_context.md")
_OPTIONAL = ("communication_style.md",)
_MEMORY = os.path.join("memory", "MEMORY.md")


def block(data_dir: str) -> list[str]:
    """The lines of the block: both markers, and an import for each document in the data directory."""
    names = [*DOCUMENTS, *(name for name in _OPTIONAL if os.path.isfile(os.path.join(data_dir, name))), _MEMORY]
    return [BEGIN, *(f"@{_imported(os.path.join(data_dir, name))}" for name in names), END]


def _imported(path: str) -> str:
    """A path as an import takes it: from ~ where that is meant, blanks escaped."""
    home = os.path.join(os.path.expanduser("~"), "")
    if path.startswith(home):
        path = "~/" + path[len(home) :]
    return path.replace(" ", "\\ ")


def has_block(text: str) -> bool:
    """Whether the block is there."""
    return any(line.startswith(_BEGIN_WORDS) for line in text.splitlines())


def with_block(text: str, data_dir: str, path: str) -> str:
    """The text with the block: in its place where it is there, else at the end. Raises Refused where a marker is missing."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = block(data_dir)
    found = _find(text, path)
    if found is None:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        return text + gap + newline.join(lines) + newline
    start, end = found
    rows = text.splitlines(keepends=True)
    ending = rows[end][len(rows[end].rstrip("\r\n")) :]
    return "".join([*rows[:start], newline.join(lines), ending, *rows[end + 1 :]])


def without_block(text: str, path: str) -> str:
    """The text without the block and the empty line that was put above it."""
    found = _find(text, path)
    if found is None:
        return text
    start, end = found
    rows = text.splitlines(keepends=True)
    above = rows[:start]
    if above and not above[-1].strip():
        above.pop()
    return "".join([*above, *rows[end + 1 :]])


def _find(text: str, path: str) -> tuple[int, int] | None:
    rows = text.splitlines()
    begins = [at for at, row in enumerate(rows) if row.startswith(_BEGIN_WORDS)]
    ends = [at for at, row in enumerate(rows) if row.startswith(_END_WORDS)]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise Refused(
            f"{path} does not have the two lines of mait-code's block once each",
            "take out what is left of the block, then try again; nothing was changed",
        )
    return begins[0], ends[0]
