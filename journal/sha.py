"""Hashes without `hashlib`.

`hashlib` loads OpenSSL, which costs a command several milliseconds at start; the interpreter's own C module does not,
and for lines of a few hundred bytes it is faster as well.
"""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,no-redef,unused-ignore]
    except ImportError:
        from hashlib import sha256  # type: ignore[no-redef,unused-ignore,assignment]

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b", "content_hash", "hex_prefix", "sha256"]


def hex_prefix(data: bytes, length: int = 16) -> str:
    """The first `length` hexadecimal digits of SHA-256 over `data`."""
    digest: str = sha256(data).hexdigest()
    return digest[:length]


def content_hash(text: str) -> bytes:
    """What a text is known by: the first 16 bytes of its SHA-256. Half characters count as they are."""
    digest: bytes = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return digest[:16]
