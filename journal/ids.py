"""Identifiers: events, entities, replicas. Their forms never change once a line is written.

event    20 lower-case hexadecimal digits
entity   `type/` and 12 characters of lower-case Crockford base 32, the first two of them letters
replica  8 characters of the same alphabet
"""

from __future__ import annotations

import os
import re

from mait_code.journal.sha import sha256

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LETTERS = "abcdefghjkmnpqrstvwxyz"

EVENT_ID = re.compile(r"[0-9a-f]{20}")
ENTITY = re.compile(r"[a-z][a-z_]{0,30}/[abcdefghjkmnpqrstvwxyz]{2}[0-9abcdefghjkmnpqrstvwxyz]{10}")
REPLICA = re.compile(r"[0-9abcdefghjkmnpqrstvwxyz]{8}")

ENTITY_LENGTH = 12
REPLICA_LENGTH = 8


def new_event_id() -> str:
    """A random event id (80 bits)."""
    return os.urandom(10).hex()


def derived_event_id(kind: str, origin: str) -> str:
    """The id of a fact that comes from outside: two machines that record the same fact agree on it."""
    digest: str = sha256(f"{kind}\0{origin}".encode()).hexdigest()
    return digest[:20]


def _letters(data: bytes, length: int, leading: int) -> str:
    """`length` characters from the bits of `data`; the first `leading` of them are letters."""
    number = int.from_bytes(data, "big")
    out = []
    for place in range(length):
        alphabet = LETTERS if place < leading else ALPHABET
        number, digit = divmod(number, len(alphabet))
        out.append(alphabet[digit])
    return "".join(out)


def new_entity(kind_of_entity: str) -> str:
    """A random entity id of the given type (about 59 bits)."""
    return f"{kind_of_entity}/{_letters(os.urandom(16), ENTITY_LENGTH, 2)}"


def derived_entity(kind_of_entity: str, origin: str) -> str:
    """The entity of a thing known by an outside key, or by its case-folded name."""
    digest = sha256(f"{kind_of_entity}\0{origin}".encode()).digest()
    return f"{kind_of_entity}/{_letters(digest, ENTITY_LENGTH, 2)}"


def new_replica() -> str:
    """A random replica id (40 bits)."""
    return _letters(os.urandom(16), REPLICA_LENGTH, 0)


def derived_replica(content: bytes) -> str:
    """The directory name of adopted lines: the same lines adopted on two machines land in the same file."""
    return _letters(sha256(b"adopted\0" + content).digest(), REPLICA_LENGTH, 0)
