"""Understanding: what a model makes of sessions, window by window, on top of their evidence."""

from __future__ import annotations

from mait_code.commands.understanding.run import Outcome, from_record, take_up, understand

__all__ = ["Outcome", "from_record", "take_up", "understand"]
