"""The bridge from the command line: setting its channel up, turning it on and off, trying it out, running it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mait_code.commands.cli.frame import command, option, pass_output, pass_workspace, read_stdin
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.bridge_intake import Counts
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace


@pass_workspace
def overview(ws: Workspace, out: Output) -> None:
    """What `mait-code bridge` prints: the same as its status."""
    _status(ws, out)


@command("status")
@pass_workspace
def status(ws: Workspace, out: Output) -> None:
    """Show whether the bridge is on, its channel, and how its last run went.

    Nobody is asked over the network. Of the token no more than its end is shown.
    """
    _status(ws, out)


def _status(ws: Workspace, out: Output) -> None:
    from mait_code.commands import bridge
    from mait_code.commands.times import local

    stands = bridge.standing(ws)
    said = stands.json()
    if out.json:
        out.data(said)
        return
    out.line(f"The bridge is {said['bridge']}.")
    rows = [
        ("type", said["type"]),
        ("server", said["server"] or "not set"),
        ("capture topic", said["capture_topic"] or "not set"),
        ("notify topic", said["notify_topic"] or "not set"),
        ("token", f"{said['token']} (from the {said['token_source']})" if said["token"] else "none"),
    ]
    if stands.ran:
        rows.append(("last run", f"{local(stands.ran)}{f', failed: {stands.fault}' if stands.fault else ''}"))
    for name, value in rows:
        out.line(out.style(f"  {name:<13}", "dim"), f"  {value}")
    if stands.channel.problem or (stands.on and stands.channel.fault):
        out.warn(stands.channel.fault)
    _tell(out, bridge.cautions(stands.channel) if stands.on else [])


def _tell(out: Output, notes: Iterable[str]) -> None:
    for note in notes:
        out.note(note)


@command("configure")
@option("--server", metavar="URL", help="The ntfy server.")
@option("--capture-topic", metavar="NAME", help="The topic whose messages come into the inbox.")
@option("--notify-topic", metavar="NAME", help="The topic that due reminders are published to; empty for none.")
@option("--token/--no-token", default=None, help="Ask for the server's token, or read it from stdin; or forget it.")
@pass_workspace
def configure(
    ws: Workspace,
    out: Output,
    server: str | None,
    capture_topic: str | None,
    notify_topic: str | None,
    token: bool | None,
) -> None:
    """Set up the channel of this machine.

    What is not named stays as it is. The token is never part of a command line, where other users could see it.
    """
    from mait_code.commands import bridge_config
    from mait_code.journal.errors import BadInput

    given = {"server": server, "capture_topic": capture_topic, "notify_topic": notify_topic}
    fields = {name: value for name, value in given.items() if value is not None}
    if not fields and token is None:
        raise BadInput("nothing to change", "name --server, --capture-topic, --notify-topic, --token or --no-token")
    if token is not None:
        fields["token"] = _asked() if token else ""
    bridge_config.save(fields)
    _status(ws, out)


def _asked() -> str:
    from mait_code.journal.errors import BadInput

    if sys.stdin.isatty():
        return str(click.prompt("Token", hide_input=True, err=True))
    given = read_stdin().strip()
    if not given:
        raise BadInput("stdin holds no token", "pipe it in, or leave stdin to the terminal to be asked for it")
    return given


@command("enable")
@pass_output
def enable(out: Output) -> None:
    """Turn the bridge on.

    Refused while the server or the capture topic is not set. Sessions then drain and publish when they start.
    """
    from mait_code.commands import bridge

    notes = bridge.enable()
    _say_setting(out, "enabled", "; sessions use it when they start, and mait-code bridge run at once")
    _tell(out, notes)


@command("disable")
@pass_output
def disable(out: Output) -> None:
    """Turn the bridge off.

    Nothing goes over the network for it from then on. The channel stays as it is.
    """
    from mait_code.commands import bridge

    notes = bridge.disable()
    _say_setting(out, "disabled")
    _tell(out, notes)


def _say_setting(out: Output, wanted: str, more: str = "") -> None:
    from mait_code.journal import settings

    stands = settings.value("bridge")  # which the environment may have the last word about
    if out.json:
        out.data({"bridge": stands})
    else:
        out.line(f"The bridge is {stands}{more if stands == wanted else ''}.")


@command("test")
@pass_output
def test(out: Output) -> None:
    """Publish one message, and say what came of it.

    It goes to the notify topic, or to the capture topic where there is no other. What the capture topic holds is counted
    and not taken in.
    """
    from mait_code.commands import bridge, bridge_config

    bridge.require_on()
    channel = bridge_config.read()
    with out.progress(f"asking {channel.place if channel.server else 'the server'}", after=0):
        trial = bridge.try_out(channel)
    if out.json:
        out.data({name: getattr(trial, name) for name in trial.__slots__})
        return
    named = f" as {trial.id}" if trial.id else ", which gave it no id: is that an ntfy?"
    out.line(f"{trial.topic} took a test message{named}.")
    out.line(f"{channel.capture_topic} can be read; it holds {counted(trial.held, 'message')}.")
    if trial.came_back is False:
        out.warn(f"the test message is not in {trial.topic}: the server keeps none, so nothing can be captured")
    if trial.malformed:
        out.warn(f"{counted(trial.malformed, 'line')} of the answer cannot be read")


@command("run")
@pass_workspace
def run(ws: Workspace, out: Output) -> int:
    """Take in what was published, and publish what is due, once.

    Exit code 1 where the server could not be reached or turned something down; the rest is done all the same.
    """
    from mait_code.commands import bridge

    bridge.require_on()
    return _run(ws, out)


@command("drain")
@pass_workspace
def drain(ws: Workspace, out: Output) -> int:
    """Take in what came over the bridge.

    The same as `bridge run`, but no error where the bridge is not in use.
    """
    from mait_code.commands import bridge_config
    from mait_code.commands.bridge_intake import Counts

    if bridge_config.is_on() and not bridge_config.read().fault:
        return _run(ws, out)
    counts = Counts()
    counts.state = "incomplete" if bridge_config.is_on() else "off"
    if out.json:
        out.data(counts.json())
    else:
        out.line(bridge_config.read().fault if bridge_config.is_on() else "The bridge is disabled.")
    return 0


def _run(ws: Workspace, out: Output) -> int:
    from mait_code.commands import bridge, bridge_config
    from mait_code.journal.errors import Busy

    bridge_config.read().require()
    with out.progress("asking the server", after=0):
        counts = bridge.run_once(ws)
    if counts.state == "busy":
        raise Busy("another process is at the bridge", "wait for it; nothing is lost")
    if out.json:
        out.data(counts.json())
    else:
        _say(out, counts)
    if counts.fault:
        out.error(counts.fault, counts.hint)
    return int(bool(counts.fault))


def _say(out: Output, counts: Counts) -> None:
    out.line(
        f"{counts.captured} captured, {counted(counts.dismissed, 'reminder')} dismissed,"
        f" {counted(counts.published, 'reminder')} published."
    )
    said = (
        (counts.known, "known already"),
        (counts.left_out, "left out: empty, private, or our own"),
        (counts.unknown, "that dismisses what is no reminder here"),
        (counts.malformed, "that cannot be read"),
    )
    for number, words in said:
        if number:
            out.note(f"{counted(number, 'message')} {words}")
    if counts.waiting:
        out.note(f"{counted(counts.waiting, 'reminder')} will be published by the next run")
    if counts.more:
        out.note("the server has more messages; the next run takes them")
