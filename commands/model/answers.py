"""What came back: the tool's input, the model's full name, and the tokens it took."""

from __future__ import annotations

import orjson

from mait_code.commands.model.errors import Malformed, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.model.errors import ModelFailed

__all__ = ["Answer", "cut_off", "decoded", "refused", "tokens_of", "words"]

#: What usage is called by the Messages API and by those that speak OpenAI's.
_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "prompt_tokens")
_OUT = ("output_tokens", "completion_tokens")


class Answer:
    """The tool's input as the model filled it in. Tokens are counted by whoever answered; 0 where it did not say."""

    __slots__ = ("input_tokens", "model", "output_tokens", "value")

    def __init__(self, value: dict[str, Any], model: str, usage: object) -> None:
        self.value = value
        self.model = model
        self.input_tokens, self.output_tokens = tokens_of(usage)

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens in and out."""
        return self.input_tokens, self.output_tokens


def tokens_of(usage: object) -> tuple[int, int]:
    """Tokens in and out that a usage object counts."""
    counted = usage if isinstance(usage, dict) else {}
    sums = [sum(_count(counted.get(name)) for name in names) for names in (_IN, _OUT)]
    return sums[0], sums[1]


def _count(value: object) -> int:
    return value if type(value) is int and 0 < value < 2**53 else 0


def decoded(raw: bytes, where: str) -> dict[str, Any]:
    """The object that an answer is. `where` names the address to check. Raises Malformed."""
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        answer = _leniently(raw)
    if answer is None:
        raise Malformed("the model's answer is not JSON", f"check {where}; nothing was changed")
    return answer if isinstance(answer, dict) else {}


def _leniently(raw: bytes) -> object:
    """JSON with halves of surrogate pairs in it, which some writers let through; whoever takes a text out mends it."""
    import json

    try:
        return json.loads(raw.decode())
    except (ValueError, RecursionError):
        return None


def refused() -> ModelFailed:
    """The model would not."""
    return Refused("the model refused to answer", "nothing was changed; other texts may fare better")


def cut_off() -> ModelFailed:
    """The answer came to an end before it was whole."""
    return Malformed("the model's answer was cut off", "ask about less at once; nothing was changed")


def words() -> ModelFailed:
    """Prose in place of the tool."""
    return Refused("the model answered with words instead of filling in what it was asked for")
