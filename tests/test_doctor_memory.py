"""doctor about memory: it names what is really wrong with MEMORY.md and with finding by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mait_code.projections import model_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


def found(cli: Cli) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in cli("doctor", "--json").json["checks"]}


def test_all_is_well(cli: Cli) -> None:
    cli("memory", "store", "tea")
    assert found(cli)["memory-file"]["level"] == "ok"
    assert found(cli)["meaning"]["level"] == "ok"
    assert "1 text without" in found(cli)["vectors"]["message"]
    cli("memory", "reindex")
    assert "1 text, each" in found(cli)["vectors"]["message"]


@pytest.mark.parametrize(
    ("what", "reason"), [("latin", "no text in UTF-8"), ("directory", "it is a directory"), ("long", "longer than")]
)
def test_a_memory_file_that_is_left_alone(cli: Cli, home: Path, what: str, reason: str) -> None:
    path = home / "data/memory/MEMORY.md"
    path.parent.mkdir(parents=True)
    if what == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"caf\xe9\n" if what == "latin" else b"x" * 300_000)
    check = found(cli)["memory-file"]
    assert check["level"] == "warn"
    assert str(path) in check["message"]
    assert reason in check["message"]
    assert reason in cli("memory", "list").err, "as the commands say"


def test_the_place_of_the_memory_file_is_taken(cli: Cli, home: Path) -> None:
    cli("memory", "store", "tea")
    (home / "data/memory").write_text("a file")
    assert "is no directory" in found(cli)["memory-file"]["message"]


@pytest.fixture
def refusing(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory in which nothing can be made, whoever runs this."""
    cli("memory", "store", "tea")
    (home / "full").write_text("a file")
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "full"))
    return home / "full"


def test_a_state_directory_that_takes_nothing(cli: Cli, refusing: Path) -> None:
    """The model is fine, so nobody is told to install anything."""
    check = found(cli)["meaning"]
    assert check["level"] == "warn"
    assert str(refusing) in check["message"]
    assert "vectors.db cannot be used" in check["message"]
    assert "free space" in check["fix_hint"]
    assert "pip install" not in str(found(cli))


def test_reindex_says_that_the_disk_refuses(cli: Cli, refusing: Path) -> None:
    said = cli("memory", "reindex")
    assert said.code == 74
    assert "vectors.db cannot be used" in said.err
    assert "no model" not in said.err


def test_without_a_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_package_here")
    check = found(cli)["meaning"]
    assert "no_such_package_here is not installed" in check["message"]
    assert "pip" not in check["fix_hint"]
    said = cli("memory", "reindex")
    assert (said.code, "there is no model to embed with" in said.err) == (1, True)
