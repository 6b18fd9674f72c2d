"""An inbox, reminders and conflicts that say something: what the pictures of those screens show."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from screens import NINE, fixed

from mait_code.commands import board, board_edits, board_moves, exchange, inbox, reminders
from mait_code.commands.workspace import Workspace
from mait_code.tui import list_reading

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from mait_code.projections.inbox_queries import Item

#: When it was all written, and when it is looked at: Monday, and Wednesday the 4th, 10:20.
WRITTEN = datetime.fromtimestamp(NINE / 1_000_000, UTC)
NOW = WRITTEN + timedelta(days=2, hours=1, minutes=20)

PROJECT = "acme/login"
LIVE = (
    ("Call the bank about the second card", ""),
    ("Why does the session end an hour early?\n\nSeen twice on Friday:\n- once after lunch\n- once at night", PROJECT),
    ("Passkeys need a newer client library, from 4.2 on", PROJECT),
    ("日本語のメモも幅どおりに切られる thought", ""),
    ("Ask Ada who owns the audit log", "acme/audit"),
    ("[b]Markup[/b] is \\text here", ""),
)


def fill_inbox(ws: Workspace) -> dict[str, str]:
    """Write the thoughts. Returns their entities by the first word."""
    found = {text.split()[0]: inbox.add(ws, text, project).entity for text, project in LIVE}
    found["Buy"] = inbox.add(ws, "Buy a longer cable", "").entity
    inbox.done(ws, found["Buy"])
    found["Write"] = inbox.add(ws, "Write down how releases are cut", PROJECT).entity
    inbox.triage(ws, found["Write"], "card")
    found["Old"] = inbox.add(ws, "Old and wrong", "").entity
    inbox.remove(ws, found["Old"])
    return found


DUES = (
    ("tuesday 9am", "Send the invoice", PROJECT),
    ("every monday 15:00", "Plan the week", ""),
    ("wednesday 17:30", "Fetch the parcel", ""),
    ("friday EOD", "Send the report\n\nwith the numbers of last week", PROJECT),
    ("20 mar 11:00", "Renew the certificate", ""),
    ("every 2 weeks on friday", "Pay the gardener", ""),
    ("first of the month", "Look through the logs", PROJECT),
)


def fill_reminders(ws: Workspace) -> dict[str, str]:
    """Set the reminders. Returns their entities by the last word of the first line."""
    found = {}
    for when, what, project in DUES:
        one = reminders.set_reminder(ws, when, what, WRITTEN, project)
        found[one.heading.split()[-1]] = one.entity
    found["water"] = reminders.set_reminder(ws, "tuesday 8am", "Give the plants water", WRITTEN).entity
    reminders.dismiss(ws, found["water"], NOW)
    found["gone"] = reminders.set_reminder(ws, "tuesday 8am", "Deleted and gone", WRITTEN).entity
    reminders.remove(ws, found["gone"], NOW)
    return found


def fill_conflicts(place: Path, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two machines, desk and lap below `place`, that changed the same without knowing of each other, and then met."""
    with _on(place, "desk", patch) as ws:
        exchange.init(ws, None, "the desk")
        card = board.add(ws, "Fix the login page", description="One\nTwo\nThree", project=PROJECT).entity
        thought = inbox.add(ws, "Call the bank", "").entity
        due = reminders.set_reminder(ws, "20 mar 11:00", "Renew the certificate", WRITTEN).entity
    meet(place, "desk", "lap")
    with _on(place, "lap", patch) as ws:
        exchange.init(ws, None, "the laptop")
        board_edits.edit(ws, card, title="Repair the login", description="One\nTwo and a half\nThree")
        board_moves.move(ws, card, "in_review")
        inbox.remove(ws, thought)
        reminders.edit(ws, due, WRITTEN, when="18 mar 9am")
    with _on(place, "desk", patch) as ws:
        board_edits.edit(ws, card, title="Fix the login page for good", description="One\nTwo\nThree\nFour")
        board_moves.move(ws, card, "done")
        inbox.edit(ws, thought, "Call the bank about the card")
        reminders.edit(ws, due, WRITTEN, when="19 mar 15:00")
    meet(place, "desk", "lap")
    meet(place, "lap", "desk")
    return {"card": card, "thought": thought, "due": due}


def _on(place: Path, name: str, patch: pytest.MonkeyPatch) -> Workspace:
    patch.setenv("XDG_STATE_HOME", str(place / name / "state"))
    patch.setenv("MAIT_CODE_MACHINE_ID", name)
    return Workspace.open(str(place / name / "data"), "me")


def meet(place: Path, one: str, other: str) -> None:
    """Copy what the other machine lacks, as git would."""
    source, target = place / one / "data" / "journal", place / other / "data" / "journal"
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if path.is_file() and (not copy.exists() or copy.stat().st_size < path.stat().st_size):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy.with_name(copy.name + ".new"))
            os.replace(copy.with_name(copy.name + ".new"), copy)


def stopped(place: Path, patch: pytest.MonkeyPatch) -> None:
    """The clock of whoever writes stands, in UTC, in a directory of no project."""
    patch.chdir(place)
    patch.setenv("TZ", "UTC")
    patch.setenv("XDG_CONFIG_HOME", str(place / "config"))
    fixed(patch)


def looked_at(patch: pytest.MonkeyPatch) -> None:
    """Screens look at it at `NOW`."""
    patch.setattr(list_reading, "moment", lambda: NOW)


def item(entity: str) -> Item:
    """An item as another process sees it."""
    with Workspace.open() as ws:
        return inbox.show(ws, entity)
