"""Who this machine is in the journal.

A replica is one machine writing in one data directory. Its id stands in the state directory, which is never committed, so
a clone of the data gets an id of its own. Two machines must never append to one file: before each append the fingerprint
(machine, user, path) and the mark (where our last line stood) are compared, and a machine that finds itself copied or put
back to an earlier day takes a new id and notes what it was forked from.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal import clock, segments
from mait_code.journal.errors import DiskRefused
from mait_code.journal.home import PRIVATE_FILE, Home, make_directory, make_way, write_atomically
from mait_code.journal.ids import REPLICA, new_replica
from mait_code.journal.secrets import mask
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The clock file is written in place, so it is padded to one length and a torn write shows as broken JSON.
_CLOCK_BYTES = 256


def _machine() -> str:
    """Something that stays while this is the same machine and differs on a copy of it."""
    given = os.environ.get("MAIT_CODE_MACHINE_ID")
    if given:
        return given
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, "rb") as file:
                found = file.read().decode("ascii").strip()  # which needs no codec to be loaded
        except (OSError, UnicodeDecodeError):
            continue
        if found:
            return found
    return ""


def fingerprint(home: Home, state: str = "") -> str:
    """Machine, user and real path. Where there is no machine id (macOS) the state directory's inode stands in for it;
    `state` names that directory where it is not at its place yet."""
    machine = _machine()
    if not machine:
        try:
            machine = f"inode {os.stat(state or home.state).st_ino}"
        except OSError:
            machine = "unknown"
    return f"{machine} {os.getuid()} {home.real}"


class Identity:
    """This machine's id. `forked_from` is the id it had before it found itself copied, `moving` the fingerprint at the place
    to which our own command is taking it."""

    __slots__ = ("fingerprint", "forked_from", "moving", "replica")

    def __init__(self, replica: str, fingerprint: str, forked_from: str = "", moving: str = "") -> None:
        self.replica = replica
        self.fingerprint = fingerprint
        self.forked_from = forked_from
        self.moving = moving

    def store(self, home: Home) -> None:
        """Write it down. Call it only under the append lock."""
        record = {"replica": self.replica, "fingerprint": self.fingerprint, "forked_from": self.forked_from}
        if self.moving:
            record["moving"] = self.moving
        write_atomically(home.in_state("identity.json"), orjson.dumps(record) + b"\n")


def load(home: Home) -> Identity | None:
    """The identity on record, or None where there is none that can be read."""
    try:
        raw = orjson.loads(segments.read(home.in_state("identity.json")) or b"")
        if type(raw) is dict and REPLICA.fullmatch(raw["replica"]):
            more = [str(raw.get(name) or "") for name in ("forked_from", "moving")]
            return Identity(raw["replica"], str(raw["fingerprint"]), *more)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return None


def take_new(home: Home, forked_from: str = "") -> Identity:
    """Take a new id and forget the mark of the old one. Call it only under the append lock."""
    identity = Identity(new_replica(), fingerprint(home), forked_from)
    for name in ("identity.json", "clock"):
        make_way(home.in_state(name))
    # The clock first: killed in between, the clock is not the old identity's any more, and the next writer takes a new
    # one. The other way round it would go on under the new one, and the old one's name would be lost.
    Clock(identity.replica, Clock.load(home).seen).store(home)
    identity.store(home)
    return identity


def expect_move(old: Home, new: Home) -> None:
    """Have the identities hold at both places while our own command takes data and state from one to the other."""
    for one, other in ((old, new), (Home(old.data, stays=True), Home(new.data, stays=True))):
        identity = load(one)
        if identity is not None and _is_at(identity, fingerprint(one)):
            identity.moving = fingerprint(other, one.state)
            identity.store(one)


def settle_move(home: Home) -> None:
    """Have the identities hold at this place alone, where a move came to its end."""
    for one in (home, Home(home.data, stays=True)):
        identity = load(one)
        if identity is not None:
            _settle(one, identity)


def _settle(home: Home, identity: Identity) -> None:
    if identity.moving and _is_at(identity, here := fingerprint(home)):
        identity.fingerprint, identity.moving = here, ""
        identity.store(home)


def _is_at(identity: Identity, here: str) -> bool:
    return here == identity.fingerprint or bool(identity.moving and here == identity.moving)


class Clock:
    """The machine's clock file: whose it is, the largest time seen, and the mark of our last line. Written under the
    append lock.

    The mark is (segment name, offset, length, checksum, seq): our own file must still hold that line there. A file that is
    missing or damaged loads as nobody's, and its owner takes a new id: what it said can no longer be checked. It carries a
    checksum, because a time of the far future, once believed, would be in every event from then on.
    """

    __slots__ = ("mark", "replica", "seen")

    def __init__(self, replica: str = "", seen: int = 0, mark: tuple[str, int, int, str, int] | None = None) -> None:
        self.replica = replica
        self.seen = seen
        self.mark = mark

    @classmethod
    def load(cls, home: Home) -> Clock:
        content = segments.read(home.in_state("clock"), 0, _CLOCK_BYTES) or b""
        said, _, checksum = content.rstrip().rpartition(b" ")
        if not said or hex_prefix(said).encode() != checksum:
            return cls()
        replica, seen, mark = orjson.loads(said)
        return cls(replica, seen, tuple(mark) if mark else None)

    def store(self, home: Home) -> None:
        said = orjson.dumps([self.replica, self.seen, self.mark])
        text = (said + b" " + hex_prefix(said).encode()).ljust(_CLOCK_BYTES - 1) + b"\n"
        handle = os.open(home.in_state("clock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
        try:
            os.pwrite(handle, text, 0)
        finally:
            os.close(handle)


def copied(home: Home, identity: Identity, mark: Clock) -> bool:
    """Whether this state or this data directory is a copy, or was put back to an earlier day.

    Raises DiskRefused where our own last line is there and cannot be read: a new id would be no better off.
    """
    _settle(home, identity)  # a move was broken off
    if identity.fingerprint != fingerprint(home) or mark.replica != identity.replica:
        return True
    directory = os.path.join(home.journal, identity.replica)
    if os.path.islink(directory) or (os.path.exists(directory) and not os.path.isdir(directory)):
        return True  # links are not followed in reading, so what went there would never be seen
    if mark.mark is None:
        return False
    name, offset, length, checksum, _ = mark.mark
    path = os.path.join(directory, name)
    try:
        line = segments.read_or_raise(path, offset, length) or b""
    except OSError as error:
        raise DiskRefused(
            f"cannot read {path}: {error.strerror}", "check its owner and permissions; nothing was written"
        ) from error
    return len(line) != length or b'"sum":"' + checksum.encode() + b'"' not in line


def describe(home: Home, identity: Identity, label: str = "") -> None:
    """Write `replica.json` once: label, when it was made, what it was forked from."""
    directory = os.path.join(home.journal, identity.replica)
    path = os.path.join(directory, "replica.json")
    if os.path.lexists(path):
        return
    if not os.path.isdir(directory):
        make_directory(directory)
    keep_here(home, directory)
    record: dict[str, Any] = {"label": mask(label)[0] or os.uname().nodename, "created": clock.text(clock.wall())}
    if identity.forked_from:
        record["forked_from"] = identity.forked_from
    write_atomically(path, orjson.dumps(record) + b"\n")


def keep_here(home: Home, directory: str) -> None:
    """Have a directory just made stay on this machine, where its home says so. Before anything else is written in there."""
    if home.stays:
        write_atomically(os.path.join(directory, segments.STAYS), segments.STAYS_CONTENT)


def described(home: Home, directory: str) -> dict[str, Any]:
    """What `replica.json` of a directory says; empty where it is missing or damaged."""
    content = segments.read(os.path.join(home.journal, directory, "replica.json"))
    if content:
        try:
            raw = orjson.loads(content)
        except orjson.JSONDecodeError:
            return {}
        if type(raw) is dict:
            return raw
    return {}
