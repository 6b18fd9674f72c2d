"""What becomes of the messages of a topic: an item of the inbox, a reminder dismissed, or nothing."""

from __future__ import annotations

import re

from mait_code.commands import stored_text
from mait_code.journal import clock
from mait_code.journal.errors import Ambiguous, BadInput, NotFound
from mait_code.journal.ids import derived_entity, derived_event_id
from mait_code.journal.secrets import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.commands.bridge_config import Channel
    from mait_code.commands.ntfy import Message
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.journal import Journal
    from mait_code.journal.writing import Writer
    from mait_code.projections.reminder_queries import Reminder
    from mait_code.projections.store import Store

__all__ = ["Counts", "dismissal", "take"]

_DISMISS = "mait-ctl:dismiss:"
#: The id, of at least five characters: whoever may publish must know it, not guess it. Then the occurrence.
_NAMED = re.compile(r"(?:reminder/)?([0-9a-z]{5,12})(?:[:@](\S{10,26}))?", re.IGNORECASE)


class Counts:
    """What one run did. `state` is done, failed, off, incomplete or busy; `fault` is what went wrong, in
    words, the rest is done all the same."""

    __slots__ = (
        "captured", "dismissed", "fault", "hint", "known", "left_out", "malformed", "more", "published", "state",
        "unknown", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.state = "done"
        self.fault = ""
        self.hint = ""
        self.captured = 0
        self.dismissed = 0
        #: Messages that were here before; and dismissals of what is dismissed already.
        self.known = 0
        #: Messages without anything to store: empty, all private, or our own.
        self.left_out = 0
        #: Dismissals that name no reminder.
        self.unknown = 0
        self.malformed = 0
        self.published = 0
        #: Reminders that are due and have to wait for the next run.
        self.waiting = 0
        #: Whether the server has more messages than one answer brings.
        self.more = False

    def json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "hint"} | {"fault": self.fault or None}


def dismissal(id_: str, occurrence: str) -> str:
    """The text that dismisses one occurrence of a reminder. It names it, because a button may be pressed days later."""
    return f"{_DISMISS}{id_}:{occurrence}"


def take(ws: Workspace, journal: Journal, channel: Channel, messages: Sequence[Message], counts: Counts) -> None:
    """Take messages in, as one action. On the disk when it returns."""
    intake = _Intake(ws, channel, counts)
    with journal.writing(intake.inbox, intake.reminders) as writer:
        for message in messages:
            intake.take(writer, message)


class _Intake:
    """One action: what is decided is decided under the append lock."""

    def __init__(self, ws: Workspace, channel: Channel, counts: Counts) -> None:
        self.inbox, self.reminders = ws.store("inbox"), ws.store("reminders")
        self._counts = counts
        self._origin = f"ntfy\0{channel.place}\0{channel.capture_topic}\0"
        self._said: set[str] = set()
        self._number = -1
        self._closed: set[tuple[str, str]] = set()

    def take(self, writer: Writer, message: Message) -> None:
        self._number += 1
        if message.own:
            self._counts.left_out += 1
        elif message.body.strip().lower().startswith(_DISMISS):
            self._dismiss(writer, message)
        else:
            self._capture(writer, message)

    def _wall(self, message: Message) -> int:
        """The message's own time in microseconds. Servers tell seconds, so messages of one second are put in their order.

        A time of the future would lift the clock of every machine that hears of it.
        """
        now = clock.wall()
        return min(int(message.time * clock.SECOND) + self._number, now) if message.time else now

    def _is_known(self, store: Store, id_: str) -> bool:
        if id_ in self._said or store.value("SELECT 1 FROM events WHERE id = ?", (id_,)):
            self._counts.known += 1
            return True
        self._said.add(id_)
        return False

    def _capture(self, writer: Writer, message: Message) -> None:
        origin = self._origin + message.id
        id_ = derived_event_id("inbox.captured", origin)
        if self._is_known(self.inbox, id_):
            return
        try:
            body = _fitted(message.text)
            writer.append(
                "inbox.captured", derived_entity("inbox", origin), id=id_, wall=self._wall(message), body=body
            )
        except BadInput:
            self._counts.left_out += 1  # nothing is left of it once what is private is out
        else:
            self._counts.captured += 1

    def _dismiss(self, writer: Writer, message: Message) -> None:
        id_ = derived_event_id("reminder.dismissed", self._origin + message.id)
        if self._is_known(self.reminders, id_):
            return
        named = _NAMED.fullmatch(message.body.strip()[len(_DISMISS) :].strip())
        found = self._find(named[1], self._wall(message)) if named else None
        if named is None or found is None:
            self._counts.unknown += 1
            return
        occurrence = _occurrence(found, named[2] or "")
        if not occurrence:
            self._counts.known += 1
            return
        is_open = found.occurrence is not None and occurrence > found.closed
        if is_open and (found.entity, occurrence) not in self._closed:
            self._counts.dismissed += 1
        else:
            self._counts.known += 1
        # Written where it is dismissed already, too: otherwise this message, delivered to another machine once somebody
        # has restored the reminder, would dismiss it anew.
        self._closed.add((found.entity, occurrence))
        writer.append("reminder.dismissed", found.entity, id=id_, wall=self._wall(message), occurrence=occurrence)

    def _find(self, text: str, wall: int) -> Reminder | None:
        """The living reminder of that id, as it stood when the message was written."""
        from datetime import timedelta

        from mait_code.projections import ids, reminder_queries
        from mait_code.projections.zones import EPOCH

        try:
            entity = ids.resolve(self.reminders, text)
        except (NotFound, Ambiguous):
            return None
        return reminder_queries.one(self.reminders, entity, EPOCH + timedelta(microseconds=wall))


def _occurrence(found: Reminder, named: str) -> str:
    """The occurrence that a message dismisses; empty where that is none of the reminder's any more.

    Where it names none, that is the present one. Of a recurring reminder it must have come, or the second press of a
    button would take the next one away.
    """
    from mait_code.projections import recurrence
    from mait_code.projections.reminder_queries import OVERDUE

    if not named:
        if found.rule is None:
            return str(found.due_local)
        return (found.occurrence or "") if found.status == OVERDUE or found.until is not None else ""
    named = named.upper()  # a keyboard's lower-case t
    if found.rule is None:
        return named if named == found.due_local else ""
    try:
        return named if recurrence.latest(found.due_local, found.rule, named) == named else ""
    except BadInput:
        return ""


def _fitted(text: str) -> str:
    """The text as it is stored; where one line of the log cannot hold it, its end says so."""
    whole = stored_text.required(text.replace("\r\n", "\n"), "the message")
    texts, _notes = stored_text.fitted({"message": whole})
    kept = str(texts["message"])
    if len(kept) < len(public(whole)):
        return f"{kept}\n[cut: the message had {len(whole):,} characters]"
    return kept
