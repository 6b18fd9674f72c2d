"""Hooks on a disk that is full, and on it again once there is room: `python -m workers.hooks_full_disk DIRECTORY TRANSCRIPT`.

Runs in a mount namespace of its own; prints as JSON what each hook said and how it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from workers.full_disk import fill, mount


def hook(name: str, *arguments: str, **told: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", f"mait_code.hooks.{name}", *arguments]
    done = subprocess.run(command, input=json.dumps(told), capture_output=True, text=True, timeout=60)
    return {"hook": name, "code": done.returncode, "out": done.stdout, "err": done.stderr}


def main(folder: str, transcript: str) -> None:
    mount("-t", "tmpfs", "-o", "size=3m", "tmpfs", folder)
    session = os.path.splitext(os.path.basename(transcript))[0]
    told = {"session_id": session, "transcript_path": transcript, "cwd": os.environ["HOME"]}
    said = [hook("session_start", **told, source="startup")]
    fill(folder)
    said.append(hook("observe", "--trigger", "stop", **told, last_assistant_message="It is faster."))
    said.append(hook("observe", "--trigger", "session-end", **told, reason="other"))
    said.append(hook("session_start", **{**told, "session_id": "another"}, source="startup"))
    said.append(hook("statusline", **told))
    os.unlink(os.path.join(folder, "filler"))
    said.append(hook("observe", "--trigger", "session-end", **told, reason="other"))
    shown = subprocess.run(
        [sys.executable, "-m", "mait_code.commands.cli.main", "sessions", "show", session, "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    print(json.dumps({"said": said, "shown": shown.stdout, "err": shown.stderr}))


if __name__ == "__main__":
    main(*sys.argv[1:])
