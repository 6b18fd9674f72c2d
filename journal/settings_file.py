"""Reading `settings.toml` so that one broken line costs that line. Loaded only where the file exists."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from typing import Any

from mait_code.journal.settings import REGISTRY, Contents, Problem

__all__ = ["read"]

_LARGEST = 1 << 20  # bytes; no file of settings is longer
_LONGEST_VALUE = 200  # lines that one value may span when a broken file is read statement by statement
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read(path: str) -> Contents:
    """The file's keys, its [env] table, and a Problem for whatever could not be used. Raises nothing."""
    contents = Contents()
    try:
        text = _text(path, contents)
    except (OSError, ValueError) as error:
        contents.problems.append(Problem(path, f"cannot be read ({error}); defaults are used"))
        return contents
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        document = _salvage(path, text, contents)
    _sort(path, text, document, contents)
    return contents


def _text(path: str, contents: Contents) -> str:
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise ValueError("not a file of settings")
        raw = file.read()
    rows = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    for number, row in enumerate(rows):
        try:
            row.decode()
        except UnicodeDecodeError:
            contents.problems.append(Problem(f"{path}:{number + 1}", "the line is not UTF-8; it is passed over"))
            rows[number] = b""
    return b"\n".join(rows).decode()


def _salvage(path: str, text: str, contents: Contents) -> dict[str, Any]:
    """Statement by statement, what a file that does not parse as a whole still says."""
    document: dict[str, Any] = {}
    table: dict[str, Any] = document
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        parsed, taken = _statement(rows, at)
        if parsed is None:
            contents.problems.append(Problem(f"{path}:{at + 1}", "the line is not TOML; it is passed over"))
        elif rows[at].lstrip().startswith("["):
            name = next(iter(parsed))
            fresh: dict[str, Any] = {}
            table = document.setdefault(name, fresh) if isinstance(document.get(name, fresh), dict) else fresh
        else:
            for key, value in parsed.items():
                if key in table:
                    contents.problems.append(
                        Problem(f"{path}:{at + 1}", f"{key} is here twice; the first one counts", key)
                    )
                table.setdefault(key, value)
        at += taken
    return document


def _statement(rows: list[str], at: int) -> tuple[dict[str, Any] | None, int]:
    """The statement that begins at a row, and how many rows it took; None where there is none to be read."""
    longest = _LONGEST_VALUE if any(mark in rows[at] for mark in ("[", "{", '"""', "'''")) else 1
    for taken in range(1, min(longest, len(rows) - at) + 1):
        try:
            return tomllib.loads("\n".join(rows[at : at + taken])), taken
        except (ValueError, RecursionError):
            continue
    return None, 1


def _sort(path: str, text: str, document: dict[str, Any], contents: Contents) -> None:
    known = {entry.key for entry in REGISTRY}
    rows = text.split("\n")
    for key, value in document.items():
        line = _line_of(key, rows)
        if key == "env":
            _sort_environment(f"{path}:{line}", value, contents)
        elif key in known:
            contents.values[key] = value
            contents.lines[key] = line
        else:
            # Kept in the file: it may be a newer version's.
            contents.unknown.append(key)
            contents.problems.append(Problem(f"{path}:{line}", f"there is no setting {key!r}", key))


def _sort_environment(where: str, table: object, contents: Contents) -> None:
    if not isinstance(table, dict):
        contents.problems.append(Problem(where, "env is a table of variables: write [env]", "env"))
        return
    for name, value in table.items():
        if not isinstance(value, str) or "\0" in value:
            contents.problems.append(Problem(where, f"env.{name} is not text; it is passed over", f"env.{name}"))
        elif not _VARIABLE.match(name) or name.startswith("MAIT_CODE_"):
            contents.problems.append(Problem(where, f"env.{name} cannot be set here; it is passed over", f"env.{name}"))
        else:
            contents.env[name] = value


def _line_of(key: str, rows: list[str]) -> int:
    pattern = re.compile(r"\s*\[?\s*[\"']?" + re.escape(key) + r"[\"']?\s*[\].=]")
    return next((number for number, row in enumerate(rows, 1) if pattern.match(row)), 1)
