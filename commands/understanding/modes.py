"""Modes: what is looked for in sessions. Each is one TOML file, packaged or the user's own.

An own file, modes/NAME.toml in the data directory, goes before a packaged one of that name. It may extend another:
what it leaves out is that one's, types and concepts it names are added, and its guidance follows.
"""

from __future__ import annotations

import os
import re

from mait_code.commands.capture import policy
from mait_code.journal import settings
from mait_code.journal.errors import BadInput, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home

__all__ = ["Mode", "chosen", "in_force", "load", "names"]

USUAL = "code"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PACKAGED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "modes")
#: Characters of a description, types or concepts of a mode, and bytes of its file.
_LONGEST, _MOST, _LARGEST = 4000, 40, 256 * 1024
_KEYS = ("about", "otherwise", "guidance", "extends", "types", "concepts")


class Mode:
    """Types and concepts with what each means, the type of what has none of them, and words for the model."""

    __slots__ = ("about", "concepts", "guidance", "name", "otherwise", "types")

    def __init__(self, name: str) -> None:
        self.name = name
        self.about = ""
        self.guidance = ""
        self.types: dict[str, str] = {}
        self.concepts: dict[str, str] = {}
        self.otherwise = ""


def names(home: Home) -> list[str]:
    """Every mode there is."""
    found = set()
    for folder in (_PACKAGED, home.in_data("modes")):
        try:
            found |= {name[:-5] for name in os.listdir(folder) if name.endswith(".toml") and _NAME.fullmatch(name[:-5])}
        except OSError:
            continue
    return sorted(found)


def check(setting: str, raw: str) -> None:
    """Raises BadInput where a value of `mode` or `mode-by-project` names a mode that there is not."""
    from mait_code.journal.home import Home

    known = names(Home(str(settings.value("data-dir"))))
    pairs = [one.rpartition("=") for one in raw.split(",")] if setting != "mode" and raw != policy.NONE else []
    wanted = [raw] if setting == "mode" else [choice for _, _, choice in pairs]
    for one in wanted:
        if one.strip() not in known:
            raise BadInput(f"{setting}: there is no mode {one.strip()!r}", f"there are {', '.join(known)}")
    for pattern, _, choice in pairs:
        if not pattern.strip():
            raise BadInput(f"{setting} takes pairs such as acme/paper=research, not {choice!r}")


def chosen(project: str | None) -> str:
    """The name of the mode for a project, as the settings `mode` and `mode-by-project` say."""
    special = policy.by_project(str(settings.value("mode-by-project")), project)
    return special or str(settings.value("mode")).strip()


def in_force(home: Home, project: str | None) -> tuple[Mode, str]:
    """The mode for a project, and why the chosen one cannot be used, where it cannot: `code` takes its place."""
    name = chosen(project)
    try:
        return load(home, name), ""
    except (NotFound, BadInput) as error:
        return load(home, USUAL, own=False), error.message


def load(home: Home, name: str, own: bool = True, deep: int = 0) -> Mode:
    """A mode by its name; the packaged one alone without `own`. Raises NotFound, and BadInput where it is none."""
    if not _NAME.fullmatch(name):
        raise NotFound(f"there is no mode {name!r}", f"there are {', '.join(names(home))}")
    places = [home.in_data("modes")] if own else []
    for folder in (*places, _PACKAGED):
        path = os.path.join(folder, f"{name}.toml")
        if os.path.lexists(path):
            return _made(home, name, _read(path), path, deep)
    raise NotFound(f"there is no mode {name!r}", f"there are {', '.join(names(home))}")


def _read(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST + 1)
        if len(raw) > _LARGEST:
            raise ValueError("it is no file of a mode")
        return tomllib.loads(raw.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be used: {error}", "the mode code is used meanwhile") from error


def _made(home: Home, name: str, held: dict[str, Any], path: str, deep: int) -> Mode:
    mode = Mode(name)
    unknown = [key for key in held if key not in _KEYS]
    if unknown:
        raise BadInput(f"{path} has {unknown[0]!r}, which no mode has", f"a mode has {', '.join(_KEYS)}")
    base = held.get("extends")
    if base is not None:
        if deep >= 4 or type(base) is not str:
            raise BadInput(f"{path} extends no mode", "name one, and not itself")
        # A mode of one's own may extend the packaged one that it takes the place of.
        mode = load(home, base, own=base != name, deep=deep + 1)
        mode.name = name
    mode.about = _text(held, "about", path) or mode.about
    mode.guidance = "\n".join(one for one in (mode.guidance, _text(held, "guidance", path)) if one)
    mode.types |= _table(held, "types", path)
    mode.concepts |= _table(held, "concepts", path)
    mode.otherwise = _text(held, "otherwise", path) or mode.otherwise or next(iter(mode.types), "")
    if not mode.types or mode.otherwise not in mode.types:
        raise BadInput(f"{path}: otherwise is none of its types", "name one of the types")
    return mode


def _text(held: dict[str, Any], key: str, path: str) -> str:
    text = held.get(key, "")
    if type(text) is not str or len(text) > _LONGEST:
        raise BadInput(f"{path}: {key} is no text of at most {_LONGEST} characters")
    return text.strip()


def _table(held: dict[str, Any], key: str, path: str) -> dict[str, str]:
    table = held.get(key, {})
    right = type(table) is dict and len(table) <= _MOST
    if not right or not all(_NAME.fullmatch(one) and type(says) is str for one, says in table.items()):
        raise BadInput(f"{path}: {key} is no table of names, each with what it means")
    return {one: says.strip()[:_LONGEST] for one, says in table.items()}
