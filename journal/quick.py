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

_AT = (
    r"(?:19[789]\d|[2-8]\d{3})-"
    r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z"
)
_TEXT = r'[^"\\\x00-\x1f\x7f-\xff]'
_ANY_TEXT = r'[^"\\\x00-\x1f]'
_ID = "[0-9a-f]{20}"
_BASE32 = "[0-9abcdefghjkmnpqrstvwxyz]"
_HEAD = (
    rf'\{{"kind":"([a-z][a-z_]{{0,40}}\.[a-z][a-z_]{{0,40}})","v":([1-9]\d{{0,8}}),"id":"({_ID})","at":"({_AT})",'
    rf'"replica":"({_BASE32}{{8}})","seq":([1-9]\d{{0,14}}),'
    rf'"entity":"([a-z][a-z_]{{0,30}}/[abcdefghjkmnpqrstvwxyz]{{2}}{_BASE32}{{10}})",'
    r'"actor":"([a-z][a-z0-9/_-]{0,99})",'
)
#: The fields every line of ours begins with.
HEAD = re.compile(_HEAD, re.ASCII)
#: Everything up to the data. What is between the braces of `sees` is decoded, so commas need no exactness here.
_LINE = re.compile(
    rf'{_HEAD}(?:"session":"({_TEXT}{{0,200}})",)?(?:"tx":"({_ID})",)?(?:"undoes":"({_ID})",)?'
    rf'(?:"sees":(\{{(?:"{_ANY_TEXT}*":\[(?:"{_ID}",?)*\],?)*\}}),)?(?:"wall":"({_AT})",)?'
    r'"sum":"([0-9a-f]{16})","data":',
    re.ASCII,
)
#: The number of the checksum's group; bytes of `,"sum":"` before it, and of `","data":` behind it.
_SUM, _BEFORE, _BEHIND = 14, 8, 9
#: The group of what was seen. It is decoded from the line itself, for the names in it may be of any language.
_SEES = 12
#: Data no longer than this has no room for the brackets of too many levels.
_SHALLOW = 2 * (DEEPEST - 1)
_BRACE = ord("}")


#: Lines that were read once by whoever is about to write them: folding them next need not read them again.
_known: dict[bytes, Event] = {}


def parse_to_write(line: bytes) -> Event | Bad:
    """Read one line that is about to be written, and keep the answer for the `parse` that follows."""
    read = parse(line)
    if type(read) is Event:
        _known[line] = read
    return read


def parse(line: bytes) -> Event | Bad:
    """Read one line (without its newline), as `event.parse` does."""
    if _known and (known := _known.pop(line, None)) is not None:
        return known
    # A string gives its groups as strings. Latin-1 reads any bytes, and what the pattern takes is ASCII.
    found = _LINE.match(line.decode("latin-1"))
    if found is None or line[-1] != _BRACE or len(line) > LONGEST_LINE:
        return event.parse(line)
    start = found.start(_SUM)
    end = start + 16
    raw = line[end + _BEHIND : -1]
    made = Event()
    # fmt: off
    (made.kind, v, made.id, made.at, made.replica, seq, made.entity, made.actor,
     made.session, tx, made.undoes, sees, made.wall, checksum) = found.groups("")
    # fmt: on
    try:
        made.data = data = orjson.loads(raw)
        made.sees = orjson.loads(line[slice(*found.span(_SEES))]) if sees else {}
    except orjson.JSONDecodeError:
        return event.parse(line)
    if type(data) is not dict or (len(raw) > _SHALLOW and raw.count(b"{") + raw.count(b"[") >= DEEPEST):
        return event.parse(line)
    if sha256(line[: start - _BEFORE] + line[end + 1 :]).hexdigest()[:16] != checksum:
        return event.parse(line)
    made.v = 1 if v == "1" else int(v)
    made.seq = int(seq)
    made.tx = tx or made.id
    return declare(made)
