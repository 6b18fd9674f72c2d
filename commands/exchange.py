"""Setting a data directory up, and exchanging it with the other machines."""

from __future__ import annotations

from mait_code.commands import conflicts, journal_check, memory_file, stored_text
from mait_code.journal import replica, settings
from mait_code.journal import sync as syncing
from mait_code.journal.ids import derived_entity
from mait_code.journal.repository import Repository
from mait_code.projections.stores import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.conflicts import Conflict
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.committing import SyncReport


class Exchange:
    """What a sync did, and what the stores say now that everything is folded. `notes` is about MEMORY.md."""

    __slots__ = ("ahead", "bad", "conflicts", "notes", "report")

    def __init__(
        self,
        report: SyncReport,
        open_conflicts: list[Conflict],
        bad: list[str],
        ahead: list[dict[str, Any]],
        notes: list[str],
    ) -> None:
        self.report = report
        self.conflicts = open_conflicts
        self.bad = bad
        self.ahead = ahead
        self.notes = notes

    @property
    def exit_code(self) -> int:
        """1 where the remote took lines away: they were kept, but somebody should know."""
        return 1 if self.report.shrank else 0

    def json(self) -> dict[str, Any]:
        """What the sync did, as `--json` prints it."""
        report = self.report
        return {
            "committed": report.committed,
            "sent": report.sent,
            "received": report.received,
            "commits_waiting": report.commits_waiting,
            "offline": report.offline or None,
            "remote": report.remote or None,
            "adopted": report.adopted,
            "restored": report.restored,
            "shrank": report.shrank,
            "documents": report.documents,
            "aside": report.aside,
            "arrived": [{"path": path, "how": how} for path, how in report.arrived.items()],
            "new_identity": report.new_identity or None,
            "conflicts": [conflict.json() for conflict in self.conflicts],
            "bad_lines": self.bad,
            "clocks_ahead": [
                {"replica": one["replica"], "label": one["label"], "seconds": one["clock_ahead_seconds"]}
                for one in self.ahead
            ],
        }


def sync(ws: Workspace) -> Exchange:
    """Commit, fetch, merge, push, fold. Raises GitFailed where the user has to act."""
    notes = memory_file.adopt(ws)  # before the commit, so that what was edited by hand goes with it
    report = syncing.sync(ws.journal, fetch_timeout=float(settings.value("sync-timeout")))
    for name in NAMES:
        ws.refreshed(name)
    notes += memory_file.refresh(ws)
    bad = [f"journal/{file}:{line}: {reason}" for file, line, reason in journal_check.lines(ws).bad]
    ahead = [one for one in journal_check.replicas(ws) if one["clock_ahead_seconds"]]
    return Exchange(report, conflicts.listed(ws), bad, ahead, notes)


class Setup:
    """What `init` found and made. `offline` says why the remote could not be asked now; it stays set."""

    __slots__ = ("data", "label", "made", "offline", "remote", "replica")

    def __init__(self, data: str, made: bool, remote: str, offline: str, replica_id: str, label: str) -> None:
        self.data = data
        self.made = made
        self.remote = remote
        self.offline = offline
        self.replica = replica_id
        self.label = label

    def json(self) -> dict[str, Any]:
        """What was found and made, as `--json` prints it."""
        return {
            "data_dir": self.data,
            "made": self.made,
            "remote": self.remote or None,
            "offline": self.offline or None,
            "replica": self.replica,
            "label": self.label or None,
        }


def init(ws: Workspace, remote: str | None = None, label: str | None = None) -> Setup:
    """Make the data directory a git repository, name this machine, set the remote. Calling it again does no harm."""
    from mait_code.journal.remote import without_secrets

    named = None if label is None else stored_text.name(label, "the label")
    repository = Repository(ws.home, fetch_timeout=float(settings.value("sync-timeout")))
    made = not repository.exists()
    repository.make()
    offline = "" if remote is None else repository.set_remote(remote)
    ws.journal.label = named or ""
    with ws.journal.writing():
        pass  # gives this machine its id, and takes in what hooks left
    identity = replica.load(ws.home)
    assert identity is not None, "opening a writer makes the identity"
    present = _label(ws, identity.replica, named)
    url = repository.remote_url()
    return Setup(ws.home.data, made, without_secrets(url) if url else "", offline, identity.replica, present)


def _label(ws: Workspace, replica_id: str, wanted: str | None) -> str:
    """Give this machine a label where it has another; returns the one it has then."""
    log = ws.refreshed("journal")
    present = ws.log.labels().get(replica_id, "")
    if wanted is None or wanted == present:
        return present
    with ws.journal.writing(log) as writer:
        entity = derived_entity("replica", replica_id)
        event = writer.append("journal.replica_labelled", entity, label=wanted, of=replica_id)
    ws.refreshed("journal")
    return str(event.data["label"])
