"""What home's pane says of a line of its tree. Nothing here knows a widget: it runs in the workroom."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from mait_code.commands.output import counted, path_text
from mait_code.tui.outline_reading import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.dashboard_tiles import Lines
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.home import Home

__all__ = ["CONTEXT", "Document", "documents", "tokens", "whole"]

#: The key of what a session would be told if it began now.
CONTEXT = "document:context"
#: Documents that sessions are given: the key, what it is called, and its file. The last two may be missing without a word.
_DOCUMENTS = (
    ("document:soul", "Soul", "soul_document.md"),
    ("document:user", "User context", "user_context.md"),
    ("document:style", "Communication style", "communication_style.md"),
    ("document:memory", "MEMORY.md", "memory/MEMORY.md"),
)
_OPTIONAL = "document:style"
#: Bytes of a document that are shown, and lines of a list.
_LARGEST, _FEW = 1 << 20, 12
_ABOUT = {
    "board": "Cards, column by column.",
    "reminders": "What is overdue, and what comes next.",
    "inbox": "Thoughts that wait to be sorted.",
    "conflicts": "Fields that two machines changed without knowing of each other.",
    "memory": "What is remembered, by type.",
    "review": "Memories to look at again, the most decayed first.",
    "observations": "Sessions day by day, what was observed in them, and what still waits for reflection.",
    "graph": "People, projects and tools that memories speak of.",
    "timeline": "Everything that happened, on which machine, as it happens.",
    "logs": "What ran on this machine, how long it took and how it ended.",
    "settings": "Settings, where each comes from, and what Claude may run without asking.",
    "bridge": "Thoughts from your phone into the inbox, and due reminders to it.",
}


def tokens(text: str) -> int:
    """About how many tokens a text is for a model: one for four characters."""
    return (len(text) + 3) // 4


class Document:
    """A document of the data directory: its text, empty where there is none, or `fault`, why it cannot be read."""

    __slots__ = ("fault", "key", "path", "text", "words")

    def __init__(self, home: Home, key: str, words: str, name: str) -> None:
        self.key = key
        self.words = words
        self.path = home.in_data(name)
        self.fault = ""
        self.text = ""
        try:
            # A pipe of that name would keep us until somebody writes into it.
            with open(self.path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    self.text = file.read(_LARGEST).decode("utf-8", "replace")
                else:
                    self.fault = "it is no file"
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            self.fault = error.strerror or str(error)


def documents(home: Home) -> list[Document]:
    """What every session is given, in the order in which it is."""
    found = [Document(home, *one) for one in _DOCUMENTS]
    return [one for one in found if one.key != _OPTIONAL or one.text]


def whole(key: str, opens: str, words: str) -> Callable[[Workspace], Text | None]:
    """What asks for the text of a line: of a document, or of the room that it opens."""
    if key.startswith("document:"):
        return lambda ws: _context(ws) if key == CONTEXT else _document(ws, key)
    if opens:
        return lambda ws: _room(ws, opens, words)
    if key == "identity":
        return _identity
    if key == "memories":
        return lambda ws: _room(ws, "memory", words, opens=False)
    return lambda _ws: Text(words, [], "", plain=True)


def _document(ws: Workspace, key: str) -> Text | None:
    one = next((one for one in documents(ws.home) if one.key == key), None)
    if one is None:
        return None
    facts = [("file", path_text(one.path))]
    if one.fault:
        return Text(one.words, facts, f"It cannot be read: {one.fault}", plain=True)
    if not one.text:
        return Text(one.words, facts, _missing(key), plain=True)
    return Text(_titled(one.words, one.text), facts, one.text)


def _titled(words: str, text: str) -> str:
    return f"{words}, about {counted(tokens(text), 'token')}"


def _missing(key: str) -> str:
    if key == "document:memory":
        return "It is not there yet: mait-code memory pin keeps a memory in it."
    return "It is not there yet: mait-code install brings one to begin with, and leaves yours as it is."


def _context(ws: Workspace) -> Text:
    from mait_code.commands import context

    found = context.build(ws, told=False)
    if not found.text:
        return Text("Session context", [], "A session that begins here now would be told nothing.", plain=True)
    return Text(_titled("Session context", found.text), [], found.text, plain=True)


def _identity(ws: Workspace) -> Text:
    found = documents(ws.home)
    total = sum(tokens(one.text) for one in found)
    facts = [(one.words, f"about {tokens(one.text):,} tokens" if one.text else "none yet") for one in found]
    text = f"Every session is given these, about {total:,} tokens, and what is known where it begins."
    return Text("Identity", facts, text, plain=True)


def _room(ws: Workspace, name: str, words: str, opens: bool = True) -> Text:
    about = _ABOUT.get(name)
    lines: Lines = [[("dim", about)], []] if about else []
    lines += _SAYS.get(name, _by_widget)(ws, name)
    if opens:
        lines += [[], [("dim", "Enter opens it.")]]
    return Text(words, [], "", lines=lines)


def _by_widget(ws: Workspace, name: str) -> Lines:
    """What the tile of this name says, if there is one."""
    from mait_code.commands import dashboard_tiles, home
    from mait_code.tui import list_reading

    now = list_reading.moment()
    return dashboard_tiles.asked(ws, [name], home.summary(ws, now), now).get(name, [])


def _review(ws: Workspace, _name: str) -> Lines:
    from mait_code.commands import memory_review

    due, count = memory_review.due(ws, _FEW)
    if not due:
        return [[("success", "Nothing is due.")]]
    told: Lines = [[("warning", f"{one.recall:4.0%}  "), ("", one.memory.first_line)] for one in due]
    return told + ([[("dim", f"and {count - len(due)} more")]] if count > len(due) else [])


def _conflicts(ws: Workspace, _name: str) -> Lines:
    from mait_code.commands import conflicts
    from mait_code.commands.lookup import field_words

    every = conflicts.listed(ws)
    if not every:
        return [[("success", "No conflict is open.")]]
    told: Lines = [
        [("warning", f"{field_words(one.register)}  "), ("", one.title), ("dim", f"  {one.short}")]
        for one in every[:_FEW]
    ]
    return told + ([[("dim", f"and {len(every) - _FEW} more")]] if len(every) > _FEW else [])


_SAYS = {"review": _review, "conflicts": _conflicts}
