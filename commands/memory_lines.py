"""Memories and questions by the line, on stdin."""

from __future__ import annotations

import sys

import orjson

from mait_code.commands import memory, memory_times, stored_text
from mait_code.commands.memory_scope import here, refuse_contradiction
from mait_code.journal.errors import BadInput
from mait_code.projections.store import without_collector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from mait_code.commands.memory_scope import Place
    from mait_code.commands.workspace import Workspace


def refuse_words(words: Sequence[str]) -> None:
    """Raise BadInput where words are given besides --stdin."""
    if words:
        raise BadInput("--stdin reads from stdin, and words were given besides", "leave one of them out")


def require_words(words: Sequence[str]) -> None:
    """Raise BadInput where there is nothing to look for."""
    if not " ".join(words).strip():
        raise BadInput("there is nothing to look for", "write the question after the command")


def from_stdin() -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of each line on stdin that is not blank. Raises BadInput naming the line."""
    for number, line in enumerate(_lines(), 1):
        if not line.strip():
            continue
        try:
            raw = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"line {number} is not JSON: {error}", "nothing was stored") from error
        if type(raw) is not dict:
            raise BadInput(f"line {number} is no object", 'write {"content": "..."}; nothing was stored')
        yield number, raw


def _lines() -> list[bytes]:
    content = sys.stdin.buffer.read().removeprefix(b"\xef\xbb\xbf")
    lines = content.split(b"\n")
    return [line.removesuffix(b"\r") for line in (lines[:-1] if lines[-1] == b"" else lines)]


def store(
    ws: Workspace,
    lines: Iterator[tuple[int, dict[str, Any]]],
    type_: str,
    importance: int | None,
    place: Place,
    tags: Sequence[str],
    tell: Callable[[str], None],
) -> tuple[int, int]:
    """Store them all in one action, or none. What a line does not say is as the options say."""
    drafts = []
    with without_collector():
        for number, raw in lines:
            try:
                made, notes = _draft(raw, type_, importance, place, tags)
            except BadInput as error:
                raise BadInput(f"line {number}: {error.message}", error.hint or "nothing was stored") from error
            drafts.append(made)
            for note in notes:
                tell(f"line {number}: {note}")
        return memory.store_all(ws, drafts)


_TEXTS = ("type", "scope", "project", "branch", "session", "at", "ref")


def _draft(
    raw: dict[str, Any], type_: str, importance: int | None, place: Place, tags: Sequence[str]
) -> tuple[memory.Draft, list[str]]:
    content = raw.get("content")
    if type(content) is not str:
        raise BadInput("content is missing, or no text")
    for name in _TEXTS:
        if raw.get(name) is not None and type(raw[name]) is not str:
            raise BadInput(f"{name} is no text")
    given = raw.get("tags") or []
    if type(given) is not list or not all(type(tag) is str for tag in given):
        raise BadInput("tags is no list of texts")
    tags = [*tags, *(stored_text.name(tag, "a tag") for tag in given)]
    scope = memory.scope_named(raw["scope"]) if raw.get("scope") else ""
    refuse_contradiction(scope or None, raw.get("project") or None, raw.get("branch") or None)
    if scope or raw.get("project") or raw.get("branch"):
        place = here(scope, raw.get("project") or place.project, raw.get("branch") or place.branch)
    if raw.get("importance") is not None:
        importance = memory.importance_of(raw["importance"])
    wall, dated = memory_times.past(raw["at"]) if raw.get("at") else (None, [])
    made, notes = memory.draft(
        content,
        raw.get("type") or type_,
        importance,
        place,
        wall,
        tags=tags,
        session=(raw.get("session") or "")[:200],
        ref=raw.get("ref"),
    )
    return made, [*dated, *notes]
