"""Why a model gave no usable answer. All of them are ModelFailed, and none of them changed anything."""

from __future__ import annotations

from mait_code.journal import errors

__all__ = [
    "Failed", "Limited", "Malformed", "ModelFailed", "NoModel", "Refused", "TimedOut", "Unreachable",
]  # fmt: skip


class ModelFailed(errors.Refused):
    """No usable answer. `passing` where asking again later may help, `wait` the seconds that were asked for until then;
    `tokens` is what the attempt took, in and out."""

    def __init__(self, message: str, hint: str = "", *, passing: bool = False, wait: float = 0) -> None:
        super().__init__(message, hint or "nothing was changed; try again later")
        self.passing = passing
        self.wait = wait
        self.tokens = (0, 0)


class NoModel(ModelFailed):
    """There is nobody to ask: none is configured, or this process runs inside a model's own."""


class Refused(ModelFailed):
    """The model would not, or answered with words in place of what it was asked for."""


class Malformed(ModelFailed):
    """The answer cannot be read: no JSON, no content, cut off."""


class Limited(ModelFailed):
    """Too many questions at once (429): `wait` says when to come back, where the answer said so."""


class Failed(ModelFailed):
    """The question was turned down, or the server is broken."""


class Unreachable(Failed):
    """No connection came about: no network, a wrong address, a certificate that nobody vouches for."""


class TimedOut(ModelFailed):
    """The time was over before the answer was there."""

    def __init__(self) -> None:
        hint = "llm-timeout says how long to wait; nothing was changed"
        super().__init__("the model did not answer in time", hint, passing=True)
