"""What doctor says of understanding: whether there is a model, whether today's tokens are spent, and what was put aside."""

from __future__ import annotations

from mait_code.commands.model import access
from mait_code.commands.output import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.commands.understanding.report import Standing
    from mait_code.commands.workspace import Workspace

    Found = Iterator[tuple[str, str, str, str]]


def look(ws: Workspace) -> Found:
    """(name, level, message, hint) of each thing looked at. Asks no model."""
    from mait_code.commands.understanding.report import standing

    stands = standing(ws.home)
    yield _model(stands)
    if stands.mode_fault:
        yield "mode", "warn", stands.mode_fault, "the mode code is used meanwhile; mend it, or choose another"
    if stands.parked:
        count = sum(len(one.parked) for one in stands.parked)
        reasons = dict.fromkeys(parked.reason for one in stands.parked for parked in one.parked)
        message = f"{counted(count, 'part')} of sessions could not be understood: {'; '.join(list(reasons)[:3])}"
        yield "understanding", "warn", message, "mait-code observe retry tries again; their evidence is recorded"
    elif failing := [one for one in stands.waiting if one.reason]:
        message = f"{counted(len(failing), 'session')} will be tried again: {failing[-1].reason}"
        refused = any(status in failing[-1].reason for status in ("401", "403"))
        yield "understanding", "warn" if refused else "ok", message, "check the key" if refused else ""


def _model(stands: Standing) -> tuple[str, str, str, str]:
    if stands.capture != "understanding":
        return "model", "ok", f"no model is asked about sessions: capture is {stands.capture}", ""
    if stands.provider == "none":
        message = "there is no model to ask, so of sessions only the evidence is recorded"
        return "model", "ok", message, ""
    if missing := access.lacking(stands.provider):
        message = (
            f"llm-provider is {stands.provider}, and {missing} is not set: of sessions only the evidence is recorded"
        )
        return "model", "warn", message, "set it where Claude Code and its hooks see it, or choose another provider"
    used = f"{stands.spent:,} of {stands.limit:,} tokens today"
    if stands.is_spent:
        message = f"{used}: for the rest of the day only the evidence of sessions is recorded"
        return "model", "warn", message, "it goes on tomorrow by itself; llm-daily-tokens is how many there are"
    return "model", "ok", f"{stands.provider} ({stands.model}), {used}", ""
