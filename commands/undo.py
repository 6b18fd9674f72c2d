"""Undo: the inverse of an action, written as an action of its own.

Mine are the actions of this machine by me or claude. Which one comes next is read from the log: undos, and actions
whose undo stands, are passed over, so that undoing twice is undoing two.
"""

from __future__ import annotations

import re
from itertools import islice

from mait_code.commands import lookup
from mait_code.commands.undo_plan import Plan
from mait_code.journal import replica
from mait_code.journal.errors import Ambiguous, BadInput, NotFound, Refused
from mait_code.journal.event import Event, Future
from mait_code.projections.stores import HOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.log import Log

MINE = ("me", "claude")
#: Digits of an action's id that are shown; any unique beginning is understood.
SHOWN = 8

_BEGINNING = re.compile(r"[0-9a-f]{1,20}")


class Thing:
    """A thing that an action touched, as people call it."""

    __slots__ = ("entity", "short", "title")

    def __init__(self, entity: str, short: str, title: str) -> None:
        self.entity = entity
        self.short = short
        self.title = title

    @property
    def words(self) -> str:
        """ "card 12kf Fix the login"."""
        return f"{self.entity.partition('/')[0]} {self.short} {self.title}".rstrip()

    def json(self) -> dict[str, Any]:
        kind, _, id_ = self.entity.partition("/")
        return {"kind": kind, "id": id_, "short": self.short, "title": self.title}


class Undone:
    """What one undo did: the action taken back, and the events written for it. `notes` are for stderr."""

    __slots__ = ("action", "events", "notes", "things", "tx")

    def __init__(
        self, tx: str, action: list[Event], events: list[Event], things: list[Thing], notes: list[str]
    ) -> None:
        self.tx = tx
        self.action = action
        self.events = events
        self.things = things
        self.notes = notes

    @property
    def kinds(self) -> list[str]:
        """The kinds of the events taken back, each once."""
        return list(dict.fromkeys(event.kind for event in self.action))

    def json(self) -> dict[str, Any]:
        """The undo as `--json` prints it."""
        return {
            "tx": self.tx,
            "kinds": self.kinds,
            "things": [thing.json() for thing in self.things],
            "undo": self.events[0].tx,
            "events": [event.id for event in self.events],
        }


def undo(ws: Workspace, count: int = 1) -> Iterator[Undone]:
    """Take back this machine's last `count` actions by me or claude, newest first, each as it is asked for.

    Raises Refused where something later depends on one of them; those before it stay taken back. Raises NotFound where
    there are none, and Refused, before anything is done, where there are fewer: so large a number is a slip, or the
    beginning of an id.
    """
    left = list(islice(_left(ws), count))
    if not left:
        raise NotFound("nothing of yours is left to take back on this machine", "mait-code log shows every action")
    if len(left) < count:
        raise Refused(
            f"only {len(left)} of your actions can be taken back, not {count}",
            f"mait-code undo {len(left)} takes them all back; an action's id needs more of its digits",
        )
    for tx in left:
        yield undo_action(ws, tx)


def undo_named(ws: Workspace, text: str) -> Undone:
    """Take back the action that `text` names: its id, that of one of its events, or a beginning of it. An undo too, and
    that of another machine. Raises NotFound, Ambiguous, Refused."""
    asked = text.strip().lower()
    if not _BEGINNING.fullmatch(asked):
        raise BadInput(
            f"{text!r} is neither a number nor an action's id", "mait-code log shows the ids, 8 digits of them"
        )
    log = ws.log
    within = (asked, asked + "g")
    rows = log.query(
        "SELECT tx FROM lines WHERE tx >= ? AND tx < ? UNION SELECT tx FROM lines WHERE id >= ? AND id < ? LIMIT 20",
        (*within, *within),
    )
    if not rows:
        raise NotFound(f"no action {text!r} here", "mait-code log shows the actions' ids")
    if len(rows) > 1:
        raise Ambiguous(f"{text!r} names several actions", [tx for (tx,) in rows], "give more of its letters")
    tx = rows[0][0]
    standing = _standing_undo(log, tx)
    if standing:
        raise Refused(
            f"action {tx[:SHOWN]} is taken back already",
            f"mait-code undo {standing[:SHOWN]} takes that undo back again",
        )
    return undo_action(ws, tx)


def _left(ws: Workspace) -> Iterator[str]:
    """My actions that no undo stands for, newest first."""
    identity = replica.load(ws.home)
    if identity is None:
        return
    rows = ws.log.query(
        "SELECT tx FROM lines WHERE replica = ? AND actor IN (?, ?) AND undoes IS NULL ORDER BY seq DESC",
        (identity.replica, *MINE),
    )
    seen: set[str] = set()
    for (tx,) in rows:
        if tx not in seen:
            seen.add(tx)
            if not _standing_undo(ws.log, tx) and _changed_something(ws, tx):
                yield str(tx)


def _changed_something(ws: Workspace, tx: str) -> bool:
    """Whether there is anything to take back: that somebody was told of a reminder, say, changes nothing."""
    return any(
        isinstance(event, Future)
        or event.declared.writes(event.id, event.data)
        or ws.holder_of(event.entity).part(event.entity).unsaid(event)
        for event in ws.log.action(tx)
    )


def _standing_undo(log: Log, tx: str, above: tuple[str, ...] = ()) -> str:
    """The undo of an action that stands, that is: was not taken back itself; empty where none does."""
    for (one,) in log.query("SELECT DISTINCT tx FROM lines WHERE undoes = ? ORDER BY at DESC", (tx,)):
        if one not in above and not _standing_undo(log, one, (*above, one)):
            return str(one)
    return ""


def undo_action(ws: Workspace, tx: str) -> Undone:
    """Write the inverse of one action. Raises Refused with the reason where that cannot be."""
    action = ws.log.action(tx)
    for event in action:
        if isinstance(event, Future):
            raise Refused(f"{event.kind} was written by a newer version", "update mait-code here to take it back")
    names = sorted({HOLDS[event.entity.partition("/")[0]] for event in action})
    with ws.journal.writing(*(ws.store(name) for name in names)) as writer:
        writer.undoes = tx
        writer.verbatim = True
        plan = Plan(ws, action)
        for event in reversed(action):
            plan.take_back(event)
        if not plan.inverses:
            raise Refused(f"action {tx[:SHOWN]} changed nothing that could be taken back", "mait-code log shows it")
        for kind, entity, data, sees in plan.inverses:
            writer.append(kind, entity, sees=sees, **data)
    for name in {*names, "journal"}:
        ws.refreshed(name)
    entities = list(dict.fromkeys(event.entity for event in action))
    return Undone(tx, action, writer.events, [_thing(ws, entity) for entity in entities], _notes(ws, entities))


def _thing(ws: Workspace, entity: str) -> Thing:
    store = ws.holder_of(entity)
    state = store.state(entity)
    return Thing(entity, lookup.short(store, entity, state), lookup.title(state))


def _notes(ws: Workspace, entities: list[str]) -> list[str]:
    """What is still open about the things after the undo: it closes no conflict that nobody picked."""
    notes = []
    for entity in entities:
        fields = [lookup.field_words(name) for name in ws.holder_of(entity).conflicts_of(entity.partition("/")[2])]
        if fields:
            short = _thing(ws, entity).short
            notes.append(f"{short} is in conflict over {', '.join(fields)}: mait-code conflicts show {short}")
    return notes
