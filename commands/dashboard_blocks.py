"""The text of dashboard.toml as a head, one block for each `[[tile]]`, and what follows the tiles.

A comment that stands right above a tile is part of its block, so it goes where the tile goes.
"""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise

import tomlkit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.dashboard import Tile

__all__ = [
    "apart",
    "block",
    "ended",
    "parsed",
    "raw",
    "say",
    "split",
    "with_columns",
    "with_empty_list",
    "without_empty_list",
]

_TILE = re.compile(r"[ \t]*\[\[[ \t]*(?:tile|\"tile\"|'tile')[ \t]*\]\]")
_OTHER = re.compile(r"[ \t]*\[")
_SUB = re.compile(r"[ \t]*\[+[ \t]*(?:tile|\"tile\"|'tile')[ \t]*\.")


def split(text: str) -> tuple[str, list[str], str]:
    """The head, a block for each tile, and what follows the tiles: tables of other names."""
    rows = text.splitlines(keepends=True)
    starts = [number for number, row in enumerate(rows) if _TILE.match(row)]
    if not starts:
        return text, [], ""
    begins = [_with_comment(rows, at) for at in starts]
    end = len(rows)
    for number in range(starts[-1] + 1, len(rows)):
        if _OTHER.match(rows[number]) and not _SUB.match(rows[number]) and _is_header(rows[number]):
            end = _with_comment(rows, number)
            break
    edges = [*begins, end]
    blocks = ["".join(rows[start:stop]) for start, stop in pairwise(edges)]
    return "".join(rows[: begins[0]]), blocks, "".join(rows[end:])


def _is_header(row: str) -> bool:
    return bool(re.match(r"[ \t]*\[{1,2}[^\[\]]+\]{1,2}[ \t]*(?:#.*)?$", row.rstrip("\r\n")))


def _with_comment(rows: list[str], at: int) -> int:
    """Where the comment begins that stands right above a line. One that the file begins with is the file's own."""
    above = at
    while above and rows[above - 1].lstrip().startswith("#"):
        above -= 1
    return above or at


def parsed(block: str) -> list[dict[str, Any]]:
    """The tiles of a block by itself; none where it is no TOML, or says something else besides."""
    try:
        document = tomllib.loads(block)
    except ValueError:
        return []
    found: list[dict[str, Any]] = document.pop("tile", [])
    return [] if document else found


def ended(text: str) -> str:
    """A text with the end of its last line."""
    return text if not text or text.endswith("\n") else text + "\n"


def raw(tile: Tile) -> dict[str, Any]:
    """The table that says what a tile is."""
    found: dict[str, Any] = {}
    say(found, tile)
    return found


def say(table: Any, tile: Tile) -> None:
    """Have a table, of tomlkit or of Python, say what a tile is."""
    for name, value in (("widget", tile.widget), ("command", tile.command), ("title", tile.title)):
        if value:
            if table.get(name) != value:
                table[name] = value
        elif name in table:
            del table[name]
    if tile.span != 1:
        if table.get("span") != tile.span:
            table["span"] = tile.span
    elif "span" in table:
        del table["span"]


def block(tile: Tile) -> str:
    """The text of a new tile."""
    table = tomlkit.table()
    say(table, tile)
    array = tomlkit.aot()
    array.append(table)
    document = tomlkit.document()
    document["tile"] = array
    return tomlkit.dumps(document).strip("\n") + "\n"


def apart(before: str, text: str, follows: bool) -> str:
    """A new block with an empty line before it, and after it where something `follows`."""
    stands_apart = not before or before.endswith("\n\n")
    return ("" if stands_apart else "\n") + text + ("\n" if follows else "")


def without_empty_list(head: str) -> str:
    """The head without `tile = []`, which would stand in the way of [[tile]]."""
    document = tomlkit.parse(head)
    if "tile" in document:
        del document["tile"]
    return tomlkit.dumps(document)


def with_empty_list(head: str) -> str:
    """The head saying that there is no tile at all."""
    document = tomlkit.parse(head)
    document["tile"] = tomlkit.array()
    return tomlkit.dumps(document)


def with_columns(head: str, columns: int) -> str:
    """The head with a line for the columns, below the comment that it begins with."""
    rows = head.splitlines(keepends=True)
    at = 0
    while at < len(rows) and rows[at].lstrip().startswith("#"):
        at += 1
    before = ended("".join(rows[:at]))
    return "".join([before, f"columns = {columns}\n", *rows[at:]])
