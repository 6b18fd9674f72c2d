"""What may be recorded where: the settings `capture`, `capture-by-project` and `excluded-projects`."""

from __future__ import annotations

from mait_code.journal import settings

#: What a setting holds that names no project.
NONE = "none"
CHOICES = ("understanding", "evidence", "off")


def capture_in(directory: str) -> str:
    """understanding, evidence or off, for sessions in a directory."""
    chosen, excluded, special = _settings()
    if excluded == special == NONE:
        return chosen
    from mait_code.commands import project

    name = project.here(directory)
    if any(_matches(name, one) for one in _listed(excluded)):
        return "off"
    choice = by_project(special, name).lower()
    # What was chosen for it and cannot be read was chosen to keep something out.
    return choice if choice in CHOICES else "off" if choice else chosen


def capture_of(path: str) -> str:
    """The same for a session, by its transcript: by where it began, wherever it went on to. Raises OSError."""
    chosen, excluded, special = _settings()
    return chosen if excluded == special == NONE else capture_in(directory_of(path))


def _settings() -> tuple[str, str, str]:
    chosen, excluded, special = (
        str(settings.value(key)) for key in ("capture", "excluded-projects", "capture-by-project")
    )
    return chosen, excluded, special


def directory_of(path: str) -> str:
    """The directory that a session was begun in; empty where its transcript does not say. Raises OSError."""
    from mait_code.commands.capture import lines

    found = (lines.text(line.record.get("cwd")) for line in lines.read(path))
    return next((one for one in found if one), "")


def check(setting: str, raw: str) -> None:
    """Raises BadInput where a value of `capture-by-project` is none."""
    from mait_code.journal.errors import BadInput

    for one in _listed(raw):
        pattern, _, choice = one.rpartition("=")
        if not pattern.strip() or choice.strip().lower() not in CHOICES:
            raise BadInput(
                f"{setting} takes pairs such as acme/shop=off, with commas between, not {one.strip()!r}",
                f"what can be chosen is {', '.join(CHOICES)}; {NONE} is for no project",
            )


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
