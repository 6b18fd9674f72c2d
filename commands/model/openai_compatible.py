"""Chat completions with function calling, as OpenAI's API has them and many local servers and gateways do."""

from __future__ import annotations

import orjson

from mait_code.commands.model import answers, wire
from mait_code.commands.model.answers import Answer
from mait_code.commands.model.errors import Malformed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.model.access import Question

__all__ = ["ask"]

_BASE, _AT = "https://api.openai.com/v1", "OPENAI_BASE_URL"


def ask(question: Question, left: float) -> Answer:
    """One attempt. Raises ModelFailed."""
    base = wire.base_url(_AT, _BASE)
    key = wire.usable_key("OPENAI_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return _answer(wire.post(f"{base}/chat/completions", headers, orjson.dumps(_body(question)), left, _AT), question)


def _body(question: Question) -> dict[str, Any]:
    # How long an answer may be has two names among these servers, and each refuses the other: neither is sent.
    tool = question.tool
    messages = [{"role": "system", "content": question.system}] if question.system else []
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {
        "model": question.model,
        "messages": [*messages, {"role": "user", "content": question.prompt}],
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": tool.name}},
    }


def _answer(raw: bytes, question: Question) -> Answer:
    answer = answers.decoded(raw, _AT)
    question.spent(answers.tokens_of(answer.get("usage")))
    try:
        choice = answer["choices"][0]
        message, reason = dict(choice["message"]), choice.get("finish_reason")
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Malformed("the model's answer has no content", f"check {_AT}; nothing was changed") from error
    if message.get("refusal") or reason == "content_filter":
        raise answers.refused()
    if reason == "length":
        raise answers.cut_off()
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("name") == question.tool.name:
            value = _arguments(function.get("arguments"))
            return Answer(value, str(answer.get("model") or question.model), answer.get("usage"))
    raise answers.words()


def _arguments(raw: object) -> dict[str, Any]:
    """What the function is called with: JSON in a text, from some servers an object."""
    if isinstance(raw, dict):
        return raw
    try:
        value = orjson.loads(raw if isinstance(raw, str) else b"")
    except orjson.JSONDecodeError as error:
        raise Malformed("what the model filled in is not JSON") from error
    if not isinstance(value, dict):
        raise Malformed("the model filled in no object")
    return value
