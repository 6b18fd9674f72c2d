"""A small real HTTP server on 127.0.0.1 that speaks the Messages API, and misbehaves in the ways that servers do."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    #: What a request gets: one of the functions below, or any that writes to the handler.
    Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, keeps it, and answers with the next reply; the last one is repeated."""

    server: Server
    body: dict[str, Any]

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.body = json.loads(self.rfile.read(length))
        server = self.server
        with server.lock:
            server.requests.append((self.path, {key.lower(): value for key, value in self.headers.items()}, self.body))
            reply = server.replies[min(len(server.requests), len(server.replies)) - 1]
        try:
            reply(self)
        except (BrokenPipeError, ConnectionResetError):
            return  # the client has had enough, which is what some tests are about

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


class Server(ThreadingHTTPServer):
    """The server; use it as a context manager. `requests` holds (path, headers, body) of every request."""

    daemon_threads = True

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = list(replies)
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def prompts(self) -> list[str]:
        """What the model was asked, request by request."""
        return [body["messages"][0]["content"] for _path, _headers, body in self.requests]

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.shutdown()
        self.server_close()


def message(handler: Handler, content: list[dict[str, Any]], stop_reason: str = "tool_use") -> None:
    """An answer of the model."""
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": handler.body["model"],
        "content": content,
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 900, "output_tokens": 100},
    }
    handler.send(200, json.dumps(answer).encode(), content_type="application/json")


def tool(value: Any) -> Reply:
    """The tool filled in with `value`; a function gets the request's body first."""

    def reply(handler: Handler) -> None:
        given = value(handler.body) if callable(value) else value
        used = {"type": "tool_use", "id": "toolu_1", "name": handler.body["tool_choice"]["name"], "input": given}
        message(handler, [{"type": "text", "text": "Let me see."}, used])

    return reply


def words(text: str, stop_reason: str = "end_turn") -> Reply:
    """Words in place of the tool: chatter, or with `refusal` a refusal."""
    return lambda handler: message(handler, [{"type": "text", "text": text}], stop_reason)


def status(code: int, says: str = "no", **headers: str) -> Reply:
    """An error as the API words it."""
    content = json.dumps({"type": "error", "error": {"type": "some_error", "message": says}}).encode()
    return lambda handler: handler.send(code, content, content_type="application/json", **headers)


def raw(content: bytes, **headers: str) -> Reply:
    """Any bytes as a good answer."""
    return lambda handler: handler.send(200, content, **headers)


def hang(seconds: float) -> Reply:
    """No answer for so long."""
    return lambda _handler: time.sleep(seconds)


def drip(seconds: float) -> Reply:
    """A byte now and then, so that no single wait is long."""

    def reply(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return reply


def endless() -> Reply:
    """An answer of 20 MB."""
    return lambda handler: handler.send(200, b'{"content": "' + b"x" * 20_000_000 + b'"}')


def hang_up() -> Reply:
    """The connection is closed without a word."""
    return lambda handler: handler.connection.close()


# -- the same for servers that speak OpenAI's API -----------------------------------------------------------------------


def completion(handler: Handler, spoken: dict[str, Any], reason: str = "tool_calls") -> None:
    """An answer of chat completions."""
    answer = {
        "id": "chatcmpl-1",
        "model": handler.body["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", **spoken}, "finish_reason": reason}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 50, "total_tokens": 750},
    }
    handler.send(200, json.dumps(answer).encode(), content_type="application/json")


def function(arguments: Any) -> Reply:
    """The function called with `arguments`: an object, or the text in its place."""

    def reply(handler: Handler) -> None:
        given = arguments if isinstance(arguments, str) else json.dumps(arguments)
        name = handler.body["tool_choice"]["function"]["name"]
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": given}}
        completion(handler, {"content": None, "tool_calls": [call]})

    return reply


def spoken(text: str, reason: str = "stop", **more: Any) -> Reply:
    """Words in place of the function."""
    return lambda handler: completion(handler, {"content": text, **more}, reason)
