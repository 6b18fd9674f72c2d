"""Short names of models, and the full names they stand for."""

from __future__ import annotations

import os

__all__ = ["MODELS", "model_named"]

#: `ANTHROPIC_DEFAULT_<NAME>_MODEL` names another, as it does for the client.
MODELS = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}


def model_named(name: str) -> str:
    """The full name of a model: haiku, sonnet and opus are short for one, anything else stands for itself."""
    short = name.strip().lower()
    if short not in MODELS:
        return name.strip()
    return os.environ.get(f"ANTHROPIC_DEFAULT_{short.upper()}_MODEL") or MODELS[short]
