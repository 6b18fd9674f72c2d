"""A machine on which the real client runs: a home of its own, our program beside this Python, and no network but loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: Nothing listens there: what would leave the machine ends here.
_NOWHERE = "http://127.0.0.1:9"
KEY = "sk-ant-" + "dummy-key-of-the-tests"
PROGRAMS = Path(sys.executable).parent
#: Seconds one run of the client may take.
_PATIENCE = 90


def until(what: str, seen: Callable[[], Any], seconds: float) -> Any:
    """What `seen` returns as soon as that is true; it has so many seconds."""
    end = time.monotonic() + seconds
    while not (found := seen()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.1)
    return found


@dataclass
class Ended:
    """What one run of the client printed, and when it was over (time.monotonic)."""

    session: str
    answer: str
    at: float


class Machine:
    """One machine. `project` is the repository that the client is started in."""

    def __init__(self, folder: Path, claude: str, url: str) -> None:
        self.home = folder / "home"
        self.project = self.home / "rocket"
        self.claude = claude
        self.project.mkdir(parents=True)
        (self.home / ".claude").mkdir()
        (folder / "tmp").mkdir()
        self.environment = {
            "PATH": os.pathsep.join(("/usr/local/bin", "/usr/bin", "/bin")),
            "HOME": str(self.home),
            "USER": "tester",
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(folder / "tmp"),
            "CLAUDE_CODE_TMPDIR": str(folder / "tmp"),
            "TZ": "UTC",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            "HTTP_PROXY": _NOWHERE,
            "HTTPS_PROXY": _NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "MAIT_CODE_MACHINE_ID": folder.name,
        }
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", "https://example.org/acme/rocket.git")
        self._trust()

    def _trust(self) -> None:
        """What a person answers once: the key, the theme, and that the project is trusted."""
        project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
        answered = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": "99.0.0",
            "theme": "dark",
            "numStartups": 5,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {os.path.realpath(self.project): project},
        }
        (self.home / ".claude.json").write_text(json.dumps(answered))

    def git(self, *arguments: str) -> None:
        """Git, in the project."""
        subprocess.run(["git", "-C", str(self.project), *arguments], check=True, env=self.environment, timeout=60)

    # -- our program

    def mait(self, *arguments: str) -> str:
        """What a command of ours that must succeed prints, in the project."""
        command = [str(PROGRAMS / "mait-code"), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self.project, env=self.environment, timeout=60
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *arguments: str) -> Any:
        """The same as JSON."""
        return json.loads(self.mait(*arguments, "--json"))

    def sessions(self) -> list[str]:
        """The client's ids of the sessions that are recorded."""
        return [one["session"] for one in self.json("sessions", "list", "--all")]

    def recorded(self, session: str) -> dict[str, Any] | None:
        """What is recorded of a session; None while nothing is."""
        return self.json("sessions", "show", session) if session in self.sessions() else None

    def ended(self, session: str, seconds: float = 8) -> dict[str, Any]:
        """What is recorded of a session, once its end is."""

        def seen() -> dict[str, Any] | None:
            found = self.recorded(session)
            return found if found and found["ended"] else None

        return dict(until(f"the end of {session} is recorded", seen, seconds))

    def transcript(self, session: str) -> str:
        """What the client has written of a session."""
        found = self.home.glob(f".claude/projects/*/{session}.jsonl")
        return "".join(path.read_text() for path in found)

    def events(self) -> list[dict[str, Any]]:
        """Every event of this machine's journal."""
        found = sorted(self.home.glob(".claude/mait-code-data/journal/*/*.jsonl"))
        return [json.loads(line) for path in found for line in path.read_bytes().splitlines()]

    def log(self) -> list[dict[str, Any]]:
        """The log of invocations."""
        path = self.home / ".local/state/mait-code/logs/invocations.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def processes(self) -> dict[int, str]:
        """Every process that has this machine's home, where the system shows that: its id and command line."""
        mark = f"\0HOME={self.home}\0".encode()
        found = {}
        for entry in Path("/proc").iterdir() if Path("/proc").is_dir() else ():
            try:
                if entry.name.isdecimal() and mark in b"\0" + (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue  # it is gone, or another user's
        return found

    # -- the client

    def command(self, prompt: str, *arguments: str) -> list[str]:
        """The command line of a session that asks one thing."""
        tools = ["--allowedTools", "Bash,Write,Edit,Read,Agent,Task"]
        return [self.claude, "-p", prompt, "--output-format", "json", *tools, *arguments]

    def ask(self, prompt: str, *arguments: str, **environment: str) -> Ended:
        """Run a session to its end."""
        done = self.run(self.command(prompt, *arguments), **environment)
        at = time.monotonic()
        said = json.loads(done.stdout)
        return Ended(said["session_id"], str(said["result"]), at)

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the client, which must end well."""
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            cwd=self.project,
            env={**self.environment, **environment},
            timeout=_PATIENCE,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done

    def start(self, prompt: str, session: str) -> subprocess.Popen[bytes]:
        """Start a session and leave it running."""
        return subprocess.Popen(
            self.command(prompt, "--session-id", session),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.project,
            env=self.environment,
        )

    def clean_up(self) -> None:
        """End what is still running, so that a failed test leaves nothing behind."""
        for process in self.processes():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
