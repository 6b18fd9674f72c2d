"""The start page as dashboard.toml describes it: how many columns, and which tiles.

The file is the user's own and travels with the journal, so what stands in it may come from another machine. Reading it never
fails: what cannot be used is told as a warning, and the default page stands in for a file that says nothing usable.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.journal.home import Home

__all__ = [
    "DEFAULT_COLUMNS",
    "DEFAULT_WIDGETS",
    "MOST_COLUMNS",
    "WIDGETS",
    "Dashboard",
    "Tile",
    "of_text",
    "path",
    "placed",
    "read",
]

FILE = "dashboard.toml"
#: Built-in widgets and what each shows.
WIDGETS = {
    "reminders": "what is overdue, and what comes next",
    "board": "the cards of this project, column by column",
    "inbox": "what waits to be sorted",
    "memory": "what was remembered last, and how much is due for a look",
    "health": "what doctor says",
    "velocity": "cards done, day by day",
}
DEFAULT_WIDGETS = ("reminders", "board", "inbox", "memory")
DEFAULT_COLUMNS, MOST_COLUMNS = 2, 4
#: Bytes of the file, tiles on a page, and characters of a command and of a title, at most.
LARGEST, MOST_TILES, LONGEST_COMMAND, LONGEST_TITLE = 1 << 18, 40, 4000, 200
_TILE_KEYS = ("widget", "command", "title", "span")


class Tile:
    """One tile: a built-in `widget`, or a `command` for the shell. Exactly one of them is not empty."""

    __slots__ = ("command", "span", "title", "widget")

    def __init__(self, widget: str = "", command: str = "", title: str = "", span: int = 1) -> None:
        self.widget = widget
        self.command = command
        self.title = title
        self.span = span

    @property
    def heading(self) -> str:
        """What stands above it: its title, or what it shows."""
        return self.title or self.widget.capitalize() or (self.command.strip().splitlines() or [""])[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tile) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[str, str, str, int]:
        return self.widget, self.command, self.title, self.span


class Dashboard:
    """The page: `tiles` from left to right and top to bottom in `columns` columns; `warnings` for the person."""

    __slots__ = ("columns", "tiles", "warnings")

    def __init__(self) -> None:
        self.columns = DEFAULT_COLUMNS
        self.tiles: list[Tile] = [Tile(widget) for widget in DEFAULT_WIDGETS]
        self.warnings: list[str] = []

    @property
    def commands(self) -> list[str]:
        """The commands on the page, each once."""
        return list(dict.fromkeys(tile.command for tile in self.tiles if tile.command))


def placed(tiles: Sequence[Tile], columns: int) -> list[list[tuple[int, int]]]:
    """The rows of a page: of each tile its number among `tiles` and how many columns it takes.

    A tile that does not fit into what is left of a row begins the next one; the last of a row takes what is left.
    """
    rows: list[list[tuple[int, int]]] = []
    left = 0
    for number, tile in enumerate(tiles):
        span = min(tile.span, columns)
        if span > left:
            _fill_up(rows, left)
            rows.append([])
            left = columns
        rows[-1].append((number, span))
        left -= span
    _fill_up(rows, left)
    return rows


def _fill_up(rows: list[list[tuple[int, int]]], left: int) -> None:
    if rows and left:
        number, span = rows[-1][-1]
        rows[-1][-1] = number, span + left


def path(home: Home) -> str:
    """Where the file is, or would be."""
    return home.in_data(FILE)


def read(home: Home) -> Dashboard:
    """The page of a data directory; the default one where there is no file, or none that can be read."""
    try:
        text = contents(home)
    except (OSError, ValueError) as error:
        found = Dashboard()
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        found.warnings.append(f"{FILE} cannot be read ({reason}); the default page is shown")
        return found
    return Dashboard() if text is None else of_text(text)


def contents(home: Home) -> str | None:
    """The file's text; None where there is none. Raises OSError, and ValueError where it is no file of ours."""
    import stat

    try:
        with open(path(home), "rb", opener=_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("it is no file")
            if status.st_size > LARGEST:
                raise ValueError(f"it is longer than {LARGEST} bytes")
            return file.read(LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        return None


def _without_waiting(name: str, flags: int) -> int:
    # A pipe of that name would keep us until somebody writes into it.
    return os.open(name, flags | os.O_NONBLOCK)


def of_text(text: str) -> Dashboard:
    """The page that a text describes."""
    import tomllib

    found = Dashboard()
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found.warnings.append(f"{FILE} is not TOML ({error}); the default page is shown")
        return found
    found.columns = _columns(document.pop("columns", DEFAULT_COLUMNS), found.warnings)
    raw = document.pop("tile", None)
    found.warnings += [f"{FILE} has {name!r}, which means nothing there" for name in document]
    if raw is None:
        return found
    if not isinstance(raw, list) or not all(isinstance(one, dict) for one in raw):
        found.warnings.append(f"in {FILE} tiles are written as [[tile]]; the default ones are shown")
        return found
    tiles = _tiles(raw, found)
    if tiles or not raw:
        found.tiles = tiles
    else:
        found.warnings.append("no tile is left; the default ones are shown")
    return found


def _columns(raw: object, warnings: list[str]) -> int:
    if type(raw) is not int:
        warnings.append(f"columns is a whole number from 1 to {MOST_COLUMNS}, not {raw!r}; {DEFAULT_COLUMNS} are shown")
        return DEFAULT_COLUMNS
    columns = max(1, min(raw, MOST_COLUMNS))
    if columns != raw:
        warnings.append(f"columns is a whole number from 1 to {MOST_COLUMNS}, not {raw}; {columns} are shown")
    return columns


def _tiles(raw: list[dict[str, Any]], found: Dashboard) -> list[Tile]:
    tiles = []
    for number, one in enumerate(raw[:MOST_TILES], 1):
        try:
            tile = tile_of(one)
        except ValueError as error:
            found.warnings.append(f"tile {number} is left out: {error}")
            continue
        unknown = [name for name in one if name not in _TILE_KEYS]
        if unknown:
            found.warnings.append(f"tile {number} has {unknown[0]!r}, which means nothing there")
        if tile.span > found.columns:
            found.warnings.append(f"tile {number} spans {tile.span} columns; there are {found.columns}")
            tile.span = found.columns
        tiles.append(tile)
    if len(raw) > MOST_TILES:
        found.warnings.append(f"only the first {MOST_TILES} tiles are shown, of {len(raw)}")
    return tiles


def tile_of(raw: dict[str, Any]) -> Tile:
    """The tile that a table describes. Raises ValueError, in words for people, where it describes none."""
    named = [name for name in ("widget", "command") if name in raw]
    if len(named) != 1:
        raise ValueError("it names both a widget and a command" if named else "it names neither a widget nor a command")
    said = raw[named[0]]
    if not isinstance(said, str) or not said.strip():
        raise ValueError(f"{named[0]} is no text")
    title, span = raw.get("title", ""), raw.get("span", 1)
    if not isinstance(title, str):
        raise ValueError("title is no text")
    if type(span) is not int or span < 1:
        raise ValueError(f"span is a whole number of at least 1, not {span!r}")
    title = title.strip()[:LONGEST_TITLE]
    if named[0] == "widget":
        widget = said.strip().lower()
        if widget not in WIDGETS:
            raise ValueError(f"there is no widget {said!r}; there are {', '.join(WIDGETS)}")
        return Tile(widget=widget, title=title, span=span)
    if len(said) > LONGEST_COMMAND or "\0" in said:
        raise ValueError(f"a command is text of at most {LONGEST_COMMAND} characters")
    return Tile(command=said, title=title, span=span)
