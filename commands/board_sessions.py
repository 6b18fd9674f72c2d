"""Which session works on which card, as this machine knows it.

The session's id is in the event (`card.bound`) and travels. The process id means something on one machine only, so it
stays in the state directory: one small file per card that a session here has bound. From these files a session also
learns that its claim was lost.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.workspace import SESSION_VARIABLE
from mait_code.journal.errors import BadInput, Refused
from mait_code.journal.home import PRIVATE_DIRECTORY, PRIVATE_FILE
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.board_queries import Card

__all__ = ["PID_VARIABLE", "Session", "binding", "current", "lost_claims", "mine", "named", "pid_of_client"]

#: The client's process; together with the session's id it says who is asking.
PID_VARIABLE = "CLAUDE_PID"
_DIRECTORY = "bindings"
_HINT = "run it inside a Claude Code session, or name one with --session ID --pid N"


class Session:
    """A session of the client: its id, and its process where that is known (else 0)."""

    __slots__ = ("id", "pid")

    def __init__(self, id_: str, pid: int = 0) -> None:
        self.id = id_
        self.pid = pid


def current(ws: Workspace) -> Session | None:
    """The session this command runs in."""
    return Session(ws.session, pid_of_client()) if ws.session else None


def named(ws: Workspace, session: str | None, pid: int | None) -> Session | None:
    """The session that `--session` and `--pid` name, else the one this command runs in. BadInput on one alone."""
    if session is None and pid is None:
        return current(ws)
    if session is None or pid is None:
        raise BadInput("--session and --pid go together", "give both, or neither inside a session")
    if not session.strip() or pid < 1:
        raise BadInput("--session takes a session's id and --pid a process number from 1")
    return Session(session.strip()[:200], pid)


def required(ws: Workspace, session: str | None, pid: int | None) -> Session:
    """The same where there has to be one, wholly known. Raises Refused."""
    found = named(ws, session, pid)
    if found is None:
        raise Refused(f"no session: {SESSION_VARIABLE} is not set", _HINT)
    if not found.pid:
        raise Refused(f"no session: {PID_VARIABLE} is not set", _HINT)
    return found


def pid_of_client() -> int:
    """The process of the client that started this command; 0 where it does not say."""
    text = os.environ.get(PID_VARIABLE, "")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 12 else 0


# -- the files --------------------------------------------------------------------------------------------------------


def record(ws: Workspace, card_id: str, session: Session) -> None:
    """Note that a session of this machine has bound a card. Call under the append lock, after the event.

    A state directory that cannot be written costs the process id, nothing else.
    """
    directory = ws.home.in_state(_DIRECTORY)
    content = {"session": session.id, "pid": session.pid, "started": _started(session.pid)}
    try:
        if not os.path.isdir(directory):
            os.mkdir(directory, PRIVATE_DIRECTORY)
        _forget_ended(directory, card_id)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        handle = os.open(os.path.join(directory, _file(card_id, session.id)), flags, PRIVATE_FILE)
        try:
            os.write(handle, orjson.dumps(content))
        finally:
            os.close(handle)
    except OSError:
        forget(ws, card_id, session.id)


def forget(ws: Workspace, card_id: str, session_id: str | None) -> None:
    """A session has released the card, or has been told that it lost it."""
    if session_id is None:
        return
    try:
        os.unlink(os.path.join(ws.home.in_state(_DIRECTORY), _file(card_id, session_id)))
    except OSError:
        return


def _file(card_id: str, session_id: str) -> str:
    """Card and session: one that lost its claim keeps its file until it has been told."""
    return f"{card_id}.{hex_prefix(os.fsencode(session_id))}"


def _forget_ended(directory: str, card_id: str) -> None:
    """Nobody can tell a session that has ended: what it held of a card is forgotten when the card is bound anew."""
    for name in os.listdir(directory):
        if name.startswith(card_id + "."):
            content = _read(os.path.join(directory, name))
            if content is None or _running(content) is False:
                os.unlink(os.path.join(directory, name))


def _recorded(ws: Workspace, card_id: str, session_id: str) -> dict[str, Any] | None:
    content = _read(os.path.join(ws.home.in_state(_DIRECTORY), _file(card_id, session_id)))
    return content if content is not None and content["session"] == session_id else None


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            content = orjson.loads(file.read(4096))
    except (OSError, orjson.JSONDecodeError):
        return None
    sound = type(content) is dict and type(content.get("session")) is str and type(content.get("pid")) is int
    return content if sound else None


def _started(pid: int) -> str:
    """When a process began, which tells it from a later one of the same number. Empty where there is no /proc."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def _running(content: dict[str, Any]) -> bool | None:
    """Whether the process that bound a card still runs; None where its number is not known."""
    pid, started = content["pid"], content.get("started")
    if pid < 1:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    except OverflowError:
        return False
    return not started or _started(pid) == started


# -- questions --------------------------------------------------------------------------------------------------------


def binding(ws: Workspace, card: Card) -> dict[str, Any] | None:
    """Who holds a card: session, replica, and its process and whether that runs, where this machine knows."""
    if card.bound_session is None:
        return None
    content = _recorded(ws, card.id, card.bound_session)
    return {
        "session": card.bound_session,
        "replica": card.bound_replica,
        "pid": None if content is None else content["pid"] or None,
        "running": None if content is None else _running(content),
        "mine": card.bound_session == ws.session,
    }


def mine(ws: Workspace, card: Card, session: Session) -> bool:
    """Whether a session holds a card.

    One that was resumed has its old id and another process: it still holds what it held, unless the old process runs on
    beside it.
    """
    held = binding(ws, card)
    if held is None or held["session"] != session.id:
        return False
    return held["pid"] in (None, session.pid) or not held["running"]


def lost_claims(ws: Workspace) -> list[str]:
    """What this session has to be told: cards it had bound that another holds now. Each is told once.

    Costs one look at a directory where no session of this machine holds anything.
    """
    if not ws.session:
        return []
    try:
        names = os.listdir(ws.home.in_state(_DIRECTORY))
    except OSError:
        return []
    ours = _file("", ws.session)
    return [told for name in sorted(names) if name.endswith(ours) for told in _lost(ws, name.removesuffix(ours))]


def _lost(ws: Workspace, card_id: str) -> list[str]:
    from mait_code.projections.board_queries import one

    card = one(ws.board, f"card/{card_id}")
    if card is not None and card.bound_session == ws.session:
        return []
    forget(ws, card_id, ws.session)
    if card is None or card.status != "in_progress":
        return []
    title = card.title if len(card.title) <= 60 else card.title[:59] + "…"
    if card.bound_session is None:
        return [f"{card.short} ({title}) is no longer bound to this session"]
    holder = f"{card.bound_session} on {card.bound_replica}"
    return [f"{card.short} ({title}) is held by another session now ({holder}): leave it, or agree with them"]
