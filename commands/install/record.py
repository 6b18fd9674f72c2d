"""The record of what was installed: `$XDG_DATA_HOME/mait-code/install.json`, and beside it what files were before."""

from __future__ import annotations

import os

import orjson

from mait_code.journal.errors import Refused
from mait_code.journal.home import make_directory, write_atomically
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["SCHEMA", "Place", "Record", "directory", "older_than_program", "source", "stamp"]

#: 1 and 2 were written by the program that had this name before; they name a source and times only.
SCHEMA = 3
FILE = "install.json"


def directory() -> str:
    """Where the record is."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(base, "mait-code")


def source() -> str:
    """What holds skills and agents: the checkout, or the package in site-packages."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def is_checkout() -> bool:
    """Whether this program runs from a checkout: what is linked from there changes with it."""
    return os.path.isfile(os.path.join(source(), "pyproject.toml"))


def stamp() -> str:
    """Changes when another version of the hooks, or of copied skills, is installed. Two looks at the disk."""
    names = ["commands/install/programs.py"] + ([] if is_checkout() else ["skills/recall/SKILL.md"])
    looks = []
    for name in names:
        status = os.stat(os.path.join(source(), name))
        looks.append(f"{status.st_size}:{status.st_mtime_ns}")
    return " ".join(looks)


class Place:
    """What was put into one directory of the client's.

    `files` maps a file to {"before", "after", "backup"}: digests of what it was and what it became (None: it was not
    there), and where the old bytes are. `made` are containers of settings.json, `rules` permission rules. `links` maps
    "skills/NAME" to {"target": PATH} or {"files": {name: digest}}.
    """

    __slots__ = ("data_dir", "files", "links", "made", "rules")

    def __init__(self, raw: dict[str, Any] | None = None) -> None:
        raw = orjson.loads(orjson.dumps(raw or {}))  # of its own: what is changed here is compared with the record
        self.data_dir: str = raw.get("data_dir") or ""
        self.files: dict[str, dict[str, Any]] = raw.get("files") or {}
        self.made: list[str] = raw.get("made") or []
        self.rules: list[str] = raw.get("rules") or []
        self.links: dict[str, dict[str, Any]] = raw.get("links") or {}

    def json(self) -> dict[str, Any]:
        return {
            "data_dir": self.data_dir,
            "files": self.files,
            "made": self.made,
            "rules": self.rules,
            "links": self.links,
        }


class Record:
    """The record as it is on the disk. Raises Refused where a newer program wrote it or it cannot be read."""

    __slots__ = ("_read", "path", "raw")

    def __init__(self) -> None:
        self.path = os.path.join(directory(), FILE)
        self.raw: dict[str, Any] = {}
        self._read = b""
        try:
            with open(self.path, "rb") as file:
                self._read = file.read()
            raw = orjson.loads(self._read)
        except FileNotFoundError:
            return
        except (OSError, orjson.JSONDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no JSON"
            hint = "mend it, or move it away; install makes it again"
            raise Refused(f"{self.path} cannot be read: {reason}", hint) from error
        if type(raw) is not dict:
            raise Refused(f"{self.path} is no record of an installation", "move it away; install makes it again")
        version = raw.get("schema_version", 1)
        if type(version) is not int or version > SCHEMA:
            raise Refused(f"{self.path} was written by a newer mait-code (form {version})", "update this one")
        self.raw = raw

    @property
    def present(self) -> bool:
        """Whether this program, and not the one before it, has installed something."""
        return bool(self.raw.get("places"))

    @property
    def former_source(self) -> str:
        """The source that the record names; links into it are ours to replace."""
        return str(self.raw.get("source_dir") or "")

    def place(self, claude_dir: str) -> Place:
        """What is known of a directory of the client's."""
        places = self.raw.get("places")
        return Place(places.get(claude_dir) if type(places) is dict else None)

    def places(self) -> Iterator[tuple[str, Place]]:
        """Every directory that something was put into."""
        for claude_dir in self.raw.get("places") or {}:
            yield claude_dir, self.place(claude_dir)

    def save(self, claude_dir: str, place: Place | None, installed: bool = True) -> None:
        """Write the record where it changed; `place` None takes the directory out, and the last one the whole record."""
        places = dict(self.raw.get("places") or {})
        if place is None:
            places.pop(claude_dir, None)
        else:
            places[claude_dir] = place.json()
        if not places:
            if os.path.lexists(self.path):
                os.unlink(self.path)
            self.raw = {}
            return
        same = {**self.raw, "places": places, "schema_version": SCHEMA}
        if installed:
            same |= {"version": version(), "source_dir": source(), "stamp": stamp()}
        if same == self.raw and self._read:
            return
        import time

        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        first = self.raw.get("first_installed_at") or self.raw.get("installed_at") or now
        self.raw = {**same, "first_installed_at": first, "updated_at": now}
        make_directory(os.path.dirname(self.path))
        write_atomically(self.path, orjson.dumps(self.raw, option=orjson.OPT_INDENT_2) + b"\n")


def backup_path(claude_dir: str, name: str) -> str:
    """Where the bytes are kept that a file of the client's had before it was first changed."""
    return os.path.join(directory(), "backup", hex_prefix(os.fsencode(claude_dir)), name)


def version() -> str:
    """The version of the program."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("mait-code")
    except PackageNotFoundError:
        return "unknown"


def older_than_program() -> str:
    """One line where what is installed in the client is older than the program, with the command that mends it.

    Empty where it is not, where nothing is installed (a plug-in carries its own), or where that cannot be told.
    """
    try:
        with open(os.path.join(directory(), FILE), "rb") as file:
            raw = orjson.loads(file.read())
        if type(raw) is not dict or not raw.get("stamp") or raw["stamp"] == stamp():
            return ""
    except (OSError, orjson.JSONDecodeError):
        return ""
    return "The hooks or skills in Claude Code are older than mait-code itself; `mait-code install` brings them up."
