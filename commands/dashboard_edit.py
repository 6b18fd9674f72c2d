"""Editing dashboard.toml while keeping what a person wrote in it: comments, blank lines, the order of keys.

Moving a tile moves its block of text whole (dashboard_blocks); changing one goes through tomlkit, in its block alone. After
each step the text is read again and compared with what was meant.
"""

from __future__ import annotations

import os
import tomllib

import tomlkit
from tomlkit.exceptions import TOMLKitError

from mait_code.commands import dashboard, dashboard_blocks
from mait_code.commands.dashboard import DEFAULT_COLUMNS, DEFAULT_WIDGETS, MOST_COLUMNS, MOST_TILES, Tile
from mait_code.journal.errors import BadInput, DiskRefused, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home

__all__ = ["Draft", "Entry", "load", "save", "starting_text"]

_BY_HAND = "Ctrl+E opens it in your editor"


def starting_text() -> str:
    """What a file begins with that was not there: the default page, written out."""
    rows = [
        "# The start page of mait-code. docs/how-to/dashboard.md says what can stand here.",
        f"columns = {DEFAULT_COLUMNS}",
    ]
    for widget in DEFAULT_WIDGETS:
        rows += ["", "[[tile]]", f'widget = "{widget}"']
    return "\n".join(rows) + "\n"


def load(home: Home) -> Draft:
    """The file as it is, to be edited; the default page where there is none. Raises Refused, DiskRefused."""
    try:
        text = dashboard.contents(home)
    except UnicodeDecodeError as error:
        raise Refused(f"{dashboard.path(home)} is not UTF-8", "correct it in an editor, then try again") from error
    except ValueError as error:
        raise Refused(f"{dashboard.path(home)} cannot be edited: {error}", "move it away") from error
    except OSError as error:
        raise DiskRefused(f"cannot read {dashboard.path(home)}: {error.strerror}", "check its permissions") from error
    return Draft(text)


def save(home: Home, text: str, began: str | None, over: bool = False) -> None:
    """Write a draft's text, where the file is still what the draft began with, or `over` whatever it is now.

    Raises forms.ChangedMeanwhile with the file's text as the field "text"; DiskRefused.
    """
    from mait_code.commands.forms import ChangedMeanwhile
    from mait_code.journal.home import PRIVATE_FILE, make_directory, write_atomically

    now = load_text(home)
    if not over and now != began:
        raise ChangedMeanwhile(dashboard.FILE, {"text": now or ""})
    # A link (people keep such files in a repository of their own) stays a link: what it points at is replaced.
    name = os.path.realpath(dashboard.path(home))
    try:
        mode = os.stat(name).st_mode & 0o777
    except FileNotFoundError:
        mode = PRIVATE_FILE
        make_directory(os.path.dirname(name))
    write_atomically(name, text.encode(), mode)


def load_text(home: Home) -> str | None:
    """The file's text as it is now, however odd; None where there is none or none that can be read."""
    try:
        return dashboard.contents(home)
    except (OSError, ValueError):
        return None


class Entry:
    """One tile of a draft: the tile, or why it is none (`fault`) beside what its table says (`raw`)."""

    __slots__ = ("fault", "raw", "tile")

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.fault = ""
        self.tile: Tile | None = None
        try:
            self.tile = dashboard.tile_of(raw)
        except ValueError as error:
            self.fault = str(error)

    @property
    def heading(self) -> str:
        """What a list of tiles calls it."""
        if self.tile is not None:
            return self.tile.heading
        return str(self.raw.get("title") or self.raw.get("widget") or self.raw.get("command") or "tile")


class Draft:
    """A dashboard.toml that is being edited. `began` is the text on the disk that it started from, None where there was none.

    Raises Refused where the text is no TOML, or has its tiles in a form that only an editor can change.
    """

    def __init__(self, began: str | None) -> None:
        self.began = began
        #: The file as it would be written.
        self.text = starting_text() if began is None else began
        self._past: list[str] = []
        _check(self.text)

    @property
    def dirty(self) -> bool:
        """Whether saving would change something."""
        return self.text != (starting_text() if self.began is None else self.began)

    @property
    def columns(self) -> int:
        """How many columns the page has."""
        return dashboard.of_text(self.text).columns

    @property
    def entries(self) -> list[Entry]:
        """The tiles, in order. A file that says nothing of tiles has the default ones, which a change writes out."""
        return [Entry(one) for one in (_tables(self.text) if self._says_tiles else _default_tables())]

    @property
    def _says_tiles(self) -> bool:
        return "tile" in tomllib.loads(self.text)

    # -- changes. Each raises Refused, and changes nothing, where the text cannot be changed so.

    def undo(self) -> bool:
        """Take back the last change. False where there is none."""
        now = self.text
        while self._past:
            self.text = self._past.pop()
            if self.text != now:
                return True
        return False

    def add(self, tile: Tile, place: int | None = None) -> int:
        """Put in a tile at a place, at the end unless one is given. Returns where it stands."""
        head, blocks, tail, wanted = self._parts()
        if len(blocks) >= MOST_TILES:
            raise Refused(f"a page has {MOST_TILES} tiles at most", "remove one first")
        place = len(blocks) if place is None else max(0, min(place, len(blocks)))
        wanted.insert(place, dashboard_blocks.raw(tile))
        head = dashboard_blocks.without_empty_list(head)
        before = dashboard_blocks.ended(blocks[place - 1] if place else head)
        follows = bool(blocks[place:]) or bool(tail)
        blocks.insert(place, dashboard_blocks.apart(before, dashboard_blocks.block(tile), follows))
        self._put(head, blocks, tail, {"tile": wanted})
        return place

    def remove(self, place: int) -> None:
        """Take a tile out, with the comment right above it."""
        head, blocks, tail, wanted = self._parts()
        del wanted[place]
        del blocks[place]
        if blocks and place == len(blocks) and not tail:
            blocks[-1] = blocks[-1].rstrip() + "\n"
        # No [[tile]] at all would mean the default page.
        self._put(head if blocks else dashboard_blocks.with_empty_list(head), blocks, tail, {"tile": wanted})

    def move(self, place: int, by: int) -> int:
        """Move a tile up or down. Returns where it stands then."""
        head, blocks, tail, wanted = self._parts()
        target = max(0, min(place + by, len(blocks) - 1))
        wanted.insert(target, wanted.pop(place))
        # What stands between two tiles belongs to the place, not to the tile.
        gaps = [block[len(block.rstrip()) :] for block in blocks]
        blocks.insert(target, blocks.pop(place))
        blocks = [block.rstrip() + gap for block, gap in zip(blocks, gaps, strict=True)]
        self._put(head, blocks, tail, {"tile": wanted})
        return target

    def change(self, place: int, tile: Tile) -> None:
        """Have a tile say something else; keys that mean nothing to us stay."""
        head, blocks, tail, wanted = self._parts()
        document = tomlkit.parse(blocks[place])
        table: Any = document["tile"][0]
        for target in (table, wanted[place]):
            dashboard_blocks.say(target, tile)
        blocks[place] = tomlkit.dumps(document)
        self._put(head, blocks, tail, {"tile": wanted})

    def set_columns(self, columns: int) -> None:
        """Have so many columns. Raises BadInput."""
        if not 1 <= columns <= MOST_COLUMNS:
            raise BadInput(f"a page has 1 to {MOST_COLUMNS} columns, not {columns}")
        head, blocks, tail = dashboard_blocks.split(self.text)
        document = tomlkit.parse(head)
        if "columns" in document:
            document["columns"] = columns
            head = tomlkit.dumps(document)
        else:
            head = dashboard_blocks.with_columns(head, columns)
        self._put(head, blocks, tail, {"columns": columns})

    # -- the text

    def _parts(self) -> tuple[str, list[str], str, list[dict[str, Any]]]:
        """The text in its parts, with the default tiles where it has none, and what the tiles say."""
        head, blocks, tail = dashboard_blocks.split(self.text)
        if self._says_tiles:
            return head, blocks, tail, _tables(self.text)
        wanted = _default_tables()
        head = dashboard_blocks.ended(head)
        for one in wanted:
            before = blocks[-1] if blocks else head
            blocks.append(dashboard_blocks.apart(before, dashboard_blocks.block(Tile(**one)), False))
        return head, blocks, tail, wanted

    def _put(self, head: str, blocks: list[str], tail: str, wanted: dict[str, Any]) -> None:
        """Have this text, if it says what is wanted, and of everything else the same as before."""
        if blocks:
            head, blocks = dashboard_blocks.ended(head), [dashboard_blocks.ended(block) for block in blocks]
        text = "".join([head, *blocks, tail])
        if _check(text) != {**tomllib.loads(self.text), **wanted}:
            raise Refused(f"{dashboard.FILE} cannot be changed here without changing more than was meant", _BY_HAND)
        self._past.append(self.text)
        self.text = text


def _check(text: str) -> dict[str, Any]:
    """What a text says. Raises Refused where it cannot be edited here."""
    try:
        tomlkit.parse(text)
        document = tomllib.loads(text)
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise Refused(f"{dashboard.FILE} is not TOML: {error}", _BY_HAND) from error
    raw = document.get("tile", [])
    blocks = dashboard_blocks.split(text)[1]
    fits = isinstance(raw, list) and len(blocks) == len(raw)
    if not fits or any(dashboard_blocks.parsed(block) != [one] for block, one in zip(blocks, raw, strict=True)):
        raise Refused(f"the tiles in {dashboard.FILE} are not written as [[tile]]", _BY_HAND)
    return document


def _tables(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(text).get("tile", [])
    return found


def _default_tables() -> list[dict[str, Any]]:
    return [{"widget": widget} for widget in DEFAULT_WIDGETS]
