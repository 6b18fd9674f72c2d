"""Claude: one question, one structured answer.

The Messages API is spoken directly where the environment holds a key, a token or a base URL; else the client's own
`claude -p` is asked; else there is no model. A question carries a tool with a JSON schema, and the answer is that tool's
input: text is never taken apart. What the schema promises is checked again by whoever asked.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.messages_api import ModelFailed, post, timed_out
from mait_code.journal.secrets import mask, public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MODELS", "Answer", "ModelFailed", "Tool", "ask", "harmless", "model_named", "provider"]

#: Short names of models. `ANTHROPIC_DEFAULT_<NAME>_MODEL` names another, as it does for the client.
MODELS = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}
_TRIES = 3
#: What the client sets for what it starts. A `claude` of ours is no part of that session.
_SESSION = ("CLAUDECODE", "CLAUDE_PID", "CLAUDE_ENV_FILE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION")
_SESSION_PREFIXES = ("CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_SESSION_ATTENDED")


class Tool:
    """What an answer has to look like: `schema` is the JSON schema of an object."""

    __slots__ = ("description", "name", "schema")

    def __init__(self, name: str, description: str, schema: dict[str, Any]) -> None:
        self.name = name
        self.description = description
        self.schema = schema


class Answer:
    """The tool's input as the model filled it in, the model's full name, and the tokens it took."""

    __slots__ = ("input_tokens", "model", "output_tokens", "value")

    def __init__(self, value: dict[str, Any], model: str, usage: object) -> None:
        self.value = value
        self.model = model
        counted = usage if isinstance(usage, dict) else {}
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        self.input_tokens = sum(_count(counted.get(name)) for name in names)
        self.output_tokens = _count(counted.get("output_tokens"))


def _count(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def harmless(text: str) -> str:
    """Text as a model may see it: without what is private in it, secrets masked."""
    return mask(public(text))[0]


def model_named(name: str) -> str:
    """The full name of a model: haiku, sonnet and opus are short for one, anything else stands for itself."""
    short = name.strip().lower()
    if short not in MODELS:
        return name.strip()
    return os.environ.get(f"ANTHROPIC_DEFAULT_{short.upper()}_MODEL") or MODELS[short]


def provider() -> str:
    """Who would be asked here: `anthropic` (the API), `claude` (the client), or an empty string."""
    if any(os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL")):
        return "anthropic"
    return "claude" if _client() else ""


def ask(prompt: str, tool: Tool, *, model: str, system: str = "", limit: float, max_tokens: int = 8192) -> Answer:
    """The model's answer, within `limit` seconds for all tries together. Raises ModelFailed."""
    asked = mask(prompt)[0]
    who = provider()
    if who == "anthropic":
        return _ask_api(asked, tool, model_named(model), system, limit, max_tokens)
    if who == "claude":
        return _ask_client(asked, tool, model_named(model), system, limit)
    raise ModelFailed(
        "there is no model to ask here", "set ANTHROPIC_API_KEY, or install the `claude` program; nothing was changed"
    )


# -- the Messages API -------------------------------------------------------------------------------------------------


def _ask_api(prompt: str, tool: Tool, model: str, system: str, limit: float, max_tokens: int) -> Answer:
    import time

    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": [{"role": "user", "content": prompt}],
        "tools": [{"name": tool.name, "description": tool.description, "input_schema": tool.schema}],
        "tool_choice": {"type": "tool", "name": tool.name},
    }
    if system:
        body["system"] = system
    content = orjson.dumps(body)
    end = time.monotonic() + limit
    for attempt in range(1, _TRIES + 1):
        try:
            return _answer(post(content, end - time.monotonic()), tool)
        except ModelFailed as error:
            # Not all alike: those who were turned away together would come back together.
            pause = error.wait or 0.5 * 2 ** (attempt - 1) * (1 + os.urandom(1)[0] / 512)
            if not error.passing or attempt == _TRIES or time.monotonic() + pause >= end:
                raise
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")


def _answer(raw: bytes, tool: Tool) -> Answer:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise ModelFailed("the model's answer is not JSON", "check ANTHROPIC_BASE_URL; nothing was changed") from error
    blocks = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(blocks, list):
        raise ModelFailed("the model's answer has no content", "check ANTHROPIC_BASE_URL; nothing was changed")
    reason = answer.get("stop_reason")
    if reason == "refusal":
        raise ModelFailed("the model refused to answer", "nothing was changed; other memories may fare better")
    if reason == "max_tokens":
        raise ModelFailed("the model's answer was cut off", "ask about fewer memories at once; nothing was changed")
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_use" and block.get("name") == tool.name:
            value = block.get("input")
            if not isinstance(value, dict):
                raise ModelFailed("the model filled in no object")
            return Answer(value, str(answer.get("model") or ""), answer.get("usage"))
    raise ModelFailed("the model answered with words instead of filling in what it was asked for")


# -- the client -------------------------------------------------------------------------------------------------------


def _client() -> str:
    """The `claude` program, on PATH or where it installs itself; empty where it is not."""
    from shutil import which

    places = [os.path.expanduser("~/.local/bin"), os.path.expanduser("~/.claude/local")]
    return which("claude") or which("claude", path=os.pathsep.join(places)) or ""


def _ask_client(prompt: str, tool: Tool, model: str, system: str, limit: float) -> Answer:
    from subprocess import PIPE, Popen, TimeoutExpired
    from tempfile import TemporaryDirectory

    command = [_client(), "-p", "--model", model, "--output-format", "json", "--no-session-persistence", "--tools", ""]
    command += ["--settings", '{"disableAllHooks":true}', "--strict-mcp-config"]
    command += ["--json-schema", orjson.dumps(tool.schema).decode()]
    command += ["--system-prompt", system] if system else []
    env = {name: value for name, value in os.environ.items() if name not in _SESSION}
    env = {name: value for name, value in env.items() if not name.startswith(_SESSION_PREFIXES)}
    # Our own hooks, should they run all the same, must not look at a session that is ours.
    env["MAIT_CODE_QUIET"] = "1"
    # In a directory of its own, so that no project's instructions come into the question.
    with TemporaryDirectory(prefix="mait-code-") as place:
        try:
            process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, cwd=place, start_new_session=True)
        except OSError as error:
            raise ModelFailed(f"claude cannot be started: {error.strerror}") from error
        with process:
            try:
                out, complaint = process.communicate(prompt.encode("utf-8", "replace"), timeout=limit)
            except TimeoutExpired as error:
                raise timed_out() from error
            finally:
                # With all that it started: it is a session of its own.
                _end(process.pid, process.poll() is None)
    return _client_answer(out, complaint, process.returncode, model)


def _end(pid: int, runs: bool) -> None:
    import signal

    if runs:
        os.killpg(pid, signal.SIGKILL)


def _client_answer(out: bytes, complaint: bytes, code: int, model: str) -> Answer:
    try:
        answer = orjson.loads(out)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict) or code or answer.get("is_error"):
        said = answer.get("result") if isinstance(answer, dict) else None
        words = harmless(said if isinstance(said, str) else complaint.decode("utf-8", "replace")).split()
        raise ModelFailed(f"claude -p failed (exit {code}): {' '.join(words)[:200]}", "try it by hand: claude -p hello")
    value = answer.get("structured_output")
    if not isinstance(value, dict):
        raise ModelFailed("claude -p gave no structured answer", "update the claude program; nothing was changed")
    return Answer(value, model, answer.get("usage"))
