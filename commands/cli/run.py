"""From arguments to an exit code: the only place where errors become lines on stderr.

Exit codes: 0 fine, 1 the request failed, 2 usage, 74 the disk refused, 130 interrupted; a command may return its own.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import Group, Invocation, usage_hint
from mait_code.commands.output import Output, make_streams_safe, path_text
from mait_code.journal import settings
from mait_code.journal.errors import Ambiguous, BadInput, MaitError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mait_code.commands.cli.frame import OpensScreen

__all__ = ["run"]

OK, FAILED, USAGE, DISK, INTERRUPTED = 0, 1, 2, 74, 130

_OUTCOMES = {OK: "ok", USAGE: "usage", DISK: "disk", INTERRUPTED: "interrupted"}
_DISK_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.ENXIO}
)
_DISK_SQLITE = frozenset({"FullError", "ReadOnlyError", "IOError", "CantOpenError", "PermissionsError"})


def run(group: Group, program: str, arguments: Sequence[str], base: str = "", screen: OpensScreen | None = None) -> int:
    """Run one command line and return its exit code. Nothing is raised, whatever happens.

    `base` is the group's name where the program is the group (mc-tool-board): it begins the logged command. `screen` opens a
    screen by its name; without it a group without a command prints its summary on a terminal too.
    """
    started = time.monotonic()
    invocation = Invocation(base)
    invocation.screen = screen
    error: BaseException | None = None
    put_back = _notice_interrupts(invocation)
    try:
        make_streams_safe()
        code = _execute(group, program, arguments, invocation)
        sys.stdout.flush()
    except BaseException as raised:  # the outermost frame: whatever it is becomes one line and an exit code
        error = raised
        code = _report(raised, invocation)
    _log(invocation, started, code, error)
    put_back()
    return _settle(code)


def _notice_interrupts(invocation: Invocation) -> Callable[[], object]:
    """Note Ctrl-C before it becomes an exception: one that arrives inside C code, as in an import, may come out of it as
    any other error. Returns what ends it."""
    import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` with it

    def interrupted(_number: int, _frame: object) -> None:
        invocation.interrupted = True
        raise KeyboardInterrupt

    before = _signal.getsignal(_signal.SIGINT)
    if before is not _signal.default_int_handler:
        return lambda: None  # the caller has us ignore it, or sees to it himself
    try:
        _signal.signal(_signal.SIGINT, interrupted)
    except ValueError:
        return lambda: None  # only the main thread may
    return lambda: _signal.signal(_signal.SIGINT, before)


def _execute(group: Group, program: str, arguments: Sequence[str], invocation: Invocation) -> int:
    if instruction := os.environ.get(_completion_variable(program)):
        from click.shell_completion import shell_complete

        invocation.logged = False
        return shell_complete(group, {"obj": invocation}, program, _completion_variable(program), instruction)
    for name, value in settings.extra_environment().items():
        os.environ.setdefault(name, os.fsdecode(value.encode()))
    with group.make_context(program, _decode(arguments), obj=invocation) as context:
        result = group.invoke(context)
    return result if isinstance(result, int) else OK


def _completion_variable(program: str) -> str:
    return f"_{program}_COMPLETE".replace("-", "_").upper()


def _decode(arguments: Sequence[str]) -> list[str]:
    """The arguments as text. Their bytes are read as UTF-8 first, whatever the locale says, then as the locale does."""
    decoded = []
    for number, argument in enumerate(arguments, 1):
        if not argument.isascii():
            try:
                argument = os.fsencode(argument).decode()
            except UnicodeError:
                if any("\ud800" <= letter <= "\udfff" for letter in argument):
                    raise BadInput(f"argument {number} is not valid UTF-8", "check the terminal's encoding") from None
        decoded.append(argument)
    return decoded


def _report(error: BaseException, invocation: Invocation) -> int:
    try:
        return _explain(error, invocation)
    except OSError:
        # stderr or stdout is gone as well: the exit code is all that is left to say.
        return DISK if isinstance(error, OSError) and not isinstance(error, BrokenPipeError) else FAILED


def _explain(error: BaseException, invocation: Invocation) -> int:
    if isinstance(error, click.exceptions.Exit):
        sys.stdout.flush()
        return error.exit_code
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else (FAILED if error.code else OK)
    if isinstance(error, BrokenPipeError):
        # The reader has seen enough; the work is done.
        return OK
    out = Output(no_colour=invocation.no_colour)
    if isinstance(error, MaitError):
        out.error(error.message, error.hint)
        if isinstance(error, Ambiguous) and error.candidates:
            out.note("candidates: " + " ".join(error.candidates))
        return error.exit_code
    if isinstance(error, click.UsageError):
        # click lists choices on lines of their own; an error is one line.
        out.error(" ".join(error.format_message().split()), usage_hint(error.ctx, error))
        return USAGE
    if isinstance(error, click.Abort):
        out.error("stopped: the question got no answer")
        return FAILED
    if isinstance(error, OSError):
        return _explain_system(error, out)
    if type(error).__module__ == "apsw" and type(error).__name__ in _DISK_SQLITE:
        out.error(
            f"a store could not be read or written: {error}", "check free space and permissions of the state directory"
        )
        return DISK
    return _explain_crash(error, invocation, out)


def _explain_system(error: OSError, out: Output) -> int:
    reason = error.strerror or str(error)
    if error.filename is None and (_is_of_output(error) or not _takes_output()):
        out.error(f"the output could not be written: {reason}", "what the command did is done; only its output is lost")
        return DISK
    where = f"{path_text(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
    if error.errno in _DISK_ERRNOS:
        out.error(f"{where}{reason}", "check free space and permissions; what was acknowledged before is safe")
        return DISK
    out.error(f"{where}{reason}")
    return FAILED


def _is_of_output(error: OSError) -> bool:
    """Whether an error came out of the writing of output: unbuffered (python -u) nothing is left to be written again."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return module in (__name__, "mait_code.commands.output", "click.utils") or module.startswith("rich.")


def _takes_output() -> bool:
    """Whether stdout takes what was written to it: a write that failed stays in its buffer, and fails again."""
    try:
        sys.stdout.flush()
    except OSError:
        return False
    return True


def _explain_crash(error: BaseException, invocation: Invocation, out: Output) -> int:
    if invocation.interrupted or isinstance(error, KeyboardInterrupt):
        out.error("interrupted")
        return INTERRUPTED
    from mait_code.commands.invocations import write_traceback

    invocation.outcome = "crashed"
    if os.environ.get("MAIT_CODE_DEBUG") == "1":
        import traceback

        sys.stderr.write("".join(traceback.format_exception(error)))
    path = write_traceback(error)
    out.error(
        f"unexpected {type(error).__name__}: {error}", f"this is a fault of ours; it is noted in {path}" if path else ""
    )
    return FAILED


def _log(invocation: Invocation, started: float, code: int, error: BaseException | None) -> None:
    if not invocation.logged:
        return
    from mait_code.commands.invocations import record

    kind = "" if error is None or isinstance(error, (click.exceptions.Exit, SystemExit)) else type(error).__name__
    outcome = invocation.outcome or _OUTCOMES.get(code, "failed")
    record(" ".join(invocation.path), time.monotonic() - started, outcome, code, kind)


def _settle(code: int) -> int:
    """Flush what is left, so that the interpreter finds nothing to complain about after us."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
            if not isinstance(error, BrokenPipeError) and code == OK:
                code = DISK
    return code
