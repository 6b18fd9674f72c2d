"""The journal of one data directory: who writes, and the way in to writing."""

from __future__ import annotations

from mait_code.journal.lock import COMMAND_WAIT, HOOK_WAIT
from mait_code.journal.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home
    from mait_code.journal.writing import SeesHeads


class Journal:
    """One journal, as one process uses it. `actor` and `session` go into every event it writes.

    `label` names the replica should this process be the one that makes it. `allow_secret` stores what looks like a
    secret as it is; `masked` says what was changed about texts that were stored, in words that hold no secret.
    """

    __slots__ = ("actions", "actor", "allow_secret", "home", "label", "masked", "session", "written")

    def __init__(self, home: Home, actor: str = "me", session: str = "", label: str = "") -> None:
        self.home = home
        self.actor = actor
        self.session = session
        self.label = label
        self.allow_secret = False
        self.masked: list[str] = []
        #: The last event written into the log, by the first part of its kind.
        self.written: dict[str, str] = {}
        #: The actions written into the log by this process, oldest first: what a screen offers to take back.
        self.actions: list[str] = []

    def writing(self, *stores: SeesHeads, wait: float = COMMAND_WAIT) -> Writer:
        """A block that decides and appends one action. Waits for the lock up to `wait` seconds, else raises Busy."""
        return Writer(self, stores, wait, spools=False, durable=True)

    def writing_from_hook(self, *stores: SeesHeads) -> Writer:
        """The same for a hook: waits 200 ms, then leaves the action in the spool; does not wait for the disk."""
        return Writer(self, stores, HOOK_WAIT, spools=True, durable=False)
