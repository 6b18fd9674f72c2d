"""The vocabulary of the time language, and a place in a phrase to read it from.

A phrase is read word by word and never by one large pattern, so that reading is linear in its length.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["MONTHS", "NUMBERS", "ORDINALS", "UNITS", "WEEKDAYS", "Words", "nth_number", "quoted", "split"]

# Longer than any time that can be meant; the phrase is refused unread, which bounds what any of this can cost.
MOST_CHARACTERS = 200

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
# Keys are the words as written, values what they count as: Monday 0, January 1.
WEEKDAYS = {name: day for day, full in enumerate(_DAYS) for name in (full, full[:3])} | {
    "tues": 1, "weds": 2, "thur": 3, "thurs": 3,
}  # fmt: skip
WEEKDAYS_PLURAL = {f"{name}s": day for name, day in WEEKDAYS.items() if not name.endswith("s")}
MONTHS = {name: number for number, full in enumerate(_MONTHS, 1) for name in (full, full[:3])} | {"sept": 9}

_UNIT_WORDS = {
    "second": "s sec secs second seconds", "minute": "m min mins minute minutes", "hour": "h hr hrs hour hours",
    "day": "d day days", "week": "w wk wks week weeks", "month": "mo mos month months", "year": "y yr yrs year years",
    "fortnight": "fortnight fortnights", "quarter": "quarter quarters",
}  # fmt: skip
UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}

_COUNTING = "one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(_COUNTING.split(), 1)} | {
    "a": 1, "an": 1, "couple": 2, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "ninety": 90,
}  # fmt: skip
_SMALL = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = (
    {word: number for number, word in enumerate(_SMALL.split(), 1)}
    | {f"twenty-{word}": 20 + number for number, word in enumerate(_SMALL.split()[:9], 1)}
    | {"thirtieth": 30, "thirty-first": 31, "last": -1}
)

_NTH = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
_TOGETHER = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})t([0-9].*)")
_REPLACED = {"a.m": "am", "p.m": "pm", "tmr": "tomorrow", "tmrw": "tomorrow", "tomorow": "tomorrow", "2day": "today"}
_IGNORED = frozenset({"", "o'clock", "oclock"})
_AT_EDGES = ",;:!?.()[]\"'`\u2019\u201c\u201d"


class Words:
    """A phrase, and how far it has been read."""

    __slots__ = ("at", "words")

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        """The next word, or the one so many further on; "" past the end."""
        place = self.at + ahead
        return self.words[place] if place < len(self.words) else ""

    def take(self, *phrases: str) -> bool:
        """Passes over the first of `phrases` that stands here, whole; whether one did."""
        for phrase in phrases:
            wanted = phrase.split()
            if self.words[self.at : self.at + len(wanted)] == wanted:
                self.at += len(wanted)
                return True
        return False

    def take_from(self, table: dict[str, int]) -> int | None:
        """What the next word counts as in `table`, passed over; None and nothing passed over where it is not there."""
        found = table.get(self.peek())
        if found is not None:
            self.at += 1
        return found

    def __bool__(self) -> bool:
        return self.at < len(self.words)


def split(text: str) -> list[str]:
    """Lower-case words without the punctuation around them; "24.12." keeps its inner point."""
    words: list[str] = []
    for raw in unicodedata.normalize("NFKC", text).lower().replace(",", " ").split():
        word = raw.strip(_AT_EDGES)
        word = _REPLACED.get(word, word)
        together = _TOGETHER.fullmatch(word)
        days = word.split("/")
        if len(days) > 1 and all(day in WEEKDAYS for day in days):
            words.extend(days)
        elif together:
            words.extend(together.groups())
        elif word not in _IGNORED:
            words.append(word)
    return words


def nth_number(words: Words, ahead: int = 0) -> int | None:
    """The number of an ordinal word ("15th", "first", "last" is -1), not passed over; None where it is none."""
    word = words.peek(ahead)
    found = _NTH.fullmatch(word)
    return int(found.group(1)) if found else ORDINALS.get(word)


def quoted(text: str) -> str:
    """The user's phrase for a message: on one line, printable, short."""
    printable = "".join(c if c.isprintable() else " " for c in text[:400])
    short = " ".join(printable.split())
    return f"'{short}'" if len(short) <= 60 else f"'{short[:57]}...'"
