"""Doctor from the command line."""

from __future__ import annotations

from mait_code.commands.cli.frame import command, option, pass_workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.doctor import Check
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

_MARKS = {"ok": ("✓", "green"), "warn": ("●", "yellow"), "fail": ("✗", "red")}


@command("doctor")
@option("--fix", is_flag=True, help="Repair what can be repaired without a decision of yours.")
@option("--accept", metavar="FILE:LINE", help="Take a line whose only fault is its checksum.")
@pass_workspace
def doctor(ws: Workspace, out: Output, fix: bool, accept: str | None) -> int:
    """Look for trouble, and repair it if asked.

    A repair throws nothing away. Exit code 1 where something is broken; what only deserves a look leaves it at 0.
    """
    from mait_code.commands import doctor as logic

    applied: list[str] = []
    failed: list[str] = []
    if accept is not None:
        event = logic.accept(ws, accept)
        applied.append(f"accepted {event.kind} {event.id[:8]} of {event.entity}")
    if fix:
        repairs = logic.fix(ws)
        applied += repairs.done
        failed = repairs.failed
    checks = logic.examine(ws)
    has_fail = any(check.level == logic.FAIL for check in checks)
    if out.json:
        out.data({"checks": [check.json() for check in checks], "fixes_applied": applied, "has_fail": has_fail})
    else:
        for text in applied:
            out.line(out.style("fixed", "green"), f"  {text}")
        for check in checks:
            _print(out, check)
        out.line(_verdict(checks))
    for text in failed:
        out.warn(f"not repaired: {text}")
    return int(has_fail)


def _print(out: Output, check: Check) -> None:
    mark, colour = _MARKS[check.level]
    out.line(out.style(mark, colour), f" {check.name}: {check.message}")
    if check.level != "ok" and check.hint:
        out.line(f"    {check.hint}")


def _verdict(checks: list[Check]) -> str:
    failed = sum(check.level == "fail" for check in checks)
    warned = sum(check.level == "warn" for check in checks)
    if not failed and not warned:
        return "Everything is in order."
    counted = ([f"{failed} broken"] if failed else []) + ([f"{warned} worth a look"] if warned else [])
    return ", ".join(counted) + "."
