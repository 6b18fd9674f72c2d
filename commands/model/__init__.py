"""Models: one question, one structured answer, whoever is asked.

A question carries a tool with a JSON schema, and the answer is that tool's input: text is never taken apart. What the
schema promises is checked again by whoever asked.
"""

from __future__ import annotations

from mait_code.commands.model.access import Tool, ask, provider
from mait_code.commands.model.answers import Answer
from mait_code.commands.model.errors import (
    Failed,
    Limited,
    Malformed,
    ModelFailed,
    NoModel,
    Refused,
    TimedOut,
    Unreachable,
)
from mait_code.commands.model.names import MODELS, model_named

__all__ = [
    "MODELS", "Answer", "Failed", "Limited", "Malformed", "ModelFailed", "NoModel", "Refused", "TimedOut", "Tool",
    "Unreachable", "ask", "model_named", "provider",
]  # fmt: skip
