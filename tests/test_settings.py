"""Settings: where values come from, what a bad one costs, and that changing one loses nothing."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from mait_code.commands import settings as changing
from mait_code.journal import settings
from mait_code.journal.errors import BadInput, NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def file(home: Path) -> Path:
    """Where settings.toml would be; its directory exists."""
    path = home / "config/mait-code/settings.toml"
    path.parent.mkdir(parents=True)
    return path


# -- where values come from


def test_defaults_where_there_is_no_file(home: Path) -> None:
    assert settings.value("git-timeout") == 5
    assert settings.value("sync-timeout") == 30
    assert settings.value("log-backup-count") == 14
    assert settings.value("log-level") == "INFO"
    assert settings.value("log-file") == str(home / "state/mait-code/logs/invocations.jsonl")
    assert {settings.resolve(one.key).source for one in settings.REGISTRY} == {"default", "env"}
    assert settings.problems() == []


def test_data_dir_defaults_to_the_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAIT_CODE_DATA_DIR")
    assert settings.value("data-dir") == str(home / ".claude/mait-code-data")


def test_environment_then_file_then_default(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("git-timeout = 7\n")
    assert (settings.value("git-timeout"), settings.resolve("git-timeout").source) == (7, "settings")
    monkeypatch.setenv("MAIT_CODE_GIT_TIMEOUT", "9")
    assert (settings.value("git-timeout"), settings.resolve("git-timeout").source) == (9, "env")
    monkeypatch.setenv("MAIT_CODE_GIT_TIMEOUT", "")
    assert settings.value("git-timeout") == 7, "an empty variable is no value"


def test_change_of_the_file_is_seen(file: Path) -> None:
    file.write_text("git-timeout = 7\n")
    assert settings.value("git-timeout") == 7
    file.write_text("git-timeout = 11\n")
    assert settings.value("git-timeout") == 11
    file.unlink()
    assert settings.value("git-timeout") == 5


@pytest.mark.parametrize("raw", ["45", '"45"', "45.0", '" 45 "'])
def test_numbers_quoted_or_not(file: Path, raw: str) -> None:
    file.write_text(f"git-timeout = {raw}\n")
    assert settings.value("git-timeout") == 45
    assert type(settings.value("git-timeout")) is int


def test_data_dir_of_the_file_is_used(file: Path, home: Path, program: Callable[..., Any]) -> None:
    os.environ.pop("MAIT_CODE_DATA_DIR")
    file.write_text('data-dir = "~/elsewhere"\n')
    done = program("inbox", "add", "a thought")
    assert done.code == 0, done.err
    assert (home / "elsewhere/journal").is_dir()
    assert not (home / ".claude").exists()


# -- what a bad value costs


@pytest.mark.parametrize(
    "raw",
    [
        "0",
        "-3",
        "true",
        '"soon"',
        "1e400",
        "inf",
        "nan",
        "5.5",
        "[5]",
        '""',
        "1979-05-27",
        "9" * 30,
        '"9' + "9" * 5000 + '"',
    ],
)
def test_bad_number_falls_back_for_its_key_only(file: Path, raw: str) -> None:
    file.write_text(f"log-backup-count = 3\ngit-timeout = {raw}\n")
    assert settings.value("git-timeout") == 5
    assert settings.value("log-backup-count") == 3
    (problem,) = settings.problems()
    assert problem.key == "git-timeout"
    assert problem.where == f"{file}:2"
    assert "a whole number from 1 to 3600" in problem.message


def test_bad_environment_falls_back_to_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("git-timeout = 7\n")
    monkeypatch.setenv("MAIT_CODE_GIT_TIMEOUT", "soon")
    assert settings.resolve("git-timeout").source == "settings"
    assert [(one.where, one.key) for one in settings.problems()] == [("MAIT_CODE_GIT_TIMEOUT", "git-timeout")]


@pytest.mark.parametrize(
    "broken",
    [
        "git-timeout = ",
        "= 3",
        'log-file = "a"b"',
        "nonsense",
        "[",
        "x = [1,",
        'x = """',
        "a.b.c = = 1",
        "\x00",
        "git-timeout == 3",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_broken_line_costs_itself(file: Path, broken: str, place: int) -> None:
    rows = ["log-backup-count = 3", 'log-level = "ERROR"']
    rows.insert(place, broken)
    file.write_text("\n".join([*rows, "[env]", 'NAME = "value"', ""]))
    assert settings.value("log-backup-count") == 3
    assert settings.value("log-level") == "ERROR"
    assert settings.value("git-timeout") == 5
    assert settings.extra_environment() == {"NAME": "value"}
    assert [one.where for one in settings.problems()] == [f"{file}:{place + 1}"]


def test_line_that_is_not_utf8_costs_itself(file: Path) -> None:
    file.write_bytes(b'log-backup-count = 3\nlog-file = "/caf\xe9"\nlog-level = "ERROR"\n')
    assert (settings.value("log-backup-count"), settings.value("log-level")) == (3, "ERROR")
    assert settings.resolve("log-file").source == "default"
    assert [one.where for one in settings.problems()] == [f"{file}:2"]


def test_byte_order_mark_and_crlf(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfgit-timeout = 7\r\nlog-backup-count = 3\r\n")
    assert (settings.value("git-timeout"), settings.value("log-backup-count")) == (7, 3)
    assert settings.problems() == []


def test_same_key_twice_keeps_the_first(file: Path) -> None:
    file.write_text("git-timeout = 7\ngit-timeout = 8\n")
    assert settings.value("git-timeout") == 7
    assert [one.where for one in settings.problems()] == [f"{file}:2"]


@pytest.mark.parametrize("what", ["directory", "device", "pipe", "huge", "loop", "unreadable parent"])
def test_what_is_no_file_of_settings(file: Path, what: str, home: Path) -> None:
    if what == "directory":
        file.mkdir()
    elif what == "device":
        file.symlink_to("/dev/zero")
    elif what == "pipe":
        file.symlink_to("/dev/null")
    elif what == "huge":
        file.write_text("# " + "x" * (1 << 21))
    elif what == "loop":
        file.symlink_to(file)
    else:
        file.parent.rmdir()
        file.parent.write_text("a file where a directory should be")
    assert settings.value("git-timeout") == 5
    assert len(settings.problems()) == (0 if what == "unreadable parent" else 1)


def test_relative_path_in_the_file_is_passed_over(file: Path) -> None:
    file.write_text('log-file = "log.jsonl"\n')
    assert settings.resolve("log-file").source == "default"
    assert [one.key for one in settings.problems()] == ["log-file"]


def test_unknown_keys_are_named(file: Path) -> None:
    file.write_text("git_timeout = 3\n[later]\nx = 1\n")
    assert [(one.key, one.where) for one in settings.problems()] == [
        ("git_timeout", f"{file}:1"),
        ("later", f"{file}:2"),
    ]


@given(st.binary(max_size=200))
@hypothesis_settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_raise(home: Path, raw: bytes) -> None:
    path = home / "config/mait-code/settings.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"git-timeout = 7\n" + raw)
    found = {one.key: settings.resolve(one.key) for one in settings.REGISTRY}
    assert set(found) == {one.key for one in settings.REGISTRY}
    assert isinstance(found["git-timeout"].value, int)
    assert all(str(problem) for problem in settings.problems())


# -- the env table


def test_variables_reach_the_run_unless_set_already(file: Path, program: Callable[..., Any], home: Path) -> None:
    file.write_text(f'[env]\nXDG_STATE_HOME = "{home}/other"\nHOME = "/nowhere"\n')
    os.environ.pop("XDG_STATE_HOME")
    assert (
        program("settings", "get", "log-file").out.decode()
        == f"{home}/other/mait-code/logs/invocations.jsonl\t(default)\n"
    )


def test_variables_that_cannot_be(file: Path) -> None:
    file.write_text('[env]\nMAIT_CODE_X = "1"\n"a b" = "1"\nNUMBER = 3\nGOOD = "1"\nNUL = "a\\u0000"\n')
    assert settings.extra_environment() == {"GOOD": "1"}
    assert {one.key for one in settings.problems()} == {"env.MAIT_CODE_X", "env.a b", "env.NUMBER", "env.NUL"}


@pytest.mark.parametrize(
    ("name", "held", "shown"),
    [
        ("NAME", "plain value", "plain value"),
        ("API_TOKEN", "abcdefghijkl", "****ijkl"),
        ("my_secret", "short", "****"),
        ("AWS_ACCESS_KEY_ID", "AKIAABCDEFGH", "****EFGH"),
        ("DB_PASSWORD", "", "****"),
        ("SOME_CREDENTIALS", "x" * 40, "****xxxx"),
    ],
)
def test_secrets_are_masked(name: str, held: str, shown: str) -> None:
    assert changing.masked(name, held) == shown


def test_secrets_are_never_printed(cli: Callable[..., Any]) -> None:
    secret = "hunter2-hunter2-hunter2"
    answers = [cli("settings", "set", "env.API_TOKEN", secret)]
    answers += [cli("settings", "list", *flags) for flags in ([], ["--json"])]
    answers += [cli("settings", "get", "env.API_TOKEN", *flags) for flags in ([], ["--json"])]
    answers += [cli("settings", "unset", "env.API_TOKEN")]
    for answer in answers:
        assert answer.code == 0
        assert secret not in answer.out + answer.err
        assert "****ter2" in answer.out


# -- changing


WRITTEN = """\
# my settings
git-timeout = 7  # the disk is slow

# what a newer version understands
theme = "mait-dark"

# variables
[env]
EDITOR = "vi"  # of course

[later]
list = [
  1,
  2,
]
"""


def test_change_keeps_everything_else(file: Path, cli: Callable[..., Any]) -> None:
    file.write_text(WRITTEN)
    assert cli("settings", "set", "git-timeout", "9").code == 0
    assert file.read_text() == WRITTEN.replace("= 7 ", "= 9 ")
    assert cli("settings", "set", "log-level", "error").code == 0
    assert 'theme = "mait-dark"\nlog-level = "ERROR"\n\n# variables\n[env]\n' in file.read_text()
    assert cli("settings", "set", "env.PAGER", "less").code == 0
    assert tomllib.loads(file.read_text()) == {
        **tomllib.loads(WRITTEN),
        "git-timeout": 9,
        "log-level": "ERROR",
        "env": {"EDITOR": "vi", "PAGER": "less"},
    }
    for key in ("log-level", "env.PAGER"):
        assert cli("settings", "unset", key).code == 0
    assert cli("settings", "set", "git-timeout", "7").code == 0
    assert file.read_text() == WRITTEN


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "git-timeout = 9\n"),
        ("# only a comment", "# only a comment\ngit-timeout = 9\n"),
        ('# about env\n[env]\nA = "1"\n', 'git-timeout = 9\n\n# about env\n[env]\nA = "1"\n'),
        ("x = [\n  [1],\n]\n", "x = [\n  [1],\n]\ngit-timeout = 9\n"),
        ("log-level = 'INFO'\n[a]\nb = 1", "log-level = 'INFO'\ngit-timeout = 9\n[a]\nb = 1"),
    ],
)
def test_new_key_goes_where_it_belongs(file: Path, before: str, after: str) -> None:
    file.write_text(before)
    changing.change("git-timeout", "9")
    assert file.read_text() == after
    assert settings.value("git-timeout") == 9


@pytest.mark.parametrize(
    "value", ['a"b', "back\\slash", "new\nline", "tab\t", "'", '"""', "é漢🎉", "\x1b[2J", "# no comment", " "]
)
def test_any_value_comes_back(file: Path, cli: Callable[..., Any], value: str) -> None:
    assert cli("settings", "set", "env.NAME", value).code == 0
    assert tomllib.loads(file.read_text(encoding="utf-8"))["env"]["NAME"] == value
    assert settings.extra_environment() == {"NAME": value}
    assert cli("settings", "get", "env.NAME", "--json").json["value"] == value


def test_file_is_private_and_a_link_stays_a_link(file: Path, home: Path) -> None:
    target = home / "dotfiles.toml"
    target.write_text("git-timeout = 7\n")
    target.chmod(0o644)
    file.symlink_to(target)
    changing.change("git-timeout", "9")
    assert file.is_symlink()
    assert target.read_text() == "git-timeout = 9\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in home.iterdir() if path.name.endswith(".tmp")] == []


def test_broken_file_is_not_rewritten(file: Path, cli: Callable[..., Any]) -> None:
    broken = "git-timeout = 7\nnonsense\n"
    file.write_text(broken)
    answer = cli("settings", "set", "git-timeout", "9")
    assert answer.code == 1
    assert answer.err.startswith(f"mait-code: {file}:2 is not TOML")
    assert file.read_text() == broken
    with pytest.raises(Refused):
        changing.change("env.NAME", "x")
    assert settings.value("git-timeout") == 7


def test_unknown_key_is_refused_with_near_names(cli: Callable[..., Any]) -> None:
    answer = cli("settings", "set", "git-timeot", "9")
    assert answer.code == 1
    assert "git-timeout" in answer.err
    with pytest.raises(NotFound):
        changing.change("nothing-like-it", None)


def test_unknown_key_of_the_file_can_be_taken_out(file: Path, cli: Callable[..., Any]) -> None:
    file.write_text("git_timeout = 3\nlog-backup-count = 2\n")
    assert cli("settings", "unset", "git_timeout").code == 0
    assert file.read_text() == "log-backup-count = 2\n"


@pytest.mark.parametrize("name", ["MAIT_CODE_DATA_DIR", "a b", "1A", "", "A=B", "é"])
def test_variables_that_are_refused(name: str) -> None:
    with pytest.raises(BadInput):
        changing.change(f"env.{name}", "x")


def test_value_out_of_range_changes_nothing(file: Path, cli: Callable[..., Any]) -> None:
    answer = cli("settings", "set", "git-timeout", "0")
    assert answer.code == 2
    assert "a whole number from 1 to 3600" in answer.err
    assert not file.exists()


def test_environment_that_wins_is_said(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_GIT_TIMEOUT", "9")
    answer = cli("settings", "set", "git-timeout", "7")
    assert answer.code == 0
    assert "MAIT_CODE_GIT_TIMEOUT" in answer.err


@pytest.mark.slow
def test_many_writers_lose_nothing(home: Path) -> None:
    script = (
        "import sys; from mait_code.commands import settings\n"
        "for n in range(10): settings.change(f'env.W{sys.argv[1]}_{n}', 'x')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(number)]) for number in range(6)]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 6
    assert len(settings.extra_environment()) == 60
    assert settings.problems() == []


def test_directory_that_cannot_be_written(home: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "plain").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "plain"))
    answer = cli("settings", "set", "git-timeout", "7")
    assert answer.code == 74
    assert answer.err.startswith("mait-code: cannot create ")


# -- the data directory


@pytest.fixture
def journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory in its default place, with something in it."""
    monkeypatch.delenv("MAIT_CODE_DATA_DIR")
    place = home / ".claude/mait-code-data"
    (place / "journal").mkdir(parents=True)
    (place / "journal/line").write_text("x")
    return place


def test_data_dir_asks_whether_to_move(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    answer = cli("settings", "set", "data-dir", str(home / "new"))
    assert answer.code == 2
    assert "--move-data" in answer.err
    assert settings.value("data-dir") == str(journal)


def test_data_dir_moves_with_its_state(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    from mait_code.journal.home import Home

    spooled = home / "state/mait-code" / os.path.basename(Home(str(journal)).state) / "spool/one"
    spooled.parent.mkdir(parents=True)
    spooled.write_text("an event that a hook left")
    assert cli("settings", "set", "data-dir", str(home / "deep/new"), "--move-data").code == 0
    assert (home / "deep/new/journal/line").read_text() == "x"
    assert not journal.exists()
    assert settings.value("data-dir") == str(home / "deep/new")
    assert os.path.isfile(os.path.join(Home(str(home / "deep/new")).state, "spool/one"))


def test_data_dir_can_change_without_a_move(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    assert cli("settings", "set", "data-dir", str(home / "new"), "--no-move-data").code == 0
    assert (journal / "journal/line").exists()
    assert settings.value("data-dir") == str(home / "new")


def test_failed_move_changes_nothing(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    (home / "taken").mkdir()
    (home / "taken/file").write_text("")
    for target in (home / "taken", home / "taken/file", journal / "inside"):
        answer = cli("settings", "set", "data-dir", str(target), "--move-data")
        assert answer.code == 1
        assert settings.value("data-dir") == str(journal)
        assert (journal / "journal/line").read_text() == "x"


def test_setting_that_fails_after_the_move_takes_it_back(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    broken = home / "config/mait-code/settings.toml"
    broken.parent.mkdir(parents=True)
    broken.write_text("nonsense\n")
    assert cli("settings", "set", "data-dir", str(home / "new"), "--move-data").code == 1
    assert (journal / "journal/line").read_text() == "x"
    assert not (home / "new").exists()


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="needs a second file system to move to")
def test_move_to_another_file_system_copies(journal: Path, home: Path, cli: Callable[..., Any]) -> None:
    target = f"/dev/shm/mait-code-test-{os.getpid()}"
    if os.stat("/dev/shm").st_dev == journal.stat().st_dev:
        pytest.skip("the temporary directory is on the same file system as /dev/shm")
    try:
        answer = cli("settings", "set", "data-dir", target, "--move-data")
        assert answer.code == 0
        assert f"the old directory is still at {journal}" in answer.err
        with open(f"{target}/journal/line") as file:
            assert file.read() == "x"
        assert (journal / "journal/line").exists()
    finally:
        subprocess.run(["rm", "-rf", target], check=True)


# -- the registry itself


def test_registry_is_sound() -> None:
    keys = [one.key for one in settings.REGISTRY]
    assert len(set(keys)) == len(keys)
    for one in settings.REGISTRY:
        assert one.key == one.key.lower().replace("_", "-")
        assert one.help.endswith(".")
        assert one.parse(one.default) is not None
        assert one.kind in {"text", "path", "int", "float", "bool", "choice"}
        assert (one.kind == "choice") == bool(one.choices)


def test_every_setting_is_read_by_something() -> None:
    """A key that nothing reads is a promise that nothing keeps."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = ""
    for top in ("journal", "projections", "commands", "hooks", "tui"):
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith(".py") and name != "settings.py":
                    with open(os.path.join(directory, name), encoding="utf-8") as file:
                        code += file.read()
    assert [one.key for one in settings.REGISTRY if f'"{one.key}"' not in code] == []


def test_list_has_every_key_and_source(cli: Callable[..., Any], file: Path) -> None:
    file.write_text("git-timeout = 7\nlog-level = 3\n")
    answer = cli("settings", "list", "--json")
    assert answer.err == ""
    by_key = {one["key"]: one for one in answer.json["settings"]}
    assert list(by_key) == [one.key for one in settings.REGISTRY]
    assert (by_key["git-timeout"]["value"], by_key["git-timeout"]["source"]) == (7, "settings")
    assert by_key["data-dir"]["source"] == "env"
    assert by_key["data-dir"]["requires_migration"] is True
    assert [one["key"] for one in answer.json["problems"]] == ["log-level"]
    text = cli("settings", "list")
    assert all(one.key in text.out for one in settings.REGISTRY)
    assert "log-level takes one of DEBUG, INFO, WARNING, ERROR" in text.err


@pytest.mark.parametrize("given", [None, "/elsewhere/state"])
def test_log_lies_in_the_state_directory(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from mait_code.journal.home import state_root

    monkeypatch.delenv("XDG_STATE_HOME")
    if given is not None:
        monkeypatch.setenv("XDG_STATE_HOME", given)
    assert settings.value("log-file") == os.path.join(state_root(), "logs/invocations.jsonl")


def test_what_follows_from_settings_can_be_read_and_not_set(cli: Callable[..., Any], home: Path) -> None:
    listed = {one["key"]: one["value"] for one in cli("settings", "list", "--json").json["derived"]}
    assert listed["embedding-dim"] == 384
    assert listed["dashboard-config-path"] == str(home / "data/dashboard.toml")
    assert listed["observations-dir"] == str(home / "data/journal")
    assert "memory-db-path" in cli("settings", "list").out
    cli("memory", "store", "--scope", "global", "the deploy waits for the queue")
    got = cli("settings", "get", "memory-db-path")
    assert (got.code, got.err) == (0, "")
    assert os.path.isfile(got.out.split("\t")[0]), "it names the file that is used"
    refused = cli("settings", "set", "memory-db-path", "/elsewhere")
    assert refused.code == 2
    assert "can be read, not set" in refused.err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("capture-by-project", "acme/shop=offf", "'acme/shop=offf'"),
        ("capture-by-project", "acme/shop", "'acme/shop'"),
        ("capture-by-project", "a=off,=off", "'=off'"),
        ("mode", "cookign", "there is no mode 'cookign'"),
        ("mode-by-project", "acme/paper=cookign", "there is no mode 'cookign'"),
        ("mode-by-project", "=code", "takes pairs"),
    ],
)
def test_text_that_means_nothing_is_refused(cli: Callable[..., Any], key: str, value: str, said: str) -> None:
    refused = cli("settings", "set", key, value)
    assert refused.code == 2
    assert said in refused.err
    assert settings.resolve(key).source == "default"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("capture-by-project", "acme/shop=off, work*=Evidence"),
        ("capture-by-project", "none"),
        ("mode", "research"),
        ("mode-by-project", "acme/paper=research,work*=code"),
    ],
)
def test_text_that_means_something_is_taken(cli: Callable[..., Any], key: str, value: str) -> None:
    assert cli("settings", "set", key, value).code == 0
    assert settings.value(key) == value
