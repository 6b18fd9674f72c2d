"""Settings: one registry of keys, and where each value comes from.

A value is the environment's (`MAIT_CODE_` and the key in capitals), else that of `settings.toml`, else the default.
What is wrong costs itself only: an unusable value falls back for its own key, an unreadable line for its own line, and
`problems` names both. Where there is no file none of the TOML machinery is loaded.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final

from mait_code.journal.errors import BadInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

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

Value = str | int | float | bool


class Problem:
    """Something in the settings that could not be used. `where` is a variable's name, or file:line."""

    __slots__ = ("key", "message", "where")

    def __init__(self, where: str, message: str, key: str = "") -> None:
        self.where = where
        self.message = message
        self.key = key

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class Setting:
    """One key: its type, default, what values it takes, and what changing it needs.

    `kind` is text, path, int, float, bool or choice. `low` and `high` are inclusive. `unit` is for people ("seconds").
    `needs` is empty, or what has to follow a change: "move" (the data directory).
    """

    __slots__ = ("choices", "default", "help", "high", "key", "kind", "low", "needs", "unit")

    def __init__(
        self,
        key: str,
        kind: str,
        default: Value,
        help: str,  # noqa: A002
        choices: tuple[str, ...] = (),
        low: float | None = None,
        high: float | None = None,
        unit: str = "",
        needs: str = "",
    ) -> None:
        self.key = key
        self.kind = kind
        self.default = default
        self.help = help
        self.choices = choices
        self.low = low
        self.high = high
        self.unit = unit
        self.needs = needs

    @property
    def variable(self) -> str:
        """The environment variable that overrides the file."""
        return "MAIT_CODE_" + self.key.upper().replace("-", "_")

    @property
    def accepts(self) -> str:
        """What values it takes, for people."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.kind in ("int", "float"):
            name = "a whole number" if self.kind == "int" else "a number"
            if self.low is not None and self.high is not None:
                return f"{name} from {self.low:g} to {self.high:g}"
            return f"{name} of at least {self.low:g}" if self.low is not None else name
        return {"bool": "true or false", "path": "a path", "text": "text"}[self.kind]

    def parse(self, raw: object) -> Value:
        """The typed value of what a file or a person gave. Raises BadInput where it is none."""
        parsed = self._convert(raw)
        if parsed is None or not self._in_range(parsed):
            raise BadInput(f"{self.key} takes {self.accepts}, not {raw!r}", f"the default is {self.shown_default}")
        return parsed

    def _convert(self, raw: object) -> Value | None:
        if self.kind == "bool":
            if isinstance(raw, bool):
                return raw
            word = str(raw).strip().lower()
            return (
                True if word in ("true", "yes", "on", "1") else False if word in ("false", "no", "off", "0") else None
            )
        if self.kind in ("int", "float"):
            return _number(raw, self.kind)
        if not isinstance(raw, str) or not raw.strip() or "\0" in raw:
            return None
        if self.kind == "choice":
            return next((choice for choice in self.choices if choice.lower() == raw.strip().lower()), None)
        return os.path.expanduser(raw) if self.kind == "path" else raw

    def _in_range(self, parsed: Value) -> bool:
        if isinstance(parsed, (str, bool)):
            return True
        return (self.low is None or parsed >= self.low) and (self.high is None or parsed <= self.high)

    @property
    def shown_default(self) -> str:
        """The default as the reference shows it."""
        return str(self.default).lower() if isinstance(self.default, bool) else str(self.default)


def _number(raw: object, kind: str) -> Value | None:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        return None
    try:
        number = float(raw)
        if kind == "float":
            return number if number - number == 0 else None  # neither infinite nor NaN
        return int(raw) if not isinstance(raw, float) or number.is_integer() else None
    except (ValueError, OverflowError):
        return None


#: Every key there is. A new one is one entry here; the reference page and `mait-code settings` follow.
REGISTRY: Final[tuple[Setting, ...]] = (
    Setting("data-dir", "path", "~/.claude/mait-code-data", "Where the journal and your documents live.", needs="move"),
    Setting(
        "log-level",
        "choice",
        "INFO",
        "What the invocation log keeps: every command, only those that failed, or only faults.",
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
    ),
    Setting(
        "log-file", "path", "$XDG_STATE_HOME/mait-code/logs/invocations.jsonl", "Where the invocation log is written."
    ),
    Setting("log-backup-count", "int", 14, "How long rotated logs are kept.", low=1, high=3650, unit="days"),
    Setting("git-timeout", "int", 5, "How long a local git command may take.", low=1, high=3600, unit="seconds"),
    Setting("sync-timeout", "int", 30, "How long a fetch or a push may take.", low=1, high=3600, unit="seconds"),
    Setting("embedding-provider", "choice", "local", "Who turns texts into vectors.", choices=("local", "bedrock")),
    Setting("embedding-model", "text", "packaged", "The packaged model, or one that fastembed knows by name."),
    Setting("embedding-download", "bool", False, "Whether reindex may download a model that is not on this machine."),
    Setting("bedrock-model-id", "text", "amazon.titan-embed-text-v2:0", "The embedding model at Amazon Bedrock."),
    Setting("bedrock-region", "text", "default", "Where it runs; by default where AWS's own configuration says."),
    Setting("ranking", "choice", "best", "How search orders what it finds.", choices=("best", "classic")),
    Setting("score-weight-recency", "float", 0.3, "Classic ranking: weight of how recent a memory is.", low=0, high=1),
    Setting("score-weight-importance", "float", 0.3, "Classic ranking: weight of its importance.", low=0, high=1),
    Setting("score-weight-relevance", "float", 0.4, "Classic ranking: weight of how well it fits.", low=0, high=1),
    Setting(
        "half-life-episodic",
        "float",
        3,
        "After how long an event is half forgotten.",
        low=0.01,
        high=36500,
        unit="days",
    ),
    Setting(
        "half-life-semantic", "float", 90, "After how long a fact is half forgotten.", low=0.01, high=36500, unit="days"
    ),
    Setting(
        "half-life-procedural",
        "float",
        180,
        "After how long a procedure is half forgotten.",
        low=0.01,
        high=36500,
        unit="days",
    ),
    Setting(
        "scope-boost-global", "float", 0.7, "Classic ranking: factor of what belongs to no project.", low=0, high=1
    ),
    Setting(
        "scope-boost-cross-project", "float", 0.3, "Classic ranking: factor of other projects' memories.", low=0, high=1
    ),
    Setting("review-threshold", "float", 0.5, "A memory recalled less than this is due for review.", low=0, high=1),
    Setting(
        "review-min-importance", "int", 5, "Memories less important than this are never due for review.", low=1, high=10
    ),
    Setting("reflection-model", "text", "haiku", "The model that reflects on memories."),
    Setting("reflection-batch-size", "int", 50, "Memories in one reflection.", low=1, high=1000),
    Setting(
        "reflection-novelty-gate",
        "int",
        3,
        "With fewer new memories than this there is no reflection.",
        low=0,
        high=1000,
    ),
    Setting(
        "capture",
        "choice",
        "understanding",
        "What is recorded of sessions: evidence and what a model makes of it, evidence alone, or nothing.",
        choices=("understanding", "evidence", "off"),
    ),
    Setting("capture-by-project", "text", "none", "Other choices for some projects: owner/repo=evidence, other=off."),
    Setting("excluded-projects", "text", "none", "Projects of which nothing is recorded: owner/repo, work*."),
    Setting("auto-sync", "bool", False, "Whether sessions sync with the remote when they start and end."),
    Setting("inject-on-prompt", "bool", False, "Whether memories that match a prompt are added to it."),
    Setting("file-context", "bool", False, "Whether what is known of a file is added when it is read."),
    Setting(
        "context-characters",
        "int",
        6000,
        "How long what a session is told at its start may be.",
        low=500,
        high=9500,
        unit="characters",
    ),
    Setting("context-sessions", "int", 1, "How many earlier sessions it tells of.", low=0, high=10),
    Setting("context-observations", "int", 20, "How many recent observations it lists.", low=0, high=200),
    Setting(
        "llm-provider",
        "choice",
        "auto",
        "Who is asked: the Messages API, the client, a server that speaks OpenAI's API, or nobody. Auto takes the first"
        " of the first two that there is.",
        choices=("auto", "anthropic", "claude", "openai-compatible", "none"),
    ),
    Setting("extraction-model", "text", "haiku", "The model that understands sessions."),
    Setting(
        "llm-daily-tokens",
        "int",
        300_000,
        "What understanding may take in a day; then there is evidence only. What you start yourself is counted too.",
        low=0,
        high=1_000_000_000,
        unit="tokens",
    ),
    Setting("mode", "text", "code", "What is looked for in sessions: code, writing, research, or one of your own."),
    Setting("mode-by-project", "text", "none", "Other modes for some projects: owner/repo=research, notes*=writing."),
    Setting(
        "language", "text", "conversation", "The language that is written of sessions; by default that of each session."
    ),
    Setting("llm-timeout", "int", 90, "How long a model may take to answer.", low=1, high=3600, unit="seconds"),
)

_BY_KEY: Final = {one.key: one for one in REGISTRY}


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


_EMPTY: Final = Contents()
#: Bytes of a file that is looked through before the TOML reader is loaded.
_SMALL: Final = 65536
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
