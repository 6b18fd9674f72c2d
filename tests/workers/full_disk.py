"""A disk that fills up: runs in a mount namespace of its own, `python -m workers.full_disk DIRECTORY WHAT...`.

Mounts a small tmpfs on DIRECTORY (or makes it read-only, where WHAT is read-only) and then does what a person does; prints
what came of it as JSON. Ends with 125 where this system does not let us mount.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

CANNOT_MOUNT = 125
PROGRAM = [sys.executable, "-m", "mait_code.commands.cli.main"]


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(f"mount {' '.join(arguments)}: {done.stderr}")
        sys.exit(CANNOT_MOUNT)


def mait(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60)
    return {"command": arguments, "code": done.returncode, "out": done.stdout, "err": done.stderr}


def fill(folder: str) -> None:
    """Leave not a byte free."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        size = 65536
        while size:
            try:
                if file.write(b"x" * size) < size:
                    size //= 2
            except OSError:
                size //= 2


def until_full(folder: str) -> list[dict[str, Any]]:
    """Capture until the disk refuses, read, make room, capture again."""
    made = mait("init")
    assert made["code"] == 0, made
    said = []
    for number in range(20):
        said.append(mait("inbox", "add", f"thought {number} " + "x" * 900, "--json"))
        if said[-1]["code"]:
            break
        if number == 5:
            fill(folder)
    said.append(mait("inbox", "list", "--json"))
    said.append(mait("board", "add", "a card", "--json"))
    said.append(mait("board", "list", "--json"))
    said.append(mait("sync"))
    os.unlink(os.path.join(folder, "filler"))
    said.append(mait("inbox", "add", "room again", "--json"))
    said.append(mait("inbox", "list", "--json"))
    return said


def full_from_the_start(folder: str) -> list[dict[str, Any]]:
    fill(folder)
    said = [mait("inbox", "add", "never"), mait("inbox", "list", "--json"), mait("reminders", "list", "--json")]
    os.unlink(os.path.join(folder, "filler"))
    return [*said, mait("inbox", "add", "room again", "--json"), mait("inbox", "list", "--json")]


def read_only() -> list[dict[str, Any]]:
    return [
        mait("sync"),
        mait("inbox", "add", "never"),
        mait("inbox", "list", "--json"),
        mait("inbox", "count"),
        mait("board", "add", "never"),
        mait("board", "list", "--json"),
        mait("digest"),
    ]


def main() -> int:
    folder, what = sys.argv[1], sys.argv[2]
    if what == "read-only":
        mount("--bind", folder, folder)
        mount("-o", "remount,bind,ro", folder)
        said = read_only()
    else:
        mount("-t", "tmpfs", "-o", f"size={sys.argv[3]}", "tmpfs", folder)
        said = until_full(folder) if what == "fill" else full_from_the_start(folder)
    listed = []
    for place, _folders, files in os.walk(os.path.join(os.environ["MAIT_CODE_DATA_DIR"], "journal")):
        for name in files:
            with open(os.path.join(place, name), "rb") as file:
                listed.append([os.path.relpath(os.path.join(place, name), folder), file.read().decode()])
    sys.stdout.write(json.dumps({"said": said, "files": listed}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
