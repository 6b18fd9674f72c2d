"""What home says of doctor's checks. Nothing here knows a widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mait_code.commands import dashboard_tiles
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.doctor import Check
    from mait_code.tui.outline_reading import Line

__all__ = ["badge", "told", "verdict"]

_MARKS = {"fail": ("error", "✗"), "warn": ("warning", "●")}


def told(checks: list[Check] | None, few: bool = False) -> list[Line]:
    """What doctor found: in a tile the worst of it, else each thing that deserves a look with what to do."""
    if checks is None:
        return [[("dim", "Doctor is looking …")]]
    lines: list[Line] = list(dashboard_tiles.health(checks))
    if few:
        return lines
    bad = [check for check in checks if check.level != "ok"]
    if bad:
        lines = []
    for check in sorted(bad, key=lambda one: one.level != "fail"):
        style, mark = _MARKS[check.level]
        lines += [[(style, f"{mark} {check.name}"), ("", f"  {check.message}")], [("dim", f"  {check.hint}")]]
    return [*lines, [], [("dim", "mait-code doctor --fix repairs what needs no decision of yours.")]]


def verdict(checks: list[Check] | None) -> tuple[str, str]:
    """Doctor's verdict in one line."""
    if checks is None:
        return "dim", "Doctor is looking …"
    bad = [check for check in checks if check.level == "fail"]
    odd = [check for check in checks if check.level == "warn"]
    if not bad and not odd:
        return "success", f"✓ Everything is in order: {counted(len(checks), 'check')}"
    counts = ([f"{len(bad)} broken"] if bad else []) + ([f"{len(odd)} worth a look"] if odd else [])
    names = ", ".join(dict.fromkeys(check.name for check in [*bad, *odd]))
    style, mark = _MARKS["fail" if bad else "warn"]
    return style, f"{mark} {', '.join(counts)}: {names}"


def badge(checks: list[Check] | None) -> tuple[str, str]:
    """A word beside doctor's name."""
    if checks is None:
        return "dim", ""
    broken, odd = (sum(check.level == level for check in checks) for level in ("fail", "warn"))
    if broken:
        return "error", f"{broken} broken"
    return ("warning", counted(odd, "warning")) if odd else ("success", "✓")
