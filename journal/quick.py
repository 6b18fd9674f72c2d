"""Reading very many lines: one pattern takes a line that is as we write it, and only its data is decoded.

The answer is always that of `event.parse`, which is asked about every line that is in any way different. Making the
pattern and loading OpenSSL, which hashes with the processor's own instructions, take longer than reading a hundred lines:
a command that reads a few has no use for this module.
"""

from __future__ import annotations

import re
from hashlib import sha256

import orjson

from mait_code.journal import event
from mait_code.journal.event import DEEPEST, LONGEST_LINE, Event, declare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.event import Bad

#: From so many bytes of lines on it pays to read them here.
WORTH = 30_000

_AT = (
    r"(?:19[789]\d|[2-8]\d{3})-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z"
)
_TEXT = r'[^"\\\x00-\x1f\x7f-\xff]'
_ID = "[0-9a-f]{20}"
_BASE32 = "[0-9abcdefghjkmnpqrstvwxyz]"
#: Everything up to the data. What is between the braces of `sees` is decoded, so commas need no exactness here.
_LINE = re.compile(
    rf'\{{"kind":"([a-z][a-z_]{{0,40}}\.[a-z][a-z_]{{0,40}})","v":([1-9]\d{{0,8}}),"id":"({_ID})","at":"({_AT})",'
    rf'"replica":"({_BASE32}{{8}})","seq":([1-9]\d{{0,14}}),'
    rf'"entity":"([a-z][a-z_]{{0,30}}/[abcdefghjkmnpqrstvwxyz]{{2}}{_BASE32}{{10}})",'
    r'"actor":"([a-z][a-z0-9/_-]{0,99})",'
    rf'(?:"session":"({_TEXT}{{0,200}})",)?(?:"tx":"({_ID})",)?(?:"undoes":"({_ID})",)?'
    rf'(?:"sees":(\{{(?:"{_TEXT}*":\[(?:"{_ID}",?)*\],?)*\}}),)?(?:"wall":"({_AT})",)?'
    r'"sum":"([0-9a-f]{16})","data":',
    re.ASCII,
)
_SUM = 14
#: Bytes of `,"sum":"` before the digits of the checksum.
_SUM_KEY = 8


def parse(line: bytes) -> Event | Bad:
    """Read one line (without its newline), as `event.parse` does."""
    # A string gives its groups as strings. Latin-1 reads any bytes, and what the pattern takes is ASCII.
    found = _LINE.match(line.decode("latin-1"))
    if found is None or len(line) > LONGEST_LINE:
        return event.parse(line)
    start, end = found.span(_SUM)
    digest: str = sha256(line[: start - _SUM_KEY] + line[end + 1 :]).hexdigest()
    raw = line[found.end() : -1]
    made = Event()
    made.kind, v, made.id, made.at, made.replica, seq, made.entity, made.actor, *optional, checksum = found.groups()
    session, tx, undoes, sees, wall = optional
    try:
        made.data = orjson.loads(raw)
        made.sees = orjson.loads(sees) if sees else {}
    except orjson.JSONDecodeError:
        return event.parse(line)
    if digest[:16] != checksum or type(made.data) is not dict or line[-1] != 125 or _may_be_deep(raw):
        return event.parse(line)
    made.v, made.seq = int(v), int(seq)
    made.session, made.tx, made.undoes, made.wall = session or "", tx or made.id, undoes or "", wall or ""
    return declare(made)


def _may_be_deep(raw: bytes) -> bool:
    return len(raw) > DEEPEST and raw.count(b"{") + raw.count(b"[") >= DEEPEST
