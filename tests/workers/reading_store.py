"""Catch a store up and print its digest: `python -m workers.reading_store board`."""

from __future__ import annotations

import os
import sys

from mait_code.journal.home import Home
from mait_code.projections import stores
from mait_code.projections.digest import digest


def main() -> int:
    store = stores.OPENERS[sys.argv[1]](Home(os.environ["MAIT_CODE_DATA_DIR"]))
    store.catch_up()
    sys.stdout.write(digest(store) + "\n")
    store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
