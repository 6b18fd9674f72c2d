"""Having transcripts understood: which windows, in what order, and what happens when one fails.

    done      all of it is understood        off      it is not to be understood at all
    budget    today's tokens are spent       nobody   no model is there, or none can be reached
    time      the rest is for the next run   waiting  it failed a short while ago
    failed    a window failed just now       busy     another process is at it

Whatever is left is taken up by the next run, of this transcript or any other.
"""

from __future__ import annotations

import os
import time
from itertools import takewhile

from mait_code.commands.capture import lines, policy, recording
from mait_code.commands.model import spending
from mait_code.commands.model.errors import ModelFailed, NoModel, Unreachable
from mait_code.commands.understanding import conversation, progress, storing, windows
from mait_code.commands.understanding.progress import Parked, Progress
from mait_code.commands.understanding.windows import Place, Window
from mait_code.journal import ids, settings
from mait_code.journal.errors import NotFound
from mait_code.projections import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mait_code.commands.understanding.conversation import Piece
    from mait_code.commands.workspace import Workspace

__all__ = ["Outcome", "from_record", "take_up", "understand"]

#: Seconds within which no model has answered yet: less is not worth asking.
_SHORTEST = 5


class Outcome:
    """What came of it: `state` is one of those above, `reason` says more. `others` counts other transcripts' windows."""

    __slots__ = (
        "dropped",
        "memories",
        "observations",
        "others",
        "parked",
        "reason",
        "session",
        "state",
        "tokens",
        "windows",
    )

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.state = "done"
        self.reason = ""
        self.windows = self.observations = self.memories = self.parked = self.tokens = self.others = 0
        #: What of the answers could not be used, and why.
        self.dropped: list[str] = []


def understand(
    ws: Workspace,
    transcript_path: str,
    *,
    budget_seconds: float = 600,
    at_once: bool = False,
    others: bool = True,
    step: Callable[[], None] = lambda: None,
) -> Outcome:
    """Have a model understand what is new in a transcript, and with `others` what earlier runs left of other ones.

    Nothing is asked where `capture` is not understanding, no model is there, or today's tokens are spent; windows that
    failed wait for their time unless `at_once`. `step` is told after each window. Raises what the journal raises.
    """
    end = time.monotonic() + budget_seconds
    with recording.observing(ws):
        found = _Run(ws, transcript_path, end, at_once, step).go()
        if others and found.state in ("done", "off", "waiting", "failed"):
            found.others = _others(ws, transcript_path, end, step)
        return found


def take_up(ws: Workspace, *, budget_seconds: float = 600) -> int:
    """Have understood what earlier runs left of any transcript. Returns how many windows were. Raises as `understand`."""
    with recording.observing(ws):
        return _others(ws, "", time.monotonic() + budget_seconds, lambda: None)


def from_record(ws: Workspace, path: str, budget_seconds: float) -> Outcome:
    """Record what is in a transcript, where that is allowed, and have it understood now. Raises NotFound where there is none,
    and what the journal raises."""
    if not os.path.isfile(path):
        raise NotFound(f"{path} is no transcript", "they are under ~/.claude/projects, and end with .jsonl")
    if policy.capture_of(path) != "off":
        recording.record(ws, path)
    return understand(ws, path, budget_seconds=budget_seconds, at_once=True, others=False)


def _others(ws: Workspace, but: str, end: float, step: Callable[[], None]) -> int:
    """What is left of other transcripts, oldest first, until it cannot go on. Returns how many windows."""
    count = 0
    for one in progress.every(ws.home):
        if but and os.path.realpath(one.path) == os.path.realpath(but):
            continue
        if not os.path.exists(one.path):
            progress.forget(ws.home, one)
        elif one.open and one.due <= time.time():
            outcome = _Run(ws, one.path, end, False, step).go()
            count += outcome.windows
            if outcome.state in ("budget", "nobody", "time"):
                break
    return count


class _Run:
    """One transcript, once."""

    def __init__(self, ws: Workspace, path: str, end: float, at_once: bool, step: Callable[[], None]) -> None:
        self._ws = ws
        self._path = path
        self._end = end
        self._at_once = at_once
        self._step = step
        self._held = Progress(path)
        self._found = Outcome(recording.session_of(path))

    def go(self) -> Outcome:
        """All windows that there are, as far as it goes."""
        from mait_code.commands.model import provider

        if not os.path.isfile(self._path):
            return self._ended("off", "there is no such transcript")
        if policy.capture_of(self._path) != "understanding":
            return self._ended("off", "capture is not understanding here")
        lock = progress.lock(self._ws.home, self._path)
        if not lock.acquire(0):
            return self._ended("busy", f"another process is at it ({lock.holder()})")
        try:
            lock.name_holder()
            self._held = progress.load(self._ws.home, self._path)
            self._held.path = self._path
            if provider() == "none":
                return self._left("nobody", "there is no model to ask")
            return self._all()
        finally:
            lock.release()

    def _ended(self, state: str, reason: str = "") -> Outcome:
        self._found.state, self._found.reason = state, reason
        return self._found

    def _left(self, state: str, reason: str) -> Outcome:
        """There is more, for another run."""
        self._held.open = True
        progress.store(self._ws.home, self._held)
        return self._ended(state, reason)

    def _all(self) -> Outcome:
        held = self._held
        if held.due > time.time() and not self._at_once:
            return self._left("waiting", held.reason)
        if self._at_once and not all(map(self._parked_again, list(held.parked))):
            return self._found
        begin = self._begin()
        for window in windows.cut(self._pieces(begin), begin):
            if not self._one(window):
                return self._found
            held.place, held.line, held.uuid = window.end, window.line, window.uuid
            held.open = True
            held.passed()
            progress.store(self._ws.home, held)
        held.open = False
        progress.store(self._ws.home, held)
        return self._found

    # -- windows ------------------------------------------------------------------------------------------------------

    def _pieces(self, begin: Place) -> Iterator[Piece]:
        """What was said from a place on, without what was said while the session was where nothing may be understood."""
        allowed: dict[str, bool] = {}
        for piece in conversation.read(self._path, begin.offset, self._is_ours):
            where = piece.directory
            if where not in allowed:
                allowed[where] = not where or policy.capture_in(where) == "understanding"
            if allowed[where]:
                yield piece

    def _begin(self) -> Place:
        """Where the next window begins: behind the last line that was understood, here or by whoever stored more.

        Where the file was written anew that line is looked for; without it all of the file is new.
        """
        held = self._held
        begin = Place()
        if held.uuid:
            known = next(lines.read(self._path, held.line), None)
            if known is not None and (known.start, lines.text(known.record.get("uuid"))) == (held.line, held.uuid):
                begin = held.place
            else:
                begin = self._behind(held.uuid, held.place.part if held.place.offset == held.line else 0, 0) or begin
        uuid, part = storing.understood_up_to(self._ws.reading("memory"), self._found.session)
        if uuid and (uuid, part) != (held.uuid, held.place.part):
            return self._behind(uuid, part, begin.offset) or begin
        return begin

    def _behind(self, uuid: str, part: int, start: int) -> Place | None:
        """The place behind a line, or behind so many parts of it."""
        for line in lines.read(self._path, start):
            if line.record.get("uuid") == uuid:
                return Place(line.start, part) if part else Place(line.end)
        return None

    def _is_ours(self, uuid: str) -> bool:
        """Whether a turn is this session's: a fork holds those of the one it was made from too."""
        state = self._ws.store("memory").state(ids.derived_entity("turn", uuid))
        session = register.value(state, "session") if state is not None else None
        return session in (None, self._found.session)

    def _one(self, window: Window) -> bool:
        """See to a window: it is stored, put aside, or there is nothing to do. False where it is no use going on."""
        if not window.is_talk or storing.is_stored(self._ws.reading("memory"), self._found.session, window):
            return True
        if not self._may_go_on():
            return False
        try:
            self._understand(window, late=False)
        except ModelFailed as error:
            return self._failed(window, error)
        self._held.windows += 1
        self._step()
        return True

    def _parked_again(self, parked: Parked) -> bool:
        """Try a window that was put aside, as it was then. False where it is no use going on."""
        pieces = self._pieces(parked.begin)
        limit = (parked.end.offset, parked.end.part)
        inside = takewhile(lambda piece: (piece.start, 0) < limit, pieces)
        window = next(windows.cut(inside, parked.begin), None)
        store = self._ws.reading("memory")
        if (
            window is not None
            and window.key == parked.key
            and not storing.is_stored(store, self._found.session, window)
        ):
            if not self._may_go_on():
                return False
            try:
                self._understand(window, late=True)
            except ModelFailed as error:
                parked.reason = error.message
                self._found.tokens += sum(error.tokens)
                self._left("failed", error.message)
                return not isinstance(error, (NoModel, Unreachable))
            self._held.windows += 1
            self._step()
        self._held.parked.remove(parked)
        progress.store(self._ws.home, self._held)
        return True

    def _may_go_on(self) -> bool:
        """Whether there are tokens and time left."""
        if spending.limit_reached(self._ws.home):
            self._left("budget", f"today's {spending.limit():,} tokens are spent (llm-daily-tokens)")
            return False
        if self._end - time.monotonic() < _SHORTEST:
            self._left("time", "the rest is for the next run")
            return False
        return True

    def _understand(self, window: Window, late: bool) -> None:
        from mait_code.commands import model
        from mait_code.commands.understanding import answer, modes, question

        ws, found = self._ws, self._found
        where = storing.context_of(ws, found.session, window)
        mode, _fault = modes.in_force(ws.home, where.project)
        so_far = storing.said_before(ws.store("memory"), found.session)
        asked = question.prompt(window, mode, where.project, str(settings.value("language")), so_far)
        said = model.ask(
            asked,
            question.tool(mode),
            model=str(settings.value("extraction-model")),
            limit=min(float(settings.value("llm-timeout")), self._end - time.monotonic()),
            home=ws.home,
        )
        understood = answer.read(said.value, mode)
        found.dropped += understood.dropped
        tokens = sum(said.tokens)
        stored = storing.store(ws, where, window, understood, said.model, tokens, late)
        found.tokens += tokens
        found.windows += 1
        found.observations += stored.observations
        found.memories += stored.memories

    def _failed(self, window: Window, error: ModelFailed) -> bool:
        """Note a failure. The window is tried three times, then put aside, and the ones behind it have their turn."""
        held, found = self._held, self._found
        found.tokens += sum(error.tokens)
        held.reason = error.message
        if isinstance(error, (NoModel, Unreachable)):
            # Nobody was asked, so it was no attempt.
            self._left("nobody", error.message)
            return False
        held.failures += 1
        if held.failures < progress.ATTEMPTS:
            held.due = time.time() + max(progress.PAUSES[held.failures - 1], error.wait)
            self._left("failed", error.message)
            return False
        held.parked.append(Parked(window.begin, window.end, window.key, error.message))
        found.parked += 1
        self._ended("failed", error.message)
        return True
