"""Writing `settings.toml`: comments, order and the keys that only a newer version knows stay as they are."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from mait_code.journal import settings
from mait_code.journal.errors import DiskRefused, Refused
from mait_code.journal.home import make_directory, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["edit", "put", "put_variable"]

_HEADER = re.compile(r"\s*\[")


def edit(action: Callable[[tomlkit.TOMLDocument], Any]) -> None:
    """Read the file, let `action` change the document, write it back in one step. One process at a time.

    Raises Refused where the file is not TOML: what could not be read would be lost.
    """
    with _held() as path:
        text = _read(path)
        document = _parse(path, text)
        action(document)
        _write(path, text, tomlkit.dumps(document))


def put(key: str, value: object) -> None:
    """Set a top-level key. A new one comes after the last there is, and before the comments of the first table."""
    with _held() as path:
        text = _read(path)
        document = _parse(path, text)
        known = key in document
        wanted = {**document.unwrap(), key: value}
        document[key] = value
        after = tomlkit.dumps(document)
        if not known:
            # tomlkit would put the key between a table and the comments above it.
            placed = _with_line(text, f"{key} = {tomlkit.item(value).as_string()}")
            after = placed if _says(placed, wanted) else after
        _write(path, text, after)


def put_variable(name: str, value: str | None) -> None:
    """Set a variable of the [env] table, or take it out; a table left empty goes too."""

    def change(document: tomlkit.TOMLDocument) -> None:
        table = document.get("env")
        if not isinstance(table, AbstractTable):
            table = tomlkit.table()
            document["env"] = table
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
        if not table:
            document.pop("env")

    edit(change)


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomlkit.parse(text).unwrap() == wanted
    except (TOMLKitError, ValueError):
        return False


def _with_line(text: str, line: str) -> str:
    rows = text.splitlines(keepends=True)
    at = next((number for number, row in enumerate(rows) if _HEADER.match(row)), None)
    if at is None:
        return text + ("\n" if text and not text.endswith("\n") else "") + line + "\n"
    while at and (not rows[at - 1].strip() or rows[at - 1].lstrip().startswith("#")):
        at -= 1
    return "".join([*rows[:at], line + "\n", *([] if at else ["\n"]), *rows[at:]])


@contextmanager
def _held() -> Iterator[str]:
    # A link (people keep such files in a repository of their own) stays a link: what it points at is replaced.
    path = os.path.realpath(settings.path())
    directory = os.path.dirname(path)
    make_directory(directory)
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise DiskRefused(f"cannot open {directory}: {error.strerror}", "check its permissions") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(handle)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 (byte {error.start})", "correct it in an editor, then try again") from error
    except OSError as error:
        raise DiskRefused(f"cannot read {path}: {error.strerror}", "check its permissions") from error


def _parse(path: str, text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        line = getattr(error, "line", 0)
        where = f"{path}:{line}" if line else path
        raise Refused(f"{where} is not TOML: {error}", "correct that line in an editor; nothing was changed") from error


def _write(path: str, before: str, after: str) -> None:
    _parse(path, after)
    if after != before:
        write_atomically(path, after.encode())
