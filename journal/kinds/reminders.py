"""Kinds of reminders. Times are nominal local time plus IANA zone; UTC is computed, never stored.

`when` is one register, because a due time, its zone and its rule only mean something together:
`{"due": "2026-12-01T09:00", "zone": "Europe/Berlin", "rule": {...} or absent}`. The rule's format is that of
`mait_code.projections.recurrence`. Occurrences are computed from it; one is named by its nominal local time.
"""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, TEXT, Field, deletion, kind, nothing, register_of, reopening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _moment(value: Any) -> bool:
    """`{"due": nominal, "zone": name}`, to the form only: an impossible date is shown, not refused."""
    if type(value) is not dict:
        return False
    due, zone, rule = value.get("due"), value.get("zone"), value.get("rule")
    return (
        type(due) is str
        and 10 <= len(due) <= 26
        and type(zone) is str
        and 0 < len(zone) <= 64
        and (rule is None or type(rule) is dict)
    )


WHEN = Field('a time such as {"due": "2026-12-01T09:00", "zone": "Europe/Berlin"}', _moment)


SET = kind("reminder.set", creates=True, what=TEXT, when=WHEN, project=NAME.optional(), origin=NAME.optional())
EDITED = kind("reminder.edited", what=TEXT.optional(), when=WHEN.optional(), project=NAME.optional())
SNOOZED = kind(
    "reminder.snoozed",
    occurrence=NAME,
    until=WHEN,
    writes=lambda _id, data: [(f"occurrence:{data['occurrence']}", {"until": data["until"]})],
)
DISMISSED = kind(
    "reminder.dismissed",
    occurrence=NAME,
    writes=lambda _id, data: [(f"occurrence:{data['occurrence']}", {"dismissed": True})],
)
NOTIFIED = kind("reminder.notified", occurrence=NAME, writes=nothing)
DELETED = kind("reminder.deleted", writes=deletion)
RESTORED = kind("reminder.restored", register=register_of("deleted", "occurrence:"), writes=reopening)

KINDS = (SET, EDITED, SNOOZED, DISMISSED, NOTIFIED, DELETED, RESTORED)
