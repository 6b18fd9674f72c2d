"""reminders on the command line: every subcommand, local time with its zone, recurring ones, two machines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from test_startup import loaded
from two_machines import Machine, exchange

from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)  # a Wednesday


class Clock:
    """The time that reminders believe it is."""

    def __init__(self) -> None:
        self.now = NOW

    def to(self, text: str) -> None:
        self.now = datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    import mait_code.commands.cli.reminders as commands

    found = Clock()
    monkeypatch.setattr(commands, "_now", lambda: found.now)
    return found


def berlin(patch: pytest.MonkeyPatch, zone: str = "Europe/Berlin") -> None:
    patch.setenv("TZ", zone)
    time.tzset()


@pytest.fixture(autouse=True)
def zone_put_back() -> Any:
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


# -- set, list, show --------------------------------------------------------------------------------------------------


def test_set_and_show(desk: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    berlin(monkeypatch)
    done = desk.ok("reminders", "set", "friday EOD", "send", "the", "report", "--project", "acme")
    assert done.out.splitlines()[0].startswith("Set ")
    assert "Fri 4 Dec 17:00 CET (in 2 days)" in done.out
    (one,) = desk.json("reminders", "list")
    assert set(one) == {
        "id", "short", "what", "status", "due", "due_local", "zone", "occurrence", "rule", "recurrence",
        "snoozed_until", "project", "created_at", "dismissed", "dismissed_at", "notified_at", "origin", "conflicts",
        "newer",
    }  # fmt: skip
    assert one["what"] == "send the report"
    assert (one["due"], one["due_local"], one["zone"]) == ("2026-12-04T16:00:00Z", "2026-12-04T17:00", "Europe/Berlin")
    assert (one["status"], one["project"], one["rule"], one["conflicts"]) == ("upcoming", "acme", None, [])
    assert one["id"].startswith(one["short"])
    assert len(one["short"]) >= 5
    shown = desk.ok("reminders", "show", one["short"]).out
    for words in ("upcoming", "send the report", "Fri 4 Dec 17:00 CET", "acme"):
        assert words in shown
    assert desk.json("reminders", "show", one["id"]) == one
    assert desk.json("reminders", "show", f"reminder/{one['id']}") == one


def test_nothing_there(desk: Machine) -> None:
    assert "Set one: mait-code reminders set" in desk.ok("reminders").out
    assert desk.json("reminders") == []
    assert desk.json("reminders", "list", "--all") == []
    done = desk.ok("reminders", "check")
    assert (done.out, done.err) == ("", "")
    assert desk.json("reminders", "check") == []
    assert "no reminder 'abcde'" in desk.refused("reminders", "show", "abcde")


@pytest.mark.parametrize("text", ["gibberish words", "32 december", "at 3", "03/04/2027", ""])
def test_unreadable_times_come_with_examples(desk: Machine, clock: Clock, text: str) -> None:
    done = desk("reminders", "set", text, "x")
    assert done.code == 2
    assert "hint: " in done.err
    assert desk.json("reminders", "list", "--all") == []


@pytest.mark.parametrize("text", ["yesterday", "2020-01-01", "today 8:00"])
def test_past_times_are_refused_with_examples(desk: Machine, clock: Clock, text: str) -> None:
    said = desk.refused("reminders", "set", text, "x")
    assert "is in the past" in said
    assert '"' in said.partition("hint: ")[2]
    assert desk.json("reminders", "list", "--all") == []


def test_empty_text(desk: Machine, clock: Clock) -> None:
    assert desk("reminders", "set", "tomorrow", "  ").code == 2
    assert desk("reminders", "set", "tomorrow").code == 2


def test_groups_and_order(desk: Machine, clock: Clock) -> None:
    for when, what in (
        ("in 3 days", "later"), ("in 1 hour", "sooner"), ("in 2 hours", "second"), ("in 10 minutes", "gone"),
    ):  # fmt: skip
        desk.ok("reminders", "set", when, what)
    gone = next(one for one in desk.json("reminders") if one["what"] == "gone")["short"]
    desk.ok("reminders", "dismiss", gone)
    clock.to("2026-12-02T14:30")
    assert [(one["what"], one["status"]) for one in desk.json("reminders", "list", "--all")] == [
        ("sooner", "overdue"), ("second", "overdue"), ("later", "upcoming"), ("gone", "dismissed"),
    ]  # fmt: skip
    text = desk.ok("reminders", "list", "--all").out
    assert re.findall(r"^\w+$", text, flags=re.MULTILINE) == ["OVERDUE", "Upcoming", "Dismissed"]
    assert "1 h 30 min ago" in text
    assert "Dismissed" not in desk.ok("reminders", "list").out
    checked = desk.ok("reminders", "check").out.splitlines()
    assert [line.rpartition("  ")[2] for line in checked] == ["sooner", "second"]
    assert [one["what"] for one in desk.json("reminders", "check")] == ["sooner", "second"]


def test_many_lines_and_odd_text(desk: Machine, clock: Clock) -> None:
    text = "naïve café 漢字 שלום 🎉\nsecond line \x1b[31mred\x1b[0m\t."
    one = desk.json("reminders", "set", "tomorrow", text)
    assert one["what"] == text
    listed = desk.ok("reminders").out
    assert "naïve café 漢字 שלום 🎉 ..." in listed
    shown = desk.ok("reminders", "show", one["short"]).out
    assert "  second line \\x1b[31mred" in shown
    assert "\x1b" not in listed + shown


# -- times ------------------------------------------------------------------------------------------------------------


def test_seen_from_another_zone(desk: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    berlin(monkeypatch)
    one = desk.json("reminders", "set", "tomorrow 9am", "call")
    assert one["due"] == "2026-12-03T08:00:00Z"
    berlin(monkeypatch, "America/New_York")
    assert "Thu 3 Dec 03:00 EST" in desk.ok("reminders").out
    assert "09:00 CET" in desk.ok("reminders").out
    assert desk.json("reminders")[0]["due"] == "2026-12-03T08:00:00Z"
    berlin(monkeypatch, "Nowhere/Atall")
    assert "08:00 UTC" in desk.ok("reminders").out


def test_a_recurring_time_keeps_its_clock_over_summer_time(
    desk: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    berlin(monkeypatch)
    clock.to("2027-03-26T12:00")
    one = desk.json("reminders", "set", "every day 9am", "stretch")
    assert one["due"] == "2027-03-27T08:00:00Z"
    desk.ok("reminders", "dismiss", one["short"])
    now = desk.json("reminders", "show", one["short"])
    assert (now["occurrence"], now["due"]) == ("2027-03-28T09:00", "2027-03-28T07:00:00Z")
    assert "CEST" in desk.ok("reminders").out


def test_a_time_that_summer_time_skips(desk: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    berlin(monkeypatch)
    desk.ok("reminders", "set", "2027-03-28 02:30", "in the gap")
    assert "03:30 CEST" in desk.ok("reminders").out
    assert "skipped" in desk.ok("reminders").out


# -- recurring --------------------------------------------------------------------------------------------------------


def test_missed_ones_show_once(desk: Machine, clock: Clock) -> None:
    one = desk.json("reminders", "set", "every monday 9am", "the bins")
    assert one["occurrence"] == "2026-12-07T09:00"
    assert one["recurrence"] == "every Monday"
    clock.to("2026-12-30T12:00")
    (now,) = desk.json("reminders", "check")
    assert (now["occurrence"], now["status"]) == ("2026-12-28T09:00", "overdue")
    desk.ok("reminders", "dismiss", one["short"])
    assert desk.json("reminders", "check") == []
    (now,) = desk.json("reminders")
    assert (now["occurrence"], now["status"]) == ("2027-01-04T09:00", "upcoming")
    assert "[every Monday]" in desk.ok("reminders").out
    clock.to("2027-01-04T09:00")
    assert [each["occurrence"] for each in desk.json("reminders", "check")] == ["2027-01-04T09:00"]


def test_dismissing_ahead_and_restoring(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    assert desk.json("reminders", "dismiss", short)["occurrence"] == "2026-12-14T09:00"
    assert desk.json("reminders", "restore", short)["occurrence"] == "2026-12-07T09:00"
    assert "neither deleted nor dismissed" in desk.refused("reminders", "restore", short)


def test_restoring_what_has_been_overtaken(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    clock.to("2026-12-08T12:00")
    desk.ok("reminders", "dismiss", short)
    clock.to("2026-12-15T12:00")
    said = desk.refused("reminders", "restore", short)
    assert "neither deleted nor dismissed" in said
    assert "Mon 14 Dec 09:00 UTC" in said


def test_snooze_of_a_recurring_one(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    clock.to("2026-12-07T10:00")
    one = desk.json("reminders", "snooze", short, "2d")
    assert (one["status"], one["occurrence"], one["due"]) == ("upcoming", "2026-12-07T09:00", "2026-12-09T09:00:00Z")
    assert "[put off]" in desk.ok("reminders").out
    assert "put off    from Mon 7 Dec 09:00 UTC" in desk.ok("reminders", "show", short).out
    assert desk.json("reminders", "check") == []
    clock.to("2026-12-09T11:00")
    assert len(desk.json("reminders", "check")) == 1
    desk.ok("reminders", "dismiss", short)
    assert desk.json("reminders")[0]["occurrence"] == "2026-12-14T09:00"


def test_put_off_beyond_the_next_occurrence(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    desk.ok("reminders", "snooze", short, "3 weeks")
    clock.to("2026-12-14T10:00")
    (now,) = desk.json("reminders", "check")
    assert now["occurrence"] == "2026-12-14T09:00"


def test_a_new_time_makes_it_stand_again(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "in 1 hour", "look")["short"]
    clock.to("2026-12-02T14:00")
    desk.ok("reminders", "dismiss", short)
    assert desk.json("reminders") == []
    one = desk.json("reminders", "edit", short, "--when", "tomorrow 9am")
    assert (one["status"], one["dismissed"]) == ("upcoming", False)
    assert len(desk.json("reminders")) == 1
    clock.to("2026-12-03T10:00")
    assert [each["what"] for each in desk.json("reminders", "check")] == ["look"]


def test_the_same_time_again_makes_it_stand_again(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "tomorrow 9am", "look")["short"]
    desk.ok("reminders", "dismiss", short)
    desk.ok("reminders", "edit", short, "--when", "tomorrow 9am")
    assert desk.json("reminders")[0]["status"] == "upcoming"


def test_from_recurring_to_once_and_back(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "every monday 9am", "the bins")["short"]
    desk.ok("reminders", "dismiss", short)
    assert desk.json("reminders", "edit", short, "--when", "friday 9am")["rule"] is None
    clock.to("2026-12-04T10:00")
    assert len(desk.json("reminders", "check")) == 1
    again = desk.json("reminders", "edit", short, "--when", "every weekday 8am")
    assert again["recurrence"] == "every weekday"
    assert again["occurrence"] == "2026-12-07T08:00"


# -- changing ---------------------------------------------------------------------------------------------------------


def test_edit(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "tomorrow 9am", "look", "--project", "acme")["short"]
    assert desk("reminders", "edit", short).code == 2
    assert desk("reminders", "edit", short, "--what", " ").code == 2
    assert desk.refused("reminders", "edit", short, "--when", "yesterday")
    one = desk.json("reminders", "edit", short, "--what", "look closely", "--when", "friday", "--project", "")
    assert (one["what"], one["due_local"], one["project"]) == ("look closely", "2026-12-04T09:00", None)
    events = len(desk.json("log"))
    done = desk.ok("reminders", "edit", short, "--what", "look closely")
    assert "nothing changed" in done.out
    assert len(desk.json("log")) == events


def test_snooze(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "in 10 minutes", "look")["short"]
    clock.to("2026-12-02T12:30")
    assert desk.json("reminders", "snooze", short)["due"] == "2026-12-02T13:30:00Z"
    assert desk.json("reminders", "snooze", short, "tomorrow", "9am")["due"] == "2026-12-03T09:00:00Z"
    assert desk.json("reminders", "snooze", short, "30m")["due"] == "2026-12-02T13:00:00Z"
    assert desk("reminders", "snooze", short, "every", "monday").code == 2
    assert desk("reminders", "snooze", short, "nonsense").code == 2
    desk.ok("reminders", "dismiss", short)
    assert "dismissed already" in desk.refused("reminders", "snooze", short)


def test_dismiss_and_restore(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "in 10 minutes", "look")["short"]
    one = desk.json("reminders", "dismiss", short)
    assert (one["dismissed"], one["status"]) == (True, "dismissed")
    assert one["dismissed_at"]
    events = len(desk.json("log"))
    assert "nothing changed" in desk.ok("reminders", "dismiss", short).out
    assert len(desk.json("log")) == events
    assert desk.json("reminders", "restore", short)["status"] == "upcoming"
    assert "neither deleted nor dismissed" in desk.refused("reminders", "restore", short)


def test_remove_and_restore(desk: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "in 10 minutes", "look")["short"]
    assert "Deleted" in desk.ok("reminders", "remove", short).out
    for words in (["show"], ["dismiss"], ["snooze"], ["remove"], ["edit", "--what", "x"]):
        said = desk.refused("reminders", words[0], short, *words[1:])
        assert "was deleted" in said
        assert f"mait-code reminders restore {short}" in said
    assert desk.json("reminders", "list", "--all") == []
    assert desk.json("reminders", "restore", short)["what"] == "look"
    assert len(desk.json("reminders")) == 1


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["dismiss"], ["snooze", "2090-01-01 9:00"], "dismissed"),
        (["snooze", "2090-01-01 9:00"], ["dismiss"], "dismissed"),
        (["dismiss"], ["dismiss"], "dismissed"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_on_two_machines_dismissed_wins(
    desk: Machine, lap: Machine, clock: Clock, first: list[str], second: list[str], expected: str
) -> None:
    short = desk.json("reminders", "set", "in 10 minutes", "look")["short"]
    exchange(desk, lap)
    desk.ok("reminders", first[0], short, *first[1:])
    lap.ok("reminders", second[0], short, *second[1:])
    exchange(desk, lap)
    for machine in (desk, lap):
        assert machine.json("reminders", "show", short)["status"] == expected
        assert machine.json("conflicts") == []
        assert machine("verify").code == 0


def test_two_zones_are_a_conflict_that_can_be_picked(
    desk: Machine, lap: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = desk.json("reminders", "set", "tomorrow 9am", "call")["short"]
    exchange(desk, lap)
    berlin(monkeypatch)
    desk.ok("reminders", "edit", short, "--when", "friday 9am")
    berlin(monkeypatch, "Asia/Tokyo")
    lap.ok("reminders", "edit", short, "--when", "friday 9am")
    exchange(desk, lap)
    assert "in conflict" in desk.ok("reminders").out
    assert "conflict   when" in desk.ok("reminders", "show", short).out
    desk.ok("conflicts", "pick", short, "1")
    exchange(desk, lap)
    assert lap.json("reminders", "show", short)["conflicts"] == []
    assert lap.json("reminders", "show", short)["due"] == "2026-12-04T08:00:00Z"


def test_deleted_here_and_dismissed_there(desk: Machine, lap: Machine, clock: Clock) -> None:
    short = desk.json("reminders", "set", "in 10 minutes", "look")["short"]
    exchange(desk, lap)
    desk.ok("reminders", "remove", short)
    lap.ok("reminders", "dismiss", short)
    exchange(desk, lap)
    (conflict,) = lap.json("conflicts")
    assert conflict["field"] == "deleted"
    assert "the occurrence of 2026-12-02 12:10" in lap.ok("conflicts").out
    lap.ok("conflicts", "pick", short, "1")
    exchange(desk, lap)
    assert desk.json("reminders", "list", "--all") == []


# -- cost -------------------------------------------------------------------------------------------------------------


def fill(machine: Machine, count: int) -> None:
    reminders = stores.reminders(machine.home)
    start = NOW + timedelta(days=30)
    for first in range(0, count, 500):
        with machine.journal().writing(reminders) as writer:
            for number in range(first, min(first + 500, count)):
                due = (start + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M")
                when: dict[str, Any] = {"due": due, "zone": "Europe/Berlin"}
                if number % 10 == 0:
                    when["rule"] = {"days": ["mon"], "every": "week", "interval": 1}
                    when["due"] = "2027-01-04T09:00"
                writer.append("reminder.set", what=f"reminder {number}", when=when)
    reminders.close()


@pytest.mark.slow
def test_ten_thousand(desk: Machine, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing them all asks a handful of queries, not some for each."""
    fill(desk, 10_000)
    desk.ok("reminders", "check")
    statements: list[str] = []
    from mait_code.projections.store import Store

    opened = Store.db

    def traced(store: Store) -> Any:
        db = opened.fget(store)  # type: ignore[attr-defined]
        db.trace_v2(0x01, lambda event: statements.append(event["sql"]))
        return db

    monkeypatch.setattr(Store, "db", property(traced))
    found = desk.json("reminders", "list")
    assert len(found) == 10_000
    assert len({one["short"] for one in found}) == 10_000
    assert len(statements) < 40, statements[:60]
    started = time.process_time()
    desk.ok("reminders", "list")
    listing = time.process_time() - started
    assert listing < 4, "a list of 10,000 is a matter of a second or so"


def test_a_quiet_check_looks_at_no_zone(desk: Machine) -> None:
    desk.ok("reminders", "set", "in 2 weeks", "look")
    desk.ok("reminders", "set", "every monday 9am", "bins")
    desk.ok("reminders", "check")
    modules, said = loaded(["mait-code", "reminders", "check"])
    assert said == ""
    assert not {name for name in modules if "zone" in name or "recurrence" in name or name == "rich"}


def test_our_grammar_needs_no_dateparser(desk: Machine) -> None:
    for words in ("friday EOD", "in 2 weeks", "next tue 15:30", "every 2 weeks on friday", "first of the month"):
        modules, _ = loaded(["mait-code", "reminders", "set", words, "look"])
        assert not {name for name in modules if name.startswith(("dateparser", "regex", "tzlocal"))}


def test_what_ours_cannot_read_goes_to_dateparser(program: Callable[..., Any]) -> None:
    done = program("reminders", "set", "dans 3 jours", "regarder", "--json", env={"LANG": "fr_FR.UTF-8"})
    assert done.code == 0, done.err
    assert json.loads(done.out)["what"] == "regarder"


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
def test_any_locale(program: Callable[..., Any], locale: str) -> None:
    env = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = program("reminders", "set", "tomorrow", "naïve café 漢字 🎉", env=env)
    assert done.code == 0, done.err
    listed = program("reminders", "list", env=env)
    assert "naïve café 漢字 🎉".encode() in listed.out


def test_help_names_every_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mait_code.commands.cli.main", "reminders", "set", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for words in ("WHEN WHAT", "friday EOD", "every monday 9am", "--project"):
        assert words in done.stdout


@pytest.mark.parametrize(
    "words", [["friday", "8am", "flight"], ["tomorrow", "noon", "walk"], ["tomorrow", "6:30", "run"]]
)
def test_a_time_that_was_not_quoted_is_refused(cli: Any, words: list[str]) -> None:
    """Else the hour would be text, and the reminder hours late."""
    done = cli("reminders", "set", *words)
    assert done.code == 2
    assert f'quote the time: "{words[0]} {words[1]}"' in done.err
    assert cli("reminders", "list", "--json").json == []


@pytest.mark.parametrize(
    "words", [["friday", "send", "3", "mails"], ["tomorrow 9am", "2 apples"], ["monday", "morning-run"]]
)
def test_a_text_that_only_looks_like_a_time_is_kept(cli: Any, words: list[str]) -> None:
    assert cli("reminders", "set", *words).code == 0
    assert len(cli("reminders", "list", "--json").json) == 1


# -- zones and languages of the environment, each in a process of its own


@pytest.mark.parametrize(
    ("tz", "zone", "due"),
    [
        ("IST-5:30", "Asia/Kolkata", "2037-06-01T03:30:00Z"),
        ("<+0545>-5:45", "Asia/Kathmandu", "2037-06-01T03:15:00Z"),
        ("EST5EDT,M3.2.0,M11.1.0", "America/New_York", "2037-06-01T13:00:00Z"),
    ],
)
def test_a_zone_given_by_its_rule(program: Callable[..., Any], tz: str, zone: str, due: str) -> None:
    done = program("reminders", "set", "2037-06-01 09:00", "x", "--json", env={"TZ": tz})
    assert done.code == 0
    one = json.loads(done.out)
    assert (one["zone"], one["due"]) == (zone, due)
    assert done.err == b""


@pytest.mark.parametrize("tz", ["Nope/Zone", "Europe/berlin", "NST3:30"])
def test_a_zone_that_cannot_be_used_is_said_once(program: Callable[..., Any], tz: str) -> None:
    for words in (["set", "2037-06-01 09:00", "x"], ["list"], ["set", "2037-06-01 09:00", "x", "--json"]):
        done = program("reminders", *words, env={"TZ": tz})
        assert done.code == 0
        assert done.err.count(b"warning: ") == 1, done.err
        assert f"TZ={tz} ".encode() in done.err
        assert len(done.err.splitlines()) == 1


def test_offsets_look_the_same_everywhere(program: Callable[..., Any]) -> None:
    env = {"TZ": "Asia/Kathmandu"}
    short = json.loads(program("reminders", "set", "2037-06-01 09:00", "x", "--json", env=env).out)["short"]
    shown = program("reminders", "show", short, env=env).out
    assert shown.count(b"UTC+5:45") == 2, shown
    program("inbox", "add", "y", env=env)
    program("board", "add", "z", env=env)
    for words in (["inbox", "list"], ["board", "show", "1"], ["log"], ["replicas"]):
        said = program(*words, env=env).out
        assert b"UTC+5:45" in said, words
        assert b"+0545" not in said, words


@pytest.mark.parametrize("variable", ["LANG", "LC_ALL", "LC_TIME", "LANGUAGE"])
def test_the_languages_of_the_locale_are_read(program: Callable[..., Any], variable: str) -> None:
    """The locale need not be installed; without one there is English only."""
    none = {"LANG": "C", "LC_ALL": "", "LC_TIME": "", "LANGUAGE": ""}
    words = ("reminders", "set", "morgen um 15 Uhr", "x", "--json")
    refused = program(*words, env=none)
    assert refused.code == 2
    assert b"cannot read a time" in refused.err
    done = program(*words, env={**none, variable: "de_DE.UTF-8"})
    assert done.code == 0, done.err
    assert json.loads(done.out)["due_local"].endswith("T15:00")


def test_a_text_from_stdin(program: Callable[..., Any]) -> None:
    done = program("reminders", "set", "2037-06-01 09:00", "-", "--json", input=b"the text\nof two lines\n")
    one = json.loads(done.out)
    assert one["what"] == "the text\nof two lines"
    done = program("reminders", "edit", one["short"], "--what", "-", "--json", input=b"another")
    assert json.loads(done.out)["what"] == "another"
