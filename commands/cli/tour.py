"""The tour from the command line."""

from __future__ import annotations

from mait_code.commands.cli.frame import command, pass_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.tour import Step


@command("tour")
@pass_output
def tour(out: Output) -> int:
    """See two machines disagree and agree again.

    Runs in a temporary directory with the real program and real git, takes some seconds, touches nothing of yours and
    leaves nothing behind.
    """
    import time

    from mait_code.commands import tour as logic

    began = time.monotonic()
    steps: list[Step] = []

    def show(step: Step) -> None:
        steps.append(step)
        if not out.json:
            _print(out, step)

    taken = logic.take(show)
    seconds = time.monotonic() - began
    if out.json:
        out.data(
            {
                "equal": taken.equal,
                "digests": taken.digests,
                "seconds": round(seconds, 1),
                "steps": [
                    {"machine": one.machine or None, "command": one.command, "printed": one.printed} for one in steps
                ],
            }
        )
    elif taken.equal:
        out.line()
        out.line(
            out.style("The digests are equal", "green", "bold"),
            f", before and after, on both machines. {seconds:.1f} s.",
        )
        out.line('Start your own: mait-code init, then mait-code inbox add "a thought"')
    else:
        out.error("the digests differ", "this must never happen; please report it with the output above")
    return 0 if taken.equal else 1


def _print(out: Output, step: Step) -> None:
    if step.explained:
        out.line()
        out.line(out.style(step.explained, "bold"))
    prompt = f"{step.machine} $ " if step.machine else "$ "
    out.line("  ", out.style(prompt, "cyan"), step.command)
    if step.printed:
        out.block(step.printed, indent="    ")
    out.flush()
