"""Text on its way into the log: what is private is left out, what cannot be stored replaced, what is too long cut.

Every change is told: the notes that come back are for stderr. Text is otherwise stored as it was given; secrets are
masked later, where events are appended.
"""

from __future__ import annotations

import re

import orjson

from mait_code.journal.errors import BadInput
from mait_code.journal.event import LONGEST_LINE
from mait_code.journal.secrets import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["LONGEST_NAME", "fitted", "name", "one_line", "required"]

#: What one line leaves for texts: its other fields and the ids in `sees` take the rest.
ROOM = LONGEST_LINE - 16 * 1024
#: Characters of a tag, a project, a priority.
LONGEST_NAME = 200

_LONGEST_WORD = 4096
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
#: `re` compiles it for whoever has such a text, or one of several lines; neither stands in a text that is printable.
_UNSTORABLE = "[\0\ud800-\udfff]"


def fitted(texts: Mapping[str, str | None]) -> tuple[dict[str, Any], list[str]]:
    """The texts of one event, ready to be stored, and what was changed about them, in words.

    Private text is left out; a text that was all private comes back as None, as if it had not been given. NUL characters
    and halves of surrogate pairs become replacement characters; line ends become newlines. Where all of them together
    would not fit into one line of the log, the longest are cut. The keys are what the notes call them.
    """
    notes: list[str] = []
    ready: dict[str, Any] = {}
    for key, text in texts.items():
        kept = None if text is None else _public(key, text, notes)
        ready[key] = None if kept is None else _storable(key, kept, notes)
    share = _share({key: _size(text) for key, text in ready.items() if text})
    for key, text in ready.items():
        if text and _size(text) > share:
            ready[key] = kept = _longest_beginning(text, share)
            notes.append(
                f"the {key} is too long for one line of the log:"
                f" its first {len(kept):,} of {len(text):,} characters were kept"
            )
    return ready, notes


def _share(sizes: dict[str, int]) -> int:
    """Bytes that each text may take at most so that all fit: short ones leave their rest to the long ones."""
    left = ROOM
    for done, size in enumerate(sorted(sizes.values())):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return ROOM


def required(text: str, what: str, hint: str = "") -> str:
    """The text without blank space around it. Raises BadInput where nothing is left, or nothing but private text."""
    stripped = text.strip()
    if not stripped.strip("\0"):
        raise BadInput(f"{what} is empty", hint or "write it after the command")
    if not public(stripped):
        raise BadInput(f"{what} is all private: nothing is left to store", "write what may be kept outside the tags")
    return stripped


def one_line(text: str) -> str:
    """A title: line breaks become spaces."""
    return " ".join(text.splitlines()).strip()


def name(text: str, what: str) -> str:
    """A tag, a project or the like: one line of at most 200 characters. Raises BadInput where it is not."""
    stripped = required(one_line(text), what)
    if len(stripped) > LONGEST_NAME:
        raise BadInput(f"{what} is longer than {LONGEST_NAME} characters", "choose a shorter one")
    return re.sub(_UNSTORABLE, _REPLACEMENT, stripped)


def _public(key: str, text: str, notes: list[str]) -> str | None:
    kept = public(text)
    if kept is text:
        return text
    notes.append(f"private text was left out of the {key}" if kept else f"the {key} was all private and is not stored")
    return kept or None


def _storable(key: str, text: str, notes: list[str]) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    text, replaced = re.subn(_UNSTORABLE, _REPLACEMENT, text)
    if replaced:
        what = "a character" if replaced == 1 else f"{replaced} characters"
        notes.append(f"the {key} held {what} that cannot be stored, replaced by {_REPLACEMENT}")
    return text


def _size(text: str) -> int:
    return len(orjson.dumps(text))


def _longest_beginning(text: str, room: int) -> str:
    """The longest beginning of `text` that takes at most `room` bytes in the log."""
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    if low == len(text) or text[low].isspace():
        return text[:low]
    # Half a secret would not be known for one, so words stay whole; but what goes on for long is no word.
    words = text[max(0, low - _LONGEST_WORD) : low]
    blank = max(words.rfind(" "), words.rfind("\n"))
    return text[: low - len(words) + blank] if blank > 0 else text[:low]
