"""Which settings there are: keys, types, defaults, ranges, and the words that command line, editor and reference show."""

from __future__ import annotations

import os

from mait_code.journal.errors import BadInput

__all__ = ["REGISTRY", "Setting", "Value"]

Value = str | int | float | bool


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
REGISTRY: tuple[Setting, ...] = (
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
    Setting(
        "theme",
        "text",
        "mait-dark",
        "The screens' colours: mait-dark, -bubblegum, -aurora, -ember, -syntax, -light, and more.",
    ),
    Setting("git-timeout", "int", 5, "How long a local git command may take.", low=1, high=3600, unit="seconds"),
    Setting(
        "dashboard-tile-timeout",
        "int",
        5,
        "How long a command on the start page may take.",
        low=1,
        high=3600,
        unit="seconds",
    ),
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
    Setting(
        "dedup-string-threshold",
        "float",
        0.85,
        "From this similarity of words on a memory that is not the same is told of as close.",
        low=0.5,
        high=1,
    ),
    Setting(
        "dedup-vector-threshold", "float", 0.92, "From this cosine on two memories are nearly the same.", low=0, high=1
    ),
    Setting(
        "dedup-conflict-threshold",
        "float",
        0.60,
        "From this cosine on two memories are close, and may contradict each other.",
        low=0,
        high=1,
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
    Setting(
        "sync-evidence",
        "bool",
        True,
        "Whether prompts and turns travel; otherwise they stay on this machine, and sessions with their summaries travel.",
    ),
    Setting(
        "auto-sync",
        "bool",
        False,
        "Whether sessions sync with the remote when they start and end; a start waits 3 seconds for it at most.",
    ),
    Setting(
        "bridge",
        "choice",
        "disabled",
        "Whether a topic is drained into the inbox and due reminders are published, when sessions start.",
        choices=("disabled", "enabled"),
    ),
    Setting("bridge-type", "choice", "ntfy", "What the bridge talks to.", choices=("ntfy",)),
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
