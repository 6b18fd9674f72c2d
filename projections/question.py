"""A question as the full-text index is asked it: any text is a valid one, and none is ever a syntax error."""

from __future__ import annotations

import re

from mait_code.projections.pieces import grams, unspaced

_STOP = """
a about after all also am an and any are as at be because been before being but by can could did do does doing
for from had has have having he her here hers him his how i if in into is it its just me more most my no not
now of on once only or other our out over own same she should so some such than that the their them then there
these they this those through to too under until up very was we were what when where which while who whom
whose why will with would you your yours s t d ll m re ve don
"""
#: Words that nearly every text holds. A question of nothing else keeps them.
STOP_WORDS = frozenset(_STOP.split())
#: A question's words beyond these are left out, the shortest first: one of ten thousand characters is a text, not a question.
MOST_WORDS = 64

_WORD = re.compile(r"\w+")


class Question:
    """The words of a question. `names` are those that begin with a capital, as names do, in lower case."""

    __slots__ = ("grams", "names", "words")

    def __init__(self, text: str) -> None:
        runs = unspaced(text)
        plain = text
        for run in sorted(set(runs), key=len, reverse=True):
            plain = plain.replace(run, " ")
        found = [word for word in _WORD.findall(plain.replace("\0", " ")) if len(word) <= 100]
        words = list(dict.fromkeys(word.lower() for word in found))
        self.words = _few([word for word in words if word not in STOP_WORDS] or words)
        self.grams = _few(list(dict.fromkeys(gram for run in runs for gram in _told(run))))
        self.names = {word.lower() for word in found if word[:1].isupper() and word.lower() not in STOP_WORDS}

    def match(self) -> str:
        """The question for FTS5: any of its words. Empty where it has none."""
        return " OR ".join(_quoted(word) for word in (*self.words, *self.grams))

    def loose(self, words: list[str]) -> str:
        """The same for words that stand nowhere as they are: as beginnings, and as the last part of long words."""
        return " OR ".join(f"{_quoted(word)} *" for word in words if len(word) >= 4)


def _told(run: str) -> list[str]:
    """Pairs say more than single characters, which are asked for only where there is no pair."""
    return grams(run)[len(run) :] or [run]


def _few(words: list[str]) -> list[str]:
    if len(words) <= MOST_WORDS:
        return words
    kept = set(sorted(words, key=lambda word: (-len(word), word))[:MOST_WORDS])
    return [word for word in words if word in kept]


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
