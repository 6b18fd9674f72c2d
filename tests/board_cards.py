"""A small board that says something: what the pictures of the board show."""

from __future__ import annotations

from mait_code.commands import board, board_edits, board_moves
from mait_code.commands.workspace import Workspace

PROJECT = "acme/login"
LIVE = (
    ("Fix the login page for sessions that have expired", "high", "in_progress", ("auth",)),
    ("Retry webhooks with a growing pause", "medium", "in_progress", ()),
    ("Split the parser from the tokenizer", "low", "refined", ("parser", "debt")),
    ("Rate limits by account, not by address", "high", "refined", ("auth", "api")),
    ("Say in the README how to run one test", "low", "backlog", ("docs",)),
    ("Passkeys: find out what the client library needs before anything is promised", "medium", "backlog", ("auth",)),
    ("日本語のタイトルも幅どおりに切られる card", "medium", "backlog", ()),
    ("Look at the slow query on /search", "high", "backlog", ("blocked", "db")),
    ("Keep the audit log for a year", "medium", "done", ("auth",)),
    ("Move the images to the new bucket", "medium", "done", ()),
    ("Try the other build tool", "low", "archived", ()),
)


def fill(ws: Workspace) -> dict[str, str]:
    """Write the cards. Returns their entities by the first word of the title."""
    found = {}
    for title, priority, column, tags in LIVE:
        card = board.add(ws, title, priority=priority, project=PROJECT, description=f"About **{title.lower()}**.")
        if column != "backlog":
            board_moves.move(ws, card.entity, column)
        for tag in tags:
            board_edits.tag(ws, card.entity, tag)
        found[title.split()[0]] = card.entity
    board_edits.comment(ws, found["Fix"], "It happens after *exactly* an hour.", "me")
    board_edits.comment(
        ws, found["Fix"], "The cookie outlives the session:\n\n```python\nmax_age = 3600\n```", "claude"
    )
    board_edits.add_reference(ws, found["Fix"], "ticket", "https://example.org/1234")
    return found
