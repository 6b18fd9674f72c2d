"""Understanding from the command line: how it stands, and what to do about sessions that are not understood."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from mait_code.commands.cli.frame import argument, command, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.understanding import Outcome
    from mait_code.commands.understanding.report import Standing
    from mait_code.commands.workspace import Workspace

#: Seconds that a run somebody waits for may take; it can be stopped at any time.
_LONGEST = 3600
#: Transcripts that are named one by one.
_SHOWN = 20


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What `mait-code observe` prints: the same as its status."""
    _status(ws, out)


@command("status")
@pass_workspace
def status(ws: Workspace, out: Output) -> None:
    """Show who is asked about sessions, what today took, and what waits."""
    _status(ws, out)


def _status(ws: Workspace, out: Output) -> None:
    from mait_code.commands.understanding.report import standing

    stands = standing(ws.home)
    if out.json:
        out.data(stands.json())
        return
    who = "nobody is asked" if stands.provider == "none" else f"{stands.provider}, {stands.model}"
    out.line(f"Capture {stands.capture}; {who}; mode {stands.mode}.")
    out.line(f"{stands.spent:,} of {stands.limit:,} tokens were used today.")
    if stands.mode_fault:
        out.warn(stands.mode_fault)
    _waiting(stands, out)


def _waiting(stands: Standing, out: Output) -> None:
    left = [one for one in stands.transcripts if one.open or one.parked]
    for one in left[-_SHOWN:]:
        session = os.path.splitext(os.path.basename(one.path))[0]
        told = [f"{counted(len(one.parked), 'part')} put aside: {one.parked[-1].reason}"] if one.parked else []
        told += [f"waiting{f': {one.reason}' if one.reason else ''}"] if one.open else []
        out.line(out.style(session, "bold"), f"  {'; '.join(told)}")
    if any(one.parked for one in left):
        out.line("mait-code observe retry tries what was put aside again.")
    if not left:
        out.line("Nothing waits.")


@command("retry")
@pass_workspace
def retry(ws: Workspace, out: Output) -> int:
    """Try again what failed or was put aside.

    Exit code 1 where some of it failed again.
    """
    from mait_code.commands.understanding.report import standing

    left = [one for one in standing(ws.home).transcripts if one.open or one.parked]
    outcomes = []
    for one in left:
        outcome = _understand(ws, out, one.path)
        outcomes.append(outcome)
        if outcome.state in ("budget", "nobody"):
            break
    if not left and not out.json:
        out.line("Nothing failed, and nothing was put aside.")
    return _tell(out, outcomes, many=True)


@command("run")
@argument("path", metavar="TRANSCRIPT")
@pass_workspace
def run(ws: Workspace, out: Output, path: str) -> int:
    """Record what is in a transcript and have it understood, now.

    What is recorded or understood already is passed over. Exit code 1 where a model was asked in vain.
    """
    from mait_code.commands.understanding import from_record

    with out.progress("asking the model", after=0):
        outcome = from_record(ws, os.path.abspath(path), _LONGEST)
    return _tell(out, [outcome], many=False)


def _understand(ws: Workspace, out: Output, path: str) -> Outcome:
    from mait_code.commands.understanding import understand

    with out.progress("asking the model", after=0):
        return understand(ws, path, budget_seconds=_LONGEST, at_once=True, others=False)


def _tell(out: Output, outcomes: list[Outcome], many: bool) -> int:
    if out.json:
        found = [_json(one) for one in outcomes]
        out.data(found if many else found[0])
    else:
        for one in outcomes:
            out.line(out.style(one.session, "bold"), f"  {_words(one)}")
            for text in one.dropped:
                out.note(f"left out of the answer: {text}")
    return int(any(one.state in ("failed", "nobody", "busy") for one in outcomes))


def _words(one: Outcome) -> str:
    said = f"{counted(one.windows, 'part')} understood: {counted(one.observations, 'observation')}"
    said += f", {counted(one.memories, 'new memory', 'new memories')}, {one.tokens:,} tokens"
    return said if one.state == "done" else f"{said}; {one.state}: {one.reason}"


def _json(one: Outcome) -> dict[str, Any]:
    names = ("session", "state", "reason", "windows", "observations", "memories", "parked", "tokens", "dropped")
    return {name: getattr(one, name) for name in names}
