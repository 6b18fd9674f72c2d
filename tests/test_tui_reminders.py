"""The reminders' screen: set with a preview, put off, dismissed, edited by two, and how it looks."""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

import monkeys
import pytest
from screens import SIZES, Hand, compare, opened, run
from textual.widgets import Input, TextArea
from thoughts import NOW, fill_reminders, looked_at, stopped

from mait_code.commands import reminders, reminders_form
from mait_code.commands.when import parse_when
from mait_code.commands.workspace import Workspace
from mait_code.journal.errors import MaitError
from mait_code.projections import reminder_queries
from mait_code.projections.recurrence import latest
from mait_code.tui import list_reading
from mait_code.tui.form import Compare, Form
from mait_code.tui.reminders import RemindersRoom
from mait_code.tui.sheet import Sheet
from mait_code.tui.when_entry import AskWhen, WhenEntry

if TYPE_CHECKING:
    from pathlib import Path

    from mait_code.projections.reminder_queries import Reminder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The journal of nine reminders, and the entities in it."""
    place = tmp_path_factory.mktemp("reminders")
    with pytest.MonkeyPatch.context() as patch:
        stopped(place, patch)
        patch.setenv("XDG_STATE_HOME", str(place / "state"))
        with Workspace.open(str(place / "data"), "me") as ws:
            return place / "data", fill_reminders(ws)


@pytest.fixture
def dues(home: Path, written: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The reminders, looked at on Wednesday at 10:20."""
    monkeypatch.chdir(home)
    looked_at(monkeypatch)
    shutil.copytree(written[0], home / "data")
    return written[1]


def one(entity: str) -> Reminder:
    """A reminder as another process sees it."""
    with Workspace.open() as ws:
        return reminders.find(ws, entity, NOW)


def room(hand: Hand) -> RemindersRoom:
    found = hand.house.screen_stack[0]
    assert isinstance(found, RemindersRoom)
    return found


def last_word(found: Reminder) -> str:
    return found.heading.split()[-1]


def at(hand: Hand) -> str:
    """The last word of the reminder under the cursor."""
    found = room(hand).item
    return "" if found is None else last_word(found.reminder)


def shown(hand: Hand) -> list[str]:
    """Headings and last words, from above."""
    rows = room(hand).rows
    return [key if key in rows.headings else last_word(rows.items[key].reminder) for key in rows.keys]


def form(hand: Hand) -> Form[object]:
    found = hand.house.screen
    assert isinstance(found, Form)
    return found


async def go_to(hand: Hand, entity: str) -> None:
    assert room(hand).rows.go_to(entity.partition("/")[2])
    await hand.rest()


SECTIONS = ["#overdue", "week", "invoice", "#today", "parcel", "#later", "report", "certificate"]
SECTIONS += ["#recurring", "gardener", "logs"]


# -- moving about


def test_sections(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom, (80, 24)) as hand:
            assert shown(hand) == SECTIONS
            assert at(hand) == "week", "the cursor stands on a reminder, not on a heading"
            await hand.press("up", "k")
            assert at(hand) == "week"
            seen = []
            for _ in range(8):
                seen.append(at(hand))
                await hand.press("j")
            assert seen == [*(key for key in SECTIONS if key[0] != "#"), "logs"], "headings are passed over"
            await hand.press("g")
            assert at(hand) == "week"
            assert "Overdue" in hand.text
            await hand.press("pagedown", "pageup", "G", "up", "enter")
            assert isinstance(hand.house.screen, Sheet)
            assert "every 2 weeks on Friday" in hand.text
            await hand.press("q")
            assert isinstance(hand.house.screen, RemindersRoom)

    run(go())


def test_time_goes_on(dues: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What becomes due is overdue on the screen, though nothing was written."""

    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["parcel"])
            monkeypatch.setattr(list_reading, "moment", lambda: NOW + timedelta(hours=8))
            room(hand)._time_goes_on()
            await hand.rest()
            assert shown(hand)[:4] == ["#overdue", "week", "invoice", "parcel"]
            assert at(hand) == "parcel", "the cursor stays with it"

    run(go())


def test_views_and_bringing_back(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await hand.press("u")
            assert shown(hand) == SECTIONS, "what stands is not brought back"
            await hand.press("2")
            assert shown(hand) == ["water"]
            await hand.press("s", "d", "S", "u")
            assert one(dues["water"]).status == "overdue"
            assert "Nothing is dismissed" in hand.text
            await hand.press("v")
            assert shown(hand) == ["gone"]
            await hand.press("e", "x", "d", "u")
            assert one(dues["gone"]).status == "overdue"
            await hand.press("v")
            assert shown(hand)[:2] == ["#overdue", "week"]
            assert sorted(shown(hand)[2:4]) == ["gone", "water"]
            await hand.press("z", "z", "3", "1")
            assert shown(hand) == SECTIONS

    run(go())


# -- what the keys do


def test_dismiss(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["invoice"])
            await hand.press("d")
            assert one(dues["invoice"]).status == "dismissed"
            assert at(hand) == "parcel"
            await hand.press("z")
            assert one(dues["invoice"]).status == "overdue"
            await go_to(hand, dues["week"])
            await hand.press("d")
            assert one(dues["week"]).due_local[:10] == "2026-03-02"
            assert one(dues["week"]).occurrence == "2026-03-09T15:00"
            assert any("next Mon 9 Mar 15:00 UTC" in words for words in hand.said)
            assert shown(hand)[-4:] == ["#recurring", "gardener", "week", "logs"]
            assert at(hand) == "week"

    run(go())


def test_put_off(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["invoice"])
            await hand.press("s")
            assert isinstance(hand.house.screen, AskWhen)
            assert "→ Wed 4 Mar 11:20 UTC (in 1 h)" in hand.text
            await hand.press("down", "down")
            assert "→ Thu 5 Mar 09:00 UTC (in 23 h)" in hand.text
            await hand.press("up")
            hand.house.screen.query_one(WhenEntry).value = "every day"
            await hand.rest()
            assert "a snooze ends once" in hand.text
            await hand.press("enter")
            assert isinstance(hand.house.screen, AskWhen)
            hand.house.screen.query_one(WhenEntry).value = "until friday 2pm"
            await hand.press("enter")
            assert one(dues["invoice"]).until == {"due": "2026-03-06T14:00", "zone": "UTC"}
            await hand.press("z")
            assert one(dues["invoice"]).until is None
            await hand.press("S")
            assert one(dues["invoice"]).until == {"due": "2026-03-04T11:20", "zone": "UTC"}
            assert at(hand) == "invoice", "it is under Today now, and the cursor with it"
            await hand.press("s", "escape")
            assert isinstance(hand.house.screen, RemindersRoom)

    run(go())


def test_remove(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["parcel"])
            await hand.press("x")
            with pytest.raises(MaitError, match="was deleted"):
                one(dues["parcel"])
            assert "#today" not in shown(hand), "a heading with nothing beneath it goes"
            await hand.press("z")
            assert shown(hand) == SECTIONS
            await hand.press("2", "x")
            with pytest.raises(MaitError, match="was deleted"):
                one(dues["water"])

    run(go())


def test_new_with_a_preview(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await hand.press("n")
            assert "every monday 9am" in hand.text, "what may be written"
            await hand.type("fri")
            assert "→ Fri 6 Mar 09:00 UTC (in 2 days)" in hand.text
            await hand.type("day EOD")
            assert "→ Fri 6 Mar 17:00 UTC (in 2 days)" in hand.text
            entry = form(hand).query_one(WhenEntry)
            entry.value = "03/04/2026"
            await hand.rest()
            assert "→" not in hand.text
            assert entry.meaning is not None
            assert entry.meaning.hint in hand.text.replace("\n", " ")
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Form)
            entry.value = "every friday 3pm"
            await hand.rest()
            assert "→ Fri 6 Mar 15:00 UTC (in 2 days), then every Friday" in hand.text
            await hand.press("tab")
            # A first word that reads as a time belongs to the text here: the fields are apart.
            await hand.type("8am flight\n[/] \\")
            await hand.press("tab")
            await hand.type("acme/trips")
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, RemindersRoom)
            found = room(hand).item
            assert found is not None
            made = one(found.reminder.entity)
            assert (made.what, made.recurrence, made.project) == ("8am flight\n[/] \\", "every Friday", "acme/trips")
            await hand.press("z")
            assert shown(hand) == SECTIONS

    run(go())


def test_edit(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["week"])
            await hand.press("e")
            entry = form(hand).query_one(WhenEntry)
            assert entry.value == "every Monday at 15:00"
            assert "now  Mon 2 Mar 15:00 UTC (2 days ago)" in hand.text
            form(hand).query_one(TextArea).text = "Plan it"
            await hand.press("ctrl+s")
            changed = one(dues["week"])
            assert (changed.what, changed.due_local) == ("Plan it", "2026-03-02T15:00"), "its time stays as it was"
            await hand.press("e")
            entry = form(hand).query_one(WhenEntry)
            entry.value = "every Tuesday at 15:00"
            await hand.rest()
            assert "→ Tue 10 Mar 15:00" in hand.text
            await hand.press("ctrl+s")
            assert one(dues["week"]).occurrence == "2026-03-10T15:00"
            await hand.press("z", "z")
            assert one(dues["week"]).what == "Plan the week"
            await hand.press("2", "e")
            form(hand).query_one(WhenEntry).value = "friday"
            await hand.press("ctrl+s")
            assert room(hand).view == 0, "with a new time it stands again, and the cursor is on it"
            assert at(hand) == "water"

    run(go())


def test_edit_with_two_writers(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await go_to(hand, dues["report"])
            await hand.press("e")
            form(hand).query_one("#field-project", Input).value = "mine"
            with Workspace.open() as ws:
                reminders.edit(ws, dues["report"], NOW, when="friday 8:00", project="theirs")
            await hand.until(lambda: form(hand).query_one(".notice").display)
            await hand.press("ctrl+s")
            assert isinstance(hand.house.screen, Compare)
            assert "2026-03-06 08:00" in hand.text
            await hand.press("m")
            found = one(dues["report"])
            assert (found.project, found.due_local) == ("mine", "2026-03-06T08:00"), (
                "each keeps what the other left alone"
            )
            await hand.press("e")
            form(hand).query_one("#field-project", Input).value = "mine too"
            with Workspace.open() as ws:
                reminders.edit(ws, dues["report"], NOW, project="theirs")
            await hand.press("ctrl+s", "t")
            assert one(dues["report"]).project == "theirs"

    run(go())


@pytest.mark.parametrize(
    "phrase",
    ["friday EOD", "every monday 9am", "every 2 weeks on friday", "first of the month", "quarterly", "every 90 minutes",
     "every year on 29 feb", "9am Asia/Tokyo", "in 90 seconds", "last friday of the month", "every 3 days 10:00"],
)  # fmt: skip
@pytest.mark.parametrize("later", [0, 10], ids=lambda days: f"after {days} days")
def test_times_in_forms_read_back(home: Path, phrase: str, later: int) -> None:
    """What a form shows of a time means that time again, days later and overdue too (of one that recurs, the next)."""
    with Workspace.open() as ws:
        made = reminders.set_reminder(ws, phrase, "x", NOW)
        now = NOW + timedelta(days=later)
        words = reminders_form.texts(made, now)["when"]
    if made.rule is None and made.due <= now:
        with pytest.raises(MaitError):
            parse_when(words, now, "UTC")
        return
    found = parse_when(words, now, "UTC")
    assert (found.zone, found.rule) == (made.zone, made.rule)
    assert found.due == made.due_local or latest(made.due_local, made.rule, found.due) == found.due


# -- filters, and what happens elsewhere


def test_search(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await hand.press("slash")
            await hand.type("the login")
            assert shown(hand) == ["#overdue", "invoice", "#later", "report", "#recurring", "logs"]
            await hand.press("enter", "j")
            assert at(hand) == "report"
            await hand.press("escape")
            assert shown(hand) == SECTIONS
            assert at(hand) == "report"

    run(go())


def test_live(dues: dict[str, str]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await hand.until(lambda: hand.house._watcher is not None and hand.house._watcher.watching)
            await go_to(hand, dues["certificate"])
            with Workspace.open() as ws:
                reminders.set_reminder(ws, "tomorrow 9am", "Came from elsewhere", NOW)
                reminders.dismiss(ws, dues["invoice"], NOW)
            await hand.until(lambda: "Came from elsewhere" in hand.text and "invoice" not in shown(hand), 1.0)
            assert at(hand) == "certificate"

    run(go())


def test_the_first_reminder_ever(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    looked_at(monkeypatch)

    async def go() -> None:
        async with opened(RemindersRoom, (80, 24)) as hand:
            assert "n sets one" in hand.text
            await hand.press("s", "S", "d", "e", "x", "enter", "space", "G", "g")
            assert any("nothing under the cursor" in words for words in hand.said)
            await hand.press("2")
            assert "Nothing is dismissed" in hand.text
            await hand.press("3")
            assert "Nothing is deleted" in hand.text
            await hand.press("1", "n")
            await hand.type("friday")
            await hand.press("tab")
            await hand.type("The first")
            await hand.press("ctrl+s")
            assert at(hand) == "first"

    run(go())


def test_leaving(dues: dict[str, str]) -> None:
    async def go(key: str) -> None:
        async with opened(RemindersRoom) as hand:
            hand.strike(key)
            await hand.until(lambda: hand.house._exit)
        assert hand.house.return_code == 0

    run(go("q"))
    run(go("escape"))


def test_deleted_ones_read_as_they_were(dues: dict[str, str]) -> None:
    with Workspace.open() as ws:
        reminders.remove(ws, dues["week"], NOW)
        found = reminder_queries.deleted(ws.reminders, NOW)
    assert [(last_word(each), each.recurrence) for each in found] == [("week", "every Monday"), ("gone", None)]
    assert found[0].due_local == "2026-03-02T15:00"
    assert found[0].short


# -- how it looks


@pytest.mark.parametrize("theme", ["mait-dark", "mait-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(dues: dict[str, str], size: tuple[int, int], theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_THEME", theme)

    async def go() -> None:
        async with opened(RemindersRoom, size) as hand:
            await hand.press("j")
            compare(f"reminders-{size[0]}x{size[1]}-{theme.removeprefix('mait-')}", hand.picture())

    run(go())


@pytest.mark.parametrize(("name", "keys"), [("put-off", "s down down"), ("edit", "G up e"), ("new", "n")])
def test_picture_of_what_opens(dues: dict[str, str], name: str, keys: str) -> None:
    async def go() -> None:
        async with opened(RemindersRoom) as hand:
            await hand.press(*keys.split())
            if name == "new":
                await hand.type("every mon 9am")
            await hand.pilot.pause(0.2)
            compare(f"reminders-{name}-120x40-dark", hand.picture())

    run(go())


@pytest.mark.parametrize("size", [(40, 12), (10, 3)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_small_terminals_degrade(dues: dict[str, str], size: tuple[int, int]) -> None:
    async def go() -> None:
        async with opened(RemindersRoom, size) as hand:
            await hand.press("j", "enter", "escape", "e", "escape", "s", "escape", "question_mark", "escape", "2", "1")
            assert isinstance(hand.house.screen, RemindersRoom)
            if size[0] >= 40:
                assert "Send the invoice" in hand.text
                assert "Quit" in hand.text

    run(go())


# -- anything at all


def test_monkey(dues: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeys.hammer("n e s S d x u v slash 1 2 3 9 ctrl+s", 150, RemindersRoom)
