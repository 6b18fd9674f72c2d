"""The client's files that we change: read as they are, replaced in one step, and put back as they were."""

from __future__ import annotations

import os
import stat

from mait_code.commands.install import record
from mait_code.journal.errors import DiskRefused, Refused
from mait_code.journal.home import PRIVATE_FILE, make_directory, write_atomically
from mait_code.journal.sha import hex_prefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.install.record import Place

__all__ = ["Edit", "read", "replace"]


def digest(content: bytes | None) -> str | None:
    """What tells one content from another; None for a file that is not there."""
    return None if content is None else hex_prefix(content, 32)


def read(path: str) -> bytes | None:
    """A file's bytes, None where there is none. Raises Refused where it is no file, DiskRefused where it cannot be read."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(f"{path} is no file", "move it away, then try again; nothing was changed")
            return file.read()
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise Refused(f"{path} is a directory", "move it away, then try again; nothing was changed") from error
    except OSError as error:
        raise DiskRefused(f"cannot read {path}: {error.strerror}", "check its owner and permissions") from error


def replace(path: str, content: bytes) -> None:
    """Replace a file in one step, with the mode it has. A link stays a link: what it leads to is replaced."""
    place = os.path.realpath(path)
    try:
        mode = stat.S_IMODE(os.stat(place).st_mode)
    except FileNotFoundError:
        make_directory(os.path.dirname(place))
        mode = PRIVATE_FILE
    write_atomically(place, content, mode)


class Edit:
    """A file of the client's before and after. Nothing is written until `write`."""

    __slots__ = ("after", "before", "claude_dir", "name", "path", "takes_over")

    def __init__(self, claude_dir: str, name: str) -> None:
        #: The path is a link of the program before, which is to become a file of the user's.
        self.takes_over = False
        self.claude_dir = claude_dir
        self.name = name
        self.path = os.path.join(claude_dir, name)
        self.before = read(self.path)
        self.after = self.before

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.takes_over or self.before != self.after

    def take_over(self, before: bytes | None) -> None:
        """Put a file in the place of the link; `before` is what the user had there before that."""
        self.takes_over = True
        self.before = self.after = before

    def note(self, place: Place) -> None:
        """Remember how to put the file back, before it is written. The first bytes are kept once."""
        if not self.changes:
            return
        known = place.files.get(self.name)
        if known is None:
            backup = None
            if self.before is not None:
                backup = record.backup_path(self.claude_dir, self.name)
                make_directory(os.path.dirname(backup))
                write_atomically(backup, self.before)
            known = {"before": digest(self.before), "backup": backup, "after": digest(self.before)}
            place.files[self.name] = known
        if known["after"] == digest(self.before):
            # Nothing but ours changed it since: putting back what was before it is still right.
            known["after"] = digest(self.after)

    def restored(self, place: Place) -> bool:
        """Set `after` to the bytes from before our first change. False where something else changed the file since."""
        known = place.files.get(self.name)
        if known is None or known["after"] != digest(self.before):
            return False
        if known["before"] is None:
            self.after = None
            return True
        kept = read(known["backup"]) if known["backup"] else None
        if digest(kept) != known["before"]:
            return False
        self.after = kept
        return True

    def write(self) -> None:
        """Bring the file to `after`; None takes it away."""
        if not self.changes:
            return
        if self.takes_over:
            if os.path.islink(self.path):
                os.unlink(self.path)
        elif read(self.path) != self.before:
            raise Refused(f"{self.path} changed just now", "try again; nothing of it was written")
        if self.after is None:
            os.unlink(self.path)
        else:
            replace(self.path, self.after)

    def diff(self) -> str:
        """What changes, as a unified diff."""
        from difflib import unified_diff

        old, new = ((content or b"").decode("utf-8", "replace").splitlines() for content in (self.before, self.after))
        return "\n".join(unified_diff(old, new, self.path, self.path, lineterm=""))
