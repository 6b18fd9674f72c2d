"""One HTTP request, one answer, within a time that nothing can stretch.

The standard library's client takes 60 ms to import where a software development kit takes seconds, knows the proxies of
the environment, and is all that one request needs.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message
    from socket import socket
    from typing import Any
    from urllib.request import OpenerDirector

__all__ = ["Answered", "Lost", "fetch"]

#: Bytes that are read of what comes with an error.
_EXCERPT = 65_536


class Answered(Exception):  # noqa: N818 - it is an answer, though not a good one
    """The server answered with another code than one of success. `body` is the beginning of what it said."""

    def __init__(self, code: int, headers: Message, body: bytes) -> None:
        super().__init__(f"answered {code}")
        self.code = code
        self.headers = headers
        self.body = body


class Lost(Exception):  # noqa: N818
    """There was no answer. `reason` is what was raised; `connected` where the connection came about and was lost."""

    def __init__(self, reason: object, connected: bool) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.connected = connected

    @property
    def lasting(self) -> bool:
        """Whether no other try makes it better: an address or a header that cannot be used, TLS that does not come about."""
        return isinstance(self.reason, ValueError)


def fetch(url: str, headers: dict[str, str], content: bytes | None, left: float, most: int) -> bytes:
    """The body of a good answer, of which at most one byte more than `most` is read. With `content` it is a POST.

    The connection is ended when `left` seconds are over, whatever it is doing: TimeoutError. Raises Answered and Lost.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request

    if left <= 0:
        raise TimeoutError
    watch = _Watch(left)
    try:
        request = Request(url, content, headers)  # noqa: S310  # whoever calls lets http and https through
        with watch:
            try:
                with _opener(watch.over).open(request, timeout=left) as response:
                    raw: bytes = response.read(most + 1)
            except HTTPError as error:
                with error:
                    raise Answered(error.code, error.headers, _excerpt(error.read)) from None
    except (URLError, HTTPException, OSError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if watch.expired or isinstance(reason, TimeoutError):
            raise TimeoutError from error
        raise Lost(reason, connected=not isinstance(error, URLError)) from error
    if watch.expired:
        raise TimeoutError
    return raw


def _excerpt(read: Callable[[int], bytes]) -> bytes:
    from http.client import HTTPException

    try:
        return read(_EXCERPT)
    except (HTTPException, OSError):
        return b""


class _Watch:
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
    """The system's own trust, where a company's proxy is known, and what the client is told to trust besides."""
    import ssl

    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    more = os.environ.get("NODE_EXTRA_CA_CERTS", "")
    if more and os.path.isfile(more):
        context.load_verify_locations(more)
    return context
