"""Secrets and private text given to commands: what is stored, what is told, and that nothing of them is on the disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from secret_samples import Draw, formats
from two_machines import Machine, exchange

from mait_code.commands import inbox
from mait_code.journal.errors import BadInput
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.journal.lock import Lock
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mait_code.commands.workspace import Workspace

DRAW = Draw(11)
KEY = formats(DRAW)["GitHub classic"]
PASSWORD = DRAW.password()
MASKED = "[masked: github token]"


def on_disk(folder: Path, *wanted: str) -> list[str]:
    """The files under a folder that hold one of the texts, as text or in UTF-16."""
    found = []
    for directory, _folders, files in os.walk(folder):
        for name in files:
            with open(os.path.join(directory, name), "rb") as file:
                content = file.read()
            if any(one.encode(coding) in content for one in wanted for coding in ("utf-8", "utf-16-le")):
                found.append(os.path.join(directory, name))
    return found


@pytest.fixture(autouse=True)
def outside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No project of the checkout's."""
    monkeypatch.chdir(home)


# -- every command that takes text ------------------------------------------------------------------------------------

SETUP = (
    ("board", "add", "a card"),
    ("inbox", "add", "an item"),
    ("reminders", "set", "tomorrow 9am", "a reminder"),
)
COMMANDS: list[tuple[str, ...]] = [
    ("inbox", "add", "TEXT"),
    ("inbox", "edit", "ITEM", "TEXT"),
    ("inbox", "triage", "ITEM", "--to", "card", "--title", "TEXT", "--description", "TEXT"),
    ("inbox", "triage", "ITEM", "--to", "reminder", "--when", "tomorrow", "--title", "TEXT"),
    ("board", "add", "TEXT", "--description", "TEXT", "--acceptance", "TEXT"),
    ("board", "edit", "1", "--title", "TEXT"),
    ("board", "edit", "1", "--description", "TEXT", "--acceptance", "TEXT"),
    ("board", "refine", "1", "--description", "TEXT", "--acceptance", "TEXT"),
    ("board", "complete", "1", "--summary", "TEXT"),
    ("board", "comment", "1", "TEXT"),
    ("board", "block", "1", "TEXT"),
    ("board", "tag", "1", "TEXT"),
    ("board", "ref", "add", "1", "TEXT", "TEXT"),
    ("board", "add", "x", "--project", "TEXT"),
    ("reminders", "set", "tomorrow 9am", "TEXT"),
    ("reminders", "set", "tomorrow 9am", "x", "--project", "TEXT"),
    ("reminders", "edit", "REMINDER", "--what", "TEXT"),
    ("init", "--label", "TEXT"),
]


def prepared(cli: Callable[..., Any], command: tuple[str, ...], text: str) -> list[str]:
    """The command with ids of things that are there."""
    for arguments in SETUP:
        assert cli(*arguments).code == 0
    ids = {
        "TEXT": text,
        "ITEM": cli("inbox", "list", "--json").json[0]["short"],
        "REMINDER": cli("reminders", "list", "--json").json[0]["short"],
    }
    return [ids.get(word, word) for word in command]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_secret_is_nowhere(command: tuple[str, ...], cli: Callable[..., Any], home: Path) -> None:
    done = cli(*prepared(cli, command, f"see {KEY} or so"), "--json")
    assert done.code == 0, done.err
    assert KEY not in done.out
    assert KEY not in done.err
    assert done.json is not None
    assert "held what looks like a secret (GitHub token)" in done.err
    assert on_disk(home, KEY) == []
    assert on_disk(home / "data", MASKED) != []


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_it_is_kept_where_that_is_asked_for(command: tuple[str, ...], cli: Callable[..., Any], home: Path) -> None:
    done = cli(*prepared(cli, command, f"see {KEY} or so"), "--allow-secret")
    assert done.code == 0, done.err
    assert "secret" not in done.err
    held = [path for path in on_disk(home / "data", KEY) if path.endswith(".jsonl")]
    assert held != []


@pytest.mark.parametrize("command", COMMANDS[:-1], ids=" ".join)
def test_private_text_is_nowhere(command: tuple[str, ...], cli: Callable[..., Any], home: Path) -> None:
    done = cli(*prepared(cli, command, "see <private>UNSPOKEN</private> there"), "--allow-secret", "--json")
    assert done.code == 0, done.err
    assert "UNSPOKEN" not in done.out + done.err
    assert done.json is not None
    assert "private text was left out of the" in done.err
    assert on_disk(home, "UNSPOKEN") == []


def test_the_option_stands_anywhere(cli: Callable[..., Any]) -> None:
    for arguments in (
        ("--allow-secret", "inbox", "add", f"password={PASSWORD}"),
        ("inbox", "--allow-secret", "add", f"password={PASSWORD}"),
        ("inbox", "add", f"password={PASSWORD}", "--allow-secret"),
    ):
        assert cli(*arguments).code == 0
    assert [item["body"] for item in cli("inbox", "list", "--json").json] == [f"password={PASSWORD}"] * 3


def test_each_note_is_said_once(cli: Callable[..., Any]) -> None:
    done = cli("board", "add", f"{KEY} and password={PASSWORD}", "--description", f"x {KEY} y {KEY}")
    assert done.code == 0
    kept = "; --allow-secret would keep it"
    assert done.err.splitlines() == [
        f"the title held what looks like 2 secrets (GitHub token, password): stored as [masked: ...]{kept}",
        f"the description held what looks like 2 secrets (GitHub token): stored as {MASKED}{kept}",
    ]


def test_text_from_stdin(program: Callable[..., Any], home: Path) -> None:
    done = program("inbox", "add", "-", input=f"line\n{KEY}\n<PRIVATE>UNSPOKEN".encode())
    assert done.code == 0
    assert b"GitHub token" in done.err
    assert b"private" in done.err
    assert on_disk(home, KEY, "UNSPOKEN") == []


@pytest.mark.parametrize("bytes_before", range(239_900, 240_100, 20))
def test_a_secret_at_the_cut(bytes_before: int, cli: Callable[..., Any], home: Path) -> None:
    """What is too long is cut, and half a key would not be known for one."""
    words = "word " * 60_000
    limit = 256 * 1024 - 16 * 1024
    start = limit - (bytes_before - 239_900) // 4
    text = f"{words[:start].rstrip()} {KEY} {words[:5000]}"
    done = cli("inbox", "add", text)
    assert done.code == 0
    assert "too long" in done.err
    assert on_disk(home, *(KEY[:length] for length in range(9, len(KEY)))) == []


# -- private text -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("inbox", "add", "TEXT"),
        ("inbox", "edit", "ITEM", "TEXT"),
        ("board", "add", "TEXT"),
        ("board", "edit", "1", "--title", "TEXT"),
        ("board", "comment", "1", "TEXT"),
        ("board", "tag", "1", "TEXT"),
        ("board", "ref", "add", "1", "label", "TEXT"),
        ("reminders", "set", "tomorrow 9am", "TEXT"),
        ("reminders", "edit", "REMINDER", "--what", "TEXT"),
        ("inbox", "triage", "ITEM", "--to", "card", "--title", "TEXT"),
    ],
    ids=" ".join,
)
def test_a_text_that_has_to_be_there(command: tuple[str, ...], cli: Callable[..., Any], home: Path) -> None:
    arguments = prepared(cli, command, "<private>UNSPOKEN")
    before = cli("log", "--json").json
    done = cli(*arguments)
    assert done.code == 2
    assert done.out == ""
    first, hint = done.err.splitlines()
    assert first.endswith("is all private: nothing is left to store")
    assert hint.startswith("hint: ")
    assert cli("log", "--json").json == before
    assert on_disk(home, "UNSPOKEN") == []


def test_a_text_that_may_be_left_away(cli: Callable[..., Any], home: Path) -> None:
    private = "<private>UNSPOKEN</private>"
    done = cli("board", "add", "a card", "--description", private, "--acceptance", "it works", "--json")
    assert done.code == 0
    assert done.json["description"] is None
    assert done.json["acceptance_criteria"] == "it works"
    assert "the description was all private and is not stored" in done.err
    assert cli("board", "edit", "1", "--description", "what it is").code == 0
    done = cli("board", "edit", "1", "--description", private, "--priority", "high", "--json")
    assert done.json["description"] == "what it is"
    assert done.json["priority"] == "high"
    done = cli("board", "block", "1", private, "--json")
    assert done.code == 0
    assert done.json["comments"] == []
    done = cli("board", "complete", "1", "--summary", private, "--json")
    assert done.code == 0
    assert done.json["status"] == "done"
    assert "the summary was all private and is not stored" in done.err
    assert on_disk(home, "UNSPOKEN") == []


# -- what the log holds already ---------------------------------------------------------------------------------------

ALLOWED = f"password={PASSWORD}"


def test_undo_writes_what_was_there(cli: Callable[..., Any]) -> None:
    item = cli("inbox", "add", ALLOWED, "--allow-secret", "--json").json
    assert cli("inbox", "edit", item["short"], "something else").code == 0
    done = cli("undo")
    assert done.code == 0
    assert "secret" not in done.err
    assert cli("inbox", "show", item["short"], "--json").json["body"] == ALLOWED


def test_undo_of_a_masked_text(cli: Callable[..., Any]) -> None:
    item = cli("inbox", "add", ALLOWED, "--json").json
    assert cli("inbox", "edit", item["short"], "something else").code == 0
    assert cli("undo").code == 0
    assert cli("inbox", "show", item["short"], "--json").json["body"] == "password=[masked: password]"


def test_a_tag_is_taken_off_as_the_card_carries_it(cli: Callable[..., Any]) -> None:
    cli("board", "add", "a card")
    assert cli("board", "tag", "1", ALLOWED, "--allow-secret", "--json").json["tags"] == [ALLOWED]
    done = cli("board", "untag", "1", ALLOWED, "--json")
    assert done.json["tags"] == []
    assert done.err == ""
    cli("board", "tag", "1", ALLOWED)
    assert cli("board", "untag", "1", "password=[masked: password]", "--json").json["tags"] == []


@pytest.mark.parametrize("target", ["card", "reminder"])
def test_triage_takes_the_text_as_it_is(target: str, cli: Callable[..., Any]) -> None:
    item = cli("inbox", "add", ALLOWED, "--allow-secret", "--json").json
    when = ("--when", "tomorrow") if target == "reminder" else ()
    done = cli("inbox", "triage", item["short"], "--to", target, *when)
    assert done.code == 0
    assert done.err == ""
    if target == "card":
        assert cli("board", "list", "--json").json[0]["title"] == ALLOWED
    else:
        assert cli("reminders", "list", "--json").json[0]["what"] == ALLOWED


def test_triage_masks_what_is_new(cli: Callable[..., Any]) -> None:
    item = cli("inbox", "add", ALLOWED, "--allow-secret", "--json").json
    done = cli("inbox", "triage", item["short"], "--to", "card", "--title", f"about {KEY}")
    assert "the title held what looks like a secret" in done.err
    card = cli("board", "show", "1", "--json").json
    assert card["title"] == f"about {MASKED}"
    assert card["description"] == ALLOWED


def test_a_picked_side_is_written_as_it_is(
    tmp_path: Path, cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, lap = (Machine(tmp_path, name, cli, monkeypatch) for name in ("desk", "lap"))
    desk.ok("board", "add", "a card")
    exchange(desk, lap)
    desk.ok("board", "edit", "1", "--description", ALLOWED, "--allow-secret")
    lap.ok("board", "edit", "1", "--description", "something else")
    exchange(desk, lap)
    (conflict,) = desk.json("conflicts")
    number = next(n for n, one in enumerate(conflict["sides"], 1) if one["value"] == ALLOWED)
    done = desk.ok("conflicts", "pick", "1", "description", str(number))
    assert "secret" not in done.err
    assert desk.json("board", "show", "1")["description"] == ALLOWED
    exchange(desk, lap)
    assert lap.json("board", "show", "1")["description"] == ALLOWED


# -- below the commands -----------------------------------------------------------------------------------------------


@pytest.fixture
def journal(home: Path) -> Journal:
    return Journal(Home(str(home / "data")))


def test_nothing_goes_around_the_writer(journal: Journal, home: Path) -> None:
    store = stores.board(journal.home)
    with journal.writing(store) as writer:
        event = writer.append("card.created", title=KEY)
        writer.append("card.bound", event.entity, by={"session": KEY, "more": [KEY, {KEY: KEY}]})
    store.close()
    assert on_disk(home, KEY) == []
    assert [note.split(" (")[0] for note in journal.masked] == [
        "the title held what looks like a secret",
        "the by held what looks like 4 secrets",
    ]


def test_what_is_too_deep_is_refused(journal: Journal, home: Path) -> None:
    store = stores.board(journal.home)
    deep: Any = KEY
    for _ in range(3000):
        deep = [deep]

    def write() -> None:
        with journal.writing(store) as writer:
            writer.append("card.created", title="x", extra=deep)

    with pytest.raises(BadInput):
        write()
    store.close()
    assert on_disk(home, KEY) == []


def test_a_hook_that_has_to_wait_spools_no_secret(
    journal: Journal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mait_code.journal.journal.HOOK_WAIT", 0.0)
    store = stores.inbox(journal.home)
    with journal.writing(store) as writer:
        writer.append("inbox.captured", body="before")
    lock = Lock(journal.home.in_state("lock"))
    assert lock.acquire(1)
    with journal.writing_from_hook(store) as writer:
        writer.append("inbox.captured", body=f"{KEY} <private>UNSPOKEN</private>")
    lock.release()
    store.close()
    assert writer.spooled
    assert on_disk(home, KEY, "UNSPOKEN") == []
    assert on_disk(home / "state", MASKED) == [writer.spooled]
    assert len(journal.masked) == 2


@pytest.mark.parametrize("second", ["<private>x", "\ud800"])
def test_what_was_not_written_is_not_told(second: str, journal: Journal, home: Path) -> None:
    store = stores.inbox(journal.home)

    def write() -> None:
        with journal.writing(store) as writer:
            writer.append("inbox.captured", body=f"{MASKED} {KEY}")
            writer.append("inbox.captured", body=second)

    with pytest.raises(BadInput):
        write()
    store.close()
    assert journal.masked == []
    assert on_disk(home, MASKED) == []


def test_a_crash_leaves_no_secret(cli: Callable[..., Any], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the log of commands nor the file with the traceback says what a command was given."""

    def fails(ws: Workspace, body: str, project: str | None = None) -> None:
        raise RuntimeError(f"cannot store {body}")

    monkeypatch.setattr(inbox, "add", fails)
    done = cli("inbox", "add", f"{KEY} <private>UNSPOKEN</private>")
    assert done.code == 1
    assert "unexpected RuntimeError" in done.err
    assert [name for _folder, _folders, names in os.walk(home) for name in names if name.startswith("traceback")]
    assert on_disk(home, KEY, "UNSPOKEN") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("inbox", "add", KEY, "--no-such-option"),
        ("inbox", KEY),
        ("inbox", "show", KEY),
        ("board", "move", "1", KEY),
        ("undo", KEY),
        ("settings", "get", KEY),
    ],
)
def test_a_command_that_fails_leaves_no_secret(arguments: tuple[str, ...], cli: Callable[..., Any], home: Path) -> None:
    assert cli(*arguments).code in (1, 2)
    assert on_disk(home, KEY) == []
