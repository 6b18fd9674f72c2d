"""What may be recorded where: the settings `capture`, `capture-by-project` and `excluded-projects`."""

from __future__ import annotations

from mait_code.journal import settings

CHOICES = ("understanding", "evidence", "off")


def capture_in(directory: str) -> str:
    """understanding, evidence or off, for sessions in a directory."""
    chosen = str(settings.value("capture"))
    excluded, special = _named(settings.value("excluded-projects")), _named(settings.value("capture-by-project"))
    if chosen == "off" or not (excluded or special):
        return chosen
    from mait_code.commands import project

    name = (project.here(directory) or "").casefold()
    if any(_matches(name, one) for one in excluded):
        return "off"
    for one in special:
        pattern, _, choice = one.rpartition("=")
        if choice in CHOICES and _matches(name, pattern.strip()):
            return choice
    return chosen


def _named(value: object) -> list[str]:
    text = str(value)
    return [] if text == "none" else [one.strip().casefold() for one in text.split(",") if one.strip()]


def _matches(name: str, pattern: str) -> bool:
    """A project's name, its last part, or a beginning that ends with a star."""
    if pattern.endswith("*"):
        return name.startswith(pattern[:-1])
    return bool(pattern) and pattern in (name, name.rpartition("/")[2])
