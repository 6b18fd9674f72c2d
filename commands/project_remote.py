"""The `origin` URL as git's configuration file has it, read without starting git.

Only the repository's own file counts, so that a person's `insteadOf` rules, which differ between machines, do not
change what a project is called. git itself is asked only where the file includes others before the URL is known.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ask_git", "origin", "values"]

_SECTION = re.compile(r'\s*\[\s*([-.A-Za-z0-9]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY = re.compile(r"\s*([A-Za-z][-A-Za-z0-9]*)[ \t]*(=)?[ \t]*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_LONGEST = 1_000_000


def origin(common: str) -> str:
    """The first URL of the remote `origin` of the repository with this git directory, or an empty string."""
    found, included = _urls(common)
    if not found and included:
        found = _ask_git(common)
    return found[0] if found else ""


def values(common: str, section: str, subsection: str, key: str) -> list[str]:
    """Every value of a key, in order."""
    return [value for place, name, value in _entries(common) if place == (section, subsection) and name == key]


def _urls(common: str) -> tuple[list[str], bool]:
    """The URLs up to the first include that could change which is the first, and whether there was one."""
    found: list[str] = []
    for (section, subsection), key, value in _entries(common):
        if section in ("include", "includeif") and key == "path":
            if not found:
                return [], True
        elif section == "remote" and subsection == "origin" and key == "url":
            # An empty value takes back those before it.
            found = [*found, value] if value else []
    return found, False


def _entries(common: str) -> Iterator[tuple[tuple[str, str], str, str]]:
    """((section, subsection), key, value) of every entry of the configuration file; what is no entry is passed over."""
    try:
        with open(os.path.join(common, "config"), "rb") as file:
            text = os.fsdecode(file.read(_LONGEST))
    except OSError:
        return
    place = ("", "")
    lines = iter(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"))
    for line in lines:
        header = _SECTION.match(line)
        if header:
            place = _place(header)
            line = line[header.end() :]
        entry = _KEY.match(line)
        if entry:
            value = _value(line[entry.end() :], lines) if entry[2] else ""
            yield place, entry[1].lower(), value


def _place(header: re.Match[str]) -> tuple[str, str]:
    section, subsection = header[1], header[2]
    if subsection is None:
        # The old spelling [remote.origin]: all of it in lower case.
        section, _, subsection = section.lower().partition(".")
        return section, subsection
    return section.lower(), re.sub(r"\\(.)", r"\1", subsection)


def _value(rest: str, lines: Iterator[str]) -> str:
    """A value with quotes, escapes, comments and continued lines as git reads them."""
    out: list[str] = []
    quoted = False
    kept = 0
    place = 0
    while place < len(rest):
        letter = rest[place]
        place += 1
        if letter == "\\":
            if place == len(rest):
                rest, place = next(lines, ""), 0
                continue
            out.append(_ESCAPES.get(rest[place], rest[place]))
            place += 1
            kept = len(out)
        elif letter == '"':
            quoted = not quoted
            kept = len(out)
        elif letter in "#;" and not quoted:
            break
        else:
            out.append(letter)
            if quoted or not letter.isspace():
                kept = len(out)
    return "".join(out[:kept])


def _ask_git(common: str) -> list[str]:
    """The same from git, which follows includes; nothing where there is no git or it takes too long."""
    words = ("--git-dir", common, "config", "--local", "--includes", "--null", "--get-all", "remote.origin.url")
    found: list[str] = []
    for value in ask_git("", *words).split("\0")[:-1]:
        found = [*found, value] if value else []
    return found


def ask_git(place: str, *words: str) -> str:
    """What git answers in a directory; nothing where there is no git, it fails, or takes longer than `git-timeout`."""
    import subprocess

    from mait_code.journal import settings

    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run(
            ["git", *words],
            cwd=place or None,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=float(settings.value("git-timeout")),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(answer.stdout)
