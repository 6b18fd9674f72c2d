"""Every length a write can come short of: `python -m workers.short_writes`, in a place of its own.

RLIMIT_FSIZE stops a file at any byte, as a full disk does. Prints what went wrong as JSON, an empty list when all is well.
"""

from __future__ import annotations

import json
import os
import resource
import sys

from mait_code.journal import replica, segments
from mait_code.journal.errors import DiskRefused
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal


def main() -> int:
    home = Home(os.environ["MAIT_CODE_DATA_DIR"])
    journal = Journal(home)
    with journal.writing() as writer:
        writer.append("inbox.captured", body="before")
    identity = replica.load(home)
    assert identity is not None
    path = os.path.join(home.journal, identity.replica, segments.name_of(1))
    faults = []
    with open(path, "rb") as file:
        before = file.read()
    whole = len(before)
    for allowed in range(2000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (whole + allowed, resource.RLIM_INFINITY))
        try:
            with journal.writing() as writer:
                writer.append("inbox.captured", body="é" * 40)
                writer.append("inbox.captured", body="second")
        except DiskRefused as error:
            with open(path, "rb") as file:
                if file.read() != before:
                    faults.append(f"{allowed} bytes allowed: something was left behind")
            if error.exit_code != 74 or path not in error.message:
                faults.append(f"{allowed} bytes allowed: {error.message}")
            continue
        break
    else:
        faults.append("it was never written")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    with open(path, "rb") as file:
        after = file.read()
    if not after.startswith(before) or after.count(b"\n") != 3 or allowed < 500:
        faults.append(f"written after {allowed} tries: {after!r}")
    sys.stdout.write(json.dumps(faults))
    return 0


if __name__ == "__main__":
    sys.exit(main())
