"""The command-line frame: options at any level, exit codes, and what may reach stdout, stderr and a terminal."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any

import click
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mait_code.commands.cli.frame import Group, Invocation, Table, argument, command, pass_output, pass_workspace
from mait_code.commands.cli.run import run
from mait_code.commands.cli.table import ROOT
from mait_code.commands.output import Output, Styled, visible
from mait_code.journal import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from mait_code.commands.workspace import Workspace

    Capture = pytest.CaptureFixture[str]


def group_with(callback: Callable[..., Any]) -> Group:
    """A program whose `sub probe` calls the function with the Output and the words after it."""

    @command("probe")
    @argument("words", nargs=-1)
    @pass_output
    def probe(out: Output, words: tuple[str, ...]) -> int | None:
        """Look."""
        result: int | None = callback(out, words)
        return result

    sub = Group("sub", Table("Below", {"probe": ("nowhere:probe", "Look")}))
    sub.add_command(probe)
    root = Group("mait-code", Table("Above", {"sub": sub.table}))
    root.add_command(sub)
    return root


def ends_with(error: BaseException) -> Callable[..., None]:
    def callback(out: Output, words: tuple[str, ...]) -> None:
        raise error

    return callback


# -- the table


def commands_of(table: Table, group: Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, entry in table.commands.items():
        if isinstance(entry, Table):
            yield from commands_of(entry, group, (*path, name))
        yield (*path, name)


ALL_COMMANDS = sorted(commands_of(ROOT, Group("mait-code", ROOT)))


def find(path: tuple[str, ...]) -> tuple[click.Command, str]:
    group, table = Group("mait-code", ROOT), ROOT
    context = click.Context(group)
    for name in path[:-1]:
        below = group.get_command(context, name)
        assert isinstance(below, Group)
        group, table = below, below.table
    found = group.get_command(context, path[-1])
    assert found is not None
    return found, table.help_of(path[-1])


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
def test_every_command_is_what_the_table_says(path: tuple[str, ...]) -> None:
    found, help_line = find(path)
    assert found.name == path[-1]
    assert found.get_short_help_str(200).removesuffix(".") == help_line
    assert isinstance(found, Group) or found.callback is not None


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
def test_every_command_has_help_and_the_global_options(path: tuple[str, ...], cli: Callable[..., Any]) -> None:
    answers = [cli(*path, flag) for flag in ("--help", "-h")]
    assert [answer.code for answer in answers] == [0, 0]
    assert answers[0].out == answers[1].out
    for name in ("--json", "--no-color", "--data-dir", "--as", "--allow-secret", "-h, --help"):
        assert name in answers[0].out
    assert answers[0].err == ""


@pytest.mark.parametrize("path", ALL_COMMANDS, ids=" ".join)
def test_every_option_and_argument_is_explained(path: tuple[str, ...]) -> None:
    found, _ = find(path)
    assert [option.name for option in found.params if isinstance(option, click.Option) and not option.help] == []


# -- global options


@pytest.mark.parametrize(
    "arguments",
    [
        ["--json", "sub", "probe"],
        ["sub", "--json", "probe"],
        ["sub", "probe", "--json"],
        ["sub", "probe", "word", "--json"],
        ["sub", "probe", "--json", "word"],
        ["--json", "sub", "--json", "probe", "--json"],
    ],
)
def test_json_at_any_level(arguments: list[str]) -> None:
    seen = []
    assert run(group_with(lambda out, words: seen.append(out.json)), "mait-code", arguments) == 0
    assert seen == [True]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(
    ("given_", "name", "value"),
    [
        (["--data-dir", "/x"], "data_dir", "/x"),
        (["--as", "claude"], "actor", "claude"),
        (["--no-color"], "no_colour", True),
        (["--allow-secret"], "allow_secret", True),
    ],
)
def test_values_at_any_level(given_: list[str], name: str, value: object, place: int) -> None:
    seen: list[object] = []

    def look(out: Output, words: tuple[str, ...]) -> None:
        found = click.get_current_context().find_object(Invocation)
        seen.append(getattr(found, name))

    words = ["sub", "probe"]
    assert run(group_with(look), "mait-code", [*words[:place], *given_, *words[place:]]) == 0
    assert seen == [value]


def test_innermost_level_wins() -> None:
    seen: list[object] = []

    def look(out: Output, words: tuple[str, ...]) -> None:
        found = click.get_current_context().find_object(Invocation)
        assert found is not None
        seen.append(found.data_dir)

    assert run(group_with(look), "mait-code", ["--data-dir", "/a", "sub", "--data-dir", "/b", "probe"]) == 0
    assert seen == ["/b"]


def test_after_two_dashes_everything_is_text() -> None:
    seen: list[object] = []
    assert (
        run(
            group_with(lambda out, words: seen.append((out.json, words))), "mait-code", ["sub", "probe", "--", "--json"]
        )
        == 0
    )
    assert seen == [(False, ("--json",))]


def test_workspace_gets_directory_and_actor(home: Path, capsys: Capture) -> None:
    @command("probe")
    @pass_workspace
    def probe(workspace: Workspace, out: Output) -> None:
        """Look."""
        out.data([workspace.home.data, workspace.journal.actor])

    root = Group("mait-code", Table("Above", {"probe": ("nowhere:probe", "Look")}))
    root.add_command(probe)
    assert run(root, "mait-code", ["probe", "--data-dir", str(home / "other"), "--as", "claude"]) == 0
    assert orjson.loads(capsys.readouterr().out) == [str(home / "other"), "claude"]


def test_summary_stands_for_a_missing_subcommand(cli: Callable[..., Any]) -> None:
    bare, listed, one = cli("settings"), cli("settings", "list"), cli("settings", "get", "git-timeout")
    assert bare == listed
    assert bare.out.count("\n") > 1
    assert one.out == "5\t(default)\n", "and nothing of the summary where one is named"


# -- exit codes and messages


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (errors.MaitError("it failed", "do this"), 1, "mait-code: it failed\nhint: do this\n"),
        (errors.BadInput("not that"), 2, "mait-code: not that\n"),
        (errors.NotFound("no card 12"), 1, "mait-code: no card 12\n"),
        (
            errors.Ambiguous("12 is two cards", ["12kf", "12ab"]),
            1,
            "mait-code: 12 is two cards\ncandidates: 12kf 12ab\n",
        ),
        (errors.DiskRefused("full"), 74, "mait-code: full\n"),
        (KeyboardInterrupt(), 130, "mait-code: interrupted\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 0, ""),
        (click.UsageError("odd"), 2, "mait-code: odd\nhint: see mait-code sub probe --help\n"),
        (click.Abort(), 1, "mait-code: stopped: the question got no answer\n"),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "/x"),
            1,
            "mait-code: /x: No such file or directory\n",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_error_becomes_line_and_code(error: BaseException, code: int, said: str, capsys: Capture) -> None:
    assert run(group_with(ends_with(error)), "mait-code", ["sub", "probe"]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", said)


@pytest.mark.parametrize("name", ["ENOSPC", "EROFS", "EACCES", "EDQUOT", "EPERM", "EIO"])
def test_disk_refusing_is_74(name: str, capsys: Capture) -> None:
    number = getattr(errno, name)
    error = OSError(number, os.strerror(number), "/data/journal")
    assert run(group_with(ends_with(error)), "mait-code", ["sub", "probe"]) == 74
    captured = capsys.readouterr().err
    assert captured.startswith(f"mait-code: /data/journal: {os.strerror(number)}\nhint: ")


@pytest.mark.parametrize("name", ["FullError", "ReadOnlyError", "IOError", "CantOpenError"])
def test_store_on_a_refusing_disk_is_74(name: str, capsys: Capture) -> None:
    import apsw

    assert run(group_with(ends_with(getattr(apsw, name)("disk"))), "mait-code", ["sub", "probe"]) == 74
    assert "Traceback" not in capsys.readouterr().err


def test_number_returned_is_the_exit_code() -> None:
    assert run(group_with(lambda out, words: 4), "mait-code", ["sub", "probe"]) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sub", "prob"], "No such command 'prob'. Did you mean 'probe'?"),
        (["sub", "probe", "-x"], "hint: write -- before text that begins with a dash"),
        (["sub", "--data-dir", "", "probe"], "it is empty"),
        (["--as", "you", "sub", "probe"], "'you' is not one of"),
    ],
)
def test_usage_is_2_with_a_way_out(arguments: list[str], said: str, capsys: Capture) -> None:
    assert run(group_with(lambda out, words: None), "mait-code", arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.startswith("mait-code: ")
    assert captured.err.count("\n") == 2
    assert captured.out == ""


def test_group_without_summary_shows_its_help(capsys: Capture) -> None:
    assert run(group_with(lambda out, words: None), "mait-code", ["sub"]) == 0
    captured = capsys.readouterr()
    assert "probe  Look" in captured.out
    assert captured.err == ""


@pytest.mark.parametrize("words", [["import"], ["board", "ref"]])
def test_every_group_says_something_without_a_command(cli: Callable[..., Any], words: list[str]) -> None:
    done = cli(*words)
    assert (done.code, done.err) == (0, "")
    assert "Commands:" in done.out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_undoes_nothing(home: Path, cli: Callable[..., Any], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "mait_code.commands.cli.main", "board", "add", "a card"]
        env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, env=env, timeout=60)
    assert done.returncode == 74
    assert b"the output could not be written: No space left on device" in done.stderr
    assert b"what the command did is done" in done.stderr
    assert [card["title"] for card in cli("board", "list", "--json").json] == ["a card"]


def test_each_note_and_warning_is_said_once(capsys: Capture) -> None:
    out = Output()
    for _ in range(3):
        out.note("the disk is full")
        out.warn("the disk is full")
        out.warn("the disk is slow")
    assert capsys.readouterr().err.splitlines() == [
        "the disk is full", "warning: the disk is full", "warning: the disk is slow"
    ]  # fmt: skip


class TestUnexpected:
    secret = "the title of a card"

    def fail(self, out: Output, words: tuple[str, ...]) -> None:
        raise ValueError(self.secret)

    def test_one_line_and_a_traceback_in_the_log_directory(self, home: Path, capsys: Capture) -> None:
        assert run(group_with(self.fail), "mait-code", ["sub", "probe"]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"mait-code: unexpected ValueError: {self.secret}\nhint: ")
        assert "Traceback" not in said
        (noted,) = (home / "state/mait-code/logs").glob("traceback-*")
        assert str(noted) in said
        text = noted.read_text()
        assert "test_frame.py" in text
        assert "ValueError" in text
        assert self.secret not in text
        assert noted.stat().st_mode & 0o777 == 0o600

    def test_shown_when_debugging(self, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MAIT_CODE_DEBUG", "1")
        assert run(group_with(self.fail), "mait-code", ["sub", "probe"]) == 1
        assert "Traceback (most recent call last)" in capsys.readouterr().err

    def test_still_one_line_where_the_log_cannot_be_written(
        self, home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (home / "file").write_text("")
        monkeypatch.setenv("XDG_STATE_HOME", str(home / "file"))
        assert run(group_with(self.fail), "mait-code", ["sub", "probe"]) == 1
        assert capsys.readouterr().err == f"mait-code: unexpected ValueError: {self.secret}\n"


# -- processes: signals, pipes, closed streams, locales


def test_an_interrupt_that_comes_out_of_an_import_as_another_error(capsys: Capture) -> None:
    def probe(_out: Output, _words: tuple[str, ...]) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SyntaxError("(unicode error) can't load unicodedata module") from None

    before = signal.getsignal(signal.SIGINT)
    assert run(group_with(probe), "mait-code", ["sub", "probe"]) == 130
    assert capsys.readouterr().err == "mait-code: interrupted\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupt_in_a_process_of_its_own(home: Path) -> None:
    script = textwrap.dedent(
        """
        import sys, time
        from mait_code.commands.cli.frame import Group, Table, command
        from mait_code.commands.cli.run import run

        @command("wait")
        def wait():
            "Wait."
            print("ready", flush=True)
            time.sleep(60)

        root = Group("mait-code", Table("x", {"wait": ("nowhere:wait", "Wait")}))
        root.add_command(wait)
        sys.exit(run(root, "mait-code", ["wait"]))
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == b"mait-code: interrupted\n"


def test_reader_that_has_seen_enough(home: Path) -> None:
    command_line = [sys.executable, "-m", "mait_code.commands.cli.main", "completion", "bash"]
    process = subprocess.Popen(command_line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
def test_full_disk_under_stdout(home: Path) -> None:
    with open("/dev/full", "w") as full:
        command_line = [sys.executable, "-m", "mait_code.commands.cli.main", "version"]
        done = subprocess.run(command_line, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 74
    assert done.stderr.startswith(b"mait-code: the output could not be written: No space left on device\n")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_closed_by_the_caller(home: Path, closed: str) -> None:
    line = f'"$0" -m mait_code.commands.cli.main settings set env.NAME value {closed}'
    assert subprocess.run(["sh", "-c", line, sys.executable], timeout=60, capture_output=True).returncode == 0
    assert (home / "config/mait-code/settings.toml").read_text() == '[env]\nNAME = "value"\n'


LOCALES = [
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C.UTF-8"},
    {"PYTHONIOENCODING": "latin-1"},
]


@pytest.mark.parametrize("locale", LOCALES, ids=str)
@pytest.mark.parametrize("text", ["naïve café", "漢字 🎉", "שלום", "e\u0301"])
def test_any_text_in_any_locale(program: Callable[..., Any], locale: dict[str, str], text: str) -> None:
    done = program("settings", "set", "env.NAME", text, env=locale)
    assert (done.code, done.err) == (0, b"")
    assert f"'{text}'".encode() in done.out
    assert orjson.loads(program("settings", "get", "env.NAME", "--json", env=locale).out)["value"] == text


@pytest.mark.parametrize("locale", LOCALES, ids=str)
def test_bytes_that_are_no_text_are_refused(program: Callable[..., Any], locale: dict[str, str]) -> None:
    done = program("settings", "set", "env.NAME", b"caf\xe9", env=locale)
    assert (done.code, done.out) == (2, b"")
    assert done.err == b"mait-code: argument 4 is not valid UTF-8\nhint: check the terminal's encoding\n"


def test_mc_tools_are_the_same_commands(home: Path) -> None:
    script = "import sys; from mait_code.commands.cli.main import board; sys.exit(board())"
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: mc-tool-board ")
    board = ROOT.commands["board"]
    assert isinstance(board, Table)
    assert all(f"\n  {name} " in done.stdout for name in board.commands)


# -- output


HOSTILE = "\x1b[2J\x07\x9b31m\x7f\r\u202eevil\u2066\u2028end\udc80\0"


def test_hostile_text_is_shown_not_sent(capsys: Capture) -> None:
    def speak(out: Output, words: tuple[str, ...]) -> None:
        out.line("<", HOSTILE, "> ", out.style(HOSTILE, "bold"))
        out.block(f"one\n\ttwo {HOSTILE}")
        out.note(HOSTILE)
        out.warn(HOSTILE)
        raise errors.NotFound(HOSTILE, HOSTILE)

    assert run(group_with(speak), "mait-code", ["sub", "probe"]) == 1
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert all(letter.isprintable() or letter in "\n\t" for letter in text)
        assert "\\x1b[2J\\x07\\x9b31m\\x7f\\r\\u202eevil\\u2066\\u2028end\\udc80\\x00" in text
    assert "one\n\ttwo" in captured.out


@given(st.text())
def test_visible_text_cannot_act(text: str) -> None:
    shown = visible(text)
    assert shown == visible(shown)
    assert not any(
        ord(letter) < 0x20 or 0x7F <= ord(letter) < 0xA0 or letter in "\u202e\u2067\u2028" for letter in shown
    )


@given(st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_json_means_the_same_and_cannot_act(text: str) -> None:
    import contextlib
    import io

    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        Output(json=True).data([{"title": text}])
    written = buffer.getvalue()
    assert orjson.loads(written) == [{"title": text}]
    assert written[-1] == "\n"
    assert visible(written[:-1]) == written[:-1]


def test_json_keeps_what_is_not_ascii(capsys: Capture) -> None:
    assert run(group_with(lambda out, words: out.data({"t": "café 漢"})), "mait-code", ["sub", "probe"]) == 0
    assert capsys.readouterr().out == '{"t":"café 漢"}\n'


def test_styled_text_passes_only_where_it_was_made(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = Output()
    out.line(out.style("a", "red"), Styled("\t"), f"{out.style('b', 'red')}")
    assert capsys.readouterr().out == "\x1b[31ma\x1b[0m\t\\x1b[31mb\\x1b[0m\n"


@pytest.mark.parametrize(
    ("env", "codes"),
    [
        ({}, "31"),
        ({"COLORTERM": "truecolor"}, "31"),
        ({"MAIT_CODE_THEME": "ember"}, "31"),
        ({"COLORTERM": "truecolor", "MAIT_CODE_THEME": "ember"}, "38;2;255;116;104"),
        ({"COLORTERM": "24bit", "MAIT_CODE_THEME": "mait-ember"}, "38;2;255;116;104"),
        ({"COLORTERM": "truecolor", "MAIT_CODE_THEME": "nord"}, "31"),
    ],
    ids=str,
)
def test_a_chosen_theme_colours_text_too(env: dict[str, str], codes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORTERM", raising=False)
    for name, value in {"FORCE_COLOR": "1", **env}.items():
        monkeypatch.setenv(name, value)
    assert Output().style("a", "red") == f"\x1b[{codes}ma\x1b[0m"


@pytest.mark.parametrize(
    ("env", "arguments", "coloured"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": ""}, [], True),
        ({"TERM": "dumb"}, [], False),
        ({}, ["--no-color"], False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, [], False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "0"}, [], False),
        ({}, ["--json"], False),
    ],
)
def test_colour_on_a_terminal(
    terminal: Callable[..., str], env: dict[str, str], arguments: list[str], coloured: bool
) -> None:
    text = terminal("settings", "list", *arguments, env=env)
    assert "git-timeout" in text
    assert ("\x1b[" in text) is coloured


@pytest.mark.parametrize(("env", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
def test_colour_in_a_pipe(program: Callable[..., Any], env: dict[str, str], coloured: bool) -> None:
    assert (b"\x1b[" in program("settings", "list", env=env).out) is coloured


def test_progress_is_for_terminals(capsys: Capture) -> None:
    with Output().progress("folding", 3, after=0) as progress:
        progress.step(2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err, progress.done) == ("", "", 2)


def test_progress_comes_late_and_leaves_nothing(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    out = Output()
    with out.progress("folding", 3) as progress:
        progress.step()
    assert capsys.readouterr().err == "", "it was over within a second"
    with out.progress("folding", 3, after=0) as progress:
        progress.step()
    assert capsys.readouterr().err == "\r\x1b[Kfolding\r\x1b[Kfolding 1/3\r\x1b[K"


# -- completion


@pytest.mark.parametrize(
    ("words", "index", "wanted", "unwanted"),
    [
        ("mait-code bo", 1, "plain,board", "inbox"),
        ("mait-code ", 1, "plain,version", "plain,add"),
        ("mait-code settings u", 2, "plain,unset", "plain,set"),
        ("mait-code settings --da", 2, "plain,--data-dir", "plain,--json"),
        ("mait-code --as cl", 2, "plain,claude", "plain,me"),
    ],
)
def test_completion(program: Callable[..., Any], words: str, index: int, wanted: str, unwanted: str) -> None:
    env = {"_MAIT_CODE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(index)}
    done = program(env=env)
    assert (done.code, done.err) == (0, b"")
    offered = done.out.decode().splitlines()
    assert wanted in offered
    assert unwanted not in offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_names_every_program(program: Callable[..., Any], shell: str) -> None:
    done = program("completion", shell)
    assert done.code == 0
    for name in ("_MAIT_CODE_COMPLETE", "_MAIT_COMPLETE", "_MC_TOOL_BOARD_COMPLETE", "_MC_TOOL_INBOX_COMPLETE"):
        assert f"{name}={shell}_complete" in done.out.decode()


def test_completion_script_works_in_bash(program: Callable[..., Any]) -> None:
    script = program("completion", "bash").out.decode()
    done = subprocess.run(
        ["bash", "-c", f"{script}\ncomplete -p mait-code mc-tool-board"], capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.count("_completion") == 2


def test_completion_leaves_no_line_in_the_log(program: Callable[..., Any], home: Path) -> None:
    program(env={"_MAIT_CODE_COMPLETE": "bash_complete", "COMP_WORDS": "mait-code bo", "COMP_CWORD": "1"})
    assert not (home / "state").exists()
