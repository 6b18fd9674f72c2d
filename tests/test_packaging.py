"""The packaging and the import contract: what the build would forget, and who may import whom."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOPS = ("journal", "projections", "commands", "hooks", "tui")
#: Directories without Python that travel in the wheel.
DATA = {"skills", "agents"}

#: What each top package may import besides itself.
ALLOWED = {
    "journal": set(),
    "projections": {"journal"},
    "commands": {"journal", "projections"},
    "hooks": {"journal", "projections", "commands"},
    "tui": {"journal", "projections", "commands"},
}
CLI = "mait_code.commands.cli"
#: The way in, which alone knows both the commands and the screens above them.
ENTRY, SCREENS = f"{CLI}.main", "mait_code.tui.launch"


def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def package_directories() -> set[str]:
    found = {path.parent for top in TOPS for path in (ROOT / top).rglob("*.py")}
    return {path.relative_to(ROOT).as_posix() for path in found}


def modules() -> dict[str, Path]:
    """Every module of the product by its import name."""
    found = {}
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*.py")):
            dotted = ".".join(("mait_code", *path.relative_to(ROOT).with_suffix("").parts))
            found[dotted.removesuffix(".__init__")] = path
    return found


def imports(path: Path, name: str) -> set[str]:
    """What a module imports anywhere in it, lazily or for types alone, with names that may be submodules spelt out."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            assert node.module is not None
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


MODULES = modules()
IMPORTS = {name: imports(path, name) for name, path in MODULES.items()}


def test_packages_named_are_those_on_disk() -> None:
    setuptools = pyproject()["tool"]["setuptools"]
    on_disk = package_directories() | DATA
    assert {name.removeprefix("mait_code.").replace(".", "/") for name in setuptools["packages"]} == on_disk
    assert set(setuptools["package-dir"]) == set(setuptools["packages"])
    assert all(setuptools["package-dir"][f"mait_code.{place.replace('/', '.')}"] == place for place in on_disk)


@pytest.mark.parametrize("place", sorted(package_directories()))
def test_every_package_has_an_init(place: str) -> None:
    assert (ROOT / place / "__init__.py").is_file()


def test_import_name_is_a_namespace() -> None:
    import mait_code

    assert getattr(mait_code, "__file__", None) is None


def test_type_checkers_see_every_package() -> None:
    links = {path.name: path for path in (ROOT / ".types/mait_code").iterdir()}
    assert set(links) == set(TOPS)
    for name, link in links.items():
        assert link.is_symlink()
        assert link.readlink() == Path("../..") / name, "relative, so that it holds in every checkout"
        assert link.resolve() == ROOT / name


def test_mypy_checks_every_package() -> None:
    assert set(pyproject()["tool"]["mypy"]["packages"]) == {f"mait_code.{top}" for top in TOPS}


def test_bare_imports_are_banned_for_every_package() -> None:
    banned = pyproject()["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]
    assert set(banned) == set(TOPS)


def test_markdown_stays_out_of_commands_and_hooks() -> None:
    """A plug-in manifest would take it for slash commands."""
    assert [path for top in ("commands", "hooks") for path in (ROOT / top).rglob("*.md")] == []


def test_extras_are_declared() -> None:
    extras = pyproject()["project"]["optional-dependencies"]
    assert {"web", "mcp", "bedrock", "all"} <= set(extras)
    assert extras["all"] == ["mait-code[web,mcp,bedrock]"]


def test_entry_points_exist() -> None:
    for target in pyproject()["project"]["scripts"].values():
        module, _, function = target.partition(":")
        tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
        assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, target


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_run_one_way(name: str) -> None:
    top = name.split(".")[1]
    for imported in IMPORTS[name]:
        if name == ENTRY and (imported == SCREENS or imported.startswith(f"{SCREENS}.")):
            continue
        parts = imported.split(".")
        assert parts[0] not in TOPS, f"{name} imports the bare {imported}"
        if parts[0] == "mait_code" and len(parts) > 1:
            assert parts[1] == top or parts[1] in ALLOWED[top], f"{name} imports {imported}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_click_modules_are_imported_by_nobody(name: str) -> None:
    inside = name == CLI or name.startswith(f"{CLI}.")
    if not inside:
        click = {
            one for one in IMPORTS[name] if one == CLI or one.startswith(f"{CLI}.") or one.split(".")[0] == "click"
        }
        assert click == set()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if name.startswith("mait_code.journal")))
def test_journal_knows_no_database_and_no_command_line(name: str) -> None:
    assert not {imported.split(".")[0] for imported in IMPORTS[name]} & {"apsw", "click", "rich", "sqlite3", "textual"}


@pytest.mark.parametrize("name", sorted(MODULES))
def test_only_declared_packages_are_imported(name: str) -> None:
    declared = pyproject()["project"]
    extras = declared["optional-dependencies"]
    wanted = [*declared["dependencies"], *extras["web"], *extras["mcp"], *extras["bedrock"]]
    distributions = {re.split(r"[\[<>=!~ ]", one)[0].replace("-", "_").lower() for one in wanted}
    foreign = {imported.split(".")[0] for imported in IMPORTS[name]} - set(sys.stdlib_module_names) - {"mait_code"}
    # A leading underscore is a module of some Python version's own, which this version's list may not have.
    assert {one for one in foreign if one[0] != "_"} <= distributions


def test_no_part_is_named_for_nothing() -> None:
    words = {"utils", "util", "helpers", "helper", "common", "manager", "service", "misc", "base"}
    assert {name for name in MODULES if set(name.split(".")[-1].split("_")) & words} == set()


def test_no_registry_is_named() -> None:
    """Whoever installs has set up where packages come from."""
    host = re.compile(r"\b(pypi|pythonhosted)\.(org|python)|--(extra-)?index-url", re.IGNORECASE)
    for name in ("dev", ".ci/run", "pyproject.toml", "README.md"):
        assert not host.search((ROOT / name).read_text(encoding="utf-8")), name


# -- ./dev


def dev(*arguments: str, path: str = "/usr/bin:/bin", place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([place / "dev", *arguments], capture_output=True, text=True, env={"PATH": path}, timeout=60)


@pytest.fixture
def bare_checkout(tmp_path: Path) -> Path:
    """A checkout in which nothing was set up, and a `bin` with what ./dev itself calls and no Python."""
    for name in ("dev", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name in ("sh", "dirname", "cksum", "cat", "mkdir", "rm", "mv", "sed", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(found)
    return tmp_path


def fake_python(checkout: Path, body: str) -> None:
    script = checkout / "bin/python3"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)


def test_dev_explains_itself() -> None:
    assert "./dev COMMAND" in dev("help").stdout
    assert dev("nonsense").returncode == 2
    assert "./dev COMMAND" in dev().stdout


def test_dev_without_python_says_so_in_one_line(bare_checkout: Path) -> None:
    done = dev("tour", path=str(bare_checkout / "bin"), place=bare_checkout)
    assert done.returncode == 1
    assert done.stderr.startswith("dev: needs Python 3.11 or newer, and found none")
    assert done.stderr.count("\n") == 1


def test_dev_passes_over_an_old_python(bare_checkout: Path) -> None:
    fake_python(bare_checkout, "exit 1")
    done = dev("setup", path=str(bare_checkout / "bin"), place=bare_checkout)
    assert done.stderr.startswith("dev: needs Python 3.11 or newer, and found none")


def test_dev_without_venv_module_names_the_package(bare_checkout: Path) -> None:
    fake_python(
        bare_checkout, f'[ "$2" != venv ] || {{ echo "no ensurepip" >&2; exit 1; }}\nexec {sys.executable} "$@"'
    )
    done = dev("setup", path=str(bare_checkout / "bin"), place=bare_checkout)
    assert done.returncode == 1
    assert "dev: no ensurepip\n" in done.stderr
    assert "python3-venv" in done.stderr
    assert not (bare_checkout / ".venv.lock").exists()


def test_dev_takes_over_from_a_dead_set_up(bare_checkout: Path) -> None:
    (bare_checkout / ".venv.lock").mkdir()
    gone = subprocess.Popen(["true"])
    gone.wait()
    (bare_checkout / ".venv.lock/pid").write_text(f"{gone.pid}\n")
    done = dev("setup", path=str(bare_checkout / "bin"), place=bare_checkout)
    assert "found none" in done.stderr, "it went on to look for Python"


@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "busybox"])
def test_dev_is_plain_shell(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not on this machine")
    command = [shell, "sh"] if shell == "busybox" else [shell]
    assert subprocess.run([*command, "-n", ROOT / "dev"], timeout=60).returncode == 0


def test_ci_is_valid_shell() -> None:
    assert subprocess.run(["bash", "-n", ROOT / ".ci/run"], timeout=60).returncode == 0
