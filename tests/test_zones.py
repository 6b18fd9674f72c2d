"""Zones: the machine's own, the way to UTC over changes of the clocks, and what people are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import TZPATH

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mait_code.journal.errors import BadInput
from mait_code.projections.zones import (
    distance,
    find_zone,
    is_past,
    load_zone,
    local_zone,
    name_instant,
    nominal,
    read_nominal,
    show,
    to_utc,
    zone_fault,
    zone_names,
)

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

# --- the machine's zone ------------------------------------------------------------------------------------------

BY_TZ = {
    "Europe/Berlin": "Europe/Berlin", ":Europe/Berlin": "Europe/Berlin", "": "UTC", "UTC": "UTC", "UTC0": "UTC",
    ":UTC": "UTC", "Etc/UTC": "UTC", "Zulu": "UTC", "/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo",
    ":/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo", "/usr/share/zoneinfo/posix/Asia/Tokyo": "Asia/Tokyo",
    "CET-1CEST,M3.5.0,M10.5.0/3": "Europe/Berlin", "CET-1CEST": "Europe/Berlin", "JST-9": "Etc/GMT-9",
    "<-03>3": "Etc/GMT+3", "EST5EDT,M3.2.0,M11.1.0": "America/New_York", "GMT0BST,M3.5.0/1,M10.5.0": "Europe/London",
    "Nowhere/Land": "UTC", "nonsense": "UTC", "/no/such/file": "UTC", "../../etc/passwd": "UTC", "XXX-99": "UTC",
    "localtime": "UTC", "\x00": "UTC", "NST3:30": "UTC",
}  # fmt: skip


@pytest.mark.parametrize("tz", BY_TZ)
def test_tz_decides_where_it_is_set(tz: str, tmp_path: Path) -> None:
    (tmp_path / "timezone").write_text("Asia/Kolkata\n")
    assert local_zone({"TZ": tz}, str(tmp_path)) == BY_TZ[tz]


@pytest.mark.parametrize(
    "target",
    [
        "/usr/share/zoneinfo/Europe/Berlin",
        "../usr/share/zoneinfo/Europe/Berlin",
        "/var/db/timezone/zoneinfo/Europe/Berlin",
        "/usr/share/zoneinfo.default/Europe/Berlin",
        "/usr/share/zoneinfo/posix/Europe/Berlin",
    ],
)
def test_the_link_of_the_system_names_the_zone(target: str, tmp_path: Path) -> None:
    (tmp_path / "localtime").symlink_to(target)
    (tmp_path / "timezone").write_text("Asia/Kolkata\n")
    assert local_zone({}, str(tmp_path)) == "Europe/Berlin"


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    (tmp_path / "localtime").symlink_to("chosen")
    (tmp_path / "chosen").symlink_to("/usr/share/zoneinfo/America/St_Johns")
    assert local_zone({}, str(tmp_path)) == "America/St_Johns"
    assert local_zone({"TZ": f":{tmp_path}/localtime"}, "/nonexistent") == "America/St_Johns"
    (tmp_path / "chosen").unlink()
    (tmp_path / "chosen").symlink_to("localtime")
    assert local_zone({}, str(tmp_path)) == "UTC"


def _zone_file(name: str) -> bytes:
    import tzdata  # type: ignore[import-untyped, unused-ignore]

    folders = [*TZPATH, os.path.join(os.path.dirname(tzdata.__file__ or ""), "zoneinfo")]
    path = next(path for folder in folders if os.path.isfile(path := os.path.join(folder, name)))
    with open(path, "rb") as file:
        return file.read()


def test_a_copied_file_is_named_by_timezone_where_they_agree_and_else_by_its_rules(tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(_zone_file("Europe/Vienna"))
    assert local_zone({}, str(tmp_path)) == "Europe/Berlin"
    (tmp_path / "timezone").write_text("# comment\nEurope/Vienna\n")
    assert local_zone({}, str(tmp_path)) == "Europe/Vienna"
    (tmp_path / "timezone").write_text("Etc/UTC\n")  # a container whose host lent it /etc/localtime only
    assert local_zone({}, str(tmp_path)) == "Europe/Berlin"


def test_a_damaged_zone_file_is_passed_over(tmp_path: Path) -> None:
    whole = _zone_file("Europe/Vienna")
    (tmp_path / "timezone").write_text("Asia/Kolkata\n")
    for size in (0, 3, 4, 5, 30, 44, 60, 200, len(whole) // 2):
        (tmp_path / "localtime").write_bytes(whole[:size])
        assert local_zone({}, str(tmp_path)) == "Asia/Kolkata"
    for at in range(0, len(whole), 7):
        (tmp_path / "localtime").write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        assert load_zone(local_zone({}, str(tmp_path))) is not None


def test_the_last_resorts(tmp_path: Path) -> None:
    assert local_zone({}, str(tmp_path)) == "UTC"
    (tmp_path / "timezone").write_bytes(b"\xff\xfe\n")
    assert local_zone({}, str(tmp_path)) == "UTC"
    (tmp_path / "timezone").write_text("America/New_York\n")
    assert local_zone({}, str(tmp_path)) == "America/New_York"


@pytest.mark.parametrize(
    "name",
    ["", "..", "../../etc/passwd", "/etc/localtime", "Europe", "localtime", "a" * 300, "\x00", "Mars/Phobos", "\ud800"],
)
def test_what_is_no_zone_is_none(name: str) -> None:
    assert load_zone(name) is None


def test_every_zone_loads_and_is_found_in_any_case() -> None:
    names = zone_names()
    assert len(names) > 400
    assert all(load_zone(name) is not None for name in names if name != "Factory")
    assert find_zone("america/argentina/buenos_aires") == "America/Argentina/Buenos_Aires"
    assert find_zone("EUROPE/BERLIN") == "Europe/Berlin"
    assert find_zone("europe/atlantis") is None


def test_without_zone_files_of_the_system_the_package_is_read_as_plain_files() -> None:
    program = """
import sys
before = set(sys.modules)
from mait_code.projections.zones import load_zone, to_utc
assert load_zone("Europe/Berlin").key == "Europe/Berlin"
assert to_utc("2026-07-01T09:00", "Europe/Berlin").hour == 7
heavy = {"importlib.resources", "pathlib", "tempfile", "shutil", "random", "inspect"} & (set(sys.modules) - before)
assert not heavy, heavy
"""
    for paths in ("", "/nonexistent"):
        environ = {**os.environ, "PYTHONTZPATH": paths}
        done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr


def test_a_far_time_is_judged_without_looking_up_a_zone() -> None:
    program = """
import sys
from datetime import UTC, datetime
from mait_code.projections.zones import is_past
now = datetime(2026, 11, 30, 9, tzinfo=UTC)
assert is_past("2026-11-28T09:00", "Europe/Berlin", now) and not is_past("2026-12-02T09:00", "Europe/Berlin", now)
assert "zoneinfo" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


# --- to UTC and back ---------------------------------------------------------------------------------------------


def test_one_time_has_one_spelling() -> None:
    assert nominal(datetime(2026, 12, 1, 9, 0, 0, 5, tzinfo=UTC)) == "2026-12-01T09:00"
    assert nominal(datetime(2026, 12, 1, 9, 0, 30)) == "2026-12-01T09:00:30"
    wrong = """
        2026-12-01T09:00:00 2026-12-01 2026-12-01T9:00 2026-12-01T09:00Z 2026-12-01T09:00+01:00
        2026-02-30T09:00 2026-12-01T24:00 1969-12-31T09:00 9000-01-01T09:00 20261201T0900
        2026-W49-2T09:00 ٢٠٢٦-12-01T09:00
    """
    for text in [*wrong.split(), "", "2026-12-01T09:00\n", "2026-12-01 09:00"]:
        with pytest.raises(BadInput):
            read_nominal(text)
        assert to_utc(text, "UTC") == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "expected"),
    [
        ("2026-12-01T09:00", "Europe/Berlin", "2026-12-01T08:00"),
        ("2026-07-01T09:00", "Europe/Berlin", "2026-07-01T07:00"),
        ("2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30"),  # skipped: comes as 03:30
        ("2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30"),  # twice: the first
        ("2026-10-04T02:15", "Australia/Lord_Howe", "2026-10-03T15:45"),  # half an hour is skipped: comes as 02:45
        ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T19:00"),  # a whole day was: comes on the 31st
        ("2026-12-01T09:00", "Asia/Kathmandu", "2026-12-01T03:15"),
        ("2026-12-01T09:00", "Mars/Phobos", "2026-12-01T09:00"),
        ("8999-12-31T23:59", "Etc/GMT+12", "9000-01-01T11:59"),
        ("1970-01-01T00:00", "Etc/GMT-14", "1969-12-31T10:00"),
    ],
)
def test_the_moment_of_a_nominal_time(text: str, zone: str, expected: str) -> None:
    assert to_utc(text, zone) == datetime.fromisoformat(expected + "+00:00")


_ZONES = st.sampled_from(sorted(set(zone_names()) - {"Factory"}))
_ANY = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_ANY
@given(st.datetimes(datetime(1971, 1, 1), datetime(8998, 1, 1)), _ZONES, st.booleans())
def test_a_named_moment_is_the_moment_rounded_up(wall: datetime, zone: str, seconds: bool) -> None:
    moment = wall.replace(tzinfo=UTC)
    text, named = name_instant(moment, zone, seconds)
    read_nominal(text)
    assert named in (zone, "UTC")
    late = to_utc(text, named) - moment
    assert timedelta(0) <= late < (timedelta(seconds=1) if seconds else timedelta(minutes=1))


@_ANY
@given(st.datetimes(datetime(1971, 1, 1), datetime(2040, 1, 1)), _ZONES, st.integers(-3 * 1440, 3 * 1440))
def test_past_is_past_whether_the_zone_was_looked_up_or_not(now: datetime, zone: str, minutes: int) -> None:
    text = nominal((now + timedelta(minutes=minutes)).replace(second=0))
    assert is_past(text, zone, now.replace(tzinfo=UTC)) == (to_utc(text, zone) <= now.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "zone", "now", "past"),
    [
        ("2026-12-01T23:00", "Pacific/Kiritimati", "2026-12-01T09:00", True),  # 14 hours ahead of UTC
        ("2026-12-01T23:01", "Pacific/Kiritimati", "2026-12-01T09:00", False),
        ("2026-12-01T00:00", "Etc/GMT+12", "2026-12-01T11:59", False),
        ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T18:59", False),  # a day that was left out comes a day later
        ("2011-12-30T09:00", "Pacific/Apia", "2011-12-30T19:00", True),
    ],
)
def test_the_farthest_zones_are_judged_by_their_clocks(text: str, zone: str, now: str, past: bool) -> None:
    assert is_past(text, zone, datetime.fromisoformat(now + "+00:00")) is past


def test_an_unreadable_time_is_due() -> None:
    assert is_past("soon", "UTC", NOW)


# --- for people --------------------------------------------------------------------------------------------------

SHOWN = {
    ("2026-12-03T17:00", "Europe/Berlin", "Europe/Berlin"): "Thu 3 Dec 17:00 CET (in 3 days)",
    ("2026-11-30T11:25", "Europe/Berlin", "Europe/Berlin"): "Mon 30 Nov 11:25 CET (in 1 h 25 min)",
    ("2026-11-30T09:40", "Europe/Berlin", "Europe/Berlin"): "Mon 30 Nov 09:40 CET (20 min ago)",
    ("2026-11-30T10:00:30", "Europe/Berlin", "Europe/Berlin"): "Mon 30 Nov 10:00:30 CET (now)",
    ("2027-07-01T09:00", "Europe/Berlin", "Europe/Berlin"): "Thu 1 Jul 2027 09:00 CEST (in 7 months)",
    ("2020-01-01T09:00", "UTC", "UTC"): "Wed 1 Jan 2020 09:00 UTC (7 years ago)",
    # another zone than the viewer's, with its own clock; with the same clock; on another day
    ("2026-12-03T17:00", "Europe/Berlin", "America/New_York"): (
        "Thu 3 Dec 11:00 EST (in 3 days; 17:00 CET in Europe/Berlin)"
    ),
    ("2026-12-03T17:00", "Europe/Paris", "Europe/Berlin"): "Thu 3 Dec 17:00 CET (in 3 days)",
    ("2026-12-03T23:00", "America/New_York", "Europe/Berlin"): (
        "Fri 4 Dec 05:00 CET (in 4 days; Thu 3 Dec 23:00 EST in America/New_York)"
    ),
    ("2026-12-03T09:00", "UTC", "Europe/Berlin"): "Thu 3 Dec 10:00 CET (in 3 days; 09:00 UTC)",
    ("2026-12-03T09:00", "America/Sao_Paulo", "Asia/Kathmandu"): (
        "Thu 3 Dec 17:45 UTC+5:45 (in 3 days; 09:00 UTC-3 in America/Sao_Paulo)"
    ),
    ("2027-03-28T02:30", "Europe/Berlin", "Europe/Berlin"): (
        "Sun 28 Mar 2027 03:30 CEST (in 4 months; 02:30 is skipped by the clocks that day)"
    ),
    ("2026-12-03T09:00", "Mars/Pho\x1bbos", "UTC"): (
        "Thu 3 Dec 09:00 UTC (in 3 days; zone Mars/Pho?bos is unknown here, read as UTC)"
    ),
    ("2026-12-03T09:00", "UTC", "Mars/Phobos"): "Thu 3 Dec 09:00 UTC (in 3 days)",
    ("so\x1b[31mon", "UTC", "UTC"): "so?[31mon (not a time this version can read)",
}  # fmt: skip


@pytest.mark.parametrize("case", SHOWN, ids=str)
def test_what_people_are_shown(case: tuple[str, str, str]) -> None:
    text, zone, local = case
    assert show(text, zone, NOW, local) == SHOWN[case]


@_ANY
@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_showing_never_fails(text: str, zone: str, local: str) -> None:
    assert show(text, zone, NOW, local).isprintable()
    assert show("2026-12-03T09:00", zone, NOW, local).isprintable()


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "now"), (59, "now"), (-59, "now"), (60, "in 1 min"), (-3599, "1 h ago"), (5400, "in 1 h 30 min"),
        (4 * 3600 + 1200, "in 4 h"), (86399, "in 24 h"), (86400, "in 1 day"), (-86400 * 2, "2 days ago"),
        (86400 * 59, "in 59 days"), (86400 * 90, "in 3 months"), (-86400 * 1000, "3 years ago"),
    ],
)  # fmt: skip
def test_distances(seconds: int, expected: str) -> None:
    assert distance(NOW + timedelta(seconds=seconds), NOW) == expected


def test_days_are_counted_on_the_calendar_of_the_viewer() -> None:
    later = NOW + timedelta(hours=40)  # 09:00 on Monday to 01:00 on Wednesday in UTC
    assert distance(later, NOW) == "in 2 days"
    assert distance(later, NOW, load_zone("America/New_York") or UTC) == "in 1 day"


# --- rules without a name ----------------------------------------------------------------------------------------

#: TZ, the zone that a reminder is stored with, and the offset in minutes on 1 January and 1 July.
BY_RULE = {
    "IST-5:30": ("Asia/Kolkata", 330, 330), "<+0545>-5:45": ("Asia/Kathmandu", 345, 345),
    "<+0630>-6:30": ("Asia/Yangon", 390, 390), "ACST-9:30": ("Australia/Darwin", 570, 570),
    "<+0845>-08:45:00": ("Australia/Eucla", 525, 525), "<-0930>9:30": ("Pacific/Marquesas", -570, -570),
    "NST3:30NDT,M3.2.0,M11.1.0": ("America/St_Johns", -210, -150),
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0": ("Australia/Lord_Howe", 660, 630),
    "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45": ("Pacific/Chatham", 825, 765),
    "EST5EDT,M3.2.0,M11.1.0": ("America/New_York", -300, -240), "XYZ5ABC": ("America/", -300, -240),
    "EST+5EDT,M3.2.0/2,M11.1.0/2:00": ("America/", -300, -240), "<+07>-07": ("Etc/GMT-7", 420, 420),
    "IST-2IDT,M3.4.4/26,M10.5.0": ("Asia/Jerusalem", 120, 180), "<-00>0": ("UTC", 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("tz", BY_RULE)
def test_a_rule_gives_the_zone_that_follows_it(tz: str) -> None:
    name, january, july = BY_RULE[tz]
    zone = local_zone({"TZ": tz}, "/nonexistent")
    assert zone.startswith(name)
    assert zone_fault({"TZ": tz}, "/nonexistent") == ""
    known = load_zone(zone)
    assert known is not None
    offsets = [datetime(2026, month, 1, tzinfo=UTC).astimezone(known).utcoffset() for month in (1, 7)]
    assert offsets == [timedelta(minutes=january), timedelta(minutes=july)]


@pytest.mark.parametrize("name", ["Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Asia/Jerusalem"])
def test_a_copied_file_without_a_name_keeps_its_half_hours(name: str, tmp_path: Path) -> None:
    (tmp_path / "localtime").write_bytes(_zone_file(name))
    assert local_zone({}, str(tmp_path)) == name
    assert zone_fault({}, str(tmp_path)) == ""


@pytest.mark.parametrize(
    "tz",
    [
        "Nope/Zone", "/no/such/file", "XXX-99", "NST3:30", "IST-5:30:15", "CST6CDT,M4.1.0,M10.5.0/9", "nonsense",
        "IST-5:30,garbage", "EST5EDT,M3.2.0",
    ],
)  # fmt: skip
def test_what_no_known_zone_follows_is_said(tz: str) -> None:
    assert local_zone({"TZ": tz}, "/nonexistent") == "UTC"
    fault = zone_fault({"TZ": tz}, "/nonexistent")
    assert tz in fault
    assert "UTC" in fault
    assert "\n" not in fault


def test_a_zone_in_another_case_is_named_right() -> None:
    assert "Europe/Berlin" in zone_fault({"TZ": "Europe/berlin"}, "/nonexistent")


@pytest.mark.parametrize("tz", ["", "UTC", "UTC0", "Zulu", "Europe/Berlin", ":Europe/Berlin"])
def test_what_is_right_is_no_fault(tz: str) -> None:
    assert zone_fault({"TZ": tz}, "/nonexistent") == ""


def test_a_machine_without_a_zone_is_in_utc_and_nothing_is_wrong(tmp_path: Path) -> None:
    assert zone_fault({}, str(tmp_path)) == ""
    (tmp_path / "localtime").symlink_to("/nowhere")
    assert "localtime" in zone_fault({}, str(tmp_path))
