"""The client's own `claude -p`, so that a subscription is enough."""

from __future__ import annotations

import os

import orjson

from mait_code.commands.model import answers
from mait_code.commands.model.answers import Answer
from mait_code.commands.model.errors import Failed, NoModel, Refused, TimedOut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.model.access import Question

__all__ = ["INSIDE", "ask", "program"]

#: Set for a `claude` that we start: whatever of ours runs inside it asks no model again.
INSIDE = "MAIT_CODE_IN_MODEL"
#: What the client sets for what it starts. A `claude` of ours is no part of that session.
_SESSION = ("CLAUDECODE", "CLAUDE_PID", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION")
_SESSION_PREFIXES = ("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_SESSION_ATTENDED")


def program() -> str:
    """The `claude` program, on PATH or where it installs itself; empty where it is not."""
    from shutil import which

    places = [os.path.expanduser("~/.local/bin"), os.path.expanduser("~/.claude/local")]
    return which("claude") or which("claude", path=os.pathsep.join(places)) or ""


def ask(question: Question, left: float) -> Answer:
    """One attempt. Raises ModelFailed."""
    from subprocess import PIPE, Popen, TimeoutExpired
    from tempfile import TemporaryDirectory

    if left <= 0:
        raise TimedOut
    found = program()
    if not found:
        raise NoModel("there is no claude program here", "install it, or set llm-provider; nothing was changed")
    # In a directory of its own, so that no project's instructions come into the question.
    with TemporaryDirectory(prefix="mait-code-") as place:
        try:
            process = Popen(
                _command(found, question),
                stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment(), cwd=place, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise Failed(f"claude cannot be started: {error.strerror}") from error
        with process:
            try:
                out, complaint = process.communicate(question.prompt.encode("utf-8", "replace"), timeout=left)
            except TimeoutExpired as error:
                raise TimedOut from error
            finally:
                # With all that it started: it is a session of its own.
                _end(process.pid, process.poll() is None)
    return _answer(out, complaint, process.returncode, question)


def _command(found: str, question: Question) -> list[str]:
    command = [found, "-p", "--model", question.model, "--output-format", "json", "--no-session-persistence"]
    command += ["--tools", "", "--settings", '{"disableAllHooks":true}', "--strict-mcp-config"]
    command += ["--json-schema", orjson.dumps(question.tool.schema).decode()]
    return command + (["--system-prompt", question.system] if question.system else [])


def _environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if name not in _SESSION}
    env = {name: value for name, value in env.items() if not name.startswith(_SESSION_PREFIXES)}
    # Our own hooks, should they run all the same, must not look at a session that is ours.
    return {**env, "MAIT_CODE_QUIET": "1", INSIDE: "1"}


def _end(pid: int, runs: bool) -> None:
    import signal

    if runs:
        os.killpg(pid, signal.SIGKILL)


def _answer(out: bytes, complaint: bytes, code: int, question: Question) -> Answer:
    from mait_code.journal.secrets import harmless

    try:
        answer = orjson.loads(out)
    except orjson.JSONDecodeError:
        answer = None
    if isinstance(answer, dict):
        question.spent(answers.tokens_of(answer.get("usage")))
    if not isinstance(answer, dict) or code or answer.get("is_error"):
        said = answer.get("result") if isinstance(answer, dict) else None
        told = harmless(said if isinstance(said, str) else complaint.decode("utf-8", "replace")).split()
        raise Failed(f"claude -p failed (exit {code}): {' '.join(told)[:200]}", "try it by hand: claude -p hello")
    value = answer.get("structured_output")
    if not isinstance(value, dict):
        raise Refused("claude -p gave no structured answer", "update the claude program; nothing was changed")
    return Answer(value, question.model, answer.get("usage"))
