"""What setting up the start page asks of the disk, and how it shows tiles. Nothing here knows a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import dashboard, dashboard_approval, dashboard_edit
from mait_code.journal import settings
from mait_code.journal.errors import BadInput, MaitError
from mait_code.tui.text_lines import padded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mait_code.commands.dashboard import Tile
    from mait_code.commands.dashboard_edit import Draft, Entry
    from mait_code.commands.workspace import Workspace
    from mait_code.tui.outline_reading import Line

__all__ = ["Opened", "Question", "about", "sketch", "texts_of", "tile_of"]


class Opened:
    """The file as it is now: its `path` and `text` (None: it is not there). `draft` where one was asked for and can be made,
    else `fault`. `allowed` and `timeout` as home has them."""

    __slots__ = ("allowed", "draft", "fault", "path", "text", "timeout")

    def __init__(self, ws: Workspace) -> None:
        self.path = dashboard.path(ws.home)
        self.text = dashboard_edit.load_text(ws.home)
        self.draft: Draft | None = None
        self.fault: MaitError | None = None
        self.allowed = dashboard_approval.approved(ws.home)
        self.timeout = float(settings.value("dashboard-tile-timeout"))


class Question:
    """The file, and a draft of it unless the person has `written` into one, or it is still what that one began with."""

    __slots__ = ("began", "has_draft", "written")

    def __init__(self, draft: Draft | None) -> None:
        self.has_draft = draft is not None
        self.began = None if draft is None else draft.began
        self.written = draft is not None and draft.dirty

    def __call__(self, ws: Workspace) -> Opened:
        found = Opened(ws)
        if not self.has_draft or (not self.written and found.text != self.began):
            try:
                found.draft = dashboard_edit.load(ws.home)
            except MaitError as error:
                found.fault = error
        return found


def texts_of(tile: Tile) -> dict[str, str]:
    """A tile as the fields of a form."""
    return {"widget": tile.widget, "command": tile.command, "title": tile.title, "span": str(tile.span)}


def tile_of(texts: Mapping[str, str]) -> Tile:
    """The tile that a form's fields describe. Raises BadInput."""
    span = texts.get("span", "").strip() or "1"
    if not span.isdecimal():
        raise BadInput(f"a tile spans a whole number of columns, not {span!r}", "1 is one column")
    raw = {name: texts[name] for name in ("widget", "command", "title") if texts.get(name, "").strip()}
    try:
        return dashboard.tile_of({**raw, "span": int(span)})
    except ValueError as error:
        raise BadInput(str(error), "correct it, or press Escape") from error


def about(entry: Entry) -> list[Line]:
    """What is said of a tile: what it shows, and where it has one, its fault."""
    tile = entry.tile
    if tile is None:
        return [[("error", f"Left out: {entry.fault}")], [("dim", "Ctrl+E opens the file in your editor.")]]
    lines: list[Line] = [[("strong", tile.heading)]]
    if tile.span > 1:
        lines.append([("dim", f"over {tile.span} columns")])
    if tile.widget:
        return [*lines, [("", f"Built in: {dashboard.WIDGETS[tile.widget]}.")]]
    return [*lines, *([("accent", row)] for row in tile.command.splitlines())]


def sketch(entries: Sequence[Entry], columns: int, chosen: int, width: int) -> list[Line]:
    """The page in little: a line for each row of tiles."""
    cell = max(6, width // columns)
    seen = [(place, entry.tile) for place, entry in enumerate(entries) if entry.tile is not None]
    lines: list[Line] = []
    for row in dashboard.placed([tile for _, tile in seen], columns):
        lines.append([])
        for number, span in row:
            place, tile = seen[number]
            lines[-1].append(("primary" if place == chosen else "dim", f"▏{padded(tile.heading, cell * span - 2)} "))
    return lines
