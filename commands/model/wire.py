"""A question to a model's server, and what became of it in words of ours."""

from __future__ import annotations

import os

import orjson

from mait_code.commands.http_request import Answered, Lost, fetch
from mait_code.commands.model.errors import Failed, Limited, ModelFailed, TimedOut, Unreachable
from mait_code.journal.secrets import mask

__all__ = ["base_url", "post", "usable_key"]

#: Bytes of an answer that are still read.
_LONGEST = 8 * 1024 * 1024
#: Answers after which asking again may help: busy, overloaded, or broken for a moment.
_PASSING = (408, 429, 500, 502, 503, 504, 529)


def base_url(variable: str, default: str) -> str:
    """The address that a variable names, or the default. Raises Unreachable where it is no http or https address."""
    base = (os.environ.get(variable) or default).strip().rstrip("/")
    if not base.lower().startswith(("http://", "https://")):
        raise Unreachable(f"{variable} is no http or https address", "correct it; nothing was changed")
    return base


def usable_key(variable: str) -> str:
    """The key that a variable holds. Raises Failed, in words that do not show it, where it cannot be sent."""
    key = os.environ.get(variable, "").strip()
    if not key.isascii() or not key.isprintable():
        # Said here: what the library says of it would show it.
        raise Failed(f"{variable} holds characters that no key has", "set it again; nothing was changed")
    return key


def post(url: str, headers: dict[str, str], content: bytes, left: float, variable: str) -> bytes:
    """The body of a good answer. The connection is ended when `left` seconds are over, whatever it is doing.

    `variable` is what holds the address, for the hint. Raises ModelFailed.
    """
    headers = {"content-type": "application/json", "user-agent": "mait-code", **headers}
    try:
        raw = fetch(url, headers, content, left, _LONGEST)
    except TimeoutError as error:
        raise TimedOut from error
    except Answered as answer:
        raise _turned_down(answer.code, answer.headers.get("Retry-After"), answer.body) from None
    except Lost as error:
        raise _lost(error, variable) from error
    if len(raw) > _LONGEST:
        raise Failed(f"the model's answer is longer than {_LONGEST // 2**20} MiB")
    return raw


def _lost(error: Lost, variable: str) -> ModelFailed:
    said = _masked(str(error.reason))[:200] or type(error.reason).__name__
    hint = f"check the network, the proxy and {variable}; nothing was changed"
    broken = error.connected and not error.lasting
    return (Failed if broken else Unreachable)(f"the model cannot be reached: {said}", hint, passing=not error.lasting)


def _turned_down(code: int, after: str | None, raw: bytes) -> ModelFailed:
    said = ""
    try:
        error = orjson.loads(raw)["error"]
        said = f": {_masked(str(error['message']))[:200]}"
    except (orjson.JSONDecodeError, LookupError, TypeError):
        pass  # whoever answered is no API, and its page says nothing to people here
    hints = {401: "check the key", 403: "check the key", 404: "check the model's name"}
    hint = f"{hints[code]}; nothing was changed" if code in hints else ""
    how = Limited if code == 429 else Failed
    return how(f"the model answered {code}{said}", hint, passing=code in _PASSING, wait=_seconds(after))


def _seconds(after: str | None) -> float:
    try:
        # Whoever asks for more than a day may be asked again tomorrow; NaN compares as false.
        return seconds if (seconds := min(float(after or 0), 86_400.0)) > 0 else 0.0
    except ValueError:
        return 0.0  # a date: the usual pause does


def _masked(text: str) -> str:
    return mask(text)[0]
