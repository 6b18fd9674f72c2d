"""A small real server on 127.0.0.1 that does what ntfy does with topics: it keeps what is published and gives it to whoever
polls. `misbehave` puts an answer of one's own in the place of the next ones."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Callable

    #: What a request gets in place of the server's answer.
    Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """GET /topic/json?poll=1&since=..., POST /topic."""

    server: Ntfy
    body: bytes

    def do_GET(self) -> None:
        self._answer(self._poll)

    def do_POST(self) -> None:
        self._answer(self._publish)

    def _answer(self, usual: Callable[[], None]) -> None:
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server = self.server
        with server.lock:
            headers = {key.lower(): value for key, value in self.headers.items()}
            server.requests.append((self.command, self.path, headers, self.body))
            reply = server.replies.pop(0) if server.replies else None
        try:
            if reply is not None:
                reply(self)
            elif server.token and self.headers.get("authorization") != f"Bearer {server.token}":
                self.send(403, b'{"code":40301,"http":403,"error":"forbidden"}\n')
            else:
                usual()
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has had enough, which is what some tests are about

    def _poll(self) -> None:
        parts = urlsplit(self.path)
        topic, _, rest = parts.path.strip("/").partition("/")
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if rest != "json" or asked.get("poll") != "1":
            self.send(400, b'{"error":"not a poll"}')
            return
        with self.server.lock:
            held = self.server.topics.get(topic, [])
            ids = [one.get("id") for one in held]
            # As ntfy does: an id that it does not know (any more) brings all there is.
            start = ids.index(asked["since"]) + 1 if asked["since"] in ids else 0
            content = b"".join(json.dumps(one).encode() + b"\n" for one in held[start:])
        self.send(200, content, content_type="application/x-ndjson")

    def _publish(self) -> None:
        more: dict[str, Any] = {}
        if self.headers.get("title"):
            more["title"] = self.headers["title"]
        if self.headers.get("tags"):
            more["tags"] = self.headers["tags"].split(",")
        if self.headers.get("actions"):
            more["actions"] = json.loads(self.headers["actions"])
        message = self.server.add(urlsplit(self.path).path.strip("/"), self.body.decode(), **more)
        self.send(200, json.dumps(message).encode() + b"\n")

    def send(self, code: int, content: bytes, **headers: str) -> None:
        """A whole answer."""
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Nothing on stderr: the tests look at what the command says there."""


class Ntfy(ThreadingHTTPServer):
    """The server; use it as a context manager. `requests` holds (method, path, headers, body) of every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.topics: dict[str, list[dict[str, Any]]] = {}
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.replies: list[Reply] = []
        self.token = ""
        self.lock = threading.RLock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, topic: str, message: str, **more: Any) -> dict[str, Any]:
        """Put a message into a topic, as ntfy words it. Returns it."""
        with self.lock:
            number = sum(map(len, self.topics.values())) + 1
            raw = {"id": f"msg{number:05d}", "time": int(time.time()), "event": "message", "topic": topic}
            raw |= {"message": message, **more}
            self.topics.setdefault(topic, []).append(raw)
        return raw

    def misbehave(self, *replies: Reply) -> None:
        """Answer the next requests so."""
        self.replies += replies

    def press(self, action: dict[str, Any]) -> None:
        """What a phone does when a button of a notification is pressed."""
        assert action["action"] == "http"
        request = Request(action["url"], action["body"].encode(), action.get("headers", {}), method=action["method"])
        with urlopen(request, timeout=10) as answer:
            assert answer.status == 200

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()


def status(code: int, says: str = "no", **headers: str) -> Reply:
    """An error as ntfy words it."""
    content = json.dumps({"code": code * 100, "http": code, "error": says}).encode()
    return lambda handler: handler.send(code, content, **headers)


def raw(content: bytes) -> Reply:
    """Any bytes as a good answer."""
    return lambda handler: handler.send(200, content)


def drip(seconds: float) -> Reply:
    """A byte now and then, so that no single wait is long."""

    def reply(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return reply


def hang_up() -> Reply:
    """The connection is closed without a word."""
    return lambda handler: handler.connection.close()
