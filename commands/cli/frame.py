"""What every command shares: lazy groups, the global options, and the decorators that hand a command its tools.

A command is a function under `command`, `argument` and `option`, and under one of `pass_workspace` and
`pass_output`. It returns None, or an int where its contract names a special exit code.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec

import click
from click import argument, option

from mait_code.commands.output import Output, counted, visible
from mait_code.journal.settings import native_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from click.shell_completion import CompletionItem

    from mait_code.commands.workspace import Workspace

    #: Given a screen's name and what opens the workspace; returns the exit code.
    OpensScreen = Callable[[str, Callable[[], Workspace]], int]

__all__ = [
    "Command",
    "Group",
    "Invocation",
    "Table",
    "argument",
    "command",
    "load",
    "option",
    "pass_output",
    "pass_workspace",
]


P = ParamSpec("P")
Result = int | None


class Table:
    """A group as data: its help line, its commands, and what it prints when none is named (its help, unless it has more).

    `commands` maps a name to ("module:attribute", "Help line") or to another Table; `summary` is "module:function", a
    function under pass_workspace or pass_output. Modules are relative to mait_code.commands.cli. `screen` is the name of
    the screen that opens on a terminal instead.
    """

    __slots__ = ("commands", "help", "screen", "summary")

    def __init__(
        self,
        help: str,  # noqa: A002
        commands: dict[str, Table | tuple[str, str]],
        summary: str = "",
        screen: str = "",
    ) -> None:
        self.help = help
        self.commands = commands
        self.summary = summary
        self.screen = screen

    def help_of(self, name: str) -> str:
        """The help line of one command, without importing it."""
        entry = self.commands[name]
        return entry.help if isinstance(entry, Table) else entry[1]


def load(target: str) -> Any:
    """The object that "module:attribute" names, with the module relative to mait_code.commands.cli."""
    module, _, attribute = target.partition(":")
    # import_module would cost its own import; __import__ with a fromlist returns the leaf module.
    return getattr(__import__(f"mait_code.commands.cli.{module}", fromlist=[attribute]), attribute)


class Invocation:
    """One run of the program: what the global options said, and which command it turned out to be."""

    def __init__(self, base: str = "") -> None:
        self.json = False
        self.no_colour = False
        self.data_dir: str | None = None
        self.actor: Literal["me", "claude"] | None = None
        self.allow_secret = False
        #: Canonical names of the commands entered so far; never anything a user typed freely.
        self.path: list[str] = [base] if base else []
        #: How it ended, where the exit code does not tell.
        self.outcome = ""
        #: Completion runs at every press of a key and leaves no line in the log.
        self.logged = True
        #: Ctrl-C was pressed, whatever became of it.
        self.interrupted = False
        #: Text, on a terminal too.
        self.plain = False
        #: Opens a screen by its name, where there are screens.
        self.screen: OpensScreen | None = None
        self._output: Output | None = None

    @property
    def out(self) -> Output:
        """The Output of this run. Options are all read before the first command runs."""
        if self._output is None:
            self._output = Output(self.json, self.no_colour)
        return self._output


class Context(click.Context):
    """click's context, with both help options and a width that needs no import of shutil."""

    def __init__(self, command: click.Command, **settings: Any) -> None:
        settings.setdefault("help_option_names", ["-h", "--help"])
        super().__init__(command, **settings)

    def make_formatter(self) -> click.HelpFormatter:
        try:
            columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
        except (OSError, ValueError):
            columns = 80
        return click.HelpFormatter(width=max(min(columns, 100) - 2, 50))


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        # Each level declares the option anew; only the level where it was given may set it.
        if name == "data_dir" and value:
            value = native_path(value)
        if value and not context.resilient_parsing:
            setattr(context.find_object(Invocation), name, value)
        elif value == "" and not context.resilient_parsing:
            raise click.BadParameter("it is empty", context, parameter)

    return callback


GLOBAL_OPTIONS: tuple[click.Option, ...] = (
    click.Option(
        ["--json", "global_json"],
        is_flag=True,
        expose_value=False,
        callback=_remember("json"),
        help="Write JSON to stdout, and nothing else.",
    ),
    click.Option(
        ["--no-color", "global_no_color"],
        is_flag=True,
        expose_value=False,
        callback=_remember("no_colour"),
        help="No colour, on a terminal too.",
    ),
    click.Option(
        ["--data-dir", "global_data_dir"],
        metavar="PATH",
        expose_value=False,
        callback=_remember("data_dir"),
        help="Use this data directory.",
    ),
    click.Option(
        ["--as", "global_as"],
        type=click.Choice(["me", "claude"]),
        expose_value=False,
        callback=_remember("actor"),
        help="Who is acting (found from the session by default).",
    ),
    click.Option(
        ["--allow-secret", "global_allow_secret"],
        is_flag=True,
        expose_value=False,
        callback=_remember("allow_secret"),
        help="Store what looks like a secret as it is.",
    ),
)


PLAIN_OPTION = click.Option(
    ["--plain", "global_plain"],
    is_flag=True,
    expose_value=False,
    callback=_remember("plain"),
    help="Print text, on a terminal too, instead of opening the screen.",
)


def _wants_screen(invocation: Invocation) -> bool:
    """Whether there is a person at a terminal who has asked for nothing else."""
    out = invocation.out
    if invocation.screen is None or invocation.plain or out.json or not out.terminal:
        return False
    try:
        return os.isatty(0)
    except OSError:
        return False


def _show_version(context: click.Context, parameter: click.Parameter, value: Any) -> None:  # noqa: ARG001
    if value and not context.resilient_parsing:
        context.exit(context.invoke(load("about:version")) or 0)


VERSION_OPTION = click.Option(
    ["--version"], is_flag=True, expose_value=False, callback=_show_version, help="Print the version."
)


def _write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    own: list[tuple[str, str]] = []
    shared: list[tuple[str, str]] = []
    for parameter in command.get_params(context):
        record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(context)
        if record:
            (shared if parameter in GLOBAL_OPTIONS else own).append(record)
    for title, records in (("Options", own), ("Everywhere", shared)):
        with formatter.section(title):
            formatter.write_dl(records)


class Command(click.Command):
    """A command that also accepts the global options."""

    context_class = Context

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        _enter(info_name, parent)
        return super().make_context(info_name, args, parent, **extra)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        parameters = super().get_params(ctx)
        return [*parameters[:-1], *GLOBAL_OPTIONS, parameters[-1]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)


class Group(click.Group):
    """The commands of a Table. Listing them imports none; running one imports that one."""

    context_class = Context

    def __init__(self, name: str, table: Table) -> None:
        super().__init__(name, help=table.help, invoke_without_command=True)
        self.table = table
        self.callback = self._summarise

    def _summarise(self) -> Result:
        context = click.get_current_context()
        if context.invoked_subcommand is not None:
            return None
        if not self.table.summary:
            click.echo(context.get_help())
            return None
        invocation = _invocation(context)
        if self.table.screen and _wants_screen(invocation):
            assert invocation.screen is not None
            if invocation.no_colour:
                os.environ["NO_COLOR"] = "1"
            return invocation.screen(self.table.screen, lambda: _open_workspace(invocation))
        result: Result = load(self.table.summary)()
        return result

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        _enter(info_name, parent)
        return super().make_context(info_name, args, parent, **extra)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        parameters = super().get_params(ctx)
        version = () if ctx.parent is not None else (VERSION_OPTION,)
        plain = (PLAIN_OPTION,) if self.table.screen else ()
        return [*parameters[:-1], *version, *plain, *GLOBAL_OPTIONS, parameters[-1]]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = self.commands.get(cmd_name)
        if known is None:
            entry = self.table.commands.get(cmd_name)
            if entry is None:
                return None
            known = Group(cmd_name, entry) if isinstance(entry, Table) else load(entry[0])
            self.commands[cmd_name] = known
        return known

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # click would look for near names among the commands loaded so far, which is none.
        if not ctx.resilient_parsing and args[0] not in self.table.commands and args[0][:1] != "-":
            raise click.exceptions.NoSuchCommand(args[0], possibilities=self.table.commands, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.table.help_of(name)) for name in self.table.commands])
        _write_options(self, ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [name for name in self.table.commands if name.startswith(incomplete)]
        found = [CompletionItem(name, help=self.table.help_of(name)) for name in names]
        # Past click.Group: it would import every command to ask for its help line.
        return found + click.Command.shell_complete(self, ctx, incomplete)


def _enter(info_name: str | None, parent: click.Context | None) -> None:
    if parent is not None and info_name and not parent.resilient_parsing:
        _invocation(parent).path.append(info_name)


def _invocation(context: click.Context) -> Invocation:
    found = context.find_object(Invocation)
    assert found is not None, "run() puts the Invocation into the root context"
    return found


def _open_workspace(invocation: Invocation) -> Workspace:
    import _signal  # type: ignore[import-not-found]  # `signal` would bring `enum` with it

    # A Ctrl-C that arrives while orjson starts up ends the interpreter with a segmentation fault, so it has to wait.
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGINT,))
    try:
        from mait_code.commands.workspace import Workspace
    finally:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
    workspace = Workspace.open(invocation.data_dir, invocation.actor)
    workspace.journal.allow_secret = invocation.allow_secret
    if "doctor" not in invocation.path:  # doctor says so itself, among the rest
        workspace.refuse_a_file()
    return workspace


def command(name: str, **settings: Any) -> Callable[[Callable[..., Result]], Command]:
    """Make a function a command. The first sentence of its docstring is its help line in the Table."""
    return click.command(name, cls=Command, **settings)


def pass_workspace(function: Callable[Concatenate[Workspace, Output, P], Result]) -> Callable[P, Result]:
    """Call the function with an open Workspace and the Output, then its parameters. Closes the Workspace after."""

    def run(*args: P.args, **kwargs: P.kwargs) -> Result:
        invocation = _invocation(click.get_current_context())
        with _open_workspace(invocation) as workspace:
            workspace.step = _folding(invocation.out)
            try:
                with _in_step(workspace, invocation):
                    result = function(workspace, invocation.out, *args, **kwargs)
            finally:
                for said in dict.fromkeys(workspace.journal.masked):
                    invocation.out.note(said)
            _say_unreadable(workspace, invocation)
            if workspace.missing:
                invocation.out.note(
                    f"{workspace.missing} of the events that were here are in no file now;"
                    " mait-code doctor --fix writes them again"
                )
            if workspace.behind:
                are = counted(workspace.behind, "event is", "events are")
                invocation.out.note(f"{are} not in this yet: another process is writing the store")
            return result

    return update_wrapper(run, function)


def _say_unreadable(workspace: Workspace, invocation: Invocation) -> None:
    """Name what of the journal could not be read: an empty list must not look like all there is."""
    if workspace.home.unreadable and invocation.path[:1] not in (["verify"], ["doctor"]):  # they say so themselves
        from mait_code.projections.rebuild import unreadable_words

        invocation.out.warn(f"{unreadable_words(workspace.home)}; what stands only there may be missing")


def _in_step(workspace: Workspace, invocation: Invocation) -> AbstractContextManager[None]:
    """MEMORY.md in step with a command that reads or changes memories. `sync` sees to it itself."""
    path = invocation.path
    if path != ["inbox", "triage"] and path[:1] not in (["memory"], ["undo"], ["conflicts"], ["import"]):
        return nullcontext()
    # Storing pins nothing: where there is no such file, nothing is loaded for it.
    if path[-1] == "store" and not os.path.exists(workspace.home.in_data("memory/MEMORY.md")):
        return nullcontext()
    from mait_code.commands import memory_file

    return memory_file.in_step(workspace, invocation.out.note, adopts=path[0] == "memory")


def _folding(out: Output) -> Callable[[int, int], None]:
    """Shows that a store is being made from the whole journal: after a clone, an update, or when it was deleted."""
    progress = out.progress("folding the journal").__enter__()

    def step(done: int, total: int) -> None:
        progress.step()
        if done == total:
            progress.clear()

    return step


def pass_output(function: Callable[Concatenate[Output, P], Result]) -> Callable[P, Result]:
    """Call the function with the Output, then its parameters: for commands that touch no journal."""

    def run(*args: P.args, **kwargs: P.kwargs) -> Result:
        return function(_invocation(click.get_current_context()).out, *args, **kwargs)

    return update_wrapper(run, function)


def read_stdin() -> str:
    """All of stdin as text. Raises BadInput where it is not UTF-8."""
    import sys

    from mait_code.journal.errors import BadInput

    raw = sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"stdin is not UTF-8 (byte {error.start})", "convert it first, for instance with iconv"
        ) from error


def usage_hint(context: click.Context | None, error: click.UsageError) -> str:
    """What to do about a usage error: where the help is, and the way out for text that begins with a dash."""
    if context is None:
        return ""
    hint = f"{visible(context.command_path)} --help"
    takes_text = any(
        isinstance(parameter, click.Argument) and parameter.nargs == -1 for parameter in context.command.params
    )
    if isinstance(error, click.NoSuchOption) and takes_text:
        return f"write -- before text that begins with a dash; see {hint}"
    return f"see {hint}"
