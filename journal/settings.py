"""Settings: one registry of keys, and where each value comes from.

A value is the environment's (`MAIT_CODE_` and the key in capitals), else that of `settings.toml`, else the default.
What is wrong costs itself only: an unusable value falls back for its own key, an unreadable line for its own line, and
`problems` names both. Where there is no file none of the TOML machinery is loaded.
"""

from __future__ import annotations

import os
import stat

from mait_code.journal.errors import BadInput, NotFound
from mait_code.journal.settings_registry import REGISTRY, Setting, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "REGISTRY",
    "Problem",
    "Resolved",
    "Setting",
    "extra_environment",
    "native_path",
    "path",
    "problems",
    "resolve",
    "setting",
    "value",
]


class Problem:
    """Something in the settings that could not be used. `where` is a variable's name, or file:line."""

    __slots__ = ("key", "message", "where")

    def __init__(self, where: str, message: str, key: str = "") -> None:
        self.where = where
        self.message = message
        self.key = key

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


_BY_KEY = {one.key: one for one in REGISTRY}


class Resolved:
    """A value and where it came from: env, settings or default. `problem` tells why a nearer source was passed over."""

    __slots__ = ("problem", "source", "value")

    def __init__(self, value: Value, source: str, problem: Problem | None = None) -> None:
        self.value = value
        self.source = source
        self.problem = problem


class Contents:
    """What `settings.toml` holds: raw values by key with their line, the [env] table, and what could not be read."""

    __slots__ = ("env", "lines", "problems", "unknown", "values")

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.lines: dict[str, int] = {}
        self.env: dict[str, str] = {}
        self.unknown: list[str] = []
        self.problems: list[Problem] = []


_EMPTY = Contents()
#: Bytes of a file that is looked through before the TOML reader is loaded.
_SMALL = 65536
_read: tuple[object, Contents] | None = None


def path() -> str:
    """`$XDG_CONFIG_HOME/mait-code/settings.toml`."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "mait-code", "settings.toml")


def contents() -> Contents:
    """The file as it is now; read again only when it changed. Empty where there is none."""
    global _read
    name = path()
    try:
        status = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        return _EMPTY
    except OSError as error:
        unreadable = Contents()
        unreadable.problems.append(Problem(name, f"cannot be read ({error.strerror}); defaults are used"))
        return unreadable
    signature = (name, status.st_mtime_ns, status.st_size, status.st_ino)
    if _read is None or _read[0] != signature:
        if stat.S_ISREG(status.st_mode) and _says_nothing(name, status.st_size):
            _read = (signature, Contents())
            return _read[1]
        from mait_code.journal import settings_file

        _read = (signature, settings_file.read(name))
    return _read[1]


def _says_nothing(name: str, size: int) -> bool:
    """Whether a file has comments only, as install writes it: to parse that would double the start of every hook."""
    try:
        with open(name, "rb") as file:
            text = file.read(_SMALL) if size < _SMALL else b"?"
        text.decode()
    except (OSError, UnicodeDecodeError):
        return False
    return all(not row.strip() or row.lstrip()[:1] == b"#" for row in text.split(b"\n"))


def native_path(text: str) -> str:
    """A path that is text, as system calls take it: UTF-8, also in a locale that knows no accents."""
    return text if text.isascii() else os.fsdecode(text.encode(errors="surrogateescape"))


def setting(key: str) -> Setting:
    """The registry's entry. Raises NotFound, with near names as the hint."""
    known = _BY_KEY.get(key)
    if known is None:
        from difflib import get_close_matches

        near = get_close_matches(key, _BY_KEY)
        hint = f"did you mean {' or '.join(near)}?" if near else "mait-code settings list shows every key"
        raise NotFound(f"there is no setting {key!r}", hint)
    return known


def value(key: str) -> Any:
    """The value in force, in the type the registry gives it."""
    return resolve(key).value


def resolve(key: str) -> Resolved:
    """The value in force and its source."""
    entry = setting(key)
    problem: Problem | None = None
    raw = os.environ.get(entry.variable)
    if raw:
        try:
            return Resolved(_anchored(entry, entry.parse(raw)), "env")
        except BadInput as error:
            problem = Problem(entry.variable, f"{error.message}; it is passed over", key)
    held = contents()
    if key in held.values:
        try:
            return Resolved(_from_file(entry, held.values[key]), "settings", problem)
        except BadInput as error:
            problem = problem or Problem(
                f"{path()}:{held.lines.get(key, 1)}", f"{error.message}; it is passed over", key
            )
    return Resolved(default(entry), "default", problem)


def default(entry: Setting) -> Value:
    """The registry's default with its directories filled in."""
    if entry.kind != "path" or not isinstance(entry.default, str):
        return entry.default
    # journal.home knows this place too, but brings in the JSON library, which `--help` does without.
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return os.path.expanduser(entry.default.replace("$XDG_STATE_HOME", state, 1))


def _anchored(entry: Setting, parsed: Value) -> Value:
    # A path in the environment belongs to the shell that set it, so it may be relative to where that shell is.
    return os.path.abspath(parsed) if entry.kind == "path" and isinstance(parsed, str) else parsed


def _from_file(entry: Setting, raw: object) -> Value:
    parsed = entry.parse(native_path(raw) if entry.kind == "path" and isinstance(raw, str) else raw)
    if entry.kind == "path" and isinstance(parsed, str) and not os.path.isabs(parsed):
        raise BadInput(f"{entry.key} takes a path from the root or from ~, not {raw!r}")
    return parsed


def extra_environment() -> dict[str, str]:
    """The [env] table: variables for every run, unless the environment has them already."""
    return contents().env


def problems(keys: Iterable[str] | None = None) -> list[Problem]:
    """What the environment and the file say that is not used: about some keys, or about all and the file itself."""
    found = [] if keys is not None else list(contents().problems)
    for key in _BY_KEY if keys is None else keys:
        problem = resolve(key).problem
        if problem is not None:
            found.append(problem)
    return found
