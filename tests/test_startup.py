"""What a command imports. A list of modules does not depend on the machine's speed, as a stopwatch would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from transcripts import Transcript

ROOT = Path(__file__).resolve().parent.parent

#: Dear to import, and needed by no command that people wait for.
HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "csv",
    "ctypes",
    "dateparser",
    "dateutil",
    "decimal",
    "difflib",
    "email",
    "hashlib",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "logging",
    "multiprocessing",
    "numpy",
    "pathlib",
    "pytz",
    "random",
    "regex",
    "rich",
    "secrets",
    "shutil",
    "signal",
    "socket",
    "ssl",
    "statistics",
    "subprocess",
    "tempfile",
    "textual",
    "tomlkit",
    "tomllib",
    "traceback",
    "tzlocal",
    "urllib",
    "watchfiles",
    "xml",
}
#: The floor of a command that touches the journal; help does without.
STORES = {"apsw", "json", "orjson"}

PROBE = """
import sys
before = set(sys.modules)
sys.argv = sys.argv[1:]
import mait_code.commands.cli.main as entry
getattr(entry, sys.argv[0].removeprefix("mc-tool-") if sys.argv[0] != "mait-code" else "main")()
sys.stderr.write("\\n" + repr(sorted(set(sys.modules) - before)).replace("'", '"'))
"""


#: A hook leaves by `os._exit`, and so does the process it starts, which is not looked at.
HOOK_PROBE = """
import os, sys
import orjson, apsw
before = set(sys.modules)
sys.argv = sys.argv[1:]
leave, started = os._exit, os.getpid()
def told(code):
    if os.getpid() == started:
        found = sorted(set(sys.modules) - before)
        os.write(2, ("\\n" + repr(found)).replace("'", '"').encode())
    leave(code)
os._exit = told
__import__("mait_code.hooks." + sys.argv[0], fromlist=["main"]).main()
"""


def loaded(arguments: list[str]) -> tuple[set[str], str]:
    """The modules of one command line, without those that a bare interpreter has, and what it said on stderr.

    Without site: the editable install's own import hook would hide much of what is looked for.
    """
    return _loaded(PROBE, arguments)


def _loaded(probe: str, arguments: list[str], given: bytes = b"") -> tuple[set[str], str]:
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / ".types"), packages]), "MAIT_CODE_DEBUG": "1"}
    command = [sys.executable, "-S", "-c", probe, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, env=env, timeout=60)
    said, _, modules = done.stderr.decode().rpartition("\n")
    assert done.returncode == 0, done.stderr.decode()
    return set(json.loads(modules)), said


def among(modules: set[str], unwanted: set[str]) -> set[str]:
    return {name for name in modules if name in unwanted or name.split(".")[0] in unwanted}


@pytest.mark.parametrize(
    "arguments",
    [
        ["mait-code", "--help"],
        ["mait-code", "board", "--help"],
        ["mc-tool-inbox", "--help"],
    ],
    ids=" ".join,
)
def test_no_store_and_nothing_heavy(arguments: list[str]) -> None:
    modules, said = loaded(arguments)
    assert said == ""
    assert among(modules, HEAVY | STORES) == set()


def test_help_loads_no_command() -> None:
    modules, _ = loaded(["mait-code", "--help"])
    ours = {
        name.removeprefix("mait_code.commands.cli.") for name in modules if name.startswith("mait_code.commands.cli.")
    }
    assert ours == {"main", "frame", "run", "table"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["mait-code", "settings", "get", "git-timeout"],
        ["mait-code", "inbox", "add", "a thought"],
        ["mc-tool-inbox", "list", "--json"],
        ["mait-code", "board", "add", "a card"],
        ["mc-tool-board", "list"],
        ["mait-code", "board", "move", "1", "done"],
        ["mait-code", "reminders", "check"],
        ["mait-code", "reminders", "set", "in 2 weeks", "look"],
    ],
    ids=" ".join,
)
def test_daily_commands_load_nothing_heavy(arguments: list[str]) -> None:
    first, _ = loaded(["mait-code", "board", "add", "the card to move"])
    assert "mait_code.commands.cli.inbox" not in first
    modules, _ = loaded(arguments)
    assert among(modules, HEAVY) == set()
    groups = {name for name in ("inbox", "reminders") if f"mait_code.commands.cli.{name}" in modules}
    assert groups <= set(arguments) | {arguments[0].removeprefix("mc-tool-")}


#: Each hook with what the client tells it; the transcript has a turn that is not recorded yet.
HOOKS = {
    "session_start": {"source": "startup"},
    "observe": {"last_assistant_message": "Done."},
    "prompt": {"prompt": "where does the deploy wait?"},
    "file_context": {"tool_name": "Read", "tool_input": {"file_path": "/home/user/project/src/a.py"}},
    "statusline": {},
}


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_load_nothing_heavy(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their floor is an interpreter with orjson and apsw: click and what it brings are dear here, too."""
    for setting in ("INJECT_ON_PROMPT", "FILE_CONTEXT"):
        monkeypatch.setenv(f"MAIT_CODE_{setting}", "on")
    monkeypatch.setenv("MAIT_CODE_CAPTURE", "evidence")
    loaded(["mait-code", "memory", "store", "the deploy waits for the queue", "--scope", "global"])
    written = Transcript(home / "transcripts")
    written.turn()
    told = {"session_id": written.session, "transcript_path": written.path, "cwd": str(home), **HOOKS[name]}
    modules, said = _loaded(HOOK_PROBE, [name], json.dumps(told).encode())
    assert "Traceback" not in said
    assert f"mait_code.hooks.{name}" in modules
    assert among(modules, HEAVY | {"click", "typing"}) == set()
