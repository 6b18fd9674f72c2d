"""Which commands of dashboard.toml this machine may run.

The file comes along with sync, so a command in it may have been written elsewhere. None is run before a person at this machine
has seen its text and said yes. What is kept is the hash of that text, in the state directory, which is never committed: another
machine's yes counts for nothing here, and a command that changes by one character is asked about again.
"""

from __future__ import annotations

import os

import orjson

from mait_code.journal.sha import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.journal.home import Home

__all__ = ["approve", "approved", "fingerprint"]

_FILE = "dashboard-commands.json"
#: The form of the file, and its most bytes: some fifteen thousand commands.
_FORM, _LARGEST = 1, 1 << 20


def fingerprint(command: str) -> str:
    """What a command is known by: the SHA-256 of its text, in hexadecimal."""
    digest: str = sha256(command.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def approved(home: Home) -> set[str]:
    """The fingerprints that were said yes to. None where the file is damaged, or where others could have written it."""
    try:
        with open(home.in_state(_FILE), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & 0o022 or status.st_size > _LARGEST:
                return set()
            raw = orjson.loads(file.read(_LARGEST))
    except (OSError, orjson.JSONDecodeError):
        return set()
    if not isinstance(raw, dict) or raw.get("form") != _FORM or not isinstance(raw.get("approved"), list):
        return set()
    return {one for one in raw["approved"] if isinstance(one, str)}


def approve(home: Home, commands: Iterable[str]) -> None:
    """Note that a person at this machine has seen these commands and said yes. Raises DiskRefused, Busy."""
    from mait_code.journal.home import make_way, write_atomically
    from mait_code.journal.lock import Lock

    said = {fingerprint(command) for command in commands}
    home.make()
    path = home.in_state(_FILE)
    # Reading the file and writing it are one step: two screens may be asked at once.
    with Lock(f"{path}.lock"):
        before = approved(home)
        if not said <= before:
            make_way(path)
            write_atomically(path, orjson.dumps({"form": _FORM, "approved": sorted(before | said)}) + b"\n")
