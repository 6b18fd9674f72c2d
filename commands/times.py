"""Times for people: local, with the zone. JSON carries UTC as it stands in the stores."""

from __future__ import annotations

from datetime import UTC, datetime


def local(at: str, seconds: bool = False) -> str:
    """A stored UTC time as local time with its zone: "2026-11-30 16:21 CET". What is no time comes back as it is."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return at
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        moment = moment.astimezone()
    except (OverflowError, OSError, ValueError):
        moment = moment.astimezone(UTC)
    zone = moment.tzname() or ""
    form = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    return f"{moment.strftime(form)} {zone}".rstrip()
