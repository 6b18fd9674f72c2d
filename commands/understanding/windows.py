"""Windows: parts of a conversation that go to a model one at a time, as many as it takes.

A window ends between two lines of the transcript, before a request where one is near. A line that is longer than a window
is taken apart between two lines of its text, or where it has none, between two words or characters.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mait_code.commands.understanding.conversation import Piece

__all__ = ["LONGEST", "Place", "Window", "cut"]

#: Characters of a window.
LONGEST = 60_000
#: Characters that the lines around a piece take: who says it, and which turn it is.
_HEADER = 80


class Place:
    """Where a window begins or ends: a line of the file by its first byte, and how many parts of its text lie before."""

    __slots__ = ("offset", "part")

    def __init__(self, offset: int = 0, part: int = 0) -> None:
        self.offset = offset
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.offset, self.part) == (other.offset, other.part)

    def __hash__(self) -> int:
        return hash((self.offset, self.part))


class Window:
    """A part of a conversation. `begin` and `end` are places in the file, `line` and `uuid` the last line in it."""

    __slots__ = (
        "begin", "branch", "directory", "end", "is_talk", "key", "last", "line", "modified", "read", "text", "turns", "uuid",
    )  # fmt: skip

    def __init__(self, begin: Place, piece: Piece) -> None:
        self.begin = self.end = begin
        #: What makes it this window, on every machine: the line it begins with, and the part of that.
        self.key = f"{piece.uuid}\0{begin.part}" if begin.part else piece.uuid
        self.text = ""
        #: How many turns it has a part of. Files of each, by its number from 1.
        self.turns = 0
        self.read: dict[int, list[str]] = {}
        self.modified: dict[int, list[str]] = {}
        self.directory = self.branch = self.uuid = ""
        #: Whether anything was said besides commands of the client's.
        self.is_talk = False
        self.last = self.line = 0

    def add(self, piece: Piece, text: str, header: bool) -> None:
        """Take in a piece, or a part of it."""
        if (piece.begins and header) or not self.turns:
            self.turns += 1
        # Nothing in a text looks like what stands between texts.
        rendered = f"\n{text}".replace("\n===", "\n ===")[1:]
        if header:
            rendered = f"=== {piece.who}, turn {self.turns} ===\n{rendered}"
        self.text += rendered + "\n"
        self.read.setdefault(self.turns, []).extend(piece.read)
        self.modified.setdefault(self.turns, []).extend(piece.modified)
        self.directory, self.branch = piece.directory or self.directory, piece.branch or self.branch
        self.is_talk = self.is_talk or not (piece.begins and piece.text.startswith("/"))
        self.last = max(self.last, piece.at)
        self.line, self.uuid = piece.start, piece.uuid


class _Part:
    """A piece, or a part of one that is longer than a window."""

    __slots__ = ("after", "before", "piece", "text")

    def __init__(self, piece: Piece, text: str, before: Place, after: Place) -> None:
        self.piece = piece
        self.text = text
        self.before = before
        self.after = after

    @property
    def size(self) -> int:
        """Characters it takes in a window, at most."""
        return _room(self.text) + _HEADER


def cut(pieces: Iterable[Piece], begin: Place, longest: int = LONGEST) -> Iterator[Window]:
    """The windows of a conversation from `begin` on, where its first piece may have parts that lie before."""
    held: list[_Part] = []
    size = 0
    for part in _parts(pieces, begin, longest):
        while held and size + part.size > longest:
            done = _before_request(held, longest)
            yield _window(held[:done])
            held = held[done:]
            size = sum(one.size for one in held)
        held.append(part)
        size += part.size
    if held:
        yield _window(held)


def _before_request(held: list[_Part], longest: int) -> int:
    """How many parts the window takes: up to the last request in its second half, where there is one; else all."""
    size = sum(one.size for one in held)
    for at in range(len(held) - 1, 0, -1):
        size -= held[at].size
        if size < longest // 2:
            break
        if held[at].piece.begins and held[at].before.part == 0:
            return at
    return len(held)


def _window(parts: list[_Part]) -> Window:
    window = Window(parts[0].before, parts[0].piece)
    for at, part in enumerate(parts):
        window.add(part.piece, part.text, header=at == 0 or part.before.part == 0)
    window.end = parts[-1].after
    return window


def _parts(pieces: Iterable[Piece], begin: Place, longest: int) -> Iterator[_Part]:
    for piece in pieces:
        texts = _apart(piece.text, longest - _HEADER)
        for number, text in enumerate(texts):
            before = Place(piece.start, number)
            if piece.start == begin.offset and number < begin.part:
                continue
            last = number == len(texts) - 1
            yield _Part(piece, text, before, Place(piece.end) if last else Place(piece.start, number + 1))


def _room(text: str) -> int:
    """Characters that a text takes in a window: the marks that keep it apart from what stands between texts take some."""
    return len(text) + text.count("\n===") + text.startswith("===")


def _apart(text: str, longest: int) -> list[str]:
    """The text in parts that are no longer than that, all of it."""
    found = []
    start = 0
    while len(text) - start > longest or _room(text[start:]) > longest:
        end = start + longest - (_room(text[start : start + longest]) - len(text[start : start + longest]))
        at = max(text.rfind("\n", start + 1, end), start)
        if at == start:
            at = max(text.rfind(" ", start + 1, end), start)
        at = at + 1 if at > start else end
        found.append(text[start:at])
        start = at
    found.append(text[start:])
    return found
