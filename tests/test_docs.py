"""The generated pages are current, and the pages people read lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_reference", ROOT / "docs/generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cli", "settings"])
def test_reference_is_current(name: str) -> None:
    written = (ROOT / f"docs/reference/{name}.md").read_text(encoding="utf-8")
    assert written == getattr(generator(), f"{name}_page")(), "run ./dev docs"


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.strip().lower().replace("`", "")).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {slug(title) for title in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        place, _, anchor = target.partition("#")
        linked = (page.parent / place).resolve() if place else page
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_something(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert len(text) > 300


def test_readme_commands_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    named = set(re.findall(r"^\./dev (\w+)", text, flags=re.MULTILINE))
    assert {"tour", "test"} <= named
    assert all(f"\n  {name} " in usage for name in named)


def test_every_program_is_named() -> None:
    import tomllib

    with (ROOT / "pyproject.toml").open("rb") as file:
        scripts = tomllib.load(file)["project"]["scripts"]
    pages = [(ROOT / "docs/how-to/install.md").read_text(), generator().cli_page()]
    for name in scripts:
        if name.startswith("mc-tool-"):
            assert all(f"`{name}`" in page for page in pages), name


def test_rebuild_names_every_store() -> None:
    from mait_code.commands.cli.journal import STORES, rebuild
    from mait_code.projections.stores import NAMES

    assert set(STORES) == set(NAMES)
    named = " ".join((rebuild.help or "").split())
    assert f"STORE is {', '.join(STORES[:-1])} or {STORES[-1]};" in named
