"""Private text: what stands in `<private>...</private>`.

When in doubt it is private: an opening tag without its end hides everything after it, a closing tag without its
beginning everything before it. Tags may be of any case, have attributes and white space, and be written as JSON, HTML
or URLs do.
"""

from __future__ import annotations

import re

from mait_code.journal.secret_lazy import Lazy

# The less-than and greater-than sign, the slash: plain, as HTML entities, as JSON escapes, percent-encoded, full-width.
_LT = r"(?:[<＜﹤]|&(?:amp;){0,3}(?:lt|\#0{0,6}60|\#x0{0,6}3c);?|\\{1,4}(?:u003c|x3c)|%(?:25){0,2}3c)"
_GT = r"(?:[>＞﹥]|&(?:amp;){0,3}(?:gt|\#0{0,6}62|\#x0{0,6}3e);?|\\{1,4}(?:u003e|x3e)|%(?:25){0,2}3e)"
_SLASH = r"(?:\\{0,4}[/／]|&(?:amp;){0,3}(?:sol|\#0{0,6}47|\#x0{0,6}2f);?|\\{1,4}(?:u002f|x2f)|%(?:25){0,2}2f)"
_SPACE = r"(?:\s|\\{1,4}[nrt]|&nbsp;|%(?:25){0,2}(?:20|0a|09)|\+){0,20}"

#: An opening tag needs no end to open: what follows is dropped either way. `<private-key>` is another tag.
_TAG = Lazy(
    rf"{_LT}{_SPACE}(?P<close>{_SLASH}{_SPACE}){{0,3}}private(?![\w-])(?P<rest>[^<>＜＞]{{0,200}}?{_GT})?",
    re.IGNORECASE,
)


def spans(text: str) -> list[tuple[int, int]]:
    """Where private text stands in `text`, tags included, in order and apart from each other."""
    found: list[tuple[int, int]] = []
    depth = start = 0
    stray = False
    for tag in _TAG().finditer(text):
        if tag["close"] is None:
            if depth == 0:
                start = tag.start()
            depth += 1
        elif depth == 0:
            # Its beginning was cut off or misspelt, so whatever stands before it may be what it closes.
            found, stray = [(0, tag.end())], True
        elif tag["rest"] is not None:  # a closing tag that is itself unfinished closes nothing
            depth -= 1
            if depth == 0:
                found.append((start, tag.end()))
    if depth:
        # Where a closing tag came too early as well, the two may have been swapped.
        found = [(0, len(text))] if stray else [*found, (start, len(text))]
    return found
