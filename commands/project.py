"""Which project this is: the same on two machines whose paths differ, another for two repositories of one basename.

The identity is owner/repo from the `origin` remote; without one it is the name of the main work tree, and outside any
repository the directory's name. The home directory, the root and temporary directories are no project. `.git` is read
here directly: starting git costs more than the rest of a command.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NAME_LENGTH", "branch", "here", "matching", "short_names"]

NAME_LENGTH = 200
#: Directories of a repository's path that name no owner: how some hosts spell their URLs.
_NO_OWNER = ("_git",)


def here(directory: str | None = None) -> str | None:
    """The project of a directory (this process's own by default), or None where there is none."""
    try:
        start = os.path.realpath(directory if directory is not None else os.getcwd())
    except OSError:
        return None
    repository = _find(start)
    if repository is None:
        return None if _is_no_project(start) or _is_scratch(start) else _named(os.path.basename(start))
    if repository.work_tree and _is_no_project(repository.work_tree):
        # A home directory kept in git is no project, but what lies in it may be one.
        return None if _is_no_project(start) else _named(os.path.basename(start))
    from mait_code.commands.project_remote import origin

    url = origin(repository.common)
    identity = identity_of(url, repository.work_tree or repository.common) if url else ""
    return _named(identity or repository.name)


def matching(name: str, known: Iterable[str]) -> list[str]:
    """The known projects that a person means by `name`: itself in whatever case, else those whose short name it is."""
    wanted = name.casefold()
    known = list(known)
    exact = [one for one in known if one.casefold() == wanted]
    return exact or sorted(one for one in known if _short(one).casefold() == wanted)


def short_names(known: Iterable[str]) -> dict[str, str]:
    """Each known project with the name it is shown by: the short one where no other project shares it."""
    known = list(known)
    count: dict[str, set[str]] = {}
    for one in known:
        count.setdefault(_short(one).casefold(), set()).add(one.casefold())
    return {one: _short(one) if len(count[_short(one).casefold()]) == 1 else one for one in known}


def _short(identity: str) -> str:
    return identity.rpartition("/")[2]


def _named(name: str) -> str | None:
    """A name fit for an event: UTF-8, at most 200 characters (the end tells projects apart), or None when empty."""
    readable = os.fsencode(name).decode("utf-8", "replace")
    return readable[-NAME_LENGTH:].strip() or None


def branch(directory: str | None = None) -> str | None:
    """The branch that is checked out where `directory` is (a work tree has its own), or None."""
    try:
        place = os.path.realpath(directory if directory is not None else os.getcwd())
    except OSError:
        return None
    while True:
        entry = os.path.join(place, ".git")
        try:
            git = _follow(entry) if os.path.isfile(entry) else entry
            if git and os.path.isdir(git) and _is_git_directory(git):
                return _branch_in(_line(os.path.join(git, "HEAD")), place)
        except OSError:
            return None
        parent = os.path.dirname(place)
        if parent == place:
            return None
        place = parent


def _branch_in(head: str, place: str) -> str | None:
    if not head.startswith("ref:"):
        return None  # a commit is checked out
    named = head[len("ref:") :].strip()
    if named == "refs/heads/.invalid":
        # Kept in a reftable, which only git reads.
        from mait_code.commands.project_remote import ask_git

        named = ask_git(place, "symbolic-ref", "--quiet", "HEAD").strip()
    return named.removeprefix("refs/heads/")[-NAME_LENGTH:] or None


# -- the repository ---------------------------------------------------------------------------------------------------


class Repository:
    """Where a repository keeps what its work trees share (`common`), its main work tree if known, and its name."""

    __slots__ = ("common", "name", "work_tree")

    def __init__(self, common: str, work_tree: str, name: str) -> None:
        self.common = common
        self.work_tree = work_tree
        self.name = name


def _find(start: str) -> Repository | None:
    """The repository that `start` is in. Submodules are repositories of their own; work trees share one."""
    directory = start
    while True:
        found = _at(directory)
        if found is not None:
            return found
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _at(directory: str) -> Repository | None:
    entry = os.path.join(directory, ".git")
    try:
        is_file = os.path.isfile(entry)
        if is_file or os.path.isdir(entry):
            git = _follow(entry) if is_file else entry
            if git and _is_git_directory(git):
                return _describe(os.path.realpath(git), directory)
        elif os.path.isfile(os.path.join(directory, "HEAD")) and _is_git_directory(directory):
            return _describe(directory, "")
    except OSError:
        return None
    return None


def _follow(entry: str) -> str:
    """What a `.git` file points at."""
    content = _line(entry)
    if not content.startswith("gitdir:"):
        return ""
    return os.path.join(os.path.dirname(entry), content[len("gitdir:") :].strip())


def _line(path: str) -> str:
    with open(path, "rb") as file:
        return os.fsdecode(file.read(8192)).strip("\r\n")


def _is_git_directory(path: str) -> bool:
    """git's own test: HEAD, and refs and objects here or where `commondir` says."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    common = _common(path)
    return os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs"))


def _common(git: str) -> str:
    try:
        content = _line(os.path.join(git, "commondir"))
    except (FileNotFoundError, NotADirectoryError):
        return git
    return os.path.realpath(os.path.join(git, content))


def _describe(git: str, beside: str) -> Repository:
    """`git` is the directory found, `beside` the directory that holds the `.git` entry (empty when inside of it)."""
    common = _common(git)
    base = os.path.basename(common)
    if base == ".git":
        work_tree = os.path.dirname(common)
    elif common == git:
        work_tree = beside  # a submodule, or a repository whose git directory lies elsewhere
    else:
        work_tree = _configured_work_tree(common)
    if work_tree:
        return Repository(common, work_tree, os.path.basename(work_tree))
    bare = base.removesuffix(".git")
    # `project/.bare` beside its work trees: the directory around it has the name.
    if not bare or bare.startswith("."):
        bare = os.path.basename(os.path.dirname(common)).removesuffix(".git")
    return Repository(common, "", bare)


def _configured_work_tree(common: str) -> str:
    from mait_code.commands.project_remote import values

    found = values(common, "core", "", "worktree")
    return os.path.realpath(os.path.join(common, found[-1])) if found else ""


# -- directories that are no project ----------------------------------------------------------------------------------


def _is_no_project(directory: str) -> bool:
    """The root, home and temporary directories, and whatever contains one of them (/home, /var)."""
    inside = directory.rstrip("/") + "/"
    return any(
        (place.rstrip("/") + "/").startswith(inside)
        for place in (os.path.realpath(os.path.expanduser("~")), *_temporary())
    )


def _temporary() -> list[str]:
    named = [os.environ.get(variable, "") for variable in ("TMPDIR", "TEMP", "TMP")]
    places = [*(one for one in named if os.path.isabs(one)), "/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp"]  # noqa: S108
    return [os.path.realpath(place) for place in places]


def _is_scratch(directory: str) -> bool:
    """A directory that mkdtemp or mktemp made: `tmp` and random characters, right inside a temporary one."""
    parent, base = os.path.split(directory)
    if not base.startswith("tmp") or parent not in _temporary():
        return False
    rest = base[3:].lstrip(".")
    return not rest or (len(rest) >= 6 and rest.replace("_", "").isalnum())


# -- URLs -------------------------------------------------------------------------------------------------------------


def identity_of(url: str, base: str = "") -> str:
    """owner/repo of a remote's URL: https, ssh, scp-like, file or a path, with or without user, port and `.git`.

    `base` is the directory that a relative path starts from. A path of one part gets its host in the owner's place, so
    that repositories of one name on two hosts stay apart. Empty where the URL names nothing.
    """
    host, path = _split(url.strip(), base)
    if "%" in path and host is not None:
        from urllib.parse import unquote

        path = unquote(path)
    parts = [part for part in os.path.normpath(path).split("/") if part not in ("", ".", "..", *_NO_OWNER)]
    if parts and parts[-1] == ".git":
        parts.pop()  # the path of a work tree's own git directory
    if not parts:
        return ""
    parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    if len(parts) == 1:
        return f"{host}/{parts[0]}" if host else parts[0]
    return "/".join(parts[-2:])


def _split(url: str, base: str) -> tuple[str | None, str]:
    """Host (None for a plain path, empty for a file URL) and path of a URL."""
    scheme, separator, rest = url.partition("://")
    if separator:
        # Helpers such as `codecommit::` and `ext::` stand before the scheme.
        authority, slash, path = rest.partition("/")
        path = (slash + path).partition("?")[0].partition("#")[0]
        return _host(authority) if scheme != "file" else "", path
    before, colon, after = url.partition(":")
    if colon and "/" not in before:
        bracketed, bracket, rest = url.partition("]:")
        if bracket and "[" in before:
            # git@[::1]:path, and [git@host:port]:path
            return bracketed.rpartition("[")[2].rpartition("@")[2].lower(), rest
        return _host(before), after
    return None, os.path.join(base, url)


def _host(authority: str) -> str:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0][1:].lower()
    return host.partition(":")[0].lower()
