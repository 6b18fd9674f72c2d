"""The settings screen: groups, changing each kind, defaults, what wins, permissions, weights, and the way back."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import SIZES, Hand, compare, opened, run

from mait_code.commands import settings
from mait_code.journal import settings as held
from mait_code.tui.dialogs import Ask, Confirm, Pick
from mait_code.tui.form import Form
from mait_code.tui.outline_reading import Branch
from mait_code.tui.settings import SettingsRoom
from mait_code.tui.settings_reading import GROUPS, Item, Question

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def outside_any_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    monkeypatch.delenv("MAIT_CODE_DATA_DIR")  # what is set in the environment cannot be changed here
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return home


def room(hand: Hand) -> SettingsRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, SettingsRoom)
    return found


async def go_to(hand: Hand, key: str) -> None:
    rows = room(hand).rows
    place = next(one for one in rows.keys if one.partition(":")[2] == key)
    rows.go_to(place)
    await hand.rest()


def test_every_setting_is_in_one_group_and_none_among_others() -> None:
    keys = [entry.key for entry in held.REGISTRY]
    for key in keys:
        assert sum(key.startswith(one) for _, beginnings in GROUPS for one in beginnings) == 1, key


def test_a_choice_is_picked_and_taken_back() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "log-level")
            assert "one of DEBUG, INFO" in hand.text
            await hand.press("enter")
            assert isinstance(hand.house.screen, Pick)
            await hand.type("WARN")
            await hand.press("enter")
            assert settings.one("log-level")["value"] == "WARNING"
            assert any("log-level: INFO → WARNING" in one for one in hand.said)
            assert "line 1" in hand.text
            await hand.press("z")
            assert settings.one("log-level")["source"] == "default"
            assert "nowhere: this is the default" in hand.text

    run(go())


def test_a_switch_is_turned_and_a_default_comes_back() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "auto-sync")
            await hand.press("e")
            assert settings.one("auto-sync")["value"] is True
            await hand.press("d")
            assert settings.one("auto-sync")["source"] == "default"
            await hand.press("d")
            assert any("nothing here that was changed" in one for one in hand.said)
            await hand.press("z")
            assert settings.one("auto-sync")["value"] is True, "the way back of d is what was set before"

    run(go())


def test_a_number_is_checked_as_on_the_command_line() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "git-timeout")
            await hand.press("e", "end", "backspace")
            await hand.type("0")
            await hand.press("enter")
            assert any("git-timeout takes a whole number from 1 to 3600, not '0'" in one for one in hand.said)
            await hand.press("e", "end", "backspace")
            await hand.type("12")
            await hand.press("enter")
            assert settings.one("git-timeout")["value"] == 12
            await hand.press("e", "escape")
            assert settings.one("git-timeout")["value"] == 12

    run(go())


def test_what_the_environment_says_is_only_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_GIT_TIMEOUT", "7")
    monkeypatch.setenv("MAIT_CODE_GIT_TIMOUT", "8")

    async def go() -> None:
        async with opened(SettingsRoom, (120, 120)) as hand:
            await go_to(hand, "git-timeout")
            assert "MAIT_CODE_GIT_TIMEOUT, which is" in hand.text
            await hand.press("e")
            assert any("Unset it where it is set" in one for one in hand.said)
            assert not os.path.exists(held.path())
            await go_to(hand, "MAIT_CODE_GIT_TIMOUT")
            assert "no setting" in hand.text
            await hand.press("e")
            assert any("only shown here" in one for one in hand.said)

    run(go())


def test_weights_are_changed_together() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "score-weight-recency")
            await hand.press("e")
            assert isinstance(hand.house.screen, Form)
            await hand.press("end", "backspace", "backspace", "backspace")
            await hand.type("0.5")
            await hand.press("ctrl+s")
            assert any("the weights sum to 1.2, and not to 1" in one for one in hand.said)
            await hand.press("tab", "end", "backspace")
            await hand.type("1")
            await hand.press("ctrl+s")
            assert list(settings.weights().values()) == ["0.5", "0.1", "0.4"]
            await hand.press("z")
            assert list(settings.weights().values()) == ["0.3", "0.3", "0.4"]
            assert settings.one("score-weight-recency")["source"] == "default"

    run(go())


def test_variables_come_go_and_hide_secrets() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await hand.press("n")
            await hand.type("SHOP_TOKEN")
            await hand.press("enter")
            assert isinstance(hand.house.screen, Ask)
            await hand.type("abcdefgh1234")
            await hand.press("enter")
            assert held.extra_environment() == {"SHOP_TOKEN": "abcdefgh1234"}
            await go_to(hand, "env.SHOP_TOKEN")
            assert "****1234" in hand.text
            assert "abcdefgh" not in hand.text
            await hand.press("e")
            assert "abcdefgh" not in hand.text
            await hand.press("escape", "d")
            assert held.extra_environment() == {}
            await hand.press("n")
            await hand.type("MAIT_CODE_MODE")
            await hand.press("enter")
            await hand.type("x")
            await hand.press("enter")
            assert any("is not for the env table" in one for one in hand.said)

    run(go())


def test_permissions_are_allowed_and_taken_back(home: Path) -> None:
    path = home / ".claude" / "settings.json"

    def rules() -> list[str]:
        return json.loads(path.read_text())["permissions"]["allow"] if path.exists() else []

    async def go() -> None:
        async with opened(SettingsRoom, (120, 120)) as hand:
            await go_to(hand, "git-status")
            await hand.press("enter")
            assert rules() == ["Bash(git status)", "Bash(git status:*)"]
            await go_to(hand, "pytest")
            await hand.press("enter")
            assert isinstance(hand.house.screen, Confirm)
            await hand.press("n")
            assert len(rules()) == 2
            await hand.press("enter", "y")
            assert len(rules()) == 4
            await hand.press("z")
            assert rules() == ["Bash(git status)", "Bash(git status:*)"]
            await go_to(hand, "git-status")
            await hand.press("enter")
            assert "permissions" not in json.loads(path.read_text())

    run(go())


def test_malformed_settings_of_the_client_are_told_and_left(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{")

    async def go() -> None:
        async with opened(SettingsRoom, (120, 120)) as hand:
            await go_to(hand, "settings.json")
            assert "malformed" in hand.text
        assert path.read_text() == "{"

    run(go())


def test_a_damaged_file_is_told_and_kept(home: Path) -> None:
    path = home / "config" / "mait-code" / "settings.toml"
    path.parent.mkdir(parents=True)
    path.write_text("git-timeout = [\n")

    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            assert "1 problem" in hand.text
            await go_to(hand, "auto-sync")
            await hand.press("e")
            assert any("settings.toml" in one for one in hand.said)
            path.write_text("git-timeout = 9\n# by hand\n")
            await hand.press("r")
            await go_to(hand, "git-timeout")
            assert "9 seconds" in hand.text
            await hand.press("d")
            assert path.read_text() == "# by hand\n"

    run(go())


def test_another_model_asks_first_and_offers_vectors(home: Path) -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "embedding-provider")
            await hand.press("e")
            await hand.type("bedrock")
            await hand.press("enter")
            assert isinstance(hand.house.screen, Confirm)
            await hand.press("n")
            assert settings.one("embedding-provider")["source"] == "default"
            await hand.press("e")
            await hand.type("bedrock")
            await hand.press("enter", "y")
            assert settings.one("embedding-provider")["value"] == "bedrock"

    run(go())


def test_the_data_directory_moves_and_the_screen_ends(home: Path) -> None:
    old = home / ".claude" / "mait-code-data"

    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            (old / "notes").mkdir(parents=True)
            await go_to(hand, "data-dir")
            await hand.press("d")
            await hand.press("e")
            hand.house.screen.query_one("Input").value = str(home / "elsewhere")  # type: ignore[attr-defined]
            await hand.press("enter")
            assert isinstance(hand.house.screen, Pick)
            hand.strike("enter")
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go())
    assert settings.one("data-dir")["value"] == str(home / "elsewhere")
    assert (home / "elsewhere" / "notes").is_dir()
    assert not old.exists()


def test_the_theme_is_seen_at_once() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await go_to(hand, "theme")
            await hand.press("e")
            await hand.type("mait-light")
            await hand.press("enter")
            await hand.until(lambda: settings.one("theme")["value"] == "mait-light")
            assert hand.house.theme == "mait-light"

    run(go())


def test_filter_and_empty() -> None:
    async def go() -> None:
        async with opened(SettingsRoom) as hand:
            await hand.press("slash")
            await hand.type("half-life")
            items = [item for item in room(hand).rows.items.values() if isinstance(item, Item)]
            assert {item.key.rpartition("-")[0] for item in items} == {"half-life"}
            await hand.type("nothing like it")
            assert "Nothing has the words" in hand.text
            await hand.press("escape")
            rows = room(hand).rows
            assert isinstance(rows.items[rows.keys[0]], Branch)
            await hand.press("home", "e")
            assert any("no setting under the cursor" in one for one in hand.said)

    run(go())


def test_the_question_reads_what_the_command_lists() -> None:
    found = Question()(None)  # type: ignore[arg-type]
    assert {item.key for item in found.items.values() if item.kind == "setting"} == {e.key for e in held.REGISTRY}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_pictures(theme: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/you")
    monkeypatch.setenv("XDG_STATE_HOME", "/home/you/.local/state")
    for name in [name for name in os.environ if name.startswith("MAIT_CODE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MAIT_CODE_THEME", f"mait-{theme}")
    monkeypatch.setattr(held, "path", lambda: "/home/you/.config/mait-code/settings.toml")

    async def go() -> None:
        async with opened(SettingsRoom, SIZES[0]) as hand:
            await go_to(hand, "git-timeout")
            for width, height in SIZES:
                await hand.resize(width, height)
                compare(f"settings-{width}x{height}-{theme}", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (12, 4)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(SettingsRoom, size) as hand:
            await hand.press("j", "j", "e", "escape")
            assert hand.house._exception is None

    run(go())


def test_monkey(home: Path) -> None:
    monkeys.hammer("e d n slash 1 2 x 0 9 backspace ctrl+s", 120, SettingsRoom)
