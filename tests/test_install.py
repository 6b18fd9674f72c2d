"""install and uninstall: what is the user's stays to the byte, a second run changes nothing, and everything comes out again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mait_code.commands.install import links, programs, record, updating
from mait_code.commands.install.json_text import Document, MalformedError
from mait_code.commands.install.links import Parts
from mait_code.commands.install.record import Place
from mait_code.journal.errors import GitFailed, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished, Result

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ["SessionStart", "Stop", "PreCompact", "SessionEnd"]

OWN = {"type": "command", "command": "echo mine", "timeout": 3}
SETTINGS = {
    "four blanks": json.dumps({"model": "opus", "hooks": {"Stop": [{"hooks": [OWN]}]}, "env": {}}, indent=4) + "\n",
    "tabs": json.dumps({"hooks": {"Stop": [{"matcher": "", "hooks": [OWN]}], "Other": []}}, indent="\t") + "\n",
    "one line": json.dumps({"hooks": {"SessionStart": [{"hooks": [OWN]}]}, "a": [1, 2]}),
    "no newline at the end": json.dumps({"permissions": {"allow": ["Bash(ls)"]}}, indent=2),
    "mixed": '{ "a":1,\n     "hooks" : {"Stop":[ ] , "PreCompact":\n [{"hooks":[]}] },"z":{"é":"\\u00e9 \\"}"} }\n\n',
    "windows": '{\r\n  "model": "opus",\r\n  "hooks": {}\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "a": "ü"\n}\n',
    "empty object": "{}",
    "spacious empty object": "{\n\n}\n",
    "empty file": "",
    "twice the same key": '{\n  "hooks": {"Stop": []},\n  "hooks": {"SessionEnd": []}\n}\n',
}
TEXTS = {
    "plain": "# Mine\n\nKeep this.\n",
    "no newline at the end": "# Mine",
    "windows": "# Mine\r\n\r\nKeep this.\r\n",
    "blank lines": "# Mine\n\n\n\n",
    "empty": "",
}


@pytest.fixture
def claude(home: Path) -> Path:
    """The client's directory, empty."""
    folder = home / ".claude"
    folder.mkdir()
    return folder


def tree(folder: Path) -> dict[str, bytes | str]:
    """Every file with its bytes and every link with its target, without the data directory."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def settings(claude: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((claude / "settings.json").read_text(encoding="utf-8-sig"))
    return loaded


def commands(claude: Path, event: str) -> list[str]:
    groups = settings(claude)["hooks"].get(event, [])
    return [handler["command"] for group in groups for handler in group["hooks"]]


# -- settings.json and CLAUDE.md


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_as_before_after_uninstall(cli: Callable[..., Result], claude: Path, name: str) -> None:
    path = claude / "settings.json"
    path.write_bytes(SETTINGS[name].encode())
    before = json.loads(SETTINGS[name].lstrip("\ufeff") or "{}")
    assert cli("install").code == 0
    held = settings(claude)
    assert [event for event in ALWAYS if event not in held["hooks"]] == []
    for key, value in before.items():
        if key != "hooks":
            assert held[key] == value
    for event, groups in before.get("hooks", {}).items():
        assert held["hooks"][event][: len(groups)] == groups
    assert cli("uninstall").code == 0
    assert path.read_bytes() == SETTINGS[name].encode()


@pytest.mark.parametrize("name", [name for name in SETTINGS if "empty" not in name])
def test_what_the_user_changes_meanwhile_stays(cli: Callable[..., Result], claude: Path, name: str) -> None:
    """Taken out of a text that is another one by now, what is left is exactly the user's."""
    path = claude / "settings.json"
    path.write_bytes(SETTINGS[name].encode())
    cli("install")
    end = path.read_bytes().rindex(b"}")
    edited = path.read_bytes()
    path.write_bytes(edited[:end] + b',"added": [1,  2]' + edited[end:])
    assert cli("uninstall").code == 0
    end = SETTINGS[name].rindex("}")
    before = json.loads(SETTINGS[name].lstrip("\ufeff"))
    assert settings(claude) == {**before, "added": [1, 2]}
    wanted = SETTINGS[name][:end] + ',"added": [1,  2]' + SETTINGS[name][end:]
    assert path.read_bytes().decode() == wanted.replace("[ ]", "[]"), "but for blanks in a list that was empty"


@pytest.mark.parametrize("name", TEXTS)
def test_claude_md_is_as_before_after_uninstall(cli: Callable[..., Result], claude: Path, name: str) -> None:
    path = claude / "CLAUDE.md"
    path.write_bytes(TEXTS[name].encode())
    cli("install")
    text = path.read_bytes().decode()
    assert text.startswith(TEXTS[name])
    assert text.count("\n@") == 3
    assert "\r\n" in text or "\r" not in text
    cli("uninstall")
    assert path.read_bytes() == TEXTS[name].encode()


def test_text_around_the_block_stays(cli: Callable[..., Result], claude: Path) -> None:
    path = claude / "CLAUDE.md"
    path.write_text("# Mine\n")
    cli("install")
    path.write_text("# First\n" + path.read_text() + "# Last\n")
    assert cli("install").out.startswith("Nothing to change")
    cli("uninstall")
    assert path.read_text() == "# First\n# Mine\n# Last\n"


def test_block_imports_from_the_directory_in_use(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    place = home / "my data"
    assert cli("install", "--data-dir", str(place)).code == 0
    text = (claude / "CLAUDE.md").read_text()
    assert "@~/my\\ data/soul_document.md\n" in text
    assert "@~/my\\ data/memory/MEMORY.md\n" in text
    assert (place / "soul_document.md").is_file()
    # Hooks get no such option: it is written down for them.
    assert cli("settings", "list", "--json").json["path"]
    assert str(place) in (home / "config/mait-code/settings.toml").read_text()


def test_half_a_block_is_refused(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    path = claude / "CLAUDE.md"
    path.write_text(path.read_text().replace("<!-- mait-code end -->\n", ""))
    before = tree(claude)
    done = cli("install")
    assert done.code == 1
    assert "the two lines of mait-code's block" in done.err
    assert tree(claude) == before


def test_nothing_there_before_nothing_left_after(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    assert cli("install").code == 0
    assert set(tree(claude)) > {"settings.json", "CLAUDE.md"}
    cli("uninstall")
    assert tree(claude) == {}
    assert sorted(claude.iterdir()) == []
    assert not (home / ".local/share/mait-code").exists()
    assert not (home / "config/mait-code/settings.toml").exists()
    assert (home / "data/soul_document.md").is_file(), "the data is the user's"


def test_a_second_run_changes_nothing(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    (claude / "settings.json").write_text(SETTINGS["four blanks"])
    cli("install", "--statusline")
    before, record_before = tree(claude), (home / ".local/share/mait-code/install.json").read_bytes()
    for arguments in (["install"], ["install", "--statusline"], ["install", "--dry-run"]):
        done = cli(*arguments)
        assert done.out == "Nothing to change: mait-code is installed and up to date.\n"
    assert tree(claude) == before
    assert (home / ".local/share/mait-code/install.json").read_bytes() == record_before


def test_dry_run_shows_and_writes_nothing(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    (claude / "settings.json").write_text(SETTINGS["tabs"])
    before = tree(home)
    done = cli("install", "--dry-run")
    assert "+" in done.out
    assert "mc-hook-session-start" in done.out
    assert "would have changed" in done.out
    assert {name: text for name, text in tree(home).items() if "state" not in name} == before
    cli("install")
    installed = tree(claude)
    assert "would have removed" in cli("uninstall", "--dry-run").out
    assert tree(claude) == installed


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,}', "line 1"),
        ('{\n  // mine\n  "a": 1\n}', "line 2"),
        ("[]", "no JSON object"),
        ('{"hooks": []}', "hooks is no object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is no list"),
        ('{"hooks": {"Stop": ["x"]}}', "hooks.Stop has an entry that is none"),
        ('{"hooks": {"Stop": [{"hooks": "x"}]}}', "hooks.Stop has an entry that is none"),
        ('{"a": NaN}', "line 1"),
        ('{"a": "\\ud800"}', "line 1"),
        (b'{"a": "\xff"}', "not UTF-8"),
        ('{"a": 1} {"b": 2}', "line 1"),
    ],
)
def test_malformed_settings_are_refused_untouched(
    cli: Callable[..., Result], claude: Path, home: Path, text: str | bytes, where: str
) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    (claude / "settings.json").write_bytes(raw)
    done = cli("install")
    assert done.code == 1
    assert where in done.err
    assert done.err.count("\n") == 2, "what is wrong, and what to do"
    assert tree(claude) == {"settings.json": raw}
    assert not (home / "data").exists()
    assert not (home / ".local").exists()


def test_a_directory_in_the_place_of_settings(cli: Callable[..., Result], claude: Path) -> None:
    (claude / "settings.json").mkdir()
    done = cli("install")
    assert done.code == 1
    assert "is a directory" in done.err


def test_backup_is_made_once(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    path = claude / "settings.json"
    path.write_text('{"first": 1}')
    cli("install")
    path.write_text('{"second": 2}')
    cli("install")
    backups = list((home / ".local/share/mait-code/backup").rglob("settings.json"))
    assert [backup.read_text() for backup in backups] == ['{"first": 1}']


def test_mode_and_link_of_settings_stay(cli: Callable[..., Result], claude: Path, home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o644)
    (claude / "settings.json").symlink_to(real)
    cli("install")
    assert (claude / "settings.json").is_symlink()
    assert "mc-hook-observe" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o644
    cli("uninstall")
    assert real.read_text() == "{}\n"


# -- hooks


def test_hooks_have_the_shape_the_client_wants(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    directory = programs.programs_directory()
    for event in ALWAYS:
        (group,) = settings(claude)["hooks"][event]
        (handler,) = group["hooks"]
        assert "matcher" not in group
        assert handler["type"] == "command"
        assert handler["command"].startswith(f"{directory}/mc-hook-")
        assert type(handler["timeout"]) is int
        assert set(handler) == {"type", "command", "timeout"}, "never async, and no form that older clients misread"
    assert settings(claude)["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] <= 60
    assert [event for event in settings(claude)["hooks"] if event not in ALWAYS] == []


def test_hooks_follow_their_settings(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    said = cli("settings", "set", "inject-on-prompt", "on")
    assert "mait-code install" in said.out + said.err
    assert "mait-code install" not in cli("settings", "set", "inject-on-prompt", "on").err, "nothing has changed"
    cli("settings", "set", "file-context", "true")
    assert "Changed" in cli("install").out
    assert commands(claude, "UserPromptSubmit")[0].endswith("/mc-hook-prompt")
    assert settings(claude)["hooks"]["PreToolUse"][0]["matcher"] == "Read"
    cli("settings", "set", "file-context", "off")
    cli("settings", "set", "capture", "off")
    cli("install")
    assert sorted(settings(claude)["hooks"]) == ["SessionStart", "UserPromptSubmit"]


def test_what_the_user_changed_in_ours_stays(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    held = settings(claude)
    handler = held["hooks"]["Stop"][0]["hooks"][0]
    handler["timeout"] = 55
    handler["command"] = f"nice {handler['command']} 2>/dev/null || true"
    held["hooks"]["Stop"][0]["matcher"] = "*"
    (claude / "settings.json").write_text(json.dumps(held))
    before = tree(claude)
    assert cli("install").code == 0
    assert tree(claude) == before


def test_programs_that_moved_are_named_anew(cli: Callable[..., Result], claude: Path) -> None:
    old = {"type": "command", "command": "'/old place/mc-hook-observe' --trigger stop || true", "timeout": 44}
    (claude / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [OWN, old]}]}}))
    cli("install")
    directory = programs.programs_directory()
    assert commands(claude, "Stop") == ["echo mine", f"{directory}/mc-hook-observe --trigger stop || true"]
    assert settings(claude)["hooks"]["Stop"][0]["hooks"][1]["timeout"] == 44


def test_entries_of_the_version_before_are_replaced(cli: Callable[..., Result], claude: Path) -> None:
    peer = {"type": "command", "command": "mc-hook-observe --trigger session-end", "timeout": 60, "async": True}
    raw = json.dumps({"hooks": {"SessionEnd": [{"hooks": [peer]}, {"hooks": [OWN, peer]}]}}, indent=2)
    (claude / "settings.json").write_text(raw)
    cli("install")
    groups = settings(claude)["hooks"]["SessionEnd"]
    assert [len(group["hooks"]) for group in groups] == [1, 1]
    assert groups[0]["hooks"] == [OWN]
    assert "async" not in groups[1]["hooks"][0]
    cli("uninstall")
    assert (claude / "settings.json").read_text() == raw


def test_a_path_with_blanks_is_quoted() -> None:
    group = programs.HOOKS[0].group("/my programs/bin")
    assert group["hooks"][0]["command"] == "'/my programs/bin/mc-hook-session-start'"
    assert programs.program_of(group["hooks"][0]["command"]) == "/my programs/bin/mc-hook-session-start"


@pytest.mark.parametrize("command", ["", None, 7, "echo 'unclosed", "grep mc-hook-observe.log", "echo mine"])
def test_other_commands_are_not_taken_for_ours(command: object) -> None:
    word = programs.program_of(command)
    assert word == "" or os.path.basename(word).startswith("mc-hook-")


def test_the_plugin_and_install_exclude_each_other(cli: Callable[..., Result], claude: Path) -> None:
    (claude / "settings.json").write_text('{"enabledPlugins": {"mait-code@mait-code": true}}')
    before = tree(claude)
    done = cli("install")
    assert done.code == 1
    assert "mait-code@mait-code is enabled" in done.err
    assert tree(claude) == before
    assert cli("status", "--json").json["state"] == "plug-in"
    (claude / "settings.json").write_text('{"enabledPlugins": {"mait-code@mait-code": false, "other@x": true}}')
    assert cli("install").code == 0


# -- status line


def test_status_line_goes_behind_the_users_own(cli: Callable[..., Result], claude: Path) -> None:
    raw = '{"statusLine": {"type": "command", "command": "echo \\"it\'s $HOME\\"", "padding": 0}}'
    (claude / "settings.json").write_text(raw)
    cli("install")
    assert settings(claude)["statusLine"] == json.loads(raw)["statusLine"], "only when asked"
    cli("install", "--statusline")
    line = settings(claude)["statusLine"]
    assert line["padding"] == 0
    assert line["command"].startswith(f"{programs.programs_directory()}/mc-statusline ")
    done = subprocess.run(line["command"], shell=True, capture_output=True, input=b"{}", timeout=60)
    assert done.stdout.decode().startswith(f"it's {os.environ['HOME']}")
    # Changed since, so that it cannot be put back as a whole.
    held = settings(claude) | {"more": True}
    (claude / "settings.json").write_text(json.dumps(held))
    cli("uninstall")
    assert settings(claude) == {**json.loads(raw), "more": True}


def test_status_line_of_our_own(cli: Callable[..., Result], claude: Path) -> None:
    cli("install", "--statusline")
    assert settings(claude)["statusLine"]["type"] == "command"
    held = settings(claude) | {"more": True}
    (claude / "settings.json").write_text(json.dumps(held))
    cli("uninstall")
    assert settings(claude) == {"more": True}


# -- skills and agents


def test_skills_are_linked_from_a_checkout(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    for name in links.offered():
        assert os.readlink(claude / name) == str(ROOT / name)
    assert (claude / "skills/recall/SKILL.md").is_file()


def test_a_skill_of_the_user_stays(cli: Callable[..., Result], claude: Path) -> None:
    (claude / "skills/commit").mkdir(parents=True)
    (claude / "skills/commit/SKILL.md").write_text("mine")
    (claude / "skills/board").symlink_to("/somewhere/else")
    (claude / "agents").mkdir()
    (claude / "agents/pre-pr-reviewer.md").write_text("mine too")
    before = tree(claude)
    done = cli("install")
    assert done.code == 0
    assert done.err.count("kept ") == 3
    assert before.items() <= tree(claude).items()
    assert "not ours: " in cli("doctor").out
    cli("uninstall")
    assert tree(claude) == before


def test_links_that_lead_nowhere_are_made_again(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    path = claude / "skills/recall"
    path.unlink()
    path.symlink_to(ROOT / "skills/gone")
    assert "links that lead nowhere: skills/recall" in cli("doctor").out
    assert "leads somewhere again" in cli("doctor", "--fix").out
    assert (path / "SKILL.md").is_file()


def apply_all(claude: Path, place: Place, removing: bool = False) -> list[str]:
    """Install or remove copies; returns what was kept."""
    parts = Parts(str(claude), place, "", linked=False)
    steps = parts.removing() if removing else parts.installing()
    for step in steps:
        links.apply(step)
    place.links = parts.links
    return [f"{step.name}: {step.kept}" for step in steps if step.kept]


def test_copies_come_and_go(claude: Path) -> None:
    place = Place()
    assert apply_all(claude, place) == []
    assert tree(claude) == {
        path.relative_to(ROOT).as_posix(): path.read_bytes()
        for path in [*ROOT.glob("skills/*/*"), *ROOT.glob("agents/*.md")]
    }
    steps = Parts(str(claude), place, "", linked=False).installing()
    assert [step.action for step in steps] == [""] * len(steps), "a second run changes nothing"
    assert apply_all(claude, place, removing=True) == []
    assert sorted(claude.iterdir()) == []


def test_an_edited_copy_stays_and_is_named(claude: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = tmp_path / "program"
    for name in ("a", "b", "old"):
        (source / "skills" / name).mkdir(parents=True)
        (source / "skills" / name / "SKILL.md").write_text(f"{name} 1")
    monkeypatch.setattr(record, "source", lambda: str(source))
    place = Place()
    apply_all(claude, place)
    (claude / "skills/a/SKILL.md").write_text("mine")
    (claude / "skills/b/notes.txt").write_text("mine")
    for name in ("a", "b"):
        (source / "skills" / name / "SKILL.md").write_text(f"{name} 2")
    shutil.rmtree(source / "skills/old")
    assert apply_all(claude, place) == ["skills/a: you edited SKILL.md"]
    assert (claude / "skills/a/SKILL.md").read_text() == "mine"
    assert (claude / "skills/b/SKILL.md").read_text() == "b 2"
    assert not (claude / "skills/old").exists(), "no longer offered"
    assert sorted(apply_all(claude, place, removing=True)) == [
        "skills/a: SKILL.md is yours",
        "skills/b: notes.txt is yours",
    ]
    assert tree(claude) == {"skills/a/SKILL.md": b"mine", "skills/b/notes.txt": b"mine"}


def test_from_links_to_copies_and_back(cli: Callable[..., Result], claude: Path) -> None:
    cli("install")
    place = record.Record().place(str(claude))
    assert apply_all(claude, place) == []
    assert not (claude / "skills/recall").is_symlink()
    parts = Parts(str(claude), place, "", linked=True)
    for step in parts.installing():
        links.apply(step)
    assert (claude / "skills/recall").is_symlink()
    assert (claude / "agents/pre-pr-reviewer.md").is_symlink()


# -- identity, settings.toml and the data directory


def test_documents_are_never_overwritten(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    (home / "data").mkdir()
    (home / "data/soul_document.md").write_text("mine")
    cli("install")
    assert (home / "data/soul_document.md").read_text() == "mine"
    assert "Who I am" in (home / "data/user_context.md").read_text()
    assert (home / "data/.git").is_dir()
    assert (home / "data/.gitattributes").is_file()
    (home / "data/user_context.md").write_text("me")
    cli("install")
    assert (home / "data/user_context.md").read_text() == "me"


def test_settings_file_names_everything_and_says_nothing(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    import tomllib

    from mait_code.journal.settings import REGISTRY

    cli("install")
    path = home / "config/mait-code/settings.toml"
    assert tomllib.loads(path.read_text()) == {}
    for entry in REGISTRY:
        assert f"\n# {entry.key} = " in path.read_text()
    whole = "\n".join(row[2:] if " = " in row else "" for row in path.read_text().split("\n[env]")[0].split("\n"))
    for entry in REGISTRY:
        entry.parse(tomllib.loads(whole)[entry.key])  # each default is a value that the key takes
    path.write_text("llm-timeout = 7  # mine\n")
    cli("install")
    cli("uninstall")
    assert path.read_text() == "llm-timeout = 7  # mine\n"


def test_a_file_of_comments_costs_no_parser(program: Callable[..., Finished], home: Path, claude: Path) -> None:
    assert program("install").code == 0
    script = (
        "import sys; from mait_code.journal import settings; settings.value('capture'); print('tomllib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n"


def test_purge_takes_the_data_too(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    cli("install")
    cli("inbox", "add", "a thought")
    asked = cli("uninstall", "--purge-data")
    assert (asked.code, "--yes" in asked.err) == (1, True)
    assert (home / "data").exists()
    assert cli("uninstall", "--purge-data", "--dry-run").code == 0
    assert (home / "data").exists()
    assert cli("uninstall", "--purge-data", "--yes").code == 0
    assert not (home / "data").exists()
    assert cli("inbox", "count").out.strip() == "0"


def test_purge_refuses_what_is_no_journal(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    cli("install")
    other = home / "photos"
    other.mkdir()
    (other / "one.jpg").write_bytes(b"x")
    before = tree(claude)
    done = cli("uninstall", "--purge-data", "--yes", "--data-dir", str(other))
    assert done.code == 1
    assert (other / "one.jpg").is_file()
    assert tree(claude) == before


# -- the record, status and doctor


def test_record_says_what_was_installed(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    cli("install")
    path = home / ".local/share/mait-code/install.json"
    held = json.loads(path.read_text())
    assert held["schema_version"] == 3
    assert held["source_dir"] == str(ROOT)
    assert held["version"] == cli("version").out.strip()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(held["places"]) == [str(claude)]


def test_record_of_the_program_before(cli: Callable[..., Result], home: Path, claude: Path, tmp_path: Path) -> None:
    source = tmp_path / "former"
    (source / "skills/recall").mkdir(parents=True)
    (claude / "skills").mkdir()
    (claude / "skills/recall").symlink_to(source / "skills/recall")
    path = home / ".local/share/mait-code/install.json"
    path.parent.mkdir(parents=True)
    former = {"source_dir": str(source), "first_installed_at": "2025-01-02T03:04:05Z", "schema_version": 2}
    path.write_text(json.dumps(former))
    assert cli("status", "--json").json["state"] == "not installed"
    cli("install")
    assert os.readlink(claude / "skills/recall") == str(ROOT / "skills/recall")
    assert json.loads(path.read_text())["first_installed_at"] == "2025-01-02T03:04:05Z"


@pytest.mark.parametrize("own", [None, "# Mine\n"])
def test_claude_md_of_the_program_before(
    cli: Callable[..., Result], home: Path, claude: Path, tmp_path: Path, own: str | None
) -> None:
    """It was a link into that program's source, with the user's own put aside: that comes back, and the source stays."""
    source = tmp_path / "former"
    (source / "config").mkdir(parents=True)
    (source / "config/CLAUDE.md").write_text("imports of that program\n")
    (claude / "CLAUDE.md").symlink_to(source / "config/CLAUDE.md")
    if own is not None:
        (claude / "CLAUDE.md.backup").write_text(own)
    path = home / ".local/share/mait-code/install.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"source_dir": str(source), "schema_version": 2}))
    assert cli("install").code == 0
    text = (claude / "CLAUDE.md").read_text()
    assert not (claude / "CLAUDE.md").is_symlink()
    assert text.startswith(own or "<!-- mait-code begin")
    assert "imports of that program" not in text
    assert (source / "config/CLAUDE.md").read_text() == "imports of that program\n"
    assert cli("install").out.startswith("Nothing to change")
    cli("uninstall")
    assert (claude / "CLAUDE.md").exists() == (own is not None)
    if own is not None:
        assert (claude / "CLAUDE.md").read_text() == own


@pytest.mark.parametrize(
    ("text", "words"), [('{"schema_version": 99}', "newer"), ("{", "no JSON"), ("[]", "no record")]
)
def test_a_record_that_cannot_be_used(
    cli: Callable[..., Result], home: Path, claude: Path, text: str, words: str
) -> None:
    path = home / ".local/share/mait-code/install.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = cli("install")
    assert done.code == 1
    assert words in done.err
    assert tree(claude) == {}
    assert words in cli("status", "--json").json["record_error"]
    assert "✗ install-record" in cli("doctor").out


def test_uninstall_without_a_record(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    (claude / "settings.json").write_text(SETTINGS["one line"])
    cli("install")
    shutil.rmtree(home / ".local/share/mait-code")
    assert cli("uninstall").code == 0
    assert "mc-hook-" not in (claude / "settings.json").read_text()
    assert commands(claude, "SessionStart") == ["echo mine"]
    assert not (claude / "skills").exists()


def test_status(cli: Callable[..., Result], claude: Path) -> None:
    assert cli("status", "--json").json["state"] == "not installed"
    cli("install")
    found = cli("status", "--json").json
    assert found["state"] == "healthy"
    assert found["hooks_registered"] == ALWAYS
    assert found["skills_linked"] == found["skills_total"] == len(list((ROOT / "skills").iterdir()))
    assert found["agents_linked"] == found["agents_total"] == 1
    assert found["claude_md_block"]
    assert found["has_soul_document"]
    wanted = """record_present source_dir version first_installed_at updated_at record_error claude_md_path claude_md_target
        claude_md_is_symlink skills_linked skills_total agents_linked agents_total hooks_registered data_dir_path
        data_dir_size_bytes has_soul_document has_user_context has_memory_md binary_path"""
    assert set(wanted.split()) <= set(found)
    (claude / "skills/recall").unlink()
    assert cli("status", "--json").json["state"] == "degraded"
    assert "degraded" in cli("status").out


def test_older_hooks_are_named(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    assert record.older_than_program() == ""
    cli("install")
    assert record.older_than_program() == ""
    path = home / ".local/share/mait-code/install.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"stamp": "1:1"}))
    assert "`mait-code install`" in record.older_than_program()
    assert cli("status", "--json").json["outdated"]
    assert "● install-record" in cli("doctor").out
    cli("install")
    assert record.older_than_program() == ""


def checks(cli: Callable[..., Result]) -> dict[str, str]:
    return {one["name"]: one["level"] for one in cli("doctor", "--json").json["checks"]}


def test_doctor_looks_at_the_installation(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    assert "links" not in checks(cli), "nothing to look at where nothing is installed"
    cli("install")
    found = checks(cli)
    for name in (
        "settings-file", "env-table", "install-record", "source-dir", "client-settings", "hooks-on-path", "links",
        "claude-md", "update", "observe-pipeline",
    ):  # fmt: skip
        assert found[name] == "ok", name
    text = (claude / "settings.json").read_text()
    (claude / "settings.json").write_text(text.replace(programs.programs_directory(), "/nowhere"))
    assert checks(cli)["hooks-on-path"] == "fail"
    (claude / "settings.json").write_text("{")
    assert checks(cli)["client-settings"] == "fail"
    (claude / "settings.json").write_text(text)
    (claude / "CLAUDE.md").write_text("nothing of ours")
    assert checks(cli)["claude-md"] == "warn"
    cli("install")
    cli("settings", "set", "inject-on-prompt", "on")
    assert checks(cli)["hooks-on-path"] == "warn"


def test_doctor_counts_hooks_that_failed(cli: Callable[..., Result], claude: Path) -> None:
    from mait_code.commands import invocations

    cli("install")
    invocations.record("hook observe stop", 0.1, "crashed", 0, "ValueError")
    invocations.record("hook observe stop", 0.1, "ok", 0)
    invocations.record("board list", 0.1, "failed", 1)
    found = cli("doctor", "--json").json["checks"]
    told = [one["message"] for one in found if one["name"] == "observe-pipeline"]
    assert told == ["1 run of hooks went wrong in the last 7 days"]


def test_doctor_sees_sessions_that_were_not_recorded(cli: Callable[..., Result], home: Path, claude: Path) -> None:
    cli("install")
    path = home / ".local/share/mait-code/install.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"first_installed_at": "2025-01-02T03:04:05Z"}))
    assert checks(cli)["observe-pipeline"] == "ok"
    (claude / "projects/-p").mkdir(parents=True)
    (claude / "projects/-p/one.jsonl").write_text("{}\n")
    assert checks(cli)["observe-pipeline"] == "warn"


# -- permissions


def test_permissions(cli: Callable[..., Result], claude: Path) -> None:
    raw = '{\n  "permissions": {"allow": ["Bash(ls)", "WebFetch"], "deny": ["Read(.env)"]}\n}\n'
    (claude / "settings.json").write_text(raw)
    states = {one["id"]: (one["enabled"], one["partial"]) for one in cli("permissions", "list", "--json").json}
    assert states["ls"] == (False, True)
    assert states["wc"] == (False, False)
    added = cli("permissions", "add", "git", "--json").json["added"]
    assert len(added) == 10
    assert {"Bash(git status)", "Bash(git status:*)"} < set(added)
    assert cli("permissions", "add", "git").out.startswith("Nothing to change")
    held = settings(claude)["permissions"]
    assert held["allow"][:2] == ["Bash(ls)", "WebFetch"]
    assert held["deny"] == ["Read(.env)"]
    assert cli("permissions", "remove", "git-log", "--json").json["removed"] == ["Bash(git log)", "Bash(git log:*)"]
    cli("install")
    cli("uninstall")
    assert (claude / "settings.json").read_text() == raw


def test_uninstall_takes_only_rules_of_ours(cli: Callable[..., Result], claude: Path) -> None:
    (claude / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    cli("permissions", "add", "ls")
    cli("permissions", "add", "wc")
    held = settings(claude)
    held["permissions"]["allow"].append("Bash(mine)")
    (claude / "settings.json").write_text(json.dumps(held))
    cli("uninstall")
    assert settings(claude) == {"permissions": {"allow": ["Bash(ls)", "Bash(mine)"]}}


def test_permissions_made_from_nothing(cli: Callable[..., Result], claude: Path) -> None:
    cli("permissions", "add", "mait-code")
    assert cli("permissions", "remove", "mait-code").code == 0
    assert settings(claude) == {}
    assert cli("permissions", "add", "nonsense").code == 1
    (claude / "settings.json").write_text('{"permissions": []}')
    assert "malformed" in cli("permissions", "add", "wc").err
    assert (claude / "settings.json").read_text() == '{"permissions": []}'


# -- the disk


def read_only(place: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run with a directory read-only: mounted so where we are root, to whom permissions mean nothing."""
    if os.geteuid() == 0:
        script = 'mount --bind "$PLACE" "$PLACE" && mount -o remount,ro,bind "$PLACE" || exit 99; exec "$@"'
        command = ["unshare", "-m", "sh", "-c", script, "sh", *command]
        if shutil.which("unshare") is None:
            pytest.skip("root, and nothing to mount with")
    else:
        place.chmod(0o500)
    try:
        env = {**os.environ, "PLACE": str(place)}
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    finally:
        place.chmod(0o700)
    if done.returncode == 99:
        pytest.skip("this system lets nobody here mount a file system")
    return done


@pytest.mark.parametrize("what", ["home", "claude"])
def test_a_read_only_home_gives_one_clear_line(
    home: Path, claude: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (claude / "settings.json").write_text("{}\n")
    if what == "home":
        monkeypatch.delenv("MAIT_CODE_DATA_DIR")
    before = tree(claude)
    place = home if what == "home" else claude
    done = read_only(place, [sys.executable, "-m", "mait_code.commands.cli.main", "install"])
    assert done.returncode == 74
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] == ["mait-code", "hint"]
    assert str(place) in lines[0]
    assert tree(claude) == before
    assert not (home / "data").exists()


# -- update


def git(folder: Path, *arguments: str) -> str:
    words = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone in the place of the program's checkout; its remote has moved on by one commit and a tag."""
    remote = tmp_path / "remote"
    remote.mkdir()
    git(remote, "init", "--quiet", "-b", "main")
    (remote / "pyproject.toml").write_text("[project]\n")
    (remote / "commands/install").mkdir(parents=True)
    (remote / "commands/install/programs.py").write_text("")
    git(remote, "add", ".")
    git(remote, "commit", "--quiet", "-m", "one")
    git(remote, "tag", "v0.9")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(remote), str(clone))
    (remote / "new.txt").write_text("x")
    git(remote, "add", ".")
    git(remote, "commit", "--quiet", "-m", "two")
    git(remote, "tag", "v0.10")
    monkeypatch.setattr(record, "source", lambda: str(clone))
    return clone


def test_update_follows_the_branch(checkout: Path) -> None:
    said: list[str] = []
    done = updating.update(said.append)
    assert (done.before, done.after) == (git(checkout, "rev-parse", "v0.9"), git(checkout, "rev-parse", "v0.10"))
    assert not done.reinstalled, "what runs from the checkout has moved with it"
    assert (checkout / "new.txt").is_file()
    again = updating.update(said.append)
    assert again.before == again.after
    assert "up to date" in again.lines[0]


def test_update_from_within_a_git_hook(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git tells its hooks of the repository around them is none of ours."""
    newest = git(tmp_path / "remote", "rev-parse", "HEAD")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert updating.update(lambda _line: None).after == newest


def test_update_to_a_version_and_from_it_to_the_newest(checkout: Path) -> None:
    updating.update(lambda _line: None, ref="v0.9")
    assert git(checkout, "describe", "--tags") == "v0.9"
    updating.update(lambda _line: None)
    assert git(checkout, "describe", "--tags") == "v0.10", "by number, not by letter"
    updating.update(lambda _line: None, ref="main")
    assert git(checkout, "rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_update_throws_nothing_away(checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text("mine")
    with pytest.raises(Refused, match=r"edited in .*: pyproject\.toml"):
        updating.update(lambda _line: None, force=True)
    assert (checkout / "pyproject.toml").read_text() == "mine"
    git(checkout, "commit", "--quiet", "-a", "-m", "mine")
    with pytest.raises(GitFailed, match="merge"):
        updating.update(lambda _line: None)
    assert (checkout / "pyproject.toml").read_text() == "mine"


def test_update_to_what_is_not_there(checkout: Path) -> None:
    with pytest.raises(GitFailed, match="nonsense"):
        updating.update(lambda _line: None, ref="nonsense")


@pytest.mark.parametrize(
    ("how", "checkout", "editable", "wanted"),
    [
        ("uv", None, False, "uv tool upgrade mait-code"),
        ("uv", "/c", True, "uv tool install --force --reinstall-package mait-code -e /c"),
        ("pipx", None, False, "pipx upgrade mait-code"),
        ("pipx", "/c", False, "pipx install --force /c"),
    ],
)
def test_reinstallation_is_by_what_installed(how: str, checkout: str | None, editable: bool, wanted: str) -> None:
    assert " ".join(updating.reinstallation(how, checkout, editable)) == wanted


def test_update_brings_the_client_up(cli: Callable[..., Result], claude: Path, checkout: Path) -> None:
    """The program as it is now is asked, in a process of its own: that one knows the real checkout."""
    assert cli("update").code == 0
    assert tree(claude) == {}, "nothing was installed, so nothing is brought up"
    assert cli("install").code == 0
    done = cli("update")
    assert done.code == 0, done.err
    assert "Linked" in done.out
    assert os.readlink(claude / "skills/recall") == str(ROOT / "skills/recall")


# -- changing JSON in its text

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
LAYOUTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(OBJECTS, LAYOUTS, KEYS, VALUES)
def test_what_is_put_in_comes_out_again(held: dict[str, Any], layout: int | str | None, key: str, value: Any) -> None:
    text = json.dumps(held, indent=layout, ensure_ascii=False)
    document = Document(text)
    document.put([key], value)
    assert json.loads(document.text) == document.root == {**held, key: value}
    if key not in held:
        document.remove([key])
        assert document.text == text


@given(OBJECTS, LAYOUTS, st.lists(VALUES, max_size=4), VALUES, st.data())
def test_items_come_and_go(
    held: dict[str, Any], layout: int | str | None, items: list[Any], value: Any, data: st.DataObject
) -> None:
    held = {**held, "list": items}
    text = json.dumps(held, indent=layout)
    document = Document(text)
    document.append(["list"], value)
    assert json.loads(document.text) == {**held, "list": [*items, value]}
    document.remove(["list", len(items)])
    assert document.text == text
    if items:
        at = data.draw(st.integers(0, len(items) - 1))
        document.remove(["list", at])
        assert json.loads(document.text) == {**held, "list": items[:at] + items[at + 1 :]}


@given(st.text(max_size=12))
def test_any_text_is_an_object_or_malformed(text: str) -> None:
    try:
        document = Document(text)
    except MalformedError:
        return
    assert not text.strip() or document.text == text
