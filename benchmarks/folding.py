"""Folding: rebuilding every store, and keeping up with a journal of any length."""

from __future__ import annotations

import glob
import os
import shutil

import measure
from measure import Row, probe, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from environment import Environment

REBUILD_BUDGET = 2.5
#: Milliseconds, on an idle machine.
NOTHING_BUDGET, ONE_BUDGET, LATE_BUDGET = 10.0, 15.0, 500.0
#: How much dearer the largest journal of the curve may be than the smallest, where history must not count.
GROWTH_BUDGET = 1.5


class Journal:
    """A seeded journal in a home of its own, and what was measured on it."""

    def __init__(self, environment: Environment, scratch: str, events: int) -> None:
        self.environment = environment
        self.scratch = scratch
        self.events = events
        self.home = os.path.join(scratch, f"events-{events}")
        self.variables = environment.variables(self.home)
        os.makedirs(self.home)
        say(f"writing a journal of {events:,} events")
        self.corpus = self._fold("corpus", str(events))[0]

    def _fold(self, action: str, *arguments: str) -> tuple[dict[str, Any], measure.Used]:
        arguments = (action, f"{self.home}/data", *arguments)
        return probe(self.environment.python, "probe_fold.py", self.variables, *arguments, scratch=self.scratch)

    def rebuild(self) -> tuple[dict[str, Any], measure.Used]:
        """Fold everything with all stores deleted."""
        for path in glob.glob(f"{self.home}/state/mait-code/*/*.db*"):
            os.unlink(path)
        answer, used = self._fold("rebuild")
        assert answer["folded"] == self.events, "the fold lost events, so its time says nothing"
        return answer, used

    def floor(self) -> dict[str, Any]:
        """What the same rows cost without folding anything."""
        target = os.path.join(self.scratch, "floor")
        arguments = (f"{self.home}/data", target)
        answer, _ = probe(self.environment.python, "probe_floor.py", self.variables, *arguments, scratch=self.scratch)
        shutil.rmtree(target)
        return answer

    def catch_up(self, rounds: int) -> dict[str, Any]:
        """Nothing new, one event, late events."""
        return self._fold("catch-up", str(rounds))[0]

    def cards(self) -> list[str]:
        """Ids of cards that nobody has deleted."""
        return self._fold("cards")[0]["cards"]

    def remove(self) -> None:
        """Give the disk its space back."""
        shutil.rmtree(self.home)


def rebuild_rows(journal: Journal, rounds: int) -> list[Row]:
    """A rebuild against its floor."""
    say(f"rebuilding {journal.events:,} events, {rounds} rounds")
    ours, floors = [], []
    for _ in range(rounds):
        ours.append(journal.rebuild()[0]["cpu"])
        floors.append(journal.floor()["cpu"])
    name = f"rebuild, {journal.events:,} events"
    return [measure.row("fold", name, "s", ours, floors, REBUILD_BUDGET)]


def catch_up_rows(journal: Journal, rounds: int) -> list[Row]:
    """Keeping up, all four stores together."""
    say(f"catching up at {journal.events:,} events")
    found = journal.catch_up(rounds)
    nothing = found["nothing"]["cpu"]
    names: dict[str, tuple[str, float | None]] = {
        "nothing": ("no-op catch-up", NOTHING_BUDGET),
        "nothing, opened anew": ("no-op catch-up, stores opened anew", NOTHING_BUDGET),
        "nothing, just after a write": ("no-op catch-up, just after a write", NOTHING_BUDGET),
        "one event": ("one new event", ONE_BUDGET),
        "event that opens a segment": ("one new event, in a new segment", None),
        "late events": ("1,000 late events", LATE_BUDGET),
        "append": ("append of one event", None),
        "append that opens a segment": ("append of one event, in a new segment", None),
    }
    made = []
    for key, (name, budget) in names.items():
        one = found[key]
        note = f"{one['wall']:.2f} ms of wall time"
        row = Row("fold", name, "ms", one["cpu"], budget=budget, absolute=True, note=note)
        row.samples["measured"] = one["samples"]
        if key != "nothing":
            row.floor, row.ratio = nothing, one["cpu"] / nothing
        made.append(row)
    return made


def curve(environment: Environment, scratch: str, sizes: tuple[int, ...], rounds: int) -> tuple[list[Row], list[Any]]:
    """The same at several sizes: rows that say whether history costs, and the points for the table."""
    points = []
    for size in sizes:
        journal = Journal(environment, scratch, size)
        say(f"rebuilding {size:,} events")
        answer, used = journal.rebuild()
        floor = journal.floor()
        found = journal.catch_up(rounds)
        points.append(
            {
                "events": size,
                "segments": journal.corpus["segments"],
                "journal_mib": journal.corpus["bytes"] / (1 << 20),
                "stores_mib": answer["bytes"] / (1 << 20),
                "rebuild_s": answer["cpu"],
                "rebuild_ratio": answer["cpu"] / floor["cpu"],
                "rebuild_mib": used.size,
                **{name: one["cpu"] for name, one in found.items()},
            }
        )
        journal.remove()
    first, last = points[0], points[-1]
    made = []
    for key, name in (("nothing", "no-op"), ("one event", "one new event"), ("append", "append")):
        title = f"{name}, {last['events']:,} events against {first['events']:,}"
        ratio = last[key] / first[key]
        made.append(Row("curve", title, "ms", last[key], first[key], ratio, GROWTH_BUDGET))
    return made, points


def curve_table(points: list[Any]) -> str:
    """The curve as a Markdown table."""
    columns = (
        ("events", "events", "{:,}"),
        ("segments", "segments", "{:,}"),
        ("journal, MiB", "journal_mib", "{:.0f}"),
        ("stores, MiB", "stores_mib", "{:.0f}"),
        ("rebuild, s", "rebuild_s", "{:.1f}"),
        ("to its floor", "rebuild_ratio", "{:.2f}"),
        ("rebuild, MiB of memory", "rebuild_mib", "{:.0f}"),
        ("no-op, ms", "nothing", "{:.3f}"),
        ("one event, ms", "one event", "{:.2f}"),
        ("append, ms", "append", "{:.2f}"),
        ("event in a new segment, ms", "event that opens a segment", "{:.1f}"),
        ("1,000 late, ms", "late events", "{:.0f}"),
    )
    lines = ["| " + " | ".join(title for title, _key, _form in columns) + " |", "|" + " --: |" * len(columns)]
    lines += ["| " + " | ".join(form.format(point[key]) for _, key, form in columns) + " |" for point in points]
    return "\n".join(lines)
