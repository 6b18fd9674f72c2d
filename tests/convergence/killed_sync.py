"""A sync in a process of its own, which kills itself when it is about to run git for the n-th time.

Everything a history decides (paths, the wall clock, the random numbers, the size of segments) comes as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from types import SimpleNamespace
from typing import Any

from mait_code.journal import clock, git, ids, segments
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.journal.sync import sync


def main(told: dict[str, Any]) -> None:
    home = Home(told["data"])
    home.state, home.real = told["state"], told["real"]
    start, left = git.__dict__["start"], [told["calls"]]

    def start_or_die(*words: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return start(*words, **options)

    replaced: tuple[tuple[object, str, object], ...] = (
        (segments, "CLOSED_AT", told["closed_at"]),
        (clock, "wall", lambda: told["wall"]),
        (ids, "os", SimpleNamespace(urandom=random.Random(told["seed"]).randbytes)),
        (git, "start", start_or_die),
    )
    for owner, name, value in replaced:
        setattr(owner, name, value)
    sync(Journal(home), fetch_timeout=20.0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
