"""The golden lines: what was written once can be read for ever, and is written the same today."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from mait_code.journal.event import Event, Future, parse

GOLDEN = Path(__file__).parent / "golden"
LINES = [line for path in sorted(GOLDEN.glob("*.jsonl")) for line in path.read_bytes().split(b"\n")[:-1]]
NAMES = [f"{number}-{orjson.loads(line)['kind']}" for number, line in enumerate(LINES)]


def test_files_end_with_a_newline() -> None:
    for path in GOLDEN.glob("*.jsonl"):
        content = path.read_bytes()
        assert content.endswith(b"\n"), path.name
        assert b"\r" not in content, path.name
        assert b"\n\n" not in content, path.name


@pytest.mark.parametrize("line", LINES, ids=NAMES)
def test_is_read_and_written_again_byte_for_byte(line: bytes) -> None:
    event = parse(line)
    assert type(event) is Event
    if event.declared.version == event.v:
        assert event.line() == line


@pytest.mark.parametrize("line", LINES, ids=NAMES)
def test_reads_as_the_fields_say(line: bytes) -> None:
    event, raw = parse(line), orjson.loads(line)
    assert isinstance(event, Event)
    assert not isinstance(event, Future)
    assert event.key == (raw["at"], raw["replica"], raw["seq"], raw["id"])
    for name in ("kind", "v", "entity", "actor"):
        assert getattr(event, name) == raw[name]
    assert (event.session, event.undoes, event.wall) == tuple(raw.get(key, "") for key in ("session", "undoes", "wall"))
    assert (event.tx, event.sees) == (raw.get("tx", raw["id"]), raw.get("sees", {}))
    if event.declared.version == event.v:
        assert event.data == raw["data"]


def test_every_optional_key_of_a_line_occurs() -> None:
    assert {"session", "tx", "undoes", "sees", "wall"} <= {key for line in LINES for key in orjson.loads(line)}
