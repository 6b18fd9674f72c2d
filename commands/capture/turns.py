"""Turns: what was asked, what was done with which files and commands, what failed, what came of it.

A turn begins with a prompt a person gave (or with the task of a subagent) and ends before the next one. All of it is read
from the transcript; nothing is asked of a model.
"""

from __future__ import annotations

import re

from mait_code.commands.capture import lines
from mait_code.journal import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mait_code.commands.capture.lines import Line, Record

#: What the client writes as a user's message though nobody typed it.
_NOT_TYPED = (
    "<task-notification>",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "[Request interrupted",
    "Caveat: ",
)
_COMMAND = re.compile(r"<command-name>\s*(/?[^<]{1,200}?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
#: How the result of a command that failed begins.
EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,5})")
#: Inputs of tools that name a file, and the tools that change it.
_PATHS = ("file_path", "notebook_path")
_CHANGES = frozenset(("Write", "Edit", "MultiEdit", "NotebookEdit"))
_SHELLS = frozenset(("Bash", "PowerShell"))
#: Old clients ask each subagent this before anybody asked anything.
_WARM_UP = "Warmup"
#: Calls that are open at once.
MOST_OPEN = 200
#: So much is kept while a turn is read; what is recorded of it is less.
_MOST = 200
_LONGEST_TEXT, _LONGEST_ERROR, _LONGEST_NAME = 64 * 1024, 4096, 200


class Turn:
    """One turn as evidence shows it. Times are microseconds since 1970; `start` is where its first line begins."""

    __slots__ = (
        "agent", "answer", "at", "branch", "commands", "directory", "failures", "last", "modified", "read", "request",
        "session", "start", "tokens", "typed", "uuid",
    )  # fmt: skip

    def __init__(self, line: Line, request: str, typed: bool) -> None:
        record = line.record
        self.start = line.start
        self.uuid = lines.text(record.get("uuid"))
        self.session = lines.text(record.get("sessionId"))
        self.directory = lines.text(record.get("cwd"))
        self.branch = lines.text(record.get("gitBranch"))
        self.agent = lines.text(record.get("agentId"))
        self.request = request[:_LONGEST_TEXT]
        #: Whether it is words of a person, and no command of the client's.
        self.typed = typed
        self.at = self.last = moment(record)
        self.answer = ""
        self.read: dict[str, None] = {}
        self.modified: dict[str, None] = {}
        #: Command lines with their exit status; None where none is known.
        self.commands: list[tuple[str, int | None]] = []
        #: What failed, and what was said of it.
        self.failures: list[tuple[str, str]] = []
        #: Usage by message: several lines carry the same.
        self.tokens: dict[str, dict[str, int]] = {}

    @property
    def is_nothing(self) -> bool:
        """A command of the client's that no model saw, or a warm-up nobody asked for."""
        return not self.tokens and not self.answer and not self.typed

    @property
    def duration(self) -> int:
        """Milliseconds from the request to the last line."""
        return max(0, (self.last - self.at) // 1000)


def moment(record: Record) -> int:
    """The time of a record in microseconds since 1970; 0 where it has none."""
    try:
        return clock.micros(lines.text(record.get("timestamp")))
    except (ValueError, TypeError, OverflowError):
        return 0


def read(found: Iterable[Line], agent: str = "") -> Iterator[Turn]:
    """The turns of a transcript, or of what is new in one that begins with a prompt. `agent` names the subagent whose
    transcript it is."""
    turn: Turn | None = None
    pending: dict[str, Call] = {}
    for line in found:
        record = line.record
        request = prompt_of(record, in_agent=bool(agent))
        if request is not None:
            if turn is not None and not turn.is_nothing:
                yield turn
            turn = Turn(line, request, typed=not request.startswith("/"))
            turn.agent = agent
            pending.clear()
        elif turn is not None:
            _add(turn, record, pending)
    if turn is not None and not turn.is_nothing:
        yield turn


def prompt_of(record: Record, in_agent: bool = False) -> str | None:
    """What a record asks, where it is a request of a person's (or the task of a subagent)."""
    if record.get("type") != "user" or record.get("isMeta") or record.get("isCompactSummary"):
        return None
    if bool(record.get("isSidechain")) != in_agent or not record.get("uuid"):
        return None
    if record.get("turnOrigin") == "task_notification" or record.get("promptSource") == "system":
        return None
    blocks = lines.blocks_of(record)
    if any(one.get("type") == "tool_result" for one in blocks):
        return None
    asked = lines.texts_of(blocks).strip()
    if not asked or (in_agent and asked == _WARM_UP):
        return None
    named = _COMMAND.search(asked) if asked.startswith("<command-") else None
    if named:
        given = _ARGUMENTS.search(asked)
        return f"/{named[1].lstrip('/')} {given[1] if given else ''}".strip()
    return None if asked.startswith(_NOT_TYPED) else asked


def _add(turn: Turn, record: Record, pending: dict[str, Call]) -> None:
    if bool(record.get("isSidechain")) != bool(turn.agent):
        return  # of a subagent, which older clients wrote into the same file
    blocks = lines.blocks_of(record)
    if record.get("type") == "assistant":
        turn.last = max(turn.last, moment(record))
        said = lines.texts_of(blocks).strip()
        if said:
            turn.answer = said[:_LONGEST_TEXT]
        if blocks:
            _count(turn, record["message"])
        for block in blocks:
            if block.get("type") == "tool_use" and len(pending) < MOST_OPEN:
                pending[lines.text(block.get("id"))] = Call(block)
    elif record.get("type") == "user":
        if lines.texts_of(blocks).startswith("[Request interrupted"):
            turn.failures.append(("interrupted", ""))
        for block in blocks:
            call = (
                pending.pop(lines.text(block.get("tool_use_id")), None) if block.get("type") == "tool_result" else None
            )
            if call is not None:
                _note(turn, call, block)


def _count(turn: Turn, message: dict[str, Any]) -> None:
    usage, id_ = message.get("usage"), lines.text(message.get("id"))
    if type(usage) is dict and id_ and len(turn.tokens) < 10 * _MOST:
        turn.tokens[id_] = {
            name: count for name, key in _USAGE.items() if type(count := usage.get(key)) is int and 0 < count < 2**53
        }


_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class Call:
    """What is kept of a tool's call until its result is there: never the text of a file."""

    __slots__ = ("command", "name", "path")

    def __init__(self, block: dict[str, Any]) -> None:
        given = block.get("input")
        given = given if type(given) is dict else {}
        self.name = lines.text(block.get("name"))[:_LONGEST_NAME]
        self.path = next((lines.text(given[key]) for key in _PATHS if given.get(key)), "")[:_LONGEST_TEXT]
        self.command = lines.text(given.get("command"))[:_LONGEST_TEXT] if self.name in _SHELLS else ""

    @property
    def changes(self) -> bool:
        """Whether the tool changes the file it is told of."""
        return self.name in _CHANGES


def _note(turn: Turn, call: Call, result: dict[str, Any]) -> None:
    """Note how a tool's call ended."""
    failed = bool(result.get("is_error"))
    said = lines.texts_of(result.get("content")).strip()
    if call.path and not failed:
        files = turn.modified if call.changes else turn.read
        if len(files) < _MOST:
            files[call.path] = None
    if call.command and len(turn.commands) < _MOST:
        status = EXIT.match(said) if failed else None
        turn.commands.append((call.command, int(status[1]) if status else None if failed else 0))
    if failed and len(turn.failures) < _MOST:
        turn.failures.append((call.command or call.path or call.name, said[:_LONGEST_ERROR]))
