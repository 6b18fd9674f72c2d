"""Where a reminder's time lies: the zone of this machine, the way to UTC, and the way to a person's eyes.

A reminder is stored as a *nominal* time and the name of an IANA zone, never as UTC: "9:00 in Berlin" stays 9:00 when
the rules for summer time change. A nominal time is exactly `YYYY-MM-DDTHH:MM` (16 characters), or
`YYYY-MM-DDTHH:MM:SS` (19) where the seconds are not zero, years 1970 to 8999, so that one time has one spelling.

Everything here that serves display never raises: an unknown zone is read as UTC and says so, and a time that cannot be
read counts as long due, as a reminder seen too often is better than one lost.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from mait_code.journal.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import tzinfo

__all__ = [
    "clock_text", "distance", "find_zone", "footer", "is_past", "load_zone", "local_zone", "name_instant", "nominal",
    "read_nominal", "rule_of", "show", "to_utc", "zone_fault", "zone_names", "zone_word",
]  # fmt: skip

DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_NOMINAL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?")
_ZONE_NAME = re.compile(r"[A-Za-z0-9_+-]{1,32}(?:/[A-Za-z0-9_+-]{1,32}){0,3}")
_IN_DATABASE = re.compile(r"/zoneinfo(?:\.default|-leaps|-posix)?/(?:posix/|right/)?(.+)\Z")
# Names that a machine may hold as files but that say nothing to another machine.
_NOT_NAMES = frozenset({"localtime", "posixrules", "Factory", "posix", "right"})
_UTC_ALIASES = frozenset({"Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu"})
_SEASONS = (datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC))
_loaded: dict[str, tzinfo | None] = {"UTC": UTC}
_by_rule: dict[str, str | None] = {}


# --- nominal times -----------------------------------------------------------------------------------------------


def nominal(wall: datetime) -> str:
    """The one spelling of a wall-clock time; a zone or microseconds on `wall` are dropped."""
    return wall.replace(tzinfo=None).isoformat(timespec="seconds" if wall.second else "minutes")


def read_nominal(text: str) -> datetime:
    """The naive wall-clock time that `text` spells. BadInput unless it is exactly a nominal time."""
    if _NOMINAL.fullmatch(text):
        try:
            wall = datetime.fromisoformat(text)
        except ValueError:
            wall = EPOCH
        if wall.tzinfo is None and 1970 <= wall.year <= 8999 and nominal(wall) == text:
            return wall
    raise BadInput("not a reminder's time (YYYY-MM-DDTHH:MM, years 1970 to 8999)")


def to_utc(text: str, zone: str) -> datetime:
    """The moment of a nominal time in `zone`, aware, in UTC. Never raises.

    A time skipped when clocks go forward means the moment as far past the change (02:30 becomes 03:30); one that occurs
    twice means the first (both are what PEP 495 gives for fold=0). An unknown zone counts as UTC, an unreadable time as
    1970.
    """
    try:
        wall = read_nominal(text)
    except BadInput:
        return EPOCH
    return wall.replace(tzinfo=load_zone(zone) or UTC).astimezone(UTC)


def is_past(text: str, zone: str, now: datetime) -> bool:
    """Whether the nominal time has come. No zone is looked up where no zone on earth could change the answer."""
    try:
        apart = read_nominal(text) - now.astimezone(UTC).replace(tzinfo=None)
    except BadInput:
        return True
    if abs(apart) > timedelta(hours=42):  # offsets lie within 16 h, a skipped calendar day adds 24
        return apart < timedelta(0)
    return to_utc(text, zone) <= now


def name_instant(instant: datetime, zone: str, seconds: bool = False) -> tuple[str, str]:
    """(nominal, zone) for a moment, rounded up to the minute (or second), so that a timer is never early.

    In the hour that occurs twice a wall clock cannot name the second pass: that moment is named in UTC.
    """
    step = timedelta(seconds=1) if seconds else timedelta(minutes=1)
    moment = instant.astimezone(UTC)
    over = (moment - EPOCH) % step
    moment = moment - over + (step if over else timedelta(0))
    here = load_zone(zone)
    if here is not None:
        text = nominal(moment.astimezone(here))
        if to_utc(text, zone) == moment:
            return text, zone
    return nominal(moment), "UTC"


# --- zones -------------------------------------------------------------------------------------------------------


def load_zone(name: str) -> tzinfo | None:
    """The IANA zone of that name, or None. Loaded once; no other file than the zone's own is opened.

    zoneinfo's own look-up brings importlib.resources, pathlib and tempfile where the system has no zone files; the
    tzdata package is therefore read as plain files.
    """
    if name not in _loaded:
        _loaded[name] = _read_zone(name) if _ZONE_NAME.fullmatch(name) and name not in _NOT_NAMES else None
    return _loaded[name]


def _read_zone(name: str) -> tzinfo | None:
    for folder in _zone_folders():
        zone = _zone_file(os.path.join(folder, name), name)
        if zone is not None:
            return zone
    return None


def _zone_file(path: str, name: str | None = None) -> tzinfo | None:
    """The zone in that file; None where it is not there, a directory, damaged or no zone file."""
    from zoneinfo import ZoneInfo

    try:
        with open(path, "rb") as file:
            zone = ZoneInfo.from_file(file, key=name)
        for season in _SEASONS:
            season.astimezone(zone)
    except Exception:  # a damaged file makes zoneinfo raise anything, struct.error and AssertionError among it
        return None
    return zone


def _zone_folders() -> Iterator[str]:
    import zoneinfo

    yield from zoneinfo.TZPATH
    package = _tzdata_folder()
    if package:
        yield os.path.join(package, "zoneinfo")


def _tzdata_folder() -> str:
    try:
        import tzdata  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        return ""
    return os.path.dirname(tzdata.__file__ or "")


def find_zone(text: str) -> str | None:
    """The zone a person means by `text`, in any case ("europe/berlin" is "Europe/Berlin"), or None."""
    wanted = text.lower()
    for name in zone_names():
        if name.lower() == wanted:
            return name
    return text if load_zone(text) is not None else None


def zone_names() -> list[str]:
    """Every zone name of the tzdata package, or of the system where that is missing."""
    try:
        with open(os.path.join(_tzdata_folder(), "zones"), encoding="ascii") as file:
            return file.read().split()
    except OSError:
        from zoneinfo import available_timezones

        return sorted(available_timezones())


def local_zone(environ: Mapping[str, str] | None = None, etc: str = "/etc") -> str:
    """The IANA name of this machine's zone; "UTC" where nothing names one, or nothing that is known here.

    TZ decides alone where it is set, as for every other program. Otherwise the target of /etc/localtime does (Linux and
    macOS), and where that is a copied file the name in /etc/timezone, if it agrees with it.
    """
    return _found_zone(environ, etc) or "UTC"


def zone_fault(environ: Mapping[str, str] | None = None, etc: str = "/etc") -> str:
    """Why the zone that this machine names cannot be used, and UTC is taken; empty where all is well."""
    if _found_zone(environ, etc) is not None:
        return ""
    tz = (os.environ if environ is None else environ).get("TZ")
    if tz is None:
        return f"{os.path.join(etc, 'localtime')} holds no time zone that has a name; times are taken as UTC"
    meant = find_zone(tz.removeprefix(":"))
    more = f" (zones are told apart by case: {meant})" if meant else ""
    return f"TZ={_printable(tz)} is no time zone that is known here{more}; times are taken as UTC"


def _found_zone(environ: Mapping[str, str] | None, etc: str) -> str | None:
    """The zone of this machine; None where something is named, and it cannot be used."""
    tz = (os.environ if environ is None else environ).get("TZ")
    if tz is not None:
        return _from_tz(tz)
    link = os.path.join(etc, "localtime")
    named = _in_database(link)
    if named:
        return named
    written = _from_timezone_file(os.path.join(etc, "timezone"))
    if os.path.isfile(link):
        return _from_copied_file(link, written)
    return written or (None if os.path.lexists(link) else "UTC")


def _known(name: str) -> str | None:
    if name in _UTC_ALIASES:
        return "UTC"
    return name if load_zone(name) is not None else None


def _from_tz(tz: str) -> str | None:
    value = tz.removeprefix(":")
    if not value:
        return "UTC"
    if os.path.isabs(value):
        return _in_database(value) or (_from_copied_file(value, None) if os.path.isfile(value) else None)
    return _known(value) or _from_rule(value)


def _from_rule(rule: str) -> str | None:
    from mait_code.projections.zone_rules import named  # few machines have a rule for a zone

    if rule not in _by_rule:
        _by_rule[rule] = named(rule)
    return _by_rule[rule]


def _in_database(path: str) -> str | None:
    """The zone named by a path in a zone database, link by link: the first to name one is what the user chose."""
    for _ in range(8):
        found = _IN_DATABASE.search(path)
        named = _known(found.group(1)) if found else None
        if named:
            return named
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except (OSError, ValueError):
            return None
    return None


def _from_timezone_file(path: str) -> str | None:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            lines = file.read(4096).splitlines()
    except OSError:
        return None
    words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return _known(words[0]) if words else None


def _from_copied_file(path: str, written: str | None) -> str | None:
    """A zone file that is no link holds rules without a name: the `written` zone if it has them, else one that has."""
    rules, zone = _zone_file(path), load_zone(written) if written else None
    if rules is None or (
        zone and all(day.astimezone(rules).utcoffset() == day.astimezone(zone).utcoffset() for day in _SEASONS)
    ):
        return written
    return _from_rule(footer(path)) or written


def footer(path: str) -> str:
    """The rule at the end of a zone file, in POSIX form; empty where the file is not there or has none."""
    try:
        with open(path, "rb") as file:
            content = file.read(1 << 20)
    except OSError:
        return ""
    return content.rstrip(b"\n").rpartition(b"\n")[2].decode("ascii", "replace")


def rule_of(name: str) -> str:
    """The rule that a zone follows from now on, in POSIX form; empty where the zone is not known."""
    return next((rule for folder in _zone_folders() if (rule := footer(os.path.join(folder, name)))), "")


# --- for people --------------------------------------------------------------------------------------------------


def show(text: str, zone: str, now: datetime, local: str) -> str:
    """A reminder's time as the viewer in zone `local` lives it: "Fri 4 Dec 17:00 CET (in 3 days)". Never raises.

    Where the reminder's own zone has another clock then, that is shown too; a time skipped by a change of the clocks
    and a zone that this machine does not know are said in the brackets.
    """
    try:
        wall = read_nominal(text)
    except BadInput:
        return f"{_printable(text)} (not a time this version can read)"
    instant, here = to_utc(text, zone), load_zone(local) or UTC
    seen, today = instant.astimezone(here), now.astimezone(here)
    notes = [distance(instant, now, here)]
    theirs = instant.astimezone(load_zone(zone) or UTC)
    if theirs.utcoffset() != seen.utcoffset():
        name = zone_word(theirs)
        day = "" if theirs.date() == seen.date() else _day_text(theirs, today.year) + " "
        notes.append(f"{day}{clock_text(theirs)} {name}" + ("" if name == zone else f" in {zone}"))
    if load_zone(zone) is None:
        notes[1:] = [f"zone {_printable(zone)} is unknown here, read as UTC"]
    elif theirs.replace(tzinfo=None) != wall:
        notes.append(f"{clock_text(wall)} is skipped by the clocks that day")
    return f"{_day_text(seen, today.year)} {clock_text(seen)} {zone_word(seen)} ({'; '.join(notes)})"


def clock_text(wall: datetime) -> str:
    """HH:MM, with seconds only where there are any."""
    return wall.strftime("%H:%M:%S" if wall.second else "%H:%M")


def distance(then: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """How far off: "in 3 days", "25 min ago", "now". Elapsed time below a day, then calendar days in `zone`."""
    seconds = (then - now).total_seconds()
    size = abs(seconds)
    if size < 60:
        return "now"
    if size < 86400:
        hours, minutes = divmod(round(size / 60), 60)
        if hours >= 3:
            hours, minutes = round(size / 3600), 0
        amount = " ".join(part for part in (f"{hours} h" * bool(hours), f"{minutes} min" * bool(minutes)) if part)
    else:
        days = abs((then.astimezone(zone).date() - now.astimezone(zone).date()).days)
        if days < 60:
            amount = f"{days} day" + "s" * (days != 1)
        else:
            amount = f"{round(days / 30.44)} months" if days < 700 else f"{round(days / 365.25)} years"
    return f"in {amount}" if seconds > 0 else f"{amount} ago"


def _day_text(wall: datetime, this_year: int) -> str:
    year = "" if wall.year == this_year else f" {wall.year}"
    return f"{DAY_NAMES[wall.weekday()]} {wall.day} {MONTH_NAMES[wall.month - 1]}{year}"


def zone_word(moment: datetime) -> str:
    """CET; for the zones that have only numbers, UTC+3 rather than the bare +03."""
    name = moment.tzname() or "UTC"
    if name[:1] not in "+-":
        return name
    hours, minutes = name[:3], name[3:].replace(":", "")
    return f"UTC{hours[0]}{int(hours[1:])}" + (f":{minutes}" if minutes else "")


def _printable(text: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(text)[:40])
