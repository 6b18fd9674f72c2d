"""What a remote said, in words: addresses without their secrets, and what git's complaint means. Pure functions on
text."""

from __future__ import annotations

import os
import re

_SECRET = re.compile(r"(\b[a-z][a-z0-9+.-]*://)([^/@\s'\"]+)@", re.IGNORECASE)

#: git's words (in the C locale) for "they know me not" or "there is no such thing": only the user can mend these.
_REFUSED = re.compile(
    r"authentication failed|permission denied|could not read (username|password)|terminal prompts disabled"
    r"|repository not found|repository '.*' not found|access denied|returned error: 40[0-9]"
    r"|host key verification failed"
    r"|invalid username|password authentication was removed|dubious ownership|does not appear to be a git repository"
    r"|'remote-[^' ]*' is not a git command"
    r"|unable to find remote helper|transport '.*' not allowed|cannot run |protocol '.*' is not supported",
    re.IGNORECASE,
)
_RACE = re.compile(r"cannot lock|failed to lock|failed to update ref|incorrect old value|but expected|already exists")
_LOCKED = re.compile(r"'([^'\n]+\.lock)': File exists")
_GENERIC = ("fatal: could not read from remote repository.", "fatal: the remote end hung up unexpectedly")


def without_secrets(text: str) -> str:
    """The text with user names and passwords in addresses struck out. A bare `git@` or another ssh user stays."""

    def strike(found: re.Match[str]) -> str:
        scheme, who = found[1], found[2]
        if ":" not in who and scheme.lower() in ("ssh://", "git+ssh://"):
            return found[0]
        return f"{scheme}***@"

    return _SECRET.sub(strike, text)


def last_line(complaint: str) -> str:
    """The line of git's complaint that says most, without secrets: the last error, or what stood before a generic
    one."""
    lines = []
    for line in re.split(r"[\r\n]+", complaint):
        line = line.strip()
        if line and not line.startswith(("hint:", "Please make sure", "and the repository exists", "remote: Counting")):
            lines.append(line)
    if not lines:
        return ""
    errors = [at for at, line in enumerate(lines) if line.startswith(("fatal:", "error:", "! [", "ssh:"))]
    at = errors[-1] if errors else len(lines) - 1
    while at > 0 and lines[at].lower() in _GENERIC:
        at -= 1
    return without_secrets(lines[at])


def refused(complaint: str) -> bool:
    """Whether the remote was reached and said no (or the address can never work), as against not being reached."""
    return _REFUSED.search(complaint) is not None


def came_second(line: str) -> bool:
    """Whether a push's line says that somebody was first, so that fetching and pushing again can help."""
    return "[rejected]" in line or ("[remote rejected]" in line and _RACE.search(line) is not None)


def lock_named(complaint: str) -> str:
    """The lock file that stopped git, or an empty string."""
    found = _LOCKED.search(complaint)
    return found[1] if found else ""


def is_path(url: str) -> bool:
    """Whether the address is a path of this machine, as git decides it: no scheme, no `host:` before the first
    slash."""
    return "://" not in url and "::" not in url and re.match(r"[^/]*:", url) is None


def is_missing_path(url: str, data: str) -> bool:
    """Whether the remote is a directory that is not there now: a disk that is not mounted, a share that is away."""
    if url.startswith("file://"):
        return not os.path.exists(url[len("file://") :])
    return is_path(url) and not os.path.exists(os.path.join(data, os.path.expanduser(url)))
