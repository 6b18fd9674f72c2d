"""A Messages API on 127.0.0.1 that answers the real client as it is told to, and keeps what it was asked.

What is answered follows from the request alone: the last thing a person (or a subagent's task) asked says which script, the
number of answers since says how far it has got. So a request that comes twice, or two at once, disturb nothing.
"""

from __future__ import annotations

import itertools
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import messages_server
from messages_server import Server, tool

if TYPE_CHECKING:
    from messages_server import Reply

    Body = dict[str, Any]

#: What is said where no script fits: titles, summaries, questions of the client's own.
OTHERWISE = "Nothing to add."
#: What each answer says that it took.
TOKENS = {"input_tokens": 900, "output_tokens": 100}
_numbers = itertools.count(1)


@dataclass
class Step:
    """One answer: what is said, and which tools are used. `held` keeps it back until the model is let go."""

    text: str = ""
    tools: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    held: bool = False

    @property
    def blocks(self) -> list[dict[str, Any]]:
        said = [{"type": "text", "text": self.text}] if self.text else []
        return said + [
            {"type": "tool_use", "id": f"toolu_{next(_numbers):08d}", "name": name, "input": given}
            for name, given in self.tools
        ]


def use(name: str, **given: Any) -> Step:
    """An answer that uses one tool."""
    return Step(tools=[(name, given)])


def say(text: str) -> Step:
    """An answer in words."""
    return Step(text)


class Model(Server):
    """The server; use it as a context manager.

    `scripts` holds answers by a part of the prompt that they are for. `understanding` answers what our own workers ask.
    """

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = _Handler
        self.scripts: dict[str, list[Step]] = {}
        self.understanding: Reply = tool({"summary": {}})
        self.let_go = threading.Event()

    def on(self, prompt: str, *steps: Step) -> None:
        """What is answered where somebody asks this."""
        self.scripts[prompt] = list(steps)

    def asked(self, prompt: str) -> list[Body]:
        """What was sent in the course of a prompt, request by request."""
        with self.lock:
            bodies = [body for _path, _headers, body in self.requests]
        return [body for body in bodies if not is_ours(body) and body.get("tools") and prompt in _course(body)[0]]

    def asked_by_us(self) -> list[Body]:
        """What our own workers asked."""
        with self.lock:
            return [body for _path, _headers, body in self.requests if is_ours(body)]

    def step_of(self, body: Body) -> Step:
        """The answer to a request of the client's."""
        asked, answers = _course(body)
        steps = (
            next((steps for prompt, steps in self.scripts.items() if prompt in asked), []) if body.get("tools") else []
        )
        return steps[min(answers, len(steps) - 1)] if steps else say(OTHERWISE)

    def __exit__(self, *error: object) -> None:
        self.let_go.set()
        super().__exit__(*error)


def is_ours(body: Body) -> bool:
    """Whether a request comes from one of our workers: they insist on one tool."""
    return "name" in (body.get("tool_choice") or {})


def told(body: Body) -> str:
    """All that a request tells the model of a conversation, as text."""
    return "\n".join(_texts(one) for one in (body.get("system"), *body["messages"]))


def _texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_texts, value))
    if isinstance(value, dict):
        return str(value.get("text") or "") if value.get("type") == "text" else _texts(value.get("content"))
    return ""


def _course(body: Body) -> tuple[str, int]:
    """What was asked last, and how many answers there were since."""
    answers = 0
    for message in reversed(body.get("messages", [])):
        if message["role"] == "assistant":
            answers += 1
        elif message["role"] == "user":
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            said = [one["text"] for one in blocks if one["type"] == "text"]
            asked = [one for one in said if not one.lstrip().startswith("<system-reminder>")]
            if asked and not any(one["type"] == "tool_result" for one in blocks):
                return "\n".join(asked), answers
    return "", answers


class _Handler(messages_server.Handler):
    """Speaks the API as the client wants it: streams, counts, and whatever else it looks up."""

    server: Model

    def do_POST(self) -> None:  # noqa: N802
        length = int(self.headers.get("content-length", 0))
        try:
            self.body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            self.body = {}
        try:
            self._answer(self.path.partition("?")[0])
        except (BrokenPipeError, ConnectionResetError):
            return  # killed, which is what some tests are about

    def do_GET(self) -> None:  # noqa: N802
        self.send(200, b'{"data":[],"has_more":false}', content_type="application/json")

    def do_HEAD(self) -> None:  # noqa: N802
        self.send_response(200)
        self.end_headers()

    def _answer(self, path: str) -> None:
        if path.endswith("/count_tokens"):
            self.send(200, b'{"input_tokens":100}', content_type="application/json")
        elif not path.endswith("/v1/messages"):
            self.send(200, b"{}", content_type="application/json")
        else:
            server = self.server
            with server.lock:
                headers = {key.lower(): value for key, value in self.headers.items()}
                server.requests.append((self.path, headers, self.body))
            if is_ours(self.body):
                server.understanding(self)
            else:
                self._as_scripted(server.step_of(self.body))

    def _as_scripted(self, step: Step) -> None:
        if step.held:
            self.server.let_go.wait(120)
        blocks = step.blocks
        message = {
            "id": f"msg_{next(_numbers):08d}",
            "type": "message",
            "role": "assistant",
            "model": self.body.get("model", "scripted"),
            "content": blocks,
            "stop_reason": "tool_use" if step.tools else "end_turn",
            "stop_sequence": None,
            "usage": TOKENS,
        }
        if self.body.get("stream"):
            self._stream(message)
        else:
            self.send(200, json.dumps(message).encode(), content_type="application/json")

    def _stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()  # HTTP/1.0: the end of the connection is the end of the answer
        self._event("message_start", message={**message, "content": [], "stop_reason": None})
        for index, block in enumerate(message["content"]):
            if block["type"] == "text":
                begin, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                begin = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            self._event("content_block_start", index=index, content_block=begin)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        self._event("message_delta", delta=ended, usage=message["usage"])
        self._event("message_stop")

    def _event(self, name: str, **data: Any) -> None:
        self.wfile.write(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode())
        self.wfile.flush()
