"""How understanding stands on this machine: who is asked, what today took, and which transcripts wait or were put aside."""

from __future__ import annotations

import os

from mait_code.commands.understanding import progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.understanding.progress import Progress
    from mait_code.journal.home import Home

__all__ = ["Standing", "standing"]


class Standing:
    """`spent` and `limit` are tokens of today; `provider` is who is asked, `model` the full name that is asked for."""

    __slots__ = ("capture", "limit", "mode", "mode_fault", "model", "provider", "spent", "transcripts")

    def __init__(self, home: Home) -> None:
        from mait_code.commands import project
        from mait_code.commands.model import model_named, provider, spending
        from mait_code.commands.understanding import modes
        from mait_code.journal import settings

        self.capture = str(settings.value("capture"))
        self.provider = provider()
        self.model = model_named(str(settings.value("extraction-model")))
        self.spent, self.limit = spending.spent_today(home), spending.limit()
        mode, self.mode_fault = modes.in_force(home, project.here())
        self.mode = mode.name
        self.transcripts = [one for one in progress.every(home) if os.path.exists(one.path)]

    @property
    def waiting(self) -> list[Progress]:
        """Transcripts of which there is more to understand."""
        return [one for one in self.transcripts if one.open]

    @property
    def parked(self) -> list[Progress]:
        """Transcripts with windows that were put aside."""
        return [one for one in self.transcripts if one.parked]

    @property
    def is_spent(self) -> bool:
        """Whether today's tokens are spent."""
        return self.spent >= self.limit

    def json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "capture": self.capture,
            "provider": self.provider,
            "model": self.model,
            "mode": self.mode,
            "tokens_today": self.spent,
            "tokens_limit": self.limit,
            "transcripts": [_json(one) for one in self.transcripts],
        }


def standing(home: Home) -> Standing:
    """How it stands now."""
    return Standing(home)


def _json(one: Progress) -> dict[str, Any]:
    from mait_code.journal import clock

    return {
        "session": os.path.splitext(os.path.basename(one.path))[0],
        "path": one.path,
        "windows": one.windows,
        "waiting": one.open,
        "failures": one.failures,
        "next_try_at": clock.text(int(one.due * clock.SECOND)) if one.due else None,
        "reason": one.reason or None,
        "parked": [{"reason": parked.reason} for parked in one.parked],
    }
