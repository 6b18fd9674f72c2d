"""One event, one line.

{"kind":"card.moved","v":1,"id":"6f1c...","at":"2026-11-30T15:21:07.123004Z","replica":"k7f3qz9m",
 "seq":1234,"entity":"card/kfhq2m9xt47w","actor":"me","sees":{"column":["<id>"]},"sum":"1f0a...","data":{"column":"done"}}

`kind` comes first (stores skip foreign lines by their first bytes), `data` last and `sum` just before it.
docs/internals/log-format.md has every byte. There is one codec, orjson, and it is strict: whatever two codecs could read
differently is a bad line.
"""

from __future__ import annotations

import re

import orjson

from mait_code.journal import clock
from mait_code.journal.ids import ENTITY, EVENT_ID, REPLICA
from mait_code.journal.kinds import KINDS
from mait_code.journal.sha import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.kinds import Kind

    Key = tuple[str, str, int, str]
    Sees = dict[str, list[str]]

#: Bytes of one line without its newline. Commands cut longer bodies and say so.
LONGEST_LINE = 256 * 1024
#: Objects and arrays inside each other, the line itself counted. States nest a little deeper than lines, and the codec
#: writes no more than 254 levels, so a line beyond this could be read but never folded.
DEEPEST = 100
BOM = b"\xef\xbb\xbf"

_SUM = b',"sum":"'
#: Bytes of `,"sum":"` + 16 digits + `"`.
_SUM_LENGTH = len(_SUM) + 16 + 1
_KIND = b'{"kind":"'
#: What every line of ours begins with, in this order.
_HEAD = ("kind", "v", "id", "at", "replica", "seq", "entity", "actor")
_KIND_NAME = re.compile(r"[a-z][a-z_]{0,40}\.[a-z][a-z_]{0,40}")


class Bad:
    """A line that is no event: `reason` says why, in words for `doctor`."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Event:
    """An event of the log. `data` is checked against its kind and brought to the kind's present version.

    `wall` is the writer's raw clock where it differed from `at` by more than a second, else empty. `shown` is the time
    people are told.
    """

    __slots__ = (
        "actor",
        "at",
        "data",
        "declared",
        "entity",
        "id",
        "kind",
        "replica",
        "sees",
        "seq",
        "session",
        "tx",
        "undoes",
        "v",
        "wall",
    )

    kind: str
    v: int
    id: str
    at: str
    replica: str
    seq: int
    entity: str
    actor: str
    session: str
    tx: str
    undoes: str
    sees: Sees
    wall: str
    data: dict[str, Any]
    #: This event's kind. A `Future` has none.
    declared: Kind

    @property
    def key(self) -> Key:
        """The order key: the same total order on every machine, from the events alone."""
        return (self.at, self.replica, self.seq, self.id)

    @property
    def shown(self) -> str:
        """The time people are told: the wall clock of the machine that wrote it."""
        return self.wall or self.at

    def line(self) -> bytes:
        """The event's line, without newline, checksum included."""
        head: dict[str, Any] = {
            "kind": self.kind,
            "v": self.v,
            "id": self.id,
            "at": self.at,
            "replica": self.replica,
            "seq": self.seq,
            "entity": self.entity,
            "actor": self.actor,
        }
        if self.session:
            head["session"] = self.session
        if self.tx != self.id:
            head["tx"] = self.tx
        if self.undoes:
            head["undoes"] = self.undoes
        if self.sees:
            head["sees"] = self.sees
        if self.wall:
            head["wall"] = self.wall
        before = orjson.dumps(head)[:-1]
        after = b',"data":' + orjson.dumps(self.data) + b"}"
        checksum: str = sha256(before + after).hexdigest()
        return before + b',"sum":"' + checksum[:16].encode() + b'"' + after


class Future(Event):
    """A sound line of a kind or version newer than this program: kept whole, folded after an upgrade."""

    __slots__ = ()


def checksum_fault(line: bytes) -> str:
    """Why the line's checksum does not hold, or an empty string."""
    start = line.find(_SUM)
    if start < 0:
        return "sum is missing"
    end = start + _SUM_LENGTH
    digest: str = sha256(line[:start] + line[end:]).hexdigest()
    return "" if line.startswith(f'{digest[:16]}"'.encode(), start + len(_SUM)) else "checksum"


def _sees_fault(sees: Any) -> str:
    if type(sees) is not dict:
        return "sees is not an object"
    for ids in sees.values():
        if type(ids) is not list:
            return "sees holds something that is no list of ids"
        for one in ids:
            if type(one) is not str or not EVENT_ID.fullmatch(one):
                return "sees holds something that is no event id"
    return ""


def _fill(event: Event, raw: dict[str, Any]) -> str:
    """Take the fields. Why those that may be absent are not right, or an empty string."""
    get = raw.get
    session, sees, wall = get("session"), get("sees"), get("wall")
    if session is not None and (type(session) is not str or len(session) > 200):
        return "session is not a short text"
    for name in ("tx", "undoes"):
        if name in raw and not _is_optional_id(raw[name]):
            return f"{name} is not an event id"
    if wall is not None and not clock.valid(wall):
        return "wall is not a UTC time of 27 characters"
    fault = "" if sees is None else _sees_fault(sees)
    event.kind, event.v, event.id, event.at = raw["kind"], raw["v"], raw["id"], raw["at"]
    event.replica, event.seq, event.entity, event.actor = raw["replica"], raw["seq"], raw["entity"], raw["actor"]
    event.session, event.tx, event.undoes = session or "", get("tx") or event.id, get("undoes") or ""
    event.sees, event.wall, event.data = sees or {}, wall or "", raw["data"]
    return fault


def _is_optional_id(value: Any) -> bool:
    return value is None or (type(value) is str and EVENT_ID.fullmatch(value) is not None)


def _envelope_fault(raw: dict[str, Any]) -> str:
    """Why the fields around `data` are not those of an event, or an empty string."""
    kind, v, id_, replica = raw.get("kind"), raw.get("v"), raw.get("id"), raw.get("replica")
    seq, entity, actor = raw.get("seq"), raw.get("entity"), raw.get("actor")
    if type(kind) is not str or not _KIND_NAME.fullmatch(kind):
        return "kind is not a name such as card.moved"
    if type(v) is not int or not 1 <= v < 2**31:
        return "v is not a version number"
    if type(id_) is not str or not EVENT_ID.fullmatch(id_):
        return "id is not 20 hexadecimal digits"
    if not clock.valid(raw.get("at")):
        return "at is not a UTC time of 27 characters between 1970 and 8999"
    if type(replica) is not str or not REPLICA.fullmatch(replica):
        return "replica is not 8 base-32 characters"
    if type(seq) is not int or not 1 <= seq < 2**53:
        return "seq is not a positive number"
    if type(entity) is not str or not ENTITY.fullmatch(entity):
        return "entity is not a type and 12 base-32 characters"
    if type(actor) is not str or not 0 < len(actor) <= 100:
        return "actor is not a short text"
    if type(raw.get("data")) is not dict:
        return "data is not an object"
    return ""


def _kind_fault(line: bytes, raw: dict[str, Any]) -> str:
    """Stores skip lines by the kind they begin with, so a line must not turn out to be of another (a key that stands
    twice, an escape in the name)."""
    if line.startswith(_KIND) and not line.startswith(f'{{"kind":"{raw["kind"]}"'.encode()):
        return "kind is not the one the line begins with"
    return ""


def _load(line: bytes) -> dict[str, Any] | Bad:
    if len(line) > LONGEST_LINE:
        return Bad(f"longer than {LONGEST_LINE} bytes")
    if b"\0" in line:
        return Bad("NUL bytes")
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            line.decode()
        except UnicodeDecodeError:
            return Bad("not UTF-8")
        return Bad("not JSON")
    if type(raw) is not dict:
        return Bad("not a JSON object")
    if line.count(b"{") + line.count(b"[") > DEEPEST and _is_deeper(raw, DEEPEST):
        return Bad(f"nested deeper than {DEEPEST} levels")
    return raw


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for one in level
            for inner in (one.values() if type(one) is dict else one)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def _settle_twice(line: bytes, raw: dict[str, Any]) -> None:
    """Of a leading key that stands twice the first counts, for stores judge a line by how it begins; the codec keeps the
    last."""
    if line.startswith(orjson.dumps({key: raw.get(key) for key in _HEAD})[:-1]):
        return
    from mait_code.journal.quick import HEAD

    head = HEAD.match(line.decode("latin-1"))
    if head is not None:
        raw.update(zip(_HEAD, head.groups(), strict=True))
        raw["v"], raw["seq"] = int(raw["v"]), int(raw["seq"])


def parse(line: bytes) -> Event | Bad:
    """Read one line (without its newline). Never raises: what is no event comes back as `Bad`.

    A sound line that this program is too old for comes back as `Future`, a subclass of `Event`. Carriage returns and a
    byte order mark around the line are tolerated here; whoever reads files reports them.
    """
    if line[-1:] == b"\r":
        line = line.rstrip(b"\r")
    if line[:3] == BOM:
        line = line[3:]
    raw = _load(line)
    if isinstance(raw, Bad):
        return raw
    _settle_twice(line, raw)
    event = Event()
    fault = _envelope_fault(raw) or _kind_fault(line, raw) or _fill(event, raw) or checksum_fault(line)
    return Bad(fault) if fault else declare(event)


def declare(event: Event) -> Event | Bad:
    """Check the data against its kind, or find that the kind is newer than this program."""
    kind = KINDS.get(event.kind)
    if kind is None or event.v > kind.version:
        event.__class__ = Future
        return event
    if not event.entity.startswith(kind.entities):
        return Bad(f"{kind.name} names an entity that is no {kind.entity}")
    if event.v < kind.version:
        try:
            event.data = kind.upcast(event.v, event.data)
        except (KeyError, TypeError, ValueError, AttributeError):
            return Bad(f"data of version {event.v} cannot be brought to version {kind.version}")
    fault = kind.fault(event.data)
    if fault:
        return Bad(fault)
    event.kind = kind.name  # one string for all events of a kind
    event.declared = kind
    return event
