"""Composed transcripts, line by line in the shape the client writes them."""

from __future__ import annotations

import json
import os
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class Transcript:
    """One session's transcript on the disk, to which lines are added. Each line is a second later than the one before."""

    def __init__(self, folder: Path | str, session: str = "", directory: str = "/home/user/project") -> None:
        self.session = session or str(uuid.uuid4())
        self.path = os.path.join(folder, f"{self.session}.jsonl")
        os.makedirs(folder, exist_ok=True)
        self.directory = directory
        self.end = "\n"
        self._seconds = 0
        self._messages = 0

    def line(self, **fields: Any) -> str:
        """Write a line with the fields all of them have. Returns its uuid."""
        self._seconds += 1
        minutes, seconds = divmod(self._seconds, 60)
        record = {
            "parentUuid": None,
            "isSidechain": False,
            "uuid": str(uuid.uuid4()),
            "timestamp": f"2026-11-{1 + minutes // 1440:02d}T{minutes // 60 % 24:02d}:{minutes % 60:02d}:{seconds:02d}.000Z",
            "cwd": self.directory,
            "sessionId": self.session,
            "version": "2.1.332",
            "gitBranch": "main",
            **fields,
        }
        self.raw(json.dumps(record))
        return str(record["uuid"])

    def raw(self, text: str) -> None:
        """Write a line as it is."""
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(text + self.end)

    def prompt(self, text: object, **fields: Any) -> str:
        return self.line(
            **{"type": "user", "message": {"role": "user", "content": text}, "turnOrigin": "human", **fields}
        )

    def answer(self, text: str, **fields: Any) -> None:
        self.said([{"type": "text", "text": text}], **fields)

    def said(self, blocks: list[dict[str, Any]], tokens: tuple[int, int] = (100, 10), **fields: Any) -> None:
        """A message of the model's: one line for each block, all with the same usage."""
        self._messages += 1
        usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
        for block in blocks:
            message = {"id": f"msg_{self._messages}", "role": "assistant", "content": [block], "usage": usage}
            self.line(type="assistant", message=message, **fields)

    def tool(self, name: str, given: dict[str, Any], result: str = "", error: bool = False, **fields: Any) -> None:
        """A call and its result."""
        id_ = f"toolu_{uuid.uuid4().hex[:12]}"
        self.said([{"type": "tool_use", "id": id_, "name": name, "input": given}], **fields)
        block = {"type": "tool_result", "tool_use_id": id_, "content": result, "is_error": error}
        self.line(type="user", message={"role": "user", "content": [block]}, toolUseResult=result, **fields)

    def turn(self, request: str = "make the cart faster", answer: str = "It is faster.") -> str:
        """A whole turn that reads, changes and runs something."""
        made = self.prompt(request)
        self.tool("Read", {"file_path": f"{self.directory}/src/a.py"}, "x = 1")
        self.tool("Edit", {"file_path": f"{self.directory}/src/a.py", "old_string": "1", "new_string": "2"}, "done")
        self.tool("Bash", {"command": "pytest -q"}, "Exit code 1\n1 failed", error=True)
        self.tool("Bash", {"command": "pytest -q"}, "1 passed")
        self.answer(answer)
        return made
