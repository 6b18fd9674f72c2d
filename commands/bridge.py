"""The bridge: what was published to a topic comes into the inbox, and what is due is published to another.

While the setting `bridge` is disabled nothing here opens a connection. A message is known by server, topic and its id,
so that machines which drain the same topic make one item of it, and one that comes twice makes none.
"""

from __future__ import annotations

import time

import orjson

from mait_code.commands import bridge_config, bridge_intake, ntfy
from mait_code.commands.ntfy import NtfyFailed
from mait_code.journal import segments
from mait_code.journal.errors import Refused
from mait_code.journal.home import write_atomically
from mait_code.journal.journal import Journal
from mait_code.journal.lock import Lock
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mait_code.commands.bridge_config import Channel
    from mait_code.commands.bridge_intake import Counts
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.home import Home
    from mait_code.projections.reminder_queries import Reminder
    from mait_code.projections.store import Store

__all__ = ["Standing", "Trial", "disable", "enable", "run_once", "standing", "try_out"]

#: Seconds that a whole run may take before it begins no further request.
LONGEST_RUN = 60.0
#: Reminders published in one run: a phone that was told of nothing for a year is not told of all of it at once.
MOST_PUBLISHED = 20
#: Messages that become one action of the journal.
_BATCH = 100
_STATE = "bridge.json"
_LOCK = "bridge.lock"


def run_once(ws: Workspace) -> Counts:
    """Drain and publish once, within LONGEST_RUN and one request more. `state` says why nothing was done.

    Trouble with the network raises nothing: it is in `fault`, in the log of invocations, and in `standing`.
    """
    counts = bridge_intake.Counts()
    if not bridge_config.is_on():
        counts.state = "off"
        return counts
    channel = bridge_config.read()
    if channel.fault:
        counts.state, counts.fault = "incomplete", channel.fault
        _log(time.monotonic(), "Refused")
        return counts
    ws.home.make()
    lock = Lock(ws.home.in_state(_LOCK))
    if not lock.acquire(0):
        counts.state = "busy"
        return counts
    try:
        lock.name_holder()
        _run(ws, channel, counts)
    finally:
        lock.release()
    return counts


def _run(ws: Workspace, channel: Channel, counts: Counts) -> None:
    began = time.monotonic()

    def left() -> float:
        return min(ntfy.LONGEST, LONGEST_RUN - (time.monotonic() - began))

    journal = Journal(ws.home, "bridge")
    try:
        _exchange(ws, journal, channel, counts, left)
    finally:
        ws.journal.masked += journal.masked
    counts.state = "failed" if counts.fault else "done"
    _remember(ws.home, {"ran": _now_text(), "fault": counts.fault})
    if counts.fault or counts.malformed or counts.unknown:
        _log(began, "NtfyFailed" if counts.fault else "BadInput" if counts.malformed else "NotFound")


def _exchange(ws: Workspace, journal: Journal, channel: Channel, counts: Counts, left: Callable[[], float]) -> None:
    try:
        _drain(ws, journal, channel, counts, left)
    except NtfyFailed as error:
        counts.fault, counts.hint = error.message, error.hint
        if not error.reached:
            return  # it would not take anything either
    try:
        _publish(ws, journal, channel, counts, left)
    except NtfyFailed as error:
        counts.fault, counts.hint = counts.fault or error.message, counts.hint or error.hint


def _log(began: float, error_type: str) -> None:
    from mait_code.commands import invocations

    invocations.record("bridge", time.monotonic() - began, "failed", 1, error_type)


# -- draining -----------------------------------------------------------------------------------------------------------


def _drain(ws: Workspace, journal: Journal, channel: Channel, counts: Counts, left: Callable[[], float]) -> None:
    mark = _mark_of(channel)
    polled = ntfy.poll(channel, channel.capture_topic, _state(ws.home)["marks"].get(mark, ""), left())
    counts.malformed, counts.more = polled.malformed, polled.more
    for start in range(0, len(polled.messages), _BATCH):
        batch = polled.messages[start : start + _BATCH]
        bridge_intake.take(ws, journal, channel, batch, counts)
        # Only now, when they are on the disk: who is killed before this gets them again, and knows them.
        _remember(ws.home, {}, {mark: batch[-1].id})
    if counts.captured:
        ws.refreshed("inbox")
    if counts.dismissed:
        ws.refreshed("reminders")


def _mark_of(channel: Channel) -> str:
    return hex_prefix(f"{channel.place}\0{channel.capture_topic}".encode())


def _state(home: Home) -> dict[str, Any]:
    """What this machine remembers of the bridge: how far each topic was read, when it ran last, what went wrong then."""
    held: Any = None
    try:
        held = orjson.loads(segments.read(home.in_state(_STATE)) or b"{}")
    except (OSError, orjson.JSONDecodeError):
        pass  # everything is asked for again, and known
    held = held if isinstance(held, dict) else {}
    marks = held.get("marks")
    marks = {key: one for key, one in marks.items() if isinstance(one, str)} if isinstance(marks, dict) else {}
    return {
        "marks": marks,
        **{name: one if isinstance(one := held.get(name), str) else "" for name in ("ran", "fault")},
    }


def _remember(home: Home, said: dict[str, str], marks: dict[str, str] | None = None) -> None:
    state = _state(home)
    state["marks"].update(marks or {})
    write_atomically(home.in_state(_STATE), orjson.dumps({**state, **said}), durable=False)


def _now_text() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


# -- publishing ---------------------------------------------------------------------------------------------------------


def _publish(ws: Workspace, journal: Journal, channel: Channel, counts: Counts, left: Callable[[], float]) -> None:
    """Tell of what is due, once for each occurrence, and again where it was put off meanwhile."""
    from datetime import UTC, datetime

    from mait_code.projections import reminder_queries

    if not channel.notify_topic:
        return
    now = datetime.now(UTC)
    store = ws.refreshed("reminders")
    due = [one for one in reminder_queries.overdue(store, now) if not _is_told(store, one)]
    for number, one in enumerate(due):
        if number >= MOST_PUBLISHED or left() <= 0:
            counts.waiting = len(due) - number
            break
        ntfy.publish(
            channel,
            channel.notify_topic,
            f"{one.what}\n{one.shown(now)}",
            title="Reminder",
            actions=[_done_button(channel, one)],
            left=left(),
        )
        counts.published += 1
        with journal.writing(store) as writer:
            if not _is_told(store, one):
                writer.append("reminder.notified", one.entity, id=_told_id(one), occurrence=one.occurrence)
    if counts.published:
        ws.refreshed("reminders")


def _told_id(one: Reminder) -> str:
    """The same on every machine, so that two which told of it say so once."""
    from mait_code.journal.ids import derived_event_id

    return derived_event_id("reminder.notified", f"{one.entity}\0{one.occurrence}\0{one.due:%Y-%m-%dT%H:%M:%SZ}")


def _is_told(store: Store, one: Reminder) -> bool:
    if store.value("SELECT 1 FROM events WHERE id = ?", (_told_id(one),)):
        return True
    # Told by what was imported, under an id of its own; but what was put off since is told again.
    state = store.state(one.entity) or {}
    told = state.get("x", {}).get("notified", {}).get(one.occurrence, "")
    return bool(told) and (not one.until or told[:19] >= f"{one.due:%Y-%m-%dT%H:%M:%S}")


def _done_button(channel: Channel, one: Reminder) -> dict[str, Any]:
    """Carries no token: a notification is read by whoever reads the topic, and by the servers it goes through."""
    return {
        "action": "http",
        "label": "Done",
        "url": f"{channel.server}/{channel.capture_topic}",
        "method": "POST",
        "body": bridge_intake.dismissal(one.id, one.occurrence or ""),
        "clear": True,
    }


# -- turning it on, trying it out, how it stands --------------------------------------------------------------------------


def enable() -> list[str]:
    """Turn the bridge on. Raises Refused where a required field is blank. Returns notes for whoever asked."""
    from mait_code.commands import settings

    channel = bridge_config.read()
    channel.require()
    notes = settings.change("bridge", "enabled").notes
    return notes + cautions(channel)


def disable() -> list[str]:
    """Turn the bridge off; the channel stays as it is. Returns notes for whoever asked."""
    from mait_code.commands import settings

    return settings.change("bridge", "disabled").notes


def cautions(channel: Channel) -> list[str]:
    """What whoever uses this channel should know."""
    said = []
    if channel.travels_open:
        said.append("the server's address is http: whoever is on the way can read the token and the messages")
    if channel.server and not channel.notify_topic:
        said.append("there is no notify topic, so no reminder is published")
    return said


class Trial:
    """What came of a test message: the topic it went to and its id there; how many messages the capture topic holds."""

    __slots__ = ("came_back", "held", "id", "malformed", "topic")

    def __init__(self) -> None:
        self.topic = ""
        self.id = ""
        self.held = 0
        self.malformed = 0
        #: None where the message went to a topic that is not read.
        self.came_back: bool | None = None


def try_out(channel: Channel) -> Trial:
    """Publish one message, and read the capture topic without taking anything in. Raises Refused or NtfyFailed.

    Whoever calls it was asked to use the network, so it does not look at the setting.
    """
    channel.require()
    trial = Trial()
    trial.topic = channel.notify_topic or channel.capture_topic
    trial.id = ntfy.publish(channel, trial.topic, "mait-code reaches this topic.", title="Test")
    polled = ntfy.poll(channel, channel.capture_topic)
    trial.held, trial.malformed = sum(not one.own for one in polled.messages), polled.malformed
    if trial.topic == channel.capture_topic:
        trial.came_back = any(one.id == trial.id for one in polled.messages)
    return trial


class Standing:
    """How the bridge stands on this machine, without asking anybody."""

    __slots__ = ("channel", "fault", "on", "private", "ran")

    def __init__(self, home: Home) -> None:
        self.on = bridge_config.is_on()
        self.channel = bridge_config.read()
        self.private = bridge_config.is_private()
        state = _state(home)
        #: When it ran last (UTC), and what went wrong then; empty where it has not, or nothing has.
        self.ran: str = state["ran"]
        self.fault: str = state["fault"]

    def json(self) -> dict[str, Any]:
        """As `--json` prints it: of the token no more than its end."""
        from mait_code.commands.settings import masked
        from mait_code.journal import settings

        channel = self.channel
        return {
            "bridge": settings.value("bridge"),
            "type": settings.value("bridge-type"),
            "server": channel.server or None,
            "capture_topic": channel.capture_topic or None,
            "notify_topic": channel.notify_topic or None,
            "token": masked("TOKEN", channel.token) if channel.token else None,
            "token_source": channel.token_source or None,
            "config_path": bridge_config.path(),
            "problem": channel.fault or None,
            "ran_at": self.ran or None,
            "fault": self.fault or None,
        }


def standing(ws: Workspace) -> Standing:
    """How the bridge stands: for status, doctor and the screen."""
    return Standing(ws.home)


def require_on() -> None:
    """Raise Refused while the bridge is off: then nothing goes over the network, whoever asks."""
    if not bridge_config.is_on():
        raise Refused("the bridge is disabled", "mait-code bridge enable turns it on")
