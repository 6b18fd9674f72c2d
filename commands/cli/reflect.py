"""Reflection from the command line: what a model proposes, and the decision on each of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.frame import command, option, pass_workspace
from mait_code.commands.cli.memory import for_place
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.reflect import Batch, Operation, Proposal, Wanted
    from mait_code.commands.workspace import Workspace


@command("reflect")
@option(
    "--days", type=click.IntRange(0, 36_500), default=7, show_default=True, help="How far the first one looks back."
)
@option("--min-new", type=click.IntRange(0, 1000), help="Fewer new memories, no reflection (reflection-novelty-gate).")
@option("--batch-size", type=click.IntRange(1, 1000), help="Memories in one question (reflection-batch-size).")
@option("--drain", is_flag=True, help="Go on until nothing is left, for at most 20 rounds.")
@option("--yes", is_flag=True, help="Record the insights and apply every operation without asking.")
@option("--dry-run", is_flag=True, help="Show what would be looked over; ask no model.")
@for_place
@pass_workspace
def reflect(
    ws: Workspace,
    out: Output,
    days: int,
    min_new: int | None,
    batch_size: int | None,
    drain: bool,
    yes: bool,
    dry_run: bool,
    scope: str | None,
    project: str | None,
    branch: str | None,
) -> None:
    """Have a model look over new memories, and decide on what it proposes.

    It proposes insights, which become memories, and operations on pinned memories: add, rewrite, merge, retire. Each is
    asked about on a terminal; elsewhere, without --yes, everything is printed and nothing changed. With --scope all every
    project has its turn.
    """
    from mait_code.commands import reflect as logic
    from mait_code.commands.model import ModelFailed
    from mait_code.journal import settings

    gate = int(settings.value("reflection-novelty-gate")) if min_new is None else min_new
    size = int(settings.value("reflection-batch-size")) if batch_size is None else batch_size
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not out.json and not yes
    session = _Session(ws, out, asks=asks, keeps=yes or asks, dry=dry_run)
    try:
        for wanted in logic.batches(ws, scope or "", project, branch):
            for _round in range(logic.MOST_ROUNDS if drain else 1):
                batch = logic.gather(ws.reading("memory"), wanted, size, days)
                if not session.turn(batch, max(gate, 1)):
                    break
            if session.stopped:
                break
    except ModelFailed:
        session.close(failed=True)
        raise
    session.close()


class _Session:
    """One run: rounds of proposing and deciding, and what they came to."""

    def __init__(self, ws: Workspace, out: Output, *, asks: bool, keeps: bool, dry: bool) -> None:
        self.ws = ws
        self.out = out
        self.stopped = False
        self._asks = asks
        self._keeps = keeps
        self._dry = dry
        self._rounds: list[dict[str, Any]] = []
        self._reasons: list[str] = []

    def turn(self, batch: Batch, gate: int) -> bool:
        """One round. False where there is nothing more to do for this project."""
        from mait_code.commands import reflect as logic

        if batch.pending < gate:
            known = counted(batch.pending, "memory", "memories")
            self._reasons.append(
                f"{_called(batch.wanted)}: {known} to reflect on, and {gate} {'is' if gate == 1 else 'are'} needed"
            )
            if not self.out.json and not self._rounds:
                self.out.line(f"Nothing to do. {self._reasons[-1]}.")
            return False
        if self._dry:
            self._rounds.append(_round(batch))
            self._show_batch(batch)
            return False
        with self.out.progress("asking the model", after=0):
            proposal = logic.propose(self.ws, batch)
        self._show(proposal)
        self._rounds.append(self._decide(proposal))
        return self._keeps and not self.stopped

    def close(self, failed: bool = False) -> None:
        """Print what came of it, where it is to be JSON."""
        if not self.out.json or (failed and not self._rounds):
            return
        insights = [{**one, "project": turn["project"]} for turn in self._rounds for one in turn["insights"]]
        operations = [{**one, "project": turn["project"]} for turn in self._rounds for one in turn["ops"]]
        self.out.data(
            {
                "skipped": not self._rounds,
                "reason": "; ".join(self._reasons) if not self._rounds else None,
                "insights": insights,
                "ops": operations,
                "stored": sum(1 for one in insights if one["id"]),
                "dropped": [one for turn in self._rounds for one in turn["dropped"]],
                "rounds": [
                    {key: value for key, value in turn.items() if key not in ("insights", "ops", "dropped")}
                    for turn in self._rounds
                ],
            }
        )

    # -- deciding -----------------------------------------------------------------------------------------------------

    def _decide(self, proposal: Proposal) -> dict[str, Any]:
        from mait_code.commands import reflect as logic

        turn = _round(proposal.batch)
        turn |= {"model": proposal.model, "tokens": proposal.tokens, "dropped": proposal.read.dropped}
        insights = proposal.read.insights
        kept = insights
        if not self._keeps:
            self.stopped = True
            if not self.out.json:
                self.out.note("nothing was changed; --yes records and applies all of it, a terminal asks one by one")
        elif insights and self._asks:
            answer = self._answer(f"Record {counted(len(insights), 'insight')}?")
            kept = insights if answer == "y" else []
            self.stopped = answer == "q"
        ids: dict[str, str] = {}
        if not self.stopped:
            made = logic.record(self.ws, proposal, kept)
            turn["reflection"] = made.entity.partition("/")[2]
            ids = {one.content: one.id for one in made.insights}
            self._apply(proposal)
        turn["insights"] = [
            {"content": one.text, "id": ids.get(one.text.strip()), "entry_ids": [b.id for b in one.backing]}
            for one in insights
        ]
        turn["ops"] = [one.json() for one in proposal.read.operations]
        return turn

    def _apply(self, proposal: Proposal) -> None:
        from mait_code.commands import reflect as logic
        from mait_code.journal.errors import NotFound, Refused

        for operation in proposal.read.operations:
            if self._asks:
                self._show_operation(operation)
                answer = self._answer(f"Apply this {operation.op}?")
                if answer == "q":
                    self.stopped = True
                    return
                if answer == "n":
                    continue
            try:
                notes = logic.carry_out(self.ws, proposal, operation)
            except (NotFound, Refused) as error:
                notes = [f"{operation.op} was not applied: {error.message}"]
            for note in notes:
                self.out.note(note)

    def _answer(self, question: str) -> str:
        """y, n or q; the end of input is q."""
        while True:
            sys.stderr.write(f"{question} [y/n/q] ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            answer = line.strip().lower()[:1]
            if not line or answer == "q":
                return "q"
            if answer in ("y", "n"):
                return answer

    # -- showing ------------------------------------------------------------------------------------------------------

    def _show_batch(self, batch: Batch) -> None:
        if self.out.json:
            return
        self.out.line(
            f"{_called(batch.wanted)}: {len(batch.memories)} of {batch.pending} would be looked over,"
            f" beside {len(batch.pins)} pinned"
        )
        for one in batch.memories:
            self.out.line(self.out.style(one.short, "bold"), f"  {one.entry_type}  ", one.first_line)

    def _show(self, proposal: Proposal) -> None:
        if self.out.json:
            return
        batch, out = proposal.batch, self.out
        out.line(
            f"{_called(batch.wanted)}: {len(batch.memories)} of {batch.pending} looked over by ",
            out.style(proposal.model, "dim"),
            f" ({proposal.tokens:,} tokens)",
        )
        for insight in proposal.read.insights:
            out.line(out.style("insight", "green"), "  ", insight.text)
            out.line(out.style(f"         from {', '.join(one.short for one in insight.backing)}", "dim"))
        if not self._asks:
            for operation in proposal.read.operations:
                self._show_operation(operation)
        if not proposal.read.insights and not proposal.read.operations:
            out.line("The model has nothing to propose.")
        for dropped in proposal.read.dropped:
            out.warn(f"left out, {dropped}")

    def _show_operation(self, operation: Operation) -> None:
        out = self.out
        if out.json:
            return
        out.line(out.style(operation.op, "cyan"))
        for pin in operation.pins:
            out.line(out.style(f"  - {pin.short}  ", "red"), pin.content)
        if operation.text:
            out.line(out.style("  + ", "green"), operation.text)
        out.line(out.style(f"    from {', '.join(one.short for one in operation.backing)}", "dim"))


def _called(wanted: Wanted) -> str:
    return wanted.project or "what is global"


def _round(batch: Batch) -> dict[str, Any]:
    return {
        "project": batch.wanted.project,
        "pending": batch.pending,
        "memories": [one.id for one in batch.memories],
        "reflection": None,
        "model": None,
        "tokens": 0,
        "insights": [],
        "ops": [],
        "dropped": [],
    }
