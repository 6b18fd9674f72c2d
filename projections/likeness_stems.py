"""Inflection: "uses" and "use" are one word, "tested" and "untested" are not.

Only endings that leave the meaning alone are taken off: the s of a plural or of the third person, and -ing of verbs known
by name. Derivations ("organ", "organization"), prefixes and tenses ("used") stay as they are, for a stemmer made for
searching joins words that only look related.
"""

from __future__ import annotations

from mait_code.projections.likeness_words import (
    FUNCTION_WORDS,
    IRREGULAR,
    KEEP_S,
    NO_GERUND,
    NUMBER_WORDS,
    VERBS,
)

__all__ = ["is_third_person", "stem"]

_NOT_MADE = FUNCTION_WORDS | NUMBER_WORDS
_TAKE_ES = ("sses", "xes", "shes", "ches", "zzes", "oes")


def stem(word: str) -> str:
    """The base of an English word in small letters, or the word itself where no ending is sure."""
    irregular = IRREGULAR.get(word)
    if irregular is not None:
        return irregular
    if len(word) < 4:
        return word
    if word.endswith("s"):
        return _without_s(word)
    if word.endswith("ing"):
        return _without_ing(word)
    return word


def is_third_person(word: str) -> bool:
    """Whether a word can be a verb with its s: "calls", "runs"."""
    return word.endswith("s") and stem(word) in VERBS and stem(word) != word


def _without_s(word: str) -> str:
    if word.endswith(("ss", "us", "is")) or word in KEEP_S:
        return word
    if word.endswith("ies") and len(word) > 4:
        base = word[:-3] + "y"
    elif word.endswith(_TAKE_ES):
        base = word[:-2]
    else:
        base = word[:-1]
    return word if base in _NOT_MADE else base


def _without_ing(word: str) -> str:
    if word in NO_GERUND:
        return word
    base = word[:-3]
    if base in VERBS:
        return base
    if base + "e" in VERBS:
        return base + "e"
    if len(base) > 2 and base[-1] == base[-2] and base[:-1] in VERBS:
        return base[:-1]
    return word
