"""Runs the examples of the pages with the real program: python docs/run_examples.py [--write] [PAGE ...]

Each page is run in a temporary home, its blocks in order.

- A block of the language `console` has commands after `$ ` or `NAME $ ` (a machine of that name), each followed by what
  it prints. Where the page shows that, it must be so, but for ids, times and digests, which differ from run to run. An
  id that the page uses again is translated to the real one.
- A block of no language, or `sh`, whose lines are all commands, is run too.
- `ID`, and an id that no command before has printed, stand for a thing that is there; so does a file that is read.

With --write the pages get what was printed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs/tutorial.md", *sorted((ROOT / "docs/how-to").glob("*.md"))]

#: Our programs, and the functions behind them.
PROGRAMS = {
    "mait-code": "main",
    "mait": "main",
    "mc-tool-board": "board",
    "mc-tool-inbox": "inbox",
    "mc-tool-reminders": "reminders",
    "mc-tool-memory": "memory",
}
#: Other commands that a page may have run.
RUNS = ("git", "rm", "cat", "ls", "mkdir", "cd", "export", "eval", "echo")
#: What the pages call the shared repository, the home directory and a machine that has no label.
HUB, HOME, HOST = "git@example.org:you/notes.git", "/home/you", "laptop"

PROMPT = re.compile(r"^(?:([a-z]+) )?\$ (.+)$")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} [A-Z][a-z]{2}( \d{4})?"), "DAY"),
    (re.compile(r"\((in [^),;]+|now|[^),;]+ ago)\)"), "(AWAY)"),
    (re.compile(r"\b\d+(\.\d)? s\b"), "SECONDS"),
)
#: Words that differ from run to run: digests, states, actions, short ids of cards; ids of things, replicas.
_VOLATILE = tuple(
    re.compile(form)
    for form in (
        *(r"[0-9a-f]{64}", r"[0-9a-f]{16}", r"[0-9a-f]{8}", r"\d+[a-z]{2}"),
        *(r"[a-z]{2}[0-9a-z]{3}", r"[a-z]{2}[0-9a-z]{10}", r"[0-9a-z]{8}"),
    )
)
#: What a user's own shell would take in: here only the program is run.
_EVAL = re.compile(r'eval "\$\((.*)\)"')
_WORDS = re.compile(r"\w+|\W")


@dataclass
class Example:
    """One command of a page: the machine it runs on, the lines it should print (None where the page does not say)."""

    line: int
    machine: str
    command: str
    expected: list[str] | None


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """(number of its first line, language, content) of every fenced block."""
    for found in _FENCE.finditer(text):
        yield text[: found.start(2)].count("\n") + 1, found[1], found[2]


def examples(text: str) -> list[Example]:
    """The commands of a page, in order."""
    found: list[Example] = []
    for first, language, content in blocks(text):
        rows = content.splitlines()
        if language == "console":
            for number, row in enumerate(rows, first):
                prompt = PROMPT.match(row)
                if prompt:
                    found.append(Example(number, prompt[1] or "", prompt[2], []))
                elif found and found[-1].expected is not None:
                    found[-1].expected.append(row)
        elif language in ("", "sh") and all(is_command(row) for row in rows if row.strip()):
            found += [Example(number, "", row, None) for number, row in enumerate(rows, first) if row.strip()]
    return found


def is_command(row: str) -> bool:
    """Whether a line of a block without prompts is a command line."""
    first = row.split()[0]
    return first in PROGRAMS or first in RUNS or first in NOT_RUN or "=" in first


#: Commands that are not run, and why.
NOT_RUN = {
    "./dev": "it sets up environments; CI runs it",
    "uv": "it installs",
    "pipx": "it installs",
    "pip": "it installs",
    "python3": "it installs",
    "apt": "it installs",
    "brew": "it installs",
}


#: How a thing of each family is made.
_MAKES = {
    "board": "board add 'a card'",
    "inbox": "inbox add 'a thought'",
    "reminders": "reminders set tomorrow 'a reminder'",
}


class Stage:
    """A temporary directory with machines, each with a home of its own, and the shared repository."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.hub = place / "hub.git"
        programs = place / "bin"
        programs.mkdir()
        for name, function in PROGRAMS.items():
            code = (
                f"import sys; sys.argv[0] = '{name}'; from mait_code.commands.cli.main import {function}; {function}()"
            )
            script = programs / name
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{code}" "$@"\n')
            script.chmod(0o755)
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.hub)], check=True)

    def home(self, machine: str) -> Path:
        """The home directory of a machine, made when it is first asked for."""
        home = self.place / (machine or "machine")
        home.mkdir(exist_ok=True)
        return home

    def environment(self, machine: str) -> dict[str, str]:
        """Nothing of whoever runs this but the way to programs."""
        private = ("MAIT_CODE_", "XDG_", "GIT_", "CLAUDE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(private)}
        return kept | {
            "HOME": str(self.home(machine)),
            "PATH": f"{self.place / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "NO_COLOR": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, machine: str, command: str) -> tuple[int, list[str]]:
        """Run a command line of a page. Returns the exit code and what it printed, in the page's terms."""
        done = self._start(machine, command)
        printed = (done.stdout + done.stderr).replace(str(self.hub), HUB).replace(str(self.home(machine)), HOME)
        return done.returncode, re.sub(rf"\bon {re.escape(os.uname().nodename)}\b", f"on {HOST}", printed).splitlines()

    def ask(self, machine: str, command: str) -> Any:
        """What a command prints as JSON."""
        done = self._start(machine, f"{command} --json")
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr}")
        return json.loads(done.stdout)

    def _start(self, machine: str, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", _EVAL.sub(r"\1", command.replace(HUB, str(self.hub)))],
            cwd=self.home(machine),
            env=self.environment(machine),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=False,
        )

    def make(self, machine: str, noun: str) -> dict[str, str]:
        """Make a thing that a page takes for granted. Returns its `id` and `short`."""
        made: dict[str, str] = self.ask(machine, f"mait-code {_MAKES[noun]}")
        return made

    def highest(self, machine: str) -> int:
        """The highest number of a card, 0 where there is none."""
        listed = self.ask(machine, "mait-code board list --all --archived")
        return max((int(re.sub(r"\D", "", one["short"])) for one in listed), default=0)


@dataclass
class Translation:
    """Which id of the run each id of the page stands for."""

    real: dict[str, str] = field(default_factory=dict)

    def command(self, text: str) -> str:
        """A command of the page with the ids of this run."""
        return "".join(self.real.get(word, word) for word in _WORDS.findall(text))

    def page(self, text: str) -> str:
        """A line of this run with the ids of the page."""
        back = {real: page for page, real in self.real.items()}
        return "".join(back.get(word, word) for word in _WORDS.findall(text))

    def agree(self, expected: list[str], printed: list[str]) -> bool:
        """Whether a command printed what the page says. Learns the ids that stand at the same places."""
        if len(expected) != len(printed):
            return False
        learnt: dict[str, str] = {}
        for said, real in zip(map(timeless, expected), map(timeless, printed), strict=True):
            ours, theirs = _WORDS.findall(said), _WORDS.findall(real)
            if len(ours) != len(theirs):
                return False
            for one, other in zip(ours, theirs, strict=True):
                known = self.real.get(one, learnt.get(one))
                if known is not None:
                    if known != other:
                        return False
                elif one != other:
                    if not any(kind.fullmatch(one) and kind.fullmatch(other) for kind in _VOLATILE):
                        return False
                    learnt[one] = other
        self.real.update(learnt)
        return True


def timeless(line: str) -> str:
    """A line without the times in it."""
    for pattern, word in _TIMES:
        line = pattern.sub(word, line)
    return line


class Run:
    """One page, run. `faults` says what is not as the page has it; `rows` are the page's lines as they should be."""

    def __init__(self, page: Path) -> None:
        self.faults: list[str] = []
        self.commands = 0
        text = page.read_text(encoding="utf-8")
        self.rows = text.splitlines()
        with tempfile.TemporaryDirectory(prefix="mait-code-examples-") as place:
            self._run(Stage(Path(place).resolve()), examples(text))

    def _run(self, stage: Stage, found: list[Example]) -> None:
        translation = Translation()
        printed_by: dict[int, list[str]] = {}
        for example in found:
            if example.command.split()[0] in NOT_RUN:
                continue
            self.commands += 1
            _make_things(stage, example, translation)
            command = translation.command(example.command)
            translation.real.pop("ID", None)
            code, printed = stage.run(example.machine, command)
            refused = bool(example.expected) and example.expected[0].startswith("mait-code:")  # type: ignore[index]
            if (code != 0) != refused:
                self.faults.append(
                    f"line {example.line}: `{example.command}` ended with {code}: {' / '.join(printed[-2:])}"
                )
            if example.expected is None:
                continue
            wanted = example.expected
            while wanted and not wanted[-1]:
                wanted = wanted[:-1]
            if wanted and not translation.agree(wanted, printed):
                self.faults.append(f"line {example.line}: `{example.command}` printed\n" + "\n".join(printed))
                printed_by[example.line] = [translation.page(row) for row in printed]
        for line in sorted(printed_by, reverse=True):
            end = line
            while not (self.rows[end].startswith("```") or PROMPT.match(self.rows[end])):
                end += 1
            self.rows[line:end] = printed_by[line]


def _make_things(stage: Stage, example: Example, translation: Translation) -> None:
    """Make what a command takes for granted: a thing for each id that nothing has printed, a file that is read."""
    for name in re.findall(r"< ?([\w.]+)", example.command):
        (stage.home(example.machine) / name).write_text("a line\n", encoding="utf-8")
    words = example.command.replace("mc-tool-", "mait-code ").split()
    noun = words[1] if len(words) > 1 and words[1] in _MAKES else "board"
    wanted = re.findall(r"\bID\b|(?<![\w.-])[a-z]{2}(?=[a-z]*\d)[0-9a-z]{3}(?![\w.-])", example.command)
    if noun == "board":
        wanted += re.findall(r"(?<![\w.-])\d+[a-z]{2}(?![\w.-])", example.command)
    for word in wanted:
        if word not in translation.real:
            made = stage.make(example.machine, noun)
            translation.real[word] = made["short"] if word[0].isdigit() else made["id"]
    number = re.match(
        r"mait-code board [a-z]+ (\d+)\b(?![a-z])|mait-code (?:history|conflicts [a-z]+) (\d+)\b", example.command
    )
    if number and int(number[1] or number[2]) > stage.highest(example.machine):
        while int(re.sub(r"\D", "", stage.make(example.machine, "board")["short"])) < int(number[1] or number[2]):
            continue


def main(arguments: list[str]) -> int:
    """Run pages, or bring them up to date."""
    write = "--write" in arguments
    named = [Path(one).resolve() for one in arguments if not one.startswith("-")]
    failed = False
    for page in named or PAGES:
        run = Run(page)
        print(f"{page.relative_to(ROOT)}: {run.commands} commands, {len(run.faults)} not as the page says")
        for fault in run.faults:
            print(f"  {fault}")
        if write and run.faults:
            page.write_text("\n".join(run.rows) + "\n", encoding="utf-8")
        failed = failed or bool(run.faults)
    return int(failed and not write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
