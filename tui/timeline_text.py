"""What the panes of the timeline say of an event, of a day, and of the history of a thing. Nothing here knows a widget."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mait_code.commands import lookup
from mait_code.commands.event_words import FAMILIES, said
from mait_code.commands.output import counted
from mait_code.commands.times import local
from mait_code.journal.event import Future
from mait_code.tui import differences
from mait_code.tui.observations_reading import day_text
from mait_code.tui.outline_reading import Text
from mait_code.tui.timeline_reading import names_of, steps_of

if TYPE_CHECKING:
    from mait_code.commands.history import Step
    from mait_code.commands.workspace import Workspace
    from mait_code.journal.event import Event
    from mait_code.tui.outline_reading import Branch, Line
    from mait_code.tui.timeline_reading import Past, Shown

__all__ = ["day", "event_text", "step_text"]

#: Other events of a thing that are told beside one of them, and lines of each.
_STEPS, _LINES = 12, 8
#: Lines of a change in full: what is longer is no reading for a pane.
_WHOLE = 2000


def event_text(ws: Workspace, found: Shown, key: str) -> Text | None:
    """An event whole, and what else happened to its thing; None where it is gone."""
    hit = found.hits.get(key)
    event = None if hit is None else ws.log.event_at(hit.place)
    if event is None:
        return None
    called, title = names_of(ws, event.entity)
    steps = steps_of(ws, event.entity)
    own = next((step for step in steps if step.event.id == key), None)
    labels = ws.log.labels()
    lines = _about(event, labels.get(event.replica, ""), called, own)
    others = [step for step in reversed(steps) if step.event.id != key]
    if others:
        lines += [[], [("primary", "What else happened to it"), ("dim", f"  {counted(len(others), 'event')}")]]
        for step in others[:_STEPS]:
            lines += [[], *_short(step)]
        if len(others) > _STEPS:
            lines += [[], [("dim", f"and {counted(len(others) - _STEPS, 'earlier event')}; Enter shows all")]]
    return Text(title or called, [], "", lines=lines)


def step_text(found: Past, key: str) -> Text | None:
    """One event of a thing's history; None where it is gone."""
    step = found.steps.get(key)
    if step is None:
        return None
    return Text(found.title or found.called, [], "", lines=_about(step.event, step.label, found.called, step))


def day(branch: Branch, found: Shown | Past) -> Text:
    """A day: how much happened, of which kinds, and where."""
    lines: list[Line] = [[("", counted(branch.count, "event"))], []]
    if hasattr(found, "hits"):
        hits = [found.hits[key] for key in branch.leaves if key in found.hits]
        firsts = {first: name for name, kinds in FAMILIES.items() for first in kinds}
        counts = Counter(firsts.get(hit.kind.partition(".")[0], "other") for hit in hits)
        lines += [[("dim", f"{name:<12}"), ("", str(count))] for name, count in counts.most_common()]
    return Text(day_text(branch.key.removeprefix("day:")), [], "", lines=lines)


def _about(event: Event, label: str, called: str, step: Step | None) -> list[Line]:
    lines: list[Line] = [[("strong", said(event)), ("dim", f"  {_when_and_who(event, label, seconds=True)}")]]
    if isinstance(event, Future):
        lines += [[], [("warning", "Written by a newer version: update mait-code to see what it changed.")]]
    changes = _data(event) if step is None or isinstance(event, Future) else _changes(step, _WHOLE)
    if changes:
        lines += [[], *changes]
    facts = [
        ("event", f"{called}: {event.kind}"),
        ("action", f"{event.tx[:8]}; mait-code undo {event.tx[:8]} takes it back"),
        ("undoes", event.undoes[:8]),
        ("session", event.session),
        ("clock", f"ordered as of {local(event.at, seconds=True)}" if event.wall else ""),
    ]
    return [*lines, [], *([("dim", f"{name:<9}"), ("", value)] for name, value in facts if value)]


def _when_and_who(event: Event, label: str, seconds: bool = False) -> str:
    when = local(event.shown, seconds=True) if seconds else local(event.shown)[:16]
    return f"{when}, {event.actor} on {label or event.replica}"


def _short(step: Step) -> list[Line]:
    event = step.event
    mark = "↩ " if event.undoes else ""
    head: Line = [("strong", f"{mark}{said(event)}"), ("dim", f"  {_when_and_who(event, step.label)}")]
    return [head, *_changes(step, _LINES)]


def _changes(step: Step, most: int) -> list[Line]:
    """What an event changed, field by field, and what it said in its own words."""
    lines: list[Line] = []
    for name, before, after in step.changes:
        if not name.startswith(("comment:", "reference:")):
            lines += differences.changed(name, before, after)
    event = step.event
    if event.kind.endswith(".commented"):
        lines += differences.lines_of("", str(event.data.get("body", "")))
    elif event.kind.endswith(".referenced"):
        lines.append([("success", f"+ {event.data.get('label')}: {event.data.get('value')}")])
    return [*lines[:most], [("dim", f"and {counted(len(lines) - most, 'line')} more")]] if len(lines) > most else lines


def _data(event: Event) -> list[Line]:
    lines: list[Line] = []
    for name, value in event.data.items():
        lines += differences.changed(lookup.shown_register(name), None, value)
    return lines
