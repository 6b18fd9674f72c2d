"""The conversation of a transcript, as a model may read it: what was asked and answered, what was done and what came of it.

Private parts are left out and secrets masked here, before anything is cut: half a secret is not recognised as one. Lines of
a session that this one was forked from are that session's.
"""

from __future__ import annotations

import re

from mait_code.commands.capture import evidence, lines, turns
from mait_code.journal.secrets import harmless, public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mait_code.commands.capture.lines import Line

__all__ = ["Piece", "read"]

#: Characters of a request or an answer; of more the beginning and the end are kept.
_LONGEST = 400_000
#: Characters that are cleaned of what is shown shortly, and that are shown of a call, its result, and a subagent's.
_CLEANED, _CALL, _RESULT, _REPORT = 16 * 1024, 500, 400, 4000
_AGENTS = ("Task", "Agent")
#: What the client adds to what a person wrote.
_ADDED = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
#: Inputs of a tool that are shown.
_TOLD = ("command", "description", "prompt", "query", "pattern", "url", "new_string", "content", "new_source")


class Piece:
    """What one line of a transcript adds. `begins` where it is a request, so that a turn begins.

    `start` and `end` are places in the file, `at` microseconds since 1970.
    """

    __slots__ = (
        "at", "begins", "branch", "directory", "end", "modified", "read", "start", "text", "uuid", "who",
    )  # fmt: skip

    def __init__(self, line: Line, who: str, text: str, begins: bool = False) -> None:
        record = line.record
        self.start, self.end = line.start, line.end
        self.uuid = lines.text(record.get("uuid"))
        self.directory = lines.text(record.get("cwd"))
        self.branch = lines.text(record.get("gitBranch"))
        self.at = turns.moment(record)
        self.who = who
        self.text = text
        self.begins = begins
        #: Files that were read and changed without failing.
        self.read: list[str] = []
        self.modified: list[str] = []


def read(path: str, start: int = 0, is_ours: Callable[[str], bool] = lambda _uuid: True) -> Iterator[Piece]:
    """The pieces from a place on. `is_ours` says of the uuid of a request whether its turn is this session's.

    Raises OSError.
    """
    calls: dict[str, turns.Call] = {}
    ours = True
    for line in lines.read(path, start):
        record = line.record
        if record.get("type") not in ("user", "assistant") or record.get("isSidechain") or not record.get("uuid"):
            continue
        request = turns.prompt_of(record)
        if request is not None:
            ours = is_ours(lines.text(record.get("uuid")))
            calls.clear()
        if ours:
            yield from _pieces(line, request, calls)


def _pieces(line: Line, request: str | None, calls: dict[str, turns.Call]) -> Iterator[Piece]:
    record = line.record
    if request is not None:
        text = _whole(_ADDED.sub("", request))
        # All of it private: the turn is a turn all the same.
        yield Piece(line, "user", text or "[private]", begins=True)
        return
    blocks = lines.blocks_of(record)
    if record.get("type") == "assistant":
        said = [_said(block, calls) for block in blocks]
        text = "\n".join(one for one in said if one)
        if text:
            yield Piece(line, "assistant", text)
        return
    results = [block for block in blocks if block.get("type") == "tool_result"]
    if results and not record.get("isMeta"):
        piece = Piece(line, "result", "")
        piece.text = "\n".join(one for one in [_result(block, calls, piece) for block in results] if one)
        if piece.text or piece.read or piece.modified:
            yield piece


def _said(block: dict[str, Any], calls: dict[str, turns.Call]) -> str:
    """What an assistant's block says; what it thought to itself is left out."""
    if block.get("type") == "text":
        return _whole(lines.text(block.get("text")))
    if block.get("type") != "tool_use":
        return ""
    given = block.get("input")
    given = given if type(given) is dict else {}
    call = turns.Call(block)
    if len(calls) < turns.MOST_OPEN:
        calls[lines.text(block.get("id"))] = call
    told = [_short(call.path, 200)] if call.path else []
    told += [_short(lines.text(given[key]), _CALL) for key in _TOLD if type(given.get(key)) is str]
    if not told and given:
        told = [_short(_json(given), _CALL)]
    return f"[{call.name}] {' | '.join(one for one in told if one)}".rstrip()


def _json(given: dict[str, Any]) -> str:
    import json

    return lines.text(json.dumps(given, ensure_ascii=False)[:_CLEANED])


def _result(block: dict[str, Any], calls: dict[str, turns.Call], piece: Piece) -> str:
    call = calls.pop(lines.text(block.get("tool_use_id")), None) or turns.Call({})
    failed = bool(block.get("is_error"))
    if call.path and not failed:
        (piece.modified if call.changes else piece.read).append(call.path)
        return ""  # what is in a file, and that it was written
    said = _short(lines.texts_of(block.get("content")), _REPORT if call.name in _AGENTS else _RESULT)
    return f"[{'failed' if failed else 'result'}] {said}" if said or failed else ""


def _whole(text: str) -> str:
    """A text without what is private and with its secrets masked."""
    text = harmless(text).strip()
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half].rstrip()}\n[{len(text) - _LONGEST} characters are left out]\n{text[-half:].lstrip()}"


def _short(text: str, length: int) -> str:
    """The beginning and, of long ones, the end of a text, cleaned first."""
    if len(text) > 2 * _CLEANED:
        # What is private may begin far from where it ends; a secret does not.
        text = public(text)
    if len(text) <= 2 * _CLEANED:
        head = tail = harmless(text).strip()
    else:
        head, tail = harmless(text[:_CLEANED]).strip(), harmless(text[-_CLEANED:]).strip()
    if head is tail and len(head) <= length:
        return head
    return f"{evidence.cut(head, length // 2)}\n{tail[-(length // 2) :].lstrip()}"
