"""Who is asked, how often, and within what time."""

from __future__ import annotations

import os

from mait_code.commands.model import claude
from mait_code.commands.model.errors import ModelFailed, NoModel
from mait_code.commands.model.names import model_named
from mait_code.journal import settings
from mait_code.journal.secrets import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.model.answers import Answer
    from mait_code.journal.home import Home

__all__ = ["Question", "Tool", "ask", "lacking", "provider"]

_TRIES = 3


class Tool:
    """What an answer has to look like: `schema` is the JSON schema of an object."""

    __slots__ = ("description", "name", "schema")

    def __init__(self, name: str, description: str, schema: dict[str, Any]) -> None:
        self.name = name
        self.description = description
        self.schema = schema


class Question:
    """What is asked, and whom to tell what it took: every attempt costs, also one whose answer is of no use."""

    __slots__ = ("_home", "max_tokens", "model", "prompt", "system", "tokens", "tool")

    def __init__(self, prompt: str, tool: Tool, model: str, system: str, max_tokens: int, home: Home | None) -> None:
        self.prompt = prompt
        self.tool = tool
        self.model = model
        self.system = system
        self.max_tokens = max_tokens
        self.tokens = (0, 0)
        self._home = home

    def spent(self, tokens: tuple[int, int]) -> None:
        """An attempt took so many tokens, in and out."""
        self.tokens = (self.tokens[0] + tokens[0], self.tokens[1] + tokens[1])
        if self._home is not None:
            from mait_code.commands.model import spending

            spending.note(self._home, tokens, self.model)


def provider() -> str:
    """Who would be asked here: anthropic (the Messages API), claude (the client), openai-compatible, or none."""
    _take_settings()
    chosen = str(settings.value("llm-provider"))
    if chosen != "auto":
        return chosen
    from mait_code.commands.model import anthropic

    if anthropic.is_set():
        return "anthropic"
    return "claude" if claude.program() else "none"


def lacking(who: str) -> str:
    """The variable without which a provider cannot be asked; empty where nothing is missing."""
    if who == "anthropic":
        from mait_code.commands.model import anthropic

        return "" if anthropic.is_set() else "ANTHROPIC_API_KEY"
    if who == "openai-compatible" and not any(os.environ.get(name) for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY")):
        return "OPENAI_BASE_URL"
    return ""


def _take_settings() -> None:
    """The variables of the [env] table, which commands have taken already and hooks have not."""
    for name, value in settings.extra_environment().items():
        os.environ.setdefault(name, os.fsdecode(value.encode()))


def ask(
    prompt: str,
    tool: Tool,
    *,
    model: str,
    system: str = "",
    limit: float,
    max_tokens: int = 8192,
    home: Home | None = None,
) -> Answer:
    """The model's answer, within `limit` seconds for all tries together; what it took is recorded in `home`.

    Raises ModelFailed.
    """
    if os.environ.get(claude.INSIDE):
        raise NoModel("this runs inside a model's own session", "nothing was changed")
    attempt = _asking(provider(), str(settings.value("llm-provider")))
    question = Question(mask(prompt)[0], tool, model_named(model), system, max_tokens, home)
    try:
        return _ask(attempt, question, limit)
    except ModelFailed as error:
        error.tokens = question.tokens
        raise


def _asking(who: str, chosen: str) -> Callable[[Question, float], Answer]:
    if missing := lacking(who):
        raise NoModel(f"llm-provider is {who}, and {missing} is not set", "set it where hooks see it; nothing was sent")
    if who == "anthropic":
        from mait_code.commands.model import anthropic

        return anthropic.ask
    if who == "openai-compatible":
        from mait_code.commands.model import openai_compatible

        return openai_compatible.ask
    if who == "claude":
        return claude.ask
    if chosen == "none":
        raise NoModel("llm-provider is none: no model is asked", "choose another; nothing was changed")
    raise NoModel(
        "there is no model to ask here", "set ANTHROPIC_API_KEY, or install the `claude` program; nothing was changed"
    )


def _ask(attempt: Callable[[Question, float], Answer], question: Question, limit: float) -> Answer:
    import time

    end = time.monotonic() + limit
    for number in range(1, _TRIES + 1):
        try:
            return attempt(question, end - time.monotonic())
        except ModelFailed as error:
            # Not all alike: those who were turned away together would come back together.
            pause = error.wait or 0.5 * 2 ** (number - 1) * (1 + os.urandom(1)[0] / 512)
            if not error.passing or number == _TRIES or time.monotonic() + pause >= end:
                raise
            time.sleep(pause)
    raise AssertionError("the last try returns or raises")
