"""Texts and names of other tools, as events can hold them."""

from __future__ import annotations

from mait_code.commands import stored_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["fit", "name", "names"]


def fit(texts: Mapping[str, str | list[str] | None]) -> tuple[dict[str, Any], list[str]]:
    """The texts and lists of texts of one event so that they fit into a line together, and what was changed, in words.

    What is empty, or was all private, is left out.
    """
    flat: dict[str, str | None] = {}
    for key, value in texts.items():
        if isinstance(value, list):
            flat |= {f"{key} {number}": one for number, one in enumerate(value, 1)}
        else:
            flat[key] = value
    kept, notes = stored_text.fitted(flat)
    fitted: dict[str, Any] = {}
    for key, value in texts.items():
        if isinstance(value, list):
            found = [kept[f"{key} {number}"] for number in range(1, len(value) + 1)]
            fitted[key] = [one for one in found if one]
        else:
            fitted[key] = kept[key]
    return {key: value for key, value in fitted.items() if value}, notes


def name(text: str | None, end: bool = False) -> str | None:
    """A name of at most 200 characters on one line; None where nothing is left. With `end` its end is kept, which tells
    paths apart."""
    if text is None:
        return None
    line = stored_text.fitted({"name": stored_text.one_line(text)})[0]["name"] or ""
    cut = line[-stored_text.LONGEST_NAME :] if end else line[: stored_text.LONGEST_NAME]
    return cut.strip() or None


def names(texts: Iterable[str]) -> list[str]:
    """Names, each once."""
    return list(dict.fromkeys(kept for kept in map(name, texts) if kept))
