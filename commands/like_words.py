"""Words that people look for, as SQL's LIKE takes them."""

from __future__ import annotations

__all__ = ["patterns"]


def patterns(word: str) -> list[str]:
    """Patterns (with ESCAPE '\\') of which one fits a text that has the word in it, in whatever case.

    LIKE knows the case of ASCII letters alone, so other words are asked for in each of the ways that they are written.
    """
    forms = [word] if word.isascii() else dict.fromkeys((word, word.lower(), word.upper(), word.capitalize()))
    return [
        f"%{form.replace(_ESCAPE, _ESCAPE * 2).replace('%', _ESCAPE + '%').replace('_', _ESCAPE + '_')}%"
        for form in forms
    ]


_ESCAPE = "\\"
