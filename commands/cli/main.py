"""The entry points. Nothing heavy is imported before the guard, so Ctrl-C during start-up ends quietly too."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.commands.workspace import Workspace

__all__ = ["board", "inbox", "main", "memory", "reminders"]


def main() -> int:
    """`mait-code` and `mait`."""
    return _enter("mait-code", "")


def board() -> int:
    """`mc-tool-board`: the same commands as `mait-code board`."""
    return _enter("mc-tool-board", "board")


def inbox() -> int:
    """`mc-tool-inbox`: the same commands as `mait-code inbox`."""
    return _enter("mc-tool-inbox", "inbox")


def reminders() -> int:
    """`mc-tool-reminders`: the same commands as `mait-code reminders`."""
    return _enter("mc-tool-reminders", "reminders")


def memory() -> int:
    """`mc-tool-memory`: the same commands as `mait-code memory`."""
    return _enter("mc-tool-memory", "memory")


#: Objects made before the cycle collector looks for the first time. Starting makes some ten thousand, none of them waste.
_COLLECT_AFTER = 50_000


def _enter(program: str, name: str) -> int:
    gc.set_threshold(_COLLECT_AFTER)
    try:
        from mait_code.commands.cli.frame import Group, Table
        from mait_code.commands.cli.run import run
        from mait_code.commands.cli.table import ROOT

        table = ROOT.commands[name] if name else ROOT
        assert isinstance(table, Table)
        if program == "mait-code" and os.path.basename(sys.argv[0]) == "mait":
            program = "mait"
        code = run(Group(name or program, table), program, sys.argv[1:], name, _screen)
    except KeyboardInterrupt:
        sys.stderr.write("mait-code: interrupted\n")
        sys.stderr.flush()
        code = 130
    return _leave(code)


def _screen(name: str, opens: Callable[[], Workspace]) -> int:
    # The screens lie above the commands: only the way in, here, knows both.
    from mait_code.tui.launch import launch

    return launch(name, opens)


def _leave(code: int) -> int:
    # Everything is flushed and closed by now; taking the interpreter apart would cost a sixth of a whole command.
    if os.environ.get("MAIT_CODE_DEBUG") != "1":
        os._exit(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
