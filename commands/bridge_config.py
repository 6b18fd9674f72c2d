"""Which channel the bridge uses: `bridge.toml`, beside `settings.toml` in this machine's configuration directory.

It holds a token, so it is private to its user (0600) and lies where nothing is synced: the data directory is a git
repository that travels, and the state directory may be deleted at any time. Each machine has its own, because each may
have a token of its own, which can be revoked without the others.
"""

from __future__ import annotations

import os
import re
import stat

from mait_code.journal import settings
from mait_code.journal.errors import BadInput, DiskRefused, Refused
from mait_code.journal.home import PRIVATE_FILE, make_directory, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["FIELDS", "TOKEN_VARIABLE", "Channel", "is_on", "path", "read", "save"]

#: The fields of the file, in its order.
FIELDS = ("server", "capture_topic", "notify_topic", "token")
#: Overrides the file's token, for machines where secrets come in the environment.
TOKEN_VARIABLE = "MAIT_CODE_BRIDGE_TOKEN"  # noqa: S105  # a variable's name
_LARGEST = 1 << 16  # bytes; nobody writes a longer one
_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}\Z")
_TOKEN = re.compile(r"[!-~]{1,1000}\Z")
_HEADING = (
    "# The channel of mait-code's bridge on this machine; it may hold a token. mait-code bridge configure writes it.\n"
)


class Channel:
    """A server and its topics; blank where nothing is set. `problem` says why it cannot be used as it is."""

    __slots__ = ("capture_topic", "notify_topic", "problem", "server", "token", "token_source")

    def __init__(self, server: str = "", capture_topic: str = "", notify_topic: str = "", token: str = "") -> None:
        self.server = server
        self.capture_topic = capture_topic
        self.notify_topic = notify_topic
        self.token = token
        #: Where the token comes from: file, environment, or empty.
        self.token_source = "file" if token else ""
        self.problem = ""

    @property
    def missing(self) -> list[str]:
        """The required fields that are blank, in words."""
        return [name.replace("_", " ") for name in ("server", "capture_topic") if not getattr(self, name)]

    @property
    def fault(self) -> str:
        """Why there is nothing that could be used; empty where all is well."""
        if self.problem or not self.missing:
            return self.problem
        return f"the bridge has no {' and no '.join(self.missing)} yet"

    @property
    def travels_open(self) -> bool:
        """Whether the token goes over the network as everybody on the way can read it."""
        return bool(self.token) and self.server.startswith("http://") and self.place.split(":")[0] not in _HERE

    @property
    def place(self) -> str:
        """The server as every machine spells it: host, port where it is an unusual one, path."""
        from urllib.parse import urlsplit

        parts = urlsplit(self.server)
        usual = {"http": 80, "https": 443}[parts.scheme]
        port = f":{parts.port}" if parts.port and parts.port != usual else ""
        return f"{parts.hostname}{port}{parts.path}"

    def require(self) -> None:
        """Raise Refused where a required field is blank or the file cannot be read."""
        if self.fault:
            hint = "mait-code bridge configure --server https://example.org --capture-topic NAME sets them"
            raise Refused(self.fault, f"correct {path()}" if self.problem else hint)


_HERE = ("localhost", "127.0.0.1")


def is_on() -> bool:
    """Whether the bridge may use the network at all. Reads one setting and loads nothing."""
    return bool(settings.value("bridge") == "enabled")


def path() -> str:
    """The file, whether it is there or not."""
    return os.path.join(os.path.dirname(settings.path()), "bridge.toml")


def read() -> Channel:
    """The channel of this machine. Raises nothing: what cannot be used is `problem`."""
    name = path()
    channel = Channel()
    try:
        held = _document(name)
        for field in FIELDS:
            given = held.get(field, "")
            if not isinstance(given, str):
                raise BadInput(f"{field} is not text")
            setattr(channel, field, _CHECKS[field](given) if given.strip() else "")
    except BadInput as error:
        channel.problem = f"{name}: {error.message}"
    channel.token_source = "file" if channel.token else ""
    given = os.environ.get(TOKEN_VARIABLE, "").strip()
    if given:
        try:
            channel.token, channel.token_source = _token(given), "environment"
        except BadInput as error:
            channel.problem = channel.problem or f"{TOKEN_VARIABLE}: {error.message}"
    return channel


def _document(name: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(name, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
                raise BadInput("it is no file of settings")
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"it cannot be read ({error.strerror})") from error
    except ValueError as error:
        # What the parser says of it may quote the token.
        raise BadInput("it is not TOML") from error


def is_private() -> bool:
    """Whether nobody else can read the file; so too where there is none."""
    try:
        return not os.stat(path()).st_mode & 0o077
    except OSError:
        return True


def save(fields: dict[str, str]) -> Channel:
    """Write some fields; an empty one is taken out, the others stay as they are, comments too.

    Raises BadInput for what a field does not take, Refused where the file is not TOML (rewriting it would lose what is
    there), and DiskRefused.
    """
    checked = {name: _CHECKS[name](given) if given.strip() else "" for name, given in fields.items()}
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    # A link stays a link: what it points at is replaced.
    name = os.path.realpath(path())
    make_directory(os.path.dirname(name))
    try:
        with open(name, "rb") as file:
            text = file.read().decode("utf-8-sig")
        document = tomlkit.parse(text)
    except FileNotFoundError:
        document = tomlkit.parse(_HEADING)
    except (TOMLKitError, ValueError) as error:
        raise Refused(f"{name} is not TOML", "correct it in an editor, then try again") from error
    except OSError as error:
        raise DiskRefused(f"cannot read {name}: {error.strerror}", "check its permissions") from error
    for field, given in checked.items():
        if given:
            document[field] = given
        else:
            document.pop(field, None)
    write_atomically(name, tomlkit.dumps(document).encode(), PRIVATE_FILE)
    return read()


def _server(given: str) -> str:
    from urllib.parse import urlsplit

    address = given.strip()
    address = (address if "://" in address else f"https://{address}").rstrip("/")
    hint = "it looks like https://example.org"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable, parts = False, None
    if not usable or parts is None or not _TOKEN.match(address):
        raise BadInput("the server is no http or https address", hint)
    if parts.username is not None or parts.query or parts.fragment:
        raise BadInput("the server's address holds more than a place", f"a token goes into its own field; {hint}")
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path}"


def _topic(given: str) -> str:
    if not _TOPIC.match(given.strip()):
        raise BadInput(f"{given.strip()[:80]!r} is no topic", "letters, digits, - and _, at most 64 of them")
    return given.strip()


def _token(given: str) -> str:
    if not _TOKEN.match(given.strip()):
        raise BadInput("the token holds characters that no token has", "give it alone, on one line")
    return given.strip()


_CHECKS: dict[str, Callable[[str], str]] = {
    "server": _server,
    "capture_topic": _topic,
    "notify_topic": _topic,
    "token": _token,
}
