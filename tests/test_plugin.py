"""The plug-in: its manifests, its hooks, and the launcher that finds the program."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from real_client import client

from mait_code.commands.install.programs import HOOKS, PROGRAMS

ROOT = Path(__file__).resolve().parent.parent
LAUNCHER = ROOT / "hooks/launch.sh"
NAME = "mc-hook-session-start"


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / ".claude-plugin" / name).read_text(encoding="utf-8"))
    return loaded


def hooks() -> dict[str, list[dict[str, Any]]]:
    loaded: dict[str, list[dict[str, Any]]] = json.loads((ROOT / "hooks/hooks.json").read_text(encoding="utf-8"))[
        "hooks"
    ]
    return loaded


def test_versions_agree() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert manifest("plugin.json")["version"] == project["version"]
    assert manifest("plugin.json")["name"] == project["name"]
    assert manifest("plugin.json")["license"] == project["license"]


def test_hooks_are_not_repeated() -> None:
    """They are read from their place; naming them again fails on some versions of the client."""
    assert "hooks" not in manifest("plugin.json")


def test_marketplace_names_the_plugin() -> None:
    (plugin,) = manifest("marketplace.json")["plugins"]
    assert plugin["name"] == manifest("plugin.json")["name"]
    assert (ROOT / plugin["source"]).resolve() == ROOT


def test_hooks_are_those_that_install_registers() -> None:
    found = {}
    for event, groups in hooks().items():
        (group,) = groups
        (handler,) = group["hooks"]
        found[event] = (group.get("matcher", ""), handler["command"], handler["timeout"])
    assert "PreToolUse" not in found, (
        "a plug-in's hooks run whatever the settings say, and this one would at every read"
    )
    launcher = 'sh "${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh"'
    assert found == {
        hook.event: (hook.matcher, " ".join([launcher, hook.program, *hook.arguments]), hook.timeout)
        for hook in HOOKS
        if hook.event != "PreToolUse"
    }


# -- the launcher


def launch(
    home: Path, *arguments: str, env: dict[str, str] | None = None, shell: str = "sh"
) -> subprocess.CompletedProcess[bytes]:
    given = {"HOME": str(home), "PATH": "/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT": str(home / "plugin"), **(env or {})}
    command = [*shell.split(), str(LAUNCHER), *arguments]
    return subprocess.run(command, input=b'{"a": 1}' * 20000, capture_output=True, env=given, timeout=30)


def put_program(folder: Path, name: str = NAME) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / name
    script.write_text('#!/bin/sh\necho "$0 $* plugin=$MAIT_CODE_PLUGIN"\nwc -c\n')
    script.chmod(0o755)


PLACES: dict[str, tuple[str, dict[str, str]]] = {
    "uv's links": (".local/bin", {}),
    "uv's environments": (".local/share/uv/tools/mait-code/bin", {}),
    "uv's environments elsewhere": ("tools/mait-code/bin", {"UV_TOOL_DIR": "{home}/tools"}),
    "uv's links elsewhere": ("links", {"UV_TOOL_BIN_DIR": "{home}/links"}),
    "links of the desktop's standard": ("xdg", {"XDG_BIN_HOME": "{home}/xdg"}),
    "pipx": (".local/share/pipx/venvs/mait-code/bin", {}),
    "pipx of old": (".local/pipx/venvs/mait-code/bin", {}),
    "pipx elsewhere": ("px/venvs/mait-code/bin", {"PIPX_HOME": "{home}/px"}),
    "pipx on a Mac": ("Library/Application Support/pipx/venvs/mait-code/bin", {}),
    "the path": ("my bin", {"PATH": "{home}/my bin:/usr/bin:/bin"}),
    "the checkout": ("plugin/.venv/bin", {}),
}


@pytest.mark.parametrize("name", PLACES)
def test_the_program_is_found(home: Path, name: str) -> None:
    place, env = PLACES[name]
    put_program(home / place)
    done = launch(home, NAME, "--flag", "two words", env={key: value.format(home=home) for key, value in env.items()})
    assert done.returncode == 0
    first, second = done.stdout.decode().splitlines()
    assert first == f"{home / place / NAME} --flag two words plugin=1"
    assert second.strip() == "160000", "all of the input goes on to it"


def test_says_once_how_to_install(home: Path) -> None:
    done = launch(home, NAME)
    assert done.returncode == 0
    assert "uv tool install" in json.loads(done.stdout)["systemMessage"]
    assert launch(home, NAME).stdout == b""
    for program in PROGRAMS:
        again = launch(home, program, "--trigger", "stop", env={"CLAUDE_PLUGIN_DATA": str(home / "other")})
        assert again.returncode == 0
        assert again.stderr == b""
        assert bool(again.stdout) == (program == NAME)


def test_is_quiet_where_install_registered_hooks(home: Path) -> None:
    put_program(home / ".local/bin")
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"hooks": {"Stop": [{"hooks": [{"command": "/x/mc-hook-observe"}]}]}}')
    assert launch(home, NAME).stdout == b""
    other = home / "elsewhere"
    assert launch(home, NAME, env={"CLAUDE_CONFIG_DIR": str(other)}).stdout != b""
    other.mkdir()
    shutil.copy(home / ".claude/settings.json", other)
    assert launch(home, NAME, env={"CLAUDE_CONFIG_DIR": str(other)}).stdout == b""


def test_quiet_sessions_start_nothing(home: Path) -> None:
    put_program(home / ".local/bin")
    assert launch(home, NAME, env={"MAIT_CODE_QUIET": "1"}).stdout == b""


@pytest.mark.parametrize(
    ("line", "variable", "runs"),
    [
        ("", "", False),
        ("# {key} = true", "", False),
        ("{key} = true", "", True),
        ("other-{key} = true", "", False),
        ('  "{key}"="ON"   # mine', "", True),
        ("{key} = false", "", False),
        ("{key} = false", "yes", True),
        ("{key} = true", "off", False),
        ("{key} = true", "0", False),
    ],
)
def test_what_is_off_is_not_started(
    home: Path, line: str, variable: str, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launcher reads the setting as the program does."""
    program, key = "mc-hook-prompt", "inject-on-prompt"
    from mait_code.journal import settings

    put_program(home / ".local/bin", program)
    (home / "config/mait-code").mkdir(parents=True)
    (home / "config/mait-code/settings.toml").write_text(line.format(key=key) + "\n")
    env = {"XDG_CONFIG_HOME": str(home / "config")}
    if variable:
        env["MAIT_CODE_" + key.upper().replace("-", "_")] = variable
        monkeypatch.setenv("MAIT_CODE_" + key.upper().replace("-", "_"), variable)
    assert bool(launch(home, program, env=env).stdout) == runs
    assert settings.value(key) == runs


@pytest.mark.parametrize("arguments", [[], ["nonsense"], [""]])
def test_never_fails(home: Path, arguments: list[str]) -> None:
    done = launch(home, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_bare_environment(home: Path) -> None:
    done = subprocess.run(
        ["sh", str(LAUNCHER), NAME], input=b"", capture_output=True, env={"PATH": "/usr/bin:/bin"}, timeout=30
    )
    assert done.returncode == 0
    assert b"unbound" not in done.stderr


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "busybox sh", "zsh"])
def test_launcher_is_plain_shell(home: Path, shell: str) -> None:
    if shutil.which(shell.split()[0]) is None:
        pytest.skip(f"{shell} is not on this machine")
    put_program(home / ".local/bin")
    assert b"plugin=1" in launch(home, NAME, shell=shell).stdout


def test_launcher_names_every_program() -> None:
    text = LAUNCHER.read_text()
    assert set(re.findall(r"mc-hook-[a-z-]+[a-z]", text)) <= set(PROGRAMS)
    assert os.access(LAUNCHER, os.X_OK)


# -- the real client


def test_the_client_takes_the_plugin(home: Path) -> None:
    env = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    }
    command = [client.required(), "plugin", "validate", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout
    for path in ROOT.glob("skills/*"):
        assert f"mait-code:{path.name}" in done.stdout


# -- what the plug-in tells, since it cannot have CLAUDE.md import it


def start(home: Path, source: str = "startup", plugin: bool = True) -> str:
    """What the real hook says through the launcher, at the start of a session."""
    import sys

    put = home / ".local/bin"
    put.mkdir(parents=True, exist_ok=True)
    script = put / NAME
    call = "from mait_code.hooks.session_start import main; main()"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{call}"\n')
    script.chmod(0o755)
    command = ["sh", str(LAUNCHER), NAME] if plugin else [str(script)]
    given = json.dumps({"session_id": "s", "cwd": str(home), "hook_event_name": "SessionStart", "source": source})
    done = subprocess.run(command, input=given.encode(), capture_output=True, cwd=home, timeout=60)
    assert done.returncode == 0
    assert done.stderr == b""
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def test_documents_travel_in_the_session_context(home: Path) -> None:
    from mait_code.commands.install import identity

    data = home / "data"
    identity.write(str(data))
    assert start(home) == "", "templates that nobody filled in say nothing"
    soul = data / "soul_document.md"
    soul.write_text(soul.read_text() + "\nNever force-push.\n")
    (data / "user_context.md").write_text("# Me\n\nI write Rust. 🦀\n\n## Tools\n\n# Empty\n<!-- one\ntwo -->\n")
    (data / "memory").mkdir()
    (data / "memory/MEMORY.md").write_text("- the port is 5432\n")
    assert start(home) == (
        "# Who Claude is to me\n\n## Never\n\nNever force-push.\n\n# Me\n\nI write Rust. 🦀\n\n- the port is 5432"
    )
    assert start(home, "resume") == "", "the client replays what was told"
    assert start(home, plugin=False) == "", "CLAUDE.md imports them"


def test_documents_never_fill_the_context_over_its_limit(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data/soul_document.md").write_text("🦀 twelve cells\n" * 3000)
    told = start(home)
    assert 9000 < len(told.encode("utf-16-le")) // 2 < 10000
    assert set(told.splitlines()) == {"🦀 twelve cells"}


def test_older_hooks_are_told_of(home: Path) -> None:
    folder = home / ".local/share/mait-code"
    folder.mkdir(parents=True)
    (folder / "install.json").write_text('{"schema_version": 3, "stamp": "1:1", "places": {}}')
    (home / "data").mkdir()
    assert "mait-code install" in start(home, plugin=False)
