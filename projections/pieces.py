"""The pieces of words: what a reader sees in a text and a tokenizer that goes by spaces does not.

Chinese, Japanese and Thai put no spaces between words: their runs are cut into single characters and pairs, and a
question's words are found by theirs. German and its neighbours write words together: of a long word its endings are
kept, so that the last word in it is found by its beginning. Programmers write wordsLikeThis.
"""

from __future__ import annotations

import re

#: Scripts without spaces: Thai, Lao, Myanmar, Khmer, kana, CJK with its extensions. Hangul has spaces, but particles stick.
_RUN = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED = f"[{_RUN}]+"
#: The first character of these scripts; all with accents, Greek, Cyrillic, Hebrew and Arabic come before.
_FIRST = "\u0e00"
#: One character on each side: with repetitions it would be quadratic on long runs.
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_WORD = re.compile(r"[^\W\d_]{5,}")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
#: A word this long may be several; its endings from this length on are kept.
LONG, ENDING = 11, 5
#: Longer runs and words are no words; what they would come to grows with their length.
LONGEST = 64


def pieces(text: str) -> str:
    """The pieces of a text, separated by spaces; empty for most English prose."""
    found: list[str] = []
    for run in unspaced(text):
        found += grams(run)
    # Most texts have no word this long, and looking at each of their words takes longer than to see that.
    long = max(map(len, text.split()), default=0) >= LONG
    for word in _WORD.findall(text) if long else ():
        if len(word) >= LONG and len(word) <= LONGEST and (max(word) < _FIRST or not re.match(_UNSPACED, word)):
            lowered = word.lower()
            found += [lowered[start:] for start in range(3, len(lowered) - ENDING + 1)]
    if not text.islower() and _CAMEL.search(text):
        for word in re.findall(r"[A-Za-z0-9]+", text):
            if len(word) <= LONGEST and _CAMEL.search(word):
                parts = [part.lower() for part in _PART.findall(word)]
                found += parts if len(parts) > 1 else []
    return " ".join(found)


def grams(run: str) -> list[str]:
    """The characters of an unspaced run and their pairs."""
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]


def unspaced(text: str) -> list[str]:
    """The runs of a text that have no spaces between their words."""
    # The pattern takes milliseconds to compile, so `re` does it, and keeps it, for whoever has such a text.
    return [] if text.isascii() or max(text) < _FIRST else re.findall(_UNSPACED, text)
