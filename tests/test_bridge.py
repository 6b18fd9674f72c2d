"""The bridge against a real server: what comes in, what goes out, once each, and nothing at all while it is off."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import ntfy_server as server
import pytest
from git_machines import bare, git
from model_place import alone
from ntfy_server import Ntfy
from two_machines import Machine, exchange

from mait_code.commands import bridge, bridge_config, doctor_bridge, ntfy
from mait_code.commands.invocations import log_path
from mait_code.commands.workspace import Workspace
from mait_code.journal.home import Home
from mait_code.journal.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cli = Callable[..., Any]

TOKEN = "tk_" + "q7w2e9r4t1y8u3"


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch)


@pytest.fixture
def phone() -> Iterator[Ntfy]:
    with Ntfy() as running:
        yield running


@pytest.fixture
def on(cli: Cli, phone: Ntfy) -> Cli:
    """The command line with the bridge on."""
    assert cli("bridge", "configure", "--server", phone.url, "--capture-topic", "in", "--notify-topic", "out").code == 0
    assert cli("bridge", "enable").code == 0
    return cli


@pytest.fixture
def machines(tmp_path: Path, on: Cli, monkeypatch: pytest.MonkeyPatch) -> tuple[Machine, Machine]:
    """Two machines with the same channel."""
    return Machine(tmp_path, "laptop", on, monkeypatch), Machine(tmp_path, "desk", on, monkeypatch)


def ran(cli: Cli, code: int = 0) -> Any:
    """One run, as JSON."""
    done = cli("bridge", "run", "--json")
    assert done.code == code, (done.out, done.err)
    return done.json


def bodies(cli: Cli) -> list[str]:
    return [one["body"] for one in cli("inbox", "list", "--json").json]


def due(cli: Cli, what: str = "call the bank") -> Any:
    """A reminder that has been overdue for a minute, on the machine that this process runs on."""
    with Workspace.open() as ws, ws.journal.writing(ws.store("reminders")) as writer:
        event = writer.append("reminder.set", what=what, when=moment(-60))
    return cli("reminders", "show", event.entity, "--json").json


def moment(seconds: int) -> dict[str, str]:
    """A time so far from now, as reminders have it."""
    return {"due": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + seconds)), "zone": "UTC"}


def notified(cli: Cli) -> list[Any]:
    """The reminder.notified events there are."""
    events = cli("log", "--limit", "500", "--json").json
    return [one for one in events if one["kind"] == "reminder.notified"]


def logged(kind: str = "bridge") -> list[dict[str, Any]]:
    with open(log_path(), encoding="utf-8") as file:
        return [one for one in map(json.loads, file) if one["command"] == kind]


# -- off ------------------------------------------------------------------------------------------------------------------


def test_off_is_the_default_and_opens_no_connection(cli: Cli, phone: Ntfy) -> None:
    assert cli("bridge", "configure", "--server", phone.url, "--capture-topic", "in", "--notify-topic", "out").code == 0
    phone.add("in", "a thought")
    due(cli)
    with Workspace.open() as ws:
        assert bridge.run_once(ws).state == "off"
        assert [row[:3] for row in doctor_bridge.look(ws)] == [("bridge", "ok", "off")]
    assert cli("bridge", "status", "--json").json["bridge"] == "disabled"
    for command in ("run", "test"):
        done = cli("bridge", command)
        assert (done.code, "disabled" in done.err, "bridge enable" in done.err) == (1, True, True)
    done = cli("inbox", "drain")
    assert (done.code, done.out) == (0, "The bridge is disabled.\n")
    assert cli("reminders", "check").code == 0
    assert phone.requests == []


def test_turned_off_again_it_opens_no_connection(on: Cli, phone: Ntfy) -> None:
    assert on("bridge", "disable").code == 0
    with Workspace.open() as ws:
        assert bridge.run_once(ws).state == "off"
    assert phone.requests == []
    assert on("bridge", "status", "--json").json["server"] == phone.url


def test_off_loads_nothing_that_could_connect(home: Path) -> None:
    script = (
        "import sys; from mait_code.commands.workspace import Workspace; from mait_code.commands import bridge\n"
        "with Workspace.open() as ws: assert bridge.run_once(ws).state == 'off'\n"
        "print([one for one in ('socket', 'ssl', 'urllib.request', 'tomllib', 'tomlkit') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


# -- the channel ----------------------------------------------------------------------------------------------------------


def test_enabling_needs_server_and_capture_topic(cli: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("bridge", "enable")
    assert (done.code, done.out) == (1, "")
    assert "no server and no capture topic" in done.err
    assert "bridge configure" in done.err
    cli("bridge", "configure", "--server", phone.url)
    assert "no capture topic" in cli("bridge", "enable").err
    cli("bridge", "configure", "--capture-topic", "in")
    assert cli("bridge", "enable").code == 0
    assert cli("bridge", "enable", "--json").json == {"bridge": "enabled"}
    monkeypatch.setenv("MAIT_CODE_BRIDGE", "disabled")
    done = cli("bridge", "enable")
    assert done.out == "The bridge is disabled.\n"
    assert "MAIT_CODE_BRIDGE is set and wins" in done.err


def test_enabled_without_a_channel_does_nothing_and_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no server" in cli("settings", "set", "bridge", "enabled").err
    monkeypatch.setenv("MAIT_CODE_BRIDGE", "enabled")
    with Workspace.open() as ws:
        counts = bridge.run_once(ws)
        assert (counts.state, "no server" in counts.fault) == ("incomplete", True)
        assert [(row[1], "not in use" in row[2]) for row in doctor_bridge.look(ws)] == [("warn", True)]
    assert "no server" in cli("bridge", "run").err
    assert cli("inbox", "drain").code == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--server", "ftp://ntfy.example.org"),
        ("--server", "https://"),
        ("--server", "https://me:secret@ntfy.example.org"),
        ("--server", "https://ntfy.example.org/?a=b"),
        ("--server", "https://ntfy.example.org:99999"),
        ("--server", "https://nt fy.example.org"),
        ("--capture-topic", "a/b"),
        ("--notify-topic", "x" * 65),
    ],
)
def test_what_cannot_be_meant_is_refused(cli: Cli, option: str, value: str) -> None:
    done = cli("bridge", "configure", option, value)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 2)
    assert not os.path.exists(bridge_config.path())


def test_configure_with_nothing_is_a_slip(cli: Cli) -> None:
    assert cli("bridge", "configure").code == 2


def test_fields_are_kept_cleared_and_spelt_alike(cli: Cli) -> None:
    cli("bridge", "configure", "--server", "NTFY.example.org/", "--capture-topic", "in", "--notify-topic", "out")
    with open(bridge_config.path(), "a", encoding="utf-8") as file:
        file.write('# mine\nfuture = "kept"\n')
    done = cli("bridge", "configure", "--notify-topic", "", "--json").json
    assert (done["server"], done["capture_topic"], done["notify_topic"]) == ("https://ntfy.example.org", "in", None)
    with open(bridge_config.path(), encoding="utf-8") as file:
        text = file.read()
    assert "# mine\n" in text
    assert 'future = "kept"' in text
    places = [
        bridge_config.Channel(one).place for one in ("https://a.example:443", "http://a.example", "https://a.example")
    ]
    assert len(set(places)) == 1
    assert bridge_config.Channel("https://a.example:8443").place == "a.example:8443"


def test_the_token_comes_from_stdin_and_is_never_shown_whole(
    program: Callable[..., Any], home: Path, phone: Ntfy, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = program(
        "bridge", "configure", "--server", phone.url, "--capture-topic", "in", "--token", input=f"{TOKEN}\n".encode()
    )
    assert done.code == 0, done.err
    path = bridge_config.path()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert str(home / "config") in path  # outside the data directory, which is synced
    channel = bridge_config.read()
    assert (channel.token, channel.token_source) == (TOKEN, "file")
    said = done.out + done.err
    for command in (("bridge",), ("bridge", "status", "--json"), ("doctor", "--json"), ("settings", "list", "--json")):
        one = program(*command)
        said += one.out + one.err
    assert TOKEN.encode() not in said
    assert TOKEN[-4:].encode() in said
    assert program("bridge", "configure", "--token", input=b" \n").code == 2
    assert program("bridge", "configure", "--token", input=b"two words").code == 2
    monkeypatch.setenv(bridge_config.TOKEN_VARIABLE, "another-token")
    assert (bridge_config.read().token, bridge_config.read().token_source) == ("another-token", "environment")
    monkeypatch.delenv(bridge_config.TOKEN_VARIABLE)
    assert program("bridge", "configure", "--no-token").code == 0
    assert bridge_config.read().token == ""


def test_a_file_that_others_can_read_is_told(on: Cli) -> None:
    os.chmod(bridge_config.path(), 0o644)
    with Workspace.open() as ws:
        assert "can be read by others" in next(doctor_bridge.look(ws))[2]


@pytest.mark.parametrize("content", [b"server = ", b"\xff", b"server = 7\n", b'server = "gopher://x"\n'])
def test_a_broken_file_stops_the_bridge_only(on: Cli, phone: Ntfy, content: bytes) -> None:
    with open(bridge_config.path(), "wb") as file:
        file.write(content + b'\ntoken = "tk_secret_of_mine"')
    assert bridge_config.path() in on("bridge", "status").err
    done = on("bridge", "run")
    assert (done.code, bridge_config.path() in done.err) == (1, True)
    assert "tk_secret" not in done.err
    assert on("bridge", "enable").code == 1
    assert phone.requests == []


# -- draining -------------------------------------------------------------------------------------------------------------


def test_messages_become_items_once(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "buy bread", time=1_700_000_000)
    phone.add("in", "two\nlines ü")
    assert ran(on)["captured"] == 2
    assert bodies(on) == ["buy bread", "two\nlines ü"]
    first = on("inbox", "list", "--json").json[0]
    assert first["created_at"].startswith("2023-11-14T22:13:20")
    event = on("history", first["id"], "--json").json[0]
    assert (event["actor"], event.get("session") or "") == ("bridge", "")
    assert ran(on)["captured"] == 0
    assert [path.rpartition("since=")[2] for _how, path, *_ in phone.requests] == ["all", "msg00002"]
    assert phone.requests[0][2]["user-agent"] == "mait-code"
    assert phone.requests[0][1].startswith("/in/json?poll=1&")


def test_what_is_delivered_again_makes_nothing(on: Cli, phone: Ntfy, home: Path) -> None:
    phone.add("in", "once")
    ran(on)
    state = Home(str(home / "data")).in_state("bridge.json")
    with open(state, "w", encoding="utf-8") as file:
        file.write("{not json")  # a watermark that is lost costs nothing but the asking
    said = ran(on)
    assert (said["captured"], said["known"]) == (0, 1)
    os.unlink(state)
    item = on("inbox", "list", "--json").json[0]["id"]
    on("inbox", "remove", item)
    assert ran(on)["captured"] == 0
    assert bodies(on) == []  # and what was removed stays so


def test_a_topic_has_a_watermark_of_its_own(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "one")
    ran(on)
    phone.add("other", "two")
    on("bridge", "configure", "--capture-topic", "other")
    assert ran(on)["captured"] == 1
    assert phone.requests[-1][1].endswith("since=all")


def test_title_attachment_and_place_are_kept(on: Cli, phone: Ntfy) -> None:
    attachment = {"name": "receipt.jpg", "url": "https://files.example.org/x.jpg", "type": "image/jpeg"}
    phone.add("in", "You received a file: receipt.jpg", title="From the shop", attachment=attachment)
    phone.add("in", "read this", click="https://example.org/page")
    phone.add("in", "aMOpbGxvIQ==", encoding="base64")
    ran(on)
    assert bodies(on) == [
        "From the shop\nYou received a file: receipt.jpg\nreceipt.jpg: https://files.example.org/x.jpg",
        "read this\nhttps://example.org/page",
        "héllo!",
    ]


def test_empty_private_and_own_messages_are_left_out(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "  \n ")
    phone.add("in", "<private>all of it</private>")
    phone.add("in", "of ours", tags=["mait-code"])
    phone.add("in", "kept <private>not this</private>")
    said = ran(on)
    assert (said["captured"], said["left_out"]) == (1, 3)
    assert bodies(on) == ["kept"]
    assert ran(on)["left_out"] == 0  # the watermark is behind them


def test_a_secret_is_masked(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "the key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    done = on("bridge", "run")
    assert "masked" in bodies(on)[0]
    assert "masked" in done.err


def test_a_huge_message_is_cut_and_says_so(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "start " + "word " * 70_000)
    assert ran(on)["captured"] == 1
    (body,) = bodies(on)
    assert body.startswith("start word")
    assert body.endswith("\n[cut: the message had 350,005 characters]")


def test_garbage_costs_itself(on: Cli, phone: Ntfy) -> None:
    lines = [
        b"<html>a page</html>",
        b'{"id":"keep","event":"keepalive"}',
        b'{"id":"a1","time":"soon","event":"message","message":"no time"}',
        b"[1]",
        b"\xff\xfe",
        b'{"event":"message","message":"no id"}',
        b'{"id":7,"event":"message","message":"odd id"}',
        b'{"id":"a2","time":99999999999,"event":"message","message":"from the future","tags":7,"attachment":"x","title":3}',
        b'{"id":"a3","event":"message","message":["odd"]}',
        b"",
        b'{"id":"a4","message":"',
    ]
    phone.misbehave(server.raw(b"\n".join(lines)))
    said = ran(on)
    assert (said["captured"], said["malformed"], said["left_out"]) == (2, 6, 1)
    assert bodies(on) == ["no time", "from the future"]
    newest = on("inbox", "list", "--json").json[-1]["created_at"]
    assert newest[:4] == time.strftime("%Y", time.gmtime())  # a clock of the future would lift everybody's
    assert [(one["outcome"], one["error"]) for one in logged()] == [("failed", "BadInput")]
    assert "no time" not in json.dumps(logged())


def test_an_answer_without_end_is_taken_in_parts(on: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntfy, "_MOST", 5_000)
    for number in range(40):
        phone.add("in", f"{number} " + "x" * 200)
    said = ran(on)
    assert said["more"]
    assert 0 < said["captured"] < 40
    while said["more"]:
        said = ran(on)
    assert len(bodies(on)) == 40
    phone.add("in", "y" * 9_000)
    assert "more than" in ran(on, 1)["fault"]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (server.status(500, "it broke"), "answered 500: it broke"),
        (server.status(429), "answered 429"),
        (server.status(403, "forbidden"), "answered 403: forbidden"),
        (server.status(301, Location="https://elsewhere.example/"), "a redirect"),
        (server.hang_up(), "cannot be reached"),
    ],
)
def test_trouble_is_one_line_and_raises_nothing(on: Cli, phone: Ntfy, reply: Any, says: str) -> None:
    phone.add("in", "later")
    phone.misbehave(reply)
    with Workspace.open() as ws:
        counts = bridge.run_once(ws)
    assert says in counts.fault
    assert [(one["outcome"], one["error"]) for one in logged()] == [("failed", "NtfyFailed")]
    with Workspace.open() as ws:
        assert says in next(doctor_bridge.look(ws))[2]
    assert says in on("bridge", "status", "--json").json["fault"]
    phone.misbehave(reply)
    done = on("bridge", "run")
    assert (done.code, says in done.err, done.err.count("\n")) == (1, True, 2)
    assert ran(on)["captured"] == 1  # nothing was lost
    assert on("bridge", "status", "--json").json["fault"] is None


def test_nobody_there(on: Cli, phone: Ntfy) -> None:
    phone.__exit__()
    with Workspace.open() as ws:
        assert "cannot be reached" in bridge.run_once(ws).fault


def test_a_server_that_drips_is_left_in_time(on: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ntfy, "LONGEST", 0.5)
    phone.misbehave(server.drip(20))
    began = time.monotonic()
    with Workspace.open() as ws:
        assert "did not answer in time" in bridge.run_once(ws).fault
    assert time.monotonic() - began < 5


def test_the_token_is_sent_and_not_told(on: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    phone.token = TOKEN
    phone.add("in", "for me")
    due(on)
    assert "403" in ran(on, 1)["fault"]
    bridge_config.save({"token": TOKEN})
    said = ran(on)
    assert (said["captured"], said["published"]) == (1, 1)
    assert TOKEN not in json.dumps(phone.topics)  # a notification, above all its button, is read by others
    monkeypatch.setenv(bridge_config.TOKEN_VARIABLE, "wrong-token")
    done = on("bridge", "run")
    assert done.code == 1
    assert "check the token" in done.err
    assert "wrong-token" not in done.err


def test_one_run_at_a_time(on: Cli, phone: Ntfy, home: Path) -> None:
    lock = Lock(Home(str(home / "data")).in_state("bridge.lock"))
    ran(on)
    asked = len(phone.requests)
    with lock, Workspace.open() as ws:
        assert bridge.run_once(ws).state == "busy"
        assert on("bridge", "run").code == 1
    assert len(phone.requests) == asked


def test_killed_between_the_answer_and_the_journal(on: Cli, phone: Ntfy, home: Path) -> None:
    ran(on)
    phone.add("in", "survives")
    place = Home(str(home / "data"))
    with Lock(place.in_state("lock")):  # so that it waits with the messages in hand
        process = subprocess.Popen([sys.executable, "-m", "mait_code.commands.cli.main", "bridge", "run"])
        while len(phone.requests) < 2:
            time.sleep(0.01)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=30)
    assert bodies(on) == []
    assert ran(on)["captured"] == 1
    assert ran(on)["captured"] == 0
    assert bodies(on) == ["survives"]


def test_two_machines_make_one_item(machines: tuple[Machine, Machine], phone: Ntfy) -> None:
    laptop, desk = machines
    for text in ("one", "two", "three"):
        phone.add("in", text, time=int(time.time()) - 5)  # of one second, as messages sent together are
    laptop.ok("bridge", "run")
    phone.add("in", "four")
    assert desk.json("bridge", "run")["captured"] == 4
    exchange(laptop, desk)
    said = laptop.json("bridge", "run")
    assert (said["captured"], said["known"]) == (0, 1)
    exchange(laptop, desk)
    for machine in machines:
        assert [one["body"] for one in machine.json("inbox", "list")] == ["one", "two", "three", "four"]
        assert machine.json("conflicts", "list") == []


@pytest.mark.git
def test_two_machines_over_git(machines: tuple[Machine, Machine], phone: Ntfy, tmp_path: Path) -> None:
    hub = str(bare(tmp_path / "hub.git"))
    phone.add("in", "one", time=int(time.time()) - 5)
    for machine in machines:
        machine.ok("init", "--remote", hub)
        assert machine.json("bridge", "run")["captured"] == 1
    phone.add("in", "two")
    laptop, desk = machines
    assert laptop.json("bridge", "run")["captured"] == 1
    for machine in (laptop, desk, laptop):
        machine.ok("sync")
    said = desk.json("bridge", "run")
    assert (said["captured"], said["known"]) == (0, 1)
    assert laptop.digest() == desk.digest()
    for machine in machines:
        assert [one["body"] for one in machine.json("inbox", "list")] == ["one", "two"]
        assert machine.json("conflicts", "list") == []
        machine.ok("verify")
        folder = machine.folder / "data"
        assert "bridge" not in git(folder, "ls-files")  # neither the channel nor the watermark travels


def test_the_proxy_of_the_environment_is_used(on: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    bridge_config.save({"server": "http://ntfy.example.org"})
    monkeypatch.setenv("http_proxy", phone.url)
    phone.misbehave(server.raw(b'{"id":"a","event":"message","message":"through the proxy"}\n'))
    assert ran(on)["captured"] == 1
    assert phone.requests[0][1].startswith("http://ntfy.example.org/in/json?poll=1")


# -- dismissing -----------------------------------------------------------------------------------------------------------


def test_a_message_dismisses_by_short_id_and_twice_is_harmless(on: Cli, phone: Ntfy) -> None:
    made = due(on)
    phone.add("in", f"mait-ctl:dismiss:{made['short']}")
    phone.add("in", f"  MAIT-CTL:dismiss:{made['short'].upper()}\n")
    said = ran(on)
    assert (said["dismissed"], said["known"], said["captured"], said["published"]) == (1, 1, 0, 0)
    assert on("reminders", "list", "--json").json == []
    phone.add("in", f"mait-ctl:dismiss:{made['id']}")
    assert (said := ran(on))["dismissed"] == 0
    assert said["known"] == 1
    on("reminders", "restore", made["id"])
    os.unlink(Home(os.environ["MAIT_CODE_DATA_DIR"]).in_state("bridge.json"))
    assert ran(on)["known"] == 3  # delivered again, it does not undo the restoring
    assert [one["id"] for one in on("reminders", "list", "--json").json] == [made["id"]]


def test_a_press_that_arrives_after_the_restoring_changes_nothing(
    machines: tuple[Machine, Machine], phone: Ntfy
) -> None:
    laptop, desk = machines
    laptop.enter()
    made = due(laptop)
    for _ in range(2):
        phone.add("in", f"mait-ctl:dismiss:{made['id']}")
    laptop.ok("bridge", "run")
    laptop.ok("reminders", "restore", made["id"])
    exchange(laptop, desk)
    said = desk.json("bridge", "run")
    assert (said["dismissed"], said["known"]) == (0, 2)
    exchange(laptop, desk)
    assert [one["id"] for one in desk.json("reminders", "list")] == [made["id"]]


@pytest.mark.parametrize("id_", ["", "zz9zz", "a", "../x", "%", "zz9zz:2026-01-01T00:00", "12kf"])
def test_what_names_nothing_is_a_line_in_the_log(on: Cli, phone: Ntfy, id_: str) -> None:
    due(on)
    on("bridge", "configure", "--notify-topic", "")
    phone.add("in", f"mait-ctl:dismiss:{id_}")
    done = on("bridge", "run")
    assert (done.code, "no reminder here" in done.err) == (0, True)
    assert [one["error"] for one in logged()] == ["NotFound"]
    assert bodies(on) == []
    assert len(on("reminders", "list", "--json").json) == 1


def test_an_id_cannot_be_guessed_letter_by_letter(on: Cli, phone: Ntfy) -> None:
    made = due(on)
    for length in range(1, 5):
        phone.add("in", f"mait-ctl:dismiss:{made['id'][:length]}")
    assert ran(on)["unknown"] == 4


def test_another_control_word_is_a_thought(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "mait-ctl:sing")
    assert ran(on)["captured"] == 1


def test_a_deleted_reminder_is_left_alone(on: Cli, phone: Ntfy) -> None:
    made = due(on)
    on("reminders", "remove", made["id"])
    phone.add("in", f"mait-ctl:dismiss:{made['id']}")
    assert ran(on)["unknown"] == 1


def test_two_presses_do_not_take_the_next_occurrence(on: Cli, phone: Ntfy) -> None:
    made = on("reminders", "set", "every day 00:00", "stretch", "--json").json
    phone.add("in", f"mait-ctl:dismiss:{made['short']}")
    assert ran(on)["dismissed"] == 0  # its first has not come
    stands = on("reminders", "show", made["id"], "--json").json["occurrence"]
    phone.add("in", f"mait-ctl:dismiss:{made['id']}:{stands}")
    phone.add("in", f"mait-ctl:dismiss:{made['id']}:{stands}")
    said = ran(on)
    assert (said["dismissed"], said["known"]) == (1, 1)
    phone.add("in", f"mait-ctl:dismiss:{made['id']}:{stands}")
    phone.add("in", f"mait-ctl:dismiss:{made['id']}:2001-01-01T00:00")
    assert ran(on)["dismissed"] == 0
    assert on("reminders", "show", made["id"], "--json").json["occurrence"] > stands


# -- publishing -----------------------------------------------------------------------------------------------------------


def test_due_reminders_are_published_once_with_a_button_that_works(on: Cli, phone: Ntfy) -> None:
    made = due(on, "überweisen: 12 €")
    later = on("reminders", "set", "tomorrow 9am", "not yet", "--json").json
    assert ran(on)["published"] == 1
    (message,) = phone.topics["out"]
    assert message["message"].startswith("überweisen: 12 €\n")
    assert message["title"] == "Reminder"
    (action,) = message["actions"]
    assert action["label"] == "Done"
    assert action["url"] == f"{phone.url}/in"
    assert action["body"].startswith(f"mait-ctl:dismiss:{made['id']}")
    assert ran(on)["published"] == 0
    (event,) = notified(on)
    assert event["actor"] == "bridge"
    phone.press(action)
    phone.press(action)
    said = ran(on)
    assert (said["dismissed"], said["known"], said["captured"]) == (1, 1, 0)
    assert [one["id"] for one in on("reminders", "list", "--json").json] == [later["id"]]


def test_what_was_put_off_is_told_again(on: Cli, phone: Ntfy) -> None:
    made = due(on)
    ran(on)
    put_off(made, moment(3600))
    assert ran(on)["published"] == 0
    until = moment(1)
    put_off(made, until)
    # By the wall clock, which a busy or a paused machine moves otherwise than a sleep does.
    while time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) <= until["due"]:
        time.sleep(0.1)
    assert ran(on)["published"] == 1
    assert ran(on)["published"] == 0
    assert len(phone.topics["out"]) == 2


def put_off(made: Any, until: dict[str, str]) -> None:
    """Snooze until a second that need not be a whole minute ahead."""
    with Workspace.open() as ws, ws.journal.writing(ws.store("reminders")) as writer:
        writer.append("reminder.snoozed", f"reminder/{made['id']}", occurrence=made["occurrence"], until=until)


def test_without_a_notify_topic_nothing_is_published(on: Cli, phone: Ntfy) -> None:
    due(on)
    on("bridge", "configure", "--notify-topic", "")
    assert ran(on)["published"] == 0
    assert [how for how, *_ in phone.requests] == ["GET"]


def test_one_topic_for_both_ways(on: Cli, phone: Ntfy) -> None:
    due(on)
    on("bridge", "configure", "--notify-topic", "in")
    assert ran(on)["published"] == 1
    said = ran(on)
    assert (said["captured"], said["left_out"]) == (0, 1)


def test_a_long_reminder_fits_into_a_message(on: Cli, phone: Ntfy) -> None:
    due(on, "ä" * 5000)
    ran(on)
    body = phone.requests[-1][3]
    assert len(body) <= 4096
    assert body.decode().endswith("…")


def test_what_the_server_turns_down_is_published_later(on: Cli, phone: Ntfy) -> None:
    due(on)
    phone.misbehave(server.raw(b""), server.status(503))
    assert "503" in ran(on, 1)["fault"]
    assert notified(on) == []
    assert ran(on)["published"] == 1


def test_many_at_once_are_spread_over_runs(on: Cli, phone: Ntfy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "MOST_PUBLISHED", 2)
    for number in range(3):
        due(on, f"thing {number}")
    said = ran(on)
    assert (said["published"], said["waiting"]) == (2, 1)
    said = ran(on)
    assert (said["published"], said["waiting"]) == (1, 0)
    assert len({one["message"] for one in phone.topics["out"]}) == 3


def test_two_machines_publish_once_after_a_sync(machines: tuple[Machine, Machine], phone: Ntfy) -> None:
    laptop, desk = machines
    laptop.enter()
    made = due(laptop, "water the plants")
    exchange(laptop, desk)
    assert laptop.json("bridge", "run")["published"] == 1
    exchange(laptop, desk)
    assert desk.json("bridge", "run")["published"] == 0
    assert len(phone.topics["out"]) == 1
    phone.press(phone.topics["out"][0]["actions"][0])
    assert laptop.json("bridge", "run")["dismissed"] == 1
    assert desk.json("bridge", "run")["dismissed"] == 1  # it had not heard of it yet
    exchange(laptop, desk)
    for machine in machines:
        assert machine.json("reminders", "list") == []
        assert machine.json("reminders", "show", made["id"])["dismissed"]
        assert machine.json("conflicts", "list") == []


def test_two_machines_that_both_published_say_so_once(machines: tuple[Machine, Machine], phone: Ntfy) -> None:
    laptop, desk = machines
    laptop.enter()
    due(laptop, "water the plants")
    exchange(laptop, desk)
    assert [one.json("bridge", "run")["published"] for one in machines] == [1, 1]
    exchange(laptop, desk)
    assert len(phone.topics["out"]) == 2
    told = [[one["event"] for one in notified(machine)] for machine in machines]
    assert told[0] == told[1]
    assert len(told[0]) == 1


# -- trying it out --------------------------------------------------------------------------------------------------------


def test_test_sends_one_message_and_takes_nothing_in(on: Cli, phone: Ntfy) -> None:
    phone.add("in", "waits")
    done = on("bridge", "test")
    assert done.code == 0, done.err
    assert done.out == "out took a test message as msg00002.\nin can be read; it holds 1 message.\n"
    assert bodies(on) == []
    on("bridge", "configure", "--notify-topic", "")
    said = on("bridge", "test", "--json").json
    assert (said["topic"], said["came_back"], said["held"]) == ("in", True, 1)
    assert ran(on)["captured"] == 1  # the thought, and not the test


def test_test_says_what_is_wrong(on: Cli, phone: Ntfy) -> None:
    phone.token = TOKEN
    done = on("bridge", "test")
    assert (done.code, "403" in done.err, "check the token" in done.err) == (1, True, True)


def test_a_token_over_http_is_told(on: Cli) -> None:
    bridge_config.save({"server": "http://ntfy.example.org", "token": TOKEN})
    assert "read the token" in on("bridge", "status").err
    with Workspace.open() as ws:
        assert "readable on the way" in next(doctor_bridge.look(ws))[2]
