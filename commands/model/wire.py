"""One HTTP request, one answer, within a time that nothing can stretch.

The standard library's client takes 60 ms to import where a software development kit takes seconds, knows the proxies of
the environment, and is all that one request needs.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.model.errors import Failed, Limited, ModelFailed, TimedOut, Unreachable
from mait_code.journal.secrets import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import Any
    from urllib.request import OpenerDirector

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
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    if left <= 0:
        raise TimedOut
    headers = {"content-type": "application/json", "user-agent": "mait-code", **headers}
    watch = Watch(left)
    try:
        request = Request(url, content, headers)  # noqa: S310  # base_url lets http and https through
        with watch:
            try:
                with opener(watch.over).open(request, timeout=left) as response:
                    raw: bytes = response.read(_LONGEST + 1)
            except HTTPError as error:
                with error:
                    raise _turned_down(error.code, error.headers.get("Retry-After"), _excerpt(error.read)) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if watch.expired or isinstance(reason, TimeoutError):
            raise TimedOut from error
        raise _lost(reason, variable, connected=not isinstance(error, URLError)) from error
    if watch.expired:
        raise TimedOut
    if len(raw) > _LONGEST:
        raise Failed(f"the model's answer is longer than {_LONGEST // 2**20} MiB")
    return raw


def _lost(reason: object, variable: str, connected: bool) -> ModelFailed:
    """`connected` where the connection came about, and was lost before there was an answer."""
    lasting = isinstance(reason, ValueError)  # an address or a key that no try makes better; TLS is one too
    said = _masked(str(reason))[:200] or type(reason).__name__
    hint = f"check the network, the proxy and {variable}; nothing was changed"
    broken = connected and not lasting
    return (Failed if broken else Unreachable)(f"the model cannot be reached: {said}", hint, passing=not lasting)


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


def _excerpt(read: Callable[[int], bytes]) -> bytes:
    from http.client import HTTPException

    try:
        return read(65_536)
    except (HTTPException, OSError):
        return b""


class Watch:
    """Ends a connection after some seconds, also one that sends a byte now and then."""

    def __init__(self, left: float) -> None:
        from threading import Timer

        self.expired = False
        self._socket: socket | None = None
        self._timer = Timer(left, self._end)
        self._timer.daemon = True

    def over(self, connected: socket) -> None:
        """Watch over a connection that was just made. Raises TimeoutError where making it took all the time."""
        self._socket = connected
        if self.expired:  # there was nothing to end yet
            raise TimeoutError

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


def opener(watch: Callable[[Any], None]) -> OpenerDirector:
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
    """The system's own trust, where a company's proxy is known, and what the client is told to trust besides."""
    import ssl

    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    more = os.environ.get("NODE_EXTRA_CA_CERTS", "")
    if more and os.path.isfile(more):
        context.load_verify_locations(more)
    return context


def _masked(text: str) -> str:
    return mask(text)[0]
