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
            with open(path, encoding="ascii") as file:
                found = file.read().strip()
        except (OSError, UnicodeDecodeError):
            continue
        if found:
            return found
    return ""


def fingerprint(home: Home) -> str:
    """Machine, user and real path. Where there is no machine id (macOS) the state directory's inode stands in for it."""
    machine = _machine()
    if not machine:
        try:
            machine = f"inode {os.stat(home.state).st_ino}"
        except OSError:
            machine = "unknown"
    return f"{machine} {os.getuid()} {home.real}"


class Identity:
    """This machine's id. `forked_from` is the id it had before it found itself copied."""

    __slots__ = ("fingerprint", "forked_from", "replica")

    def __init__(self, replica: str, fingerprint: str, forked_from: str = "") -> None:
        self.replica = replica
        self.fingerprint = fingerprint
        self.forked_from = forked_from


def load(home: Home) -> Identity | None:
    """The identity on record, or None where there is none that can be read."""
    try:
        raw = orjson.loads(segments.read(home.in_state("identity.json")) or b"")
        if type(raw) is dict and REPLICA.fullmatch(raw["replica"]):
            return Identity(raw["replica"], str(raw["fingerprint"]), str(raw.get("forked_from") or ""))
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return None


def take_new(home: Home, forked_from: str = "") -> Identity:
    """Take a new id and forget the mark of the old one. Call it only under the append lock."""
    identity = Identity(new_replica(), fingerprint(home), forked_from)
    record = {"replica": identity.replica, "fingerprint": identity.fingerprint, "forked_from": forked_from}
    for name in ("identity.json", "clock"):
        make_way(home.in_state(name))
    # The clock first: killed in between, the clock is not the old identity's any more, and the next writer takes a new
    # one. The other way round it would go on under the new one, and the old one's name would be lost.
    Clock(identity.replica, Clock.load(home).seen).store(home)
    write_atomically(home.in_state("identity.json"), orjson.dumps(record) + b"\n")
    return identity


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
    """Whether this state or this data directory is a copy, or was put back to an earlier day."""
    if identity.fingerprint != fingerprint(home) or mark.replica != identity.replica:
        return True
    directory = os.path.join(home.journal, identity.replica)
    if os.path.islink(directory) or (os.path.exists(directory) and not os.path.isdir(directory)):
        return True  # links are not followed in reading, so what went there would never be seen
    if mark.mark is None:
        return False
    name, offset, length, checksum, _ = mark.mark
    line = segments.read(os.path.join(directory, name), offset, length) or b""
    return len(line) != length or b'"sum":"' + checksum.encode() + b'"' not in line


def describe(home: Home, identity: Identity, label: str = "") -> None:
    """Write `replica.json` once: label, when it was made, what it was forked from."""
    directory = os.path.join(home.journal, identity.replica)
    path = os.path.join(directory, "replica.json")
    if os.path.lexists(path):
        return
    if not os.path.isdir(directory):
        make_directory(directory)
    record: dict[str, Any] = {"label": mask(label)[0] or os.uname().nodename, "created": clock.text(clock.wall())}
    if identity.forked_from:
        record["forked_from"] = identity.forked_from
    write_atomically(path, orjson.dumps(record) + b"\n")


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
