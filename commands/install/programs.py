"""Which hooks there are, what runs each, and where the installed programs stand."""

from __future__ import annotations

import os
import shlex
import sys

from mait_code.journal import settings
from mait_code.journal.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["EVENTS", "HOOKS", "PROGRAMS", "STATUSLINE", "Hook", "program_of", "programs_directory", "wanted"]


class Hook:
    """One hook: its event, what runs, how long the client waits (seconds), and the setting it hangs on, if any."""

    __slots__ = ("arguments", "event", "matcher", "program", "setting", "timeout")

    def __init__(
        self, event: str, program: str, timeout: int, *arguments: str, matcher: str = "", setting: str = ""
    ) -> None:
        self.event = event
        self.program = program
        self.timeout = timeout
        self.arguments = arguments
        self.matcher = matcher
        self.setting = setting

    def group(self, directory: str) -> dict[str, Any]:
        """The entry under the event, as the client takes it: a group that holds the hook."""
        command = " ".join(shlex.quote(word) for word in (os.path.join(directory, self.program), *self.arguments))
        handler = {"type": "command", "command": command, "timeout": self.timeout}
        return {"matcher": self.matcher, "hooks": [handler]} if self.matcher else {"hooks": [handler]}


#: What is registered. A session's end has 1.5 s unless the entry names more, and 60 at most.
HOOKS = (
    Hook("SessionStart", "mc-hook-session-start", 20),
    Hook("UserPromptSubmit", "mc-hook-prompt", 10, setting="inject-on-prompt"),
    Hook("PreToolUse", "mc-hook-file-context", 10, matcher="Read", setting="file-context"),
    Hook("Stop", "mc-hook-observe", 30, "--trigger", "stop"),
    Hook("PreCompact", "mc-hook-observe", 30, "--trigger", "precompact"),
    Hook("SessionEnd", "mc-hook-observe", 10, "--trigger", "session-end"),
)
EVENTS = tuple(hook.event for hook in HOOKS)
STATUSLINE = "mc-statusline"
#: The prefix of every hook program, also of those that other versions register.
_PREFIX = "mc-hook-"
PROGRAMS = tuple(dict.fromkeys(hook.program for hook in HOOKS))


def wanted() -> list[Hook]:
    """The hooks whose setting is on, or that have none. Where no project is captured nothing is observed."""
    off = settings.value("capture") == "off" and settings.value("capture-by-project") == "none"
    return [
        hook
        for hook in HOOKS
        if not (hook.program == "mc-hook-observe" and off) and (not hook.setting or settings.value(hook.setting))
    ]


def program_of(command: object, name: str = _PREFIX) -> str:
    """The word of a command line that names one of our programs, as it is written there; empty where none does."""
    if not isinstance(command, str) or name not in command:
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    return next((word for word in words if os.path.basename(word).startswith(name)), "")


def programs_directory() -> str:
    """The directory that holds the hook programs of this installation, absolute.

    Beside the program that runs, as it was called: for uv tool and pipx that is the directory of links, which outlives
    a reinstallation. Raises Refused where they are nowhere.
    """
    import sysconfig

    places = [os.path.dirname(os.path.abspath(sys.argv[0]))] if os.sep in sys.argv[0] else []
    places += [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    user = "osx_framework_user" if sys.platform == "darwin" and sys._framework else f"{os.name}_user"  # noqa: SLF001
    if user in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", user))
    for place in places:
        if all(os.access(os.path.join(place, name), os.X_OK) for name in (*PROGRAMS, STATUSLINE)):
            return place
    raise Refused(
        f"the hook programs ({', '.join(PROGRAMS)}) are not beside this Python",
        "install mait-code again: uv tool install, pipx install or pip install",
    )
