"""The skills: every command they name exists with those options, may be run, and cannot abort the skill."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from mait_code.commands.cli.frame import Group, Invocation
from mait_code.commands.cli.table import ROOT as COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SKILLS = sorted(ROOT.glob("skills/*/SKILL.md"))
PREPROCESSED = {"recall", "reminders", "board", "triage", "reflect"}
#: What the client takes for harmless, so that no rule is needed.
HARMLESS = {"true"}
#: Words that stand for what is to be filled in.
FILLED = {
    "N": "5", "TYPE": "fact", "SCOPE": "project", "KIND": "memory", "WHEN": "tomorrow", "CARD": "abcde", "ID": "abcde",
    "ITEM": "abcde", "OLD_ID": "abcde",
}  # fmt: skip


def parts(path: Path) -> tuple[dict[str, str], str]:
    """The front matter as a mapping, and the body."""
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return fields, body


def name_of(path: Path) -> str:
    return path.parent.name


def preprocessed(body: str) -> list[str]:
    """The commands that the client runs before the model reads the skill, one for each inline command or fence."""
    fences = re.findall(r"^```!\n(.*?)^```$", body, flags=re.MULTILINE | re.DOTALL)
    return fences + re.findall(r"(?:^|(?<=\s))!`([^`]+)`", body)


def command_lines(body: str) -> Iterator[str]:
    """Every command line of ours that a skill names, wherever it stands, without what the shell makes of it."""
    text = re.sub(r"<<'(\w+)'\n.*?^\1$", "", body, flags=re.MULTILINE | re.DOTALL)
    for found in re.findall(r"((?:mait-code|mc-tool-[a-z-]+) [^`\n]*)", text):
        yield re.split(r"\s(?:2>&1|2>/dev/null|\|\||<<)", found)[0].strip()


CASES = [(name_of(path), line) for path in SKILLS for line in dict.fromkeys(command_lines(parts(path)[1]))]


def resolve(line: str) -> tuple[list[str], click.Command, list[str]]:
    """The path of a command line in the tree, the command itself, and the words left for it. Fails where there is none."""
    words = shlex.split(line.rstrip(".,:;"))
    program = words.pop(0)
    node: click.Command = Group("mait-code", COMMANDS)
    context: click.Context = click.Context(node, obj=Invocation())
    path = [] if program == "mait-code" else [program.removeprefix("mc-tool-")]
    words = path + words
    taken: list[str] = []
    while isinstance(node, Group):
        assert words, f"{line!r} names no command"
        word = words.pop(0)
        found = node.get_command(context, word)
        assert found is not None, f"there is no {' '.join([*taken, word])}"
        node = found
        taken.append(word)
    return taken, node, words


def test_there_are_all_of_them() -> None:
    assert {name_of(path) for path in SKILLS} == {
        "recall", "remember", "memory-store", "reflect", "remind", "reminders", "board", "triage", "commit", "pre-pr-review",
    }  # fmt: skip
    assert [path.name for path in (ROOT / "agents").iterdir()] == ["pre-pr-reviewer.md"]


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_front_matter(path: Path) -> None:
    fields, body = parts(path)
    assert fields["name"] == name_of(path)
    assert len(fields["description"]) < 1000, "cut at 1,536 characters, and each costs something of every session"
    known = {"name", "description", "argument-hint", "allowed-tools", "disable-model-invocation", "user-invocable"}
    assert set(fields) <= known
    assert ("$ARGUMENTS" in body) == ("argument-hint" in fields)


def test_who_may_start_what() -> None:
    fields = {name_of(path): parts(path)[0] for path in SKILLS}
    assert [name for name, one in fields.items() if one.get("user-invocable") == "false"] == ["memory-store"]
    by_user_only = {name for name, one in fields.items() if one.get("disable-model-invocation") == "true"}
    assert by_user_only == {"remember", "remind", "reflect", "triage"}


@pytest.mark.parametrize(("skill", "line"), CASES)
def test_every_command_exists_with_its_options(skill: str, line: str) -> None:
    _path, command, words = resolve(line)
    filled = [FILLED.get(word, word) for word in words]
    context = click.Context(command, obj=Invocation(), info_name=command.name)
    # Parsing checks options and choices; callbacks of global options want the Invocation above.
    command.parse_args(context, filled)


def test_a_wrong_option_would_be_found() -> None:
    _path, command, words = resolve("mait-code memory search --nonsense x")
    with pytest.raises(click.UsageError):
        command.parse_args(click.Context(command, obj=Invocation()), words)
    with pytest.raises(AssertionError):
        resolve("mait-code memory nonsense")


@pytest.mark.parametrize(
    "name", ["--kind", "--type", "--concept", "--tag", "--file", "--session", "--since", "--until", "--scope", "--project",
             "--branch", "--mode", "--limit"]
)  # fmt: skip
def test_recall_names_every_filter(name: str) -> None:
    body = parts(ROOT / "skills/recall/SKILL.md")[1]
    assert name in body
    _path, command, _words = resolve("mait-code memory search")
    assert any(name in parameter.opts for parameter in command.params)


def test_recall_says_every_kind() -> None:
    from mait_code.projections.entries import KINDS

    body = parts(ROOT / "skills/recall/SKILL.md")[1]
    assert f"--kind {'|'.join(KINDS)}" in body


# -- what a skill may run


def rules(path: Path) -> list[str]:
    return re.findall(r"(\w+\([^)]*\))", parts(path)[0]["allowed-tools"])


def allowed(command: str, granted: list[str]) -> bool:
    for rule in granted:
        if not rule.startswith("Bash("):
            continue
        words = rule.removeprefix("Bash(").removesuffix(")")
        if words.endswith(":*"):
            stem = words.removesuffix(":*")
            if command == stem or command.startswith(f"{stem} "):
                return True
        elif command == words:
            return True
    return command in HARMLESS


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_tools_are_allowed_narrowly(path: Path) -> None:
    text = parts(path)[0]["allowed-tools"]
    granted = rules(path)
    assert ", ".join(granted) == text
    for rule in granted:
        if rule == "Bash(true)" or rule.startswith(("Task(", "Agent(")):
            continue
        words = rule.removeprefix("Bash(").removesuffix(")").removesuffix(":*").split()
        assert words[0] in ("mait-code", "git"), rule
        if words[0] == "git":
            assert words[1] in {"status", "diff", "log", "branch", "rev-parse", "merge-base"}, "nothing that changes"
        else:
            _path, command, _words = resolve(" ".join(words))
            assert not isinstance(command, Group)


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_nothing_that_deletes_is_allowed(path: Path) -> None:
    for words in (
        "board remove",
        "reminders remove",
        "inbox remove",
        "memory delete",
        "uninstall",
        "undo",
        "settings set",
    ):
        assert not allowed(f"mait-code {words}", rules(path))


def test_these_are_preprocessed() -> None:
    assert {name_of(path) for path in SKILLS if preprocessed(parts(path)[1])} == PREPROCESSED


@pytest.mark.parametrize("path", [path for path in SKILLS if name_of(path) in PREPROCESSED], ids=name_of)
def test_what_is_preprocessed_is_allowed_and_cannot_fail(path: Path) -> None:
    """One part that is not allowed, or an exit code other than 0, would end the skill without a word to the model."""
    for text in preprocessed(parts(path)[1]):
        plain = re.sub(r"<<'(\w+)'\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
        pieces = [piece.strip() for piece in re.split(r"\n|\|\||&&|[;|]", plain) if piece.strip()]
        assert pieces[-1] == "true", "the last part decides the exit code"
        for piece in pieces:
            command = re.sub(r"\s*(2>&1|2>/dev/null)\s*", "", piece).strip()
            assert allowed(command, rules(path)), command


@pytest.mark.parametrize("path", SKILLS, ids=name_of)
def test_what_the_user_wrote_reaches_no_shell(path: Path) -> None:
    """The client puts $ARGUMENTS into the text of a command as it is: an apostrophe would break it, or worse."""
    for text in preprocessed(parts(path)[1]):
        outside = re.sub(r"<<'(\w+)'\n.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
        assert "$" not in outside


def test_the_agent_only_reads() -> None:
    fields, body = parts(ROOT / "agents/pre-pr-reviewer.md")
    assert fields["tools"] == "Bash, Read, Grep, Glob"
    assert "pre-pr-reviewer" in parts(ROOT / "skills/pre-pr-review/SKILL.md")[1]
    for word in ("Verdict", "Findings", "Premise", "Coverage", "defects", "taste", "unsure"):
        assert word in body


def test_preprocessing_works_as_a_shell_runs_it(program: Any, home: Path) -> None:
    """With awkward words from the user, through the real shell and the real program."""
    import os
    import subprocess
    import sys

    binary = home / "bin"
    binary.mkdir()
    script = binary / "mait-code"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mait_code.commands.cli.main "$@"\n')
    script.chmod(0o755)
    assert program("memory", "store", "the café's port is 5432").code == 0
    asked = 'what\'s the "café" port? $(touch pwned) `touch pwned`; true & x'
    for path in SKILLS:
        for text in preprocessed(parts(path)[1]):
            for words in (asked, ""):
                done = subprocess.run(
                    ["bash", "-c", text.replace("$ARGUMENTS", words)],
                    capture_output=True,
                    text=True,
                    cwd=home,
                    timeout=60,
                    env={**os.environ, "PATH": f"{binary}:{os.environ['PATH']}"},
                )
                assert done.returncode == 0, (name_of(path), done.stderr)
                assert "Traceback" not in done.stdout + done.stderr
                assert "unexpected" not in done.stdout + done.stderr
                if "memory search" in text and words:
                    assert "5432" in done.stdout
    assert not (home / "pwned").exists()
