"""The functions that compare vectors inside SQLite: those of sqlite-vec, or the same in Python where it cannot be loaded.

The extension is loaded by the path of its file. Importing its package would import numpy, which costs a search that has
its question's vector already more than all the rest of it.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from operator import mul
from struct import Struct

import apsw

from mait_code.projections.model_files import package_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def load(db: apsw.Connection) -> str:
    """Have `vec_distance_cosine`, `vec_distance_hamming`, `vec_quantize_binary` and `vec_bit` on a connection. Returns an
    empty text, or why they are the slow ones."""
    path, reason = package_file("sqlite_vec", "vec0.so", "vec0.dylib", "vec0.dll")
    if path:
        reason = _load_extension(db, path)
    if reason:
        for name, function, arguments in _IN_PYTHON:
            db.create_scalar_function(name, function, arguments, deterministic=True)
    return reason


def _load_extension(db: apsw.Connection, path: str) -> str:
    try:
        db.enable_load_extension(True)
        try:
            db.load_extension(path)
        finally:
            db.enable_load_extension(False)
    except (apsw.Error, AttributeError) as error:  # an apsw built without extensions has no such methods
        return f"sqlite-vec cannot be loaded from {path}: {error}"
    return ""


@lru_cache(2)
def _struct(size: int) -> Struct:
    return Struct(f"<{size // 4}f")


@lru_cache(8)
def _kept(vector: bytes) -> tuple[tuple[float, ...], float]:
    """The numbers of the vector that all others are compared with, and its length."""
    numbers = _numbers(vector)
    return numbers, sqrt(sum(map(mul, numbers, numbers)))


def _numbers(vector: bytes) -> tuple[float, ...]:
    return _struct(len(vector)).unpack(vector)


def _cosine_distance(one: bytes, other: bytes) -> float | None:
    if len(one) != len(other):
        raise apsw.CorruptError(f"vectors of {len(one)} and {len(other)} bytes")
    numbers, (others, length) = _numbers(one), _kept(other)
    lengths = length * sqrt(sum(map(mul, numbers, numbers)))
    return 1 - sum(map(mul, numbers, others)) / lengths if lengths else None


def _hamming_distance(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "little") ^ int.from_bytes(other, "little")).bit_count()


def _signs(vector: bytes) -> bytes:
    """One bit for each number, the first lowest: whether it is above 0."""
    numbers = _numbers(vector)
    bits = "".join(["1" if number > 0 else "0" for number in reversed(numbers)])
    return int(bits, 2).to_bytes(len(numbers) // 8, "little")


def _same(bits: bytes) -> bytes:
    return bits


_IN_PYTHON: tuple[tuple[str, Callable[..., float | bytes | None], int], ...] = (
    ("vec_distance_cosine", _cosine_distance, 2),
    ("vec_distance_hamming", _hamming_distance, 2),
    ("vec_quantize_binary", _signs, 1),
    ("vec_bit", _same, 1),
)
