"""Hooks: what Claude Code waits for, on a home with 10,000 memories and sessions behind it.

Each hook runs as the client runs it, with its input on stdin, against an interpreter that imports `orjson` and `apsw` and does
nothing. What a hook leaves to a process of its own is not counted: nobody waits for it.
"""

from __future__ import annotations

import os
import uuid

import measure
import orjson
from measure import Row, say, spawn
from remembering import Memories
from startup import HOOK_FLOOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from environment import Environment

MEMORIES, SESSIONS, CARDS = 10_000, 30, 40
RECORDS, TELLS = 1.5, 2.0
#: The plain calls of a turn, as the client names them.
_TOOLS = (
    ("Read", {"file_path": "{cwd}/src/cart.py"}, "x = 1\n" * 40, False),
    ("Edit", {"file_path": "{cwd}/src/cart.py", "old_string": "x = 1", "new_string": "x = 2"}, "done", False),
    ("Bash", {"command": "pytest -q"}, "Exit code 1\n1 failed", True),
    ("Bash", {"command": "pytest -q"}, "1 passed", False),
)


class _Session:
    """A transcript that grows by a turn at a time, and the hooks' input for it."""

    def __init__(self, home: str, number: int) -> None:
        self.id = str(uuid.UUID(int=number + 1))
        self.directory = os.path.join(home, "project")
        self.path = os.path.join(home, ".claude/projects/project", f"{self.id}.jsonl")
        self.given = os.path.join(home, f"given-{number}.json")
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        os.makedirs(self.directory, exist_ok=True)
        self._lines = 0

    def turn(self, request: str) -> None:
        """Add a whole turn: a request, four calls with their results, an answer."""
        lines = [self._line("user", {"role": "user", "content": request})]
        for name, given, result, error in _TOOLS:
            call = f"toolu_{self._lines}"
            filled = {key: value.format(cwd=self.directory) for key, value in given.items()}
            lines.append(self._said({"type": "tool_use", "id": call, "name": name, "input": filled}))
            block = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": error}
            lines.append(self._line("user", {"role": "user", "content": [block]}))
        lines.append(self._said({"type": "text", "text": f"Done: {request}. " + "It went as it should. " * 20}))
        with open(self.path, "ab") as file:
            file.write(b"".join(orjson.dumps(line) + b"\n" for line in lines))

    def _said(self, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 1200, "output_tokens": 90}
        message = {"id": f"msg_{self._lines}", "role": "assistant", "content": [block], "usage": usage}
        return self._line("assistant", message)

    def _line(self, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        self._lines += 1
        minutes, seconds = divmod(self._lines, 60)
        return {
            "type": kind,
            "uuid": str(uuid.uuid5(uuid.UUID(self.id), str(self._lines))),
            "timestamp": f"2026-11-01T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds:02d}.000Z",
            "cwd": self.directory,
            "sessionId": self.id,
            "isSidechain": False,
            "gitBranch": "main",
            "message": message,
        }

    def input(self, **more: Any) -> str:
        """A file with what the client writes to a hook."""
        told = {"session_id": self.id, "transcript_path": self.path, "cwd": self.directory, **more}
        with open(self.given, "wb") as file:
            file.write(orjson.dumps(told))
        return self.given


def rows(environment: Environment, scratch: str, rounds: int) -> list[Row]:
    """Every hook on one home."""
    memories = Memories(environment, scratch, MEMORIES)
    home, variables = memories.home, {**memories.variables, "MAIT_CODE_LLM_PROVIDER": "none"}
    mait = environment.program("mait-code")
    for number in range(CARDS):
        spawn([mait, "board", "add", f"card {number} of the shop", "--project", "project"], variables)
    for number in range(SESSIONS):
        past = _Session(home, number)
        for turn in range(3):
            past.turn(f"request {turn} of session {number}")
        spawn(_observe(environment, "session-end"), variables, given=past.input(reason="clear"))
    say(f"hooks with {MEMORIES:,} memories, {rounds} rounds")
    taken = measure.in_turns(_cases(environment, variables, _Session(home, SESSIONS)), rounds)
    memories.remove()
    floor = taken.pop("floor")
    budgets = {"Stop": RECORDS, "SessionEnd": RECORDS, "PreCompact": RECORDS, "statusline": RECORDS}
    return [measure.row("hooks", name, "ms", took, floor, budgets.get(name, TELLS)) for name, took in taken.items()]


def _observe(environment: Environment, trigger: str) -> list[str]:
    return [environment.program("mc-hook-observe"), "--trigger", trigger]


def _cases(environment: Environment, variables: dict[str, str], session: _Session) -> dict[str, Callable[[int], float]]:
    """Each case adds what it needs to the transcript first: the hook always has something to do."""

    def hook(argv: list[str], grows: bool = False, **more: Any) -> Callable[[int], float]:
        def run(number: int) -> float:
            if grows:
                session.turn(f"request {number} about the parser and the café")
            return spawn(argv, on, given=session.input(**more)).cpu

        on = {**variables, "MAIT_CODE_INJECT_ON_PROMPT": "on", "MAIT_CODE_FILE_CONTEXT": "on"}
        return run

    program = environment.program
    floor = [environment.python, "-c", HOOK_FLOOR]
    reading = {"tool_name": "Read", "tool_input": {"file_path": f"{session.directory}/src/cart.py"}}
    return {
        "floor": lambda _round: spawn(floor, variables).cpu,
        "SessionStart": hook([program("mc-hook-session-start")], source="startup"),
        "SessionStart, resumed": hook([program("mc-hook-session-start")], source="resume"),
        "Stop": hook(_observe(environment, "stop"), grows=True, last_assistant_message="Done."),
        "PreCompact": hook(_observe(environment, "precompact"), grows=True, trigger="auto"),
        "SessionEnd": hook(_observe(environment, "session-end"), grows=True, reason="other"),
        "UserPromptSubmit": hook([program("mc-hook-prompt")], prompt="where does the deploy of the cache server wait?"),
        "PreToolUse Read": hook([program("mc-hook-file-context")], **reading),
        "statusline": hook([program("mc-statusline")]),
    }
