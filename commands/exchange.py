"""Setting a data directory up, and exchanging it with the other machines."""

from __future__ import annotations

from mait_code.commands import conflicts, journal_check
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
    from mait_code.journal.sync import SyncReport


class Exchange:
    """What a sync did, and what the stores say now that everything is folded."""

    __slots__ = ("ahead", "bad", "conflicts", "report")

    def __init__(
        self, report: SyncReport, open_conflicts: list[Conflict], bad: list[str], ahead: list[dict[str, Any]]
    ) -> None:
        self.report = report
        self.conflicts = open_conflicts
        self.bad = bad
        self.ahead = ahead

    @property
    def exit_code(self) -> int:
        """1 where the remote took lines away: they were kept, but somebody should know."""
        return 1 if self.report.shrank else 0

    def json(self) -> dict[str, Any]:
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
            "new_identity": report.new_identity or None,
            "conflicts": [conflict.json() for conflict in self.conflicts],
            "bad_lines": self.bad,
            "clocks_ahead": [{"replica": one["replica"], "seconds": one["clock_ahead_seconds"]} for one in self.ahead],
        }


def sync(ws: Workspace) -> Exchange:
    """Commit, fetch, merge, push, fold. Raises GitFailed where the user has to act."""
    report = syncing.sync(ws.journal, fetch_timeout=float(settings.value("sync-timeout")))
    for name in NAMES:
        ws.refreshed(name)
    bad = [f"journal/{file}:{line}: {reason}" for file, line, reason in journal_check.lines(ws).bad]
    ahead = [one for one in journal_check.replicas(ws) if one["clock_ahead_seconds"]]
    return Exchange(report, conflicts.listed(ws), bad, ahead)


class Setup:
    """What `init` found and made."""

    __slots__ = ("data", "label", "made", "remote", "replica")

    def __init__(self, data: str, made: bool, remote: str, replica_id: str, label: str) -> None:
        self.data = data
        self.made = made
        self.remote = remote
        self.replica = replica_id
        self.label = label

    def json(self) -> dict[str, Any]:
        return {
            "data_dir": self.data,
            "made": self.made,
            "remote": self.remote or None,
            "replica": self.replica,
            "label": self.label,
        }


def init(ws: Workspace, remote: str | None = None, label: str | None = None) -> Setup:
    """Make the data directory a git repository, name this machine, set the remote. Calling it again does no harm."""
    from mait_code.journal.remote import without_secrets

    repository = Repository(ws.home, fetch_timeout=float(settings.value("sync-timeout")))
    made = not repository.exists()
    repository.make(remote)
    ws.journal.label = label or ""
    with ws.journal.writing():
        pass  # gives this machine its id, and takes in what hooks left
    identity = replica.load(ws.home)
    assert identity is not None, "opening a writer makes the identity"
    log = ws.refreshed("journal")
    present = ws.log.labels().get(identity.replica, "")
    if label and label != present:
        with ws.journal.writing(log) as writer:
            entity = derived_entity("replica", identity.replica)
            writer.append("journal.replica_labelled", entity, label=label, of=identity.replica)
        ws.refreshed("journal")
    url = repository.remote_url()
    return Setup(ws.home.data, made, without_secrets(url) if url else "", identity.replica, label or present)
