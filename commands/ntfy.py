"""ntfy: what was published to a topic, and publishing to one. Every request ends within 15 seconds, whatever happens."""

from __future__ import annotations

import orjson

from mait_code.commands.http_request import Answered, Lost, fetch
from mait_code.journal.errors import Refused
from mait_code.journal.secrets import mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.commands.bridge_config import Channel

__all__ = ["OWN_TAG", "Message", "NtfyFailed", "Polled", "poll", "publish"]

#: Seconds that one request may take, from the first byte to the last.
LONGEST = 15.0
#: The tag of what we publish, so that we know it again where both topics are one.
OWN_TAG = "mait-code"
#: Bytes of an answer that are read: more is asked for by the next poll.
_MOST = 4 * 1024 * 1024
#: Bytes that ntfy takes as a message; what is longer would become an attachment, or be turned down.
_ROOM = 4000
_HINTS = {
    401: "check the token",
    403: "check the token, and what it may do with this topic",
    404: "check the server's address",
    413: "the server takes no message of that length",
    429: "the server has had too many requests; it goes on later by itself",
}


class NtfyFailed(Refused):
    """A request came to nothing. `reached` where the server was there and answered."""

    def __init__(self, message: str, hint: str = "", *, reached: bool = False) -> None:
        super().__init__(message, hint or "nothing is lost: it is tried again by the next run")
        self.reached = reached


class Message:
    """One message of a topic. `time` is in seconds since 1970, 0 where it has none that can be read."""

    __slots__ = ("body", "id", "own", "text", "time")

    def __init__(self, raw: dict[str, Any]) -> None:
        self.id: str = raw["id"]
        self.body = _body(raw)
        time = raw.get("time")
        self.time = float(time) if isinstance(time, (int, float)) and 0 < time < 1 << 40 else 0.0
        tags = raw.get("tags")
        self.own = isinstance(tags, list) and OWN_TAG in tags
        self.text = "\n".join(_parts(raw, self.body))


def _body(raw: dict[str, Any]) -> str:
    body = raw.get("message")
    if not isinstance(body, str):
        return ""
    if raw.get("encoding") == "base64":
        import base64
        import binascii

        try:
            return base64.b64decode(body, validate=True).decode()
        except (binascii.Error, ValueError):
            return body  # bytes that are no text: what came is kept as it came
    return body


def _parts(raw: dict[str, Any], body: str) -> list[str]:
    """Title, text, and the places that the message points at, each on lines of its own."""
    parts = [_field(raw, "title"), body.strip()]
    attachment = raw.get("attachment")
    if isinstance(attachment, dict):
        name, url = _field(attachment, "name"), _field(attachment, "url")
        parts.append(": ".join(filter(None, (name, url))))
    parts.append(_field(raw, "click"))
    kept: list[str] = []
    for part in parts:
        if part and not any(part in one for one in kept):
            kept.append(part)
    return kept


def _field(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    return value.strip() if isinstance(value, str) else ""


class Polled:
    """What a poll brought: messages in the server's order, how many lines were none, whether there is more."""

    __slots__ = ("malformed", "messages", "more")

    def __init__(self, content: bytes) -> None:
        self.messages: list[Message] = []
        self.malformed = 0
        self.more = len(content) > _MOST
        lines = content.split(b"\n")
        if self.more:
            lines.pop()  # cut in the middle; the next poll has all of it
        for line in lines:
            if line.strip():
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            raw = orjson.loads(line)
        except orjson.JSONDecodeError:
            raw = None
        if not isinstance(raw, dict) or not isinstance(raw.get("event", ""), str):
            self.malformed += 1
        elif raw.get("event", "message") == "message":
            if isinstance(raw.get("id"), str) and 0 < len(raw["id"]) <= 200 and raw["id"].isprintable():
                self.messages.append(Message(raw))
            else:
                self.malformed += 1


def poll(channel: Channel, topic: str, since: str = "", left: float = LONGEST) -> Polled:
    """What was published to a topic after the message `since`, or all that the server still has. Raises NtfyFailed."""
    from urllib.parse import quote

    url = f"{channel.server}/{topic}/json?poll=1&since={quote(since or 'all', safe='')}"
    polled = Polled(_exchange(channel, url, {}, None, left))
    if polled.more and not polled.messages:
        raise NtfyFailed(f"{channel.place} sent a message of more than {_MOST // 2**20} MiB", reached=True)
    return polled


def publish(
    channel: Channel,
    topic: str,
    text: str,
    *,
    title: str = "",
    actions: Sequence[dict[str, Any]] = (),
    left: float = LONGEST,
) -> str:
    """Publish a message, cut where it is longer than ntfy takes. Returns its id, empty where the server, which took it,
    does not say. Raises NtfyFailed."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "Tags": OWN_TAG}
    if title:
        headers["Title"] = title.encode("ascii", "replace").decode()
    if actions:
        headers["Actions"] = orjson.dumps(list(actions)).decode()
    raw = _exchange(channel, f"{channel.server}/{topic}", headers, _cut(text).encode("utf-8", "replace"), left)
    try:
        id_ = orjson.loads(raw)["id"]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
    return id_ if isinstance(id_, str) else ""


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= _ROOM else raw[: _ROOM - 3].decode("utf-8", "ignore") + "…"


def _exchange(channel: Channel, url: str, headers: dict[str, str], content: bytes | None, left: float) -> bytes:
    """The body of a good answer, of which at most one byte more than _MOST is read."""
    headers = {"User-Agent": "mait-code", **headers}
    if channel.token:
        headers["Authorization"] = f"Bearer {channel.token}"
    try:
        return fetch(url, headers, content, left, _MOST)
    except TimeoutError as error:
        raise NtfyFailed(f"{channel.place} did not answer in time") from error
    except Answered as answer:
        raise _turned_down(channel, answer) from None
    except Lost as error:
        said = mask(str(error.reason))[0][:200] or type(error.reason).__name__
        hint = "check the network, the proxy and the server's address; nothing is lost"
        raise NtfyFailed(f"{channel.place} cannot be reached: {said}", hint) from error


def _turned_down(channel: Channel, answer: Answered) -> NtfyFailed:
    code = answer.code
    if 300 <= code < 400:
        hint = "name the address it leads to as the server: a token is not sent on"
        return NtfyFailed(f"{channel.place} answered {code}, a redirect", hint, reached=True)
    return NtfyFailed(f"{channel.place} answered {code}{_said(answer.body)}", _HINTS.get(code, ""), reached=True)


def _said(body: bytes) -> str:
    """What the server gave as its reason, where it is ntfy's."""
    try:
        return f": {mask(str(orjson.loads(body)['error']))[0][:200]}"
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
