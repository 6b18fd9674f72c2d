"""The quick reader and the thorough one answer alike, for sound lines and for every way we know to damage one."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from mait_code.journal import event, quick
from mait_code.journal.event import Bad

GOLDEN = Path(__file__).parent / "golden"
LINES = [line for path in sorted(GOLDEN.glob("*.jsonl")) for line in path.read_bytes().split(b"\n")[:-1]]
VALUES: list[Any] = [
    None, 1, 2, 0, -1, 2**53, 1.5, True, "", "x", "x" * 300, [], {}, {"a": 1}, {"a": ["6f1c0b7e9a2d4c5e8b10"]}, {"a": ["zz"]},
    "6f1c0b7e9a2d4c5e8b10", "2024-02-29T02:47:43.554616Z", "2023-02-29T02:47:43.554616Z", "2024-04-31T02:47:43.554616Z",
    "2024-12-31T23:59:59.999999Z", {"due": "2026-01-01T09:00", "zone": "UTC"}, "deleted",
]  # fmt: skip
KEYS = ("session", "tx", "undoes", "sees", "wall", "extra")


def sealed(line: bytes) -> bytes:
    """The line with a checksum that holds."""
    start = line.find(b',"sum":"')
    if start < 0:
        return line
    end = start + 25
    digest = hashlib.sha256(line[:start] + line[end:]).hexdigest()[:16].encode()
    return line[:start] + b',"sum":"' + digest + b'"' + line[end:]


def damaged(line: bytes, chance: random.Random) -> bytes:
    """The line with something else about it."""
    raw = orjson.loads(line)
    ways = chance.randrange(12)
    if ways == 0:
        place = chance.randrange(len(line))
        return line[:place] + bytes([line[place] ^ 1 << chance.randrange(8)]) + line[place + 1 :]
    if ways == 1:
        return line[: chance.randrange(len(line))]
    if ways == 2:
        return chance.choice(
            [line + b"\r", b"\xef\xbb\xbf" + line, line + b" ", b" " + line, line + b"}", line + b"\0"]
        )
    if ways in (3, 4, 5):
        raw[chance.choice([*raw, *KEYS])] = chance.choice(VALUES)
    elif ways in (6, 7):
        raw["data"][chance.choice([*raw["data"], "column", "title"])] = chance.choice(VALUES)
    elif ways == 8:
        raw.pop(chance.choice(list(raw)))
    elif ways == 9:
        deep = chance.choice([95, 98, 99, 100, 101, 120])
        return sealed(
            line.replace(b'"data":{', b'"data":{"deep":' + b"[" * deep + b"]" * deep + b",", 1).replace(b",}", b"}")
        )
    elif ways == 10:
        again = orjson.dumps({chance.choice(list(raw)): chance.choice(VALUES)})[1:-1]
        return sealed(
            chance.choice([line[:-1] + b"," + again + b"}", line.replace(b',"sum"', b"," + again + b',"sum"', 1)])
        )
    else:
        return sealed(line.replace(b",", b", ", 1))
    return sealed(orjson.dumps(raw))


def answer(found: event.Event | Bad) -> tuple[Any, ...]:
    if isinstance(found, Bad):
        return ("bad", found.reason)
    names = [name for name in event.Event.__slots__ if name != "declared"]
    return (type(found).__name__, *(repr(getattr(found, name)) for name in names), getattr(found, "declared", None))


@pytest.mark.parametrize("line", LINES, ids=[str(number) for number in range(len(LINES))])
def test_sound_lines_are_read_by_the_pattern(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    thorough = answer(event.parse(line))
    monkeypatch.delattr(event, "parse")
    assert answer(quick.parse(line)) == thorough


@pytest.mark.parametrize("seed", range(4))
def test_damaged_lines_are_read_alike(seed: int) -> None:
    chance = random.Random(seed)
    kinds = set()
    for _ in range(12_000):
        line = damaged(chance.choice(LINES), chance)
        thorough = answer(event.parse(line))
        assert answer(quick.parse(line)) == thorough, line
        kinds.add(thorough[0])
    assert kinds == {"bad", "Event", "Future"}
