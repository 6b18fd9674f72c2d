"""The Messages API over HTTP: one request, one answer, within a time that nothing can stretch.

The standard library's client takes 60 ms to import where a software development kit takes seconds, knows the proxies of
the environment, and is all that one request needs.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import Refused
from mait_code.journal.secrets import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import Any
    from urllib.request import OpenerDirector

__all__ = ["ModelFailed", "post", "timed_out"]

_BASE = "https://api.anthropic.com"
_VERSION = "2023-06-01"
#: Bytes of an answer that are still read.
_LONGEST = 8 * 1024 * 1024
#: Answers after which asking again may help: busy, overloaded, or broken for a moment.
_PASSING = (408, 429, 500, 502, 503, 504, 529)


class ModelFailed(Refused):
    """No usable answer. `passing` where asking again later may help."""

    def __init__(self, message: str, hint: str = "", passing: bool = False, wait: float = 0) -> None:
        super().__init__(message, hint or "nothing was changed; try again later")
        self.passing = passing
        #: Seconds that the answer asked to wait.
        self.wait = wait


def post(content: bytes, left: float) -> bytes:
    """The body of a good answer. The connection is ended when `left` seconds are over, whatever it is doing."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    if left <= 0:
        raise timed_out()
    url, headers = _address()
    watch = _Watch(left)
    try:
        request = Request(url, content, headers)  # noqa: S310  # _address lets http and https through
        with watch, _opener(watch.over).open(request, timeout=left) as response:
            raw: bytes = response.read(_LONGEST + 1)
    except HTTPError as error:
        with error:
            raise _turned_down(error.code, error.headers.get("Retry-After"), _excerpt(error.read)) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if watch.expired or isinstance(reason, TimeoutError):
            raise timed_out() from error
        lasting = isinstance(reason, ValueError)  # an address or a key that no try makes better; TLS is one too
        raise ModelFailed(
            f"the model cannot be reached: {_masked(str(reason))[:200] or type(reason).__name__}",
            "check the network, the proxy and ANTHROPIC_BASE_URL; nothing was changed",
            passing=not lasting,
        ) from error
    if watch.expired:
        raise timed_out()
    if len(raw) > _LONGEST:
        raise ModelFailed(f"the model's answer is longer than {_LONGEST // 2**20} MiB")
    return raw


def _address() -> tuple[str, dict[str, str]]:
    base = (os.environ.get("ANTHROPIC_BASE_URL") or _BASE).strip().rstrip("/")
    if not base.lower().startswith(("http://", "https://")):
        raise ModelFailed("ANTHROPIC_BASE_URL is no http or https address", "correct it; nothing was changed")
    headers = {"content-type": "application/json", "anthropic-version": _VERSION, "user-agent": "mait-code"}
    token, key = (os.environ.get(name, "").strip() for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"))
    if not (token + key).isascii() or not (token + key).isprintable():
        # Said here: what the library says of it would show it.
        raise ModelFailed("the key or token holds characters that no key has", "set it again; nothing was changed")
    if token:
        headers["authorization"] = f"Bearer {token}"
    elif key:
        headers["x-api-key"] = key
    return f"{base}/v1/messages", headers


def _turned_down(code: int, after: str | None, raw: bytes) -> ModelFailed:
    said = ""
    try:
        error = orjson.loads(raw)["error"]
        said = f": {_masked(str(error['message']))[:200]}"
    except (orjson.JSONDecodeError, LookupError, TypeError):
        pass  # whoever answered is no API, and its page says nothing to people here
    hints = {401: "check ANTHROPIC_API_KEY", 403: "check ANTHROPIC_API_KEY", 404: "check the model's name"}
    hint = f"{hints[code]}; nothing was changed" if code in hints else ""
    return ModelFailed(f"the model answered {code}{said}", hint, code in _PASSING, _seconds(after))


def _seconds(after: str | None) -> float:
    try:
        return max(0.0, float(after or 0))
    except ValueError:
        return 0.0  # a date: the usual pause does


def _excerpt(read: Callable[[int], bytes]) -> bytes:
    from http.client import HTTPException

    try:
        return read(65_536)
    except (HTTPException, OSError):
        return b""


def timed_out() -> ModelFailed:
    return ModelFailed(
        "the model did not answer in time", "llm-timeout says how long to wait; nothing was changed", passing=True
    )


class _Watch:
    """Ends a connection after some seconds, also one that sends a byte now and then."""

    def __init__(self, left: float) -> None:
        from threading import Timer

        self.expired = False
        self._socket: socket | None = None
        self._timer = Timer(left, self._end)
        self._timer.daemon = True

    def over(self, connected: socket) -> None:
        """Watch over a connection that was just made."""
        self._socket = connected

    def _end(self) -> None:
        import socket

        self.expired = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it has ended by itself

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_error: object) -> None:
        self._timer.cancel()


def _opener(watch: Callable[[Any], None]) -> OpenerDirector:
    """urllib's opener with its proxies, and without its redirects, which would take the key elsewhere."""
    from http.client import HTTPConnection, HTTPSConnection
    from urllib import request

    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            watch(self.sock)

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            watch(self.sock)

    class PlainHandler(request.HTTPHandler):
        def http_open(self, req: Any) -> Any:
            return self.do_open(Plain, req)

    class SecureHandler(request.HTTPSHandler):
        def https_open(self, req: Any) -> Any:
            return self.do_open(Secure, req, context=_certificates())

    class Stay(request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    return request.build_opener(PlainHandler, SecureHandler, Stay)


def _certificates() -> Any:
    """The system's own trust where truststore is installed (a company's proxy is known there), else OpenSSL's."""
    import ssl
    from importlib import import_module

    try:
        truststore = import_module("truststore")
    except ImportError:
        return ssl.create_default_context()
    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _masked(text: str) -> str:
    return mask(text)[0]
