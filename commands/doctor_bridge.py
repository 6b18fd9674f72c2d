"""What doctor says of the bridge: whether it is on, whether it can work, and how its last run went. Asks no server."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from mait_code.commands.workspace import Workspace

    Found = Iterator[tuple[str, str, str, str]]


def look(ws: Workspace) -> Found:
    """(name, level, message, hint) of each thing looked at."""
    from mait_code.commands import bridge, bridge_config

    stands = bridge.standing(ws)
    if not stands.private:
        hint = "make it private to you (mode 600)"
        yield "bridge", "warn", f"{bridge_config.path()} can be read by others, and holds a token", hint
    if not stands.on:
        yield "bridge", "ok", "off", ""
        return
    channel = stands.channel
    if channel.fault:
        hint = f"correct {bridge_config.path()}" if channel.problem else "mait-code bridge configure sets them"
        yield "bridge", "warn", f"enabled, and not in use: {channel.fault}", hint
    elif stands.fault:
        hint = "mait-code bridge run tries again; so does the next session"
        yield "bridge", "warn", f"its last run ({stands.ran}) failed: {stands.fault}", hint
    elif channel.travels_open:
        yield "bridge", "warn", "its token travels over http, readable on the way", "use an https address"
    else:
        yield "bridge", "ok", f"{channel.place}, {f'last run {stands.ran}' if stands.ran else 'not run yet'}", ""
