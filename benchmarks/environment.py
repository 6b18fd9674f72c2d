"""The environment that is measured: the built wheel, freshly installed, with everything compiled.

An editable install alone makes a bare interpreter start twice as slowly, so the checkout itself is never measured.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from measure import say

ROOT = Path(__file__).resolve().parent.parent


class Environment:
    """A virtual environment with the wheel in it. `python` and `program(name)` are paths."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.python = str(directory / "bin" / "python")

    def program(self, name: str) -> str:
        """One of the installed entry points."""
        return str(self.directory / "bin" / name)

    def variables(self, home: str, **more: str) -> dict[str, str]:
        """A clean environment for the processes measured: nothing of this shell's but a path, and a home of its own."""
        return {
            "PATH": f"{self.directory / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "XDG_STATE_HOME": f"{home}/state",
            "XDG_CONFIG_HOME": f"{home}/config",
            "MAIT_CODE_DATA_DIR": f"{home}/data",
            "LC_ALL": "C.UTF-8",
            **more,
        }


def _run(*command: str, **variables: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAIT_CODE_"))}
    done = subprocess.run(command, env=inherited | variables, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} failed\n{done.stdout}{done.stderr}")


def _sources(target: Path) -> None:
    """Copy what the wheel is made of, so that building leaves nothing in the checkout."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["setuptools"]["package-dir"].values()
    for folder in sorted({Path(package).parts[0] for package in packages}):
        shutil.copytree(ROOT / folder, target / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", project["project"]["readme"], *project["project"]["license-files"]):
        shutil.copy(ROOT / name, target / name)


def make(scratch: Path) -> Environment:
    """Build the wheel of this checkout and install it, under `scratch`."""
    environment = Environment(scratch / "environment")
    with_uv = shutil.which("uv")
    say("building the wheel")
    sources, wheels = scratch / "sources", scratch / "wheel"
    sources.mkdir()
    _sources(sources)
    if with_uv:
        _run(with_uv, "build", "--quiet", "--wheel", "--out-dir", str(wheels), str(sources))
    else:
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(wheels), str(sources))
    (wheel,) = wheels.glob("*.whl")
    say("installing it into a fresh environment")
    if with_uv:
        _run(with_uv, "venv", "--quiet", "--python", sys.executable, str(environment.directory))
        _run(with_uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", environment.python, str(wheel))
    else:
        _run(sys.executable, "-m", "venv", str(environment.directory))
        _run(environment.python, "-m", "pip", "install", "--quiet", "--compile", str(wheel))
    return environment
