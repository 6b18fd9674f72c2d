"""What may be recorded where: the settings `capture`, `capture-by-project` and `excluded-projects`."""

from __future__ import annotations

from mait_code.journal import settings

#: What a setting holds that names no project.
NONE = "none"
CHOICES = ("understanding", "evidence", "off")


def capture_in(directory: str) -> str:
    """understanding, evidence or off, for sessions in a directory."""
    chosen = str(settings.value("capture"))
    excluded, special = str(settings.value("excluded-projects")), str(settings.value("capture-by-project"))
    if chosen == "off" or excluded == special == NONE:
        return chosen
    from mait_code.commands import project

    name = project.here(directory)
    if any(_matches(name, one) for one in _listed(excluded)):
        return "off"
    choice = by_project(special, name).lower()
    return choice if choice in CHOICES else chosen


def by_project(setting: str, name: str | None) -> str:
    """What a setting such as `acme/shop=off, work*=evidence` chooses for a project; empty where it says nothing of it."""
    for one in _listed(setting):
        pattern, _, choice = one.rpartition("=")
        if _matches(name, pattern):
            return choice.strip()
    return ""


def _listed(setting: str) -> list[str]:
    return [] if setting == NONE else setting.split(",")


def _matches(name: str | None, pattern: str) -> bool:
    """Whether a pattern is a project's name or its last part, or with a star behind it a beginning of either."""
    known, wanted = (name or "").casefold(), pattern.strip().casefold()
    if not known or not wanted:
        return False
    both = (known, known.rpartition("/")[2])
    return any(one.startswith(wanted[:-1]) for one in both) if wanted.endswith("*") else wanted in both
