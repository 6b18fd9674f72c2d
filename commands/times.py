"""Times for people: local, with the zone. JSON carries UTC as it stands in the stores."""

from __future__ import annotations

from datetime import UTC, datetime

from mait_code.commands.output import counted


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
    if zone[:1] in ("+", "-"):
        from mait_code.projections.zones import zone_word

        zone = zone_word(moment)
    form = "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"
    return f"{moment.strftime(form)} {zone}".rstrip()


def span(seconds: int) -> str:
    """A length of time, in its largest unit: "3 days", "1 hour"."""
    for unit, length in (("year", 365 * 86400), ("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return counted((seconds + length // 2) // length, unit)
    return counted(seconds, "second")
