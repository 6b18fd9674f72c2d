"""Slips that people make, and damage that they should hear of without asking for it."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from mait_code.commands import times

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_events_that_are_gone_are_told_by_every_command(cli: Callable[..., Any], home: Path) -> None:
    cli("inbox", "add", "one")
    journal = home / "data" / "journal"
    for name in os.listdir(journal):
        if (journal / name).is_dir():
            shutil.rmtree(journal / name)
    listed = cli("inbox", "list", "--json")
    assert listed.json == []
    assert "1 of the events that were here are in no file now" in listed.err
    assert cli("doctor", "--fix").code in (0, 1)
    assert [item["body"] for item in cli("inbox", "list", "--json").json] == ["one"]


def test_a_file_is_no_data_directory(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("x")
    refused = cli("board", "list", "--data-dir", str(tmp_path / "plain"))
    assert refused.code == 2
    assert "is not a directory" in refused.err


def test_unset_data_dir_does_not_walk_away_from_the_data(cli: Callable[..., Any]) -> None:
    refused = cli("settings", "unset", "data-dir")
    assert refused.code == 2
    assert "--move-data" in refused.err


def test_a_usage_error_is_one_line(cli: Callable[..., Any]) -> None:
    refused = cli("inbox", "triage", "x")
    assert refused.code == 2
    assert "\\n" not in refused.err
    assert "card, reminder, memory, done" in refused.err


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59, "59 seconds"),
        (3600, "1 hour"),
        (3 * 86400, "3 days"),
        (10**9, "32 years"),
        (7199, "2 hours"),
    ],
)
def test_a_length_of_time_is_told_in_its_largest_unit(seconds: int, said: str) -> None:
    assert times.span(seconds) == said


def test_the_version_is_an_option_too(cli: Callable[..., Any]) -> None:
    assert cli("--version").out == cli("version").out != ""
    assert cli("--json", "--version").json == cli("version", "--json").json
    assert cli("board", "--version").code == 2
