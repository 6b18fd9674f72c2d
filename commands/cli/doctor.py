"""Doctor from the command line."""

from __future__ import annotations

from mait_code.commands.cli.frame import command, option, pass_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

_MARKS = {"ok": ("✓", "green"), "warn": ("●", "yellow"), "fail": ("✗", "red")}


@command("doctor")
@option("--fix", is_flag=True, help="Repair what can be repaired without a decision of yours.")
@option("--accept", metavar="FILE:LINE", help="Take a line whose only fault is its checksum.")
@pass_workspace
def doctor(ws: Workspace, out: Output, fix: bool, accept: str | None) -> int:
    """Look for trouble, and repair it if asked.

    A repair throws nothing away. Exit code 1 where something is broken.
    """
    from mait_code.commands import doctor as logic

    applied: list[str] = []
    if accept is not None:
        event = logic.accept(ws, accept)
        applied.append(f"accepted {event.kind} {event.id[:8]}")
    if fix:
        applied += logic.fix(ws)
    checks = logic.examine(ws)
    failed = any(check.level == logic.FAIL for check in checks)
    if out.json:
        out.data({"checks": [check.json() for check in checks], "fixes_applied": applied, "has_fail": failed})
        return int(failed)
    for text in applied:
        out.line(out.style("fixed", "green"), f"  {text}")
    for check in checks:
        mark, colour = _MARKS[check.level]
        out.line(out.style(mark, colour), f" {check.name}: {check.message}")
        if check.level != logic.OK and check.hint:
            out.line(f"    {check.hint}")
    return int(failed)
