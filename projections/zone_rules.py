"""A zone that is given by its rule alone (TZ="IST-5:30", TZ="CET-1CEST,M3.5.0,M10.5.0/3", a copied /etc/localtime): the zone
of the database that follows this rule, as a reminder is stored with a name that every machine can look up.
"""

from __future__ import annotations

import re

from mait_code.projections.zones import load_zone, rule_of, zone_names

__all__ = ["named"]

_NAME = r"(?:[A-Za-z]{3,10}|<[A-Za-z0-9+-]{3,10}>)"
_OFFSET = r"[+-]?[0-9]{1,3}(?::[0-9]{2}){0,2}"
_DAY = rf"(?:M[0-9]{{1,2}}\.[1-5]\.[0-6]|J?[0-9]{{1,3}})(?:/{_OFFSET})?"
_RULE = re.compile(rf"{_NAME}({_OFFSET})(?:{_NAME}({_OFFSET})?(?:,({_DAY}),({_DAY}))?)?")
#: What a rule that names a summer time and no days for it means.
_USUAL_DAYS = ("M3.2.0", "M11.1.0")
#: The best known of several zones that follow one rule, by its beginning: the names, and the hours west of Greenwich.
_BEST_KNOWN = {
    "GMT0BST": "Europe/London", "WET0WEST": "Europe/Lisbon", "IST-1GMT0": "Europe/Dublin", "CET-1CEST": "Europe/Berlin",
    "EET-2EEST": "Europe/Athens", "EST5EDT": "America/New_York", "CST6CDT": "America/Chicago",
    "MST7MDT": "America/Denver", "PST8PDT": "America/Los_Angeles", "AKST9AKDT": "America/Anchorage",
    "AST4ADT": "America/Halifax", "AEST-10AEDT": "Australia/Sydney", "NZST-12NZDT": "Pacific/Auckland",
    "ACST-9:30ACDT": "Australia/Adelaide", "NST3:30NDT": "America/St_Johns",
}  # fmt: skip
#: The same of zones without summer time, by minutes east of Greenwich, where these are no full hours.
_BEST_KNOWN_FIXED = {
    -570: "Pacific/Marquesas", 210: "Asia/Tehran", 270: "Asia/Kabul", 330: "Asia/Kolkata", 345: "Asia/Kathmandu",
    390: "Asia/Yangon", 525: "Australia/Eucla", 570: "Australia/Darwin",
}  # fmt: skip
#: Zones are named after places here; the other names of the database are old spellings.
_REGIONS = ("Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")


def named(rule: str) -> str | None:
    """The zone that follows a POSIX rule; None for what is no rule, and for one that no known zone follows."""
    wanted = _read(rule)
    if wanted is None:
        return None
    if len(wanted) == 1:
        return _fixed(wanted)
    for start, name in _BEST_KNOWN.items():
        # Without days a rule is a name: CET-1CEST is Central Europe, whatever the standard says of its summers.
        bare = rule == start
        if (bare or rule.startswith(start + ",")) and (bare or _read(rule_of(name)) == wanted):
            return name
    return _following(wanted)


def _fixed(wanted: tuple[object, ...]) -> str | None:
    (east,) = wanted
    assert isinstance(east, int)
    if east == 0:
        return "UTC"
    if east % 3600 == 0:
        name: str | None = f"Etc/GMT{-east // 3600:+d}"  # as in POSIX, what is west of Greenwich has a plus
    else:
        name = _BEST_KNOWN_FIXED.get(east // 60) if east % 60 == 0 else None
    if name is not None and load_zone(name) is not None:
        return name
    return _following(wanted)


def _following(wanted: tuple[object, ...]) -> str | None:
    for name in zone_names():
        if name.startswith(_REGIONS) and _read(rule_of(name)) == wanted and load_zone(name) is not None:
            return name
    return None


def _read(rule: str) -> tuple[object, ...] | None:
    """What a rule says, without its names: seconds east of Greenwich, and in summer, and when summer begins and ends."""
    found = _RULE.fullmatch(rule)
    if not found:
        return None
    offset, summer, start, end = found.groups()
    east = -_seconds(offset)
    if not -26 * 3600 < east < 26 * 3600:
        return None
    if "," not in rule and re.fullmatch(_NAME + _OFFSET, rule):
        return (east,)
    in_summer = east + 3600 if summer is None else -_seconds(summer)
    return east, in_summer, *(_day(day) for day in (start or _USUAL_DAYS[0], end or _USUAL_DAYS[1]))


def _day(text: str) -> tuple[str, int]:
    day, _, hour = text.partition("/")
    return day, _seconds(hour) if hour else 2 * 3600


def _seconds(text: str) -> int:
    hours, *rest = text.lstrip("+-").split(":")
    seconds = int(hours) * 3600 + sum(int(part) * size for part, size in zip(rest, (60, 1), strict=False))
    return -seconds if text.startswith("-") else seconds
