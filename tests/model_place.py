"""A model for a test: a server in its place, and nothing of the machine's own on the way to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from messages_server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest
    from messages_server import Reply

    #: model(reply, ...) starts a server and makes it the one that is asked.
    Model = Callable[..., Server]


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, no address and no proxy of the machine's."""
    ours = ("ANTHROPIC_", "OPENAI_")
    for name in [name for name in os.environ if name.lower().endswith("_proxy") or name.startswith(ours)]:
        monkeypatch.delenv(name)


def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    """For a fixture: servers that are closed when the test is over."""
    running: list[Server] = []

    def start(*replies: Reply) -> Server:
        one = Server(*replies).__enter__()
        running.append(one)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", one.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        return one

    yield start
    for one in running:
        one.__exit__()
