"""The Messages API, spoken directly."""

from __future__ import annotations

import os

import orjson

from mait_code.commands.model import answers, wire
from mait_code.commands.model.answers import Answer
from mait_code.commands.model.errors import Malformed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.model.access import Question

__all__ = ["ask", "is_set"]

_BASE, _AT = "https://api.anthropic.com", "ANTHROPIC_BASE_URL"
_VERSION = "2023-06-01"


def is_set() -> bool:
    """Whether the environment holds a key, a token or an address."""
    return any(os.environ.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", _AT))


def ask(question: Question, left: float) -> Answer:
    """One attempt. Raises ModelFailed."""
    base = wire.base_url(_AT, _BASE)
    headers = {"anthropic-version": _VERSION}
    token, key = wire.usable_key("ANTHROPIC_AUTH_TOKEN"), wire.usable_key("ANTHROPIC_API_KEY")
    if token:
        headers["authorization"] = f"Bearer {token}"
    elif key:
        headers["x-api-key"] = key
    return _answer(wire.post(f"{base}/v1/messages", headers, orjson.dumps(_body(question)), left, _AT), question)


def _body(question: Question) -> dict[str, Any]:
    tool = question.tool
    body: dict[str, Any] = {
        "model": question.model,
        "max_tokens": question.max_tokens,
        "messages": [{"role": "user", "content": question.prompt}],
        "tools": [{"name": tool.name, "description": tool.description, "input_schema": tool.schema}],
        "tool_choice": {"type": "tool", "name": tool.name},
    }
    if question.system:
        body["system"] = question.system
    return body


def _answer(raw: bytes, question: Question) -> Answer:
    answer = answers.decoded(raw, _AT)
    question.spent(answers.tokens_of(answer.get("usage")))
    blocks = answer.get("content")
    if not isinstance(blocks, list):
        raise Malformed("the model's answer has no content", f"check {_AT}; nothing was changed")
    reason = answer.get("stop_reason")
    if reason == "refusal":
        raise answers.refused()
    if reason == "max_tokens":
        raise answers.cut_off()
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "tool_use" and block.get("name") == question.tool.name:
            value = block.get("input")
            if not isinstance(value, dict):
                raise Malformed("the model filled in no object")
            return Answer(value, str(answer.get("model") or question.model), answer.get("usage"))
    raise answers.words()
