"""The least a hook does: import the journal, and append one event to the data directory of the environment."""

import os

from mait_code.journal.home import Home
from mait_code.journal.journal import Journal

with Journal(Home(os.environ["MAIT_CODE_DATA_DIR"]), "hook/observe").writing_from_hook() as writer:
    writer.append("inbox.captured", body="a thought that a hook caught", project="acme/shop")
